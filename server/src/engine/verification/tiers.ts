import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import { hasTermsOf } from '@purser/rules/reviews/review-policy';
import type { Queryable } from '../storage/database.ts';
import { type listReviewPolicyPlaces, loadReviewPolicyVersions } from '../storage/reviews/review-policies.ts';
import type { Findings } from './findings.ts';

/** The versions of a workspace's review policy with their places in the chain, ascending. */
export type PolicyPlaces = Awaited<ReturnType<typeof listReviewPolicyPlaces>>;

/** The version in force when an event was appended; 0: none. */
function versionAt(places: PolicyPlaces, seq: number): number {
  return places.findLast((place) => place.seq < seq)?.version ?? 0;
}

/** The message for a decision that says something else of the review policy than it must. */
export const wrongTier = (decision_id: string, version: number): string =>
  `Decision ${decision_id} does not have the tier of version ${version} of the review policy.`;

/** Reports decisions whose tier is not that of the review policy in force when they were made. */
export async function checkTiers(
  db: Queryable,
  workspace_id: string,
  decisions: readonly { seq: number; decision: DecisionCore }[],
  places: PolicyPlaces,
  findings: Findings,
): Promise<void> {
  const versions = [...new Set(decisions.map(({ seq }) => versionAt(places, seq)))];
  const wanted = versions.filter((version) => version > 0).map((version) => ({ workspace_id, version }));
  const rows = wanted.length === 0 ? [] : await loadReviewPolicyVersions(db, wanted);
  const policies = new Map<number, ReviewPolicy | null>([[0, {}]]);
  for (const { version, policy } of rows) policies.set(version, parsed(policy));
  for (const { seq, decision } of decisions) {
    const version = versionAt(places, seq);
    const policy = policies.get(version) ?? null;
    // A version that is gone or no JSON any more is reported as a row itself.
    if (policy === null || hasTermsOf(decision, { version, policy })) continue;
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: wrongTier(decision.decision_id, version) });
  }
}

function parsed(policy: string): ReviewPolicy | null {
  try {
    return JSON.parse(policy) as ReviewPolicy;
  } catch {
    return null;
  }
}
