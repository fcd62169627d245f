import type { ALSO_KINDS } from '@purser/contract/purpose/fields';
import { normaliseMerchant } from '../../merchants/names.ts';
import {
  ACCOUNT_CHANGES,
  COURTESY,
  ENGLISH,
  EXACTLY,
  NOT_ENGLISH,
  OBJECTIVE_REQUIREMENT,
  ONLY_LISTED,
  ONLY_NAMED,
  ONLY_THESE,
  REQUIREMENT,
  WISH,
} from '../data/constraint-language.ts';
import type { Trade } from '../data/trades.ts';
import { attributesIn } from '../language/attributes.ts';
import { carriesMeaning, isSmallWord } from '../language/everyday-words.ts';
import { tradeWords } from '../language/lexicon.ts';
import { foldText, type Token, tokenize } from '../language/text.ts';
import type {
  AttributeRule,
  BoundRule,
  CountRule,
  MarkRule,
  Prohibition,
  SourceRule,
  UnitRule,
  WantedTrade,
} from './authority-terms.ts';
import { forbiddenBy, readProhibitions } from './constraint-clauses.ts';
import { type IsNot, isAdded } from './corrections.ts';
import { countsIn } from './limited-counts.ts';
import { marksIn, withoutLimits, withoutSums } from './limited-sums.ts';
import { type NamedMerchant, namesIn, type Quote } from './named-merchants.ts';
import { readNounPhrases } from './noun-phrases.ts';
import { type Condition, readRequirement, readSource, readSubjectFirst, readUnits } from './rule-reading.ts';
import { partWishes, saysSo } from './wishes.ts';
import type { TradeCandidate } from './word-senses.ts';

type AlsoKind = (typeof ALSO_KINDS)[number];

/** One text of the purpose. */
export interface Part {
  field: string;
  text: string;
  kind: 'objective' | 'criterion' | 'constraint' | 'context';
}

/** Rules and terms that the sentences read so far gave. */
export interface Gathered {
  trades: Map<Trade, WantedTrade>;
  words: Map<string, Quote>;
  /** Words that may name trades; which they mean shows once everything was read. */
  candidates: TradeCandidate[];
  merchants: Map<string, NamedMerchant>;
  prohibitions: Prohibition[];
  conditions: Condition[];
  attributes: AttributeRule[];
  units: UnitRule[];
  sources: SourceRule[];
  bounds: BoundRule[];
  marks: MarkRule[];
  counts: CountRule[];
  account_changes: Quote | undefined;
  wishes: Quote[];
  forbidden_count: number;
  /** The authority's, in which its sums are read. */
  currency: string;
  isNot: IsNot;
}

/** Returns what was gathered before the first sentence. */
export function nothingGathered(currency: string, isNot: IsNot): Gathered {
  return {
    trades: new Map(),
    words: new Map(),
    candidates: [],
    merchants: new Map(),
    prohibitions: [],
    conditions: [],
    attributes: [],
    units: [],
    sources: [],
    bounds: [],
    marks: [],
    counts: [],
    account_changes: undefined,
    wishes: [],
    forbidden_count: 0,
    currency,
    isNot,
  };
}

/** A sentence, with the words that the operator wants in it: those outside of what it forbids. */
interface Sentence {
  part: Part;
  text: string;
  quote: Quote;
  folded: string;
  forbids: boolean;
  /** The only merchants that it allows, where it is a constraint that names them. */
  source: SourceRule | undefined;
  wanted: string;
  tokens: readonly Token[];
}

/** Every spend is compared with each forbidden item, so there is a limit. */
export const MAX_FORBIDDEN = 1_000;

/** Bounds that only the operator's own list or request can show to be kept. */
const BOUNDS = [
  { to: 'named sellers', language: ONLY_NAMED },
  { to: 'named subjects', language: ONLY_THESE },
  { to: 'requested items', language: EXACTLY },
  { to: 'listed items', language: ONLY_LISTED },
] as const;

const FORBIDS = /^\s*(?:no|never|nothing|not)\b/i;
const ONLY =
  /\b(?:only|nothing else|no other colou?r|nur|ausschliesslich|immer|uniquement|seulement|toujours|solo|soltanto|solamente|unicamente|sempre|siempre|alleen|uitsluitend|altijd|endast|bara|alltid|apenas|tylko)\b|\b(?:shall|must|has to|have to) be (?:\w+ )?in\b(?!.*\b(?:unless|except|save)\b)/;
const COUNTS = /\b(?:more than|at most|beyond)\b/giu;
/** "In white only" and "colour: red" state a colour of goods; "no red meat" and "white goods" do not. */
const COLOUR = /\bcolou?rs?\b/i;
/** Letters that English has in names alone. */
const FOREIGN_LETTERS = /^\p{Ll}*[^\p{Lu}\p{N}\p{ASCII}]/u;

/** True for a sentence with words of another language, or letters of one, and none of English grammar. */
function isForeign(tokens: readonly Token[]): boolean {
  return (
    !tokens.some(({ word }) => ENGLISH.has(word)) &&
    tokens.some(
      ({ raw, word, stem }) => NOT_ENGLISH.has(word) || isSmallWord(stem) || FOREIGN_LETTERS.test(raw),
    )
  );
}

