import { Type } from 'typebox';
import { AuthorityBody } from '../authority.ts';
import { AttentionBody } from '../purpose/attention.ts';
import { REASON_CODES } from '../reasons.ts';
import { route } from '../route.ts';
import { Fields, Id, LimitMinor, Nullable, OneOf, QueryBound, QueryInteger, Timestamp } from '../schema.ts';
import { DECISIONS, LABELS, OUTCOME_STATES } from '../values/decisions.ts';
import { SKIP_REASONS } from '../values/reports.ts';

export const DEFAULT_DECISIONS = 500;

const MAX_DECISIONS = 50_000;

const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });

const Kind = OneOf(DECISIONS);

const Reason = OneOf(REASON_CODES);

const Kinds = { allow: Count(), review: Count(), deny: Count() };

const Tally = Fields({
  ...Kinds,
  authorized_minor: LimitMinor({
    description: 'The amount that could be spent at once; a REVIEW authorizes nothing yet.',
  }),
});

const SimulationBody = Fields(
  {
    saved: Type.Literal(false, { description: 'Nothing is saved.' }),
    base_version: Nullable(
      Type.Integer({ minimum: 1, description: "The agent's current version; null if it has no authority." }),
    ),
    draft_hash: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'The hash that the draft would have if saved.',
    }),
    evaluated: Count('Number of replayed decisions.'),
    skipped: Type.Array(
      Fields({
        reason: OneOf(SKIP_REASONS, {
          description: "CURRENCY_DIFFERS: in a currency other than the draft's, so none of its limits apply.",
        }),
        count: Count(),
      }),
    ),
    current: Tally,
    draft: Tally,
    transitions: Type.Array(
      Fields({
        from: Kind,
        to: Kind,
        count: Count(),
        amount_minor: LimitMinor({ description: 'As requested.' }),
      }),
      { description: 'Decisions that would have been different.' },
    ),
    changed: Type.Array(
      Fields({
        decision_id: Id('decision'),
        created_at: Timestamp(),
        merchant: Type.String(),
        amount_minor: LimitMinor({ description: 'As requested.' }),
        current: Fields({ decision: Kind, reason_code: Reason }),
        draft: Fields({ decision: Kind, reason_code: Reason, authorized_amount_minor: LimitMinor() }),
        label: Nullable(OneOf(LABELS, { description: 'The current label.' })),
        outcome_state: OneOf(OUTCOME_STATES, { description: 'Its outcome.' }),
      }),
      {
        maxItems: 100,
        description:
          'The newest 100 whose decision, first reason or amount would have been different; newest first.',
      },
    ),
    by_label: Type.Array(Fields({ label: OneOf(LABELS), from: Kind, to: Kind, count: Count() }), {
      description: 'The labelled decisions among all that would have been different, by their current label.',
    }),
    by_reason: Type.Array(Fields({ reason_code: Reason, current: Count(), draft: Count() }), {
      description: 'By first reason, most frequent first.',
    }),
    by_day: Type.Array(
      Fields({
        day: Type.String({ format: 'date', examples: ['2026-11-21'] }),
        current: Fields(Kinds),
        draft: Fields(Kinds),
      }),
      { description: 'UTC days with decisions, oldest first.' },
    ),
    attention: AttentionBody,
  },
  {
    $id: 'Simulation',
    description: "Amounts are minor units of the draft's currency.",
  },
);

const SimulateQuery = Fields({
  limit: Type.Optional(
    QueryInteger(
      { min: 1, max: MAX_DECISIONS, default: DEFAULT_DECISIONS },
      { description: "Number of the agent's newest decisions to replay." },
    ),
  ),
  from: Type.Optional(
    QueryBound('from', { description: 'Only decisions made at or after this time or date.' }),
  ),
  to: Type.Optional(
    QueryBound('to', { description: 'Only decisions made before this time, or up to the end of this date.' }),
  ),
});

export const routes = {
  simulateAuthority: route({
    method: 'POST',
    path: '/v1/agents/:id/authority/simulate',
    operationId: 'simulateAuthority',
    tag: 'Agents',
    summary: 'Try out a draft authority on recent real decisions',
    description:
      "Replays the agent's newest decisions, oldest first, each against the month's budget at that time. Holds that the draft would have changed follow the spend's real outcome (executed, failed, refunded, denied by a person). The authority that the decisions were made under therefore changes nothing. Uses the agent's current listed merchants; merchants it had paid by then count as known. Nothing is saved. Purpose is assessed again only if the draft changes what the assessment depends on.",
    scopes: ['admin'],
    weighs: false,
    params: Fields({ id: Type.String({ description: "The agent's id or slug." }) }),
    query: SimulateQuery,
    body: AuthorityBody,
    responses: {
      200: { description: 'The changes that the draft would have made.', schema: SimulationBody },
    },
    errors: ['not_found'],
  }),
};
