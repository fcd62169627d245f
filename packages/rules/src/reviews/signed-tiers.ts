import type { Decision } from '@purser/contract/decisions';
import type { ReviewTier } from '@purser/contract/reviews/progress';
import { absentAt, type Decider, type GivenApproval, isEscalated, placesOf } from './places.ts';

/** A tier that takes signed approvals alone, with what says who may give one. */
export interface SignedTier {
  tier: ReviewTier;
  created_at: string;
  /** The principal of the key that requested the spend. */
  requester: string | null;
}

/** A signed approval of such a tier, by the person whose principal signed it. */
interface SignedApproval {
  principal_id: string;
  on_behalf_of: string | null;
  at_ms: number;
}

/** Returns whether each ALLOW of a decision must be signed. In SHADOW no tier binds. */
export function needsSignature({ mode, review_tier }: Pick<Decision, 'mode' | 'review_tier'>): boolean {
  return mode === 'ENFORCE' && review_tier?.signed === true;
}

/** Returns the tier of a decision whose every ALLOW must be signed; null: it has none. */
export function signedTierOf({
  mode,
  review_tier: tier,
  created_at,
  requested_by,
}: Pick<Decision, 'mode' | 'review_tier' | 'created_at' | 'requested_by'>): SignedTier | null {
  if (tier === undefined || !needsSignature({ mode, review_tier: tier })) return null;
  return { tier, created_at, requester: requested_by.principal_id };
}

/**
 * Counts the signed approvals of signed tiers along a chain, each person and each place once. Memory grows only with the
 * decisions that have too few.
 */
export class TierApprovals {
  readonly #given = new Map<string, GivenApproval[]>();
  readonly #incomplete = new Set<string>();

  /** Takes a new decision with such a tier. */
  begin(decision_id: string): void {
    this.#incomplete.add(decision_id);
  }

  /** Returns whether a decision that began here does not have all of its approvals. */
  isIncomplete(decision_id: string): boolean {
    return this.#incomplete.has(decision_id);
  }

  /** Counts an approval. Returns why it does not count; null: it does. `members` are those at its time. */
  add(
    decision_id: string,
    { tier, created_at, requester }: SignedTier,
    { principal_id, on_behalf_of, at_ms }: SignedApproval,
    members: readonly Decider[],
  ): string | null {
    const places = placesOf({
      tier,
      is_escalated: isEscalated({ review_tier: tier, created_at }, at_ms),
      approver: { principal_id, voice: principal_id, has_foreign_principal: false },
      absent: absentAt(members, at_ms),
      requester: [requester],
    });
    if (requester === principal_id || !places.includes(on_behalf_of))
      return 'its signer is no approver of the tier';
    const given = this.#given.get(decision_id) ?? [];
    const place = on_behalf_of ?? principal_id;
    if (given.some((each) => each.voice === principal_id || (each.on_behalf_of ?? each.voice) === place))
      return 'its signer or place has approved already';
    given.push({ principal_id, on_behalf_of, voice: principal_id });
    if (given.length < tier.approvals) {
      this.#given.set(decision_id, given);
      return null;
    }
    this.#given.delete(decision_id);
    this.#incomplete.delete(decision_id);
    return null;
  }
}
