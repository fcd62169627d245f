import type { PurposeEvidence } from '../domain/assessment.ts';
import type { Trade } from './data/trades.ts';
import { carriesMeaning, LOOSE_STEMS, NAME_COMPANIONS } from './language/everyday-words.ts';
import { plainAccount } from './language/figures.ts';
import { isPrivate } from './language/lexicon.ts';
import { MAX_TEXT_LENGTH, type Token } from './language/text.ts';
import { isLedBy } from './payees.ts';
import { OWN_NUMBER, SHINGLE_LENGTH, saidIn, shinglesOf } from './reading/authority-reading.ts';
import type { AuthorityReading, Quote, WantedTrade } from './reading/authority-terms.ts';
import type { SpendReading, TermMatch } from './reading/spend-reading.ts';

/** How well merchant and goods match what the operator wants. */
export interface Fit {
  /** From `ENOUGH_SUPPORT` (1) on, the spend is what the operator wants. */
  support: number;
  supports: PurposeEvidence[];
  /** Support from the description alone. */
  goods_support: number;
  merchant_support: number;
  /** A match in a trade that the operator does not mention. */
  goods_out_of_scope: TermMatch | undefined;
  merchant_out_of_scope: TermMatch | undefined;
  /** The operator wrote this payee's name and account down. */
  account_known: boolean;
  /** The operator wrote this merchant's name down. */
  merchant_named: boolean;
  /** Some support comes from the objective itself, and not only from the context. */
  grounded: boolean;
  /** How many different words of the description belong to trades that are out of scope. */
  out_of_scope_count: number;
  /** The description repeats the purpose word for word, which says nothing about what is bought. */
  echoes_purpose: boolean;
}

/** With this much support, what is bought is what the operator wants. */
export const ENOUGH_SUPPORT = 1;

type Relation = 'in_scope' | 'hinted' | 'adjacent' | 'out_of_scope' | 'unknown';

/** `known`: a company that is known for its trade, where the purpose names the trade only broadly. */
const STRENGTH = { strong: 1, known: 0.8, weak: 0.5, both_weak: 0.2 } as const;
const WORD_SUPPORT = 0.6;
const LOOSE_SUPPORT = 0.15;
const NAME_RUN_SUPPORT = 0.5;
const NAME_TRADE_SUPPORT = 0.8;

/**
 * How trades relate to the purpose: `in_scope` is wanted by name, `hinted` only hinted at, `adjacent` a neighbour of
 * something wanted, `out_of_scope` none of these, `unknown` where the purpose names no trades.
 */
function relationOf(
  trades: readonly Trade[],
  authority: AuthorityReading,
): { relation: Relation; quote?: Quote; implied?: boolean } {
  let hinted: WantedTrade | undefined;
  let isConditional = false;
  for (const trade of trades) {
    const quote = authority.trades.get(trade);
    if (quote?.strong) return { relation: 'in_scope', quote };
    if (quote?.conditional) isConditional = true;
    else hinted ??= quote;
  }
  if (hinted !== undefined) return { relation: 'hinted', quote: hinted, implied: hinted.implied };
  if (isConditional) return { relation: 'adjacent' };
  if (authority.families.size === 0) return { relation: 'unknown' };
  return {
    relation: trades.some((trade) => authority.families.has(trade.family)) ? 'adjacent' : 'out_of_scope',
  };
}

function supportsFrom(
  evidence: Map<string, number>,
  match: TermMatch,
  score: number,
  supports: PurposeEvidence[],
  quote: Quote,
) {
  const key = `${match.field}:${match.text}`;
  if ((evidence.get(key) ?? 0) >= score) return;
  evidence.set(key, score);
  supports.push({ field: match.field, text: match.text, effect: 'supports' });
  if (!supports.some((one) => one.field === quote.field && one.text === quote.text)) {
    supports.push({ field: quote.field, text: quote.text.slice(0, 160), effect: 'supports' });
  }
}

/** Scores matches against the purpose. `corroborated`: trades that another part of the spend names as well. */
function weigh(
  matches: readonly TermMatch[],
  authority: AuthorityReading,
  supports: PurposeEvidence[],
  corroborated: ReadonlySet<Trade>,
) {
  const scored = new Map<string, number>();
  let total = 0;
  let worst: TermMatch | undefined;
  const out_of_scope = new Set<string>();
  for (const match of matches) {
    const found = relationOf(match.trades, authority);
    // A trade that only a broad word of the purpose implies needs a word of one meaning, or two parts of the spend.
    if (found.implied === true && !match.strong && !match.trades.some((trade) => corroborated.has(trade)))
      continue;
    if (found.quote !== undefined) {
      const known = scored.get(`${match.field}:${match.text}`) ?? 0;
      const full = found.relation === 'in_scope' && match.strong;
      const isKnown = match.kind === 'company' && match.field === 'action.merchant';
      const score = full
        ? STRENGTH.strong
        : isKnown && match.strong
          ? STRENGTH.known
          : found.relation === 'in_scope' || match.strong
            ? STRENGTH.weak
            : STRENGTH.both_weak;
      if (score > known) total += score - known;
      supportsFrom(scored, match, score, supports, found.quote);
    } else if (found.relation === 'out_of_scope' && match.strong) {
      out_of_scope.add(match.text);
      worst =
        worst === undefined || (!worst.trades.every(isPrivate) && match.trades.every(isPrivate))
          ? match
          : worst;
    }
  }
  return { total, worst, count: out_of_scope.size };
}

