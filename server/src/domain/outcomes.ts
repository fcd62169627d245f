import type { OutcomeState } from './decisions.ts';
import { recordHash } from './ledger.ts';

export const OUTCOME_TYPES = [
  'SPEND_EXECUTED',
  'SPEND_FAILED',
  'SPEND_CANCELLED',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
] as const;
export type OutcomeType = (typeof OUTCOME_TYPES)[number];

export const OUTCOME_SOURCES = ['CLIENT_REPORTED', 'PAYMENT_RAIL'] as const;
export type OutcomeSource = (typeof OUTCOME_SOURCES)[number];

export const OUTCOME_FLAGS = [
  'OVER_AUTHORIZED',
  'UNAUTHORIZED_EXECUTION',
  'LATE',
  'CONTRADICTS_CLIENT',
] as const;
export type OutcomeFlag = (typeof OUTCOME_FLAGS)[number];

/** What someone reported about a spend: kept for good. Minor units. */
export interface Outcome {
  outcome_id: string;
  decision_id: string;
  type: OutcomeType;
  /** What was spent or given back; null where a failed or cancelled spend named no amount. */
  amount_minor: number | null;
  currency: string;
  external_reference: string | null;
  occurred_at: string;
  source: OutcomeSource;
  key_id: string;
  principal_id: string | null;
  recorded_at: string;
  flags: OutcomeFlag[];
}

/** What of an outcome tells it from another. */
export type OutcomeReport = Pick<
  Outcome,
  'type' | 'amount_minor' | 'currency' | 'external_reference' | 'source'
>;

/** What the ledger seals of an outcome: SHA-256 of the RFC 8785 form of all its columns. */
export function outcomeDataHash(outcome: Outcome): Buffer {
  return recordHash(outcome);
}

/** An outcome as the API returns it. */
export function outcomeBody(outcome: Outcome): Record<string, unknown> {
  const { key_id, principal_id, recorded_at, flags, ...rest } = outcome;
  return { ...rest, reported_by: { key_id, principal_id }, recorded_at, flags };
}

type Settled = 'SPEND_EXECUTED' | 'SPEND_FAILED' | 'SPEND_CANCELLED';

interface Refund {
  amount_minor: number;
  external_reference: string | null;
  /** Whether it was reported as giving back all that was left. */
  is_rest: boolean;
}

/** What one source reported so far. */
interface Track {
  settled: Settled | null;
  executed_minor: number;
  refunds: Refund[];
}

/** What is known of a spend from all reports, the rail's word over the client's. Minor units. */
export interface OutcomeSummary {
  outcome_state: OutcomeState;
  executed_minor: number;
  /** Never more than was executed. */
  refunded_minor: number;
  /** Whether all of this, refunds included, is the payment rail's word, and no client said otherwise of the settlement. */
  verified: boolean;
  /** Whether it is the rail that says how the spend was settled. */
  settled_by_rail: boolean;
}

const isRefund = (type: OutcomeType) => type === 'REFUNDED' || type === 'PARTIALLY_REFUNDED';
const sum = (refunds: readonly Refund[]) => refunds.reduce((total, each) => total + each.amount_minor, 0);

function trackOf(outcomes: readonly OutcomeReport[], source: OutcomeSource): Track {
  const track: Track = { settled: null, executed_minor: 0, refunds: [] };
  for (const { type, amount_minor, external_reference, ...report } of outcomes) {
    if (report.source !== source) continue;
    if (isRefund(type)) {
      const is_rest = type === 'REFUNDED';
      track.refunds.push({ amount_minor: amount_minor ?? 0, external_reference, is_rest });
    } else {
      track.settled = type as Settled;
      track.executed_minor = type === 'SPEND_EXECUTED' ? (amount_minor as number) : 0;
    }
  }
  return track;
}

/** References tell two refunds apart only where both sides gave one. */
const mayBeSame = (one: Refund, other: Refund) =>
  one.external_reference === null ||
  other.external_reference === null ||
  one.external_reference === other.external_reference;

const sameRefund = (one: Refund, other: Refund) =>
  one.amount_minor === other.amount_minor && mayBeSame(one, other);

