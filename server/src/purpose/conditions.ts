import type { AuthorityReading, Requirement } from './authority-terms.ts';
import { carriesMeaning, LOOSE_STEMS } from './lexicon.ts';
import type { SpendReading } from './spend-reading.ts';
import { tokenize } from './text.ts';

const OPEN =
  /\b(?:pending|tbd|tbc|to be (?:confirmed|decided|determined|announced)|not (?:yet )?(?:known|confirmed|decided|recorded|clear|scanned|final|checked|sure)|unclear|unknown|no entry|no data|no answer|no reply|n\/a|service unavailable|did not load|could not be|timed out|from the link|(?:in|see) the link|as discussed|see (?:the )?(?:mail|e-?mail|attachment)|the (?:usual|other) thing|the thing|missing|incomplete|if (?:sold out|available|possible|needed)|or similar|estimated?|presumably|probably|maybe|perhaps|not sure|undecided|awaiting|to follow|added (?:later|at)|differs?|mismatch|unverified|unconfirmed|ausstehend|unklar|en attente|pendiente)\b/;

/** Something in description or trace that is still open, in its own words. */
export function openQuestion(spend: SpendReading): { field: string; text: string } | undefined {
  for (const text of [spend.description, ...spend.trace]) {
    const match = OPEN.exec(text.folded);
    if (match !== null) return { field: text.field, text: match[0] };
  }
  return undefined;
}

function touches(spend: SpendReading, requirement: Requirement, authority: AuthorityReading): boolean {
  const tokens = [...spend.merchantTokens, ...spend.descriptionTokens];
  const sightings = [...spend.descriptionSightings, ...spend.merchantSightings];
  if (tokens.some((token) => requirement.exceptions.has(token.stem))) return false;
  if (sightings.some((one) => one.trades.some((trade) => requirement.exception_trades.has(trade))))
    return false;
  if (requirement.subject.size === 0) return true;
  if (tokens.some((token) => requirement.subject.has(token.stem))) return true;
  // "Coffee only if …" where groceries are wanted speaks of coffee, not of all groceries.
  return sightings.some((one) =>
    one.trades.some(
      (trade) =>
        requirement.subject_trades.has(trade) && authority.trades.get(trade)?.field !== 'purpose.objective',
    ),
  );
}

/**
 * The first condition of the purpose that applies and that nothing in the request shows to hold. `isListed`: the spend
 * is one that the operator's own list has.
 */
export function unseenCondition(
  spend: SpendReading,
  authority: AuthorityReading,
  isListed: boolean,
): Requirement | undefined {
  const applying = authority.requirements.filter((requirement) => touches(spend, requirement, authority));
  if (applying.length === 0) return undefined;
  const shown = new Set(
    [spend.description, ...spend.trace].flatMap((text) => tokenize(text.text).map((token) => token.stem)),
  );
  const saidByTask = taskShare(spend) >= 0.5;
  const confirmed = confirmedByTrace(spend);
  return applying.find(
    (requirement) =>
      !requirement.about_sum &&
      !(requirement.said_by_task && (saidByTask || confirmed || isListed)) &&
      !(confirmed && requirement.about_presence) &&
      !isRecorded(spend, requirement) &&
      !(NUMBERS.test(requirement.text) && OWN_CODE.test(spend.description.text)) &&
      [...requirement.stems].filter((stem) => shown.has(stem)).length < Math.min(2, requirement.stems.size),
  );
}

/** The condition asks for a number, and the description has one. */
const NUMBERS = /\b(?:tag|number|reference|registration|serial|code|licen[cs]e) ?(?:number|no|id)?\b/i;
const OWN_CODE = /\b[A-Z]{1,6}[- ]?\d{2,}/;

const FOUND =
  /\b(?:found|complete|received|signed|matched|match|attached|confirmed|approved|accepted|verified|passed|valid|closed|done|yes|true|ok|on file|in order)\b/;
const NOT_FOUND =
  /\b(?:not|no|none|missing|without|pending|incomplete|never|unsigned|unconfirmed|false|expired)\b/;

/** A step of the run names what the condition asks for and that it is there. */
function isRecorded(spend: SpendReading, requirement: Requirement): boolean {
  return spend.trace.some(
    (step) =>
      FOUND.test(step.folded) &&
      !NOT_FOUND.test(step.folded) &&
      tokenize(step.text).some((token) => requirement.stems.has(token.stem) && carriesMeaning(token)),
  );
}

const VISIBLE_YES = /([\p{L}][\p{L} _-]{1,60})\s?:\s?(?:true|yes|ok|available|confirmed|complete)\b/gu;

/** The trace shows that something the task asks for holds ("quiet room: true"). */
export function confirmedByTrace(spend: SpendReading): boolean {
  const { task_stems: asked } = spend;
  return spend.trace.some(
    (step) =>
      step.folded.includes(':') &&
      [...step.folded.matchAll(VISIBLE_YES)].some((match) => {
        const key = tokenize(match[1] ?? '').filter(carriesMeaning);
        return key.length > 0 && key.every((token) => asked.has(token.stem));
      }),
  );
}

/** Share of the description's words of meaning that the task says too, 0..1; 0 without such words. */
export function taskShare(spend: SpendReading): number {
  const { task_stems: asked } = spend;
  const said = spend.descriptionTokens.filter((token) => carriesMeaning(token) && !/\d/.test(token.word));
  return said.length === 0 ? 0 : said.filter((token) => asked.has(token.stem)).length / said.length;
}

/** Whether what is bought is what the task asks for: a shared word of meaning, or a shared trade. */
export function answersTask(spend: SpendReading): boolean {
  const asked = new Set(spend.taskTokens.filter(carriesMeaning).map((token) => token.stem));
  if (spend.descriptionTokens.some((token) => asked.has(token.stem) && !LOOSE_STEMS.has(token.stem)))
    return true;
  const trades = new Set(spend.taskSightings.flatMap((one) => one.trades));
  return spend.descriptionSightings.some((one) => one.trades.some((trade) => trades.has(trade)));
}

/** What is bought belongs to a trade, the task asks for another, and they share nothing. */
export function strangerToTask(spend: SpendReading): { bought: string; asked: string } | undefined {
  const bought = spend.descriptionSightings.find((one) => one.strong);
  const asked = spend.taskSightings.find((one) => one.strong);
  if (bought === undefined || asked === undefined || answersTask(spend)) return undefined;
  const families = new Set(spend.taskSightings.flatMap((one) => one.trades.map((trade) => trade.family)));
  const near = spend.descriptionSightings.some((one) =>
    one.trades.some((trade) => families.has(trade.family)),
  );
  return near ? undefined : { bought: bought.text, asked: asked.text };
}
