import type { Decision } from '@purser/contract/decisions';
import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { ReviewTier } from '@purser/contract/reviews/progress';
import { recordHash, shownHash } from '../domain/ledger.ts';
import type { ReviewPolicyRow } from '../domain/workspace.ts';
import type { FieldProblem } from '../policy/authority-problem.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** A tier as a policy writes it. */
type TierRule = NonNullable<ReviewPolicy['tiers']>[number];

/** `sha256:` + hex SHA-256 of the RFC 8785 form of the policy. */
export function reviewPolicyHash(policy: ReviewPolicy): string {
  return shownHash(recordHash(policy));
}

/** The policy of a workspace that never had one. */
export const NO_REVIEW_POLICY: ReviewPolicyRow = {
  version: 0,
  hash: reviewPolicyHash({}),
  policy: '{}',
  created_at: '1970-01-01T00:00:00.000Z',
  key_id: null,
  principal_id: null,
  note: null,
  seq: 0,
  signature: null,
};

const isGroup = (name: string) => !name.startsWith('user:');

/** Returns the principals that these names stand for, each once, in order. A group that does not exist has nobody. */
export function principalsOf({ groups = {} }: ReviewPolicy, names: readonly string[]): string[] {
  return [
    ...new Set(
      names.flatMap((name) =>
        isGroup(name) ? (Object.hasOwn(groups, name) ? (groups[name] as string[]) : []) : [name],
      ),
    ),
  ];
}

/**
 * Returns the tier that a policy has for a held amount, with its groups resolved: the currency's highest one that begins at or
 * below it. Null: none does, so one approval by anyone with `review` is enough.
 */
export function tierOf(policy: ReviewPolicy, currency: string, held_minor: number): ReviewTier | null {
  let found: TierRule | null = null;
  for (const tier of policy.tiers ?? []) {
    if (tier.currency !== currency || tier.from_minor > held_minor) continue;
    if (found === null || tier.from_minor > found.from_minor) found = tier;
  }
  if (found === null) return null;
  const { from_minor, approvals, approvers, signed, escalation } = found;
  return {
    from_minor,
    approvals,
    ...(approvers === undefined ? {} : { approvers: principalsOf(policy, approvers) }),
    ...(signed === true ? { signed } : {}),
    ...(escalation === undefined
      ? {}
      : {
          escalation: {
            after_seconds: escalation.after_seconds,
            approvers: principalsOf(policy, escalation.approvers),
          },
        }),
  };
}

/** Returns whether a review policy leaves a review of this amount to one approval that nobody has to sign. */
export function mayBeAnswered(policy: ReviewPolicy, currency: string, amount_minor: number): boolean {
  const tier = tierOf(policy, currency, amount_minor);
  return tier === null || (tier.approvals === 1 && tier.signed !== true);
}

/** The version and the tier of the review policy in a decision; empty where none applies to it. */
export type ReviewTerms = Pick<Decision, 'review_tier' | 'review_policy_version'>;

/**
 * Returns what a decision says of the review policy in force: its version and the tier for the held amount. Nothing in SHADOW,
 * for a decision other than REVIEW, and where no policy was ever put.
 */
export function reviewTerms(
  { version, policy }: { version: number; policy: ReviewPolicy },
  {
    mode,
    decision,
    currency,
    held_minor,
  }: Pick<Decision, 'mode' | 'decision' | 'currency'> & { held_minor: number },
): ReviewTerms {
  if (mode !== 'ENFORCE' || decision !== 'REVIEW' || version === 0) return {};
  const review_tier = tierOf(policy, currency, held_minor);
  const review_policy_version = version;
  return review_tier === null ? { review_policy_version } : { review_tier, review_policy_version };
}

/** Returns whether a decision says of the review policy what it must while this version is in force. */
export function hasTermsOf(
  decision: ReviewTerms & Pick<Decision, 'mode' | 'decision' | 'currency' | 'reservation'>,
  in_force: { version: number; policy: ReviewPolicy },
): boolean {
  const { review_tier, review_policy_version, mode, currency, reservation } = decision;
  const found = {
    ...(review_tier === undefined ? {} : { review_tier }),
    ...(review_policy_version === undefined ? {} : { review_policy_version }),
  };
  const made = { mode, decision: decision.decision, currency, held_minor: reservation.amount_minor };
  return canonicalJson(found) === canonicalJson(reviewTerms(in_force, made));
}

