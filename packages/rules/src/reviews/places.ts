import type { ErrorCode } from '@purser/contract/errors';
import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { ReviewTier } from '@purser/contract/reviews/progress';
import { escalatesAt } from '../domain/decision-states.ts';
import type { DecisionCore } from '../domain/decisions.ts';
import type { ReviewRow } from '../domain/reviews.ts';

/** A reviewer as a tier sees them. */
export interface Approver {
  /** The principal that they act by; null: a key without one. */
  principal_id: string | null;
  /** The person behind it, or the id of the topmost key: a tier counts each once. */
  voice: string;
  /** True if the principal is that of a member other than the voice: it then gives no place. */
  has_foreign_principal: boolean;
}

/** An approval that counts already. */
export interface GivenApproval {
  principal_id: string | null;
  on_behalf_of: string | null;
  voice: string | null;
}

/** A member who is away, with the principal of the member who may use their place. */
export interface AbsentApprover {
  principal_id: string;
  delegate: string;
}

/** An ALLOW in ENFORCE that may be recorded or not. */
export interface AllowCase {
  tier: ReviewTier | null;
  /** True from the escalation's time on. */
  is_escalated: boolean;
  approver: Approver;
  given: readonly GivenApproval[];
  /** Those who are away now and may review. */
  absent: readonly AbsentApprover[];
  /** The principal and the voice of the requesting key. */
  requester: readonly (string | null)[];
  limits: NonNullable<ReviewPolicy['approver_limits']>;
  /** Minor units. */
  held_minor: number;
  currency: string;
}

/** A member or key that may review, as far as it matters who may decide a request. */
export interface Decider {
  principal_id: string;
  away_until: string | null;
  away_delegate: string | null;
}

/** Returns the members who are away at `now_ms`, with their delegates. */
export function absentAt(members: readonly Decider[], now_ms: number): AbsentApprover[] {
  return members.flatMap(({ principal_id, away_until, away_delegate }) =>
    away_until !== null && away_delegate !== null && Date.parse(away_until) > now_ms
      ? [{ principal_id, delegate: away_delegate }]
      : [],
  );
}

/** The place that an ALLOW uses, or why there is none. */
export type ReviewPlace =
  | { ok: true; on_behalf_of: string | null }
  | { ok: false; code: ErrorCode; message: string };

const refused = (code: ErrorCode, message: string): ReviewPlace => ({ ok: false, code, message });

/** True where it matters which person is behind an approval: several approvals, named approvers, or signatures. */
export function countsVoices(tier: ReviewTier | null): boolean {
  return tier !== null && (tier.approvals > 1 || tier.approvers !== undefined || tier.signed === true);
}

/** Returns whether the escalation's approvers of a decision count at `now_ms`. */
export function isEscalated(
  decision: Pick<DecisionCore, 'review_tier' | 'created_at'>,
  now_ms: number,
): boolean {
  const at = escalatesAt(decision);
  return at !== null && Date.parse(at) <= now_ms;
}

/** The approvals among the reviews of a decision in ENFORCE, in their order. */
export function approvalsAmong<Row extends Pick<ReviewRow, 'action'>>(reviews: readonly Row[]): Row[] {
  return reviews.filter(({ action }) => action === 'ALLOW');
}

/** The principals whose place a reviewer has: their own, and that of the person behind their key. */
function ownNames({ principal_id, voice, has_foreign_principal }: Approver): string[] {
  return principal_id === null || has_foreign_principal ? [voice] : [principal_id, voice];
}

/** Returns the principals who may allow a request of this tier now; null: anyone with `review`. */
export function approversNow(tier: ReviewTier | null, is_escalated: boolean): readonly string[] | null {
  if (tier?.approvers === undefined) return null;
  const { approvers, escalation } = tier;
  return is_escalated ? [...new Set([...approvers, ...(escalation?.approvers ?? [])])] : approvers;
}

/** Returns whether the limits of these principals let them allow the amount. One without any limit is not limited. */
function isWithinLimits({ limits, held_minor, currency }: AllowCase, names: readonly string[]): boolean {
  return names.every((name) => {
    const own = limits.filter(({ approver }) => approver === name);
    return (
      own.length === 0 || own.some((limit) => limit.currency === currency && limit.max_minor >= held_minor)
    );
  });
}

