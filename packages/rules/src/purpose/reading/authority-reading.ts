import type { Authority } from '../../domain/authorities.ts';
import {
  ACCOUNT_CHANGES,
  BROAD,
  ENGLISH,
  EXACTLY,
  HOME,
  NOT_ENGLISH,
  OBJECTIVE_REQUIREMENT,
  ON_REQUEST,
  ONLY_LISTED,
  ONLY_NAMED,
  ONLY_THESE,
  REQUIREMENT,
  SENTENCE_END,
} from '../data/constraint-language.ts';
import type { Trade } from '../data/trades.ts';
import { attributesIn } from '../language/attributes.ts';
import {
  COMMON_STEMS,
  carriesMeaning,
  firmStems,
  isSmallWord,
  LOOSE_STEMS,
} from '../language/everyday-words.ts';
import { IBAN_REST, marksIn, plainAccount } from '../language/figures.ts';
import { companiesInText, impliedTrades, tradesOfWord, tradeWords } from '../language/lexicon.ts';
import {
  foldText,
  isTooLong,
  MAX_TEXT_LENGTH,
  type Token,
  tokenize,
  withinBudget,
} from '../language/text.ts';
import type {
  AttributeRule,
  AuthorityReading,
  BoundRule,
  MarkRule,
  Prohibition,
  Requirement,
  SourceRule,
  UnitRule,
  WantedTrade,
} from './authority-terms.ts';
import { readProhibitions } from './constraint-clauses.ts';
import { type NamedMerchant, namesIn, type Quote } from './named-merchants.ts';
import { type Condition, readRequirement, readSource, readSubjectFirst, readUnits } from './rule-reading.ts';
import { disambiguate, type TradeCandidate } from './word-senses.ts';

/** What bounds a purpose that only the operator's own list or request can show. */
const BOUNDS = [
  { to: 'named sellers', language: ONLY_NAMED },
  { to: 'named subjects', language: ONLY_THESE },
  { to: 'requested items', language: EXACTLY },
  { to: 'listed items', language: ONLY_LISTED },
] as const;

const FORBIDS = /^\s*(?:no|never|nothing|not)\b/i;

/** "In white only" and "colour: red" state a colour of goods; "no red meat" and "white goods" do not. */
const COLOUR = /\bcolou?rs?\b/i;

interface Part {
  field: string;
  text: string;
  kind: 'objective' | 'criterion' | 'constraint' | 'context';
}

/** More than a valid authority has. */
const MAX_PARTS = 110;
/** The limit for all parts together: seven times the longest purpose of the evaluation. */
const MAX_PURPOSE_TEXT = { max_words: 1_500, max_size: 12_000 };
/** Limits of what is read, because every spend is compared with each forbidden item and each rule. */
const MAX_FORBIDDEN = 1_000;
const MAX_RULES = 200;
/** Matches IBANs, numbers in groups, customer numbers and handles. */
const ACCOUNT = new RegExp(
  String.raw`\b[A-Z]{2}${IBAN_REST}|\b[A-Z]{1,4}-\d{3,}\b|\b\d{2,6}(?:-\d{2,8}){1,4}\b|@[\w.-]{2,40}|\b\d{7,20}\b`,
  'g',
);

/** True for a word of grammar, or of people, places and ways of working. */
const saysLittle = (token: Token): boolean => COMMON_STEMS.has(token.stem) || LOOSE_STEMS.has(token.stem);

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

function partsOf(authority: Authority): Part[] {
  const { objective, success_criteria = [], constraints = [], context = '' } = authority.purpose;
  return [
    { field: 'purpose.objective', text: objective, kind: 'objective' as const },
    ...success_criteria.map((text, i) => ({
      field: `purpose.success_criteria[${i}]`,
      text,
      kind: 'criterion' as const,
    })),
    ...constraints.map((text, i) => ({
      field: `purpose.constraints[${i}]`,
      text,
      kind: 'constraint' as const,
    })),
    { field: 'purpose.context', text: context, kind: 'context' as const },
  ].filter((part) => part.text !== '');
}

function delegationIn({ purpose }: Authority): Quote | undefined {
  for (const [field, text] of [
    ['purpose.objective', purpose.objective],
    ['purpose.context', purpose.context ?? ''],
  ] as const) {
    const match = ON_REQUEST.exec(foldText(text));
    if (match !== null) return { field, text: match[0] };
  }
  return undefined;
}

/**
 * Reads what the operator wrote: what is wanted, forbidden and demanded, and who is named. Takes bounded time, because
 * each part is cut at `MAX_TEXT_LENGTH` and all parts together at `MAX_PURPOSE_TEXT`.
 */
