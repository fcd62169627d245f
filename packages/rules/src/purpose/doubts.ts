import type { PurposeEvidence } from '../domain/assessment.ts';
import { conflictsWith, type Inquiry, MAX_QUOTE_LENGTH } from './conflicts/conflict.ts';
import { isOnlyRefund, isSameMerchant } from './conflicts/own-spends.ts';
import { RAIL_WORDS } from './data/constraint-language.ts';
import { PAYS_BILL } from './data/spend-language.ts';
import type { Trade } from './data/trades.ts';
import { carriesMeaning, LOOSE_STEMS } from './language/everyday-words.ts';
import { plainAccount } from './language/figures.ts';
import { tradesOfWord } from './language/lexicon.ts';
import type { Token } from './language/text.ts';
import type { AuthorityReading, Requirement } from './reading/authority-terms.ts';
import type { Quote } from './reading/named-merchants.ts';
import { precedentsAt } from './reading/precedents.ts';
import { claimsToBe, type SpendReading } from './reading/spend-reading.ts';
import type { Vouched } from './vouching.ts';

/** Why a spend that something vouches for is not aligned all the same. */
export interface Doubt {
  sentence: string;
  evidence: PurposeEvidence[];
}

/**
 * True if the word is the operator's, speaks of a trade that the purpose wants, or says nothing about goods. `knows_jargon`:
 * words that no table has are taken for the trade's own.
 */
function isExplained(
  token: Token,
  { words, trades }: AuthorityReading,
  known: readonly Trade[],
  knows_jargon: boolean,
): boolean {
  if (!carriesMeaning(token) || LOOSE_STEMS.has(token.stem) || /\d/.test(token.word)) return true;
  if (words.get(token.stem)?.field.startsWith('purpose.constraints') === false) return true;
  const own = tradesOfWord(token);
  if (own.length === 0) return knows_jargon;
  return own.some((trade) => known.includes(trade) || trades.get(trade)?.conditional === false);
}

/**
 * A word of the description that speaks of a trade which the purpose does not want, and that nobody allowed there before.
 * Who sells everything, and whom only the tables know, is vouched for just as far as every word is explained.
 */
function unexplained(inquiry: Inquiry, { voucher, is_chosen }: Vouched): Doubt | undefined {
  const { purpose, spend } = inquiry;
  const familiar = is_chosen ? familiarWords(inquiry) : NOTHING;
  const { trades: known } = voucher.by === 'TRADE' ? spend.known : { trades: [] };
  const knows_jargon = voucher.by !== 'TRADE' && !spend.known.general;
  const word = spend.description.tokens.find(
    (token) => !familiar.has(token.stem) && !isExplained(token, purpose, known, knows_jargon),
  );
  if (word === undefined) return undefined;
  const where = spend.known.general ? 'sells nearly everything' : `is ${voucher.says}`;
  return {
    sentence: `The description mentions "${word.raw}", which nothing explains. "${spend.merchant.raw}" ${where}.`,
    evidence: [{ field: 'action.description', text: word.raw, effect: 'conflicts' }],
  };
}

const NOTHING: ReadonlySet<string> = new Set();

/** Words of spends that people allowed at this merchant or payee, and of none that they refused there. */
function familiarWords({ facts, spend }: Inquiry): ReadonlySet<string> {
  const known = precedentsAt(facts, spend.request.action);
  if (known.length === 0) return NOTHING;
  const words = new Set<string>();
  for (const one of known) {
    for (const [word, { allowed, refused }] of one.words) if (allowed > 0 && refused === 0) words.add(word);
  }
  return words;
}

/** True if a condition is about this spend. What would exempt it is not read, because the agent could write it. */
function isMeant(one: Requirement, spend: SpendReading): boolean {
  if (one.about_payment) return PAYS_BILL.test(spend.request.action.type.toLowerCase());
  if (one.subject.size === 0) return true;
  if (spend.description_matches.some(({ trades }) => trades.some((trade) => one.subject_trades.has(trade))))
    return true;
  return one.needs_all
    ? one.decisive.every((stem) => claimsToBe(spend, stem))
    : one.decisive.some((stem) => claimsToBe(spend, stem));
}

const quoted = (text: string): string => `"${text.slice(0, MAX_QUOTE_LENGTH)}"`;

/** A condition that only the agent's words could show to hold. */
function unshown({ purpose, spend }: Inquiry, { is_chosen }: Vouched): Doubt | undefined {
  if (is_chosen) return undefined;
  const jargon = spend.description.tokens.some((token) => isJargon(token, purpose));
  // A word that nobody has a table for may be what a condition is about.
  const found = purpose.requirements.find(
    (one) => isMeant(one, spend) || (jargon && one.field.startsWith('purpose.constraints')),
  );
  if (found === undefined) return undefined;
  return {
    sentence: `The purpose sets a condition that only the agent's own words claim to meet: ${quoted(found.text)}.`,
    evidence: [conflictsWith(found.field, found.text)],
  };
}

/** A word that neither the operator uses nor any list has. */
const isJargon = (token: Token, { words }: AuthorityReading): boolean =>
  carriesMeaning(token) &&
  !LOOSE_STEMS.has(token.stem) &&
  !/\d/.test(token.word) &&
  !words.has(token.stem) &&
  tradesOfWord(token).length === 0;

