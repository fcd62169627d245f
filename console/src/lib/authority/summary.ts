import { withDefaults } from '@purser/contract/authority';
import {
  hoursInWords,
  inWords,
  limitInWords,
  modelUsageInWords,
  spanInWords,
} from '@purser/contract/authority-words';
import { VELOCITY_DEFAULTS } from '@purser/contract/velocity-limits';
import type { AllowedPayee, Authority } from '@purser/sdk';
import { formatMoney } from '../money.ts';
import { isTimeZone, toLocal } from './zones.ts';

const BECOMES = { ALLOW: 'is allowed', REVIEW: 'needs review', DENY: 'is denied' } as const;

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

/** Local time in a zone: "2026-12-01 08:00". */
const moment = (at: string, time_zone: string) =>
  toLocal(at, isTimeZone(time_zone) ? time_zone : 'UTC').replace('T', ' ');

function amounts(authority: Authority): string[] {
  const { currency, per_transaction_limit_minor, review_threshold_minor, monthly_budget_minor } = authority;
  const { review_ttl_seconds } = authority;
  const money = (amount_minor: number) => formatMoney(amount_minor, currency);
  return [
    per_transaction_limit_minor === undefined
      ? ''
      : `A request may be for at most ${money(per_transaction_limit_minor)}.`,
    review_threshold_minor === undefined
      ? ''
      : `A request for more than ${money(review_threshold_minor)} needs review.`,
    review_ttl_seconds === undefined
      ? ''
      : `A request that waits for a review expires after ${spanInWords(review_ttl_seconds)}.`,
    monthly_budget_minor === undefined
      ? ''
      : `The agent may spend ${money(monthly_budget_minor)} per calendar month (UTC).`,
  ];
}

function times(authority: Authority): string[] {
  const { valid_from, valid_until, time_zone, active_hours = [], on_outside_hours } = withDefaults(authority);
  const span = [
    valid_from === undefined ? '' : `from ${moment(valid_from, time_zone)}`,
    valid_until === undefined ? '' : `until ${moment(valid_until, time_zone)}`,
  ].filter((part) => part !== '');
  return [
    span.length === 0 ? '' : `The policy is valid ${span.join(' ')} (${time_zone}).`,
    active_hours.length === 0
      ? ''
      : `The agent may spend ${inWords(active_hours.map(hoursInWords))} (${time_zone}); a request at any other time ${BECOMES[on_outside_hours]}.`,
  ];
}

function payeesInWords(bound: readonly AllowedPayee[]): string {
  const [first, ...others] = new Set(bound.map(({ merchant }) => merchant));
  if (others.length > 0)
    return `${others.length + 1} merchants may be paid only at the accounts named with them`;
  return `${first} may be paid only at ${counted(bound.length, 'known account')}`;
}

function merchants(authority: Authority): string[] {
  const {
    currency,
    blocked_merchants = [],
    allowed_merchants = [],
    allowed_payees = [],
    on_other_merchants,
    on_new_merchant,
    new_merchant_threshold_minor,
  } = withDefaults(authority);
  const bound = allowed_payees.filter(({ merchant }) => merchant !== undefined);
  const listed = [
    allowed_merchants.length > 0 && counted(allowed_merchants.length, 'merchant'),
    allowed_payees.length > 0 && counted(allowed_payees.length, 'payee'),
  ].filter((part) => part !== false);
  return [
    blocked_merchants.length === 0
      ? ''
      : `${counted(blocked_merchants.length, 'merchant')} ${blocked_merchants.length === 1 ? 'is' : 'are'} blocked.`,
    on_other_merchants === 'ALLOW'
      ? ''
      : `Allowed: ${listed.length === 0 ? 'merchants listed for the agent' : inWords(listed)}. A request for any other ${BECOMES[on_other_merchants]}.`,
    bound.length === 0
      ? ''
      : `${payeesInWords(bound)}; any other account ${BECOMES[on_other_merchants === 'DENY' ? 'DENY' : 'REVIEW']}.`,
    on_new_merchant === 'ALLOW'
      ? ''
      : `A first payment to a merchant ${BECOMES[on_new_merchant]}${new_merchant_threshold_minor === undefined ? '' : `, unless it is ${formatMoney(new_merchant_threshold_minor, currency)} or less`}.`,
  ];
}

function modelCalls({ model_usage }: Authority): string[] {
  return model_usage === undefined ? [] : [`Model calls are allowed: ${modelUsageInWords(model_usage)}.`];
}

function actions({ allowed_action_types = [], review_action_types = [] }: Authority): string[] {
  return [
    allowed_action_types.length === 0
      ? ''
      : `The action type must be ${inWords(allowed_action_types, 'or')}; any other is denied.`,
    review_action_types.length === 0
      ? ''
      : `A request of type ${inWords(review_action_types, 'or')} needs review.`,
  ];
}

function overTime(authority: Authority): string[] {
  const {
    currency,
    velocity_limits = [],
    budgets = [],
    alert_percents = [],
    duplicate_window_seconds,
    on_duplicate,
  } = withDefaults(authority);
  return [
    ...velocity_limits.map(
      (limit) =>
        `${limitInWords(limit, currency, formatMoney)} (${limit.name}); anything beyond that ${BECOMES[limit.on_exceeded ?? VELOCITY_DEFAULTS.on_exceeded]}.`,
    ),
    budgets.length === 0
      ? ''
      : `Requests count toward the shared budget${budgets.length === 1 ? '' : 's'} ${inWords(budgets)} and every budget above.`,
    alert_percents.length === 0
      ? ''
      : `Purser alerts when ${inWords(alert_percents.map((percent) => `${percent} %`))} of the monthly budget or of a velocity limit is used.`,
    duplicate_window_seconds === undefined
      ? ''
      : `A second request for the same amount at the same merchant within ${spanInWords(duplicate_window_seconds)} ${BECOMES[on_duplicate]}.`,
  ];
}

/** Describes an authority in sentences for people. Fields that are not set give none. */
function questions({ purpose: { attention }, require_description }: Authority): string[] {
  return [
    attention === 'LOW'
      ? 'Reviewers are asked only about merchants that nobody vouches for, and about contradictions.'
      : '',
    attention === 'HIGH'
      ? 'Reviewers are also asked about any word that nobody has allowed at the merchant.'
      : '',
    require_description === true ? 'The purpose of a request without a description is unclear.' : '',
  ];
}

export function summaryOf(authority: Authority): string[] {
  const { on_purpose_unclear } = withDefaults(authority);
  return [
    ...amounts(authority),
    ...overTime(authority),
    ...times(authority),
    ...merchants(authority),
    ...actions(authority),
    ...modelCalls(authority),
    ...questions(authority),
    `A request whose purpose is unclear ${BECOMES[on_purpose_unclear]}.`,
  ].filter((sentence) => sentence !== '');
}
