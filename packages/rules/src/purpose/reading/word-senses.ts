import type { Trade } from '../data/trades.ts';
import type { Quote } from './named-merchants.ts';

/** A trade that a word of the operator may mean. `place` is the same for all trades of one word. */
export interface TradeCandidate {
  trade: Trade;
  place: string;
  quote: Quote;
  strong: boolean;
  core: boolean;
}

/**
 * Disambiguates words of several trades. If other words of the purpose name one of the trades, the word ("gloves") means
 * that one and only hints at the others. It also only hints at trades of the long lists if another trade has it in its
 * own table.
 */
export function disambiguate(
  candidates: readonly TradeCandidate[],
  implied: ReadonlyMap<Trade, unknown>,
): TradeCandidate[] {
  const places = new Map<string, Set<Trade>>();
  for (const { place, trade } of candidates) places.set(place, (places.get(place) ?? new Set()).add(trade));
  const sure = new Set(
    candidates
      .filter(({ place, strong }) => strong && places.get(place)?.size === 1)
      .map(({ trade }) => trade),
  );
  const cores = new Set(candidates.filter(({ core }) => core).map(({ place }) => place));
  const isMeant = (trade: Trade) => sure.has(trade) || implied.has(trade);
  return candidates.map((one) => {
    const meanings = [...(places.get(one.place) ?? [])];
    if (meanings.length === 1 || isMeant(one.trade)) return one;
    const isOutdone = meanings.some(isMeant) || (!one.core && cores.has(one.place));
    return isOutdone ? { ...one, strong: false } : one;
  });
}
