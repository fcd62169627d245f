import {
  JUDGES,
  ON_NEW_MERCHANT,
  ON_OTHER_MERCHANTS,
  ON_OUTSIDE_HOURS,
  ON_PURPOSE_UNCLEAR,
} from '@purser/rules/domain/authorities';
import { authorityProblem } from '@purser/rules/policy/authority-problem';
import { WEEKDAYS } from '@purser/rules/values/calendar';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import Type from 'typebox';
import {
  Currency,
  Fields,
  Formed,
  InstantIn,
  LimitMinor,
  Line,
  LongText,
  OneOf,
  PayeeId,
  TimeZone,
} from '../../http/schemas.ts';
import { VELOCITY_FIELDS } from './velocity-limits.ts';

const MAX_PURPOSE_ITEMS = 50;
const MAX_MERCHANTS = 1_000;

const PurposeLines = (description: string, example: string) =>
  Type.Optional(
    Type.Array(LongText({ min: 1, max: TEXT_LENGTHS.description }), {
      maxItems: MAX_PURPOSE_ITEMS,
      description,
      examples: [[example]],
    }),
  );

const ActiveHours = Fields(
  {
    days: Type.Array(OneOf(WEEKDAYS), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: 'On which they begin.',
    }),
    from: Formed('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'must be a time from 00:00 to 23:59', {
      examples: ['08:00'],
    }),
    to: Formed('^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$', 'must be a time from 00:00 to 24:00', {
      description: 'Exclusive. Where it is before `from`, it is of the day after.',
      examples: ['18:00'],
    }),
  },
  { $id: 'ActiveHours' },
);

const ActionTypes = (description: string, example: string[]) =>
  Type.Array(Line({ max: TEXT_LENGTHS.name }), {
    minItems: 1,
    maxItems: 20,
    description: `${description} Compared without regard to case.`,
    examples: [example],
  });

const AllowedPayeeBody = Fields(
  {
    payee_id: PayeeId(),
    merchant: Type.Optional(
      Line({ max: TEXT_LENGTHS.merchant }, { description: 'Whoever is paid there when left out.' }),
    ),
  },
  { $id: 'AllowedPayee' },
);

