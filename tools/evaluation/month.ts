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
  NO_FACTS,
  type Precedent,
  payeeKey,
  type SpendFacts,
  type SpendRequest,
} from '@purser/server/tools';
import { makeRandom } from '../chaos/random.ts';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import { confirmed } from './histories.ts';
import type { Share } from './measure.ts';

/** Days of the month, and of the SHADOW at its beginning. Figures count from the day after. */
const DAYS = 30;
export const SHADOW_DAYS = 14;
const WRONG = 0.03;
const UNKNOWN = 0.1;
/** Questions that an operator answers when the SHADOW ends. */
const ANSWERED_AFTER_SHADOW = 12;
const DAY_MS = 86_400_000;
const FROM_MS = Date.UTC(2026, 0, 1);

/** Words that honest agents write about any goods; no list of the assessor was made from them. */
const NEUTRAL = [
  'Kestrel 40 kit',
  'spring batch',
  'replacement for the broken one',
  'Sonderposten Restmenge',
  'as agreed on the phone',
  'lote de abril',
  'Vantor XR refill',
  'remise 5 % fidélité',
  'second half of the set',
  'med expressfrakt',
  'levering kelder',
  'rush',
  '定期便',
  'partia wiosenna',
  'consegna al piano',
  'Ombra 2.4 bundle',
] as const;

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

interface Spend {
  day: number;
  at: string;
  is_right: boolean;
  /** A merchant that the operator names or lists. */
  is_listed: boolean;
  from: ExpectedSpend;
  request: SpendRequest;
}

type Random = () => number;

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

const shuffled = <T>(random: Random, all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);

const requestOf = (one: ExpectedSpend) => one.request as unknown as SpendRequest;

/** Returns whether the operator wrote the merchant's name down. */
function isListed(authority: Authority, merchant: string): boolean {
  const name = merchant.toLowerCase();
  const { objective, constraints = [], success_criteria = [], context = '' } = authority.purpose;
  const text = [objective, ...success_criteria, context, ...(authority.allowed_merchants ?? [])].join('\n');
  return text.toLowerCase().includes(name) && !constraints.join('\n').toLowerCase().includes(name);
}

/** A later spend like a case: another amount, order and day, and other words where they are new. */
function spendLike(
  one: ExpectedSpend,
  day: number,
  random: Random,
  { new_words, authority, number }: { new_words: number; authority: Authority; number: number },
): Spend {
  const { action, ...request } = requestOf(one);
  const is_right = one.expected.purpose === 'PURPOSE_ALIGNED';
  const factor = 0.7 + 0.6 * random();
  let { description } = action;
  if (is_right && random() < new_words) {
    const { other_words } = one;
    description =
      other_words.length > 0
        ? pick(random, other_words)
        : [pick(random, NEUTRAL), description].filter(Boolean).join(', ');
  }
  return {
    day,
    at: new Date(FROM_MS + day * DAY_MS + Math.floor(random() * DAY_MS)).toISOString(),
    is_right,
    is_listed: isListed(authority, action.merchant),
    from: one,
    request: {
      ...request,
      action: {
        ...action,
        amount_minor: Math.max(1, Math.round(action.amount_minor * factor)),
        ...(description ? { description: `${description}, no. ${number}` } : {}),
      },
    },
  };
}

