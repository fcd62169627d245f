import type { PurposeEvidence } from '../domain/assessment.ts';
import type { Inquiry } from './conflicts/conflict.ts';
import type { Trade } from './data/trades.ts';
import { carriesMeaning, LOOSE_STEMS } from './language/everyday-words.ts';
import { tradesOfWord } from './language/lexicon.ts';
import type { Token } from './language/text.ts';
import type { AuthorityReading, Requirement } from './reading/authority-terms.ts';
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
  const where = spend.known.general
    ? 'at a merchant that sells nearly everything'
    : `at a merchant that is ${voucher.says}`;
  return {
    sentence: `"${word.raw}" is bought ${where}, and nothing explains it.`,
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
  if (one.about_payment)
    return /bill|invoice|pay|reimburs|refund/.test(spend.request.action.type.toLowerCase());
  if (one.subject.size === 0) return true;
  if (spend.description_matches.some(({ trades }) => trades.some((trade) => one.subject_trades.has(trade))))
    return true;
  return one.needs_all
    ? one.decisive.every((stem) => claimsToBe(spend, stem))
    : one.decisive.some((stem) => claimsToBe(spend, stem));
}

/** A condition that only the agent's words could show to hold. */
function unshown({ purpose, spend }: Inquiry, { is_chosen }: Vouched): Doubt | undefined {
  if (is_chosen) return undefined;
  const found = purpose.requirements.find((one) => isMeant(one, spend));
  if (found === undefined) return undefined;
  return {
    sentence: `The purpose sets a condition that only the agent's own words could show to hold: "${found.text.slice(0, 160)}".`,
    evidence: [{ field: found.field, text: found.text.slice(0, 160), effect: 'conflicts' }],
  };
}

/** A name that only the tables know is a guess where some of the constraints could not be read. */
function unread({ purpose }: Inquiry, { voucher }: Vouched): Doubt | undefined {
  const [first] = purpose.unreadable;
  if (first === undefined || voucher.by !== 'TRADE') return undefined;
  return {
    sentence: `A constraint could not be read, so nothing is taken for aligned by guess: "${first.text.slice(0, 160)}".`,
    evidence: [{ field: first.field, text: first.text.slice(0, 160), effect: 'conflicts' }],
  };
}

/** The first doubt about a spend that something vouches for. More text in the request never takes one away. */
export function doubtAbout(inquiry: Inquiry, vouched: Vouched): Doubt | undefined {
  return unexplained(inquiry, vouched) ?? unshown(inquiry, vouched) ?? unread(inquiry, vouched);
}
