import type { DecisionKind } from '@purser/rules/domain/decisions';
import { type SummedAmount, summedAmount } from '@purser/rules/values/money';
import type { ReportCounter } from './counters.ts';
import { byBytes, type FIELD } from './shadow-report.ts';

/** How many decisions of a kind, and their requested amounts. */
interface KindSum {
  count: number;
  amount_minor: number;
}
type Kinds = Record<(typeof FIELD)[DecisionKind], KindSum>;

/** Amounts of one currency over time, by decision as it was made. */
export interface SpendingSeries extends SummedAmount, Kinds {
  currency: string;
  count: number;
  /** The same in the period before. */
  before: KindSum;
  /** Days with decisions, oldest first. */
  by_day: (Kinds & { day: string })[];
}

/** Amounts of both modes: of all decisions, and of the largest parts of each currency. */
export interface SpendingSums {
  totals: SpendingSeries[];
  parts: (SpendingSeries & { name: string })[];
}

/** Sums by decision, not yet cut to what a number can say. */
class KindTally {
  readonly #sums = new Map<DecisionKind, { count: number; amount: bigint }>();

  add({ decision, count, amount_minor }: Pick<ReportCounter, 'decision' | 'count' | 'amount_minor'>): void {
    const known = this.#sums.get(decision) ?? { count: 0, amount: 0n };
    this.#sums.set(decision, { count: known.count + count, amount: known.amount + amount_minor });
  }

  get count(): number {
    return [...this.#sums.values()].reduce((all, { count }) => all + count, 0);
  }

  get amount(): bigint {
    return [...this.#sums.values()].reduce((all, { amount }) => all + amount, 0n);
  }

  get kinds(): Kinds {
    const of = (decision: DecisionKind): KindSum => {
      const { count, amount } = this.#sums.get(decision) ?? { count: 0, amount: 0n };
      return { count, amount_minor: summedAmount(amount).amount_minor };
    };
    return { allow: of('ALLOW'), review: of('REVIEW'), deny: of('DENY') };
  }
}

function tallyBy<Key extends string>(
  counters: readonly ReportCounter[],
  keyOf: (counter: ReportCounter) => Key,
): Map<Key, KindTally> {
  const tallies = new Map<Key, KindTally>();
  for (const counter of counters) {
    const key = keyOf(counter);
    const tally = tallies.get(key) ?? new KindTally();
    tally.add(counter);
    tallies.set(key, tally);
  }
  return tallies;
}

function seriesOf(
  currency: string,
  now: readonly ReportCounter[],
  before: readonly ReportCounter[],
): SpendingSeries {
  const all = tallyBy(now, () => '').get('') ?? new KindTally();
  const earlier = tallyBy(before, () => '').get('') ?? new KindTally();
  return {
    currency,
    count: all.count,
    ...summedAmount(all.amount),
    ...all.kinds,
    before: { count: earlier.count, amount_minor: summedAmount(earlier.amount).amount_minor },
    by_day: [...tallyBy(now, ({ day }) => day)]
      .filter(([, { count }]) => count > 0)
      .sort(([a], [b]) => byBytes(a, b))
      .map(([day, tally]) => ({ day, ...tally.kinds })),
  };
}

/**
 * Adds up the counters of a period and of the one before, in whatever portions they come. `all` count each decision once;
 * `parts` count each once by the name of its part. At most `max_parts` parts of each currency, the largest amounts first.
 */
export function sumSpending(
  counters: { all: readonly ReportCounter[]; parts: readonly ReportCounter[] },
  before: { all: readonly ReportCounter[]; parts: readonly ReportCounter[] },
  { max_parts }: { max_parts: number },
): SpendingSums {
  const currencies = [...new Set(counters.all.map(({ currency }) => currency))].sort(byBytes);
  const within = (among: readonly ReportCounter[], currency: string) =>
    among.filter((each) => each.currency === currency);
  const totals = currencies
    .map((currency) => seriesOf(currency, within(counters.all, currency), within(before.all, currency)))
    .filter(({ count }) => count > 0);
  const parts = totals.flatMap(({ currency }) => {
    const now = within(counters.parts, currency);
    const earlier = within(before.parts, currency);
    return [...tallyBy(now, ({ name }) => name)]
      .filter(([, { count }]) => count > 0)
      .sort(([a, one], [b, other]) => compare(other.amount, one.amount) || byBytes(a, b))
      .slice(0, max_parts)
      .map(([name]) => ({
        name,
        ...seriesOf(
          currency,
          now.filter((each) => each.name === name),
          earlier.filter((each) => each.name === name),
        ),
      }));
  });
  return { totals, parts };
}

const compare = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0);
