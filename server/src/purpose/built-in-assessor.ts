import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import type { Assess, Assessment, PurposeAssessment, PurposeEvidence } from './assessment.ts';
import { type AuthorityReading, readAuthority } from './authority-reading.ts';
import {
  answersTask,
  confirmedByTrace,
  openQuestion,
  strangerToTask,
  taskShare,
  unseenCondition,
} from './conditions.ts';
import {
  brokenConstraints,
  type Conflict,
  TOKEN_RAILS,
  cashLike,
  contradictedByTrace,
  overTaskCeiling,
  overTolerance,
  privateGoods,
  switchedPayee,
} from './conflicts.ts';
import { figuresIn } from './figures.ts';
import { type Fit, fitOf } from './fit.ts';
import { carriesMeaning, isPrivate } from './lexicon.ts';
import { beforeAttack, MAX_QUOTE_LENGTH, type Suspicion, suspicionsIn } from './manipulation.ts';
import {
  askedToLook,
  besidesWanted,
  entryFor,
  otherThanListed,
  refundElsewhere,
  settledBefore,
  slicedSum,
  tookUpOther,
  unmetNeed,
  unsureSize,
} from './records.ts';
import { readSpend, type Sighting, type SpendReading } from './spend-reading.ts';
import { type Token, tokenize } from './text.ts';

/** Name and version of this assessor. A change that can turn an assessment raises the version. */
export const METHOD = 'built-in/2';

const MAX_EVIDENCE = 12;
const ENOUGH_SUPPORT = 1;
/** Families that purposes set apart even where their neighbours are wanted. */
const SET_APART: ReadonlySet<string> = new Set(['alcohol', 'cash_like']);

/** Families that even a purpose without borders does not cover unless it says so. */
const NEVER_MEANT: ReadonlySet<string> = new Set(['gambling', 'adult', 'cash_like']);

/** Readings kept, oldest out first; one takes some tens of kilobytes. */
const MAX_READINGS = 500;
const readings = new Map<string, AuthorityReading>();

const read = new WeakMap<Authority['purpose'], AuthorityReading>();

/**
 * Reading a purpose is pure, so it is remembered: by its object, which nobody changes, and by its text, since
 * authorities often arrive as fresh objects.
 */
function readingOf(authority: Authority): AuthorityReading {
  const same = read.get(authority.purpose);
  if (same !== undefined) return same;
  const { objective, success_criteria = [], constraints = [], context = '' } = authority.purpose;
  const text = JSON.stringify([objective, success_criteria, constraints, context]);
  let reading = readings.get(text);
  if (reading === undefined) {
    reading = readAuthority(authority);
    const oldest = readings.size < MAX_READINGS ? undefined : readings.keys().next().value;
    if (oldest !== undefined) readings.delete(oldest);
    readings.set(text, reading);
  }
  read.set(authority.purpose, reading);
  return reading;
}

function assessmentOf(
  assessment: PurposeAssessment,
  confidence: number,
  rationale: string,
  evidence: readonly PurposeEvidence[],
): Assessment {
  const said = new Set<string>();
  const once = evidence.filter(({ field, text, effect }) => {
    const name = `${effect} ${field} ${text}`;
    return !said.has(name) && said.add(name);
  });
  return { assessment, confidence, method: METHOD, rationale, evidence: once.slice(0, MAX_EVIDENCE) };
}

const unclear = (confidence: number, rationale: string, evidence: readonly PurposeEvidence[] = []) =>
  assessmentOf('PURPOSE_UNCLEAR', confidence, rationale, evidence);

function foreignConflict(sighting: Sighting, authority: AuthorityReading): Conflict {
  const wanted = [...authority.trades].filter(([, quote]) => quote.strong).map(([trade]) => trade.label);
  const quote = [...authority.trades.values()].find((one) => one.strong);
  return {
    evidence: [
      { field: sighting.field, text: sighting.text, effect: 'conflicts' },
      ...(quote === undefined
        ? []
        : [{ field: quote.field, text: quote.text, effect: 'conflicts' as const }]),
    ],
    sentence: `"${sighting.text}" belongs to ${sighting.trades[0]?.label ?? 'another trade'}, while the purpose is about ${wanted.slice(0, 3).join(', ')}.`,
    confidence: sighting.trades.every(isPrivate) ? 0.8 : 0.65,
  };
}

/**
 * A purchase of a clearly different trade: goods of private life, several words of foreign trades, or a company known
 * for nothing that the purpose speaks of. One stray word of another business is not clear enough. A purpose that may
 * mean nearly anything has no foreign trades.
 */
