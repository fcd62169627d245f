import { isOwnRequest, whyFinal, whyUnreviewable } from '@purser/rules/domain/reviews';
import { whyNotAllowed } from '@purser/rules/policy/may-pay';
import { countsVoices } from '@purser/rules/reviews/places';
import { needsSignature } from '@purser/rules/reviews/signed-tiers';
import { claimFault, factsOf, reviewClaim } from '@purser/rules/signing/history';
import type { Refusal } from '../../lane/command.ts';
import { unknownQuestion } from '../../questions/answers-of-records.ts';
import { activeKeyOf } from '../signing/given-signature.ts';
import { recordedTerms } from './recorded-terms.ts';
import { whyNotRemembered } from './remember.ts';
import type { ReviewCase } from './review-case.ts';
import { MAKER_FORBIDDEN, separatesMakers } from './separation.ts';
import { whyNotStanding } from './standing-approval.ts';

/** One reason to refuse a review; null where it does not apply. */
export type Check = (given: ReviewCase) => Refusal | null;

/** The click of an account counts only for the member who has linked it and may still review. */
const notLinked: Check = ({ set, input: { slack_account }, origin }) => {
  if (slack_account === null) return null;
  const link = set.slack_links.holder(slack_account);
  const is_good =
    link?.is_of_epoch === true &&
    set.people
      .reviewers()
      .some(
        ({ user_id, principal_id }) => user_id === link.user_id && principal_id === origin.actor.principal_id,
      );
  return is_good
    ? null
    : { code: 'insufficient_scope', message: 'The account in Slack is linked to no member who may review.' };
};

const notReviewable: Check = ({ decision }) => whyUnreviewable(decision);

const ownRequest: Check = ({ decision, origin }) =>
  isOwnRequest(decision.requested_by, origin.actor)
    ? { code: 'self_review_forbidden', message: 'The requester of a spend cannot review it.' }
    : null;

const byKeyMaker: Check = ({ set, decision, reviewer, by_key_maker }) =>
  by_key_maker && (countsVoices(decision.review_tier ?? null) || separatesMakers(set, reviewer))
    ? { code: 'self_review_forbidden', message: MAKER_FORBIDDEN }
    : null;

const sameVoice: Check = ({ standing }) =>
  standing?.is_requester === true
    ? {
        code: 'self_review_forbidden',
        message: 'The same person or key is behind the request and the review.',
      }
    : null;

/** In this order: already_reviewed, insufficient_scope, approval_limit_exceeded. */
const noPlace: Check = ({ input, standing }) =>
  input.action !== 'ALLOW' || standing === null || standing.place.ok ? null : standing.place;

const final: Check = ({ decision, state, input }) => whyFinal(decision, state, input.supersedes);

const unknownQuestions: Check = ({ decision, input }) => {
  const problem = unknownQuestion(decision, input.named);
  return problem === null ? null : { code: 'invalid_request', message: problem };
};

const badSignature: Check = (given) => {
  const { set, input, origin, decision } = given;
  const { signature } = input;
  if (signature === null) {
    if (input.action !== 'ALLOW' || input.is_prepared || !needsSignature(decision)) return null;
    return { code: 'signature_required', message: 'An approval of this tier must be signed.' };
  }
  const invalid = (why: string) =>
    ({ code: 'signature_invalid', message: `The signature is not good: ${why}.` }) as const;
  const { principal_id } = origin.actor;
  const key = activeKeyOf(set, principal_id, signature);
  if (key === undefined) return invalid('it is of no active signing key of yours');
  const facts = { ...factsOf(decision), decision_hash: signature.decision_hash };
  const claim = reviewClaim(set.workspace_id, facts, {
    ...input,
    ...recordedTerms(given),
    principal_id,
  });
  const fault = signature.fault ?? claimFault(signature.given, key, claim, set.now_ms);
  return fault === null ? null : invalid(fault);
};

const notPayable: Check = ({ set, input, decision, state, agent, authority }) => {
  if (decision.mode !== 'ENFORCE' || input.action !== 'ALLOW') return null;
  const budgets = set.shared_budgets.all();
  const allowances = set.allowances.ofDecision(decision);
  return whyNotAllowed({ decision, state, agent, authority, budgets, allowances, now_ms: set.now_ms });
};

const notRemembered: Check = ({ set, decision, agent, input }) =>
  whyNotRemembered(set, decision, agent, input);

const notStanding: Check = (given) => whyNotStanding(given);

/** All checks. Their order is public: the first that applies is the answer. */
const CHECKS: readonly Check[] = [
  // insufficient_scope of a click in Slack
  notLinked,
  // not_reviewable
  notReviewable,
  // self_review_forbidden
  ownRequest,
  byKeyMaker,
  sameVoice,
  // review_final
  final,
  // invalid_request
  unknownQuestions,
  // already_reviewed, insufficient_scope, approval_limit_exceeded
  noPlace,
  // signature_required or signature_invalid
  badSignature,
  // authority_changed, budget_frozen or allowance_not_open
  notPayable,
  // insufficient_scope, invalid_request or merchant_limit of the listing
  notRemembered,
  // invalid_request, insufficient_scope or allowance_limit of the standing approval
  notStanding,
];

/** Returns why a review is refused: the first check that applies; null: it may be recorded. */
export function whyRefused(given: ReviewCase): Refusal | null {
  for (const check of CHECKS) {
    const refusal = check(given);
    if (refusal !== null) return refusal;
  }
  return null;
}
