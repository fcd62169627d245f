import { MAX_NEAREST } from '@purser/contract/values/coverage';
import { isDescriptorOf } from '../merchants/descriptors.ts';
import { payeeKey } from '../merchants/keys.ts';
import { formatMoney } from '../values/money.ts';
import { type AskedSpend, askingTimes, type CoverageSettings, isNear, type LineSpend } from './spends.ts';

/** A decision near a line, and what keeps it from being the line's. */
export interface NearDecision {
  decision_id: string;
  why: string;
}

/** Decisions whose names are compared. */
const MAX_COMPARED = 50;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const count = (n: number, unit: string) => `${n} ${unit}${n === 1 ? '' : 's'}`;

function durationText(ms: number): string {
  if (ms >= 2 * DAY_MS) return count(Math.floor(ms / DAY_MS), 'day');
  if (ms >= 2 * HOUR_MS) return count(Math.floor(ms / HOUR_MS), 'hour');
  return count(Math.max(1, Math.floor(ms / MINUTE_MS)), 'minute');
}

/** How far the paid amount is from the expected one, as a share of it; infinite in another currency. */
function distanceOf({ amounts }: LineSpend, { currency, expected_minor }: AskedSpend): number {
  const paid = amounts.find((each) => each.currency === currency);
  if (paid === undefined || expected_minor === null) return Number.POSITIVE_INFINITY;
  return Math.abs(paid.amount_minor - expected_minor) / Math.max(1, expected_minor);
}

function amountProblem(spend: LineSpend, asked: AskedSpend, settings: CoverageSettings): string | null {
  const { currency, expected_minor } = asked;
  if (expected_minor === null) return 'It failed, was cancelled, or was made of a payment that was seen.';
  const paid = spend.amounts.find((each) => each.currency === currency);
  if (paid === undefined) return `It is in ${currency}.`;
  if (isNear(paid.amount_minor, expected_minor, settings)) return null;
  return `It is for ${formatMoney(expected_minor, currency)}; ${formatMoney(paid.amount_minor, currency)} were paid.`;
}

function nameProblem(spend: LineSpend, asked: AskedSpend): string | null {
  const { payee_id, merchant } = spend;
  if (payee_id !== null && asked.payee_id !== null) {
    if (payeeKey(payee_id) === payeeKey(asked.payee_id)) return null;
    return `It is for payee ${asked.payee_id}.`;
  }
  return isDescriptorOf(merchant, asked.merchant) ? null : `It is for “${asked.merchant}”.`;
}

function timeProblem(
  spend: LineSpend,
  { created_ms }: AskedSpend,
  settings: CoverageSettings,
): string | null {
  const { since_ms, late_until_ms } = askingTimes(spend, settings);
  if (created_ms < since_ms)
    return `It was made ${durationText(spend.starts_ms - created_ms)} before the payment.`;
  if (created_ms > late_until_ms)
    return `It was made ${durationText(created_ms - spend.starts_ms)} after the payment.`;
  return null;
}

/**
 * The decisions of the agent that are nearest to a spend, with what keeps each from being its: few obstacles first, then the nearest
 * amount, then the nearest time. `taken`: decisions that other spends have. `own`: the spend's decision, where it was refused.
 */
export function nearestDecisions(
  spend: LineSpend,
  asked: readonly AskedSpend[],
  settings: CoverageSettings,
  { taken, own }: { taken: ReadonlySet<string>; own: string | null },
): NearDecision[] {
  const distant = (each: AskedSpend) => Math.abs(each.created_ms - spend.starts_ms);
  const near = asked
    .filter(({ decision_id }) => decision_id !== own)
    .map((each) => ({ each, distance: distanceOf(spend, each) }))
    .sort((a, b) =>
      a.distance !== b.distance ? (a.distance < b.distance ? -1 : 1) : distant(a.each) - distant(b.each),
    )
    .slice(0, MAX_COMPARED)
    .map(({ each, distance }) => {
      const problems = [
        amountProblem(spend, each, settings),
        nameProblem(spend, each),
        timeProblem(spend, each, settings),
        taken.has(each.decision_id) ? 'Another payment was made for it.' : null,
      ].flatMap((problem) => problem ?? []);
      return { each, distance, problems };
    })
    .sort((a, b) => a.problems.length - b.problems.length);
  const found = near.slice(0, MAX_NEAREST).map(({ each: { decision_id }, problems }) => ({
    decision_id,
    why: problems.length === 0 ? 'A person said that it is not for this payment.' : problems.join(' '),
  }));
  if (own === null) return found;
  return [{ decision_id: own, why: 'It asked for this payment, and was not allowed.' }, ...found].slice(
    0,
    MAX_NEAREST,
  );
}
