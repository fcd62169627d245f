import type { Assess, Assessment, Judgement, PurposeEvidence, PurposeHistory } from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { allowedMerchant, inScopeIfAllowed, withAllowedMerchant } from './allowed-merchants.ts';
import { answersTask, notAsDemanded, unrelatedToTask } from './conditions.ts';
import {
  brokenConstraints,
  cashLike,
  contradictedByTrace,
  otherSource,
  otherUnit,
  overTaskCeiling,
  overTolerance,
} from './conflicts.ts';
import { ENOUGH_SUPPORT, type Fit, fitOf } from './fit.ts';
import { inLightOf, NO_PAST, type Past, pastOf } from './history.ts';
import { carriesMeaning } from './language/everyday-words.ts';
import { figuresIn } from './language/figures.ts';
import { indexMerchants } from './language/lexicon.ts';
import { beforeAttack, type Suspicion, suspicionsIn } from './manipulation.ts';
import { otherTrade } from './other-trade.ts';
import type { OwnMerchant } from './own-merchants.ts';
import { switchedPayee } from './payees.ts';
import { forPrivateLife } from './private-life.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import { makeReadingCache } from './reading/reading-cache.ts';
import {
  makeReadMerchant,
  type ReadMerchant,
  readSpend,
  type SpendReading,
} from './reading/spend-reading.ts';
import {
  askedToLook,
  besidesWanted,
  otherCount,
  otherThanListed,
  refundElsewhere,
  settledBefore,
  slicedSum,
  tookUpOther,
} from './records.ts';
import { assessmentOf, unclear } from './verdict.ts';
import { type Weighed, weighed } from './weighing.ts';

export { METHOD } from './verdict.ts';

/** The reading of a long purpose takes half a megabyte, that of an ordinary one some tens of kilobytes. */
const MAX_READINGS_BYTES = 64_000_000;
const { readingOf } = makeReadingCache(MAX_READINGS_BYTES);

/**
 * Makes the assessor that compares what is bought with what the operator wrote, by a table of trades and a reading of
 * the constraints. It uses no model, no clock and no I/O. `merchants`: merchants that the operator knows.
 *
 * Guarantees:
 * - The same input always returns the same assessment, and a request that passed validation never throws.
 * - Time is bounded, because requests and purposes are read only up to a limit. What is longer is never aligned.
 * - Text that addresses a judge, hidden characters and look-alike names are never aligned.
 * - `task`, `category` and `trace` never vouch for a spend. `context` and the limits of the authority are not read.
 */
export function makeBuiltInAssessor(merchants: readonly OwnMerchant[] = []): Assess {
  const readMerchant = makeReadMerchant(merchants.length === 0 ? undefined : indexMerchants(merchants));
  return (authority, request, history) => judgementOf(assess(authority, request, history, readMerchant));
}

/** The built-in assessor without merchants of the operator. */
export const assessBuiltIn: Assess = makeBuiltInAssessor();

/** The judgement of an assessment that nothing in the facts vouches for, and that any model may be asked about. */
const judgementOf = (assessment: Assessment): Judgement => ({
  ...assessment,
  vouched_by: null,
  is_final: false,
});

function assess(
  authority: Authority,
  request: SpendRequest,
  history: PurposeHistory | undefined,
  readMerchant: ReadMerchant,
): Assessment {
  const purpose = readingOf(authority);
  const past = pastOf(request, history);
  const allowed = allowedMerchant(authority, request);
  const { assessment, is_settleable, is_named } = judge(
    purpose,
    request,
    past,
    allowed,
    readMerchant,
    authority.on_purpose_unclear === 'ALLOW',
  );
  return past === NO_PAST
    ? assessment
    : inLightOf(past, assessment, { is_settleable: is_settleable && !purpose.on_request, is_named });
}

/** Judges the spend by itself. `past` matters only if people confirmed a merchant whose trade is out of scope. */
function judge(
  purpose: AuthorityReading,
  request: SpendRequest,
  past: Past,
  allowed: PurposeEvidence[] | null,
  readMerchant: ReadMerchant,
  passes_unclear: boolean,
): Weighed & { is_named: boolean } {
  const spend = readSpend(request, readMerchant);
  const suspicions = suspicionsIn(spend, purpose);
  const judged = suspicions.some(
    (one) => one.evidence.field === 'action.description' && one.kind === 'language',
  )
    ? readSpend(
        { ...request, action: { ...request.action, description: beforeAttack(spend.description.text) } },
        readMerchant,
      )
    : spend;
  const fit = inScopeIfAllowed(fitOf(judged, purpose), allowed);
  const refused = refusal(spend, purpose, fit, suspicions, past, passes_unclear);
  const is_named = fit.merchant_named || fit.account_known;
  if (refused !== undefined) return { assessment: refused, is_settleable: false, is_named };
  const suspicious = suspicions.map((one) => one.evidence);
  return { ...weighed(spend, purpose, withAllowedMerchant(fit, allowed), suspicious), is_named };
}

