import {
  costOf,
  inputOf,
  type ModelPrice,
  NO_USAGE,
  pricesMet,
  type Scale,
  type TokenUsage,
  worstPrices,
} from '../prices/price-table.ts';
import type { Bound } from '../requests/bound.ts';
import type { Reported } from './readers.ts';

/** The amount that a call is counted with. */
export interface Settlement {
  amount: bigint;
  /** The reported tokens, and the worst case of those that were not reported. */
  usage: TokenUsage;
  /** Part of the amount is a worst case. */
  is_uncertain: boolean;
}

/** The call as it was reserved. */
export interface Reservation {
  price: ModelPrice;
  scale: Scale;
  bound: Bound;
  /** The tier that was asked for. */
  tier: string | null;
  output_tokens: number;
  amount: bigint;
}

/** The exact cost of the reported tokens, and the worst case for those that were not reported. */
export function settlementOf(reserved: Reservation, reported: Reported): Settlement {
  const { price, scale, bound } = reserved;
  const tier = reported.tier === undefined ? reserved.tier : reported.tier;
  const { usage, input } = reported;
  if (usage !== null) {
    const amount = costOf(usage, pricesMet(price, tier, inputOf(usage)), scale);
    return { amount, usage, is_uncertain: false };
  }
  const output = bound.outOf(reserved.output_tokens);
  if (input === null) {
    const worst = { ...NO_USAGE, input: bound.input_tokens, output };
    return { amount: reserved.amount, usage: worst, is_uncertain: true };
  }
  const partly = { ...input, output };
  const met = pricesMet(price, tier, inputOf(partly));
  const worst = worstPrices(price, tier, Math.max(bound.input_tokens, inputOf(partly)));
  return {
    amount: costOf(partly, { ...met, output: worst.output }, scale),
    usage: partly,
    is_uncertain: true,
  };
}
