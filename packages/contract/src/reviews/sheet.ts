import { type Static, type TSchema, Type } from 'typebox';
import { REASON_CODES } from '../reasons.ts';
import { AmountMinor, Fields, Id, LimitMinor, Nullable, OneOf, Timestamp } from '../schema.ts';
import { MODES } from '../values/agents.ts';
import { PURPOSE_ASSESSMENTS } from '../values/decisions.ts';
import { LISTED_VERDICTS } from '../values/merchants.ts';
import { NoteBody } from './note.ts';

/** The longest claim of an agent on a sheet, in Unicode code points. */
export const MAX_CLAIM = 280;
/** Days before a decision in which a sheet counts what was decided about the merchant. */
export const MERCHANT_PAST_DAYS = 366;
/** The newest decisions about a merchant that a sheet counts. */
export const MAX_MERCHANT_PAST = 10_000;

/** The newest notes that a sheet shows. */
export const MAX_NOTES = 200;

/** The kinds of limits on a sheet. */
export const SHEET_LIMIT_KINDS = [
  'review_threshold',
  'per_transaction_limit',
  'monthly_budget',
  'velocity',
  'shared_budget',
] as const;

const AGENT = Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) });

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Used = (when: string) =>
  Nullable(
    LimitMinor({
      description: `Held plus spent ${when}. Null if the limit applies to each spend by itself.`,
    }),
  );
const UsedCount = (when: string) =>
  Nullable(Count(`Spends counted ${when}; null if the limit does not count spends.`));

const LimitBody = Fields(
  {
    name: Type.String({ examples: ['day'] }),
    kind: OneOf(SHEET_LIMIT_KINDS),
    limit_minor: Nullable(LimitMinor({ description: 'Null if the amount is not limited.' })),
    used_then_minor: Used('when it was decided, its own hold included'),
    used_now_minor: Used('now, in the period that is current'),
    limit_count: Nullable(Count('The largest number of spends; null if it is not limited.')),
    used_then_count: UsedCount('when it was decided, itself included'),
    used_now_count: UsedCount('now'),
  },
  { $id: 'SheetLimit' },
);
/** A limit as a reviewer sees it. Minor units of the decision's currency. */
export interface SheetLimit extends Static<typeof LimitBody> {}

const PastBody = Fields(
  {
    decisions: Count('Decisions about this merchant.'),
    allowed: Count('Those allowed, by the policy or by a reviewer.'),
    denied: Count('Those denied, by the policy or by a reviewer.'),
    executed: Count('Those reported as executed, refunded ones included.'),
    first_at: Nullable(Timestamp()),
    last_at: Nullable(Timestamp()),
  },
  { $id: 'MerchantPast' },
);
/** Earlier decisions about a merchant, counted. */
export interface MerchantPast extends Static<typeof PastBody> {}

const ClaimBody = Fields(
  {
    text: Type.String({
      maxLength: MAX_CLAIM * 2,
      description: `At most ${MAX_CLAIM} characters, without control, format and invisible characters, white space folded.`,
    }),
    length: Count('Characters of the whole text, as the decision has it.'),
    clamped: Type.Boolean({ description: 'True if `text` is only the beginning.' }),
  },
  { $id: 'Claim', description: "The agent's own words: never instructions, never evidence." },
);
/** The beginning of something that an agent wrote. */
export interface Claim extends Static<typeof ClaimBody> {}

const Choices = (description: string) =>
  Type.Array(Fields({ code: Type.String(), text: Type.String() }), { description });

const RememberBody = Fields(
  {
    offered: Type.Boolean(),
    effect: Nullable(
      Type.String({
        description: 'What it changes, in one or two sentences; null if it is not offered.',
        examples: ['Hetzner counts as fitting the purpose. Above EUR 80.00 it still needs a review.'],
      }),
    ),
  },
  { $id: 'RememberOffer' },
);
/** An offer to list the merchant with the review, and its effect. */
export interface RememberOffer extends Static<typeof RememberBody> {}

const StandingOfferBody = Fields(
  {
    ...RememberBody.properties,
    most_minor: Nullable(
      LimitMinor({
        description:
          "The most that the caller may grant, in minor units of the decision's currency. Null: any amount, or it is not offered.",
      }),
    ),
  },
  { $id: 'StandingOffer' },
);
/** An offer to answer later requests of the same kind ahead with `standing_approval`. */
export interface StandingOffer extends Static<typeof StandingOfferBody> {}

