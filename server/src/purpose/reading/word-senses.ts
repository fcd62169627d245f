import type { Trade } from '../language/lexicon.ts';
import type { Quote } from './authority-terms.ts';

/** A trade that a word of the operator's may speak of. `place`: the same for all trades of one word. */
export interface Spoken {
  trade: Trade;
  place: string;
  quote: Quote;
  strong: boolean;
  core: boolean;
}

/**
 * A word of several trades ("gloves") means the one that other words of the purpose speak of too, where there is one:
 * for the others it is only a hint. So it is for what the long lists add to a word that a trade has as its own.
 */
export function inOneSense(spoken: readonly Spoken[], implied: ReadonlyMap<Trade, unknown>): Spoken[] {
  const places = new Map<string, Set<Trade>>();
  for (const { place, trade } of spoken) places.set(place, (places.get(place) ?? new Set()).add(trade));
  const sure = new Set(
    spoken.filter(({ place, strong }) => strong && places.get(place)?.size === 1).map(({ trade }) => trade),
  );
  const cores = new Set(spoken.filter(({ core }) => core).map(({ place }) => place));
  const isMeant = (trade: Trade) => sure.has(trade) || implied.has(trade);
  return spoken.map((one) => {
    const meanings = [...(places.get(one.place) ?? [])];
    if (meanings.length === 1 || isMeant(one.trade)) return one;
    const isOutdone = meanings.some(isMeant) || (!one.core && cores.has(one.place));
    return isOutdone ? { ...one, strong: false } : one;
  });
}
