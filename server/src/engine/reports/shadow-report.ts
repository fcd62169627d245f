import type { ReasonCode } from '@purser/contract/reasons';
import type { Label } from '@purser/contract/records';
import { LABELS, PURPOSE_ASSESSMENTS } from '@purser/contract/values/decisions';
import { STOPS, type Stop } from '@purser/contract/values/reports';
import type { PurposeAssessment } from '@purser/rules/domain/assessment';
import type { DecisionKind, OutcomeState, ReviewState } from '@purser/rules/domain/decisions';
import { type SummedAmount, summedAmount } from '@purser/rules/values/money';
import {
  BY_KEY_MAKER,
  EXECUTED_STATES,
  type Measure,
  newestByReason,
  type ReportCounter,
} from './counters.ts';

export { STOPS, type Stop };

/** A number of decisions and the sum of their amounts in one currency. */
export interface CurrencyCount extends SummedAmount {
  currency: string;
  count: number;
}

/** Counts of decisions, in all and by kind. */
export interface KindCounts {
  count: number;
  allow: number;
  review: number;
  deny: number;
}

export type KindAmounts = { count: number } & SummedAmount;

/** The sums of decisions made in SHADOW. Lists have a fixed order, so that equal counts make equal reports. */
export interface ShadowSums {
  totals: KindCounts & {
    by_currency: (CurrencyCount & { allow: KindAmounts; review: KindAmounts; deny: KindAmounts })[];
  };
  by_reason: {
    reason_code: ReasonCode;
    count: number;
    /** How many of these have it as their `reason_code`. */
    first_count: number;
    amounts: CurrencyCount[];
    example_ids: string[];
  }[];
  by_agent: (KindCounts & { agent_id: string; amounts: CurrencyCount[] })[];
  /** The merchants with the most decisions. */
  by_merchant: (KindCounts & { merchant: string; amounts: CurrencyCount[] })[];
  /** Days with decisions, oldest first. */
  by_day: (KindCounts & { day: string; amounts: CurrencyCount[] })[];
  labels: {
    labeled: number;
    /** The share of decisions that are labelled; null without decisions. */
    coverage: number | null;
    /** Assessment → label → decisions. */
    matrix: Record<PurposeAssessment, Record<Label['label'], number>>;
    /** Share labelled misaligned of the decisions assessed as misaligned and labelled aligned or misaligned. */
    precision: number | null;
    /** Share assessed as misaligned of the decisions labelled misaligned. */
    recall: number | null;
    /** Decisions labelled misaligned that would have been allowed. */
    misaligned_allowed: number;
  };
  reviews: {
    count: number;
    pending: number;
    allowed: number;
    denied: number;
    /** Reviews that stand, and were given by the person who made the requesting key. */
    by_key_maker: number;
    /** The median time from a decision to its first review; null: none was reviewed. */
    median_seconds: number | null;
  };
  outcomes: {
    by_state: { outcome_state: OutcomeState; count: number }[];
    /** Spends that were executed and that ENFORCE would have stopped. Amounts are those executed, before refunds. */
    executed_although_stopped: {
      count: number;
      amounts: CurrencyCount[];
      by_stop: (CurrencyCount & { stop: Stop })[];
      by_state: (CurrencyCount & { outcome_state: OutcomeState })[];
    };
  };
  /** Decisions made in ENFORCE in the same period, which are counted nowhere else. */
  enforced: { count: number; amounts: CurrencyCount[] };
}

export const FIELD = { ALLOW: 'allow', REVIEW: 'review', DENY: 'deny' } as const;

/** Compares strings by their UTF-8 bytes, as the database does. */
export const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** The sum of several counters. */
export class Sum {
  count = 0;
  readonly kinds = { allow: 0, review: 0, deny: 0 };
  readonly #currencies = new Map<string, { count: number; amount: bigint }>();

  add(counter: Pick<ReportCounter, 'decision' | 'currency' | 'count' | 'amount_minor'>): void {
    const { decision, currency, count, amount_minor } = counter;
    this.count += count;
    this.kinds[FIELD[decision]] += count;
    const known = this.#currencies.get(currency) ?? { count: 0, amount: 0n };
    this.#currencies.set(currency, { count: known.count + count, amount: known.amount + amount_minor });
  }