/** The purpose keeps to a list or to what is asked for, and nothing but the agent's words says that this spend does. */
function unlisted({ purpose }: Inquiry, { is_chosen, voucher }: Vouched): Doubt | undefined {
  if (is_chosen) return undefined;
  const found = purpose.bounds.find(({ to }) => to !== 'named sellers' || voucher.by === 'TRADE');
  if (found === undefined) return undefined;
  return {
    sentence: `The purpose allows only ${found.to}, and only the agent's own words claim that this is one: ${quoted(found.text)}.`,
    evidence: [conflictsWith(found.field, found.text)],
  };
}

/** From this length on, a word within another is taken for a part of it: of compounds, and in scripts without blanks. */
const minPart = (word: string): number => (/[^\x20-\x7e]/.test(word) ? 2 : 4);

/** How many pairs of words are compared; a longer description beside more sentences is taken to be what they speak of. */
const MAX_PAIRS = 20_000;

/** The first of the sentences that has a word of the description, or one of the same trade. */
function speakingOf(
  sentences: AuthorityReading['foreign'],
  { description, description_matches }: SpendReading,
): Quote | undefined {
  const words = sentences.reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (words * description.tokens.length > MAX_PAIRS) return sentences[0];
  const trades = new Set(description_matches.flatMap((match) => match.trades));
  const isMeant = (token: Token) =>
    tradesOfWord(token).some((trade) => trades.has(trade)) ||
    description.tokens.some(
      ({ word, stem }) =>
        stem === token.stem ||
        (Math.min(word.length, token.word.length) >= minPart(word) &&
          (word.includes(token.word) || token.word.includes(word))),
    );
  return sentences.find(({ tokens }) => tokens.some(isMeant));
}

/**
 * A constraint that gave no rule. Where only the tables know the merchant, it or another seller may be meant; where the
 * operator named the merchant, goods of it may be forbidden in words that are not read.
 */
function unread({ purpose, spend }: Inquiry, { is_chosen, voucher }: Vouched): Doubt | undefined {
  if (is_chosen) return undefined;
  const by_tables = voucher.by === 'TRADE';
  const found = by_tables ? [...purpose.unread, ...purpose.sources][0] : speakingOf(purpose.foreign, spend);
  if (found === undefined) return undefined;
  return {
    sentence: `The merchant is ${by_tables ? 'known only from the built-in tables' : 'named'}, and nothing shows that the spend meets this constraint: ${quoted(found.text)}.`,
    evidence: [conflictsWith(found.field, found.text)],
  };
}

/** The words of a payee's id, if they are a name and no code: "vk-trading-7731", "kent-express"; empty for a code. */
function nameOfPayee(payee_id: string): string[] {
  const rail = payee_id.slice(0, Math.max(0, payee_id.indexOf(':'))).toLowerCase();
  const words = payee_id
    .slice(payee_id.indexOf(':') + 1)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => /^\p{L}{2,}$/u.test(word) && !RAIL_WORDS.has(word));
  return words.length > 1 || rail === 'payee' ? words : [];
}

/**
 * The merchant is only named, and the money goes to somebody else: to an id that bears another name, or to a bank account
 * that the operator did not write down beside those that it did. Whoever bears the merchant's name could be paid there.
 */
function unknownPayee({ purpose, spend, facts }: Inquiry, { is_chosen }: Vouched): Doubt | undefined {
  const { merchant, payee_id, type } = spend.request.action;
  if (is_chosen || payee_id === undefined) return undefined;
  const account = plainAccount(payee_id);
  if (purpose.accounts.has(account)) return undefined;
  const name = nameOfPayee(payee_id);
  const bears_other_name =
    name.length > 0 &&
    !spend.merchant.tokens.some(
      ({ word }) => word.length > 2 && name.some((one) => one.includes(word) || word.includes(one)),
    );
  const is_unlisted = IS_IBAN.test(account) && [...purpose.accounts.keys()].some((one) => IS_IBAN.test(one));
  if (!bears_other_name && !is_unlisted) return undefined;
  // Money may go back to where it came from; to pay again is no proof, since an agent could pay once to be believed later.
  const was_paid =
    (isOnlyRefund(type) &&
      facts.paid.some((one) => one.payee_id === payee_id && isSameMerchant(one, merchant))) ||
    precedentsAt(facts, spend.request.action).some(
      (one) => one.payee_id === payee_id && one.said_by_people.allowed + one.settled_by_rail > 0,
    );
  if (was_paid) return undefined;
  return {
    sentence: `The money would go to ${quoted(payee_id)}, which is not a known account of "${spend.merchant.raw}".`,
    evidence: [conflictsWith('action.payee_id', payee_id)],
  };
}

const IS_IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$/;

/** The first doubt about a spend that something vouches for. More text in the request never takes one away. */
export function doubtAbout(inquiry: Inquiry, vouched: Vouched): Doubt | undefined {
  return (
    unexplained(inquiry, vouched) ??
    unknownPayee(inquiry, vouched) ??
    unshown(inquiry, vouched) ??
    unlisted(inquiry, vouched) ??
    unread(inquiry, vouched)
  );
}
