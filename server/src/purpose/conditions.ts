import { type Conflict, conflictsWith } from './conflicts.ts';
import { OTHER_ACCOUNT } from './data/record-language.ts';
import type { Trade } from './data/trades.ts';
import { attributesIn } from './language/attributes.ts';
import { carriesMeaning, LOOSE_STEMS } from './language/everyday-words.ts';
import { MAX_TEXT_LENGTH, stemsOf, type Token, tokenize } from './language/text.ts';
import { MAX_QUOTE_LENGTH } from './manipulation.ts';
import type { AuthorityReading, Requirement } from './reading/authority-terms.ts';
import { claimsToBe, type SpendReading, type TermMatch } from './reading/spend-reading.ts';

const OPEN =
  /\b(?:pending|tbd|tbc|to be (?:confirmed|decided|determined|announced)|not (?:yet )?(?:known|confirmed|decided|recorded|clear|scanned|final|checked|sure)|unclear|unknown|no entry|no data|no answer|no reply|n\/a|service unavailable|did not load|could not be|timed out|from the link|(?:in|see) the link|as discussed|see (?:the )?(?:mail|e-?mail|attachment)|the (?:usual|other) thing|the thing|missing|incomplete|if (?:sold out|available|possible|needed)|or similar|estimated?|presumably|probably|maybe|perhaps|not sure|undecided|awaiting|to follow|added (?:later|at)|differs?|mismatch|unverified|unconfirmed|ausstehend|unklar|en attente|pendiente)\b/;

/** The words in description, task or trace that say that something is still open. */
export function openQuestion(spend: SpendReading): { field: string; text: string } | undefined {
  for (const text of [spend.description, ...spend.trace]) {
    const match = OPEN.exec(text.folded);
    if (match !== null) return { field: text.field, text: match[0] };
  }
  if (spend.request.action.payee_id === undefined) return undefined;
  for (const text of [spend.task, ...spend.trace]) {
    if (!/accoun|payee|pay|konto|iban|detail|compte|cuenta|rib/.test(text.folded)) continue;
    const match = OTHER_ACCOUNT.exec(text.folded);
    if (match !== null) return { field: text.field, text: match[0] };
  }
  return undefined;
}

const PAYS = /^(?:bill|bill_?payment|payment|payout|transfer|invoice|wire|bank_?transfer)$/;
const INVOICES = stemsOf('invoice bill rechnung facture factura');

/** True if the spend pays a bill, by its type or its description. */
const isBill = (spend: SpendReading): boolean =>
  PAYS.test(spend.request.action.type.toLowerCase()) ||
  spend.description_tokens.some((token) => INVOICES.has(token.stem));

function touches(spend: SpendReading, requirement: Requirement): boolean {
  for (const stem of requirement.exceptions) if (spend.goods_stems.has(stem)) return false;
  const matches = [spend.description_matches, spend.merchant_matches];
  const sees = (test: (one: TermMatch) => boolean) => matches.some((each) => each.some(test));
  const speaksOf = (one: TermMatch, trades: ReadonlySet<Trade>) =>
    one.trades.some((trade) => trades.has(trade));
  const { subject, decisive, exception_trades, subject_implied, subject_trades } = requirement;
  if (exception_trades.size > 0 && sees((one) => speaksOf(one, exception_trades))) return false;
  if (subject.size === 0) return !requirement.about_payment || isBill(spend);
  const isNamed = (stem: string) => claimsToBe(spend, stem);
  if (requirement.needs_all ? decisive.every(isNamed) : decisive.some(isNamed)) return true;
  if (decisive.length < subject.size && !requirement.is_any) return false;
  if (subject_implied.size > 0 && sees((one) => one.strong && speaksOf(one, subject_implied))) return true;
  return subject_trades.size > 0 && sees((one) => speaksOf(one, subject_trades));
}

const DENIES = stemsOf(
  'not no never without non nicht kein keine ohne sans sin un isn hasn haven wasn didn unsigned',
);
const DENIED = stemsOf('missing empty false none declined refused rejected denied failed expired absent');
const DENIAL_REACH = 3;

/**
 * Conflict: description or trace show that a condition of the purpose does not hold ("not signed", "folder: empty"). A
 * demanded word that is merely absent is no conflict.
 */
export function notAsDemanded(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  const applying = authority.requirements.flatMap((requirement) => {
    if (requirement.subject.size > 0 && touches(spend, requirement))
      return [{ requirement, demanded: requirement.stems }];
    const { done_first } = requirement;
    return done_first.size > 0 && isBill(spend) ? [{ requirement, demanded: done_first }] : [];
  });
  if (applying.length === 0) return undefined;
  for (const { field, text } of [spend.description, ...spend.trace]) {
    for (const clause of text.slice(0, MAX_TEXT_LENGTH).split(/[,;()]|\.\s/)) {
      const tokens = tokenize(clause);
      const found = applying.find(({ demanded }) => tokens.some((_, at) => isDenied(tokens, at, demanded)));
      if (found === undefined) continue;
      const { requirement } = found;
      const shown = clause.trim().slice(0, MAX_QUOTE_LENGTH);
      return {
        evidence: [conflictsWith(field, shown), conflictsWith(requirement.field, requirement.text)],
        sentence: `The purpose demands "${requirement.text.slice(0, MAX_QUOTE_LENGTH)}", and the request shows "${shown}".`,
        confidence: 0.7,
      };
    }
  }
  return undefined;
}