/** The assessment if something speaks against the spend, whatever speaks for it; undefined otherwise. */
function refusal(
  spend: SpendReading,
  purpose: AuthorityReading,
  fit: Fit,
  suspicions: readonly Suspicion[],
  past: Past,
  passes_unclear: boolean,
): Assessment | undefined {
  const conflicts = [
    ...brokenConstraints(spend, purpose),
    otherSource(spend, purpose),
    forPrivateLife(spend, purpose),
    otherUnit(spend, purpose),
    cashLike(spend, purpose),
    switchedPayee(spend, purpose),
    past.confirmed === undefined ? otherTrade(spend, purpose, fit) : undefined,
    overTaskCeiling(spend),
    overTolerance(spend, purpose),
    contradictedByTrace(spend, purpose),
    notAsDemanded(spend, purpose),
    settledBefore(spend),
    refundElsewhere(spend),
    otherThanListed(spend, purpose),
    tookUpOther(spend),
    otherCount(spend),
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
    // Planted text around a purchase does not make it wrong, so a person should look.
    if (
      !certain &&
      (fit.support >= ENOUGH_SUPPORT || (purpose.on_request && answersTask(spend))) &&
      !fit.echoes_purpose
    ) {
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
    return unread('The request carries more text than is read, so it cannot be vouched for.', passes_unclear);
  if (purpose.cut)
    return unread('The purpose has more text than is read, so no spend can be vouched for.', passes_unclear);
  const unrelated = unrelatedToTask(spend);
  if (unrelated !== undefined && purpose.on_request) {
    return assessmentOf(
      'PURPOSE_MISALIGNED',
      0.6,
      `"${unrelated.bought}" is bought, while the task asks for "${unrelated.asked}".`,
      [
        { field: 'action.description', text: unrelated.bought, effect: 'conflicts' },
        { field: 'task', text: unrelated.asked, effect: 'conflicts' },
      ],
    );
  }
  if (fit.echoes_purpose) {
    return unclear(
      0.6,
      'The description repeats the purpose word for word and does not say what is bought.',
      [{ field: 'action.description', text: spend.description.text.slice(0, 160), effect: 'suspicious' }],
    );
  }
  return undefined;
}

/**
 * The assessment of text that was not read to its end. It is misaligned where the operator lets unclear spends pass:
 * otherwise an agent could write so much that what speaks against its spend is not read.
 */
function unread(sentence: string, passes_unclear: boolean): Assessment {
  return passes_unclear ? assessmentOf('PURPOSE_MISALIGNED', 0.5, sentence, []) : unclear(0.5, sentence);
}

/** True if the requester wrote the words itself, and not as the quotation of a warning. */
const isSaidByRequester = ({ evidence }: Suspicion): boolean =>
  /^action\.(?:description|merchant|category|type)$/.test(evidence.field) &&
  !QUOTED_WARNING.test(evidence.text);

const QUOTED_WARNING =
  /\b(?:warns?|warning|scam|phishing|beware|reported as|known (?:fraud|trick)|do not follow)\b/;

/**
 * True for planted text in a trace step that the spend plainly did not follow: the step names neither payee nor goods nor
 * amount, and the money goes to a payee that the operator wrote down.
 */
function isBystander(one: Suspicion, spend: SpendReading, fit: Fit): boolean {
  if (one.kind !== 'language' || !one.evidence.field.startsWith('trace[')) return false;
  if (!(fit.account_known || fit.merchant_named) || fit.support < ENOUGH_SUPPORT) return false;
  const step = spend.trace.find((text) => text.field === one.evidence.field);
  if (step === undefined) return false;
  const said = new Set(step.tokens.map((token) => token.stem));
  const own = [...spend.merchant_tokens, ...spend.description_tokens].filter(carriesMeaning);
  return (
    !own.some((token) => said.has(token.stem)) &&
    !figuresIn(step.folded).some(({ value }) => value === spend.amount)
  );
}
