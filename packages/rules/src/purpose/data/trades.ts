import { readTerms } from '@purser/purpose-data';

const FAMILIES = [
  'technology',
  'media_and_marketing',
  'office',
  'travel',
  'vehicles',
  'food',
  'alcohol',
  'laboratory',
  'health',
  'logistics',
  'energy_and_property',
  'building',
  'industry',
  'farming_and_garden',
  'people_and_services',
  'learning_and_events',
  'public_dues',
  'finance',
  'cash_like',
  'gaming',
  'gambling',
  'entertainment',
  'fashion_and_beauty',
  'luxury',
  'home',
  'children',
  'animals',
  'sport',
  'adult',
  'art_and_craft',
] as const;
export type Family = (typeof FAMILIES)[number];

/**
 * One trade: a kind of goods or service that people tell apart without thinking.
 *
 * The division follows the merchant category groups of ISO 18245 (the codes on card payments), made finer where a
 * purpose usually draws a line (alcohol within drinks, instruments within a laboratory) and coarser where it never
 * does. Its words are in the list of that name, which explains their notation.
 */
export interface Trade {
  id: string;
  /** Trades of one family are neighbours: buying the one where the other was wanted is not a clear conflict. */
  family: Family;
  /** As a person would say it, in the middle of a sentence. */
  label: string;
  /** Merchant category codes or ranges of ISO 18245 taken as orientation. */
  mcc: string;
  words: readonly string[];
}

/** Families that no purpose of a business covers unless it says so. */
export const PRIVATE_FAMILIES: ReadonlySet<string> = new Set([
  'gaming',
  'gambling',
  'entertainment',
  'fashion_and_beauty',
  'luxury',
  'animals',
  'sport',
  'adult',
  'art_and_craft',
  'children',
]);

const WORDS = readTerms('trade-words');

/** Trades of organisations first, then trades of private life. */
export const TRADES: readonly Trade[] = (readTerms('trades').get('trades') ?? []).map((row) => {
  const [id = '', family = '', label = '', mcc = ''] = row.split('; ');
  return {
    id,
    family: FAMILIES.find((one) => one === family) ?? unknownFamily(family),
    label,
    mcc,
    words: WORDS.get(id) ?? [],
  };
});

function unknownFamily(family: string): never {
  throw new Error(`The list of trades has an unknown family: ${family}.`);
}

/** True if a merchant category code (ISO 18245) is in a list of codes and ranges such as "3000-3299, 4511". */
function isCodeOf(code: string, codes: string): boolean {
  return codes.split(',').some((part) => {
    const [from = '', to = from] = part.trim().split('-');
    return code >= from && code <= to;
  });
}

/** The trades of a merchant category code of four digits. */
export function tradesOfCode(code: string): Trade[] {
  return TRADES.filter((trade) => isCodeOf(code, trade.mcc));
}
