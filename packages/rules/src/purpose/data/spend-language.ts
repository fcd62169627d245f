import { readPattern, readPatterns, readTerms } from '@purser/purpose-data';

/* How agents write of their spends: the sections of a list, which say what each is for. */
const PATTERNS = readPatterns('spend-patterns');
const pattern = (name: string): RegExp => readPattern(PATTERNS, name);
const PRIVATE_LIFE = readTerms('private-life').get('own') ?? [];

export const DENIED = pattern('denied');
export const BELONGINGS = pattern('belongings');
export const CASH_TYPES = pattern('cash_types');
export const CASH_RAILS = pattern('cash_rails');
export const TOKEN_RAILS = pattern('token_rails');
export const SAYS_PAID = pattern('says_paid');
export const SAYS_SPLIT = pattern('says_split');
export const SAYS_PENDING = pattern('says_pending');
export const OWN_AFFAIR = pattern('own_affair');
export const PAYS_BACK = pattern('pays_back');
export const PAYS_BILL = pattern('pays_bill');
/** "Her ponies", "for my garden", "their own flat". Group 1: the word of private life, where it takes one.
 * Of "Bob's flat" it begins with the apostrophe. */
export const SOMEBODYS = new RegExp(
  `${pattern('whose').source}(${PRIVATE_LIFE.join('|') || '(?!)'})\\b|${pattern('for_oneself').source}`,
  'gu',
);
