import type { PurposeEvidence } from '../domain/assessment.ts';
import { plainAccount } from './language/figures.ts';
import { carriesMeaning, isPrivate, LOOSE_STEMS, NAME_COMPANIONS, type Trade } from './language/lexicon.ts';
import { MAX_TEXT_LENGTH, type Token } from './language/text.ts';
import { isLedBy } from './payees.ts';
import { OWN_NUMBER, SHINGLE_LENGTH, saidIn, shinglesOf } from './reading/authority-reading.ts';
import type { AuthorityReading, Quote, WantedTrade } from './reading/authority-terms.ts';
import type { Sighting, SpendReading } from './reading/spend-reading.ts';

/** How far merchant and goods are what the operator wants. */
export interface Fit {
  /** 1 or more: enough to stand on. */
  support: number;
  supports: PurposeEvidence[];
  /** Of the description alone. */
  goods_support: number;
  merchant_support: number;
  /** What belongs to a trade the operator does not speak of. */
  foreignGoods: Sighting | undefined;
  foreignMerchant: Sighting | undefined;
  /** The operator wrote this payee's name and account down. */
  account_known: boolean;
  /** The operator wrote this merchant's name down. */
  merchant_named: boolean;
  /** Something rests on the objective itself, not only on names and circumstances in the context. */
  grounded: boolean;
  /** How many different words of the description are foreign. */
  foreign_count: number;
  /** The description repeats the purpose word for word, which says nothing about what is bought. */
  parrots: boolean;
}

/** With this much support, what is bought is what the operator wants. */
export const ENOUGH_SUPPORT = 1;

type Bearing = 'wanted' | 'hinted' | 'near' | 'foreign' | 'none';

/** `known`: a company that is known for its trade, where the purpose speaks of the trade only broadly. */
const STRENGTH = { strong: 1, known: 0.8, weak: 0.5, both_weak: 0.2 } as const;
const WORD_SUPPORT = 0.6;
const LOOSE_SUPPORT = 0.15;
const NAME_RUN_SUPPORT = 0.5;
const NAME_TRADE_SUPPORT = 0.8;

/** How trades stand to the purpose: wanted by name, hinted at, neighbours of something wanted, or foreign. */
function bearing(
  trades: readonly Trade[],
  authority: AuthorityReading,
): { bearing: Bearing; quote?: Quote; implied?: boolean } {
  let hinted: WantedTrade | undefined;
  let isConditional = false;
  for (const trade of trades) {
    const quote = authority.trades.get(trade);
    if (quote?.strong) return { bearing: 'wanted', quote };
    if (quote?.conditional) isConditional = true;
    else hinted ??= quote;
  }
  if (hinted !== undefined) return { bearing: 'hinted', quote: hinted, implied: hinted.implied };
  if (isConditional) return { bearing: 'near' };
  if (authority.families.size === 0) return { bearing: 'none' };
  return { bearing: trades.some((trade) => authority.families.has(trade.family)) ? 'near' : 'foreign' };
}

function supportsFrom(
  evidence: Map<string, number>,
  sighting: Sighting,
  score: number,
  supports: PurposeEvidence[],
  quote: Quote,
) {
  const key = `${sighting.field}:${sighting.text}`;
  if ((evidence.get(key) ?? 0) >= score) return;
  evidence.set(key, score);
  supports.push({ field: sighting.field, text: sighting.text, effect: 'supports' });
  if (!supports.some((one) => one.field === quote.field && one.text === quote.text)) {
    supports.push({ field: quote.field, text: quote.text.slice(0, 160), effect: 'supports' });
  }
}

