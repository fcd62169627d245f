import { COVERED_FACTOR } from '@purser/contract/purpose/answered-by';
import type { QuestionAnswer, QuestionKind, QuestionSubject } from '@purser/contract/purpose/questions';
import { canonicalJson } from '../values/canonical-json.ts';
import { remembered } from '../values/remembered.ts';
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

/** As many as a ULID has. */
const ID_BYTES = 16;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns `sha256:` + hex SHA-256 of a clause's text. */
export const clauseHash: (text: string) => string = remembered((text) => shownHash(sha256(text)));

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
  return `q_${base32(digest, ID_BYTES)}`;
}

/** The first bytes as one number in base 32, of five bits each from the last on. */
function base32(bytes: Buffer, length: number): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (let at = length - 1; at >= 0 || held > 0; held -= 5) {
    if (held < 5 && at >= 0) {
      bits |= (bytes[at--] ?? 0) << held;
      held += 8;
    }
    text = ALPHABET.charAt(bits & 31) + text;
    bits >>>= 5;
  }
  return text;
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
