import {
  type Allowance,
  type Assess,
  type Authority,
  boundsOf,
  Counters,
  countedByNew,
  countedLimits,
  decide,
  EMPTY_DIRECTORY,
  type Judgement,
  knownMerchantKey,
  loadedAllowances,
  NOTHING_SPENT,
  standingAnswers,
  standingBody,
  type Verdict,
  whyNotMade,
} from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import type { Share } from './measure.ts';
import { agentsOf, SHADOW_DAYS } from './month.ts';
import { Past } from './month-past.ts';
import { DAY_MS, type Spend, streamOf } from './month-stream.ts';

/** When a person answers a review ahead: never, with each right one that may be, or when the same comes a second time. */
export type Answering = 'never' | 'at once' | 'when it comes again';

/** A person grants this many times the amount of the spend for a month. */
const TIMES_A_MONTH = 20;
/** The console's default. */
const UNTIL_DAYS = 90;

/** The settings of a month with reviews of all kinds. */
export interface StandingOptions {
  assess: Assess;
  seed: number;
  agents: number;
  spends: number;
  new_words: number;
  answering: Answering;
  /** The share of the right spends of each authority that lie over its review threshold; null: its own threshold, if it has one. */
  over_threshold: number | null;
}

/** Why a spend still went to a person. */
export type Left = 'wrong' | 'first' | 'unanswerable' | 'again';

/** Counts of the days after `SHADOW_DAYS`. */
export interface StandingMonth {
  reviews: Share;
  /** Wrong spends that were allowed without a person, of all wrong ones. */
  passed: Share;
  /** The ones among these that a standing approval answered. */
  answered_wrongly: number;
  /** Standing approvals made in the whole month. */
  made: number;
  /** The reviews by what they were. */
  left: Record<Left, number>;
}

const AGENT_ID = 'agent';

/** A spend that waits for a person, and what was found about it. */
interface Waiting {
  spend: Spend;
  judged: Judgement;
  verdict: Verdict;
}

/** The standing approvals of one agent, and how much of them is used. */
class Standing {
  readonly #rows: Allowance[] = [];
  readonly #counters = new Counters([]);
  made = 0;

  /** Those in front that end first, as the service tries them. */
  loaded() {
    return loadedAllowances(this.#rows, this.#counters);
  }

  /** Makes the one that a review's `standing_approval` makes; nothing where it may make none. */
  grant({ spend: { request, at }, verdict }: Waiting): void {
    const found = standingAnswers(verdict);
    if ('problem' in found) return;
    const { action } = request;
    const now_ms = Date.parse(at);
    const asked = {
      amount_minor: action.amount_minor * TIMES_A_MONTH,
      expires_at: new Date(now_ms + UNTIL_DAYS * DAY_MS).toISOString(),
    };
    const decision = { agent: { id: AGENT_ID }, action, currency: action.currency };
    const body = standingBody(decision, asked, found.answers);
    const made = { body, agent: { agent_id: AGENT_ID }, budget: null, parent: null, now_ms };
    const refusal = whyNotMade(made, 'standing_approval.');
    if (refusal !== null) throw new Error(refusal.message);
    this.made += 1;
    const allowance_id = `alw_${String(this.made).padStart(26, '0')}`;
    this.#rows.push({
      allowance_id,
      path: [allowance_id],
      ...boundsOf(made),
      status: 'OPEN',
      vouches: true,
      external_id: null,
      body_hash: null,
      source: 'REVIEW',
      created_at: at,
      created_by_key_id: null,
      created_by_principal_id: 'user:reviewer',
      made_by_agent: false,
      issuer_id: null,
      decide_by: null,
      request: null,
      decided: null,
      revoked: null,
      told_period: null,
      told_percent: null,
    });
    this.#rows.sort((a, b) => a.expires_at.localeCompare(b.expires_at));
  }

  /** Counts a spend in the one that answered it. */
  use(id: string, { at, number }: Spend, amount_minor: number): void {
    const allowances = this.loaded().filter(({ allowance_id }) => allowance_id === id);
    const limits = countedLimits({ allowances, now_ms: Date.parse(at) }, { count: 1, amount_minor });
    const reservation = { limits, status: 'HELD', amount_minor } as const;
    for (const row of countedByNew({ decision_id: `dec_${number}`, reservation }, at))
      this.#counters.add(row);
  }
}

