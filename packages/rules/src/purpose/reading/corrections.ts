import {
  MAX_CORRECTED_KIND,
  MAX_CORRECTED_WORDS,
  type ReadingCorrections,
} from '@purser/contract/purpose/fields';
import type { Trade } from '../data/trades.ts';
import { foldText, type Token, tokenize } from '../language/text.ts';
import type { AuthorityReading, ForbiddenItem, Prohibition } from './authority-terms.ts';
import type { NamedMerchant } from './named-merchants.ts';

/** A reading as the operator sees it, and as a correction names it. */
export interface Chip {
  kind: string;
  words: string;
}

export const PRIVATE_USE_KIND = 'private use';

const plain = (text: string): string =>
  foldText(text.slice(0, MAX_CORRECTED_WORDS))
    .replace(/[.,;:!?。\s]+/g, ' ')
    .trim();

const keyOf = (kind: string, words: string): string => `${plain(kind)}\n${plain(words)}`;

/** True for a reading that a correction takes away. `kinds`: the names of its kind, the narrowest first. */
export type IsNot = (kinds: readonly string[], words: string) => boolean;

/** Makes the look-up of the readings that the corrections take away. */
export function makeIsNot({ not = [] }: ReadingCorrections = {}): IsNot {
  const taken = new Set(not.map(({ kind, words }) => keyOf(kind, words)));
  return taken.size === 0
    ? () => false
    : (kinds, words) => kinds.some((kind) => taken.has(keyOf(kind, words)));
}

/** True for the field of a text in which the operator says what is wanted: the objective, and what was added to it. */
export const isObjective = (field: string): boolean => field === 'purpose.objective' || isAdded({ field });

/** True for a reading that a correction added, which none takes away. */
export const isAdded = ({ field }: { field: string }): boolean => field.startsWith('purpose.reading.');

const labelsOf = (trades: Iterable<Trade>): string => [...trades].map(({ label }) => label).join(', ');

const kindOf = ({ trades }: ForbiddenItem): string =>
  trades.size > 0 ? labelsOf(trades).slice(0, MAX_CORRECTED_KIND) : 'goods or a seller of this name';

/** The operator's own words for stems, in their order; the stems where the words are not found. */
export function wordsFor(stems: Iterable<string>, tokens: readonly Token[]): string {
  const wanted = new Set(stems);
  const found = new Set(tokens.filter(({ stem }) => wanted.has(stem)).map(({ raw }) => raw));
  return ([...found].join(' ') || [...wanted].join(' ')).slice(0, MAX_CORRECTED_WORDS);
}

/** Shows the items of a prohibition, in their order. */
export function itemChips({ items, text }: Prohibition): Chip[] {
  const tokens = tokenize(text);
  return items.map((item) => ({ kind: kindOf(item), words: wordsFor(item.stems, tokens) }));
}

/** Shows the private use that a prohibition forbids. */
export const privateUseChip = ({ text }: Prohibition): Chip => ({
  kind: PRIVATE_USE_KIND,
  words: text.slice(0, MAX_CORRECTED_WORDS),
});

/** Shows a name. */
export const nameChip = ({ name, is_person }: NamedMerchant): Chip => ({
  kind: is_person ? 'person' : 'merchant',
  words: name,
});

/** A reading without its rules and names that the corrections take away. Wanted goods are taken away before. */
export function withoutTaken(reading: AuthorityReading, isNot: IsNot): AuthorityReading {
  const isTaken = (kinds: readonly string[], { words, kind }: Chip) => isNot([kind, ...kinds], words);
  const isLeft = (rule: { field: string; text: string }) => isAdded(rule) || !isNot(['condition'], rule.text);
  const prohibitions = reading.prohibitions.flatMap((one) => {
    if (isAdded(one)) return one;
    const chips = itemChips(one);
    const items = one.items.filter((_, i) => !isTaken(['forbidden'], chips[i] as Chip));
    const private_use = one.private_use && !isTaken(['forbidden'], privateUseChip(one));
    return items.length > 0 || private_use ? { ...one, items, private_use } : [];
  });
  const merchants = reading.merchants.filter((one) => isAdded(one) || !isTaken([], nameChip(one)));
  const { account_changes, delegation } = reading;
  return {
    ...reading,
    prohibitions,
    merchants,
    merchant_names: merchants.flatMap(({ name, is_person }) => (is_person ? [] : name)),
    requirements: reading.requirements.filter(isLeft),
    attributes: reading.attributes.filter(isLeft),
    bounds: reading.bounds.filter(isLeft),
    marks: reading.marks.filter(isLeft),
    counts: reading.counts.filter(isLeft),
    sources: reading.sources.filter(isLeft),
    units: reading.units.filter(isLeft),
    account_changes: account_changes !== undefined && isLeft(account_changes) ? account_changes : undefined,
    delegation: delegation !== undefined && !isNot(['person'], delegation.text) ? delegation : undefined,
    not_understood: reading.not_understood.filter(({ text }) => !isNot(['not_understood'], text)),
  };
}
