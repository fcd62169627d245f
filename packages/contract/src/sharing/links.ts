import { type Static, Type } from 'typebox';
import { Fields, Id, Nullable, OneOf, Timestamp } from '../schema.ts';

export const LINK_STATUSES = ['active', 'expired', 'revoked', 'ended'] as const;
/** A link opens only while it is active; the other values say why it does not. */
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** The shortest and the longest life of a link, seconds: an hour and 30 days. */
export const LINK_SECONDS = { min: 3_600, max: 2_592_000 } as const;

export const CreateLinkBody = Fields(
  {
    expires_in_seconds: Type.Integer({
      minimum: LINK_SECONDS.min,
      maximum: LINK_SECONDS.max,
      description: 'From an hour to 30 days.',
      examples: [86_400],
    }),
  },
  { $id: 'CreateDecisionLinkRequest' },
);

export const NewLinkBody = Fields(
  {
    link_id: Id('decision_link'),
    url: Type.String({
      description: 'Opens the page. It contains the token, and is shown only here.',
      examples: ['https://purser.example.com/shared/…'],
    }),
    expires_at: Timestamp(),
  },
  { $id: 'NewDecisionLink' },
);

export const LinkBody = Fields(
  {
    link_id: Id('decision_link'),
    decision_id: Id('decision'),
    status: OneOf(LINK_STATUSES, {
      description:
        '`ended`: its maker may no longer review here, or the key that made it is no longer active.',
    }),
    created_by: Fields({ key_id: Nullable(Id('api_key')), principal_id: Nullable(Type.String()) }),
    created_at: Timestamp(),
    expires_at: Timestamp(),
    revoked_at: Nullable(Timestamp()),
  },
  { $id: 'DecisionLink', description: 'A read-only link of one decision, without its token.' },
);
/** A read-only link of one decision, as the API shows it. */
export interface DecisionLink extends Static<typeof LinkBody> {}
