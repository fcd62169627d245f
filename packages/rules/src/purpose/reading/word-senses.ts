import type { Trade } from '../data/trades.ts';
import type { Quote } from './named-merchants.ts';

/** A trade that a word of the operator may mean. `place` is the same for all trades of one word. */
export interface TradeCandidate {
  trade: Trade;
  place: string;
  quote: Quote;
  strong: boolean;
  /** As in `WantedTrade`. */
  whole: boolean;
}

/**
 * Disambiguates words of several trades. If other words of the purpose name one of the trades, the word ("gloves") means
 * that one and only hints at the others.
 */
export function disambiguate(candidates: readonly TradeCandidate[]): TradeCandidate[] {
  const places = new Map<string, Set<Trade>>();
  for (const { place, trade } of candidates) places.set(place, (places.get(place) ?? new Set()).add(trade));
  const sure = new Set(
    candidates
      .filter(({ place, strong }) => strong && places.get(place)?.size === 1)
      .map(({ trade }) => trade),
  );
  return candidates.map((one) => {
    const meanings = [...(places.get(one.place) ?? [])];
    const is_outdone = meanings.length > 1 && !sure.has(one.trade) && meanings.some((each) => sure.has(each));
    return is_outdone ? { ...one, strong: false } : one;
  });
}
