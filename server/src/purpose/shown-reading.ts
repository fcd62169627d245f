import type { Authority } from '../domain/authorities.ts';
import type { Trade } from './data/trades.ts';
import { companiesInText } from './language/lexicon.ts';
import { tokenize } from './language/text.ts';
import { readAuthority } from './reading/authority-reading.ts';
import type { AuthorityReading, ForbiddenItem, Prohibition } from './reading/authority-terms.ts';
import type { Quote } from './reading/named-merchants.ts';

/** Where the operator wrote something. */
export interface Place {
  /** `purpose.objective`, `purpose.success_criteria`, `purpose.constraints`, `purpose.context`, `allowed_merchants`. */
  field: string;
  /** Its place in the list; null where the field is one text. */
  index: number | null;
  /** The sentence. */
  text: string;
}

/** How the assessor reads what an operator wrote, for people. */
export interface ShownReading {
  wanted: { kind: string; words: string; from: Place }[];
  forbidden: { kind: string; words: string; from: Place }[];
  conditions: { text: string; met_by: string; from: Place }[];
  merchants: { name: string; from: Place }[];
  people: { name: string; from: Place }[];
  not_understood: { text: string; from: Place }[];
}

/** More than this of one kind helps nobody who reads it. */
const MAX_SHOWN = 200;
const MAX_ITEMS = 20;
const SENTENCES = /(?<=[.;!?。！？])\s+|(?<=[。！？])|\n/;
const FIELD = /^(.*?)(?:\[(\d+)\])?$/;

interface Part extends Quote {
  sentences: string[];
}

function partsOf({ purpose, allowed_merchants = [] }: Authority): Part[] {
  const { objective, success_criteria = [], constraints = [], context = '' } = purpose;
  const parts = [
    { field: 'purpose.objective', text: objective },
    ...success_criteria.map((text, i) => ({ field: `purpose.success_criteria[${i}]`, text })),
    ...constraints.map((text, i) => ({ field: `purpose.constraints[${i}]`, text })),
    { field: 'purpose.context', text: context },
    ...allowed_merchants.map((text, i) => ({ field: `allowed_merchants[${i}]`, text })),
  ];
  return parts.map((part) => ({
    ...part,
    sentences: part.text.split(SENTENCES).flatMap((sentence) => sentence.trim() || []),
  }));
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[.;!?\s]+/g, ' ')
    .trim();

/** Finds the sentence of a quotation. The assessor may quote it without its end, or one word of it alone. */
function makePlaceOf(parts: readonly Part[]): (quote: Quote) => Place {
  const by_field = new Map(
    parts.map(({ field, sentences }) => [field, sentences.map((each) => ({ each, said: plain(each) }))]),
  );
  const known = new Map<string, Place>();
  return (quote) => {
    const key = `${quote.field}\n${quote.text}`;
    const place = known.get(key) ?? find(quote);
    known.set(key, place);
    return place;
  };
  function find({ field, text }: Quote): Place {
    const [, name = field, index] = FIELD.exec(field) ?? [];
    const said = plain(text);
    const sentence = by_field.get(field)?.find((one) => one.said.includes(said))?.each;
    return { field: name, index: index === undefined ? null : Number(index), text: sentence ?? text };
  }
}

const labelsOf = (trades: Iterable<Trade>): string => [...trades].map(({ label }) => label).join(', ');

/** The operator's own words for stems, in their order; the stems where the words are not found. */
function wordsFor(stems: Iterable<string>, text: string): string {
  const wanted = new Set(stems);
  const found = tokenize(text).filter(({ stem }) => wanted.has(stem));
  return [...new Set(found.map(({ raw }) => raw))].join(' ') || [...wanted].join(' ');
}

function kindOf({ trades, companies }: ForbiddenItem): string {
  if (trades.size > 0) return labelsOf(trades);
  return companies.size > 0 ? 'a company' : 'goods of this name';
}

function forbiddenBy(one: Prohibition): { kind: string; words: string }[] {
  const { items, private_use, for_others, text } = one;
  return [
    ...items.slice(0, MAX_ITEMS).map((item) => ({ kind: kindOf(item), words: wordsFor(item.stems, text) })),
    ...(private_use ? [{ kind: 'private use', words: text }] : []),
    ...(for_others ? [{ kind: 'use by others', words: text }] : []),
  ];
}

function conditionsOf(reading: AuthorityReading): { quote: Quote; met_by: string }[] {
  const { requirements, sources, units, attributes, exactly, only_named, only_these } = reading;
  const names = (words: Iterable<string>, text: string) =>
    wordsFor(
      tokenize([...words].join(' ')).map(({ stem }) => stem),
      text,
    );
  return [
    ...requirements.map((one) => {
      const shown = wordsFor(one.stems, one.text);
      const met_by = one.said_by_task
        ? 'The task asks for it, or description or run show it.'
        : one.about_sum
          ? 'The sum is not over the one that was named.'
          : `Description or run show it: "${shown}".`;
      return { quote: one, met_by };
    }),
    ...sources.map((one) => ({
      quote: one,
      met_by: `The merchant is one of: ${names(one.names, one.text)}.`,
    })),
    ...units.map((one) => ({
      quote: one,
      met_by: `The request names one of: ${one.ranges
        .map(({ before, after, from, to }) =>
          from === to ? `${before}${from}${after}` : `${before}${from}${after} to ${before}${to}${after}`,
        )
        .join(', ')}.`,
    })),
    ...attributes.map((one) => ({ quote: one, met_by: `The description names no other ${one.scale}.` })),
    ...(exactly === undefined
      ? []
      : [{ quote: exactly, met_by: 'Nothing is bought but what was asked for.' }]),
    ...(only_named === undefined
      ? []
      : [{ quote: only_named, met_by: 'Merchant or payee are among those that the purpose names.' }]),
    ...(only_these === undefined
      ? []
      : [{ quote: only_these, met_by: 'The description names one of those that the purpose names.' }]),
  ];
}