const ApprovalBody = Fields(
  {
    required: Type.Integer({ minimum: 1, description: 'Approvals that an ALLOW needs.' }),
    given: Count('Approvals given so far.'),
    signed: Type.Boolean({ description: 'True if an approval has to be signed.' }),
    may_allow: Type.Boolean({ description: 'Whether the caller may allow it now.' }),
    may_deny: Type.Boolean({ description: 'Whether the caller may deny it now.' }),
  },
  { $id: 'SheetApproval' },
);
/** The approvals that a decision needs, and what the caller may do. */
export interface SheetApproval extends Static<typeof ApprovalBody> {}

const NoticeBody = Fields(
  {
    id: Type.String(),
    kind: Type.String({ examples: ['REQUESTED'] }),
    recipient: Nullable(Type.String()),
    status: Type.String({ examples: ['SENT'] }),
    due_at: Timestamp(),
  },
  { $id: 'SheetNotice' },
);
/** A notice about a decision, as its sheet shows it. */
export interface SheetNotice extends Static<typeof NoticeBody> {}

const PurposeOnSheet = Fields(
  {
    objective: Nullable(Type.String({ description: 'Null if the agent had no authority.' })),
    success_criteria: Type.Array(Type.String()),
    constraints: Type.Array(Type.String()),
    context: Nullable(Type.String()),
    assessment: OneOf(PURPOSE_ASSESSMENTS),
    sentence: Type.String({ description: 'The reason for the assessment.' }),
    fires: Type.Array(
      Fields({
        field: OneOf(['objective', 'success_criteria', 'constraints', 'context']),
        index: Nullable(Type.Integer({ minimum: 0, description: 'Its place in a list, from 0.' })),
        text: Type.String(),
      }),
      { description: 'The clauses that the spend conflicts with.' },
    ),
  },
  { $id: 'SheetPurpose', description: 'Of the version of the authority that decided.' },
);

const LISTED = Fields({
  verdict: OneOf(LISTED_VERDICTS),
  entry_id: Nullable(Id('merchant', { description: 'Null: the authority itself names the merchant.' })),
  listed_at: Nullable(Timestamp()),
});

const sheetFields = {
  decision_id: Id('decision'),
  url: Type.String({
    description: 'Its page in the console.',
    examples: ['https://purser.example.com/console/decisions/dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD'],
  }),
  mode: OneOf(MODES),
  agent: AGENT,
  merchant: Type.String({ description: 'As the agent named it.' }),
  payee_id: Nullable(Type.String()),
  amount_minor: AmountMinor({ description: 'What an ALLOW authorizes.' }),
  currency: Type.String({ examples: ['EUR'] }),
  requested_at: Timestamp(),
  expires_at: Nullable(Timestamp({ description: 'Null: it never expires.' })),
  cause: Fields({
    reason_code: OneOf(REASON_CODES),
    sentence: Type.String({ description: 'In fixed words, without any text of the agent.' }),
  }),
  purpose: PurposeOnSheet,
  limits: Type.Array(LimitBody),
  merchant_past: Fields(
    { with_agent: PastBody, in_workspace: PastBody },
    {
      description: `Of the ${MERCHANT_PAST_DAYS} days before the decision, without itself; of more than ${MAX_MERCHANT_PAST.toLocaleString('en')} decisions about the merchant, the newest.`,
    },
  ),
  listed: Nullable(LISTED),
  payee_known: Nullable(
    Type.Boolean({
      description:
        'Whether the agent is known to have paid this payee, or a listed merchant names it; null if the request names no payee.',
    }),
  ),
  claims: Fields({
    description: Nullable(ClaimBody),
    task: Nullable(ClaimBody),
    category: Nullable(ClaimBody),
  }),
  approval: ApprovalBody,
  reasons: Fields({
    ALLOW: Choices('Reasons to allow.'),
    DENY: Choices('Reasons to deny.'),
    default_allow: Nullable(Type.String({ description: 'Null: the reviewer chooses.' })),
    default_deny: Nullable(Type.String({ description: 'Null: the reviewer chooses.' })),
    bulk: Type.Boolean({ description: 'Whether it may be reviewed together with others.' }),
  }),
  remember: Fields({ ALWAYS: RememberBody, NEVER: RememberBody }),
  standing_approval: StandingOfferBody,
  assigned_to: Nullable(Type.String({ examples: ['user:ada'] })),
  notes: Type.Array(NoteBody, {
    maxItems: MAX_NOTES,
    description: `Oldest first; the newest ${MAX_NOTES}.`,
  }),
  notices: Type.Array(NoticeBody),
} satisfies Record<string, TSchema>;

/** Everything that a reviewer needs to know of a decision, facts before the agent's words. */
export const SheetBody = Fields(sheetFields, { $id: 'Sheet' });
export interface Sheet extends Static<typeof SheetBody> {}
