import type { Decision, DecisionPurpose } from '@purser/contract/decisions';
import type { Label, Review } from '@purser/contract/records';
import { type Answer, type Answers, answerAfter, type RaisedQuestion } from './questions.ts';

/** A wire question of a decision. */
export type DecisionQuestion = NonNullable<DecisionPurpose['questions']>[number];

/** The author of a decision, review, label or answer. */
export interface Author {
  key_id: string | null;
  principal_id: string | null;
}

/**
 * A step in the history of an agent's question: a decision asked it, a person answered it, or an administrator forgot the answer.
 * `seq` is that of the event of the chain that seals it. Amounts are minor units.
 */
export interface QuestionEvent extends Author {
  agent_id: string;
  question_id: string;
  seq: number;
  what: 'ASKED' | 'YES' | 'NO' | 'FORGOTTEN';
  at: string;
  comment: string | null;
  /** The decision that asked it, or whose review or label answered it; null: it was answered or forgotten itself. */
  decision_id: string | null;
  /** The amount of the decision's spend; null without one. */
  amount_minor: number | null;
  currency: string | null;
  payee_id: string | null;
}

/** The answer in force, with the decision that it came from. */
export interface StoredAnswer extends Omit<Answer, 'question_id'> {
  decision_id: string | null;
  comment: string | null;
}

/** A question of an agent. Everything but what it asks follows from its events. */
export interface QuestionRow {
  agent_id: string;
  question_id: string;
  kind: RaisedQuestion['kind'];
  /** The name as it was first given. */
  merchant: string;
  about: RaisedQuestion['about'];
  sentence: string;
  /** The number of decisions that asked it while it was open. */
  asked: number;
  first_seq: number;
  first_asked_at: string;
  last_seq: number;
  last_asked_at: string;
  /** The largest amount that asked it, by currency, and the first payees. */
  asked_for: { minor: Record<string, number>; payee_ids: (string | null)[] };
  answer: StoredAnswer | null;
}

/** Payees that a question keeps. */
const MAX_PAYEES = 20;
const MAX_ALLOWED_PAYEES = 100;

const authorName = ({ key_id, principal_id }: Author) => principal_id ?? key_id ?? 'unknown';

function asksOnce(asked_for: QuestionRow['asked_for'], event: QuestionEvent): QuestionRow['asked_for'] {
  const { amount_minor, currency, payee_id } = event;
  const { minor, payee_ids } = asked_for;
  const is_kept = payee_ids.includes(payee_id) || payee_ids.length >= MAX_PAYEES;
  return {
    minor:
      currency === null
        ? minor
        : { ...minor, [currency]: Math.max(minor[currency] ?? 0, amount_minor as number) },
    payee_ids: is_kept ? payee_ids : [...payee_ids, payee_id],
  };
}

/** The spends that an answer is about: that of its decision, or without one all that asked the question. */
function spendsOf(
  { asked_for }: QuestionRow,
  { decision_id, amount_minor, currency, payee_id }: QuestionEvent,
) {
  if (decision_id !== null && currency !== null)
    return [{ amount_minor: amount_minor as number, currency, payee_id }];
  return Object.entries(asked_for.minor).flatMap(([currency, amount_minor]) =>
    asked_for.payee_ids.map((payee_id) => ({ amount_minor, currency, payee_id })),
  );
}

/** The first row of a question, before the event that asked it is applied. */
export function newQuestion(
  agent_id: string,
  {
    question_id,
    kind,
    about,
    sentence,
  }: Pick<DecisionQuestion, 'question_id' | 'kind' | 'about' | 'sentence'>,
  merchant: string,
  { seq, at }: Pick<QuestionEvent, 'seq' | 'at'>,
): QuestionRow {
  return {
    agent_id,
    question_id,
    kind,
    merchant,
    about,
    sentence,
    asked: 0,
    first_seq: seq,
    first_asked_at: at,
    last_seq: seq,
    last_asked_at: at,
    asked_for: { minor: {}, payee_ids: [] },
    answer: null,
  };
}

/** A question after one more event. Events are applied in the order of the chain. */
export function questionAfter(row: QuestionRow, event: QuestionEvent): QuestionRow {
  const { seq: last_seq, what, at, comment, decision_id } = event;
  if (what === 'ASKED') {
    return {
      ...row,
      last_seq,
      last_asked_at: at,
      asked: row.asked + 1,
      asked_for: asksOnce(row.asked_for, event),
    };
  }
  if (what === 'FORGOTTEN') return { ...row, last_seq, answer: null };
  let answer = answerOf(row);
  for (const spend of spendsOf(row, event))
    answer = answerAfter(answer, row.question_id, { by: authorName(event), at, answer: what, spend });
  // Every question was asked for a spend, so there is an answer.
  const { question_id: _own, payee_ids, ...rest } = answer as Answer;
  return {
    ...row,
    last_seq,
    answer: { ...rest, payee_ids: payee_ids.slice(-MAX_ALLOWED_PAYEES), decision_id, comment },
  };
}