/** True if the operator wrote the payee's account down behind this merchant's name. */
function namesAccount(spend: SpendReading, authority: AuthorityReading): boolean {
  const lead = authority.accounts.get(plainAccount(spend.request.action.payee_id ?? ''));
  return lead !== undefined && isLedBy(spend, lead);
}

/** The merchant's whole name, if the operator's text contains it word for word. */
function wholeNameIn(
  spend: SpendReading,
  authority: AuthorityReading,
): { name: string; quote: Quote } | undefined {
  const words = spend.merchant_tokens.filter((token) => !NAME_COMPANIONS.has(token.stem));
  if (words.length < 2 && !words.some((token) => authority.names.has(token.word))) return undefined;
  if (!words.some(carriesMeaning)) return undefined;
  const phrase = words.map((token) => token.word).join(' ');
  const quote = saidIn(authority, phrase);
  return quote === undefined ? undefined : { name: words.map((token) => token.raw).join(' '), quote };
}

/** True for a word that says what the merchant sells: many merchants have it in their names. */
const isTradeWord = (spend: SpendReading, token: Token): boolean =>
  spend.merchant_matches.some((one) => one.kind === 'word' && one.text.split(' ').includes(token.raw));

/** Support from names that the operator wrote: a title of two words counts for more than a single name. */
function namesShared(spend: SpendReading, authority: AuthorityReading, supports: PurposeEvidence[]): number {
  const isName = (token: Token | undefined) =>
    token !== undefined && /^\p{Lu}/u.test(token.raw) && authority.names.has(token.word);
  let best = 0;
  for (let at = 0; at < spend.description_tokens.length; at += 1) {
    let end = at;
    while (isName(spend.description_tokens[end])) end += 1;
    if (end === at) continue;
    const run = spend.description_tokens.slice(at, end);
    const phrase = run.map((token) => token.word).join(' ');
    const score =
      run.length > 1 && saidIn(authority, phrase) !== undefined ? NAME_RUN_SUPPORT : LOOSE_SUPPORT;
    if (score > best) {
      best = score;
      const quote = authority.names.get(run[0]?.word ?? '');
      supports.push({
        field: 'action.description',
        text: run.map((token) => token.raw).join(' '),
        effect: 'supports',
      });
      if (quote !== undefined) supports.push({ field: quote.field, text: quote.text, effect: 'supports' });
    }
    at = end;
  }
  return best;
}

/** A number in the description that the operator wrote down, or that is built like the operator's own numbers. */
function numbersShared(
  spend: SpendReading,
  authority: AuthorityReading,
  supports: PurposeEvidence[],
): number {
  if (!/\d/.test(spend.description.text)) return 0;
  const support = (text: string, quote: Quote): number => {
    supports.push({ field: 'action.description', text, effect: 'supports' });
    supports.push({ field: quote.field, text: quote.text, effect: 'supports' });
    return NAME_RUN_SUPPORT;
  };
  for (const match of spend.description.text.slice(0, MAX_TEXT_LENGTH).matchAll(OWN_NUMBER)) {
    const quote = authority.number_prefixes.get(match[1] ?? '');
    if (quote !== undefined) return support(match[0], quote);
  }
  for (const [at, token] of spend.description_tokens.entries()) {
    const before = spend.description_tokens[at - 1];
    if (before === undefined || !/^\d{2,6}$/.test(token.word) || !NUMBERED.test(before.word)) continue;
    if (!carriesMeaning(before) || !authority.words.has(before.stem)) continue;
    const quote = saidIn(authority, token.word);
    if (quote !== undefined) return support(`${before.raw} ${token.raw}`, quote);
  }
  return 0;
}

const NUMBERED = /^\p{L}{2,20}$/u;

/** True if the description repeats a run of the operator's own words. */
function repeatsPurpose(spend: SpendReading, authority: AuthorityReading): boolean {
  const { description_tokens: tokens } = spend;
  return tokens.some(
    (token, at) =>
      authority.shingle_starts.has(token.word) &&
      shinglesOf(tokens.slice(at, at + SHINGLE_LENGTH)).some((run) => authority.shingles.has(run)),
  );
}

const NONE: ReadonlySet<Trade> = new Set();

/** From this share of literal words on, a description says what the objective says. */
const MOSTLY = 0.5;
/** Longer runs of letters are no words: a purpose and a spend that share one say nothing by it. */
const MAX_WORD_LENGTH = 40;

