import type { Authority } from '@purser/contract/authority';
import type { ReadingCorrections } from '@purser/contract/purpose/fields';
import type { VouchingAllowance } from '../../domain/spend-facts.ts';
import { BROAD, HOME, ON_REQUEST, SENTENCE_END } from '../data/constraint-language.ts';
import type { Trade } from '../data/trades.ts';
import { firmStems, LOOSE_STEMS } from '../language/everyday-words.ts';
import { IBAN_REST, plainAccount } from '../language/figures.ts';
import { foldText, isTooLong, MAX_TEXT_LENGTH, tokenize, withinBudget } from '../language/text.ts';
import type { AuthorityReading, ForbiddenItem, Prohibition, Requirement } from './authority-terms.ts';
import { isAdded, isObjective, makeIsNot, withoutTaken } from './corrections.ts';
import type { Quote } from './named-merchants.ts';
import type { Condition } from './rule-reading.ts';
import {
  addCorrection,
  type Gathered,
  MAX_FORBIDDEN,
  nothingGathered,
  type Part,
  readSentence,
} from './sentence-reading.ts';
import { disambiguate } from './word-senses.ts';

/** The field of the sentence of an allowance, in evidence. */
export const ALLOWANCE_PURPOSE = 'allowance.purpose';
/** More than a valid authority has. */
const MAX_PARTS = 110;
/** The limit for all parts together: seven times the longest purpose of the evaluation. */
const MAX_PURPOSE_TEXT = { max_words: 1_500, max_size: 12_000 };
/** Every spend is compared with each rule, so there is a limit. */
const MAX_RULES = 200;
/** Matches IBANs, numbers in groups, customer numbers and handles. */
const ACCOUNT = new RegExp(
  String.raw`\b[A-Z]{2}${IBAN_REST}|\b[A-Z]{1,4}-\d{3,}\b|\b\d{2,6}(?:-\d{2,8}){1,4}\b|@[\w.-]{2,40}|\b\d{7,20}\b`,
  'g',
);

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

/** The words of allowances. */
const partsOfAllowances = (allowances: readonly VouchingAllowance[]): Part[] =>
  allowances.flatMap(({ purpose, expected_items = [] }): Part[] =>
    purpose === undefined
      ? []
      : [
          { field: ALLOWANCE_PURPOSE, text: purpose, kind: 'objective' },
          ...expected_items.map((text, i) => ({
            field: `allowance.expected_items[${i}]`,
            text,
            kind: 'criterion' as const,
          })),
        ],
  );

/** The parts that are read: as many as the limits let through. */
function readableParts(all: readonly Part[]): { parts: Part[]; is_cut: boolean } {
  const some = all.slice(0, MAX_PARTS);
  const { texts, cut } = withinBudget(
    some.map((part) => part.text),
    MAX_PURPOSE_TEXT,
  );
  const parts = some
    .map((part, i) => ({ ...part, text: texts[i] as string }))
    .filter((part) => part.text !== '');
  return { parts, is_cut: cut || all.length > MAX_PARTS || parts.some((part) => isTooLong(part.text)) };
}

/** Reads the sentences of all parts, in order. Returns the constraints that gave no rule. */
function readSentences(gathered: Gathered, parts: readonly Part[]): Quote[] {
  const not_understood: Quote[] = [];
  for (const part of parts) {
    for (const sentence of part.text.slice(0, MAX_TEXT_LENGTH).split(SENTENCE_END)) {
      if (!/[\p{L}\p{N}]/u.test(sentence)) continue;
      const gave_rule = readSentence(gathered, part, sentence);
      if (part.kind === 'constraint' && !gave_rule)
        not_understood.push({ field: part.field, text: sentence.trim() });
    }
  }
  return not_understood;
}

/** The accounts that a text names, each with the words before it and those of its owner. */
function accountsIn({ text }: Part): [account: string, words: readonly string[]][] {
  return [...text.slice(0, MAX_TEXT_LENGTH).matchAll(ACCOUNT)].map((match) => {
    const lead = text
      .slice(Math.max(0, match.index - 60), match.index)
      .replace(/\([^)]*\)/g, ' ')
      .split(/[,;:|]|\.\s/)
      .at(-1);
    const after = text.slice(match.index + match[0].length);
    const owner = /^\s*(?:for|of|fur|von|de|para|pour)\s([^,;:|.]{2,60})/iu.exec(after)?.[1];
    const words = [...tokenize(lead ?? ''), ...tokenize(owner ?? '')].map((token) => token.word);
    return [plainAccount(match[0]), words];
  });
}

/** Adds the trades that words of the purpose mean, now that all others are known. */
function addMeantTrades({ trades, candidates }: Gathered): void {
  for (const { trade, quote, strong, whole } of disambiguate(candidates)) {
    const known = trades.get(trade);
    if (known === undefined || known.conditional || (strong && !known.strong))
      trades.set(trade, { ...quote, strong, conditional: false, whole: whole || known?.whole === true });
    else if (whole && !known.whole && (known.field === quote.field || isAdded(quote)))
      trades.set(trade, { ...known, ...quote, whole });
  }
}

type IsSaid = (stem: string) => boolean;