/** The refunds of `one` that none of `other` is the same as; each of `other` answers for one. */
function unmatched(
  one: readonly Refund[],
  other: readonly Refund[],
  isSame: (one: Refund, other: Refund) => boolean,
): { left: Refund[]; unused: Refund[] } {
  const unused = [...other];
  const left = one.filter((refund) => {
    const found = unused.findIndex((each) => isSame(refund, each));
    if (found >= 0) unused.splice(found, 1);
    return found < 0;
  });
  return { left, unused };
}

/**
 * The client's refunds that are others than the rail's. Where a client's refund and one of the rail's may be the same but
 * differ in their amounts, the rail's amount is right; a client's full refund says how much was given back in all.
 */
function besideRail(rail: Track, client: Track): Refund[] {
  const { left, unused } = unmatched(client.refunds, rail.refunds, sameRefund);
  return unmatched(left, unused, (one, other) => !one.is_rest && mayBeSame(one, other)).left;
}

const sameSettlement = (one: Track, other: Track) =>
  one.settled === other.settled && one.executed_minor === other.executed_minor;

/** Whether the client claims more to have been given back than can be beside what the rail reported. */
function overclaimed(rail: Track, client: Track): boolean {
  if (rail.refunds.length === 0 || rail.settled !== 'SPEND_EXECUTED') return false;
  const rail_minor = sum(rail.refunds);
  return rail_minor < rail.executed_minor && rail_minor + sum(besideRail(rail, client)) > rail.executed_minor;
}

/** What all reports say together. */
export function summarizeOutcomes(outcomes: readonly OutcomeReport[]): OutcomeSummary {
  const rail = trackOf(outcomes, 'PAYMENT_RAIL');
  const client = trackOf(outcomes, 'CLIENT_REPORTED');
  const settling = rail.settled === null ? client : rail;
  const settled_by_rail = rail.settled !== null;
  const is_agreed = settled_by_rail && (client.settled === null || sameSettlement(rail, client));
  const { executed_minor } = settling;
  if (settling.settled !== 'SPEND_EXECUTED') {
    const outcome_state =
      settling.settled === null ? 'NONE' : settling.settled === 'SPEND_FAILED' ? 'FAILED' : 'CANCELLED';
    return { outcome_state, executed_minor: 0, refunded_minor: 0, verified: is_agreed, settled_by_rail };
  }
  const rail_minor = sum(rail.refunds);
  const together = rail_minor + sum(besideRail(rail, client));
  // Where the two cannot both be right, the rail is; without its word the client's stands as far as it can.
  const refunded_minor =
    together <= executed_minor ? together : rail.refunds.length > 0 ? rail_minor : executed_minor;
  const outcome_state =
    refunded_minor === 0 ? 'EXECUTED' : refunded_minor < executed_minor ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
  const verified = is_agreed && refunded_minor === rail_minor;
  return { outcome_state, executed_minor, refunded_minor, verified, settled_by_rail };
}

/** The stored record that a report repeats exactly, in any state; undefined when there is none. */
export function exactRepeat(outcomes: readonly Outcome[], report: OutcomeReport): Outcome | undefined {
  return outcomes.find(
    (each) =>
      each.type === report.type &&
      each.currency === report.currency &&
      each.external_reference === report.external_reference &&
      each.source === report.source &&
      (each.amount_minor === report.amount_minor ||
        // The amount of a full refund may be left out; a source reports only one.
        (report.type === 'REFUNDED' && report.amount_minor === null)),
  );
}

/** What is wrong with a report, for the caller; or what to record of it. */
export type Judged =
  | { ok: true; amount_minor: number | null; contradicts_client: boolean }
  | { ok: false; problem: string };

const conflict = (problem: string): Judged => ({ ok: false, problem });

const OVER_EXECUTED = 'The refunds would be more than what was executed.';

/** Refunds are judged by what was executed and what was given back of it so far. */
function judgeRefund(
  report: OutcomeReport,
  executed: boolean,
  executed_minor: number,
  refunded_minor: number,
): Judged {
  if (!executed) return conflict('Nothing was reported as executed that could be refunded.');
  const left = executed_minor - refunded_minor;
  if (left === 0) return conflict('The spend was fully refunded already.');
  const { type, amount_minor } = report;
  if (type === 'PARTIALLY_REFUNDED') {
    if ((amount_minor as number) > left) return conflict(OVER_EXECUTED);
    return { ok: true, amount_minor, contradicts_client: false };
  }
  if (amount_minor !== null && amount_minor !== left) {
    return conflict(
      'A full refund gives back what is left of the amount executed; the amount may be left out.',
    );
  }
  return { ok: true, amount_minor: left, contradicts_client: false };
}

