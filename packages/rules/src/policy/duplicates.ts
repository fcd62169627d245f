import { AUTHORITY_DEFAULTS } from '@purser/contract/authority';
import { countsAt, newestOf, useAt } from '../counters/counters.ts';
import { isLease } from '../leases/leases.ts';
import { PHRASES, POLICY } from '../sentences/policy.ts';
import { TIME_UNITS, within } from '../sentences/time.ts';
import { timeOfId } from '../values/ids.ts';
import { formatMoney } from '../values/money.ts';
import { DUPLICATES } from './counters.ts';
import {
  type DecideFacts,
  type Judge,
  type JudgesOf,
  NO_JUDGES,
  sameCurrencyOnly,
  skipped,
} from './stage.ts';

/** The slots in which a spend has duplicates. */
function slotsOf({ counters, request }: DecideFacts) {
  const { all, own, unnamed } = DUPLICATES;
  return (request.action.payee_id === undefined ? [all] : [own, unnamed]).flatMap((name) => {
    const counter = counters?.get(name);
    // Nothing may pass because nobody looked for what came before.
    if (counter === undefined) throw new Error('the counters of duplicates were not loaded');
    return counter.slots;
  });
}

const judgeDuplicate: Judge = sameCurrencyOnly((authority, facts) => {
  const { on_duplicate = AUTHORITY_DEFAULTS.on_duplicate, duplicate_window_seconds: window_seconds = 0 } =
    authority;
  if (isLease(authority, facts.request.action)) return skipped(POLICY.not_checked_for_leases());
  const { merchant, amount_minor, currency } = facts.request.action;
  const amount = formatMoney(amount_minor, currency);
  const slots = slotsOf(facts).filter((slot) => countsAt(slot, facts.now_ms) && slot.count > 0);
  if (useAt(slots, facts.now_ms).count === 0)
    return { outcome: 'PASS', detail: POLICY.no_duplicate(amount, merchant, within(window_seconds)) };
  const last = slots.map(({ decision_id }) => decision_id).reduce(newestOf, null);
  return {
    outcome: on_duplicate,
    reason_code: 'DUPLICATE_SPEND',
    ends_ms: Math.max(...slots.map(({ until_ms }) => until_ms)),
    observed: last,
    detail:
      last === null
        ? POLICY.duplicate_of_unknown(amount, merchant, within(window_seconds))
        : POLICY.duplicate(amount, merchant, ago(last, facts.now_ms), last),
  };
});

/** How long ago a decision was made. */
function ago(decision_id: string, now_ms: number): string {
  const seconds = Math.max(0, Math.floor((now_ms - (timeOfId(decision_id) ?? now_ms)) / 1000));
  const [each, unit] = TIME_UNITS.find(([length]) => seconds >= length) ?? [1, 'second'];
  const many = Math.floor(seconds / each);
  if (many === 0) return PHRASES.just_now();
  return many === 1 ? PHRASES.one_ago(unit) : PHRASES.ago(many, unit);
}

const ONE = [judgeDuplicate];

/** `duplicate`: the same amount to the same merchant again, under another idempotency key. */
export const judgeDuplicates: JudgesOf = ({ duplicate_window_seconds }) =>
  duplicate_window_seconds === undefined ? NO_JUDGES : ONE;