/** A prohibition beside the objective, which wants some of its words. */
function besideObjective(prohibition: Prohibition, isSaid: IsSaid): Prohibition {
  // If the objective serves the household, "work expenses are not household" does not forbid household goods.
  const items = prohibition.items.map((item) =>
    item.stems.length === 1 && item.stems.every(isSaid) ? { ...item, trades: new Set<Trade>() } : item,
  );
  // If the objective wants licences, "no licences for sponsors" forbids what is for sponsors.
  const narrowed = items.flatMap((item): ForbiddenItem[] => {
    const rest = item.stems.filter((stem) => !isSaid(stem));
    const says = rest.some((stem) => !LOOSE_STEMS.has(stem) && stem.length > 3);
    return rest.length > 0 && rest.length < item.stems.length && says
      ? [{ stems: rest, trades: new Set<Trade>() }]
      : [];
  });
  return { ...prohibition, items: [...items, ...narrowed] };
}

/** A condition as a requirement: with the words that decide whether it applies to a spend. */
function requirementOf(
  { is_any, ...condition }: Condition,
  { trades }: Gathered,
  isSaid: IsSaid,
): Requirement {
  // "Electric parts only for …" is about what is electric: a loose word decides only if there is no other.
  const said = firmStems([...condition.subject]);
  const distinguishing = said.filter((stem) => !isSaid(stem));
  const isOfObjective = (trade: Trade) => {
    const wanted = trades.get(trade);
    return wanted !== undefined && isObjective(wanted.field);
  };
  return {
    ...condition,
    decisive: distinguishing.length > 0 ? distinguishing : said,
    needs_all: distinguishing.length === 0 && !is_any,
    // If the objective wants groceries, "coffee only if …" is about coffee, not about all groceries.
    subject_trades: new Set([...condition.subject_trades].filter((trade) => !isOfObjective(trade))),
  };
}

/**
 * Reads what the operator wrote: what is wanted, forbidden and demanded, and who is named. Takes bounded time, because
 * each part is cut at `MAX_TEXT_LENGTH` and all parts together at `MAX_PURPOSE_TEXT`.
 */
export function readAuthority(authority: Authority): AuthorityReading {
  const { objective, context = '', reading } = authority.purpose;
  const said = { whole: `${objective}\n${context}`, delegation: delegationIn(authority) };
  return readParts(partsOf(authority), authority.currency, said, reading);
}

/**
 * The reading of an authority with the words of allowances beside it. What the authority forbids and demands stays as it is;
 * what the allowances forbid and demand comes on top.
 */
export function readBeside(
  own: AuthorityReading,
  allowances: readonly VouchingAllowance[],
  currency: string,
): AuthorityReading {
  const nothing_said = { whole: '', delegation: undefined };
  const more = readParts(partsOfAllowances(allowances), currency, nothing_said);
  return {
    ...own,
    asked: more,
    trades: new Map([...more.trades, ...own.trades]),
    families: new Set([...own.families, ...more.families]),
    words: new Map([...more.words, ...own.words]),
    prohibitions: [...own.prohibitions, ...more.prohibitions],
    attributes: [...own.attributes, ...more.attributes],
    accounts: new Map([...more.accounts, ...own.accounts]),
    cut: own.cut || more.cut,
  };
}

/** Reads the parts of one purpose together, by its corrections. */
function readParts(
  all: readonly Part[],
  currency: string,
  said: { whole: string; delegation: Quote | undefined },
  corrections?: ReadingCorrections,
): AuthorityReading {
  const { parts, is_cut } = readableParts(all);
  const isNot = makeIsNot(corrections);
  const gathered = nothingGathered(currency, isNot);
  const not_understood = readSentences(gathered, parts);
  for (const [i, { kind, words }] of (corrections?.also ?? []).entries())
    addCorrection(gathered, kind, { field: `purpose.reading.also[${i}]`, text: words });
  addMeantTrades(gathered);
  const { trades, words, conditions, sources, units, forbidden_count } = gathered;
  const isSaidInObjective = (stem: string) => isObjective(words.get(stem)?.field ?? '');
  const families = new Set([...trades].filter(([, { strong }]) => strong).map(([trade]) => trade.family));
  const whole = foldText(said.whole);
  const merchants = [...gathered.merchants.values()];
  const rule_count = conditions.length + sources.length + units.length;
  const reading = {
    trades,
    families,
    words,
    prohibitions: gathered.prohibitions.map((each) => besideObjective(each, isSaidInObjective)),
    requirements: conditions
      .slice(0, MAX_RULES)
      .map((each) => requirementOf(each, gathered, isSaidInObjective)),
    attributes: gathered.attributes,
    broad: BROAD.test(whole) || (HOME.test(whole) && families.size < 3),
    delegation: said.delegation,
    accounts: new Map(parts.flatMap(accountsIn)),
    bounds: gathered.bounds.slice(0, MAX_RULES),
    account_changes: gathered.account_changes,
    marks: gathered.marks.slice(0, MAX_RULES),
    counts: gathered.counts.slice(0, MAX_RULES),
    merchants,
    merchant_names: merchants.flatMap(({ name, is_person }) => (is_person ? [] : name)),
    not_understood,
    wishes: gathered.wishes,
    units: units.slice(0, MAX_RULES),
    sources: sources.slice(0, MAX_RULES),
    cut: is_cut || forbidden_count > MAX_FORBIDDEN || rule_count > MAX_RULES,
  };
  return corrections?.not === undefined ? reading : withoutTaken(reading, isNot);
}
