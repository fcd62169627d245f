import type { UsageLine } from '@purser/contract/models/fields';
import {
  MAX_REPORTS,
  type OUTCOME_FLAGS,
  type OUTCOME_SOURCES,
  type OUTCOME_TYPES,
} from '@purser/contract/values/decisions';
import type { OutcomeState } from './decisions.ts';
import { recordHash } from './ledger.ts';

export type OutcomeType = (typeof OUTCOME_TYPES)[number];

export type OutcomeSource = (typeof OUTCOME_SOURCES)[number];

export type OutcomeFlag = (typeof OUTCOME_FLAGS)[number];

/** A report of what became of a spend. Never changed or removed. Minor units. */
export interface Outcome {
  outcome_id: string;
  decision_id: string;
  type: OutcomeType;
  /** The amount spent or refunded; null if the report of a failed or cancelled spend has none. */
  amount_minor: number | null;
  currency: string;
  external_reference: string | null;
  occurred_at: string;
  source: OutcomeSource;
  /** Null: a person reported it. */
  key_id: string | null;
  principal_id: string | null;
  recorded_at: string;
  flags: OutcomeFlag[];
  /** JSON text of the usage that it accounts for, as it was reported. */
  usage: string | null;
}

/** The fields by which two outcomes are compared. */
export type OutcomeReport = Pick<
  Outcome,
  'type' | 'amount_minor' | 'currency' | 'external_reference' | 'source'
>;

/** The form of an outcome that the ledger seals. A null `usage` is left out, as before there was any. */
export function sealedOutcome({ usage, ...outcome }: Outcome): Record<string, unknown> {
  return { ...outcome, ...(usage === null ? {} : { usage }) };
}

/** The `data_hash` of an outcome: SHA-256 of the RFC 8785 form of what is sealed of it. */
export function outcomeDataHash(outcome: Outcome): Buffer {
  return recordHash(sealedOutcome(outcome));
}

/** An outcome as the API returns it. */
export function outcomeBody(outcome: Outcome) {
  const { key_id, principal_id, recorded_at, flags, usage, ...rest } = outcome;
  const used = usage === null ? {} : { usage: JSON.parse(usage) as UsageLine[] };
  return { ...rest, reported_by: { key_id, principal_id }, recorded_at, flags, ...used };
}

type Settled = 'SPEND_EXECUTED' | 'SPEND_FAILED' | 'SPEND_CANCELLED';

interface Refund {
  amount_minor: number;
  external_reference: string | null;
  /** True if it was reported as a full refund, of all that was left. */
  is_rest: boolean;
}

/** All reports of one source so far. */
interface Track {
  settled: Settled | null;
  /** The amounts reported as executed. Each is the whole amount so far, so the highest counts. */
  executed: number[];
  executed_minor: number;
  refunds: Refund[];
}

/** The summary of all reports of a spend; the rail's override the client's. Minor units. */
export interface OutcomeSummary {
  outcome_state: OutcomeState;
  executed_minor: number;
  /** Never more than was executed. */
  refunded_minor: number;
  /** True if the payment rail reported all of this, refunds included, and no client contradicts the settlement. */
  verified: boolean;
  /** True if the rail reported how the spend was settled. */
  settled_by_rail: boolean;
}

const isRefund = (type: OutcomeType) => type === 'REFUNDED' || type === 'PARTIALLY_REFUNDED';
const sum = (refunds: readonly Refund[]) => refunds.reduce((total, each) => total + each.amount_minor, 0);

function trackOf(outcomes: readonly OutcomeReport[], source: OutcomeSource): Track {
  const track: Track = { settled: null, executed: [], executed_minor: 0, refunds: [] };
  for (const { type, amount_minor, external_reference, ...report } of outcomes) {
    if (report.source !== source) continue;
    if (isRefund(type)) {
      const is_rest = type === 'REFUNDED';
      track.refunds.push({ amount_minor: amount_minor ?? 0, external_reference, is_rest });
    } else {
      track.settled = type as Settled;
      if (type === 'SPEND_EXECUTED') track.executed.push(amount_minor as number);
    }
  }
  track.executed_minor = Math.max(0, ...track.executed);
  return track;
}

/** References distinguish two refunds only where both have one. */
const mayBeSame = (one: Refund, other: Refund) =>
  one.external_reference === null ||
  other.external_reference === null ||
  one.external_reference === other.external_reference;

const sameRefund = (one: Refund, other: Refund) =>
  one.amount_minor === other.amount_minor && mayBeSame(one, other);

