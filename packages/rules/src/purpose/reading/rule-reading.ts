import {
  EXCEPTS,
  FROM_NOBODY_ELSE,
  LEADING_SUBJECT,
  MONEY_PAID,
  ONLY_FROM,
  ONLY_SHOWN,
  SUBJECT_FIRST,
  TRAVELS,
} from '../data/constraint-language.ts';
import type { Trade } from '../data/trades.ts';
import { attributesIn } from '../language/attributes.ts';
import { carriesMeaning, firmStems, LOOSE_STEMS, OCCASIONS, PAPERS } from '../language/everyday-words.ts';
import { UNIT_CODE, UNIT_RANGE } from '../language/figures.ts';
import { tradeWords } from '../language/lexicon.ts';
import { foldText, type Token, tokenize } from '../language/text.ts';
import type { Requirement, SourceRule, UnitRange, UnitRule } from './authority-terms.ts';
import type { Quote } from './named-merchants.ts';

/** Signs of a subject that lists several things. */
const LISTS = / and | or |,|\/|&/;

/** A condition as read from its sentence alone, before it is compared with the objective. */
export interface Condition extends Omit<Requirement, 'decisive' | 'needs_all'> {
  /** The subject is a list or the objective, so that any of its words is meant. */
  is_any: boolean;
}

/** Reads a condition that matches `language`: its subject, and what a spend has to show. Undefined if there is none. */
export function readRequirement(sentence: string, quote: Quote, language: RegExp): Condition | undefined {
  const whole = foldText(sentence);
  const exception = EXCEPTS.exec(whole);
  const folded = exception === null ? whole : whole.slice(0, exception.index);
  const match = language.exec(folded.replace(/\beven (?:if|when)\b/g, (words) => ' '.repeat(words.length)));
  if (match === null) return undefined;
  const lead_in = tokenize(folded.slice(0, match.index));
  const telling_subject = lead_in.filter(carriesMeaning);
  // "No deposit before …" is about deposits, not about every spend.
  const before =
    telling_subject.length > 0 ? telling_subject : lead_in.filter((token) => OCCASIONS.has(token.stem));
  const demanded = tokenize(folded.slice(match.index));
  const telling = demanded.filter(carriesMeaning);
  // In "nothing without a receipt" only words that all spends share are demanded, so they count.
  const after = telling.length > 0 ? telling : demanded.filter((token) => PAPERS.has(token.stem));
  const lead = LEADING_SUBJECT.exec(folded);
  const subject = lead === null ? before : tokenize(lead[1] ?? '').filter(carriesMeaning);
  const stems = new Set([...after, ...(subject.length === 0 ? before : [])].map((token) => token.stem));
  // "Only for the data team: Ana, Wei" and "only for H1 to H9" demand one of those named.
  const named = /^only (?:for|with)\b/.test(match[0])
    ? namesIn(tokensFrom(sentence, folded, match.index))
    : new Set<string>();
  // `readUnits` reads codes of units.
  if (named.size > 0 && [...named].every((stem) => /\d/.test(stem))) return undefined;
  // If the clause contains a name, it is about the bills of that payee.
  const about_payment =
    MONEY_PAID.test(folded.slice(0, match.index)) && !/\p{Lu}/u.test(sentence.slice(1, match.index));
  return {
    ...quote,
    subject: new Set(subject.map((token) => token.stem)),
    subject_trades: strongTrades(subject),
    is_any: quote.field === 'purpose.objective' || LISTS.test(folded.slice(0, match.index).trim()),
    stems: named.size > 0 ? named : stems,
    kinds: kindsIn(folded.slice(match.index)),
    about_payment,
  };
}

/** The attribute values that a text demands, without colours, which may belong to the name of the goods ("green coffee"). */
function kindsIn(text: string): Map<string, ReadonlySet<number>> {
  if (/\b(?:no|not|never|nothing)\b/.test(foldText(text))) return new Map();
  const found = attributesIn(tokenize(text));
  found.delete('colour');
  return new Map([...found].map(([scale, { values }]) => [scale, values]));
}

