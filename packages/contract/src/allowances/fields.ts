import { type Static, Type } from 'typebox';
import { KeyLife, NewKeyBody } from '../keys/api-keys.ts';
import { LIMIT_STANDING } from '../limit-standing.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { REASON_CODES } from '../reasons.ts';
import {
  AgentRef,
  AllowanceRef,
  AmountMinor,
  Currency,
  Fields,
  Id,
  InstantIn,
  LimitMinor,
  Line,
  LongText,
  Nullable,
  OneOf,
  PayeeId,
  Timestamp,
  TimeZone,
  WholeNumber,
} from '../schema.ts';
import {
  ALLOWANCE_SOURCES,
  ALLOWANCE_STATUSES,
  ANSWERABLE,
  MAX_ALLOWANCE_COUNT,
  REQUESTED_DAYS,
} from '../values/allowances.ts';
import { BUDGET_PERIODS } from '../values/budgets.ts';
import { MandateBody } from './mandates.ts';

const MAX_PURPOSE = 2_000;

const list = <S extends ReturnType<typeof Line>>(of: S, max: number, description: string) =>
  Type.Array(of, { minItems: 1, maxItems: max, description });

/** The limits and bounds of an allowance, as a request has them. */
const BOUNDS = {
  per_spend_limit_minor: Type.Optional(
    AmountMinor({ description: 'The most that a single spend may take, in minor units.' }),
  ),
  max_count: Type.Optional(
    WholeNumber({ min: 1, max: MAX_ALLOWANCE_COUNT }, { description: 'The most spends in a period.' }),
  ),
  merchants: Type.Optional(
    list(
      Line({ max: TEXT_LENGTHS.merchant }),
      100,
      'Only these merchants: whole names, or host names with their subdomains. Any if omitted.',
    ),
  ),
  payee_ids: Type.Optional(list(PayeeId(), 100, 'Only these payees, named exactly. Any if omitted.')),
  action_types: Type.Optional(
    list(Line({ max: TEXT_LENGTHS.name }), 20, 'Only these action types. Any if omitted.'),
  ),
};

const WORDS = {
  purpose: Type.Optional(
    LongText(
      { min: 1, max: MAX_PURPOSE },
      {
        description: 'What it is for, in your own words. Keep the words of strangers out of it.',
        examples: ['Compute for the nightly build of main'],
      },
    ),
  ),
  expected_items: Type.Optional(list(Line({ max: 200 }), 50, 'What will be bought. Needs `purpose`.')),
};

const LabelsIn = Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' }), Line({ max: 128 }), {
  maxProperties: 10,
  additionalProperties: false,
  description: 'Up to 10; they never change.',
});

const AMOUNT = AmountMinor({
  description: 'The most that may be spent in each period, holds included, in minor units.',
  examples: [50_00],
});

const PERIOD = {
  period: Type.Optional(
    OneOf(BUDGET_PERIODS, {
      description: 'The calendar period of `time_zone` that the amount is for; `TOTAL` by default.',
    }),
  ),
  time_zone: Type.Optional(TimeZone({ description: 'Time zone of the period; `UTC` by default.' })),
};

/** How long a key may live, in seconds; without it the key of an allowance ends with that. */
const KEY = Type.Union(
  [Type.Literal(true), Fields({ expires_in_seconds: KeyLife({ description: 'Counted from now.' }) })],
  {
    description:
      'Makes an agent key that is bound to the allowance and ends with it at the latest. Its value is shown once, as `api_key`.',
  },
);

export const AllowanceName = Line({ max: TEXT_LENGTHS.name });
const EXPIRES_AT = InstantIn({
  description: 'It can be used before this time, at most 366 days ahead. Required without a parent.',
});

const Answers = (description: string) =>
  Type.Array(OneOf(ANSWERABLE), { maxItems: ANSWERABLE.length, uniqueItems: true, description });

const STANDING = {
  answers: Type.Optional(
    Answers(
      'The reasons of a REVIEW that it answers ahead, for spends that are made under it; none if omitted.',
    ),
  ),
  automatic: Type.Optional(
    Type.Boolean({
      description:
        'True for a standing approval: it also answers for spends of the agent that name no allowance. Needs `agent`, `answers`, and `merchants` or `payee_ids`.',
    }),
  ),
};

