import type { Decision } from '@purser/contract/decisions';
import { routes } from '@purser/contract/routes/people/signing-keys';
import type { routes as reviewRoutes } from '@purser/contract/routes/reviews/reviews';
import type { Signature } from '@purser/contract/signing/fields';
import { decisionDataHash } from '@purser/rules/domain/decisions';
import { shownHash } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { NO_REVIEW_POLICY, reviewPolicyHash } from '@purser/rules/reviews/review-policy';
import { factsOf, reviewClaim } from '@purser/rules/signing/history';
import { reviewPolicyClaim } from '@purser/rules/signing/statements';
import type pg from 'pg';
import { prepareSignedReview } from '../../../engine/commands/reviews/create-review.ts';
import type { CreateReviewInput } from '../../../engine/commands/reviews/review-case.ts';
import type { GivenSignature } from '../../../engine/commands/signing/given-signature.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { loadSigningKeys } from '../../../engine/signing/signing-key-rows.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { getDecision, loadDecisionRows } from '../../../engine/storage/decisions.ts';
import { getReviewPolicy } from '../../../engine/storage/reviews/review-policies.ts';
import { type Call, type CallOf, type Handler, type Route, serve } from '../../http/route.ts';
import { originOf, selfOf } from '../../people/callers.ts';
import type { Signing } from '../../people/signing.ts';
import { readReview } from '../../reviews/read-review.ts';
import { activeKeysOf, principalIn } from '../people/signing-keys.ts';

/** Makes the route that gives a reviewer the statement to sign. */
export function makeSignedReviewRoutes(options: { db: pg.Pool; lane: Lane; signing: Signing }): Route[] {
  const { db, lane, signing } = options;

  async function currentReview({ caller, params }: CallOf<typeof routes.beginSignedReview>) {
    const found = await getDecision(db, caller.workspace_id, params.id, null);
    return found?.decision.mode === 'SHADOW' ? (found.state?.review_id ?? null) : null;
  }

  const begin: Handler<typeof routes.beginSignedReview> = async (call) => {
    const self = selfOf(call);
    if (!call.caller.scopes.includes('review'))
      throw new ApiError('insufficient_scope', 'Your role may not review.');
    const keys = await loadSigningKeys(db, [self.workspace_id]);
    const { comment = null, action, reason_code } = call.body;
    // A review in SHADOW may correct the current one, which the statement does not name.
    const [row] = await loadDecisionRows(db, self.workspace_id, [call.params.id]);
    if (row === undefined) throw new ApiError('not_found', 'No such decision.');
    const credential_ids = activeKeysOf(keys, self.user_id).map(({ credential_id }) => credential_id);
    const input = {
      ...(await readReview(db, call)),
      supersedes: await currentReview(call),
      is_prepared: true,
    };
    const terms = await lane.submit(self.workspace_id, prepareSignedReview, input, originOf(call));
    const decision = JSON.parse(row.document) as Decision;
    const facts = { ...factsOf(decision), decision_hash: shownHash(decisionDataHash(row)) };
    const review = { action, reason_code, ...terms, comment, principal_id: principalIn(call) };
    const claim = reviewClaim(self.workspace_id, facts, review);
    return { status: 200, body: await signing.begin(self, claim, credential_ids) };
  };
  const beginPolicy: Handler<typeof routes.beginSignedReviewPolicy> = async (call) => {
    const self = selfOf(call);
    if (!call.caller.scopes.includes('admin'))
      throw new ApiError('insufficient_scope', 'Only an administrator can sign a review policy.');
    const keys = activeKeysOf(await loadSigningKeys(db, [self.workspace_id]), self.user_id);
    const before = await getReviewPolicy(db, self.workspace_id, null);
    const claim = reviewPolicyClaim({
      workspace_id: self.workspace_id,
      policy_hash: reviewPolicyHash(call.body.policy),
      previous_hash: (before ?? NO_REVIEW_POLICY).hash,
      principal_id: principalIn(call),
    });
    const credential_ids = keys.map(({ credential_id }) => credential_id);
    return { status: 200, body: await signing.begin(self, claim, credential_ids) };
  };
  return [serve(routes.beginSignedReviewPolicy)(beginPolicy), serve(routes.beginSignedReview)(begin)];
}

/** Returns the signature of a review, with what is wrong with it by what the chain does not know; null where there is none. */
export async function takeSignature(
  db: Queryable,
  signing: Signing,
  call: CallOf<typeof reviewRoutes.createReview>,
): Promise<CreateReviewInput['signature']> {
  const { signature } = call.body;
  if (signature === undefined) return null;
  const [row] = await loadDecisionRows(db, call.caller.workspace_id, [call.params.id]);
  const decision_hash = row === undefined ? '' : shownHash(decisionDataHash(row));
  const taken = await takeGiven(signing, call, signature);
  return taken && { ...taken, decision_hash };
}

/** Returns a signature with what is wrong with it by what the chain does not know; null where there is none. */
export async function takeGiven(
  signing: Signing,
  call: Pick<Call, 'caller'>,
  given: Signature | undefined,
): Promise<GivenSignature | null> {
  if (given === undefined) return null;
  if (call.caller.session === null) return { given, fault: 'a key sent it, and only a person signs' };
  return signing.take(selfOf(call), given);
}
