import type { ReasonCode } from '@purser/contract/reasons';
import { DECISIONS } from '@purser/contract/values/decisions';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import type { ReportCounter } from './counters.ts';
import {
  byBytes,
  type CurrencyCount,
  type KindAmounts,
  type KindCounts,
  kindAmounts,
  ranked,
  Sum,
  sumsBy,
} from './shadow-report.ts';

/** How many decisions were made in each mode. */
export interface ModeCounts {
  shadow: number;
  enforce: number;
}

/** The sums of decisions made in either mode. Lists have a fixed order, so that equal counts make equal overviews. */
export interface OverviewSums {
  /** Days with decisions, oldest first. */
  by_day: (KindCounts & { day: string; shadow: KindCounts; enforce: KindCounts; amounts: CurrencyCount[] })[];
  /** All three kinds. */
  by_decision: (ModeCounts & { decision: DecisionKind; count: number; amounts: CurrencyCount[] })[];
  /** Most decisions first. */
  by_reason: (ModeCounts & {
    reason_code: ReasonCode;
    count: number;
    /** How many of these have it as their `reason_code`. */
    first_count: number;
    amounts: CurrencyCount[];
  })[];
  by_agent: (KindCounts &
    ModeCounts & {
      agent_id: string;
      amounts: CurrencyCount[];
      /** Days with decisions, oldest first. */
      by_day: { day: string; count: number }[];
    })[];
  /** The merchants with the most decisions. */
  by_merchant: (KindCounts & ModeCounts & { merchant: string; amounts: CurrencyCount[] })[];
  by_currency: (CurrencyCount & { allow: KindAmounts; review: KindAmounts; deny: KindAmounts })[];
}

const ENFORCED = ['enforced', 'enforced_agents', 'enforced_merchants'];
const sumOf = (counters: readonly ReportCounter[]): Sum => {
  const sum = new Sum();
  for (const each of counters) sum.add(each);
  return sum;
};
const kindsOf = ({ count, kinds }: Sum): KindCounts => ({ count, ...kinds });

/** Adds up the counters of decisions of both modes, in whatever portions they come. `max_merchants` bounds `by_merchant`. */
export function sumOverview(
  counters: readonly ReportCounter[],
  { max_merchants, agent_id }: { max_merchants: number; agent_id: string | null },
): OverviewSums {
  const of = (...measures: string[]) => counters.filter(({ measure }) => measures.includes(measure));
  const decisions = of('decisions', 'enforced');
  const inMode = (among: readonly ReportCounter[], enforced: boolean) =>
    among.filter(({ measure }) => ENFORCED.includes(measure) === enforced);
  const modesOf = (among: readonly ReportCounter[]): ModeCounts => ({
    shadow: sumOf(inMode(among, false)).count,
    enforce: sumOf(inMode(among, true)).count,
  });
  const first_counts = sumsBy(decisions, ({ name }) => [name.split(' ')[0] as ReasonCode]);
  const nameOf = (each: ReportCounter) => agent_id ?? each.name;
  const merchants = of('merchants', 'enforced_merchants');
  const agents = agent_id === null ? of('agents', 'enforced_agents') : decisions;
  return {
    by_day: [...sumsBy(decisions, ({ day }) => [day])]
      .filter(([, { count }]) => count > 0)
      .sort(([a], [b]) => byBytes(a, b))
      .map(([day, sum]) => {
        const among = decisions.filter((each) => each.day === day);
        return {
          day,
          ...kindsOf(sum),
          shadow: kindsOf(sumOf(inMode(among, false))),
          enforce: kindsOf(sumOf(inMode(among, true))),
          amounts: sum.amounts,
        };
      }),
    by_decision: DECISIONS.map((decision) => {
      const among = decisions.filter((each) => each.decision === decision);
      const { count, amounts } = sumOf(among);
      return { decision, count, ...modesOf(among), amounts };
    }),
    by_reason: ranked(sumsBy(decisions, ({ name }) => name.split(' ') as ReasonCode[])).map(
      ([reason_code, { count, amounts }]) => ({
        reason_code,
        count,
        first_count: first_counts.get(reason_code)?.count ?? 0,
        ...modesOf(decisions.filter(({ name }) => name.split(' ').includes(reason_code))),
        amounts,
      }),
    ),
    by_agent: ranked(sumsBy(agents, (each) => [nameOf(each)])).map(([id, sum]) => {
      const among = agents.filter((each) => nameOf(each) === id);
      return {
        agent_id: id,
        ...kindsOf(sum),
        ...modesOf(among),
        amounts: sum.amounts,
        by_day: [...sumsBy(among, ({ day }) => [day])]
          .map(([day, { count }]) => ({ day, count }))
          .filter(({ count }) => count > 0)
          .sort((a, b) => byBytes(a.day, b.day)),
      };
    }),
    by_merchant: ranked(sumsBy(merchants, ({ name }) => [name]))
      .slice(0, max_merchants)
      .map(([merchant, sum]) => {
        const among = merchants.filter(({ name }) => name === merchant);
        return { merchant, ...kindsOf(sum), ...modesOf(among), amounts: sum.amounts };
      }),
    by_currency: sumOf(decisions).amounts.map((each) => ({
      ...each,
      allow: kindAmounts(decisions, each.currency, 'ALLOW'),
      review: kindAmounts(decisions, each.currency, 'REVIEW'),
      deny: kindAmounts(decisions, each.currency, 'DENY'),
    })),
  };
}
