import type { AllowedPayee, Authority } from '@purser/sdk';
import { formatMoney } from '../money.ts';
import { hoursInWords, inWords } from './hours.ts';
import { limitInWords, spanInWords } from './velocity.ts';
import { isTimeZone, toLocal } from './zones.ts';

const BECOMES = { ALLOW: 'is allowed', REVIEW: 'goes to a person', DENY: 'is denied' } as const;

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

/** A moment by the clocks of a zone: "2026-12-01 08:00". */
const moment = (at: string, time_zone: string) =>
  toLocal(at, isTimeZone(time_zone) ? time_zone : 'UTC').replace('T', ' ');

function amounts(authority: Authority): string[] {
  const { currency, per_transaction_limit_minor, review_threshold_minor, monthly_budget_minor } = authority;
  const money = (amount_minor: number) => formatMoney(amount_minor, currency);
  return [
    per_transaction_limit_minor === undefined
      ? ''
      : `A spend may be at most ${money(per_transaction_limit_minor)}.`,
    review_threshold_minor === undefined ? '' : `Above ${money(review_threshold_minor)} a person decides.`,
    monthly_budget_minor === undefined
      ? ''
      : `A calendar month (UTC) may come to ${money(monthly_budget_minor)}.`,
  ];
}

function times({
  valid_from,
  valid_until,
  time_zone = 'UTC',
  active_hours = [],
  on_outside_hours = 'DENY',
}: Authority): string[] {
  const span = [
    valid_from === undefined ? '' : `from ${moment(valid_from, time_zone)}`,
    valid_until === undefined ? '' : `until ${moment(valid_until, time_zone)}`,
  ].filter((part) => part !== '');
  return [
    span.length === 0 ? '' : `It may spend ${span.join(' ')} (${time_zone}), and at no other time.`,
    active_hours.length === 0
      ? ''
      : `It may spend ${inWords(active_hours.map(hoursInWords))} in ${time_zone}; at any other hour a spend ${BECOMES[on_outside_hours]}.`,
  ];
}

function payeesInWords(bound: readonly AllowedPayee[]): string {
  const [first, ...others] = new Set(bound.map(({ merchant }) => merchant));
  if (others.length > 0) return `${others.length + 1} merchants are paid at the accounts named with them`;
  return `${first} is paid at ${counted(bound.length, 'known account')}`;
}

function merchants(authority: Authority): string[] {
  const {
    currency,
    blocked_merchants = [],
    allowed_merchants = [],
    allowed_payees = [],
    on_other_merchants = 'ALLOW',
    on_new_merchant = 'ALLOW',
    new_merchant_threshold_minor,
  } = authority;
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
      : `A spend anywhere but at ${listed.length === 0 ? 'merchants listed for the agent' : inWords(listed, 'or')} ${BECOMES[on_other_merchants]}.`,
    bound.length === 0
      ? ''
      : `${payeesInWords(bound)} alone; any other account ${BECOMES[on_other_merchants === 'DENY' ? 'DENY' : 'REVIEW']}.`,
    on_new_merchant === 'ALLOW'
      ? ''
      : `A first payment to a merchant ${BECOMES[on_new_merchant]}${new_merchant_threshold_minor === undefined ? '' : `, unless it is ${formatMoney(new_merchant_threshold_minor, currency)} or less`}.`,
  ];
}

function actions({ allowed_action_types = [], review_action_types = [] }: Authority): string[] {
  return [
    allowed_action_types.length === 0
      ? ''
      : `Its actions may be ${inWords(allowed_action_types, 'or')}; any other is denied.`,
    review_action_types.length === 0
      ? ''
      : `Actions of type ${inWords(review_action_types, 'or')} go to a person.`,
  ];
}

function overTime(authority: Authority): string[] {
  const {
    currency,
    velocity_limits = [],
    budgets = [],
    duplicate_window_seconds,
    on_duplicate = 'REVIEW',
  } = authority;
  return [
    ...velocity_limits.map(
      (limit) =>
        `${limitInWords(limit, currency)} (${limit.name}); beyond that a spend ${BECOMES[limit.on_exceeded ?? 'DENY']}.`,
    ),
    budgets.length === 0
      ? ''
      : `Its spends count in the shared budget${budgets.length === 1 ? '' : 's'} ${inWords(budgets)} and in all above.`,
    duplicate_window_seconds === undefined
      ? ''
      : `The same amount at the same merchant within ${spanInWords(duplicate_window_seconds)} ${BECOMES[on_duplicate]}.`,
  ];
}

/** What an authority says, in sentences for people; what it leaves out is left out. */
export function summaryOf(authority: Authority): string[] {
  const { on_purpose_unclear = 'REVIEW' } = authority;
  return [
    ...amounts(authority),
    ...overTime(authority),
    ...times(authority),
    ...merchants(authority),
    ...actions(authority),
    `A spend whose purpose is unclear ${BECOMES[on_purpose_unclear]}.`,
  ].filter((sentence) => sentence !== '');
}
