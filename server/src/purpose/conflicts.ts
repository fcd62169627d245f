import type { PurposeEvidence } from '../domain/assessment.ts';
import { UNIT_CODE } from './data/constraint-language.ts';
import type { Trade } from './data/trades.ts';
import { attributesIn } from './language/attributes.ts';
import { carriesMeaning } from './language/everyday-words.ts';
import { ceilingIn, plainAccount } from './language/figures.ts';
import { privateCircleWords } from './language/lexicon.ts';
import { foldText, MAX_TEXT_LENGTH, stemsOf, stemWord, type Token, tokenize } from './language/text.ts';
import { MAX_QUOTE_LENGTH } from './manipulation.ts';
import type { AuthorityReading, Prohibition } from './reading/authority-terms.ts';
import { claimsToBe, type SpendReading, type TermMatch } from './reading/spend-reading.ts';

/** A contradiction between spend and purpose. `sentence` is what a person reads. */
export interface Conflict {
  evidence: PurposeEvidence[];
  sentence: string;
  confidence: number;
}

/** Evidence of a conflict, with its text cut to `MAX_QUOTE_LENGTH`. */
export const conflictsWith = (field: string, text: string): PurposeEvidence => ({
  field,
  text: text.slice(0, MAX_QUOTE_LENGTH),
  effect: 'conflicts',
});

const NEGATED = stemsOf('no not without free non never kein keine ohne sans sin zero vrij frei');

/** True for "pork-free" and "pork free", false for "pork (free delivery)". */
function isFreeOf({ description: { folded } }: SpendReading, text: string): boolean {
  if (!folded.includes('free')) return false;
  const word = foldText(text);
  return folded.includes(`${word}-free`) || (folded.includes(`${word} free`) && !GIVEN_FREE.test(folded));
}

const GIVEN_FREE = /\bfree (?:delivery|shipping|returns?|trial|gifts?|samples?|of charge|cancellation)\b/;

/** True if the description names the thing in order to exclude it: "no pork", "nut-free". */
function isNegated(spend: SpendReading, match: TermMatch): boolean {
  const tokens = match.field === 'action.description' ? spend.description_tokens : [];
  const before = tokens[match.at - 1];
  return (before !== undefined && NEGATED.has(before.stem)) || isFreeOf(spend, match.text);
}

/** True if the objective itself names the trade. */
function isWanted(authority: AuthorityReading, trade: Trade): boolean {
  const quote = authority.trades.get(trade);
  return quote?.strong === true && quote.field === 'purpose.objective';
}

/** Evidence that the spend breaks a prohibition. `matches`: those of merchant and description that are not negated. */
function brokenBy(
  spend: SpendReading,
  matches: readonly TermMatch[],
  authority: AuthorityReading,
  rule: Prohibition,
): PurposeEvidence | undefined {
  const { goods_stems: stems } = spend;
  if ([...rule.exceptions].some((stem) => stems.has(stem))) return undefined;

  for (const item of rule.items) {
    const company = spend.merchant_tokens.find((token) => item.companies.has(token.word));
    if (
      company !== undefined &&
      [...item.companies].every(
        (word) => stems.has(word) || spend.merchant_tokens.some((t) => t.word === word),
      )
    ) {
      return conflictsWith('action.merchant', spend.merchant.text);
    }
    if (item.stems.every((stem) => stems.has(stem))) {
      const isFirst = (token: Token) => token.stem === item.stems[0];
      const at = spend.description_tokens.findIndex(isFirst);
      const token = at < 0 ? spend.merchant_tokens.find(isFirst) : spend.description_tokens[at];
      const negated =
        at >= 0 &&
        (NEGATED.has(spend.description_tokens[at - 1]?.stem ?? '') || isFreeOf(spend, token?.word ?? ''));
      const field = at < 0 ? 'action.merchant' : 'action.description';
      if (token !== undefined && !negated) return conflictsWith(field, token.raw);
    }
    // If the purpose wants a trade, only the narrower thing that the constraint names is forbidden.
    for (const match of matches) {
      const hit = match.trades.find((trade) => item.trades.has(trade) && !isWanted(authority, trade));
      if (hit === undefined || !match.strong) continue;
      if (match.trades.length > 1 && match.kind === 'company') continue;
      if (
        match.field === 'action.merchant' &&
        spend.description_matches.some((one) => one.strong && !one.trades.includes(hit))
      )
        continue;
      return conflictsWith(match.field, match.text);
    }
  }
  if (rule.for_others) {
    for (const text of [spend.description, spend.task]) {
      const match = UNIT.exec(text.folded);
      const stem = match === null ? '' : stemWord(match[1] ?? '');
      if (match !== null && !OWN_UNIT.has(stem) && !authority.words.has(stem))
        return conflictsWith(text.field, match[0]);
    }
  }
  if (!rule.private_use) return undefined;
  for (const text of [spend.description, spend.task]) {
    const match = SOMEBODYS.exec(text.text.slice(0, MAX_TEXT_LENGTH));
    if (match !== null && !authority.names.has((match[1] ?? '').toLowerCase()))
      return conflictsWith(text.field, match[0]);
  }
  const circle = privateCircleWords(spend.description_tokens)[0] ?? privateCircleWords(spend.task_tokens)[0];
  if (circle !== undefined) {
    const inDescription = privateCircleWords(spend.description_tokens).length > 0;
    return conflictsWith(inDescription ? 'action.description' : 'task', circle);
  }
  return undefined;
}

