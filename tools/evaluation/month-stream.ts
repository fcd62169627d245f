import type { Authority, SpendRequest } from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';

export const DAYS = 30;
export const DAY_MS = 86_400_000;
const FROM_MS = Date.UTC(2026, 0, 1);
const WRONG = 0.03;
/** Right spends at a merchant that the agent never paid before and never pays again. */
const FIRST_MEETINGS = 0.1;

/** Words that honest agents write about any goods; no list of the assessor was made from them. */
const NEUTRAL = [
  'Kestrel 40 kit',
  'spring batch',
  'replacement for the broken one',
  'Sonderposten Restmenge',
  'as agreed on the phone',
  'lote de abril',
  'Vantor XR refill',
  'remise 5 % fidélité',
  'second half of the set',
  'med expressfrakt',
  'levering kelder',
  'rush',
  '定期便',
  'partia wiosenna',
  'consegna al piano',
  'Ombra 2.4 bundle',
] as const;

/** A spend of the month, with the truth about it. */
export interface Spend {
  day: number;
  at: string;
  is_right: boolean;
  /** A merchant that the operator names. */
  is_named: boolean;
  from: ExpectedSpend;
  request: SpendRequest;
  number: number;
}

export type Random = () => number;

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

const requestOf = (one: ExpectedSpend) => one.request as unknown as SpendRequest;

/** Returns whether the operator wrote the merchant's name down. */
function isNamed(authority: Authority, merchant: string): boolean {
  const name = merchant.toLowerCase();
  const { objective, constraints = [], success_criteria = [], context = '' } = authority.purpose;
  const text = [objective, ...success_criteria, context, ...(authority.allowed_merchants ?? [])].join('\n');
  return text.toLowerCase().includes(name) && !constraints.join('\n').toLowerCase().includes(name);
}

const SYLLABLES = 'bra dor fen gul hask jov kel mir nost pell rusk tav vorn zem'.split(' ');

/** A name that no merchant of the cases has. */
function newName(random: Random): string {
  const name = [0, 1, 2, 3].map(() => pick(random, SYLLABLES)).join('');
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** The same spend at a merchant that nobody knows. */
function atNewMerchant({ action, ...request }: SpendRequest, name: string): SpendRequest {
  const payee = action.payee_id === undefined ? {} : { payee_id: `payee:${name.toLowerCase()}` };
  return { ...request, action: { ...action, merchant: name, ...payee } };
}

/** Other honest words for a spend; they are drawn also where they are not used, so that all shares have one stream. */
function newWords(random: Random, { other_words }: ExpectedSpend, description: string | undefined): string {
  const other = pick(random, other_words.length > 0 ? other_words : NEUTRAL);
  return other_words.length > 0 ? other : [other, description].filter(Boolean).join(', ');
}

/** The spends of one agent in order: right ones, one in ten of them a first meeting, and wrong ones. */
export function streamOf(
  cases: readonly ExpectedSpend[],
  random: Random,
  options: { spends: number; new_words: number },
): Spend[] {
  const authority = cases[0]?.authority as unknown as Authority;
  const of = (purpose: string) => cases.filter(({ expected }) => expected.purpose === purpose);
  const right = of('PURPOSE_ALIGNED');
  const wrong = of('PURPOSE_MISALIGNED');
  const unnamed = right.filter((one) => !isNamed(authority, requestOf(one).action.merchant));
  const spends = Array.from({ length: options.spends }, (_, i): Spend => {
    const [is_wrong, is_new] = [random() < WRONG, random() < FIRST_MEETINGS];
    const [at, has_new_words] = [random(), random() < options.new_words];
    const is_right = !is_wrong || wrong.length === 0;
    const is_first = is_right && is_new && unnamed.length > 0;
    const from = pick(random, is_first ? unnamed : is_right ? right : wrong);
    const number = 48_000 + i;
    const name = newName(random);
    const { action, ...request } = is_first ? atNewMerchant(requestOf(from), name) : requestOf(from);
    const amount_minor = Math.max(1, Math.round(action.amount_minor * (0.7 + 0.6 * random())));
    const other = newWords(random, from, action.description);
    const description = is_right && has_new_words ? other : action.description;
    const described = description ? { description: `${description}, no. ${number}` } : {};
    const day = Math.floor((i / options.spends) * DAYS);
    return {
      day,
      at: new Date(FROM_MS + day * DAY_MS + Math.floor(at * DAY_MS)).toISOString(),
      is_right,
      is_named: isNamed(authority, action.merchant),
      from,
      number,
      request: { ...request, action: { ...action, amount_minor, ...described } },
    };
  });
  return spends.sort((a, b) => a.at.localeCompare(b.at));
}
