import type { Authority } from '@purser/contract/authority';
import { MAX_CORRECTED_WORDS } from '@purser/contract/purpose/fields';
import { formatMoney } from '../values/money.ts';
import { allowedAsRead } from './allowed-merchants.ts';
import { tokenize } from './language/text.ts';
import type { AuthorityReading, BoundRule, MarkRule } from './reading/authority-terms.ts';
import {
  type Chip,
  isObjective,
  itemChips,
  makeIsNot,
  nameChip,
  privateUseChip,
  wordsFor,
} from './reading/corrections.ts';
import type { NamedMerchant, Quote } from './reading/named-merchants.ts';
import { readingOf } from './reading/reading-cache.ts';

/** Where the operator wrote something. */
export interface Place {
  /** `purpose.objective`, `purpose.success_criteria`, `purpose.constraints`, `purpose.context`, `allowed_merchants`. */
  field: string;
  /** Its place in the list; null where the field is one text. */
  index: number | null;
  /** The sentence, cut to `MAX_TEXT`. */
  text: string;
}

/** A reading with its place. `kind` and `words` name it in a correction. */
interface Shown extends Chip {
  from: Place;
}

/** How the assessor reads what an operator wrote, for people. */
export interface ShownReading {
  wanted: Shown[];
  forbidden: Shown[];
  conditions: (Shown & { text: string; met_by: string })[];
  merchants: (Shown & { name: string })[];
  people: (Shown & { name: string })[];
  wishes: (Shown & { text: string })[];
  not_understood: (Shown & { text: string })[];
}

/** More than this of one kind helps nobody who reads it. */
const MAX_SHOWN = 200;
const MAX_ITEMS = 20;
/** Maximum length of a sentence, in UTF-16 code units. */
const MAX_TEXT = MAX_CORRECTED_WORDS;
/** Maximum size of the reading as JSON, in bytes; its longest lists are halved until it fits. */
const MAX_BYTES = 120_000;
const SENTENCES = /(?<=[.;!?。！？])\s+|(?<=[。！？])|\n/;
const FIELD = /^(.*?)(?:\[(\d+)\])?$/;

const textOf = (authority: Authority, field: string, index: number | null): string => {
  const { objective, success_criteria = [], constraints = [], context = '', reading } = authority.purpose;
  if (field === 'purpose.reading.also') return reading?.also?.[index ?? 0]?.words ?? '';
  if (field === 'purpose.objective') return objective;
  if (field === 'purpose.context') return context;
  return (field === 'purpose.constraints' ? constraints : success_criteria)[index ?? 0] ?? '';
};

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[.;!?\s]+/g, ' ')
    .trim();

/** Finds the sentence of a quotation. The assessor quotes it without its end, or one word of it alone. */
function makePlaceOf(authority: Authority): (quote: Quote) => Place {
  const sentences_of = new Map<string, { each: string; said: string }[]>();
  const places = new Map<string, Place>();
  const find = ({ field, text }: Quote): Place => {
    const [, name = field, at] = FIELD.exec(field) ?? [];
    const index = at === undefined ? null : Number(at);
    const sentences =
      sentences_of.get(field) ??
      textOf(authority, name, index)
        .split(SENTENCES)
        .map((each) => ({ each: each.trim(), said: plain(each) }));
    sentences_of.set(field, sentences);
    const said = plain(text);
    const sentence = sentences.find((one) => one.said.includes(said))?.each ?? text;
    return { field: name, index, text: sentence.slice(0, MAX_TEXT) };
  };
  return (quote) => {
    const key = `${quote.field}\n${quote.text}`;
    const place = places.get(key) ?? find(quote);
    places.set(key, place);
    return place;
  };
}

const BY_HAND = 'request text does not count, so this takes a merchant that a person chose, or a review';

const BOUND_MET: Record<BoundRule['to'], string> = {
  'requested items': `Only requested items: ${BY_HAND}.`,
  'listed items': `Only listed items: ${BY_HAND}.`,
  'named sellers': 'The merchant is named in the purpose or chosen by a person.',
  'named subjects': `Only for subjects that the purpose names: ${BY_HAND}.`,
};

function markMet({ amount_minor, per, is_compared }: MarkRule, currency: string): string {
  const sum = `${formatMoney(amount_minor, currency)}${per === null ? '' : ` per ${per}`}`;
  return is_compared
    ? `The amount is at most ${sum}; otherwise the spend needs a review.`
    : `The request names at most ${sum}. Purser compares it only where the request says how many it pays for.`;
}