  get amounts(): CurrencyCount[] {
    return [...this.#currencies]
      .filter(([, { count }]) => count > 0)
      .map(([currency, { count, amount }]) => ({ currency, count, ...summedAmount(amount) }))
      .sort((a, b) => byBytes(a.currency, b.currency));
  }
}

/** The sums of counters by the names that `namesOf` gives each of them. */
export function sumsBy<Name extends string>(
  counters: readonly ReportCounter[],
  namesOf: (counter: ReportCounter) => readonly Name[],
): Map<Name, Sum> {
  const sums = new Map<Name, Sum>();
  for (const counter of counters) {
    for (const name of namesOf(counter)) {
      const sum = sums.get(name) ?? new Sum();
      sum.add(counter);
      sums.set(name, sum);
    }
  }
  return sums;
}

/** Most decisions first, then by name. */
export function ranked<Name extends string>(sums: Map<Name, Sum>): [Name, Sum][] {
  return [...sums]
    .filter(([, sum]) => sum.count > 0)
    .sort(([a, one], [b, other]) => other.count - one.count || byBytes(a, b));
}

/** A share as the report shows it: 0..1, rounded to four digits; null where the whole is 0. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
}

/** Count and sum, in one currency, of the decisions of one kind. */
export function kindAmounts(
  counters: readonly ReportCounter[],
  currency: string,
  decision: DecisionKind,
): KindAmounts {
  const sum = new Sum();
  for (const each of counters) if (each.currency === currency && each.decision === decision) sum.add(each);
  const [{ currency: _, ...amount } = { amount_minor: 0 }] = sum.amounts;
  return { ...amount, count: sum.count };
}

function sumLabels(counters: readonly ReportCounter[], decisions: number): ShadowSums['labels'] {
  const matrix = Object.fromEntries(
    PURPOSE_ASSESSMENTS.map((assessment) => [
      assessment,
      Object.fromEntries(LABELS.map((label) => [label, 0])),
    ]),
  ) as ShadowSums['labels']['matrix'];
  let labeled = 0;
  let misaligned_allowed = 0;
  for (const { name, decision, count } of counters) {
    const [assessment, label] = name.split(' ') as [PurposeAssessment, Label['label']];
    matrix[assessment][label] += count;
    labeled += count;
    if (label === 'PURPOSE_MISALIGNED' && decision === 'ALLOW') misaligned_allowed += count;
  }
  const hits = matrix.PURPOSE_MISALIGNED.PURPOSE_MISALIGNED;
  const misaligned = PURPOSE_ASSESSMENTS.reduce((sum, each) => sum + matrix[each].PURPOSE_MISALIGNED, 0);
  return {
    labeled,
    coverage: share(labeled, decisions),
    matrix,
    precision: share(hits, hits + matrix.PURPOSE_MISALIGNED.PURPOSE_ALIGNED),
    recall: share(hits, misaligned),
    misaligned_allowed,
  };
}

function medianOf(waits: readonly ReportCounter[]): number | null {
  const counts = new Map<number, number>();
  for (const { name, count } of waits) counts.set(Number(name), (counts.get(Number(name)) ?? 0) + count);
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const at = (place: number) => {
    let seen = 0;
    for (const [seconds, count] of sorted) {
      seen += count;
      if (seen > place) return seconds;
    }
    return 0;
  };
  return (at(Math.floor((total - 1) / 2)) + at(Math.floor(total / 2))) / 2;
}

function stopOf(decision: DecisionKind, review_state: string): Stop | null {
  if (decision === 'DENY') return 'DENY';
  if (decision === 'ALLOW' || review_state === 'ALLOWED') return null;
  return review_state === 'DENIED' ? 'REVIEW_DENIED' : 'REVIEW_PENDING';
}

function sumOutcomes(counters: readonly ReportCounter[]): ShadowSums['outcomes'] {
  const states = (counter: ReportCounter) => counter.name.split(' ') as [OutcomeState, string];
  const stopped = counters.filter((each) => {
    const [state, review_state] = states(each);
    return EXECUTED_STATES.includes(state) && stopOf(each.decision, review_state) !== null;
  });
  const stopsBy = sumsBy(stopped, (each) => [stopOf(each.decision, states(each)[1]) as Stop]);
  const all = new Sum();
  for (const each of stopped) all.add(each);
  return {
    by_state: ranked(sumsBy(counters, (each) => [states(each)[0]])).map(([outcome_state, { count }]) => ({
      outcome_state,
      count,
    })),
    executed_although_stopped: {
      count: all.count,
      amounts: all.amounts,
      by_stop: STOPS.flatMap((stop) => (stopsBy.get(stop)?.amounts ?? []).map((each) => ({ stop, ...each }))),
      by_state: ranked(sumsBy(stopped, (each) => [states(each)[0]])).flatMap(([outcome_state, { amounts }]) =>
        amounts.map((each) => ({ outcome_state, ...each })),
      ),
    },
  };
}

/** Adds counters up, in whatever portions they come. `max_merchants` bounds `by_merchant`. */
export function sumCounters(
  counters: readonly ReportCounter[],
  options: { max_merchants: number; agent_id: string | null },
): ShadowSums {
  const of = (measure: Measure) => counters.filter((each) => each.measure === measure);
  const decisions = of('decisions');
  const all = new Sum();
  for (const each of decisions) all.add(each);
  const examples = newestByReason(decisions);
  const first_counts = sumsBy(decisions, (each) => [each.name.split(' ')[0] as ReasonCode]);
  const reviews = sumsBy(
    of('reviews'),
    (each) => each.name.split(' ') as (ReviewState | typeof BY_KEY_MAKER)[],
  );
  const enforced = new Sum();
  for (const each of of('enforced')) enforced.add(each);
  const { agent_id } = options;
  const agents =
    agent_id === null ? sumsBy(of('agents'), (each) => [each.name]) : sumsBy(decisions, () => [agent_id]);
  const counted = (state: ReviewState | typeof BY_KEY_MAKER) => reviews.get(state)?.count ?? 0;
  const kindsOf = ({ count, kinds, amounts }: Sum) => ({ count, ...kinds, amounts });
  return {
    totals: {
      count: all.count,
      ...all.kinds,
      by_currency: all.amounts.map((each) => ({
        ...each,
        allow: kindAmounts(decisions, each.currency, 'ALLOW'),
        review: kindAmounts(decisions, each.currency, 'REVIEW'),
        deny: kindAmounts(decisions, each.currency, 'DENY'),
      })),
    },
    by_reason: ranked(sumsBy(decisions, (each) => each.name.split(' ') as ReasonCode[])).map(
      ([reason_code, { count, amounts }]) => ({
        reason_code,
        count,
        first_count: first_counts.get(reason_code)?.count ?? 0,
        amounts,
        example_ids: examples.get(reason_code) ?? [],
      }),
    ),
    by_agent: ranked(agents).map(([id, sum]) => ({ agent_id: id, ...kindsOf(sum) })),
    by_merchant: ranked(sumsBy(of('merchants'), (each) => [each.name]))
      .slice(0, options.max_merchants)
      .map(([merchant, sum]) => ({ merchant, ...kindsOf(sum) })),
    by_day: [...sumsBy(decisions, (each) => [each.day])]
      .sort(([a], [b]) => byBytes(a, b))
      .map(([day, sum]) => ({ day, ...kindsOf(sum) })),
    labels: sumLabels(of('labels'), all.count),
    reviews: {
      count: counted('PENDING') + counted('ALLOWED') + counted('DENIED'),
      pending: counted('PENDING'),
      allowed: counted('ALLOWED'),
      denied: counted('DENIED'),
      by_key_maker: counted(BY_KEY_MAKER),
      median_seconds: medianOf(of('waits')),
    },
    outcomes: sumOutcomes(of('outcomes')),
    enforced: { count: enforced.count, amounts: enforced.amounts },
  };
}
