import type { ReasonCode } from '@purser/contract/reasons';
import type { Label } from '@purser/contract/records';
import { MAX_EXAMPLES } from '@purser/contract/values/reports';
import type { Mode } from '@purser/rules/domain/agents';
import type { PurposeAssessment } from '@purser/rules/domain/assessment';
import type { DecisionKind, OutcomeState, ReviewState } from '@purser/rules/domain/decisions';

export { MAX_EXAMPLES };

/** The facts that the report counts and that may change after a decision was made. */
export interface LaterFacts {
  review_state: ReviewState | null;
  /** Whole seconds from the decision to its first review; null: not reviewed yet. */
  waited_s: number | null;
  /** The person behind the review in force created the requesting key. */
  by_key_maker: boolean;
  /** The newest label that no other one supersedes. */
  label: Label['label'] | null;
  /** The assessment of the purpose; null where there is no label to compare it with. */
  assessment: PurposeAssessment | null;
  outcome_state: OutcomeState;
  /** The amount executed before refunds, in minor units, of a decision that was not ALLOW; 0 on ALLOW. */
  executed_minor: number;
}

/** All facts of a decision that the report counts. */
export interface ReportFacts extends LaterFacts {
  decision_id: string;
  agent_id: string;
  decision: DecisionKind;
  mode: Mode;
  /** All reason codes, with a space between them. */
  reasons: string;
  merchant: string;
  requested_amount_minor: number;
  currency: string;
  created_at: string;
}

/**
 * The measures, each with the `name` of its counters. All but the last three count only decisions made in SHADOW.
 * decisions: the reason codes · agents: the agent's id (only for the whole workspace) · merchants: the merchant ·
 * reviews: the review state, and `BY_KEY_MAKER` where it is so · waits: seconds until the first review · labels: the assessment and the label ·
 * outcomes: the outcome state and the review state, `-` for none · enforced: the reason codes of decisions made in ENFORCE ·
 * enforced_agents: the agent's id of such (only for the whole workspace) · enforced_merchants: the merchant of such.
 */
export const MEASURES = [
  'decisions',
  'agents',
  'merchants',
  'reviews',
  'waits',
  'labels',
  'outcomes',
  'enforced',
  'enforced_agents',
  'enforced_merchants',
] as const;
export type Measure = (typeof MEASURES)[number];

/** A sum over decisions of one UTC day. `amount_minor` is the amount requested; for `outcomes` the amount executed. */
export interface ReportCounter {
  /** An agent's id, or `''` for the whole workspace. */
  slice: string;
  measure: Measure;
  /** `2026-11-21`, the day on which the decisions were made. */
  day: string;
  decision: DecisionKind;
  name: string;
  currency: string;
  count: number;
  amount_minor: bigint;
  /** Only for `decisions`: the ids of the newest ones, newest first. */
  newest_ids: string[];
}

/** The slice that counts all agents of a workspace. */
export const ALL_AGENTS = '';
/** Part of the name of a counter of `reviews` if the reviewer created the requesting key. */
export const BY_KEY_MAKER = 'BY_KEY_MAKER';

/** The outcome states of spends that were executed, refunded or not. */
export const EXECUTED_STATES: readonly OutcomeState[] = ['EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED'];

/** The facts of a decision that was just made. */
export function initialFacts(decision: DecisionKind): LaterFacts {
  return {
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    waited_s: null,
    by_key_maker: false,
    label: null,
    assessment: null,
    outcome_state: 'NONE',
    executed_minor: 0,
  };
}

/** Returns true if two sets of facts are counted alike. */
export function sameLaterFacts(one: LaterFacts, other: LaterFacts): boolean {
  return (
    one.review_state === other.review_state &&
    one.waited_s === other.waited_s &&
    one.by_key_maker === other.by_key_maker &&
    one.label === other.label &&
    one.assessment === other.assessment &&
    one.outcome_state === other.outcome_state &&
    one.executed_minor === other.executed_minor
  );
}

/** Adds decisions up into counters. The sums do not depend on the order or on how decisions are divided among sheets. */
export interface CounterSheet {
  /** Counts a decision that was not counted before. */
  add(facts: ReportFacts): void;
  /** Replaces the facts `before` with which a decision was counted by the present ones. */
  correct(facts: ReportFacts, before: LaterFacts): void;
  counters(): ReportCounter[];
}