/** The rail is held against its own reports only, and prevails over what a client claimed. */
function judgeRail(outcomes: readonly OutcomeReport[], report: OutcomeReport): Judged {
  const rail = trackOf(outcomes, 'PAYMENT_RAIL');
  const client = trackOf(outcomes, 'CLIENT_REPORTED');
  if (isRefund(report.type)) {
    const executed = rail.settled === 'SPEND_EXECUTED';
    const judged = judgeRefund(report, executed, rail.executed_minor, sum(rail.refunds));
    if (!judged.ok) return judged;
    const after = trackOf([...outcomes, { ...report, amount_minor: judged.amount_minor }], 'PAYMENT_RAIL');
    return { ...judged, contradicts_client: overclaimed(after, client) };
  }
  if (rail.settled !== null) return conflict('The payment rail reported something else before.');
  const after = trackOf([report], 'PAYMENT_RAIL');
  const contradicts_client = client.settled !== null && !sameSettlement(after, client);
  return { ok: true, amount_minor: report.amount_minor, contradicts_client };
}

/** A client is held against everything known, but may say once more what only the rail has said so far. */
function judgeClient(outcomes: readonly OutcomeReport[], report: OutcomeReport): Judged {
  const rail = trackOf(outcomes, 'PAYMENT_RAIL');
  const client = trackOf(outcomes, 'CLIENT_REPORTED');
  const standing = summarizeOutcomes(outcomes);
  if (isRefund(report.type)) {
    const said_by_rail = unmatched(rail.refunds, client.refunds, sameRefund).left;
    const fully_refunded = standing.refunded_minor === standing.executed_minor;
    // A full refund says the same as the rail's reports only once those are full too.
    if (report.type === 'PARTIALLY_REFUNDED' || fully_refunded) {
      const { external_reference } = report;
      const amount_minor = report.amount_minor ?? said_by_rail.at(-1)?.amount_minor ?? null;
      if (
        amount_minor !== null &&
        said_by_rail.some((each) => sameRefund(each, { amount_minor, external_reference, is_rest: false }))
      ) {
        return { ok: true, amount_minor, contradicts_client: false };
      }
    }
    const executed = (rail.settled ?? client.settled) === 'SPEND_EXECUTED';
    const judged = judgeRefund(report, executed, standing.executed_minor, standing.refunded_minor);
    // Of refunds that count once with the rail's, the client's own sum must stay within what was executed as well.
    const is_over =
      report.type === 'PARTIALLY_REFUNDED' &&
      sum(client.refunds) + (report.amount_minor as number) > standing.executed_minor;
    return judged.ok && is_over ? conflict(OVER_EXECUTED) : judged;
  }
  if (client.settled !== null) return conflict('Something else was reported before.');
  const said = trackOf([{ ...report, source: 'CLIENT_REPORTED' }], 'CLIENT_REPORTED');
  if (rail.settled !== null && !sameSettlement(rail, said)) {
    return conflict('The payment rail reported something else.');
  }
  return { ok: true, amount_minor: report.amount_minor, contradicts_client: false };
}

/**
 * Reports that one source may make of a decision: all of them are read with each further one. Counted by source, so that
 * no client can keep the rail from saying what happened.
 */
export const MAX_REPORTS = 1_000;

/**
 * Whether a report may follow those before it. Exact repeats are looked for first (`exactRepeat`). `amount_minor`
 * of what is recorded: for a full refund what was left of the amount executed.
 */
export function judgeOutcome(outcomes: readonly OutcomeReport[], report: OutcomeReport): Judged {
  if (outcomes.filter((each) => each.source === report.source).length >= MAX_REPORTS)
    return conflict(`A decision takes at most ${MAX_REPORTS} reports of one source.`);
  return report.source === 'PAYMENT_RAIL' ? judgeRail(outcomes, report) : judgeClient(outcomes, report);
}