function otherTrade(authority: AuthorityReading, fit: Fit): Conflict | undefined {
  const vice = [fit.foreignMerchant, fit.foreignGoods].find((one) =>
    one?.trades.some((trade) => NEVER_MEANT.has(trade.family)),
  );
  if (vice !== undefined && fit.goods_support < 0.5) return foreignConflict(vice, authority);
  if (authority.broad || authority.families.size === 0 || fit.goods_support >= 0.5) return undefined;
  const { foreignGoods, foreignMerchant, merchant_support } = fit;
  if (foreignGoods !== undefined) {
    const isCompanyForeign = foreignMerchant?.kind === 'company';
    const several = fit.foreign_count > 1 && merchant_support < ENOUGH_SUPPORT;
    if (privateGoods([foreignGoods]) !== undefined || several || isCompanyForeign) {
      return foreignConflict(foreignGoods, authority);
    }
  }
  return foreignMerchant?.kind === 'company' ? foreignConflict(foreignMerchant, authority) : undefined;
}

function describeSupport(fit: Fit): string {
  const bought = fit.supports.find((one) => one.field.startsWith('action.'));
  const wanted = fit.supports.find((one) => one.field.startsWith('purpose.'));
  return `"${bought?.text ?? ''}" is what the purpose asks for ("${wanted?.text ?? ''}"), and nothing in the request contradicts it.`;
}

/**
 * Judges a spend against its purpose by what the operator wrote and what is bought, with a table of trades and a
 * reading of constraints; no model, no clock, no I/O.
 *
 * Guarantees: same input, same answer; never throws on any request that passed validation; time linear in the length
 * of the input; text that addresses a judge, hidden characters and look-alike names never end in `PURPOSE_ALIGNED`;
 * `task`, `category` and `trace` never vouch for a spend; `context` and the limits are not looked at.
 */
export const assessBuiltIn: Assess = (authority: Authority, request: SpendRequest): Assessment => {
  const purpose = readingOf(authority);
  const spend = readSpend(request);
  const suspicions = suspicionsIn(spend, purpose);
  const judged = suspicions.some(
    (one) => one.evidence.field === 'action.description' && one.kind === 'language',
  )
    ? readSpend({
        ...request,
        action: { ...request.action, description: beforeAttack(spend.description.text) },
      })
    : spend;
  const fit = fitOf(judged, purpose);

  const conflicts = [
    ...brokenConstraints(spend, purpose),
    cashLike(spend, purpose),
    switchedPayee(spend, purpose),
    otherTrade(purpose, fit),
    overTaskCeiling(spend),
    overTolerance(spend, purpose),
    contradictedByTrace(spend, purpose),
    settledBefore(spend),
    refundElsewhere(spend),
    otherThanListed(spend, purpose),
    tookUpOther(spend),
    besidesWanted(spend, purpose),
    slicedSum(spend),
    purpose.on_request || purpose.broad || fit.support < ENOUGH_SUPPORT ? askedToLook(spend) : undefined,
  ].filter((one) => one !== undefined);
  const suspicious = suspicions.map((one) => one.evidence);
  const [first] = conflicts;
  if (first !== undefined) {
    const note = suspicions[0] === undefined ? '' : ` The request also ${suspicions[0].sentence}.`;
    const confidence = Math.min(0.95, first.confidence + 0.05 * (conflicts.length - 1 + suspicions.length));
    return assessmentOf('PURPOSE_MISALIGNED', confidence, `${first.sentence}${note}`, [
      ...conflicts.flatMap((one) => one.evidence),
      ...suspicious,
    ]);
  }

  const misled = suspicions.find((one) => !isBystander(one, spend, fit));
  if (misled !== undefined) {
    const certain = suspicions.some((one) => one.kind !== 'language' || isSaidByRequester(one));
    // What is bought may still be right when only planted text surrounds it: then a person should look.
    if (!certain && (fit.support >= ENOUGH_SUPPORT || answersTask(spend)) && !fit.parrots) {
      return unclear(
        0.6,
        `The purchase itself looks right, but the request ${misled.sentence}; a person should look.`,
        [...suspicious, ...fit.supports],
      );
    }
    return assessmentOf(
      'PURPOSE_MISALIGNED',
      certain ? 0.8 : 0.7,
      `The request ${misled.sentence}.`,
      suspicious,
    );
  }

  if (spend.cut)
    return unclear(0.5, 'The request carries more text than is read, so it cannot be vouched for.');
  const stranger = strangerToTask(spend);
  if (stranger !== undefined && purpose.on_request) {
    return assessmentOf(
      'PURPOSE_MISALIGNED',
      0.6,
      `"${stranger.bought}" is bought, while the task asks for "${stranger.asked}".`,
      [
        { field: 'action.description', text: stranger.bought, effect: 'conflicts' },
        { field: 'task', text: stranger.asked, effect: 'conflicts' },
      ],
    );
  }
  if (fit.parrots) {
    return unclear(
      0.6,
      'The description repeats the purpose word for word and does not say what is bought.',
      [{ field: 'action.description', text: spend.description.text.slice(0, 160), effect: 'suspicious' }],
    );
  }
  return weighed(spend, purpose, fit, suspicious);
};

