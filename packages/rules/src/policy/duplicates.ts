import { AUTHORITY_DEFAULTS } from '@purser/contract/authority';
import { countsAt, newestOf, useAt } from '../counters/counters.ts';
import { timeOfId } from '../values/ids.ts';
import { DUPLICATES } from './counters.ts';
import { type DecideFacts, type Judge, type JudgesOf, NO_JUDGES, sameCurrencyOnly } from './stage.ts';

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

const judgeDuplicate: Judge = sameCurrencyOnly(
  ({ on_duplicate = AUTHORITY_DEFAULTS.on_duplicate }, facts) => {
    const { merchant } = facts.request.action;
    const slots = slotsOf(facts).filter((slot) => countsAt(slot, facts.now_ms) && slot.count > 0);
    if (useAt(slots, facts.now_ms).count === 0) {
      return {
        outcome: 'PASS',
        detail: `No spend of the same amount at ${merchant} was decided shortly before.`,
      };
    }
    const last = slots.map(({ decision_id }) => decision_id).reduce(newestOf, null);
    return {
      outcome: on_duplicate,
      reason_code: 'DUPLICATE_SPEND',
      ends_ms: Math.max(...slots.map(({ until_ms }) => until_ms)),
      observed: last,
      detail: `A spend of the same amount at ${merchant} was decided ${last === null ? 'shortly before' : `${ago(last, facts.now_ms)} (${last})`}.`,
    };
  },
);

/** How long ago a decision was made. */
function ago(decision_id: string, now_ms: number): string {
  const seconds = Math.max(0, Math.floor((now_ms - (timeOfId(decision_id) ?? now_ms)) / 1000));
  const [each, unit] =
    seconds < 60
      ? [1, 'second']
      : seconds < 3_600
        ? [60, 'minute']
        : seconds < 86_400
          ? [3_600, 'hour']
          : [86_400, 'day'];
  const many = Math.floor(seconds / each);
  return many === 0 ? 'just now' : `${many} ${unit}${many === 1 ? '' : 's'} ago`;
}

const ONE = [judgeDuplicate];

/** `duplicate`: the same amount to the same merchant again, under another idempotency key. */
export const judgeDuplicates: JudgesOf = ({ duplicate_window_seconds }) =>
  duplicate_window_seconds === undefined ? NO_JUDGES : ONE;
