import { type Static, Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { Fields, Formed, Id, Line, Nullable, OneOf, Timestamp } from '../schema.ts';
import { RAIL_KINDS, RAIL_STATUSES } from '../values/history.ts';

const Name = Line({ max: TEXT_LENGTHS.name }, { examples: ['Stripe Issuing, live'] });

const Secrets = Type.Array(
  Formed('^whsec_[!-~]{1,250}$', 'must be a signing secret, which begins with whsec_', {
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
  {
    minItems: 1,
    maxItems: 2,
    uniqueItems: true,
    description:
      'The signing secret of the endpoint at the vendor; two while it is being replaced. They are encrypted, and no response contains them.',
  },
);

export const CreateRailBody = Fields(
  { kind: OneOf(RAIL_KINDS), name: Name, signing_secrets: Type.Optional(Secrets) },
  { $id: 'CreateRailRequest', examples: [{ kind: 'stripe_issuing', name: 'Stripe Issuing, live' }] },
);

export const UpdateRailBody = Fields(
  { name: Type.Optional(Name), signing_secrets: Type.Optional(Secrets) },
  { $id: 'UpdateRailRequest', examples: [{ name: 'Stripe Issuing' }] },
);

const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** A rail as the API shows it. */
export const RailBody = Fields(
  {
    id: Id('rail'),
    kind: OneOf(RAIL_KINDS),
    name: Type.String(),
    url: Type.String({
      description: 'Where the vendor sends its events.',
      examples: ['https://purser.example.com/v1/rails/rail_01K9…/events'],
    }),
    status: OneOf(RAIL_STATUSES, {
      description: '`WAITING_FOR_SECRET`: without a signing secret every event is refused.',
    }),
    events: Fields({
      accepted: Count('Events that were taken, repeated ones included.'),
      refused: Count('Events with a wrong or old signature, or that could not be read.'),
      ignored: Count('Events of types that are not used.'),
    }),
    last_event_at: Nullable(Timestamp()),
    last_problem: Nullable(Type.String({ description: 'The newest reason for which an event was refused.' })),
    last_problem_at: Nullable(Timestamp()),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { $id: 'Rail' },
);
export type RailBody = Static<typeof RailBody>;

/** The body of an event, as the vendor has it. */
export const RailEventBody = Type.Object(
  {},
  { additionalProperties: true, $id: 'RailEvent', description: 'The event as the vendor sends it.' },
);

export const ReceivedBody = Fields(
  { received: Type.Literal(true) },
  { $id: 'RailEventReceived', examples: [{ received: true }] },
);