/** The body that creates an allowance. */
export const CreateAllowanceBody = Fields(
  {
    agent: Type.Optional(AgentRef({ description: 'Who may use it; any agent if omitted.' })),
    budget: Type.Optional(
      Type.String({ description: 'Slug or id of a shared budget that its spends count toward, too.' }),
    ),
    parent: Type.Optional(
      AllowanceRef({
        description:
          'The allowance that it is a part of. It inherits agent, currency, expiry and labels. One of `agent`, `budget` and `parent` is required.',
      }),
    ),
    currency: Type.Optional(Currency({ description: 'Required without a parent.' })),
    amount_minor: AMOUNT,
    ...PERIOD,
    ...BOUNDS,
    expires_at: Type.Optional(EXPIRES_AT),
    ...WORDS,
    ...STANDING,
    labels: Type.Optional(LabelsIn),
    key: Type.Optional(KEY),
    name: Type.Optional(AllowanceName),
    external_id: Type.Optional(
      Line(
        { max: 128 },
        { description: 'Your own id. The same one with the same body returns the allowance that exists.' },
      ),
    ),
  },
  {
    $id: 'CreateAllowanceRequest',
    examples: [{ parent: 'alw_01M8F959RGYRTNVJP98XK03B8W', amount_minor: 5_000, name: 'Nightly build' }],
  },
);
export type CreateAllowance = Static<typeof CreateAllowanceBody>;

const {
  parent: _parent,
  budget: _budget,
  key: _key,
  answers: _answers,
  automatic: _automatic,
  labels: _labels,
  ...REQUESTED
} = CreateAllowanceBody.properties;

/** The body by which an agent requests an allowance. */
export const RequestAllowanceBody = Fields(
  {
    ...REQUESTED,
    agent: Type.Optional(AgentRef({ description: 'Who is to use it. A workspace key must name the agent.' })),
    currency: Currency(),
    purpose: LongText(
      { min: 1, max: MAX_PURPOSE },
      {
        description: 'What it is for, for the person who decides. It vouches for no spend.',
        examples: ['Compute for the load test of release 4.2'],
      },
    ),
    expires_at: Type.Optional(
      InstantIn({ description: `At most 366 days ahead; ${REQUESTED_DAYS} days if omitted.` }),
    ),
  },
  {
    $id: 'RequestAllowanceRequest',
    examples: [
      {
        agent: 'infra-bot',
        currency: 'EUR',
        amount_minor: 20_000,
        purpose: 'Compute for the load test of release 4.2',
      },
    ],
  },
);
export type RequestAllowance = Static<typeof RequestAllowanceBody>;

/** The body by which a person decides a requested allowance. */
export const DecideAllowanceBody = Fields(
  {
    action: OneOf(['ALLOW', 'DENY']),
    comment: Type.Optional(LongText({ max: TEXT_LENGTHS.description })),
    purpose: Type.Optional(
      LongText(
        { min: 1, max: MAX_PURPOSE },
        { description: 'In your own words. It vouches for the spends; what was requested never does.' },
      ),
    ),
    amount_minor: Type.Optional(AmountMinor({ description: 'At most what was requested.' })),
    expires_at: Type.Optional(InstantIn({ description: 'At the latest what was requested.' })),
    per_spend_limit_minor: Type.Optional(AmountMinor({ description: 'At most what was requested.' })),
    max_count: Type.Optional(
      WholeNumber({ min: 1, max: MAX_ALLOWANCE_COUNT }, { description: 'At most what was requested.' }),
    ),
    merchants: Type.Optional(
      list(Line({ max: TEXT_LENGTHS.merchant }), 100, 'Some of those that were requested; any if none were.'),
    ),
    payee_ids: Type.Optional(list(PayeeId(), 100, 'Some of those that were requested; any if none were.')),
    answers: Type.Optional(
      Answers('The reasons of a REVIEW that it answers ahead, for spends that are made under it.'),
    ),
  },
  { $id: 'DecideAllowanceRequest', examples: [{ action: 'ALLOW', purpose: 'The load test of release 4.2' }] },
);
export type DecideAllowance = Static<typeof DecideAllowanceBody>;

/** The fields that an administrator can change. */
export const UpdateAllowanceBody = Fields(
  {
    name: Type.Optional(AllowanceName),
    amount_minor: Type.Optional(AMOUNT),
    expires_at: Type.Optional(EXPIRES_AT),
  },
  { $id: 'UpdateAllowanceRequest' },
);

export const RevokeAllowanceBody = Fields(
  { reason: Type.Optional(LongText({ max: TEXT_LENGTHS.description })) },
  { $id: 'RevokeAllowanceRequest' },
);

const Ref = Nullable(Fields({ id: Type.String(), slug: Type.String() }));
/** The key or person behind an allowance, an issuer of them, or a change. */
export const AllowanceAuthor = Fields({
  key_id: Nullable(Id('api_key')),
  principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
});

/** An allowance as a decision names it. */
export const DecisionAllowanceBody = Fields(
  {
    id: Id('allowance'),
    name: Nullable(Type.String()),
    labels: Type.Record(Type.String(), Type.String()),
  },
  { $id: 'DecisionAllowance' },
);
export type DecisionAllowance = Static<typeof DecisionAllowanceBody>;