/** Words after which a name is somebody's and not a seller's. */
const BEFORE_PEOPLE = /^(?:for|by|asks?|asked|mr|mrs|ms|dr|prof|herr|frau|für|pour|para)$/i;
const PEOPLE_LIST =
  /\b(?:people|persons?|staff|team|owners?|members?|employees?|colleagues?|seats? only for)\b/i;

/** The names that the reading holds, as they stand in a sentence: words with a capital that follow each other. */
function namesIn(sentence: string, reading: AuthorityReading): { name: string; is_person: boolean }[] {
  const tokens = tokenize(sentence);
  const found: { name: string; is_person: boolean }[] = [];
  let at = 0;
  while (at < tokens.length) {
    const start = at;
    while (at < tokens.length && isName(tokens[at]?.raw ?? '', tokens[at]?.word ?? '', reading)) at += 1;
    if (at > start) {
      const words = tokens.slice(start, at);
      const name = words.map(({ raw }) => raw).join(' ');
      const is_company = companiesInText(words).length > 0;
      const is_person =
        !is_company &&
        (BEFORE_PEOPLE.test(tokens[start - 1]?.raw ?? '') ||
          (PEOPLE_LIST.test(sentence) && words.length <= 2));
      // Words that a comma parts are names of their own.
      for (const each of is_person || sentence.includes(name) ? [name] : words.map(({ raw }) => raw)) {
        found.push({ name: each, is_person });
      }
    } else at += 1;
  }
  return found;
}

const isName = (raw: string, word: string, { names }: AuthorityReading) =>
  names.has(word) && /^\p{Lu}|^\d+\p{Lu}/u.test(raw);

/** Tells whether some of the rules was read from a sentence. */
function makeIsRead(rules: readonly Quote[]): (sentence: string, field: string) => boolean {
  const by_field = new Map<string, Set<string>>();
  for (const { field, text } of rules) {
    by_field.set(field, (by_field.get(field) ?? new Set<string>()).add(plain(text)));
  }
  return (sentence, field) => {
    const said = plain(sentence);
    return [...(by_field.get(field) ?? [])].some((quoted) => quoted.includes(said) || said.includes(quoted));
  };
}

/**
 * Shows how the assessor reads an authority: by the same reading that it judges by. The same authority gives the same
 * answer. A constraint from which no rule came, and an objective that names no kind of goods and nobody, is not understood.
 */
export function showReading(authority: Authority): ShownReading {
  const reading = readAuthority(authority);
  const parts = partsOf(authority);
  const placeOf = makePlaceOf(parts);
  const shown: ShownReading = {
    wanted: [],
    forbidden: [],
    conditions: [],
    merchants: [],
    people: [],
    not_understood: [],
  };
  for (const [trade, quote] of reading.trades) {
    if (quote.conditional) continue;
    shown.wanted.push({ kind: trade.label, words: quote.text, from: placeOf(quote) });
  }
  for (const one of reading.prohibitions) {
    if (shown.forbidden.length >= MAX_SHOWN) break;
    for (const each of forbiddenBy(one)) shown.forbidden.push({ ...each, from: placeOf(one) });
  }
  const conditions = conditionsOf(reading);
  for (const { quote, met_by } of conditions) {
    shown.conditions.push({ text: quote.text, met_by, from: placeOf(quote) });
  }
  for (const [i, text] of (authority.allowed_merchants ?? []).entries()) {
    shown.merchants.push({ name: text, from: { field: 'allowed_merchants', index: i, text } });
  }
  const isForbidding = makeIsRead(reading.prohibitions);
  for (const { field, sentences } of parts) {
    if (field.startsWith('allowed_merchants')) continue;
    for (const sentence of sentences) {
      if (isForbidding(sentence, field)) continue;
      for (const { name, is_person } of namesIn(sentence, reading)) {
        shown[is_person ? 'people' : 'merchants'].push({ name, from: placeOf({ field, text: sentence }) });
      }
    }
  }
  if (reading.delegation !== undefined) {
    shown.people.push({ name: reading.delegation.text, from: placeOf(reading.delegation) });
  }
  const isRead = makeIsRead([
    ...reading.prohibitions,
    ...conditions.map(({ quote }) => quote),
    ...reading.tolerances,
  ]);
  for (const { field, sentences, text } of parts) {
    if (field.startsWith('purpose.constraints')) {
      for (const sentence of sentences) {
        if (isRead(sentence, field) || !/[\p{L}\p{N}]/u.test(sentence)) continue;
        shown.not_understood.push({ text: sentence, from: placeOf({ field, text: sentence }) });
      }
    }
    if (field === 'purpose.objective') {
      const is_wanted = shown.wanted.some(({ from }) => from.field === field);
      const is_named = shown.merchants.some(({ from }) => from.field === field);
      if (!is_wanted && !is_named) shown.not_understood.push({ text, from: placeOf({ field, text }) });
    }
  }
  for (const list of Object.values(shown) as unknown[][]) list.splice(MAX_SHOWN);
  return withoutRepeats(shown);
}

/** Each thing once. */
function withoutRepeats(shown: ShownReading): ShownReading {
  const once = <T>(list: readonly T[]): T[] => [
    ...new Map(list.map((each) => [JSON.stringify(each), each])).values(),
  ];
  return {
    wanted: once(shown.wanted),
    forbidden: once(shown.forbidden),
    conditions: once(shown.conditions),
    merchants: once(shown.merchants),
    people: once(shown.people),
    not_understood: once(shown.not_understood),
  };
}