/** The words stand where the one who asks wrote them, and are no quoted warning. */
const isSaidByRequester = ({ evidence }: Suspicion): boolean =>
  /^action\.(?:description|merchant|category|type)$/.test(evidence.field) && !QUOTED_WARNING.test(evidence.text);

const QUOTED_WARNING = /\b(?:warns?|warning|scam|phishing|beware|reported as|known (?:fraud|trick)|do not follow)\b/;

/**
 * Planted text in a step of the run that the spend plainly did not follow: it names neither payee nor goods nor sum,
 * and the money goes to somebody whom the operator wrote down.
 */
function isBystander(one: Suspicion, spend: SpendReading, fit: Fit): boolean {
  if (one.kind !== 'language' || !one.evidence.field.startsWith('trace[')) return false;
  if (!(fit.account_known || fit.merchant_named) || fit.support < ENOUGH_SUPPORT) return false;
  const step = spend.trace.find((text) => text.field === one.evidence.field);
  if (step === undefined) return false;
  const said = new Set(tokenize(step.text).map((token) => token.stem));
  const own = [...spend.merchantTokens, ...spend.descriptionTokens].filter(carriesMeaning);
  return !own.some((token) => said.has(token.stem)) && !figuresIn(step.folded).some(({ value }) => value === spend.amount);
}

/** The money goes to an account or handle, not to a processor's token. */
const isOwnAccount = ({ request: { action } }: SpendReading): boolean =>
  action.payee_id !== undefined && !TOKEN_RAILS.test(action.payee_id.slice(0, action.payee_id.indexOf(':')).toLowerCase());

const isNamed = (purpose: AuthorityReading, token: Token): boolean =>
  /^\p{Lu}/u.test(token.raw) && purpose.names.has(token.word);

/** Nothing but the wish of those to whom the operator leaves the choice, which the description answers. */
function wishOf(spend: SpendReading, purpose: AuthorityReading): Assessment {
  const name = spend.taskTokens.find((token) => isNamed(purpose, token));
  const quote = purpose.names.get(name?.word ?? '') ?? purpose.delegation;
  const shared = spend.descriptionTokens.find(
    (token) => carriesMeaning(token) && spend.taskTokens.some((one) => one.stem === token.stem),
  );
  if (quote === undefined || shared === undefined) {
    return unclear(0.5, 'Nothing that the operator wrote speaks for this spend.');
  }
  return assessmentOf(
    'PURPOSE_ALIGNED',
    0.55,
    `The purpose leaves the choice to others ("${quote.text}"), "${shared.raw}" is what the task asks for, and nothing contradicts it.`,
    [
      { field: quote.field, text: quote.text, effect: 'supports' },
      { field: 'action.description', text: shared.raw, effect: 'supports' },
      { field: 'task', text: shared.raw, effect: 'supports' },
    ],
  );
}

/** The first sighting that does not belong to the purpose and that the rest does not outweigh. */
function strayIn(fit: Fit, spend: SpendReading, purpose: AuthorityReading): Sighting | undefined {
  const stray = fit.foreignGoods ?? fit.foreignMerchant;
  if (stray === undefined) return undefined;
  const apart = stray.trades.every((trade) => isPrivate(trade) || SET_APART.has(trade.family));
  if (fit.account_known && !apart) return undefined;
  const outweighed =
    (fit.goods_support >= 0.5 || fit.merchant_support >= ENOUGH_SUPPORT) &&
    fit.support >= ENOUGH_SUPPORT &&
    fit.foreignMerchant === undefined;
  // What people ask for run by run may be of any trade.
  const asked =
    purpose.on_request && tokenize(stray.text).every((token) => spend.taskTokens.some((one) => one.stem === token.stem));
  return (outweighed || asked) && !apart ? undefined : stray;
}