/** Share, 0..1, of the description's meaningful words that occur in the objective itself. */
function literalShare(spend: SpendReading, authority: AuthorityReading): number {
  const said = spend.description_tokens.filter(
    (token) =>
      carriesMeaning(token) &&
      !LOOSE_STEMS.has(token.stem) &&
      !/\d/.test(token.word) &&
      token.word.length <= MAX_WORD_LENGTH,
  );
  const isWeak = (token: Token) =>
    spend.description_matches.some((one) => spend.description_tokens[one.at] === token && !one.strong);
  const isWanted = (token: Token) => {
    const quote = authority.words.get(token.stem);
    return (
      !isWeak(token) &&
      quote !== undefined &&
      !quote.loose &&
      quote.field === 'purpose.objective' &&
      !authority.names.has(token.word)
    );
  };
  return said.length === 0 ? 0 : said.filter(isWanted).length / said.length;
}

/**
 * Compares what is bought with what the operator wrote. Only merchant and description count, never task, category or
 * trace. Takes time linear in the length of the request.
 */
export function fitOf(spend: SpendReading, authority: AuthorityReading): Fit {
  const supports: PurposeEvidence[] = [];
  const echoes_purpose = repeatsPurpose(spend, authority);
  const merchant = weigh(spend.merchant_matches, authority, supports, NONE);
  const known_for = spend.merchant_matches
    .filter((one) => one.kind === 'company')
    .flatMap((one) => one.trades);
  const goods = echoes_purpose
    ? { total: 0, worst: undefined, count: 0 }
    : weigh(spend.description_matches, authority, supports, new Set(known_for));

  const whole = wholeNameIn(spend, authority);
  const named =
    whole === undefined
      ? spend.merchant_tokens.find(
          (token) =>
            token.word.length > 2 &&
            carriesMeaning(token) &&
            authority.names.has(token.word) &&
            !LOOSE_STEMS.has(token.stem),
        )
      : spend.merchant_tokens[0];
  // A trade in a merchant's name is only the merchant's claim, so it is not enough for goods that say nothing.
  const known = spend.merchant_matches.some((one) => one.kind === 'company');
  const silent = spend.description_tokens.filter(carriesMeaning).length === 0;
  let merchant_support = Math.min(known || silent ? 1 : NAME_TRADE_SUPPORT, merchant.total);
  if (named !== undefined) {
    const quote = whole?.quote ?? authority.names.get(named.word);
    const certain = whole !== undefined || !isTradeWord(spend, named);
    merchant_support = spend.known.general || !certain ? Math.max(WORD_SUPPORT, merchant_support) : 1;
    supports.push({ field: 'action.merchant', text: whole?.name ?? named.raw, effect: 'supports' });
    if (quote !== undefined) supports.push({ field: quote.field, text: quote.text, effect: 'supports' });
  }

  const account_known = namesAccount(spend, authority);
  if (account_known) {
    merchant_support = 1;
    supports.push({
      field: 'action.payee_id',
      text: spend.request.action.payee_id ?? '',
      effect: 'supports',
    });
  }

  let words = echoes_purpose
    ? 0
    : Math.max(namesShared(spend, authority, supports), numbersShared(spend, authority, supports));
  if (!echoes_purpose) {
    const seen = new Set<string>();
    for (let at = 0; at < spend.description_tokens.length; at += 1) {
      const token = spend.description_tokens[at] as Token;
      const quote = authority.words.get(token.stem);
      if (quote === undefined || seen.has(token.stem) || !carriesMeaning(token)) continue;
      seen.add(token.stem);
      // A word that already counted as its trade does not count again, unless that trade is out of scope.
      const isCounted = (one: TermMatch) =>
        one.strong &&
        at >= one.at &&
        at < one.at + one.length &&
        relationOf(one.trades, authority).relation !== 'out_of_scope';
      if (spend.description_matches.some(isCounted)) continue;
      // Criteria and context describe circumstances: their words alone do not make a purchase wanted.
      const firm = !quote.loose && quote.field === 'purpose.objective';
      words += firm ? WORD_SUPPORT : LOOSE_SUPPORT;
      if (firm) {
        supports.push({ field: 'action.description', text: token.raw, effect: 'supports' });
        supports.push({ field: quote.field, text: quote.text, effect: 'supports' });
      }
    }
  }
  const literal = echoes_purpose ? 0 : literalShare(spend, authority);
  const goods_support = Math.max(goods.total + Math.min(words, 1.2), literal >= MOSTLY ? ENOUGH_SUPPORT : 0);
  return {
    support: merchant_support + goods_support,
    supports,
    goods_support,
    merchant_support,
    goods_out_of_scope: goods.worst,
    merchant_out_of_scope: named === undefined && merchant.total === 0 ? merchant.worst : undefined,
    account_known,
    merchant_named: named !== undefined,
    grounded: supports.some((one) => one.field === 'purpose.objective'),
    out_of_scope_count: goods.count,
    echoes_purpose,
  };
}