/** The standing approval that was used in place of a review, as a decision names it. */
export const StandingApprovalBody = Fields(
  {
    id: Id('allowance'),
    answers: Type.Array(OneOf(REASON_CODES), { description: 'The reasons of a REVIEW that it answered.' }),
  },
  { $id: 'StandingApproval' },
);

/** The body by which a review makes a standing approval of the same spends. */
export const StandingApprovalIn = Fields(
  {
    amount_minor: AMOUNT,
    period: Type.Optional(
      OneOf(BUDGET_PERIODS, {
        description: 'The calendar period (UTC) that the amount is for; `MONTH` by default.',
      }),
    ),
    expires_at: InstantIn({ description: 'It answers before this time, at most 366 days ahead.' }),
    per_spend_limit_minor: Type.Optional(
      AmountMinor({ description: 'The most that a single spend may take, in minor units.' }),
    ),
  },
  {
    $id: 'NewStandingApproval',
    description:
      'With ALLOW: answers the same reasons ahead for later spends of the agent, in the currency and at the merchant of the decision, and to the payee if the request names one.',
  },
);
export type NewStandingApproval = Static<typeof StandingApprovalIn>;

/** An allowance, as the API answers it. */
export const AllowanceBody = Fields(
  {
    id: Id('allowance'),
    status: OneOf(ALLOWANCE_STATUSES, { description: 'As of this answer.' }),
    source: OneOf(ALLOWANCE_SOURCES),
    agent: Ref,
    budget: Ref,
    parent: Nullable(Id('allowance')),
    currency: Type.String({ examples: ['EUR'] }),
    amount_minor: LimitMinor(),
    period: OneOf(BUDGET_PERIODS),
    time_zone: Type.String(),
    per_spend_limit_minor: Nullable(LimitMinor()),
    max_count: Nullable(Type.Integer()),
    merchants: Nullable(Type.Array(Type.String())),
    payee_ids: Nullable(Type.Array(Type.String())),
    action_types: Nullable(Type.Array(Type.String())),
    expires_at: Timestamp(),
    purpose: Nullable(Type.String()),
    expected_items: Nullable(Type.Array(Type.String())),
    answers: Type.Array(OneOf(REASON_CODES)),
    automatic: Type.Boolean(),
    labels: Type.Record(Type.String(), Type.String()),
    name: Nullable(Type.String()),
    external_id: Nullable(Type.String()),
    standing: Fields(LIMIT_STANDING, { description: 'Its usage in the current period.' }),
    total: Fields({
      used_minor: LimitMinor({ description: 'Held plus spent, in all periods together.' }),
      used_count: Type.Integer({ minimum: 0 }),
    }),
    last_used_at: Nullable(Timestamp({ description: 'When the newest decision under it was made.' })),
    created_at: Timestamp(),
    created_by: AllowanceAuthor,
    issuer_id: Nullable(Type.String()),
    mandate: Nullable(MandateBody),
    request: Nullable(
      Fields({
        amount_minor: LimitMinor(),
        purpose: Type.String(),
        expires_at: Timestamp(),
        decide_by: Timestamp(),
        requested_by: AllowanceAuthor,
      }),
    ),
    decided: Nullable(
      Fields({
        action: OneOf(['ALLOW', 'DENY']),
        by: AllowanceAuthor,
        comment: Nullable(Type.String()),
        at: Timestamp(),
      }),
    ),
    revoked: Nullable(Fields({ reason: Nullable(Type.String()), by: AllowanceAuthor, at: Timestamp() })),
  },
  {
    $id: 'Allowance',
    description: 'A cap on what an agent may spend, for one task, sub-agent, user or customer.',
  },
);
export type ShownAllowance = Static<typeof AllowanceBody>;

const {
  standing: _standing,
  total: _total,
  last_used_at: _last_used,
  ...SETTINGS
} = AllowanceBody.properties;
const SettingsBody = Fields(SETTINGS, { description: 'The allowance without its usage.' });
/** An allowance without its usage. */
export type AllowanceSettings = Static<typeof SettingsBody>;

/** The event data of a change of an allowance. */
export const ChangedAllowanceBody = Fields({ ...SETTINGS, by: AllowanceAuthor });

/** The event data of an allowance that reached one of the percentages at which it alerts. */
export const ReachedAllowanceBody = Fields({
  percent: Type.Integer({ description: '80 or 100.', examples: [80] }),
  allowance: SettingsBody,
  standing: Fields(LIMIT_STANDING, { description: 'Its usage after the decision.' }),
  decision_id: Id('decision', { description: 'The decision that reached it.' }),
});

/** A new allowance, with the key that was made with it. */
export const NewAllowanceBody = Fields(
  {
    ...AllowanceBody.properties,
    api_key: Type.Optional(NewKeyBody),
  },
  { $id: 'NewAllowance', description: 'A new allowance. `api_key` is there, once, if `key` asked for one.' },
);
export type ShownNewAllowance = Static<typeof NewAllowanceBody>;
