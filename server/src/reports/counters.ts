import type { Mode } from '../domain/agents.ts';
import type { PurposeAssessment } from '../domain/assessment.ts';
import type { DecisionKind, OutcomeState, ReasonCode, ReviewState } from '../domain/decisions.ts';
import type { Label } from '../domain/labels.ts';

/** What of a decision may change after it was made, as far as the report counts it. */
export interface LaterFacts {
  review_state: ReviewState | null;
  /** Whole seconds until the first review; null: none yet. */
  waited_s: number | null;
  /** The newest current label. */
  label: Label['label'] | null;
  /** What the service said of the purpose; only where there is a label to compare it with. */
  assessment: PurposeAssessment | null;
  outcome_state: OutcomeState;
  /** What was spent on a decision that was not ALLOW, before refunds; 0 on ALLOW. */
  executed_minor: number;
}

/** What the report counts of a decision. */
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
 * What is counted, and what a counter's `name` then is. All but `enforced` count decisions made in SHADOW alone.
 * decisions: the reason codes · agents: the agent's id (for the whole workspace) · merchants: the merchant ·
 * reviews: the review state · waits: seconds until the first review · labels: the assessment and the label ·
 * outcomes: the outcome state and the review state, `-` for none · enforced: nothing.
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
] as const;
export type Measure = (typeof MEASURES)[number];

/** A sum over decisions of one UTC day. `amount_minor`: requested; of `outcomes`: executed. */
export interface ReportCounter {
  /** An agent's id, or `''`: all of the workspace. */
  slice: string;
  measure: Measure;
  /** `2026-11-21`, the day on which the decisions were made. */
  day: string;
  decision: DecisionKind;
  name: string;
  currency: string;
  count: number;
  amount_minor: bigint;
  /** Of `decisions`: the newest of those counted, newest first. */
  newest_ids: string[];
}

/** The slice that counts all agents of a workspace. */
export const ALL_AGENTS = '';
/** How many examples of a reason a report shows, and so how many ids a counter remembers. */
export const MAX_EXAMPLES = 5;

/** A decision about which nothing is known but how it was made. */
export function factsAsMade(decision: DecisionKind): LaterFacts {
  return {
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    waited_s: null,
    label: null,
    assessment: null,
    outcome_state: 'NONE',
    executed_minor: 0,
  };
}

/** Whether two are counted alike. */
export function sameLaterFacts(one: LaterFacts, other: LaterFacts): boolean {
  return (
    one.review_state === other.review_state &&
    one.waited_s === other.waited_s &&
    one.label === other.label &&
    one.assessment === other.assessment &&
    one.outcome_state === other.outcome_state &&
    one.executed_minor === other.executed_minor
  );
}

/** Adds decisions up into counters. Whatever is added in whatever portions, the sums are the same. */
export interface CounterSheet {
  /** Counts a decision that was not counted before. */
  add(facts: ReportFacts): void;
  /** Counts what is known now of a decision that was counted with `before`. */
  correct(facts: ReportFacts, before: LaterFacts): void;
  counters(): ReportCounter[];
}

type Made = Pick<ReportFacts, 'decision' | 'currency' | 'requested_amount_minor'>;

/** What is counted of that which may change. */
function laterCounts(made: Made, later: LaterFacts): { measure: Measure; name: string; amount: number }[] {
  const counts: { measure: Measure; name: string; amount: number }[] = [];
  const { review_state, waited_s, label, assessment, outcome_state, executed_minor } = later;
  if (review_state !== null) {
    counts.push({ measure: 'reviews', name: review_state, amount: made.requested_amount_minor });
  }
  if (waited_s !== null) counts.push({ measure: 'waits', name: String(waited_s), amount: 0 });
  if (label !== null) counts.push({ measure: 'labels', name: `${assessment} ${label}`, amount: 0 });
  if (outcome_state !== 'NONE') {
    const name = `${outcome_state} ${review_state ?? '-'}`;
    counts.push({ measure: 'outcomes', name, amount: executed_minor });
  }
  return counts;
}

/** An empty sheet. `slicesOf` an agent: where its decisions are counted. */
export function makeCounterSheet(slicesOf: (agent_id: string) => readonly string[]): CounterSheet {
  const counters = new Map<string, ReportCounter>();

  function put(
    made: ReportFacts,
    slice: string,
    measure: Measure,
    name: string,
    amount: number,
    sign: 1 | -1 = 1,
  ): ReportCounter {
    const { decision, currency } = made;
    const day = made.created_at.slice(0, 10);
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

  function putLater(made: ReportFacts, slice: string, later: LaterFacts, sign: 1 | -1): void {
    for (const { measure, name, amount } of laterCounts(made, later)) {
      put(made, slice, measure, name, amount, sign);
    }
  }

  return {
    add(facts) {
      const { agent_id, merchant, reasons, decision_id, requested_amount_minor: amount } = facts;
      for (const slice of slicesOf(agent_id)) {
        if (facts.mode === 'ENFORCE') {
          put(facts, slice, 'enforced', '', amount);
          continue;
        }
        const { newest_ids } = put(facts, slice, 'decisions', reasons, amount);
        // Ids sort by their making; decisions mostly come in that order, but need not.
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

/** The newest decisions of each reason, newest first. */
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