function conditionsOf(reading: AuthorityReading, currency: string): { quote: Quote; met_by: string }[] {
  const { requirements, sources, units, attributes, bounds, account_changes, marks, counts } = reading;
  return [
    ...requirements.map((one) => ({
      quote: one,
      met_by: `Evidence that the condition is met ("${wordsFor(one.stems, tokenize(one.text))}"): ${BY_HAND}.`,
    })),
    ...sources.map((one) => ({
      quote: one,
      met_by: `The merchant is one of: ${wordsFor(
        tokenize([...one.names].join(' ')).map(({ stem }) => stem),
        tokenize(one.text),
      )}.`,
    })),
    ...units.map((one) => ({
      quote: one,
      met_by: `The request names no unit but: ${one.ranges
        .map(({ before, after, from, to }) =>
          from === to ? `${before}${from}${after}` : `${before}${from}${after} to ${before}${to}${after}`,
        )
        .join(', ')
        .slice(0, MAX_TEXT)}.`,
    })),
    ...attributes.map((one) => ({ quote: one, met_by: `The description names no other ${one.scale}.` })),
    ...(account_changes === undefined
      ? []
      : [{ quote: account_changes, met_by: 'An unknown account needs a review.' }]),
    ...marks.map((one) => ({ quote: one, met_by: markMet(one, currency) })),
    ...counts.map((one) => ({
      quote: one,
      met_by: `The request names at most ${one.most} (${wordsFor(one.units, tokenize(one.text))}).`,
    })),
    ...bounds.map((one) => ({ quote: one, met_by: BOUND_MET[one.to] })),
  ];
}

/** The goods that a correction added and that no kind has. */
function addedWithoutTrade(
  { purpose: { reading } }: Authority,
  wanted: readonly (readonly [unknown, Quote])[],
): Quote[] {
  const fields = new Set(wanted.map(([, { field }]) => field));
  return (reading?.also ?? []).flatMap(({ kind, words }, i) => {
    const field = `purpose.reading.also[${i}]`;
    return kind === 'wanted' && !fields.has(field) ? { field, text: words } : [];
  });
}

/**
 * Shows how the assessor reads an authority: the very reading that it judges by, of which at most `MAX_SHOWN` of each kind and
 * `MAX_BYTES` in all. The same authority gives the same answer. A constraint from which no rule came, and an objective that
 * names no kind of goods and no merchant, is not understood.
 */
export function showReading(authority: Authority): ShownReading {
  const reading = readingOf(authority);
  const placeOf = makePlaceOf(authority);
  const most = <T>(list: readonly T[]): readonly T[] => list.slice(0, MAX_SHOWN);
  const names = (list: readonly NamedMerchant[]) =>
    most(list).map((one) => ({ ...nameChip(one), name: one.name, from: placeOf(one) }));
  const sentences = (kind: string, list: readonly Quote[]) =>
    most(list).map((quote) => {
      const from = placeOf(quote);
      return { kind, words: quote.text.slice(0, MAX_TEXT), text: from.text, from };
    });
  const wanted = [...reading.trades].filter(([, { conditional }]) => !conditional);
  const shown: ShownReading = {
    wanted: [
      ...most(wanted).map(([trade, quote]) => ({
        kind: trade.label,
        words: quote.text,
        from: placeOf(quote),
      })),
      ...addedWithoutTrade(authority, wanted).map((quote) => ({
        kind: 'wanted',
        words: quote.text,
        from: placeOf(quote),
      })),
    ],
    forbidden: most(
      most(reading.prohibitions).flatMap((one) =>
        [
          ...itemChips({ ...one, items: one.items.slice(0, MAX_ITEMS) }),
          ...(one.private_use ? [privateUseChip(one)] : []),
        ].map((chip) => ({ ...chip, from: placeOf(one) })),
      ),
    ).slice(),
    conditions: most(conditionsOf(reading, authority.currency)).map(({ quote, met_by }) => ({
      kind: 'condition',
      words: quote.text.slice(0, MAX_TEXT),
      text: quote.text.slice(0, MAX_TEXT),
      met_by,
      from: placeOf(quote),
    })),
    merchants: [
      ...most(allowedAsRead(authority)).map((name) => ({
        kind: 'merchant',
        words: name,
        name,
        from: {
          field: 'allowed_merchants',
          index: authority.allowed_merchants?.indexOf(name) ?? null,
          text: name,
        },
      })),
      ...names(reading.merchants.filter(({ is_person }) => !is_person)),
    ],
    people: [
      ...names(reading.merchants.filter(({ is_person }) => is_person)),
      ...(reading.delegation === undefined
        ? []
        : [
            {
              kind: 'person',
              words: reading.delegation.text,
              name: reading.delegation.text,
              from: placeOf(reading.delegation),
            },
          ]),
    ],
    wishes: sentences('wish', reading.wishes),
    not_understood: sentences('not_understood', reading.not_understood),
  };
  const is_told = [...shown.wanted, ...shown.merchants].some(({ from }) => isObjective(from.field));
  if (!is_told) {
    const text = authority.purpose.objective.slice(0, MAX_TEXT);
    const from = { field: 'purpose.objective', index: null, text };
    if (!makeIsNot(authority.purpose.reading)(['not_understood'], text))
      shown.not_understood.push({ kind: 'not_understood', words: text, text, from });
  }
  return bounded(withoutRepeats(shown));
}

/** The reading in `MAX_BYTES`: the longest lists are cut to half until it fits. */
function bounded(shown: ShownReading): ShownReading {
  const lists: unknown[][] = Object.values(shown);
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  for (const list of lists) list.splice(MAX_SHOWN);
  const sizes = lists.map(bytesOf);
  while (sizes.reduce((sum, size) => sum + size, 0) > MAX_BYTES) {
    const largest = sizes.indexOf(Math.max(...sizes));
    const list = lists[largest] as unknown[];
    list.splice(Math.ceil(list.length / 2));
    sizes[largest] = bytesOf(list);
  }
  return shown;
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
    wishes: once(shown.wishes),
    not_understood: once(shown.not_understood),
  };
}