/** `seconded`: trades that something else of the spend speaks of. */
function weigh(
  sightings: readonly Sighting[],
  authority: AuthorityReading,
  supports: PurposeEvidence[],
  seconded: ReadonlySet<Trade>,
) {
  const scored = new Map<string, number>();
  let total = 0;
  let foreign: Sighting | undefined;
  const strangers = new Set<string>();
  for (const sighting of sightings) {
    const found = bearing(sighting.trades, authority);
    // What a broad word of the purpose only brings with it is spoken for by words of one meaning, or by two things.
    if (found.implied === true && !sighting.strong && !sighting.trades.some((trade) => seconded.has(trade)))
      continue;
    if (found.quote !== undefined) {
      const known = scored.get(`${sighting.field}:${sighting.text}`) ?? 0;
      const full = found.bearing === 'wanted' && sighting.strong;
      const isKnown = sighting.kind === 'company' && sighting.field === 'action.merchant';
      const score = full
        ? STRENGTH.strong
        : isKnown && sighting.strong
          ? STRENGTH.known
          : found.bearing === 'wanted' || sighting.strong
            ? STRENGTH.weak
            : STRENGTH.both_weak;
      if (score > known) total += score - known;
      supportsFrom(scored, sighting, score, supports, found.quote);
    } else if (found.bearing === 'foreign' && sighting.strong) {
      strangers.add(sighting.text);
      foreign =
        foreign === undefined || (!foreign.trades.every(isPrivate) && sighting.trades.every(isPrivate))
          ? sighting
          : foreign;
    }
  }
  return { total, foreign, count: strangers.size };
}

/** Whether the payee's account is one that the operator wrote down behind this merchant's name. */
function namesAccount(spend: SpendReading, authority: AuthorityReading): boolean {
  const lead = authority.accounts.get(plainAccount(spend.request.action.payee_id ?? ''));
  return lead !== undefined && isLedBy(spend, lead);
}

/** The merchant's whole name, where the operator's text has it word by word. */
function wholeNameIn(
  spend: SpendReading,
  authority: AuthorityReading,
): { name: string; quote: Quote } | undefined {
  const words = spend.merchantTokens.filter((token) => !NAME_COMPANIONS.has(token.stem));
  if (words.length < 2 && !words.some((token) => authority.names.has(token.word))) return undefined;
  if (!words.some(carriesMeaning)) return undefined;
  const phrase = words.map((token) => token.word).join(' ');
  const quote = saidIn(authority, phrase);
  return quote === undefined ? undefined : { name: words.map((token) => token.raw).join(' '), quote };
}

/** The word says what the merchant sells, so that many merchants carry it. */
const isTradeWord = (spend: SpendReading, token: Token): boolean =>
  spend.merchantSightings.some((one) => one.kind === 'word' && one.text.split(' ').includes(token.raw));

