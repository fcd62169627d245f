import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { Origin } from '@purser/rules/domain/audit';
import type { ApiKey } from '@purser/rules/domain/keys';
import type { ReviewPolicyRow } from '@purser/rules/domain/workspace';
import type { FieldProblem } from '@purser/rules/policy/authority-problem';
import { namesOfPolicy, principalsOf, reviewPolicyHash, tooFew } from '@purser/rules/reviews/review-policy';
import { claimFault } from '@purser/rules/signing/history';
import { signatureText } from '@purser/rules/signing/records/signatures';
import { hasSignedTier, reviewPolicyClaim } from '@purser/rules/signing/statements';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { type Command, done, type Refusal, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { parseReviewPolicy } from '../../storage/reviews/review-policies.ts';
import { activeKeyOf, type GivenSignature } from '../signing/given-signature.ts';

export interface PutReviewPolicyInput {
  policy: ReviewPolicy;
  note: string | null;
  /** The hash that the current version must have; null: whatever it is. */
  expected_hash: string | null;
  /** An administrator's signature; null: none was given. */
  signature: GivenSignature | null;
}

/** The people who may review, by principal: each with the voices behind it. */
type Reviewers = ReadonlyMap<string, ReadonlySet<string>>;

/** The voice of a key for the count of people: a person's keys are that person. */
const voiceOf = (key: ApiKey) => key.made_by_person ?? key.principal_id ?? key.key_id;

function reviewersOf(set: WorkingSet): { named: Reviewers; voices: ReadonlySet<string> } {
  const named = new Map<string, Set<string>>();
  const voices = new Set<string>();
  const add = (principal_id: string | null, voice: string) => {
    voices.add(voice);
    if (principal_id === null) return;
    const behind = named.get(principal_id) ?? new Set();
    named.set(principal_id, behind.add(voice));
  };
  for (const { principal_id } of set.people.reviewers()) add(principal_id, principal_id);
  const members = new Set(named.keys());
  for (const key of set.keys.reviewing()) {
    // A key in a member's name counts as its maker, never as the member.
    const is_foreign = key.principal_id !== null && members.has(key.principal_id);
    add(is_foreign ? null : key.principal_id, voiceOf(key));
  }
  return { named, voices };
}

/** Returns the first problem that a policy has with the people of the workspace; null: there is none. */
function peopleProblem(set: WorkingSet, policy: ReviewPolicy): FieldProblem | null {
  const { named, voices } = reviewersOf(set);
  const signers = new Set(
    set.signing_keys
      .all()
      .filter(({ status }) => status === 'ACTIVE')
      .map(({ principal_id }) => principal_id),
  );
  const unknown = namesOfPolicy(policy).find(({ principal_id }) => !named.has(principal_id));
  if (unknown !== undefined)
    return { field: unknown.field, problem: 'must be a member or a key that may review' };
  for (const [i, { approvals, approvers, signed }] of (policy.tiers ?? []).entries()) {
    const people =
      approvers === undefined
        ? voices
        : new Set(principalsOf(policy, approvers).flatMap((name) => [...(named.get(name) ?? [])]));
    if (people.size < approvals)
      return { field: `tiers[${i}].approvals`, problem: tooFew(approvals, people.size) };
    const signing = [...people].filter((person) => signers.has(person)).length;
    if (signed === true && signing < approvals)
      return {
        field: `tiers[${i}].signed`,
        problem: `needs ${approvals} approvers with an active signing key`,
      };
  }
  return null;
}

/** Returns why a policy's signature is missing or not good; null: it is good, or none is needed and none was given. */
function signatureRefusal(
  set: WorkingSet,
  { policy, signature }: Pick<PutReviewPolicyInput, 'policy' | 'signature'>,
  before: ReviewPolicyRow,
  { actor }: Origin,
): Refusal | null {
  if (signature === null) {
    const is_needed = hasSignedTier(policy) || hasSignedTier(parseReviewPolicy(before));
    const message =
      'A policy with signed tiers, and one that replaces it, needs the signature of an administrator.';
    return is_needed ? { code: 'signature_required', message } : null;
  }
  const { principal_id } = actor;
  const key = activeKeyOf(set, principal_id, signature);
  const claim = reviewPolicyClaim({
    workspace_id: set.workspace_id,
    policy_hash: reviewPolicyHash(policy),
    previous_hash: before.hash,
    principal_id: principal_id ?? '',
  });
  const fault =
    key === undefined
      ? 'it is of no active signing key of yours'
      : (signature.fault ?? claimFault(signature.given, key, claim, set.now_ms));
  return fault === null
    ? null
    : { code: 'signature_invalid', message: `The signature is not good: ${fault}.` };
}

/** Adds the next version of the workspace's review policy, in force from the next decision on. */
export const putReviewPolicy: Command<PutReviewPolicyInput, ReviewPolicyRow> = {
  name: 'putReviewPolicy',
  needs: () => ({ review_policy: true, reviewers: true, review_keys: true, signing_keys: true }),
  apply(set, { policy, note, expected_hash, signature }, origin) {
    const before = set.reviewPolicy();
    if (expected_hash !== null && before.hash !== expected_hash) {
      return refuse(
        'review_policy_changed',
        `if-match names another version of the review policy: it is at version ${before.version} (${before.hash}). Read it again and repeat the change.`,
      );
    }
    const wrong = peopleProblem(set, policy);
    if (wrong !== null) return refuse('invalid_request', `${wrong.field}: ${wrong.problem}`);
    const unsigned = signatureRefusal(set, { policy, signature }, before, origin);
    if (unsigned !== null) return { kind: 'refused', refusal: unsigned };
    const row: ReviewPolicyRow = {
      version: before.version + 1,
      hash: reviewPolicyHash(policy),
      policy: canonicalJson(policy),
      created_at: set.now,
      key_id: origin.actor.key_id,
      principal_id: origin.actor.principal_id,
      note,
      seq: set.head.seq + 1,
      signature: signature === null ? null : signatureText(signature.given),
    };
    set.addReviewPolicy(row);
    set.audit('review_policy.updated', { type: 'review_policy', id: set.workspace_id }, origin, {
      from: { version: before.version, hash: before.hash, policy: parseReviewPolicy(before) },
      to: { version: row.version, hash: row.hash, policy, ...(note === null ? {} : { note }) },
      state: { review_policy: row },
    });
    return done(row);
  },
};