/** What an agent is allowed, as it is posted. */
export const AuthorityBody = Fields(
  {
    purpose: Fields(
      {
        objective: LongText(
          { min: 1, max: TEXT_LENGTHS.description },
          {
            description: 'What the agent was put there for.',
            examples: ['Keep the staging platform running: servers, storage, monitoring.'],
          },
        ),
        success_criteria: PurposeLines(
          'How one can tell that it does well.',
          'Backups of every server are kept for 30 days.',
        ),
        constraints: PurposeLines('What it must not do.', 'No purchases of hardware.'),
        context: Type.Optional(
          LongText(
            { max: TEXT_LENGTHS.task },
            {
              description: 'What else helps to understand the purpose.',
              examples: ['Regular suppliers: Hetzner Online, Backblaze.'],
            },
          ),
        ),
        judge: Type.Optional(
          OneOf(JUDGES, {
            description:
              "Who judges its spends: `rules` asks no model; with `model` nothing is aligned without a model's opinion but what somebody vouches for. When left out, a model is asked where the installation has one.",
          }),
        ),
      },
      { $id: 'Purpose' },
    ),
    currency: Currency({
      description: 'ISO 4217 code of all amounts here; a spend in any other currency is denied.',
      examples: ['EUR'],
    }),
    per_transaction_limit_minor: Type.Optional(
      LimitMinor({
        description:
          'The most that one spend may be; more is denied, or capped where the request is `limitable`.',
        examples: [20000],
      }),
    ),
    review_threshold_minor: Type.Optional(
      LimitMinor({ description: 'Amounts strictly over it go to a person.', examples: [8000] }),
    ),
    monthly_budget_minor: Type.Optional(
      LimitMinor({
        description: 'The most that the spends of a calendar month (UTC) may come to, holds included.',
        examples: [150000],
      }),
    ),
    blocked_merchants: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
        maxItems: MAX_MERCHANTS,
        description: 'Names, or host names (which block their subdomains too).',
        examples: [['evil.example']],
      }),
    ),
    allowed_merchants: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
        maxItems: MAX_MERCHANTS,
        description:
          'Whole names, or host names (with their subdomains). Paying one of them is evidence that a spend serves the purpose; it outweighs no limit, no constraint and no conflict. What becomes of others, `on_other_merchants` says.',
        examples: [['Hetzner Online', 'hetzner.com']],
      }),
    ),
    reviewer_may_list: Type.Optional(
      Type.Boolean({
        description:
          'Whether whoever may review may also list merchants for the agent, and unlist them; only administrators when left out.',
      }),
    ),
    on_purpose_unclear: Type.Optional(
      OneOf(ON_PURPOSE_UNCLEAR, {
        description:
          'What a spend becomes when nobody can tell whether it serves the purpose; `REVIEW` when left out.',
      }),
    ),
    valid_from: Type.Optional(
      InstantIn({
        description: 'From then on the agent may spend; any time when left out.',
        examples: ['2026-12-01T00:00:00Z'],
      }),
    ),
    valid_until: Type.Optional(
      InstantIn({
        description:
          'Until then, exclusive, the agent may spend. No capability lasts longer, and a REVIEW can no longer be allowed.',
        examples: ['2027-03-01T00:00:00Z'],
      }),
    ),
    time_zone: Type.Optional(
      TimeZone({
        description: 'Of all days, weeks, months and hours below: an IANA name; `UTC` when left out.',
      }),
    ),
    active_hours: Type.Optional(
      Type.Array(ActiveHours, {
        minItems: 1,
        maxItems: 14,
        description: 'When the agent may spend, by the clocks of `time_zone`; at any time when left out.',
        examples: [[{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '08:00', to: '18:00' }]],
      }),
    ),
    on_outside_hours: Type.Optional(
      OneOf(ON_OUTSIDE_HOURS, { description: 'What a spend outside them becomes; `DENY` when left out.' }),
    ),
    on_new_merchant: Type.Optional(
      OneOf(ON_NEW_MERCHANT, {
        description:
          'What a spend becomes whose merchant the agent is not known to have paid, or whose payee where it names one; `ALLOW` when left out. Known is whom a person allowed or listed as allowed, or what the payment rail executed on a decision in force as ALLOW.',
      }),
    ),
    new_merchant_threshold_minor: Type.Optional(
      LimitMinor({ description: 'Amounts up to it pass at a new merchant.', examples: [2000] }),
    ),
    allowed_action_types: Type.Optional(
      ActionTypes('Any other type of action is denied, but for those that go to a person.', [
        'purchase',
        'top_up',
      ]),
    ),
    review_action_types: Type.Optional(
      ActionTypes('Spends of these types go to a person, also where they are not among those allowed.', [
        'subscription',
      ]),
    ),
    allowed_payees: Type.Optional(
      Type.Array(AllowedPayeeBody, {
        maxItems: MAX_MERCHANTS,
        description:
          'Payees that may be paid. A merchant that is named here, or listed with payees for the agent, is paid at no others: any other is refused as `on_other_merchants` says, at least reviewed.',
        examples: [[{ merchant: 'Hetzner Online', payee_id: 'iban:DE44500105175407324931' }]],
      }),
    ),
    on_other_merchants: Type.Optional(
      OneOf(ON_OTHER_MERCHANTS, {
        description:
          'What a spend becomes at a merchant that is neither in `allowed_merchants` nor `allowed_payees`, nor listed for the agent; `ALLOW` when left out.',
      }),
    ),
    ...VELOCITY_FIELDS,
  },
  {
    $id: 'Authority',
    description: 'A limit that is left out does not limit.',
    'x-together': authorityProblem,
  },
);