/** The refunds of `one` without a match in `other` (`left`), and the reverse (`unused`). Each refund matches at most one. */
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
 * The client's refunds that the rail did not report. Where a client's refund may be one of the rail's but differs in its
 * amount, it is taken for that one and the rail's amount counts. A client's full refund is exempt, because it says how much
 * was refunded in all.
 */
function besideRail(rail: Track, client: Track): Refund[] {
  const { left, unused } = unmatched(client.refunds, rail.refunds, sameRefund);
  return unmatched(left, unused, (one, other) => !one.is_rest && mayBeSame(one, other)).left;
}

/** True if the client's settlement is one that the rail reported too, before or after it raised the amount. */
const isAgreed = (rail: Track, client: Track) =>
  rail.settled === client.settled &&
  (client.settled !== 'SPEND_EXECUTED' || rail.executed.includes(client.executed_minor));

/**
 * Returns true if the client's refunds and the rail's together exceed what was executed, though the rail's alone do
 * not.
 */
function overclaimed(rail: Track, client: Track): boolean {
  if (rail.refunds.length === 0 || rail.settled !== 'SPEND_EXECUTED') return false;
  const rail_minor = sum(rail.refunds);
  return rail_minor < rail.executed_minor && rail_minor + sum(besideRail(rail, client)) > rail.executed_minor;
}

/** Summarizes all reports of a decision. */
export function summarizeOutcomes(outcomes: readonly OutcomeReport[]): OutcomeSummary {
  const rail = trackOf(outcomes, 'PAYMENT_RAIL');
  const client = trackOf(outcomes, 'CLIENT_REPORTED');
  const settling = rail.settled === null ? client : rail;
  const settled_by_rail = rail.settled !== null;
  const is_agreed = settled_by_rail && (client.settled === null || isAgreed(rail, client));
  const { executed_minor } = settling;
  if (settling.settled !== 'SPEND_EXECUTED') {
    const outcome_state =
      settling.settled === null ? 'NONE' : settling.settled === 'SPEND_FAILED' ? 'FAILED' : 'CANCELLED';
    return { outcome_state, executed_minor: 0, refunded_minor: 0, verified: is_agreed, settled_by_rail };
  }
  const rail_minor = sum(rail.refunds);
  const together = rail_minor + sum(besideRail(rail, client));
  // Refunds beyond what was executed cannot all be right: then the rail's count, or without any all of it was refunded.
  const refunded_minor =
    together <= executed_minor ? together : rail.refunds.length > 0 ? rail_minor : executed_minor;
  const outcome_state =
    refunded_minor === 0 ? 'EXECUTED' : refunded_minor < executed_minor ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
  const verified = is_agreed && refunded_minor === rail_minor;
  return { outcome_state, executed_minor, refunded_minor, verified, settled_by_rail };
}

/** The stored outcome that a report repeats exactly, whatever was reported since; undefined when there is none. */
export function exactRepeat(outcomes: readonly Outcome[], report: OutcomeReport): Outcome | undefined {
  return outcomes.find(
    (each) =>
      each.type === report.type &&
      each.currency === report.currency &&
      each.external_reference === report.external_reference &&
      each.source === report.source &&
      (each.amount_minor === report.amount_minor ||
        // A full refund may omit its amount. Another one, after the rail raised the amount, names its own.
        (report.type === 'REFUNDED' && report.amount_minor === null)),
  );
}

/** Either what to record, with the flags that earlier reports give it, or for the caller what is wrong with the report. */
export type Judged =
  | { ok: true; amount_minor: number | null; flags: OutcomeFlag[] }
  | { ok: false; problem: string };

const conflict = (problem: string): Judged => ({ ok: false, problem });
const accept = (amount_minor: number | null): Judged => ({ ok: true, amount_minor, flags: [] });

const OVER_EXECUTED = 'The refunds would exceed the executed amount.';

/** A refund may not exceed what was executed and not yet refunded. */
function judgeRefund(
  report: OutcomeReport,
  executed: boolean,
  executed_minor: number,
  refunded_minor: number,
): Judged {
  if (!executed) return conflict('No executed amount was reported that could be refunded.');
  const left = executed_minor - refunded_minor;
  if (left === 0) return conflict('The spend was already fully refunded.');
  const { type, amount_minor } = report;
  if (type === 'PARTIALLY_REFUNDED') {
    if ((amount_minor as number) > left) return conflict(OVER_EXECUTED);
    return accept(amount_minor);
  }
  if (amount_minor !== null && amount_minor !== left) {
    return conflict('A full refund returns the rest of the executed amount; the amount may be omitted.');
  }
  return accept(left);
}