/** The counts that come from the facts that may change. */
function laterCounts(
  later: LaterFacts,
  requested_amount_minor: number,
): { measure: Measure; name: string; amount: number }[] {
  const counts: { measure: Measure; name: string; amount: number }[] = [];
  const { review_state, waited_s, by_key_maker, label, assessment, outcome_state, executed_minor } = later;
  if (review_state !== null) {
    const name = by_key_maker ? `${review_state} ${BY_KEY_MAKER}` : review_state;
    counts.push({ measure: 'reviews', name, amount: requested_amount_minor });
  }
  if (waited_s !== null) counts.push({ measure: 'waits', name: String(waited_s), amount: 0 });
  if (label !== null) counts.push({ measure: 'labels', name: `${assessment} ${label}`, amount: 0 });
  if (outcome_state !== 'NONE') {
    const name = `${outcome_state} ${review_state ?? '-'}`;
    counts.push({ measure: 'outcomes', name, amount: executed_minor });
  }
  return counts;
}

/** Makes an empty sheet. `slicesOf` returns the slices in which an agent's decisions are counted. */
export function makeCounterSheet(slicesOf: (agent_id: string) => readonly string[]): CounterSheet {
  const counters = new Map<string, ReportCounter>();

  function put(
    facts: ReportFacts,
    slice: string,
    measure: Measure,
    name: string,
    amount: number,
    sign: 1 | -1 = 1,
  ): ReportCounter {
    const { decision, currency } = facts;
    const day = facts.created_at.slice(0, 10);
    const key = `${slice}\n${measure}\n${day}\n${decision}\n${currency}\n${name}`;
    let counter = counters.get(key);
    if (counter === undefined) {
      counter = { slice, measure, day, decision, name, currency, count: 0, amount_minor: 0n, newest_ids: [] };
      counters.set(key, counter);
    }
    counter.count += sign;
    counter.amount_minor += BigInt(sign * amount);
    return counter;
  }

  function putLater(facts: ReportFacts, slice: string, later: LaterFacts, sign: 1 | -1): void {
    for (const { measure, name, amount } of laterCounts(later, facts.requested_amount_minor)) {
      put(facts, slice, measure, name, amount, sign);
    }
  }

  return {
    add(facts) {
      const { agent_id, merchant, reasons, decision_id, requested_amount_minor: amount } = facts;
      for (const slice of slicesOf(agent_id)) {
        if (facts.mode === 'ENFORCE') {
          put(facts, slice, 'enforced', reasons, amount);
          if (slice === ALL_AGENTS) put(facts, slice, 'enforced_agents', agent_id, amount);
          put(facts, slice, 'enforced_merchants', merchant, amount);
          continue;
        }
        const { newest_ids } = put(facts, slice, 'decisions', reasons, amount);
        // Ids sort by time of creation; decisions usually come in that order, but need not.
        const place = newest_ids.findIndex((id) => id < decision_id);
        newest_ids.splice(place < 0 ? newest_ids.length : place, 0, decision_id);
        if (newest_ids.length > MAX_EXAMPLES) newest_ids.pop();
        if (slice === ALL_AGENTS) put(facts, slice, 'agents', agent_id, amount);
        put(facts, slice, 'merchants', merchant, amount);
        putLater(facts, slice, facts, 1);
      }
    },
    correct(facts, before) {
      if (facts.mode === 'ENFORCE' || sameLaterFacts(facts, before)) return;
      for (const slice of slicesOf(facts.agent_id)) {
        putLater(facts, slice, before, -1);
        putLater(facts, slice, facts, 1);
      }
    },
    counters: () => [...counters.values()],
  };
}

/** The ids of the newest decisions of each reason, newest first, at most `MAX_EXAMPLES`. */
export function newestByReason(counters: readonly ReportCounter[]): Map<ReasonCode, string[]> {
  const ids = new Map<ReasonCode, Set<string>>();
  for (const { measure, name, newest_ids } of counters) {
    if (measure !== 'decisions') continue;
    for (const reason of name.split(' ') as ReasonCode[]) {
      const known = ids.get(reason) ?? new Set();
      for (const id of newest_ids) known.add(id);
      ids.set(reason, known);
    }
  }
  return new Map(
    [...ids].map(([reason, known]) => [reason, [...known].sort().reverse().slice(0, MAX_EXAMPLES)]),
  );
}