/** The authority of cases without the limits that deny, so that a month of 200 spends is not over after the first days. */
function rulesOf(cases: readonly ExpectedSpend[], over_threshold: number | null): Authority {
  const {
    monthly_budget_minor: _,
    per_transaction_limit_minor: __,
    ...authority
  } = (cases[0] as ExpectedSpend).authority as unknown as Authority;
  if (over_threshold === null) return authority;
  const amounts = cases
    .filter(({ expected }) => expected.purpose === 'PURPOSE_ALIGNED')
    .map(({ request }) => (request.action as { amount_minor: number }).amount_minor)
    .sort((a, b) => a - b);
  const review_threshold_minor = amounts[Math.floor(amounts.length * (1 - over_threshold))] ?? 0;
  return { ...authority, review_threshold_minor };
}

/** The same request for a person: the same merchant and payee, and the same reasons. */
const sameReview = ({ spend, verdict }: Waiting): string =>
  [knownMerchantKey(spend.request.action), ...verdict.reason_codes].join(' ');

/** One agent, the person who answers its reviews, and what is known by then. */
class Agent {
  readonly #authority: Authority;
  readonly #options: StandingOptions;
  readonly #past = new Past();
  readonly #standing = new Standing();
  readonly #known = new Set<string>();
  readonly #allowed = new Set<string>();
  #waiting: Waiting[] = [];

  constructor(authority: Authority, options: StandingOptions) {
    this.#authority = authority;
    this.#options = options;
  }

  get made(): number {
    return this.#standing.made;
  }

  /** Decides a spend by the rules of the service, and what follows from it at once. */
  decide(spend: Spend): Waiting {
    const { request, at } = spend;
    const judged = this.#options.assess(this.#authority, request, this.#past.facts(spend));
    const verdict = decide({
      authority: this.#authority,
      request,
      directory: EMPTY_DIRECTORY,
      budget: NOTHING_SPENT,
      assessment: judged,
      is_known_merchant: this.#known.has(knownMerchantKey(request.action)),
      now_ms: Date.parse(at),
      answers_ahead: { standing: this.#standing.loaded(), mayAnswer: () => true },
    });
    const decided = { spend, judged, verdict };
    if (verdict.decision === 'REVIEW') this.#waiting.push(decided);
    if (verdict.decision === 'ALLOW') this.#pay(spend);
    const used = verdict.standing_approval;
    if (used !== undefined) this.#standing.use(used.id, spend, request.action.amount_minor);
    return decided;
  }

  /** A careful person answers what waits, at the end of the day. */
  answer(): void {
    const { answering } = this.#options;
    for (const one of this.#waiting) {
      this.#past.say(one.spend, one.judged);
      if (!one.spend.is_right) continue;
      this.#pay(one.spend);
      const is_again = this.#allowed.has(sameReview(one));
      this.#allowed.add(sameReview(one));
      if (answering === 'at once' || (answering === 'when it comes again' && is_again))
        this.#standing.grant(one);
    }
    this.#waiting = [];
  }

  /** The kind of review that a spend is to the person. */
  kindOf(asked: Waiting): Left {
    if (!asked.spend.is_right) return 'wrong';
    if ('problem' in standingAnswers(asked.verdict)) return 'unanswerable';
    return this.#allowed.has(sameReview(asked)) ? 'again' : 'first';
  }

  #pay(spend: Spend): void {
    this.#past.pay(spend, true);
    this.#known.add(knownMerchantKey(spend.request.action));
  }
}

/**
 * A month of agents with the authorities of the cases, by a seed, decided by the rules of the service with every review that the
 * authority asks for, and a careful person who answers each on its day. Limits that deny are left out. `answering` says when
 * that person makes a standing approval, of twenty times the amount a month.
 */
export function runStandingMonth(cases: readonly ExpectedSpend[], options: StandingOptions): StandingMonth {
  const month: StandingMonth = {
    reviews: { count: 0, of: 0 },
    passed: { count: 0, of: 0 },
    answered_wrongly: 0,
    made: 0,
    left: { wrong: 0, first: 0, unanswerable: 0, again: 0 },
  };
  for (const { cases: own, random } of agentsOf(cases, options)) {
    const agent = new Agent(rulesOf(own, options.over_threshold), options);
    let day = 0;
    for (const spend of streamOf(own, random, options)) {
      if (spend.day !== day) agent.answer();
      day = spend.day;
      const decided = agent.decide(spend);
      if (day >= SHADOW_DAYS) count(month, decided, agent);
    }
    month.made += agent.made;
  }
  return month;
}

function count(month: StandingMonth, decided: Waiting, agent: Agent): void {
  const { decision, standing_approval } = decided.verdict;
  month.reviews.of += 1;
  if (decision === 'REVIEW') {
    month.reviews.count += 1;
    month.left[agent.kindOf(decided)] += 1;
  }
  if (decided.spend.is_right) return;
  month.passed.of += 1;
  if (decision !== 'ALLOW') return;
  month.passed.count += 1;
  if (standing_approval !== undefined) month.answered_wrongly += 1;
}