/** Every name of a policy that must be a member or key, with its field. */
export function namesOfPolicy(policy: ReviewPolicy): { field: string; principal_id: string }[] {
  const named: { field: string; principal_id: string }[] = [];
  const add = (field: string, names: readonly string[]) =>
    names.forEach((name, i) => {
      if (!isGroup(name)) named.push({ field: `${field}[${i}]`, principal_id: name });
    });
  for (const [name, members] of Object.entries(policy.groups ?? {})) add(`groups.${name}`, members);
  policy.tiers?.forEach((tier, i) => {
    add(`tiers[${i}].approvers`, tier.approvers ?? []);
    add(`tiers[${i}].escalation.approvers`, tier.escalation?.approvers ?? []);
  });
  policy.approver_limits?.forEach(({ approver }, i) => {
    named.push({ field: `approver_limits[${i}].approver`, principal_id: approver });
  });
  return named;
}

/** Returns the place of the first of `keys` that an earlier one repeats; -1 where each is there once. */
function repeated(keys: readonly string[]): number {
  return keys.findIndex((key, i) => keys.indexOf(key) !== i);
}

function groupProblem(policy: ReviewPolicy): FieldProblem | null {
  for (const [name, members] of Object.entries(policy.groups ?? {})) {
    const at = repeated(members);
    if (at >= 0) return { field: `groups.${name}[${at}]`, problem: 'is named twice' };
  }
  return null;
}

/** A name that is neither a group of the policy nor a principal, or that is named twice. */
function approversProblem(
  { groups = {} }: ReviewPolicy,
  field: string,
  names: readonly string[],
): FieldProblem | null {
  const unknown = names.findIndex((name) => isGroup(name) && !Object.hasOwn(groups, name));
  if (unknown >= 0)
    return { field: `${field}[${unknown}]`, problem: `there is no group "${names[unknown]}"` };
  const at = repeated(names);
  return at < 0 ? null : { field: `${field}[${at}]`, problem: 'is named twice' };
}

function tierProblem(policy: ReviewPolicy, tier: TierRule, field: string): FieldProblem | null {
  const { approvals, approvers, escalation } = tier;
  const wrong =
    approversProblem(policy, `${field}.approvers`, approvers ?? []) ??
    approversProblem(policy, `${field}.escalation.approvers`, escalation?.approvers ?? []);
  if (wrong !== null) return wrong;
  if (approvers === undefined) return null;
  const { length } = principalsOf(policy, approvers);
  return length < approvals ? { field: `${field}.approvals`, problem: tooFew(approvals, length) } : null;
}

/** The problem of a tier that needs more approvals than people can give. */
export const tooFew = (approvals: number, people: number): string =>
  `needs ${approvals} people, but its approvers are only ${people}`;

/** Returns the first problem that a policy has by itself; null: there is none. Whether its people exist is for the lane. */
export function reviewPolicyProblem(policy: ReviewPolicy): FieldProblem | null {
  const wrong = groupProblem(policy);
  if (wrong !== null) return wrong;
  const { tiers = [], approver_limits = [] } = policy;
  for (const [i, tier] of tiers.entries()) {
    const found = tierProblem(policy, tier, `tiers[${i}]`);
    if (found !== null) return found;
  }
  const tier = repeated(tiers.map(({ currency, from_minor }) => `${currency} ${from_minor}`));
  if (tier >= 0)
    return { field: `tiers[${tier}].from_minor`, problem: 'another tier of this currency begins here' };
  const limit = repeated(approver_limits.map(({ approver, currency }) => `${approver} ${currency}`));
  if (limit >= 0)
    return { field: `approver_limits[${limit}].currency`, problem: 'the approver has a limit in it already' };
  return null;
}