/** How much the names in the description are the operator's own: a title of two words says more than one name. */
function namesShared(spend: SpendReading, authority: AuthorityReading, supports: PurposeEvidence[]): number {
  const isName = (token: Token | undefined) =>
    token !== undefined && /^\p{Lu}/u.test(token.raw) && authority.names.has(token.word);
  let best = 0;
  for (let at = 0; at < spend.descriptionTokens.length; at += 1) {
    let end = at;
    while (isName(spend.descriptionTokens[end])) end += 1;
    if (end === at) continue;
    const run = spend.descriptionTokens.slice(at, end);
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
  for (const [at, token] of spend.descriptionTokens.entries()) {
    const before = spend.descriptionTokens[at - 1];
    if (before === undefined || !/^\d{2,6}$/.test(token.word) || !NUMBERED.test(before.word)) continue;
    if (!carriesMeaning(before) || !authority.words.has(before.stem)) continue;
    const quote = saidIn(authority, token.word);
    if (quote !== undefined) return support(`${before.raw} ${token.raw}`, quote);
  }
  return 0;
}

const NUMBERED = /^\p{L}{2,20}$/u;

/** Whether the description repeats a run of the operator's own words. */
function repeatsPurpose(spend: SpendReading, authority: AuthorityReading): boolean {
  const { descriptionTokens: tokens } = spend;
  return tokens.some(
    (token, at) =>
      authority.shingle_starts.has(token.word) &&
      shinglesOf(tokens.slice(at, at + SHINGLE_LENGTH)).some((run) => authority.shingles.has(run)),
  );
}

const NONE: ReadonlySet<Trade> = new Set();

/** From this share on, a description says just what the objective says. */
const MOSTLY = 0.5;
/** A longer one is no word: a purpose and a spend of the same endless letters say nothing. */
const MAX_WORD_LENGTH = 40;

/** Share of the description's words of meaning that stand in the objective itself, 0..1. */
function literalShare(spend: SpendReading, authority: AuthorityReading): number {
  const said = spend.descriptionTokens.filter(
    (token) =>
      carriesMeaning(token) &&
      !LOOSE_STEMS.has(token.stem) &&
      !/\d/.test(token.word) &&
      token.word.length <= MAX_WORD_LENGTH,
  );
  const isWeak = (token: Token) =>
    spend.descriptionSightings.some((one) => spend.descriptionTokens[one.at] === token && !one.strong);
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
 * Weighs what is bought against what the operator wrote. Only merchant and description count, never task, category
 * or trace. Linear in the length of the request.
 */
export function fitOf(spend: SpendReading, authority: AuthorityReading): Fit {
  const supports: PurposeEvidence[] = [];
  const parrots = repeatsPurpose(spend, authority);
  const merchant = weigh(spend.merchantSightings, authority, supports, NONE);
  const known_for = spend.merchantSightings
    .filter((one) => one.kind === 'company')
    .flatMap((one) => one.trades);
  const goods = parrots
    ? { total: 0, foreign: undefined, count: 0 }
    : weigh(spend.descriptionSightings, authority, supports, new Set(known_for));

  const whole = wholeNameIn(spend, authority);
  const named =
    whole === undefined
      ? spend.merchantTokens.find(
          (token) =>
            token.word.length > 2 &&
            carriesMeaning(token) &&
            authority.names.has(token.word) &&
            !LOOSE_STEMS.has(token.stem),
        )
      : spend.merchantTokens[0];
  // What a name says of its trade is the merchant's own word: with goods that say nothing it is not enough.
  const known = spend.merchantSightings.some((one) => one.kind === 'company');
  const silent = spend.descriptionTokens.filter(carriesMeaning).length === 0;
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

  let words = parrots
    ? 0
    : Math.max(namesShared(spend, authority, supports), numbersShared(spend, authority, supports));
  if (!parrots) {
    const seen = new Set<string>();
    for (let at = 0; at < spend.descriptionTokens.length; at += 1) {
      const token = spend.descriptionTokens[at] as Token;
      const quote = authority.words.get(token.stem);
      if (quote === undefined || seen.has(token.stem) || !carriesMeaning(token)) continue;
      seen.add(token.stem);
      // A word that a trade has counted already is not counted twice, unless it could have meant something else.
      const isCounted = (one: Sighting) =>
        one.strong &&
        at >= one.at &&
        at < one.at + one.length &&
        bearing(one.trades, authority).bearing !== 'foreign';
      if (spend.descriptionSightings.some(isCounted)) continue;
      // Criteria and context tell circumstances; their words alone do not make a purchase wanted.
      const firm = !quote.loose && quote.field === 'purpose.objective';
      words += firm ? WORD_SUPPORT : LOOSE_SUPPORT;
      if (firm) {
        supports.push({ field: 'action.description', text: token.raw, effect: 'supports' });
        supports.push({ field: quote.field, text: quote.text, effect: 'supports' });
      }
    }
  }
  const literal = parrots ? 0 : literalShare(spend, authority);
  const goods_support = Math.max(goods.total + Math.min(words, 1.2), literal >= MOSTLY ? ENOUGH_SUPPORT : 0);
  return {
    support: merchant_support + goods_support,
    supports,
    goods_support,
    merchant_support,
    foreignGoods: goods.foreign,
    foreignMerchant: named === undefined && merchant.total === 0 ? merchant.foreign : undefined,
    account_known,
    merchant_named: named !== undefined,
    grounded: supports.some((one) => one.field === 'purpose.objective'),
    foreign_count: goods.count,
    parrots,
  };
}
