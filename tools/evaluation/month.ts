import {
  type Answer,
  type Assess,
  type Authority,
  answerAfter,
  answeredBy,
  historyKey,
  historyWords,
  type Judgement,
  type ListedMerchant,
  merchantKey,
  NO_FACTS,
  type PaidSpend,
  type Precedent,
  payeeKey,
  type SpendFacts,
  type SpendRequest,
} from '@purser/server/tools';
import { makeRandom } from '../chaos/random.ts';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import { confirmed } from './histories.ts';
import type { Share } from './measure.ts';
import { DAY_MS, DAYS, type Random, type Spend, streamOf } from './month-stream.ts';

/** Days of the SHADOW at the beginning of the month. Figures count from the day after. */
export const SHADOW_DAYS = 14;
/** Questions that an operator answers when the SHADOW ends. */
const ANSWERED_AFTER_SHADOW = 12;
/** The service compares own spends of these last days. */
const PAID_DAYS = 14;

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

/** The verdicts of people and of the payment rail on one agent's spends. */
class Past {
  readonly #answers = new Map<string, Answer>();
  readonly #precedents = new Map<string, Precedent>();
  readonly #asked = new Map<string, number>();
  #listed: readonly ListedMerchant[] = [];
  #paid: readonly PaidSpend[] = [];

  /** Returns whether the operator confirmed the merchant. */
  isListed(merchant: string): boolean {
    return this.#listed.some((one) => historyKey(one.merchant) === historyKey(merchant));
  }

  /** The facts about a spend, as the service reads them. */
  facts({ request: { action }, at }: Spend): SpendFacts {
    const from = new Date(Date.parse(at) - PAID_DAYS * DAY_MS).toISOString();
    const paid = this.#paid.filter(
      (one) =>
        one.at > from &&
        (merchantKey(one.merchant) === merchantKey(action.merchant) ||
          (one.payee_id !== null &&
            action.payee_id !== undefined &&
            payeeKey(one.payee_id) === payeeKey(action.payee_id))),
    );
    const group = (keyOf: (one: Precedent) => string | null) => {
      const groups = new Map<string, Precedent[]>();
      for (const one of this.#precedents.values()) {
        const key = keyOf(one);
        if (key !== null) groups.set(key, [...(groups.get(key) ?? []), one]);
      }
      return groups;
    };
    return {
      ...NO_FACTS,
      listed: this.#listed,
      answers: this.#answers,
      paid,
      as_of: paid.length === 0 ? null : at,
      precedents: {
        by_merchant: group(({ merchant }) => merchant),
        by_payee: group(({ payee_id }) => payee_id && payeeKey(payee_id)),
      },
    };
  }

  confirm(spends: readonly Spend[]): void {
    this.#listed = confirmed(spends.map(({ from, request }) => ({ ...from, request: { ...request } })));
  }

  note({ questions }: Judgement): void {
    for (const { question_id, answered } of questions) {
      if (answered === null) this.#asked.set(question_id, (this.#asked.get(question_id) ?? 0) + 1);
    }
  }

  /** The questions that were asked most often. */
  mostAsked(): ReadonlySet<string> {
    const sorted = [...this.#asked].sort(([, a], [, b]) => b - a);
    return new Set(sorted.slice(0, ANSWERED_AFTER_SHADOW).map(([id]) => id));
  }

  /** A person says rightly whether a spend was wanted. */
  say({ request, is_right, at }: Spend, { questions }: Judgement): void {
    const { action } = request;
    const answer = is_right ? 'YES' : 'NO';
    const spend = { ...action, payee_id: action.payee_id ?? null };
    for (const { question_id } of answeredBy(questions, answer)) {
      const before = this.#answers.get(question_id);
      this.#answers.set(
        question_id,
        answerAfter(before, question_id, { by: 'user:reviewer', at, answer, spend }),
      );
    }
    this.#count(request, is_right ? 'allowed' : 'refused');
  }

  /** The rail executes a spend. `was_in_force`: by a decision or review of ALLOW, and not only because SHADOW stops nothing. */
  pay({ request, at, number }: Spend, was_in_force: boolean): void {
    const { merchant, amount_minor, currency, type, description = '', payee_id = null } = request.action;
    const decision_id = `dec_${number}`;
    const spend = { decision_id, merchant, payee_id, amount_minor, currency, at, type, description };
    this.#paid = [{ ...spend, state: 'EXECUTED' }, ...this.#paid];
    if (was_in_force) this.#count(request, 'settled');
  }

  #count({ action }: SpendRequest, what: 'allowed' | 'refused' | 'settled'): void {
    const { merchant, amount_minor, currency, description = '' } = action;
    const payee_id = action.payee_id ?? null;
    const key = `${historyKey(merchant)} ${payee_id}`;
    const before = this.#precedents.get(key);
    const plus = (a = { allowed: 0, refused: 0 }) => (what === 'settled' ? a : { ...a, [what]: a[what] + 1 });
    const words = new Map(before?.words);
    if (what !== 'settled') {
      for (const word of historyWords(description)) words.set(word, plus(words.get(word)));
    }
    const usual = new Map(before?.usual_minor);
    if (what !== 'refused') {
      const { low, high } = usual.get(currency) ?? { low: amount_minor, high: amount_minor };
      usual.set(currency, { low: Math.min(low, amount_minor), high: Math.max(high, amount_minor) });
    }
    this.#precedents.set(key, {
      merchant: historyKey(merchant),
      payee_id,
      said_by_people: plus(before?.said_by_people),
      settled_by_rail: (before?.settled_by_rail ?? 0) + Number(what === 'settled'),
      words,
      usual_minor: usual,
    });
  }
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

/**
 * A month of agents with the authorities of the cases, by a seed: spends like their cases, 3 % of them wrong, and a careful
 * person who answers every review on the same day. Purpose alone decides; limits of money are left out.
 */
export function runMonth(cases: readonly ExpectedSpend[], options: MonthOptions): Month {
  const by_authority = new Map<string, ExpectedSpend[]>();
  for (const one of cases) {
    if (one.authority === null) continue;
    by_authority.set(one.authority_id, [...(by_authority.get(one.authority_id) ?? []), one]);
  }
  const random = makeRandom(options.seed);
  const usable = [...by_authority.values()].filter((all) =>
    all.some(({ expected }) => expected.purpose === 'PURPOSE_ALIGNED'),
  );
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
  for (const [i, agent] of shuffled(random, usable).slice(0, options.agents).entries()) {
    runAgent(agent, makeRandom(options.seed * 10_007 + i), options, month);
  }
  return month;
}
