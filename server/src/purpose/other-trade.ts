import type { Conflict } from './conflicts.ts';
import { ENOUGH_SUPPORT, type Fit } from './fit.ts';
import { isPrivate } from './language/lexicon.ts';
import { privateGoods } from './private-life.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { SpendReading, TermMatch } from './reading/spend-reading.ts';

/** Families that even the broadest purpose does not cover unless it names them. */
export const NEVER_MEANT: ReadonlySet<string> = new Set(['gambling', 'adult', 'cash_like']);

function outOfScopeConflict(match: TermMatch, authority: AuthorityReading): Conflict {
  const wanted = [...authority.trades].filter(([, quote]) => quote.strong).map(([trade]) => trade.label);
  const quote = [...authority.trades.values()].find((one) => one.strong);
  const about = wanted.length === 0 ? '' : `; it is about ${wanted.slice(0, 3).join(', ')}`;
  return {
    evidence: [
      { field: match.field, text: match.text, effect: 'conflicts' },
      ...(quote === undefined
        ? []
        : [{ field: quote.field, text: quote.text, effect: 'conflicts' as const }]),
    ],
    sentence: `"${match.text}" belongs to ${match.trades[0]?.label ?? 'another trade'}, which the purpose does not speak of${about}.`,
    confidence: match.trades.every(isPrivate) ? 0.8 : 0.65,
  };
}

/**
 * Conflict: the purchase clearly belongs to another trade. It is for goods of private life, it has several words of
 * trades out of scope, or its merchant is a company known for such a trade. One stray word is not clear enough. For a
 * purpose that may mean nearly anything no trade is out of scope, except `NEVER_MEANT`.
 */
export function otherTrade(spend: SpendReading, authority: AuthorityReading, fit: Fit): Conflict | undefined {
  const claimed = spend.category_matches.find(
    (one) =>
      one.strong &&
      one.trades.every((trade) => NEVER_MEANT.has(trade.family) && !authority.trades.has(trade)),
  );
  if (claimed !== undefined) return outOfScopeConflict(claimed, authority);
  const vice = [fit.merchant_out_of_scope, fit.goods_out_of_scope].find((one) =>
    one?.trades.some((trade) => NEVER_MEANT.has(trade.family)),
  );
  const isOutright = vice?.trades.every((trade) => trade.family === 'gambling');
  if (vice !== undefined && (isOutright || fit.goods_support < 0.5))
    return outOfScopeConflict(vice, authority);
  if (authority.broad || authority.families.size === 0 || fit.goods_support >= 0.5) return undefined;
  const { goods_out_of_scope, merchant_out_of_scope, merchant_support } = fit;
  if (goods_out_of_scope !== undefined) {
    const isKnownCompany = merchant_out_of_scope?.kind === 'company';
    const several = fit.out_of_scope_count > 1 && merchant_support < ENOUGH_SUPPORT;
    const agree =
      merchant_out_of_scope?.trades.some((trade) => goods_out_of_scope.trades.includes(trade)) === true;
    if (privateGoods([goods_out_of_scope]) !== undefined || several || agree || isKnownCompany) {
      return outOfScopeConflict(goods_out_of_scope, authority);
    }
  }
  return merchant_out_of_scope?.kind === 'company'
    ? outOfScopeConflict(merchant_out_of_scope, authority)
    : undefined;
}