function countRules(gathered: Gathered): number {
  const { prohibitions, conditions, sources, units, attributes, bounds, marks, counts, account_changes } =
    gathered;
  const rules = [prohibitions, conditions, sources, units, attributes, bounds, marks, counts];
  return rules.reduce((sum, { length }) => sum + length, Number(account_changes !== undefined));
}

/**
 * Reads one sentence of a part, and adds its rules and terms to what was gathered. Returns whether it was understood: a
 * constraint that gives no rule and is no wish was not.
 */
export function readSentence(gathered: Gathered, part: Part, text: string): boolean {
  const { asked, wishes } = gathered.isNot(['wish'], text) ? { asked: text, wishes: [] } : partWishes(text);
  for (const wish of wishes) addWish(gathered, part, wish, text);
  return readAsked(gathered, part, asked, text.trim()) || wishes.length > 0;
}

/** Names and goods of a wish are wanted all the same: they are the operator's. */
function addWish(gathered: Gathered, part: Part, wish: string, whole: string): void {
  const text = wish.trim();
  // "Ideally" is no name, though it begins the sentence.
  const is_lead = WISH.exec(foldText(text))?.index === 0;
  const sentence = sentenceOf(
    part,
    is_lead ? text.charAt(0).toLowerCase() + text.slice(1) : text,
    whole.trim(),
  );
  gathered.wishes.push(sentence.quote);
  addNames(gathered, sentence);
  addWords(gathered, sentence);
  addTrades(gathered, sentence);
}

function sentenceOf(part: Part, text: string, quoted: string) {
  const { forbidden, ...rest } = readProhibitions(text, part.kind);
  const wanted = withoutSums(rest.wanted);
  const quote = { field: part.field, text: quoted };
  return {
    part,
    text,
    quote,
    folded: foldText(text),
    forbids: forbidden.length > 0,
    source: part.kind === 'constraint' ? readSource(text, quote) : undefined,
    wanted,
    tokens: tokenize(wanted),
    forbidden,
  };
}

/** Reads what a sentence asks for. Returns whether it gave a rule. */
function readAsked(gathered: Gathered, part: Part, text: string, quoted: string): boolean {
  const rules_before = countRules(gathered);
  const gaveRule = () => countRules(gathered) > rules_before;
  const sentence = sentenceOf(part, text, quoted);
  addProhibitions(gathered, sentence, sentence.forbidden);
  // How to behave is no condition of a spend, whatever "when" and "before" it says.
  if (part.kind === 'constraint' && !sentence.forbids && saysSo(COURTESY, text)) return false;
  if (part.kind === 'constraint') addLimits(gathered, sentence);
  if (part.kind === 'constraint' || part.kind === 'objective') {
    addBounds(gathered, sentence);
    const condition = readCondition(sentence, gathered.currency);
    if (condition !== undefined) addCondition(gathered, sentence, condition);
    if (condition !== undefined && part.kind === 'constraint') {
      addNames(gathered, sentence);
      return true;
    }
  }
  if (sentence.forbids || FORBIDS.test(text)) addExcludedValues(gathered, sentence);
  if (ONLY.test(sentence.folded)) addOnlyValues(gathered, sentence);
  // An ambiguous constraint vouches for neither merchants nor goods.
  if (part.kind === 'constraint' && !gaveRule() && isForeign(tokenize(text))) return false;
  addNames(gathered, sentence);
  addWords(gathered, sentence);
  addTrades(gathered, sentence);
  return gaveRule();
}

function addProhibitions(
  gathered: Gathered,
  { quote }: Pick<Sentence, 'quote'>,
  forbidden: readonly Omit<Prohibition, keyof Quote>[],
): void {
  for (const one of forbidden) {
    gathered.forbidden_count += one.items.length;
    if (gathered.forbidden_count > MAX_FORBIDDEN) return;
    gathered.prohibitions.push({ ...one, ...quote });
  }
}

/** Adds the sums, the numbers, the sources and the units that a constraint names. */
function addLimits(
  { marks, counts, sources, units, currency }: Gathered,
  { text, quote, source }: Sentence,
): void {
  marks.push(...marksIn(text, quote, currency));
  counts.push(...countsIn(text, quote));
  if (source !== undefined) sources.push(source);
  units.push(...readUnits(text, quote));
}

function addBounds(gathered: Gathered, { quote, folded }: Sentence): void {
  if (ACCOUNT_CHANGES.test(folded)) gathered.account_changes ??= quote;
  const bound = BOUNDS.find(({ language }) => language.test(folded));
  if (bound !== undefined) gathered.bounds.push({ ...quote, to: bound.to });
}