/** The spends of one agent in order: right ones, one in ten of them at merchants that nobody named, and wrong ones. */
function streamOf(cases: readonly ExpectedSpend[], random: Random, options: MonthOptions): Spend[] {
  const authority = cases[0]?.authority as unknown as Authority;
  const of = (purpose: string) => cases.filter(({ expected }) => expected.purpose === purpose);
  const right = of('PURPOSE_ALIGNED');
  const wrong = of('PURPOSE_MISALIGNED');
  const listed = right.filter((one) => isListed(authority, requestOf(one).action.merchant));
  const unknown = right.filter((one) => !listed.includes(one));
  const draw = (): ExpectedSpend => {
    if (wrong.length > 0 && random() < WRONG) return pick(random, wrong);
    if (listed.length === 0 || (unknown.length > 0 && random() < UNKNOWN)) return pick(random, unknown);
    return pick(random, listed);
  };
  const spends = Array.from({ length: options.spends }, (_, i) =>
    spendLike(draw(), Math.floor((i / options.spends) * DAYS), random, {
      new_words: options.new_words,
      authority,
      number: 48_000 + i,
    }),
  );
  return spends.sort((a, b) => a.at.localeCompare(b.at));
}

/** Everything that people said to one agent's spends. */
class Past {
  readonly #answers = new Map<string, Answer>();
  readonly #precedents = new Map<string, Precedent>();
  readonly #asked = new Map<string, number>();
  #listed: readonly ListedMerchant[] = [];

  facts(): SpendFacts {
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
      precedents: {
        by_merchant: group(({ merchant }) => merchant),
        by_payee: group(({ payee_id }) => payee_id && payeeKey(payee_id)),
      },
    };
  }

  confirm(spends: readonly Spend[]): void {
    this.#listed = confirmed(spends.map(({ from }) => from));
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
    this.#count(request, is_right);
  }

  #count({ action }: SpendRequest, is_right: boolean): void {
    const { merchant, amount_minor, currency, description = '' } = action;
    const payee_id = action.payee_id ?? null;
    const key = `${historyKey(merchant)} ${payee_id}`;
    const before = this.#precedents.get(key);
    const said = { allowed: Number(is_right), refused: Number(!is_right) };
    const plus = (a = { allowed: 0, refused: 0 }) => ({
      allowed: a.allowed + said.allowed,
      refused: a.refused + said.refused,
    });
    const words = new Map(before?.words);
    for (const word of historyWords(description)) words.set(word, plus(words.get(word)));
    const usual = new Map(before?.usual_minor);
    if (is_right) {
      const { low, high } = usual.get(currency) ?? { low: amount_minor, high: amount_minor };
      usual.set(currency, { low: Math.min(low, amount_minor), high: Math.max(high, amount_minor) });
    }
    this.#precedents.set(key, {
      merchant: historyKey(merchant),
      payee_id,
      said_by_people: plus(before?.said_by_people),
      settled_by_rail: 0,
      words,
      usual_minor: usual,
    });
  }
}

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
  asks: boolean,
  without: () => boolean,
): void {
  count(late.to_person, asks);
  if (asks) count(late.precision, !spend.is_right);
  if (!spend.is_right) count(late.passed, !asks);
  else {
    count(late.misaligned, judged.assessment === 'PURPOSE_MISALIGNED');
    if (spend.is_listed) count(late.punished, asks && !without());
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
  let waiting: [Spend, Judgement][] = [];
  const answer = (which: (judged: Judgement) => boolean) => {
    for (const [spend, judged] of waiting) if (which(judged)) past.say(spend, judged);
    waiting = [];
  };
  let day = 0;
  for (const spend of stream) {
    const in_shadow = after_shadow && spend.day < SHADOW_DAYS;
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
    const facts = past.facts();
    const judged = assess(authority, spend.request, facts);
    const asks = asksFor(judged);
    if (asks) {
      past.note(judged);
      waiting.push([spend, judged]);
    }
    const week = month.weeks[Math.min(3, Math.floor((spend.day * 4) / DAYS))] as Share;
    count(week, asks);
    if (spend.day < SHADOW_DAYS) continue;
    measure(month.late, spend, judged, asks, () => {
      const { description: _, ...action } = spend.request.action;
      return asksFor(assess(authority, { ...spend.request, action }, facts));
    });
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
  for (const agent of shuffled(random, usable).slice(0, options.agents)) {
    runAgent(agent, random, options, month);
  }
  return month;
}