/** Neither conflict nor suspicion: aligned if there is enough to stand on and nothing is left open. */
function weighed(
  spend: SpendReading,
  purpose: AuthorityReading,
  fit: Fit,
  suspicious: readonly PurposeEvidence[],
): Assessment {
  const stray = purpose.broad ? undefined : strayIn(fit, spend, purpose);
  if (stray !== undefined) {
    return unclear(0.5, `"${stray.text}" does not belong to what the purpose speaks of.`, [
      { field: stray.field, text: stray.text, effect: 'conflicts' },
      ...fit.supports,
    ]);
  }
  if (purpose.only_named !== undefined && !fit.merchant_named && !fit.account_known) {
    const text = purpose.only_named.text.slice(0, MAX_QUOTE_LENGTH);
    return unclear(0.55, `The purpose names whom it pays ("${text}"), and this merchant is not among them.`, [
      { field: 'action.merchant', text: spend.merchant.text.slice(0, MAX_QUOTE_LENGTH), effect: 'conflicts' },
      { field: purpose.only_named.field, text, effect: 'conflicts' },
    ]);
  }
  const unlisted = !fit.merchant_named && !fit.account_known;
  const keepsAccounts = purpose.accounts.size > 1 && isOwnAccount(spend);
  if (unlisted && (keepsAccounts || (purpose.lists_payees && entryFor(spend, purpose) !== undefined))) {
    return unclear(0.5, 'The operator keeps a list of whom to pay, and this payee is not on it.', [
      { field: 'action.merchant', text: spend.merchant.text.slice(0, MAX_QUOTE_LENGTH), effect: 'conflicts' },
      ...fit.supports,
    ]);
  }
  const share = taskShare(spend);
  const runBound = purpose.on_request || purpose.broad;
  const listed = entryFor(spend, purpose) !== undefined;
  const confirmed = confirmedByTrace(spend);
  // Where people are named whose wishes the agent serves, their wish in the task is what the operator wants.
  const wished = purpose.on_request && spend.taskTokens.some((token) => isNamed(purpose, token));
  const answered =
    runBound && (fit.support > 0 || confirmed || listed || wished) && (share >= 0.5 || listed);
  if (fit.support < ENOUGH_SUPPORT && !answered) {
    return unclear(
      fit.support > 0 ? 0.4 : 0.6,
      'Merchant and description do not show that this is what the purpose asks for.',
      fit.supports,
    );
  }
  const conditional = runBound || purpose.requirements.length > 0;
  const settled = fit.account_known || listed || confirmed || (fit.merchant_named && !runBound);
  if (conditional && !settled && share < 0.5 && (fit.goods_support < 0.5 || !fit.grounded)) {
    return unclear(
      0.45,
      'The purpose ties its spends to conditions or wishes, and the description does not say enough to tell.',
      fit.supports,
    );
  }
  if (purpose.on_request && fit.goods_support < ENOUGH_SUPPORT && !answersTask(spend) && !listed) {
    return unclear(
      0.45,
      'What is wanted is said run by run, and the description does not answer the task.',
      fit.supports,
    );
  }
  const need = purpose.on_request ? unmetNeed(spend) : undefined;
  if (need !== undefined) {
    return unclear(0.5, `The task insists on something ("${need.text}") that the run does not show to hold.`, [
      { field: need.field, text: need.text, effect: 'conflicts' },
      ...fit.supports,
    ]);
  }
  const open = openQuestion(spend) ?? unsureSize(spend, purpose);
  if (open !== undefined) {
    return unclear(0.55, `Something is still open: "${open.text}".`, [
      { field: open.field, text: open.text, effect: 'conflicts' },
      ...fit.supports,
    ]);
  }
  const condition = unseenCondition(spend, purpose, listed);
  if (condition !== undefined) {
    const text = condition.text.slice(0, MAX_QUOTE_LENGTH);
    return unclear(0.5, `The purpose sets a condition that the request does not show to hold: "${text}".`, [
      { field: condition.field, text, effect: 'conflicts' },
      ...fit.supports,
    ]);
  }
  if (fit.supports.length > 0) {
    const confidence = Math.min(0.95, 0.6 + 0.1 * fit.support);
    return assessmentOf('PURPOSE_ALIGNED', confidence, describeSupport(fit), [...fit.supports, ...suspicious]);
  }
  return wishOf(spend, purpose);
}