/** The condition that a sentence states, unless it states another rule already. */
function readCondition(
  { part, text, quote, folded, forbids, source }: Sentence,
  currency: string,
): Condition | undefined {
  if (ONLY_NAMED.test(folded)) return undefined;
  if (part.kind === 'objective') return readRequirement(text, quote, OBJECTIVE_REQUIREMENT);
  if (forbids || source !== undefined) return undefined;
  const limited = withoutLimits(text, currency);
  // The request says how many, so a number is kept like a sum.
  const rest = countsIn(text, quote).length > 0 ? limited.replace(COUNTS, ' ') : limited;
  return readSubjectFirst(rest, quote) ?? readRequirement(rest, quote, REQUIREMENT);
}

function addCondition({ conditions, trades }: Gathered, { quote }: Sentence, condition: Condition): void {
  conditions.push(condition);
  // A trade that only a condition names is not out of scope, but not plainly wanted either.
  for (const trade of condition.subject_trades) {
    if (!trades.has(trade)) trades.set(trade, { ...quote, strong: false, conditional: true, whole: false });
  }
}

/** Adds the values of attributes that a sentence forbids: all others of the scale are allowed. */
function addExcludedValues({ attributes }: Gathered, { text, quote, tokens }: Sentence): void {
  const elsewhere = attributesIn(tokens);
  for (const [scale, { values, count }] of attributesIn(tokenize(text))) {
    if (/\bonly\b/i.test(text) || (scale === 'colour' && !COLOUR.test(text))) continue;
    const wanted_values = elsewhere.get(scale)?.values ?? new Set();
    const allowed = new Set(
      [...Array(count).keys()].filter((value) => !values.has(value) || wanted_values.has(value)),
    );
    if (allowed.size < count) attributes.push({ ...quote, scale, allowed });
  }
}

/** Adds the values of attributes that a sentence allows alone. */
function addOnlyValues({ attributes }: Gathered, { text, quote, tokens }: Sentence): void {
  for (const [scale, { values }] of attributesIn(tokens)) {
    if (scale === 'colour' && !COLOUR.test(text) && !/ in /.test(text)) continue;
    attributes.push({ ...quote, scale, allowed: values });
  }
}

function addNames({ merchants }: Gathered, { part, wanted }: Sentence): void {
  for (const named of namesIn(wanted, part.field)) {
    if (!merchants.has(named.name)) merchants.set(named.name, named);
  }
}

function addWords({ words }: Gathered, { part, tokens }: Sentence): void {
  for (const token of tokens) {
    if (carriesMeaning(token) && !words.has(token.stem))
      words.set(token.stem, { field: part.field, text: token.raw });
  }
}

/** Adds what a correction says is meant too. */
export function addCorrection(gathered: Gathered, kind: AlsoKind, quote: Quote): void {
  const { text } = quote;
  const part = (of: Part['kind']): Part => ({ ...quote, kind: of });
  const isNamed = (name: string) => normaliseMerchant(name) === normaliseMerchant(text);
  switch (kind) {
    case 'wanted': {
      const sentence = sentenceOf(part('criterion'), text, text);
      addWords(gathered, sentence);
      addTrades(gathered, { ...sentence, part: part('objective') });
      break;
    }
    case 'forbidden': {
      const stems = tokenize(text).map(({ stem }) => stem);
      const one = forbiddenBy(text) ?? {
        items: [{ stems, trades: new Set<Trade>() }],
        exceptions: new Set<string>(),
        is_relative: false,
        private_use: false,
      };
      addProhibitions(gathered, { quote }, [one]);
      break;
    }
    case 'condition':
      if (!readAsked(gathered, part('constraint'), text, text))
        gathered.conditions.push(plainCondition(quote));
      break;
    case 'merchant':
    case 'person':
      for (const name of gathered.merchants.keys()) if (isNamed(name)) gathered.merchants.delete(name);
      gathered.merchants.set(text, { ...quote, name: text, is_person: kind === 'person' });
      break;
  }
}

/** A condition of every spend, in words that give no other rule. */
const plainCondition = (quote: Quote): Condition => ({
  ...quote,
  subject: new Set(),
  subject_trades: new Set(),
  is_any: true,
  stems: new Set(tokenize(quote.text).map(({ stem }) => stem)),
  kinds: new Map(),
  about_payment: false,
});

function addTrades(
  { candidates, isNot }: Gathered,
  { part, quote, wanted, tokens }: Omit<Sentence, 'source'>,
): void {
  const { field, kind } = part;
  const isTaken = (trade: Trade, words: string) => !isAdded(part) && isNot([trade.label, 'wanted'], words);
  // A correction adds its words as one whole.
  const hasTrade =
    kind === 'objective' && !isAdded(part)
      ? readNounPhrases(wanted, tokens, isForeign(tokens))
      : () => isAdded(part);
  for (const match of tradeWords(tokens)) {
    const strong = match.strong && kind !== 'criterion';
    // A loose word is not enough to want money in another form.
    if (!strong && match.trade.family === 'cash_like') continue;
    if (isTaken(match.trade, match.text)) continue;
    candidates.push({
      trade: match.trade,
      place: `${field} ${quote.text} ${match.at}`,
      quote: { field, text: match.text },
      strong,
      whole: hasTrade(match),
    });
  }
}