/** "for Mrs. Hale's car", "for my garden", "her ponies" */
const SOMEBODYS =
  /\b(?:for (?:(?:Mr|Mrs|Ms|Miss|Dr)\.? )?(?!\p{L}+day['’]|(?:January|February|March|April|May|June|July|August|September|October|November|December|Christmas|Easter|Today|Tomorrow)['’])(\p{Lu}[\p{L}-]{1,30})['’]s?|for (?:his|her|my|their own|my own)|(?:her|his|my) own) (?!(?:team|desk|office|department|project|group|unit|workplace|laptop|computer|account|seat|licen[cs]e|client|customer|class|room|ward)\b)\p{L}/u;
const UNIT = /\b([\p{L}-]{2,30}) (?:team|department|unit|branch|division|lab|group|desk)\b/u;
const OWN_UNIT = stemsOf('the our my this whole entire same a an each every own');

const HEAD_WORDS = 4;

/** Conflict: what the purpose wants only from certain merchants comes from another one. */
export function otherSource(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  // A description begins with what is bought; later words may only describe circumstances.
  const head = spend.description_tokens.filter(carriesMeaning).slice(0, HEAD_WORDS);
  const stems = new Set([...head, ...spend.category.tokens].map((token) => token.stem));
  const matches = spend.description_matches.filter((one) => one.strong);
  const rule = authority.sources.find(({ subject, subject_trades, names, is_any }) => {
    if (spend.merchant_tokens.some((token) => names.has(token.word))) return false;
    if (subject.size === 0) return true;
    // "Printer paper only from …" does not apply to printer toner.
    const isNamed = is_any
      ? [...subject].some((stem) => stems.has(stem))
      : [...subject].every((stem) => stems.has(stem));
    if (isNamed) return true;
    const isTradeMeant = is_any || subject.size === 1;
    return (
      isTradeMeant &&
      matches.length > 0 &&
      matches.every((one) => one.trades.some((trade) => subject_trades.has(trade)))
    );
  });
  if (rule === undefined) return undefined;
  return {
    evidence: [conflictsWith('action.merchant', spend.merchant.text), conflictsWith(rule.field, rule.text)],
    sentence: `"${spend.merchant.text.slice(0, MAX_QUOTE_LENGTH)}" is none of those that the purpose buys this from: "${rule.text.slice(0, MAX_QUOTE_LENGTH)}".`,
    confidence: 0.75,
  };
}

/** Conflict: what is bought is for another unit than those that the operator names by code. */
export function otherUnit(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  for (const rule of authority.units) {
    const { subject, subject_trades, ranges } = rule;
    const isMeant =
      subject.size === 0 ||
      [...subject].some((stem) => claimsToBe(spend, stem)) ||
      spend.description_matches.some((one) => one.trades.some((trade) => subject_trades.has(trade)));
    if (!isMeant) continue;
    const isShaped = ([, before = '', , after = '']: RegExpMatchArray) =>
      before.length + after.length > 0 &&
      ranges.some((one) => one.before === before && one.after.length === after.length);
    const isOwn = ([, before = '', number = '', after = '']: RegExpMatchArray) =>
      ranges.some(
        (one) =>
          one.before === before &&
          one.after === after &&
          Number(number) >= one.from &&
          Number(number) <= one.to,
      );
    const codes = [spend.description, spend.task].flatMap((text) =>
      [...text.folded.matchAll(UNIT_CODE)].filter(isShaped).map((code) => ({ text, code })),
    );
    const [first] = codes;
    if (first !== undefined && !codes.some(({ code }) => isOwn(code))) {
      const { text, code: other } = first;
      return {
        evidence: [conflictsWith(text.field, other[0]), conflictsWith(rule.field, rule.text)],
        sentence: `"${other[0].toUpperCase()}" is none of those that the purpose buys for: "${rule.text.slice(0, MAX_QUOTE_LENGTH)}".`,
        confidence: 0.75,
      };
    }
  }
  return undefined;
}

/** Conflicts: the prohibitions and attribute rules of the purpose that the spend breaks. */
export function brokenConstraints(spend: SpendReading, authority: AuthorityReading): Conflict[] {
  const broken: Conflict[] = [];
  const matches = [...spend.description_matches, ...spend.merchant_matches].filter(
    (one) => !isNegated(spend, one),
  );
  for (const rule of authority.prohibitions) {
    const evidence = brokenBy(spend, matches, authority, rule);
    if (evidence === undefined) continue;
    broken.push({
      evidence: [evidence, conflictsWith(rule.field, rule.text)],
      sentence: `"${evidence.text}" is ruled out by the purpose: "${rule.text.slice(0, MAX_QUOTE_LENGTH)}".`,
      confidence: 0.85,
    });
  }
  const named =
    authority.attributes.length > 0
      ? attributesIn(spend.description_tokens, new Set(authority.attributes.map((rule) => rule.scale)))
      : new Map<string, never>();
  for (const rule of authority.attributes) {
    const found = named.get(rule.scale);
    if (found === undefined || [...found.values].some((value) => rule.allowed.has(value))) continue;
    broken.push({
      evidence: [conflictsWith('action.description', found.text), conflictsWith(rule.field, rule.text)],
      sentence: `The ${found.label} is "${found.text}", and the purpose allows only what "${rule.text.slice(0, MAX_QUOTE_LENGTH)}" says.`,
      confidence: 0.85,
    });
  }
  return broken;
}

const TRANSFER_TYPES =
  /^(?:p2p|transfer|wire|bank_?transfer|money_?transfer|cash|withdrawal|cash_?out|send_?money|gift(?:_?card)?|crypto\w*|remittance)$/;
const WANTS_TRANSFERS = stemsOf(
  'transfer transfers payout payouts refund refunds reimburse reimbursement reimbursements remittance compensate compensation wages salary payroll allowance send repay pay-out pocket banking bank venmo paypal friends friend roommate roommates share invoice invoices supplier suppliers bills bill rent',
);

/** Ways to send money that no business asks for and that cannot be reversed. */
const PERSONAL_RAILS =
  /^(?:zelle|venmo|cash_?app|crypto|btc|bitcoin|eth|usdt|wallet|gift_?card|western_?union|moneygram)$/;
const PURCHASE_TYPES =
  /^(?:purchase|order|booking|subscription|bill_?payment|invoice|top_?up|rental|renewal|fee)$/;

const PAYING_BY = new Set(['with', 'by', 'on', 'via', 'using', 'from', 'to', 'mit', 'per', 'avec', 'con']);

/** True if the match names the means of payment ("paid with gift card 1234") and not what is bought. */
function isMeansOfPayment(spend: SpendReading, match: TermMatch): boolean {
  if (match.field !== 'action.description') return false;
  const before = spend.description_tokens.slice(Math.max(0, match.at - 3), match.at);
  return (
    before.some((token) => PAYING_BY.has(token.word)) &&
    /paid|pay|charged|refund|back|return/.test(spend.description.folded)
  );
}

/** Conflict: the spend buys or sends money in another form, and the purpose does not ask for it. */
export function cashLike(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  const match = [...spend.description_matches, ...spend.merchant_matches, ...spend.category_matches].find(
    (one) =>
      one.strong &&
      one.trades.some((trade) => trade.family === 'cash_like') &&
      !one.trades.some((trade) => authority.trades.has(trade)) &&
      !isNegated(spend, one) &&
      !isMeansOfPayment(spend, one),
  );
  if (match !== undefined) {
    const label = match.trades[0]?.label ?? 'money in another form';
    return {
      evidence: [conflictsWith(match.field, match.text)],
      sentence: `"${match.text}" belongs to ${label}, which is as good as cash, and the purpose does not ask for it.`,
      confidence: 0.85,
    };
  }
  const { type, payee_id = '' } = spend.request.action;
  const rail = payee_id.slice(0, Math.max(0, payee_id.indexOf(':'))).toLowerCase();
  if (
    PERSONAL_RAILS.test(rail) &&
    PURCHASE_TYPES.test(type.toLowerCase()) &&
    !authority.words.has(rail) &&
    !authority.accounts.has(plainAccount(payee_id))
  ) {
    return {
      evidence: [conflictsWith('action.payee_id', payee_id)],
      sentence: `The money would go by ${rail}, as between persons or as good as cash, and the purpose does not speak of it.`,
      confidence: 0.7,
    };
  }
  if (!TRANSFER_TYPES.test(type.toLowerCase()) || (spend.description.text === '' && spend.task.text === ''))
    return undefined;
  const wanted = [...authority.words.keys()].some((stem) => WANTS_TRANSFERS.has(stem));
  const purposePays = /\b(?:pay|pays|paying|payouts?|transfers?|refunds?|reimburse|send)\b/i;
  if (
    wanted ||
    [...authority.words.values(), ...authority.trades.values()].some((one) => purposePays.test(one.text))
  )
    return undefined;
  return {
    evidence: [conflictsWith('action.type', type)],
    sentence: `The spend is a ${type.replaceAll('_', ' ')} of money, and nothing in the purpose asks for transfers.`,
    confidence: 0.7,
  };
}

/** Conflict: the amount is over the ceiling that the task names. */
export function overTaskCeiling(spend: SpendReading): Conflict | undefined {
  const ceiling = ceilingIn(spend.task.folded);
  if (ceiling === undefined || !(spend.amount > ceiling.value) || ceiling.value === 0) return undefined;
  return {
    evidence: [conflictsWith('task', ceiling.text)],
    sentence: `The amount of ${spend.amount} is over the ceiling that the task names ("${ceiling.text}").`,
    confidence: 0.75,
  };
}

const SAYS_NO = String.raw`:\s?(?:false|no(?! entr| data| record| info)|none|not available|unavailable|closed|rejected|declined|failed|expired|not found)\b`;
const NO = new RegExp(SAYS_NO);
const VISIBLE_NO = new RegExp(String.raw`([\p{L}][\p{L}\d _-]{1,60})\s?${SAYS_NO}`, 'gu');
const NOT_THERE = /\b(?:available|in stock|on sale)\b\s?:?\s?(?:false|no|none|0)\b/;
const ALREADY_DONE =
  /\b(?:already (?:been )?(?:paid|ordered|booked|bought|renewed|settled|sent|delivered)|paid (?:on )?\d{1,2}\.? ?\p{L}+|was paid|paid last (?:week|month)|duplicate of|second payment|bereits bezahlt|ya pagad[oa]|deja paye)\b/u;

/** Conflict: the trace shows that something the task asks for does not hold, is not available or was paid before. */
export function contradictedByTrace(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  if (spend.trace.length === 0) return undefined;
  const { task_stems: asked } = spend;
  for (const step of spend.trace) {
    // The short pattern runs first because it is cheaper.
    for (const match of NO.test(step.folded) ? step.folded.matchAll(VISIBLE_NO) : []) {
      const key = tokenize(match[1] ?? '').filter((token) => token.word.length > 2);
      if (key.length === 0 || !key.every((token) => asked.has(token.stem) || authority.words.has(token.stem)))
        continue;
      return {
        evidence: [conflictsWith(step.field, match[0])],
        sentence: `The run shows "${match[0].trim()}", and the task asks for it.`,
        confidence: 0.75,
      };
    }
    const missing = NOT_THERE.exec(step.folded);
    if (missing !== null) {
      return {
        evidence: [conflictsWith(step.field, missing[0])],
        sentence: `The run shows that it is not to be had ("${missing[0]}").`,
        confidence: 0.65,
      };
    }
    const done = ALREADY_DONE.exec(step.folded);
    if (done !== null && spend.request.action.type !== 'refund') {
      return {
        evidence: [conflictsWith(step.field, done[0])],
        sentence: `The run shows that this was settled before ("${done[0]}").`,
        confidence: 0.7,
      };
    }
  }
  return undefined;
}

const PERCENT =
  /(\d{1,3}(?:[.,]\d{1,2})?|\b(?:one|two|three|four|five|ten|fifteen|twenty))\s?(?:%|percent|per cent|prozent)/;
const OVER_BY =
  /(\d{1,3}(?:[.,]\d{1,2})?)\s?(?:%|percent|per cent)\s(?:above|over|more|higher|beyond|up|uber|increase)/;
const NUMBER_WORDS: Record<string, number> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  ten: 10,
  fifteen: 15,
  twenty: 20,
};

/** Conflict: the request states a deviation in percent that is over what a constraint tolerates. */
export function overTolerance(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  if (authority.tolerances.length === 0) return undefined;
  for (const text of [spend.description, ...spend.trace]) {
    const over = OVER_BY.exec(text.folded);
    if (over === null) continue;
    const percent = Number((over[1] ?? '').replace(',', '.'));
    const rule = authority.tolerances.find((one) => percent > toleranceOf(one.text));
    if (rule === undefined) continue;
    return {
      evidence: [conflictsWith(text.field, over[0]), conflictsWith(rule.field, rule.text)],
      sentence: `"${over[0]}" is over what the purpose tolerates: "${rule.text.slice(0, MAX_QUOTE_LENGTH)}".`,
      confidence: 0.85,
    };
  }
  return undefined;
}

function toleranceOf(text: string): number {
  const figure = PERCENT.exec(text.toLowerCase())?.[1] ?? '';
  return NUMBER_WORDS[figure] ?? Number(figure.replace(',', '.'));
}
