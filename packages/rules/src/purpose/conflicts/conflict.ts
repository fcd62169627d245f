import type { Authority } from '@purser/contract/authority';
import type { QuestionKind, QuestionSubject } from '@purser/contract/purpose/questions';
import type { PurposeEvidence } from '../../domain/assessment.ts';
import { clauseHash } from '../../domain/questions.ts';
import type { SpendFacts, Voucher } from '../../domain/spend-facts.ts';
import { cut, MAX_QUOTE_LENGTH } from '../../sentences/quoted.ts';
import { formatMoney, isActiveCurrency } from '../../values/money.ts';
import { type Token, tokenize } from '../language/text.ts';
import type { AuthorityReading } from '../reading/authority-terms.ts';
import type { Quote } from '../reading/named-merchants.ts';
import type { SpendReading, TermMatch } from '../reading/spend-reading.ts';

/** A voucher with its evidence. */
export interface Vouched {
  voucher: Voucher;
  /** `"Acme" is listed by user:ada.` */
  sentence: string;
  /** True if a person chose this merchant for the agent, and did not only name it in a text. */
  is_chosen: boolean;
  /** The payees that it vouches for, null among them for none named; null: for every payee. */
  payees: readonly (string | null)[] | null;
  evidence: PurposeEvidence[];
}

/** All that a spend is judged by. */
export interface Inquiry {
  authority: Authority;
  purpose: AuthorityReading;
  spend: SpendReading;
  facts: SpendFacts;
  /** The voucher of the merchant; undefined where it has none. */
  vouched: Vouched | undefined;
  /** True if an allowance of the operator asks for such a spend in words. */
  is_asked_for: boolean;
}

/**
 * The effect of a finding on a spend. `final`: misaligned, whatever else speaks for it; neither a model nor an answer clears
 * it. `weak`: misaligned for a reason that a person would accept. `unclear`: a person should look. The last two are
 * questions, which an answer settles.
 */
export type Severity = 'final' | 'weak' | 'unclear';

/** A contradiction that was found. */
export interface Finding {
  /** One or two sentences that a person reads. */
  sentence: string;
  evidence: PurposeEvidence[];
  /**
   * The subject of the question, the same for the same clause and goods however often and however else it is asked: never a
   * date, an amount or the number of an order.
   */
  about: QuestionSubject | null;
  /** Milder than the conflict's own severity, where what was found is less certain. */
  severity?: Severity;
}

/** A finding with its severity on the spend, and the kind of the question that it raises. */
export interface Raised {
  kind: QuestionKind;
  severity: Severity;
  finding: Finding;
}

/** One way in which a spend may contradict its purpose. More text in the request never makes it find less. */
export interface Conflict {
  kind: QuestionKind;
  severity: Severity;
  /** True if there is anything to look for; cheap, so that most spends pay for few conflicts. */
  applies(inquiry: Inquiry): boolean;
  /** All that it finds, the surest first. */
  find(inquiry: Inquiry): Iterable<Finding>;
}

/** Evidence of a conflict, with its text cut to `MAX_QUOTE_LENGTH`. */
export const conflictsWith = (field: string, text: string): PurposeEvidence => ({
  field,
  text: cut(text),
  effect: 'conflicts',
});

/** Evidence that something in the request looks like deception, with its text cut to `MAX_QUOTE_LENGTH`. */
export const suspicious = (field: string, text: string): PurposeEvidence => ({
  field,
  text: cut(text),
  effect: 'suspicious',
});

/** Evidence for a spend, with its text cut to `MAX_QUOTE_LENGTH`. */
export const supports = (field: string, text: string): PurposeEvidence => ({
  field,
  text: cut(text),
  effect: 'supports',
});

/** The spend's amount, or another one in its currency, for people. */
export function money({ request }: SpendReading, amount_minor = request.action.amount_minor): string {
  const { currency } = request.action;
  if (!isActiveCurrency(currency)) return `${amount_minor} ${currency}`;
  return formatMoney(amount_minor, currency);
}

/** A quotation of the words around a place of a text, at most `MAX_QUOTE_LENGTH` long. */
export function quoteAround(text: string, at: number, length: number): string {
  const from = Math.max(0, at - 20);
  const quote = text.slice(from, Math.min(text.length, at + length + 20, from + MAX_QUOTE_LENGTH));
  return quote.replace(/\s+/g, ' ').trim();
}

const MAX_SUBJECT_WORDS = 12;

/** The stems of a text without numbers: how a question names words of a request, in whatever form they come again. */
export function subjectWords(text: string): string[] {
  const stems = tokenize(text).flatMap(({ stem, word }) => (/\d/.test(word) ? [] : stem));
  return [...new Set(stems)].slice(0, MAX_SUBJECT_WORDS);
}

/** Words of a request that say something outright, and the last of them, which tells what. */
interface Said {
  field: string;
  text: string;
  word: Token | undefined;
}

/** Returns what a request says outright, in words of a global pattern. */
export function saidOutright({ said }: SpendReading, pattern: RegExp): Said[] {
  const found: Said[] = [];
  for (const each of said) {
    for (const [words] of each.matches(pattern)) {
      const text = words.trim();
      found.push({ field: each.field, text, word: tokenize(text).at(-1) });
    }
  }
  return found;
}

/** The subject of what is said outright: only the last word, as an agent might write others between. */
export const subjectOfSaid = (clause: Quote | null, { word }: Said): QuestionSubject =>
  subjectOf(clause, word === undefined ? [] : [word.stem]);

/** How a question names a match: its words, or the trade of a code. */
export function wordsOf({ text, trades: [trade] }: TermMatch): string[] {
  const words = subjectWords(text);
  return words.length > 0 || trade === undefined ? words : [trade.id];
}

/** The subject of a question: a clause of the purpose, or none, and what met it. */
export const subjectOf = (clause: Quote | null, words: readonly string[] = []): QuestionSubject => ({
  clause: clause && { field: clause.field, text: clause.text, hash: clauseHash(clause.text) },
  words: [...words],
});

const RANK: Record<Severity, number> = { unclear: 0, weak: 1, final: 2 };

/** How severe a finding is: never more than its conflict, and what only a step of the trace shows is unclear. */
export function severityOf(conflict: Conflict, finding: Finding): Severity {
  const own = finding.severity ?? conflict.severity;
  const milder = RANK[own] < RANK[conflict.severity] ? own : conflict.severity;
  return finding.evidence.some(({ field }) => field.startsWith('trace[')) ? 'unclear' : milder;
}