export function readAuthority(authority: Authority): AuthorityReading {
  const trades = new Map<Trade, WantedTrade>();
  const words = new Map<string, Quote>();
  const candidates: TradeCandidate[] = [];
  const prohibitions: { -readonly [K in keyof Prohibition]: Prohibition[K] }[] = [];
  const found_requirements: Condition[] = [];
  const attributes: AttributeRule[] = [];
  const accounts = new Map<string, readonly string[]>();
  const units: UnitRule[] = [];
  const merchants = new Map<string, NamedMerchant>();
  const not_understood: Quote[] = [];
  const sources: SourceRule[] = [];
  const bounds: BoundRule[] = [];
  const marks: MarkRule[] = [];
  let account_changes: Quote | undefined;
  let forbidden_count = 0;
  const wholePurpose = partsOf(authority);
  const whole_parts = wholePurpose.slice(0, MAX_PARTS);
  const { texts, cut } = withinBudget(
    whole_parts.map((part) => part.text),
    MAX_PURPOSE_TEXT,
  );
  const parts = whole_parts
    .map((part, i) => ({ ...part, text: texts[i] as string }))
    .filter((part) => part.text !== '');

  /** Rules that a constraint gives; what gives none is told as not understood. */
  const countRules = () =>
    prohibitions.length +
    found_requirements.length +
    sources.length +
    units.length +
    attributes.length +
    bounds.length +
    marks.length +
    Number(account_changes !== undefined);

  function readSentence({ field, kind }: Part, sentence: string): void {
    const rules_before = countRules();
    const quote = { field, text: sentence.trim() };
    const folded = foldText(sentence);
    const { forbidden, wanted } = readProhibitions(sentence, kind);
    for (const one of forbidden) {
      forbidden_count += one.items.length;
      if (forbidden_count > MAX_FORBIDDEN) break;
      prohibitions.push({ ...one, ...quote });
    }
    if (kind === 'constraint') marks.push(...marksIn(folded).map((amount) => ({ ...quote, amount })));
    const source = kind === 'constraint' ? readSource(sentence, quote) : undefined;
    if (source !== undefined) sources.push(source);
    if (kind === 'constraint') units.push(...readUnits(sentence, quote));
    const addNames = () => {
      for (const named of namesIn(wanted, field)) {
        if (!merchants.has(named.name)) merchants.set(named.name, named);
      }
    };
    if (kind === 'constraint' || kind === 'objective') {
      if (ACCOUNT_CHANGES.test(folded)) account_changes ??= quote;
      const bound = BOUNDS.find(({ language }) => language.test(folded));
      if (bound !== undefined) bounds.push({ ...quote, to: bound.to });
      const is_ruled =
        (forbidden.length > 0 && kind === 'constraint') || source !== undefined || ONLY_NAMED.test(folded);
      const requirement = is_ruled
        ? undefined
        : ((kind === 'constraint' ? readSubjectFirst(sentence, quote) : undefined) ??
          readRequirement(sentence, quote, kind === 'objective' ? OBJECTIVE_REQUIREMENT : REQUIREMENT));
      if (requirement !== undefined) {
        found_requirements.push(requirement);
        // A trade that only a condition names is not out of scope, but not plainly wanted either.
        for (const trade of requirement.subject_trades) {
          if (!trades.has(trade))
            trades.set(trade, { ...quote, strong: false, implied: false, conditional: true });
        }
        if (kind === 'constraint') {
          addNames();
          return;
        }
      }
    }
    if (forbidden.length > 0 || FORBIDS.test(sentence)) {
      const elsewhere = attributesIn(tokenize(wanted));
      for (const [scale, { values, count }] of attributesIn(tokenize(sentence))) {
        if (/\bonly\b/i.test(sentence) || (scale === 'colour' && !COLOUR.test(sentence))) continue;
        const wanted_values = elsewhere.get(scale)?.values ?? new Set();
        const allowed = new Set(
          [...Array(count).keys()].filter((value) => !values.has(value) || wanted_values.has(value)),
        );
        if (allowed.size < count) attributes.push({ ...quote, scale, allowed });
      }
    }
    const tokens = tokenize(wanted);
    if (/\bonly\b|\bnothing else\b|\bno other colou?r/.test(folded)) {
      for (const [scale, { values }] of attributesIn(tokens)) {
        if (scale === 'colour' && !COLOUR.test(sentence) && !/ in /.test(sentence)) continue;
        attributes.push({ ...quote, scale, allowed: values });
      }
    }
    // What may forbid as well as ask speaks for nobody and for no goods.
    if (kind === 'constraint' && countRules() === rules_before && isForeign(tokenize(sentence))) return;
    addNames();
    for (const token of tokens) {
      if (carriesMeaning(token) && !words.has(token.stem)) words.set(token.stem, { field, text: token.raw });
    }
    for (const match of [...tradeWords(tokens), ...companiesInText(tokens)]) {
      const strong = match.strong && kind !== 'criterion';
      // A loose word is not enough to want money in another form.
      if (!strong && match.trade.family === 'cash_like') continue;
      candidates.push({
        core: match.core,
        trade: match.trade,
        place: `${field} ${quote.text} ${match.at}`,
        quote: { field, text: match.text },
        strong,
      });
    }
    for (const { trade, text } of kind === 'objective' ? impliedTrades(tokens) : []) {
      const known = trades.get(trade);
      if (known === undefined || known.conditional)
        trades.set(trade, { field, text, strong: false, implied: true, conditional: false });
    }
  }

  for (const part of parts) {
    for (const sentence of part.text.slice(0, MAX_TEXT_LENGTH).split(SENTENCE_END)) {
      if (!/[\p{L}\p{N}]/u.test(sentence)) continue;
      const rules_before = countRules();
      readSentence(part, sentence);
      if (part.kind === 'constraint' && countRules() === rules_before)
        not_understood.push({ field: part.field, text: sentence.trim() });
    }
    for (const match of part.text.slice(0, MAX_TEXT_LENGTH).matchAll(ACCOUNT)) {
      const lead = tokenize(
        part.text
          .slice(Math.max(0, match.index - 60), match.index)
          .replace(/\([^)]*\)/g, ' ')
          .split(/[,;:|]|\.\s/)
          .at(-1) ?? '',
      );
      const after = part.text.slice(match.index + match[0].length);
      const owner = /^\s*(?:for|of|fur|von|de|para|pour)\s([^,;:|.]{2,60})/iu.exec(after)?.[1] ?? '';
      accounts.set(
        plainAccount(match[0]),
        [...lead, ...tokenize(owner)].map((token) => token.word),
      );
    }
  }

  for (const { trade, quote, strong } of disambiguate(candidates, trades)) {
    const known = trades.get(trade);
    if (known === undefined || known.implied || known.conditional || (strong && !known.strong))
      trades.set(trade, { ...quote, strong, implied: false, conditional: false });
  }
  const rule_count = found_requirements.length + sources.length + units.length;
  const isSaidInObjective = (stem: string) => words.get(stem)?.field === 'purpose.objective';
  for (const prohibition of prohibitions) {
    // If the objective serves the household, "work expenses are not household" does not forbid household goods.
    prohibition.items = prohibition.items.map((item) =>
      item.stems.length === 1 && item.stems.every(isSaidInObjective)
        ? { ...item, trades: new Set<Trade>() }
        : item,
    );
    // If the objective wants licences, "no licences for sponsors" forbids what is for sponsors.
    const narrowed = prohibition.items.flatMap((item) => {
      const rest = item.stems.filter((stem) => !isSaidInObjective(stem));
      const says = rest.some((stem) => !LOOSE_STEMS.has(stem) && stem.length > 3);
      return rest.length > 0 && rest.length < item.stems.length && says
        ? [{ stems: rest, trades: new Set<Trade>(), companies: new Set<string>() }]
        : [];
    });
    prohibition.items = [...prohibition.items, ...narrowed];
  }
  const isOfObjective = (trade: Trade) => {
    const wanted = trades.get(trade);
    return wanted?.field === 'purpose.objective' && !wanted.implied;
  };
  const requirements = found_requirements.slice(0, MAX_RULES).map(({ is_any, ...one }): Requirement => {
    // "Electric parts only for …" is about what is electric: a loose word decides only if there is no other.
    const said = firmStems([...one.subject]);
    const distinguishing = said.filter((stem) => !isSaidInObjective(stem));
    return {
      ...one,
      decisive: distinguishing.length > 0 ? distinguishing : said,
      needs_all: distinguishing.length === 0 && !is_any,
      // If the objective wants groceries, "coffee only if …" is about coffee, not about all groceries.
      subject_trades: new Set([...one.subject_trades].filter((trade) => !isOfObjective(trade))),
    };
  });
  const whole = foldText(`${authority.purpose.objective}\n${authority.purpose.context ?? ''}`);
  const strongFamilies = new Set(
    [...trades].filter(([, quote]) => quote.strong).map(([trade]) => trade.family),
  );
  const doubtful = not_understood.map((quote) => ({ quote, tokens: tokenize(quote.text) }));
  return {
    trades,
    families: strongFamilies,
    words,
    prohibitions,
    requirements,
    attributes,
    broad: BROAD.test(whole) || (HOME.test(whole) && strongFamilies.size < 3),
    delegation: delegationIn(authority),
    accounts,
    bounds: bounds.slice(0, MAX_RULES),
    account_changes,
    marks: marks.slice(0, MAX_RULES),
    merchants: [...merchants.values()],
    merchant_names: [...merchants.values()].flatMap(({ name, is_person }) => (is_person ? [] : name)),
    not_understood,
    unread: doubtful.flatMap(({ quote, tokens }) => {
      const speaksOfGoods = (token: Token) => tradesOfWord(token).length > 0 || isSaidInObjective(token.stem);
      // Of a sentence in a language that is read, more than half of the words are grammar or of people and places.
      const is_hardly_known = 2 * tokens.filter(saysLittle).length <= tokens.length;
      const may_be_broken =
        is_hardly_known || tokens.some((token) => carriesMeaning(token) && speaksOfGoods(token));
      return may_be_broken ? quote : [];
    }),
    foreign: doubtful.flatMap(({ quote, tokens }) =>
      isForeign(tokens) ? { ...quote, tokens: tokens.filter(carriesMeaning) } : [],
    ),
    units: units.slice(0, MAX_RULES),
    sources: sources.slice(0, MAX_RULES),
    cut:
      cut ||
      wholePurpose.length > MAX_PARTS ||
      forbidden_count > MAX_FORBIDDEN ||
      rule_count > MAX_RULES ||
      parts.some((part) => isTooLong(part.text)),
  };
}