/** True if the word at a place is demanded, and denied without a meaningful word in between. */
function isDenied(tokens: readonly Token[], at: number, demanded: ReadonlySet<string>): boolean {
  const token = tokens[at] as Token;
  if (token.word.startsWith('un') && demanded.has(token.stem.slice(2))) return true;
  if (!carriesMeaning(token) || LOOSE_STEMS.has(token.stem) || !demanded.has(token.stem)) return false;
  for (let i = at - 1; i >= Math.max(0, at - DENIAL_REACH); i -= 1) {
    const before = tokens[i] as Token;
    if (DENIES.has(before.stem)) return true;
    if (carriesMeaning(before)) break;
  }
  const after = /^(?:is|are|was|were)$/.test(tokens[at + 1]?.word ?? '') ? tokens[at + 2] : tokens[at + 1];
  return after !== undefined && DENIED.has(after.stem);
}

/**
 * The first condition of the purpose that applies and that nothing in the request shows to hold. `isListed`: the spend
 * is in the operator's own list.
 */
export function unseenCondition(
  spend: SpendReading,
  authority: AuthorityReading,
  isListed: boolean,
): Requirement | undefined {
  const applying = authority.requirements.filter((requirement) => touches(spend, requirement));
  if (applying.length === 0) return undefined;
  const shown = new Set(
    [spend.description, ...spend.trace].flatMap((text) => text.tokens.map((token) => token.stem)),
  );
  const saidByTask = taskShare(spend) >= 0.5;
  const confirmed = confirmedByTrace(spend);
  return applying.find(
    (requirement) =>
      !requirement.about_sum &&
      !(requirement.said_by_task && (saidByTask || confirmed || isListed)) &&
      !(confirmed && requirement.about_presence) &&
      !isRecorded(spend, requirement) &&
      !isOfKind(spend, requirement) &&
      !(NUMBERS.test(requirement.text) && OWN_CODE.test(spend.description.text)) &&
      [...requirement.stems].filter((stem) => shown.has(stem)).length < requirement.least,
  );
}

/** A condition that asks for a number holds if the description has one. */
const NUMBERS = /\b(?:tag|number|reference|registration|serial|code|licen[cs]e) ?(?:number|no|id)?\b/i;
const OWN_CODE = /\b[A-Z]{1,6}[- ]?\d{2,}/;

const FOUND =
  /\b(?:found|complete|received|signed|matched|match|attached|confirmed|approved|accepted|verified|passed|valid|closed|done|yes|true|ok|on file|in order)\b/;
const NOT_FOUND =
  /\b(?:not|no|none|missing|without|pending|incomplete|never|unsigned|unconfirmed|false|expired)\b/;

/** True if the condition asks for a value of a scale ("second class") that the description names. */
function isOfKind(spend: SpendReading, requirement: Requirement): boolean {
  if (requirement.kinds.size === 0) return false;
  const named = attributesIn(spend.description_tokens, new Set(requirement.kinds.keys()));
  return [...named].some(([scale, { values }]) =>
    [...values].some((value) => requirement.kinds.get(scale)?.has(value)),
  );
}

/** True if a trace step says that what the condition asks for is there. */
function isRecorded(spend: SpendReading, requirement: Requirement): boolean {
  return spend.trace.some(
    (step) =>
      FOUND.test(step.folded) &&
      !NOT_FOUND.test(step.folded) &&
      step.tokens.some((token) => requirement.stems.has(token.stem) && carriesMeaning(token)),
  );
}

const SAYS_YES = String.raw`:\s?(?:true|yes|ok|available|confirmed|complete)\b`;
const YES = new RegExp(SAYS_YES);
const VISIBLE_YES = new RegExp(String.raw`([\p{L}][\p{L} _-]{1,60})\s?${SAYS_YES}`, 'gu');

/** True if the trace shows that something the task asks for holds ("quiet room: true"). */
export function confirmedByTrace(spend: SpendReading): boolean {
  const { task_stems: asked } = spend;
  return spend.trace.some(
    (step) =>
      // The short pattern runs first because it is cheaper.
      YES.test(step.folded) &&
      [...step.folded.matchAll(VISIBLE_YES)].some((match) => {
        const key = tokenize(match[1] ?? '').filter(carriesMeaning);
        return key.length > 0 && key.every((token) => asked.has(token.stem));
      }),
  );
}

/** Share, 0..1, of the description's meaningful words that the task contains too; 0 if there are none. */
export function taskShare(spend: SpendReading): number {
  const { task_stems: asked } = spend;
  const said = spend.description_tokens.filter((token) => carriesMeaning(token) && !/\d/.test(token.word));
  return said.length === 0 ? 0 : said.filter((token) => asked.has(token.stem)).length / said.length;
}

/** True if description and task share a meaningful word or a trade. */
export function answersTask(spend: SpendReading): boolean {
  const asked = new Set(spend.task_tokens.filter(carriesMeaning).map((token) => token.stem));
  if (spend.description_tokens.some((token) => asked.has(token.stem) && !LOOSE_STEMS.has(token.stem)))
    return true;
  const trades = new Set(spend.task_matches.flatMap((one) => one.trades));
  return spend.description_matches.some((one) => one.trades.some((trade) => trades.has(trade)));
}

/** What is bought and what the task asks for, if they belong to different trades and share nothing. */
export function unrelatedToTask(spend: SpendReading): { bought: string; asked: string } | undefined {
  const bought = spend.description_matches.find((one) => one.strong);
  const asked = spend.task_matches.find((one) => one.strong);
  if (bought === undefined || asked === undefined || answersTask(spend)) return undefined;
  const families = new Set(spend.task_matches.flatMap((one) => one.trades.map((trade) => trade.family)));
  const isRelated = spend.description_matches.some((one) =>
    one.trades.some((trade) => families.has(trade.family)),
  );
  return isRelated ? undefined : { bought: bought.text, asked: asked.text };
}