/**
 * The rail's report must agree with its own earlier ones only, and prevails over the client's. It may raise what it
 * reported as executed, also after refunds, because a rail learns of a later capture; it may never lower it.
 */
function judgeRail(
  outcomes: readonly OutcomeReport[],
  report: OutcomeReport,
  may_follow_release: boolean,
): Judged {
  const rail = trackOf(outcomes, 'PAYMENT_RAIL');
  const client = trackOf(outcomes, 'CLIENT_REPORTED');
  if (isRefund(report.type)) {
    const executed = rail.settled === 'SPEND_EXECUTED';
    const judged = judgeRefund(report, executed, rail.executed_minor, sum(rail.refunds));
    if (!judged.ok) return judged;
    const after = trackOf([...outcomes, { ...report, amount_minor: judged.amount_minor }], 'PAYMENT_RAIL');
    return overclaimed(after, client) ? { ...judged, flags: ['CONTRADICTS_CLIENT'] } : judged;
  }
  const { type, amount_minor } = report;
  if (rail.settled !== null) {
    const is_release = rail.settled !== 'SPEND_EXECUTED';
    if (type !== 'SPEND_EXECUTED' || (is_release && !may_follow_release)) {
      return conflict('The payment rail reported a different outcome before.');
    }
    if ((amount_minor as number) < rail.executed_minor) {
      return conflict(
        'The payment rail reported a higher amount before. amount_minor is the total executed so far; report a returned amount as a refund.',
      );
    }
  }
  const flags: OutcomeFlag[] = [];
  const after = trackOf([...outcomes, report], 'PAYMENT_RAIL');
  if (client.settled !== null && !isAgreed(after, client)) flags.push('CONTRADICTS_CLIENT');
  if (rail.settled !== null && after.executed_minor > rail.executed_minor) flags.push('ADJUSTED');
  return { ok: true, amount_minor, flags };
}

/** A client's report must agree with all reports, but may repeat what so far only the rail has reported. */
function judgeClient(outcomes: readonly OutcomeReport[], report: OutcomeReport): Judged {
  const rail = trackOf(outcomes, 'PAYMENT_RAIL');
  const client = trackOf(outcomes, 'CLIENT_REPORTED');
  const standing = summarizeOutcomes(outcomes);
  if (isRefund(report.type)) {
    const said_by_rail = unmatched(rail.refunds, client.refunds, sameRefund).left;
    const fully_refunded = standing.refunded_minor === standing.executed_minor;
    // A full refund repeats the rail's reports only once those add up to a full refund too.
    if (report.type === 'PARTIALLY_REFUNDED' || fully_refunded) {
      const { external_reference } = report;
      const amount_minor = report.amount_minor ?? said_by_rail.at(-1)?.amount_minor ?? null;
      if (
        amount_minor !== null &&
        said_by_rail.some((each) => sameRefund(each, { amount_minor, external_reference, is_rest: false }))
      ) {
        return accept(amount_minor);
      }
    }
    const executed = (rail.settled ?? client.settled) === 'SPEND_EXECUTED';
    const judged = judgeRefund(report, executed, standing.executed_minor, standing.refunded_minor);
    // The client's own refunds must stay within what was executed even where they count only once with the rail's.
    const is_over =
      report.type === 'PARTIALLY_REFUNDED' &&
      sum(client.refunds) + (report.amount_minor as number) > standing.executed_minor;
    return judged.ok && is_over ? conflict(OVER_EXECUTED) : judged;
  }
  if (client.settled !== null) return conflict('A different outcome was reported before.');
  const said = trackOf([{ ...report, source: 'CLIENT_REPORTED' }], 'CLIENT_REPORTED');
  if (rail.settled !== null && !isAgreed(rail, said)) {
    return conflict('The payment rail reported a different outcome.');
  }
  return accept(report.amount_minor);
}

/**
 * Judges whether a report may follow the earlier ones. The caller has ruled out an exact repeat (`exactRepeat`). The
 * `amount_minor` to record of a full refund is what was left of the amount executed. `may_follow_release`: the rail may report an
 * execution after a failed or cancelled spend.
 */
export function judgeOutcome(
  outcomes: readonly OutcomeReport[],
  report: OutcomeReport,
  may_follow_release = false,
): Judged {
  if (outcomes.filter((each) => each.source === report.source).length >= MAX_REPORTS)
    return conflict(`A decision accepts at most ${MAX_REPORTS} reports from one source.`);
  return report.source === 'PAYMENT_RAIL'
    ? judgeRail(outcomes, report, may_follow_release)
    : judgeClient(outcomes, report);
}