/** Reads what a kind of goods has to show: "green coffee: organic only", "life jackets: ISO 12402". */
export function readSubjectFirst(sentence: string, quote: Quote): Condition | undefined {
  const match = SUBJECT_FIRST.exec(sentence) ?? ONLY_SHOWN.exec(sentence);
  if (match === null) return undefined;
  const [, lead = '', rest = ''] = match;
  const subject = tokenize(lead).filter(
    (token) => carriesMeaning(token) && !LOOSE_STEMS.has(token.stem) && !/\d/.test(token.word),
  );
  const demanded = tokenize(rest).filter(
    (token) => (carriesMeaning(token) || /\d/.test(token.word)) && !LOOSE_STEMS.has(token.stem),
  );
  if (subject.length === 0 || demanded.length === 0) return undefined;
  // A list of names ("Suppliers: Dana, Okabe") says whom, not what.
  if (demanded.filter((token) => /^\p{Lu}\p{Ll}/u.test(token.raw)).length * 2 > demanded.length)
    return undefined;
  return {
    ...quote,
    subject: new Set(subject.map((token) => token.stem)),
    subject_trades: new Set(),
    is_any: LISTS.test(lead) || ONLY_SHOWN.test(sentence),
    stems: new Set(demanded.map((token) => token.stem)),
    kinds: kindsIn(rest),
    about_payment: false,
  };
}

/**
 * The words of a sentence from a position of its folded text on. Words are counted, because folding may change the number
 * of characters ("ß").
 */
const tokensFrom = (sentence: string, folded: string, at: number): Token[] =>
  tokenize(sentence).slice(tokenize(folded.slice(0, at)).length);

/** Stems of capitalised words after the first, and of codes ("H3", "4B"). */
function namesIn([, ...tokens]: readonly Token[]): Set<string> {
  return new Set(
    tokens
      .filter(
        (token) =>
          (/^\p{Lu}/u.test(token.raw) && token.word.length > 1) ||
          /^(?=.*\d)(?=.*\p{L})[\p{L}\d]{2,6}$/u.test(token.raw),
      )
      .map((token) => token.stem),
  );
}

/** Reads "X only from A or B"; undefined if it does not list names. */
export function readSource(sentence: string, quote: Quote): SourceRule | undefined {
  const folded = foldText(sentence);
  const match = FROM_NOBODY_ELSE.exec(folded) ?? ONLY_FROM.exec(folded);
  if (match === null) return undefined;
  const [, what = '', whom = ''] = match;
  const at = match.index + folded.slice(match.index).lastIndexOf(whom);
  const listed = /[(:]/.exec(whom);
  // "By" and "through" may also introduce ways and dates, so they need an explicit list.
  if (listed === null && / (?:by|through|via)\b\s*$/.test(folded.slice(0, at))) return undefined;
  const isName = (token: Token) => /^\p{Lu}/u.test(token.raw) && carriesMeaning(token);
  const tokens = tokensFrom(sentence, folded, listed === null ? at : at + listed.index).slice(
    0,
    tokenize(listed === null ? whom : whom.slice(listed.index)).length,
  );
  // "From a wholesaler with a licence" and "from German farms" name no seller.
  const isListOfNames = tokens.every((token) => isName(token) || !carriesMeaning(token));
  if (listed === null && (!isListOfNames || TRAVELS.test(what))) return undefined;
  const names = tokens.filter(isName).map((token) => token.word);
  if (names.length === 0) return undefined;
  const subject = tokenize(what).filter(carriesMeaning);
  return {
    ...quote,
    subject: new Set(subject.map((token) => token.stem)),
    names: new Set(names),
    is_any: LISTS.test(what.trim()),
  };
}

/** Reads "fuel only for H1 to H9"; returns at most one rule. */
export function readUnits(sentence: string, quote: Quote): UnitRule[] {
  const [what, whom] = foldText(sentence).split(/\bonly (?:for|at|in|on)\b/, 2);
  if (what === undefined || whom === undefined) return [];
  const ranges = unitsIn(whom);
  if (ranges.length === 0) return [];
  const telling = tokenize(what).filter(carriesMeaning);
  const subject = new Set(firmStems(telling.map((token) => token.stem)));
  const subject_trades = strongTrades(telling.filter((token) => subject.has(token.stem)));
  return [{ ...quote, subject, subject_trades, ranges }];
}

/** The codes of rooms, vehicles or units that a text names, "h1 to h9" as a range. */
function unitsIn(folded: string): UnitRange[] {
  const one = ([, before = '', number = '', after = '']: RegExpMatchArray) => ({
    before,
    after,
    from: Number(number),
    to: Number(number),
  });
  const ranges = [...folded.matchAll(UNIT_RANGE)].map((match) => ({ ...one(match), to: Number(match[4]) }));
  return [...ranges, ...[...folded.matchAll(UNIT_CODE)].map(one)];
}

const strongTrades = (tokens: readonly Token[]): Set<Trade> =>
  new Set(
    tradeWords(tokens)
      .filter((match) => match.strong)
      .map((match) => match.trade),
  );
