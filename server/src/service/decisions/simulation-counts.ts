import type { Decision } from '@purser/contract/decisions';
import type { AttentionComparison } from '@purser/contract/purpose/attention';
import type { ReasonCode } from '@purser/contract/reasons';
import type { Label } from '@purser/contract/records';
import type { SKIP_REASONS } from '@purser/contract/values/reports';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import type { Verdict } from '@purser/rules/policy/decide';
import { valueIn } from '@purser/rules/values/maps';
import { addMinor } from '@purser/rules/values/money';

const MAX_CHANGED = 100;

/** How many decisions there are of each kind. */
export interface SimulationKinds {
  allow: number;
  review: number;
  deny: number;
}

export interface SimulationTally extends SimulationKinds {
  /** Minor units of the draft's currency. */
  authorized_minor: number;
}

/** How a draft would have decided real spends. All amounts are minor units of the draft's currency. */
export interface SimulationResult {
  evaluated: number;
  skipped: { reason: (typeof SKIP_REASONS)[number]; count: number }[];
  current: SimulationTally;
  draft: SimulationTally;
  /** Decisions that would have been different, with the sums of the requested amounts. */
  transitions: { from: DecisionKind; to: DecisionKind; count: number; amount_minor: number }[];
  /** The newest decisions that would have differed in decision, reason or amount; newest first. */
  changed: {
    decision_id: string;
    created_at: string;
    merchant: string;
    amount_minor: number;
    current: { decision: DecisionKind; reason_code: ReasonCode };
    draft: { decision: DecisionKind; reason_code: ReasonCode; authorized_amount_minor: number };
    /** The current label; null if there is none. */
    label: Label['label'] | null;
  }[];
  /** Labelled decisions among those that would have been different. */
  by_label: { label: Label['label']; from: DecisionKind; to: DecisionKind; count: number }[];
  /** By first reason, the most frequent ones first: how many decisions had it, and how many would have had it. */
  by_reason: { reason_code: ReasonCode; current: number; draft: number }[];
  /** UTC days with decisions, oldest first. */
  by_day: { day: string; current: SimulationKinds; draft: SimulationKinds }[];
  /** The effect of each level of attention. */
  attention: AttentionComparison;
}

const emptyTally = (): SimulationTally => ({ allow: 0, review: 0, deny: 0, authorized_minor: 0 });

function countKind(kinds: SimulationKinds, decision: DecisionKind): void {
  if (decision === 'ALLOW') kinds.allow += 1;
  else if (decision === 'REVIEW') kinds.review += 1;
  else kinds.deny += 1;
}

const noKinds = (): SimulationKinds => ({ allow: 0, review: 0, deny: 0 });

function count(tally: SimulationTally, decision: DecisionKind, authorized_minor: number): void {
  countKind(tally, decision);
  tally.authorized_minor = addMinor(tally.authorized_minor, authorized_minor);
}

type Counted = Omit<SimulationResult, 'skipped' | 'attention'>;

/** Counts what was decided beside what a draft decides. */
export class SimulationCounts {
  readonly #current = emptyTally();
  readonly #draft = emptyTally();
  readonly #transitions = new Map<string, Counted['transitions'][number]>();
  readonly #labeled = new Map<string, Counted['by_label'][number]>();
  readonly #changed: Counted['changed'] = [];
  readonly #reasons = new Map<ReasonCode, { current: number; draft: number }>();
  readonly #days = new Map<string, { current: SimulationKinds; draft: SimulationKinds }>();
  #evaluated = 0;

  /** Counts a decision. `label`: its current label, null if there is none. */
  add(original: Decision, verdict: Verdict, label: Label['label'] | null): void {
    this.#evaluated += 1;
    count(this.#current, original.decision, original.authorized_amount_minor);
    count(this.#draft, verdict.decision, verdict.authorized_amount_minor);
    this.#addReasonAndDay(original, verdict);
    if (verdict.decision !== original.decision) this.#addTransition(original, verdict, label);
    if (
      verdict.decision !== original.decision ||
      verdict.reason_code !== original.reason_code ||
      verdict.authorized_amount_minor !== original.authorized_amount_minor
    ) {
      this.#addChanged(original, verdict, label);
    }
  }

  /** All that was added so far. */
  result(): Counted {
    return {
      evaluated: this.#evaluated,
      current: this.#current,
      draft: this.#draft,
      transitions: [...this.#transitions.values()],
      changed: [...this.#changed].reverse(),
      by_label: [...this.#labeled.values()],
      by_reason: [...this.#reasons]
        .map(([reason_code, counts]) => ({ reason_code, ...counts }))
        .sort(
          (a, b) => b.current + b.draft - a.current - a.draft || (a.reason_code < b.reason_code ? -1 : 1),
        ),
      by_day: [...this.#days]
        .map(([day, counts]) => ({ day, ...counts }))
        .sort((a, b) => (a.day < b.day ? -1 : 1)),
    };
  }

  #addReasonAndDay(original: Decision, verdict: Verdict): void {
    const day = valueIn(this.#days, original.created_at.slice(0, 10), () => ({
      current: noKinds(),
      draft: noKinds(),
    }));
    for (const [side, { decision, reason_code }] of [
      ['current', original],
      ['draft', verdict],
    ] as const) {
      valueIn(this.#reasons, reason_code, () => ({ current: 0, draft: 0 }))[side] += 1;
      countKind(day[side], decision);
    }
  }

  #addTransition(original: Decision, verdict: Verdict, label: Label['label'] | null): void {
    const way = { from: original.decision, to: verdict.decision };
    const name = `${way.from} ${way.to}`;
    const known = valueIn(this.#transitions, name, () => ({ ...way, count: 0, amount_minor: 0 }));
    known.count += 1;
    known.amount_minor = addMinor(known.amount_minor, original.requested_amount_minor);
    if (label === null) return;
    valueIn(this.#labeled, `${label} ${name}`, () => ({ label, ...way, count: 0 })).count += 1;
  }

  #addChanged(original: Decision, verdict: Verdict, label: Label['label'] | null): void {
    const { decision, reason_code, authorized_amount_minor } = verdict;
    this.#changed.push({
      decision_id: original.decision_id,
      created_at: original.created_at,
      merchant: original.action.merchant,
      amount_minor: original.requested_amount_minor,
      current: { decision: original.decision, reason_code: original.reason_code },
      draft: { decision, reason_code, authorized_amount_minor },
      label,
    });
    if (this.#changed.length > MAX_CHANGED) this.#changed.shift();
  }
}
