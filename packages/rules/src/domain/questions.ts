import { COVERED_FACTOR } from '@purser/contract/purpose/answered-by';
import type { QuestionAnswer, QuestionKind, QuestionSubject } from '@purser/contract/purpose/questions';
import { canonicalJson } from '../values/canonical-json.ts';
import { sha256, shownHash } from './ledger.ts';

/** A question that a spend raises, settled or not. */
export interface RaisedQuestion {
  question_id: string;
  kind: QuestionKind;
  /** `historyKey` of the merchant's name. */
  merchant_key: string;
  /** Null for the merchant itself. */
  about: QuestionSubject | null;
  /** The question to a reviewer. */
  sentence: string;
  /** The answer that settles it; null where it is open, also because the amount is beyond what the answer covers. */
  answered: QuestionAnswer | null;
}

/** The latest answer of a person to a question, with what it covers. */
export interface Answer extends QuestionAnswer {
  question_id: string;
  /** YES: the largest amount allowed under the question, by currency, in minor units. */
  allowed_minor: Readonly<Record<string, number>>;
  /** YES: the payees of the spends that were allowed under it; null stands for none named. */
  payee_ids: readonly (string | null)[];
}

/** By `question_id`. */
export type Answers = ReadonlyMap<string, Answer>;

/**
 * True if a YES covers an amount: up to three times the largest one that people allowed in this currency, or up to the
 * review threshold where that is higher. Amounts that the answer itself let through do not raise it.
 */
export function covers(
  { allowed_minor }: Answer,
  { amount_minor, currency }: { amount_minor: number; currency: string },
  authority: { currency: string; review_threshold_minor?: number },
): boolean {
  const threshold = authority.currency === currency ? (authority.review_threshold_minor ?? 0) : 0;
  return amount_minor <= Math.max((allowed_minor[currency] ?? 0) * COVERED_FACTOR, threshold);
}

/**
 * The answer that settles a question of a spend: a NO, or a YES that covers its amount. Null where there is none, so that the
 * question is open.
 */
export function settledBy(
  answer: Answer | undefined,
  action: { amount_minor: number; currency: string },
  authority: { currency: string; review_threshold_minor?: number },
): QuestionAnswer | null {
  if (answer === undefined || (answer.answer === 'YES' && !covers(answer, action, authority))) return null;
  return { by: answer.by, at: answer.at, answer: answer.answer };
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns `sha256:` + hex SHA-256 of a clause's text. */
export const clauseHash = (text: string): string => shownHash(sha256(text));

/**
 * The name of a question under one agent: the same objective, kind, merchant, clause and words always give the same one.
 * So another objective ends all answers, and an edited clause those that hang on it.
 */
export function questionId(
  objective: string,
  { kind, merchant_key, about }: Pick<RaisedQuestion, 'kind' | 'merchant_key' | 'about'>,
): string {
  const subject = about && { clause: about.clause?.hash ?? null, words: [...about.words].sort() };
  const digest = sha256(canonicalJson({ objective: clauseHash(objective), kind, merchant_key, subject }));
  let bits = BigInt(`0x${digest.subarray(0, 16).toString('hex')}`);
  let id = '';
  for (let i = 0; i < 26; i++) {
    id = ALPHABET[Number(bits % 32n)] + id;
    bits /= 32n;
  }
  return `q_${id}`;
}

/** An answer that a person gives, with the spend that it is about. */
export interface GivenAnswer extends QuestionAnswer {
  spend: { amount_minor: number; currency: string; payee_id: string | null };
}

/** The answer to a question after a person gives another one: the latest counts, and a YES covers what earlier ones did. */
export function answerAfter(
  before: Answer | undefined,
  question_id: string,
  { by, at, answer, spend: { amount_minor, currency, payee_id } }: GivenAnswer,
): Answer {
  const { allowed_minor = {}, payee_ids = [] } = before ?? {};
  const latest = { question_id, by, at, answer };
  if (answer === 'NO') return { ...latest, allowed_minor, payee_ids };
  return {
    ...latest,
    allowed_minor: { ...allowed_minor, [currency]: Math.max(allowed_minor[currency] ?? 0, amount_minor) },
    payee_ids: payee_ids.includes(payee_id) ? payee_ids : [...payee_ids, payee_id],
  };
}
