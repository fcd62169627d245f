import type { Conflict } from './conflicts.ts';
import { ENOUGH_SUPPORT, type Fit } from './fit.ts';
import { isPrivate } from './language/lexicon.ts';
import { privateGoods } from './private-life.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { Sighting, SpendReading } from './reading/spend-reading.ts';

/** Families that even a purpose without borders does not cover unless it says so. */
export const NEVER_MEANT: ReadonlySet<string> = new Set(['gambling', 'adult', 'cash_like']);

function foreignConflict(sighting: Sighting, authority: AuthorityReading): Conflict {
  const wanted = [...authority.trades].filter(([, quote]) => quote.strong).map(([trade]) => trade.label);
  const quote = [...authority.trades.values()].find((one) => one.strong);
  const about = wanted.length === 0 ? '' : `; it is about ${wanted.slice(0, 3).join(', ')}`;
  return {
    evidence: [
      { field: sighting.field, text: sighting.text, effect: 'conflicts' },
      ...(quote === undefined
        ? []
        : [{ field: quote.field, text: quote.text, effect: 'conflicts' as const }]),
    ],
    sentence: `"${sighting.text}" belongs to ${sighting.trades[0]?.label ?? 'another trade'}, which the purpose does not speak of${about}.`,
    confidence: sighting.trades.every(isPrivate) ? 0.8 : 0.65,
  };
}

/**
 * A purchase of a clearly different trade: goods of private life, several words of foreign trades, or a company known
 * for nothing that the purpose speaks of. One stray word of another business is not clear enough. A purpose that may
 * mean nearly anything has no foreign trades.
 */
export function otherTrade(spend: SpendReading, authority: AuthorityReading, fit: Fit): Conflict | undefined {
  const claimed = spend.categorySightings.find(
    (one) =>
      one.strong &&
      one.trades.every((trade) => NEVER_MEANT.has(trade.family) && !authority.trades.has(trade)),
  );
  if (claimed !== undefined) return foreignConflict(claimed, authority);
  const vice = [fit.foreignMerchant, fit.foreignGoods].find((one) =>
    one?.trades.some((trade) => NEVER_MEANT.has(trade.family)),
  );
  const isOutright = vice?.trades.every((trade) => trade.family === 'gambling');
  if (vice !== undefined && (isOutright || fit.goods_support < 0.5)) return foreignConflict(vice, authority);
  if (authority.broad || authority.families.size === 0 || fit.goods_support >= 0.5) return undefined;
  const { foreignGoods, foreignMerchant, merchant_support } = fit;
  if (foreignGoods !== undefined) {
    const isCompanyForeign = foreignMerchant?.kind === 'company';
    const several = fit.foreign_count > 1 && merchant_support < ENOUGH_SUPPORT;
    const agree = foreignMerchant?.trades.some((trade) => foreignGoods.trades.includes(trade)) === true;
    if (privateGoods([foreignGoods]) !== undefined || several || agree || isCompanyForeign) {
      return foreignConflict(foreignGoods, authority);
    }
  }
  return foreignMerchant?.kind === 'company' ? foreignConflict(foreignMerchant, authority) : undefined;
}