/** The answer to a question in the form of the assessor's input. */
export function answerOf({ question_id, answer }: QuestionRow): Answer | undefined {
  if (answer === null) return undefined;
  const { by, at, answer: said, allowed_minor, payee_ids } = answer;
  return { question_id, by, at, answer: said, allowed_minor, payee_ids };
}

/** The open questions of a decision: those that it asked. */
export function askedBy({ questions = [] }: Pick<DecisionPurpose, 'questions'>): DecisionQuestion[] {
  return questions.filter(({ answered }) => answered === null);
}

type AskedFor = Pick<
  Decision,
  'decision_id' | 'agent' | 'action' | 'reservation' | 'requested_by' | 'created_at'
>;

/** The events of a decision that asks questions. */
export function eventsOfDecision(
  { decision_id, agent, action, requested_by, created_at }: Omit<AskedFor, 'reservation'>,
  asked: readonly Pick<DecisionQuestion, 'question_id'>[],
  seq: number,
): QuestionEvent[] {
  return asked.map(({ question_id }) => ({
    agent_id: agent.id,
    question_id,
    seq,
    what: 'ASKED',
    at: created_at,
    key_id: requested_by.key_id,
    principal_id: requested_by.principal_id,
    comment: null,
    decision_id,
    amount_minor: action.amount_minor,
    currency: action.currency,
    payee_id: action.payee_id ?? null,
  }));
}

/** The events of a review or label that answers questions of its decision. */
export function eventsOfRecord(
  {
    decision_id,
    agent,
    action,
    reservation,
  }: Pick<AskedFor, 'decision_id' | 'agent' | 'action' | 'reservation'>,
  record: Review | Label,
  seq: number,
): QuestionEvent[] {
  const answer = answerIn(record);
  if (answer === null) return [];
  return record.questions.map((question_id) => ({
    agent_id: agent.id,
    question_id,
    seq,
    what: answer,
    at: record.created_at,
    key_id: record.key_id,
    principal_id: record.principal_id,
    comment: record.comment,
    decision_id,
    amount_minor: reservation.amount_minor || action.amount_minor,
    currency: action.currency,
    payee_id: action.payee_id ?? null,
  }));
}

/** The answer that a review or label gives; null: none. */
export function answerIn(record: Pick<Review, 'action'> | Pick<Label, 'label'>): 'YES' | 'NO' | null {
  if ('action' in record) return record.action === 'ALLOW' ? 'YES' : 'NO';
  if (record.label === 'PURPOSE_UNCLEAR') return null;
  return record.label === 'PURPOSE_ALIGNED' ? 'YES' : 'NO';
}

/** An answer that was given or forgotten outside of a review or label, as its audit record seals it. */
export interface AnswerGiven {
  agent_id: string;
  question_id: string;
  /** Null: it was forgotten. */
  answer: 'YES' | 'NO' | null;
  comment: string | null;
}

/** The event of an answer that was given or forgotten by itself. */
export function eventOfAnswer(
  { agent_id, question_id, answer, comment }: AnswerGiven,
  { key_id, principal_id }: Author,
  { seq, at }: Pick<QuestionEvent, 'seq' | 'at'>,
): QuestionEvent {
  return {
    agent_id,
    question_id,
    seq,
    what: answer ?? 'FORGOTTEN',
    at,
    key_id,
    principal_id,
    comment,
    decision_id: null,
    amount_minor: null,
    currency: null,
    payee_id: null,
  };
}

/** The answers to an agent's questions at a version, which grows with each of them. */
export interface KnownAnswers {
  version: number;
  answers: Answers;
}

export const NO_ANSWERS: KnownAnswers = { version: 0, answers: new Map() };

/**
 * Answers that remember which of them were looked up. A judgement made with them is that of any later version in which
 * these are the same.
 */
export class AnswersRead implements Answers {
  readonly version: number;
  /** The answers found, by `question_id`; undefined: no answer. */
  readonly read = new Map<string, Answer | undefined>();
  /** True if the list was read as a whole, so that every answer may have counted. */
  is_whole = false;
  readonly #answers: Answers;

  constructor({ version, answers }: KnownAnswers) {
    this.version = version;
    this.#answers = answers;
  }

  get(question_id: string): Answer | undefined {
    const found = this.#answers.get(question_id);
    this.read.set(question_id, found);
    return found;
  }

  has(question_id: string): boolean {
    return this.get(question_id) !== undefined;
  }

  /** Says whether there is any answer. Of several, only those that are looked up count: the number itself decides nothing. */
  get size(): number {
    if (this.#answers.size === 0) this.is_whole = true;
    return this.#answers.size;
  }

  forEach(each: (answer: Answer, question_id: string, all: ReadonlyMap<string, Answer>) => void): void {
    this.#whole().forEach(each);
  }

  entries() {
    return this.#whole().entries();
  }

  keys() {
    return this.#whole().keys();
  }

  values() {
    return this.#whole().values();
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  #whole(): Answers {
    this.is_whole = true;
    return this.#answers;
  }
}
