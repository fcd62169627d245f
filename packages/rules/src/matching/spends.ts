import type { CoverageRule, LineState, ResolutionAction } from '@purser/contract/values/coverage';

/** How lines are compared with decisions, as the workspace sets it. */
export interface CoverageSettings {
  /** How many days before a payment a request may be made, 1 to 31. */
  window_days: number;
  /** How far an amount may differ from the expected one: the larger of the two counts. */
  tolerance_percent: number;
  tolerance_minor: number;
  /** How long after a payment it is not yet called unasked. */
  grace_seconds: number;
}

export const DEFAULT_COVERAGE: CoverageSettings = {
  window_days: 7,
  tolerance_percent: 2,
  tolerance_minor: 0,
  grace_seconds: 3_600,
};

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** A request counts as made before a payment up to this long after it: clocks differ. */
const AFTER_MS = 60 * SECOND_MS;
/** A request up to this long after a payment is late; a later one is none. */
const LATE_MS = DAY_MS;
/** The furthest that a request may be made after the time of a line with a day alone, which is 12:00 UTC. */
export const MAX_AFTER_MS = LATE_MS + DAY_MS;

/** A decision as lines are compared with it: one that asked for a spend. */
export interface AskedSpend {
  decision_id: string;
  created_ms: number;
  merchant: string;
  payee_id: string | null;
  currency: string;
  /** The amount that is expected to be paid, in minor units; null: nothing, so that only a person may name it. */
  expected_minor: number | null;
  /** It binds, and did not allow the spend. */
  is_refused: boolean;
  /** The names that the payment rail gave it, at its consumption or in a report. */
  references: readonly string[];
}

/** The last statement of a person about a line. */
export interface LineResolution {
  resolution_id: string;
  action: ResolutionAction;
  decision_id: string | null;
}

/** One movement of money of an agent, or several of one authorization. */
export interface LineSpend {
  /** Its place among spends of the same time, by what its feed knows it by and not by when it arrived. */
  key: string;
  /** The time of its first line. */
  starts_ms: number;
  /** True if of that time only the day is known. */
  is_day: boolean;
  merchant: string;
  payee_id: string | null;
  instrument: string | null;
  /** The paid amount, in the currency of the account and in that of the merchant where it is another. */
  amounts: readonly { currency: string; amount_minor: number }[];
  references: readonly string[];
  resolution: LineResolution | null;
}

/** When a spend takes its decision: first what people said and what the rail named, then what fits. */
export type MatchStep = 'NAMED' | 'EXACT' | 'NEAR' | 'LATE';

/** The decision of a spend. */
export interface SpendMatch {
  decision_id: string;
  /** Null: a person said so. */
  rule: CoverageRule | null;
  step: MatchStep;
  /** It was made after the payment. */
  is_late: boolean;
  is_refused: boolean;
}

/** The first and last moment at which a spend may have been paid. */
function momentsOf({ starts_ms, is_day }: Pick<LineSpend, 'starts_ms' | 'is_day'>): {
  from_ms: number;
  until_ms: number;
} {
  if (!is_day) return { from_ms: starts_ms, until_ms: starts_ms };
  const from_ms = Math.floor(starts_ms / DAY_MS) * DAY_MS;
  return { from_ms, until_ms: from_ms + DAY_MS };
}

/** When a spend is over, so that its grace begins: its time, or the end of its day. Milliseconds. */
export const endOfSpend = (spend: Pick<LineSpend, 'starts_ms' | 'is_day'>): number =>
  momentsOf(spend).until_ms;

/** The times within which a request for a spend may have been made. The ends belong to it, the start of `late` does not. */
export interface AskingTimes {
  since_ms: number;
  until_ms: number;
  late_until_ms: number;
}

/** When a request for a spend may have been made. */
export function askingTimes(
  spend: Pick<LineSpend, 'starts_ms' | 'is_day'>,
  { window_days }: Pick<CoverageSettings, 'window_days'>,
): AskingTimes {
  const { from_ms, until_ms } = momentsOf(spend);
  const is_within = spend.is_day ? until_ms - 1 : until_ms + AFTER_MS;
  return { since_ms: from_ms - window_days * DAY_MS, until_ms: is_within, late_until_ms: until_ms + LATE_MS };
}

/** The state of a line by its spend's match, once its grace is over. */
export function stateOfMatch(match: SpendMatch | null, resolution: LineResolution | null): LineState {
  if (resolution?.action === 'EXCLUDE') return 'EXCLUDED';
  if (match === null) return 'NEVER_ASKED';
  if (match.is_refused) return 'REFUSED';
  return match.is_late ? 'LATE' : 'ASKED';
}

/** The state as it is at a time: what was not asked for is waiting until its grace is over. */
export function stateAt(
  state: LineState,
  ends_ms: number,
  { grace_seconds }: Pick<CoverageSettings, 'grace_seconds'>,
  now_ms: number,
): LineState {
  return state === 'NEVER_ASKED' && now_ms < ends_ms + grace_seconds * SECOND_MS ? 'WAITING' : state;
}

/** True if an amount is as near to the expected one as the settings say. Minor units; exact. */
export function isNear(
  amount_minor: number,
  expected_minor: number,
  { tolerance_minor, tolerance_percent }: Pick<CoverageSettings, 'tolerance_minor' | 'tolerance_percent'>,
): boolean {
  const apart = Math.abs(amount_minor - expected_minor);
  return (
    apart <= tolerance_minor || BigInt(apart) * 100n <= BigInt(expected_minor) * BigInt(tolerance_percent)
  );
}
