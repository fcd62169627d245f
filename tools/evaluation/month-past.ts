import {
  type Answer,
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
import { confirmed } from './histories.ts';
import { DAY_MS, type Spend } from './month-stream.ts';

/** Questions that an operator answers when the SHADOW ends. */
const ANSWERED_AFTER_SHADOW = 12;
/** The service compares own spends of these last days. */
const PAID_DAYS = 14;

/** The verdicts of people and of the payment rail on one agent's spends. */
export class Past {
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