/** Returns the places that a reviewer might use, the own one first: null, or the absent approver. */
export function placesOf({
  tier,
  is_escalated,
  approver,
  absent,
  requester,
}: Pick<AllowCase, 'tier' | 'is_escalated' | 'approver' | 'absent' | 'requester'>): (string | null)[] {
  const names = ownNames(approver);
  const approvers = approversNow(tier, is_escalated);
  if (approvers === null) return [null];
  const own = names.some((name) => approvers.includes(name)) ? [null] : [];
  const lent = absent.filter(
    ({ principal_id, delegate }) =>
      names.includes(delegate) &&
      approvers.includes(principal_id) &&
      !names.includes(principal_id) &&
      !requester.includes(principal_id),
  );
  return [...own, ...lent.map(({ principal_id }) => principal_id)];
}

/**
 * Returns the place that an ALLOW uses: the reviewer's own, or that of an absent approver who named the reviewer as delegate,
 * under the lower of both limits. A voice and a place count once. The first problem is that of the public order:
 * `already_reviewed`, `insufficient_scope`, `approval_limit_exceeded`.
 */
export function placeOf(given: AllowCase): ReviewPlace {
  const { tier, approver } = given;
  const names = ownNames(approver);
  const may_use = placesOf(given);
  if (countsVoices(tier)) {
    if (given.given.some(({ voice }) => voice === approver.voice))
      return refused('already_reviewed', 'You have allowed this request already.');
    const used = new Set(
      given.given.flatMap(({ on_behalf_of, principal_id, voice }) =>
        on_behalf_of === null ? [principal_id, voice] : [on_behalf_of],
      ),
    );
    const isUsed = (place: string | null) =>
      place === null ? names.some((name) => used.has(name)) : used.has(place);
    if (may_use.length > 0 && may_use.every(isUsed))
      return refused('already_reviewed', 'Another reviewer has used this place already.');
    if (may_use.length === 0)
      return refused('insufficient_scope', 'The tier of this request has other approvers.');
    return withinLimit(
      given,
      may_use.filter((place) => !isUsed(place)),
    );
  }
  return withinLimit(given, may_use);
}

/** The first of these places whose limits let the reviewer allow the amount. */
function withinLimit(given: AllowCase, places: readonly (string | null)[]): ReviewPlace {
  const { principal_id, voice } = given.approver;
  const own = principal_id === null ? [voice] : [principal_id, voice];
  for (const on_behalf_of of places) {
    if (isWithinLimits(given, on_behalf_of === null ? own : [...own, on_behalf_of]))
      return { ok: true, on_behalf_of };
  }
  return refused('approval_limit_exceeded', 'The amount is over your limit in the review policy.');
}

/** A decision in ENFORCE that is pending, with everything that says who may decide it. */
export interface PendingDecision {
  decision: Pick<DecisionCore, 'review_tier' | 'created_at' | 'currency' | 'reservation'> & {
    requested_by: { principal_id: string | null };
  };
  /** The person behind the requesting key, or its topmost key. */
  requester_voice: string;
  /** The approvals so far. */
  given: readonly GivenApproval[];
  /** The limits of the policy version that applies to the decision. */
  limits: AllowCase['limits'];
}

/**
 * Returns the principals of the members who may allow a pending request at `now_ms`: its approvers, those of the escalation from
 * its time on, and the delegates of those who are away. Nobody who requested it or whose approval counts already is among them.
 */
export function mayDecide(
  { decision, requester_voice, given, limits }: PendingDecision,
  members: readonly Decider[],
  now_ms: number,
): string[] {
  const { review_tier: tier = null, currency, reservation, requested_by } = decision;
  const requester = [requested_by.principal_id, requester_voice];
  const absent = absentAt(members, now_ms);
  const is_escalated = isEscalated(decision, now_ms);
  return members.flatMap(({ principal_id }) => {
    if (requested_by.principal_id === principal_id) return [];
    if (countsVoices(tier) && requester_voice === principal_id) return [];
    const approver = { principal_id, voice: principal_id, has_foreign_principal: false };
    const about = { tier, is_escalated, approver, given, absent, requester, limits, currency };
    return placeOf({ ...about, held_minor: reservation.amount_minor }).ok ? [principal_id] : [];
  });
}
