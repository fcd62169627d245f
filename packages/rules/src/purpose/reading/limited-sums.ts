import { type Amount, amountsIn, minorOf } from '../../values/amounts.ts';
import {
  OVER_A_SUM,
  OVER_BEHIND_A_SUM,
  UP_TO_A_SUM,
  UP_TO_BEHIND_A_SUM,
} from '../data/constraint-language.ts';
import { foldText } from '../language/text.ts';
import type { MarkRule } from './authority-terms.ts';
import type { Quote } from './named-merchants.ts';

/** A sum that a clause limits, with the words that say so. */
interface LimitedSum {
  amount: Amount;
  /** The clause speaks of larger sums ("above 400 euros, ask Ruth"), and does not only forbid them. */
  is_over: boolean;
  at: number;
  end: number;
}

/** In UTF-16 code units. */
const NEAR = 24;
/** Sums for one of these are paid at once, so a spend can be compared with them. */
const PAID_AT_ONCE: ReadonlySet<string | null> = new Set([
  null,
  'order',
  'payment',
  'booking',
  'invoice',
  'week',
  'month',
  'quarter',
  'year',
]);

function limitsIn(text: string): LimitedSum[] {
  return amountsIn(text).flatMap((amount): LimitedSum[] => {
    const from = Math.max(0, amount.at - NEAR);
    const before = `${foldText(text.slice(from, amount.at)).trimEnd()} `;
    const written = text.slice(amount.end, amount.end + NEAR);
    // Folding takes kana apart.
    const behind = (pattern: RegExp) => pattern.exec(foldText(written)) ?? pattern.exec(written);
    const most = UP_TO_A_SUM.exec(before) ?? behind(UP_TO_BEHIND_A_SUM);
    const found = most ?? OVER_A_SUM.exec(before) ?? behind(OVER_BEHIND_A_SUM);
    if (found === null) return [];
    const leads = found.input === before;
    return [
      {
        amount,
        is_over: most === null,
        at: leads ? Math.min(amount.at, from + found.index) : amount.at,
        end: leads ? amount.end : amount.end + found[0].length,
      },
    ];
  });
}

/** The sums of a clause beyond which it says something. Those in another currency than the authority's are not read. */
export function marksIn(text: string, quote: Quote, currency: string): MarkRule[] {
  let last: string | null = null;
  return limitsIn(text).flatMap(({ amount }) => {
    const amount_minor = minorOf(amount, currency);
    if (amount_minor === null || amount_minor === 0) return [];
    // "EUR 170 per night, in London EUR 240": the second sum is for a night, too.
    const per: string | null = amount.per ?? last;
    last = per;
    return [{ ...quote, amount_minor, per, is_compared: PAID_AT_ONCE.has(per) }];
  });
}

/** A text without its sums, which name neither goods nor merchants: "EUR 70 per night". */
export function withoutSums(text: string): string {
  let rest = text;
  for (const { at, end } of amountsIn(text).reverse()) rest = `${rest.slice(0, at)} , ${rest.slice(end)}`;
  return rest;
}

/**
 * A clause without the limits that its sums set, because the amount of a spend shows whether it keeps those. Of "above 400
 * euros, ask Ruth" nothing is left, as it asks for nothing below.
 */
export function withoutLimits(text: string, currency: string): string {
  let rest = text;
  for (const { amount, is_over, at, end } of limitsIn(text).reverse()) {
    if (minorOf(amount, currency) === null) continue;
    const clause = is_over ? Math.max(text.lastIndexOf(',', at), text.lastIndexOf(';', at)) : at;
    rest = is_over ? rest.slice(0, Math.max(0, clause)) : rest.slice(0, at) + rest.slice(end);
  }
  return rest;
}
