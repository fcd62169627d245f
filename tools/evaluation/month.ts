import type { Assess, Authority, Judgement } from '@purser/server/tools';
import { makeRandom } from '../chaos/random.ts';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import type { Share } from './measure.ts';
import { Past } from './month-past.ts';
import { DAYS, type Random, type Spend, streamOf } from './month-stream.ts';

/** Days of the SHADOW at the beginning of the month. Figures count from the day after. */
export const SHADOW_DAYS = 14;

/** The settings of a month. */
export interface MonthOptions {
  assess: Assess;
  seed: number;
  /** Agents, each with an authority of its own. */
  agents: number;
  /** Spends of each agent. */
  spends: number;
  /** The share of right spends that are described in words that nobody has seen. */
  new_words: number;
  /** True: the first `SHADOW_DAYS` stop nothing, and then the operator confirms merchants and answers questions. */
  after_shadow: boolean;
}

/** Counts of some days of the month. */
export interface MonthCounts {
  /** Spends that a person was asked about, of all. */
  to_person: Share;
  /** Wrong ones among them. */
  precision: Share;
  /** Wrong spends that passed, of all wrong ones. */
  passed: Share;
  /** Right spends at vouched merchants that were asked about only because of their description. */
  punished: Share;
  /** Right spends that were called MISALIGNED. */
  misaligned: Share;
}

/** A month: the days after `SHADOW_DAYS`, and each week. */
export interface Month {
  late: MonthCounts;
  weeks: readonly Share[];
}

const shuffled = <T>(random: Random, all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);

const empty = (): Share => ({ count: 0, of: 0 });

function count(share: Share, hit: boolean): void {
  share.of += 1;
  if (hit) share.count += 1;
}

/** Counts one spend of the days that are measured. */
function measure(
  late: MonthCounts,
  spend: Spend,
  judged: Judgement,
  { asks, is_listed, without }: { asks: boolean; is_listed: boolean; without: () => boolean },
): void {
  count(late.to_person, asks);
  if (asks) count(late.precision, !spend.is_right);
  if (!spend.is_right) count(late.passed, !asks);
  else {
    count(late.misaligned, judged.assessment === 'PURPOSE_MISALIGNED');
    if (is_listed && spend.request.action.description) count(late.punished, asks && !without());
  }
}

/** Runs one agent through its month. */
function runAgent(
  cases: readonly ExpectedSpend[],
  random: Random,
  options: MonthOptions,
  month: Month,
): void {
  const { assess, after_shadow } = options;
  const authority = cases[0]?.authority as unknown as Authority;
  const past = new Past();
  const asksFor = ({ assessment }: Judgement) =>
    assessment === 'PURPOSE_MISALIGNED' ||
    (assessment === 'PURPOSE_UNCLEAR' && authority.on_purpose_unclear !== 'ALLOW');
  const stream = streamOf(cases, random, options);
  const isInShadow = ({ day }: Spend) => after_shadow && day < SHADOW_DAYS;
  let waiting: [Spend, Judgement][] = [];
  const answer = (which: (judged: Judgement) => boolean) => {
    for (const [spend, judged] of waiting) {
      if (which(judged)) past.say(spend, judged);
      if (spend.is_right && !isInShadow(spend)) past.pay(spend, true);
    }
    waiting = [];
  };
  let day = 0;
  for (const spend of stream) {
    const in_shadow = isInShadow(spend);
    if (spend.day !== day && !in_shadow) {
      if (after_shadow && day < SHADOW_DAYS) {
        past.confirm(stream.filter((one) => one.day < SHADOW_DAYS));
        const asked = past.mostAsked();
        answer(({ questions }) => questions.some(({ question_id }) => asked.has(question_id)));
      } else {
        answer(() => true);
      }
    }
    day = spend.day;
    const facts = past.facts(spend);
    const judged = assess(authority, spend.request, facts);
    const asks = asksFor(judged);
    if (asks) {
      past.note(judged);
      waiting.push([spend, judged]);
    }
    if (!asks || in_shadow) past.pay(spend, !asks);
    const week = month.weeks[Math.min(3, Math.floor((spend.day * 4) / DAYS))] as Share;
    count(week, asks);
    if (spend.day < SHADOW_DAYS) continue;
    const is_listed = spend.is_named || past.isListed(spend.request.action.merchant);
    const without = () => {
      const { description: _, ...action } = spend.request.action;
      return asksFor(assess(authority, { ...spend.request, action }, facts));
    };
    measure(month.late, spend, judged, { asks, is_listed, without });
  }
}

/** The agents of a month by a seed: the cases of each authority, and the dice for its stream. */
export function agentsOf(
  cases: readonly ExpectedSpend[],
  { agents, seed }: { agents: number; seed: number },
): { cases: readonly ExpectedSpend[]; random: Random }[] {
  const by_authority = new Map<string, ExpectedSpend[]>();
  for (const one of cases) {
    if (one.authority === null) continue;
    by_authority.set(one.authority_id, [...(by_authority.get(one.authority_id) ?? []), one]);
  }
  const usable = [...by_authority.values()].filter((all) =>
    all.some(({ expected }) => expected.purpose === 'PURPOSE_ALIGNED'),
  );
  return shuffled(makeRandom(seed), usable)
    .slice(0, agents)
    .map((one, i) => ({ cases: one, random: makeRandom(seed * 10_007 + i) }));
}

/**
 * A month of agents with the authorities of the cases, by a seed: spends like their cases, 3 % of them wrong, and a careful
 * person who answers every review on the same day. Purpose alone decides; limits of money are left out.
 */
export function runMonth(cases: readonly ExpectedSpend[], options: MonthOptions): Month {
  const month: Month = {
    late: {
      to_person: empty(),
      precision: empty(),
      passed: empty(),
      punished: empty(),
      misaligned: empty(),
    },
    weeks: [empty(), empty(), empty(), empty()],
  };
  for (const { cases: own, random } of agentsOf(cases, options)) runAgent(own, random, options, month);
  return month;
}
