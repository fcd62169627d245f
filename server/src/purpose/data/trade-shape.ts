/**
 * One trade: a kind of goods or service that people tell apart without thinking.
 *
 * The division follows the merchant category groups of ISO 18245 (the codes on card payments), made finer where a
 * purpose usually draws a line (alcohol within drinks, instruments within a laboratory) and coarser where it never
 * does. Entries are separated by `;`. In `words`, `~` marks a word with other everyday meanings: it may add to
 * support, it never contradicts by itself. In `companies`, `^` marks a name that is also an ordinary word: it counts
 * only as a merchant's whole name.
 */
export interface Trade {
  id: string;
  /** Trades of one family are neighbours: buying the one where the other was wanted is not a clear conflict. */
  family: Family;
  /** As a person would say it, in the middle of a sentence. */
  label: string;
  /** Merchant category codes or ranges of ISO 18245 taken as orientation. */
  mcc: string;
  words: string;
  /** Well-known companies only. */
  companies: string;
}

export const FAMILIES = [
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
