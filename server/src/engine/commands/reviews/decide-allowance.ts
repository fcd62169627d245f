import type { DecideAllowance } from '@purser/contract/allowances/fields';
import type { Authority } from '@purser/contract/authority';
import { type Allowance, type AllowanceTerms, endsMs, termsOf } from '@purser/rules/counters/allowances';
import type { Origin } from '@purser/rules/domain/audit';
import { isOwnRequest } from '@purser/rules/domain/reviews';
import { formatMoney } from '@purser/rules/values/money';
import { type Command, done, type Refusal, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { expiryProblem } from '../allowances/new-allowance.ts';
import { publishAllowance } from '../allowances/publish-allowance.ts';
import { changeAllowance } from '../allowances/record-allowance.ts';
import { isMakerOf, MAKER_FORBIDDEN, reviewerOf, separatesMakers } from './separation.ts';

export interface DecideAllowanceInput {
  allowance_id: string;
  /** Its agent, and the key that requested it; neither ever changes. */
  agent_id: string | null;
  requesting_key_id: string | null;
  decision: DecideAllowance;
  /** True for an administrator, whose grants have no limit. */
  is_admin: boolean;
}

type Problem = [keyof DecideAllowance, string] | null;

/** The most that a person who is no administrator may grant in a currency, in minor units. */
export const reviewerLimit = (authority: Authority | null, currency: string): number =>
  authority?.currency === currency ? (authority.reviewer_allowance_limit_minor ?? 0) : 0;

/** Why a person who is no administrator may not grant this much; null: they may. */
export function whyOverLimit(
  authority: Authority | null,
  { currency, amount_minor }: Pick<Allowance, 'currency' | 'amount_minor'>,
): Refusal | null {
  const limit_minor = reviewerLimit(authority, currency);
  if (amount_minor <= limit_minor) return null;
  const limit = formatMoney(limit_minor, currency);
  return {
    code: 'insufficient_scope',
    message: `A reviewer may grant up to ${limit} (reviewer_allowance_limit_minor); an administrator can grant more.`,
  };
}

/** The problem with a number that may only be lowered; null: there is none. */
const notLower = (
  field: keyof DecideAllowance,
  given: number | undefined,
  requested: number | null,
): Problem =>
  given === undefined || requested === null || given <= requested
    ? null
    : [field, `is more than the ${requested} that was requested`];

/** The problem with a list that may only have fewer; null: there is none. */
const notFewer = (
  field: keyof DecideAllowance,
  given: readonly string[] | undefined,
  requested: readonly string[] | undefined,
): Problem => {
  const other = requested === undefined ? undefined : given?.find((each) => !requested.includes(each));
  return other === undefined ? null : [field, `"${other}" was not requested`];
};

/** The first field that would grant more than was requested; null: none does. */
function widened(allowance: Allowance, decision: DecideAllowance, now_ms: number): Problem {
  const { merchants, payee_ids } = termsOf(allowance);
  const { expires_at } = decision;
  const later =
    expires_at === undefined || Date.parse(expires_at) <= Date.parse(allowance.expires_at)
      ? null
      : (['expires_at', `is later than the ${allowance.expires_at} that was requested`] as const);
  return (
    notLower('amount_minor', decision.amount_minor, allowance.amount_minor) ??
    (later === null ? null : [...later]) ??
    (expires_at === undefined ? null : expiryProblem(expires_at, null, now_ms)) ??
    notLower('per_spend_limit_minor', decision.per_spend_limit_minor, allowance.per_spend_limit_minor) ??
    notLower('max_count', decision.max_count, allowance.max_count) ??
    notFewer('merchants', decision.merchants, merchants) ??
    notFewer('payee_ids', decision.payee_ids, payee_ids)
  );
}

/** Why nobody, or not this person, may decide it; null: they may. */
function whyNotDecided(
  set: WorkingSet,
  before: Allowance,
  input: DecideAllowanceInput,
  origin: Origin,
): Refusal | null {
  if (before.request === null)
    return {
      code: 'not_reviewable',
      message: 'Nobody requested this allowance: there is nothing to decide.',
    };
  const { requested_by } = JSON.parse(before.request) as {
    requested_by: { key_id: string | null; principal_id: string | null };
  };
  if (isOwnRequest(requested_by, origin.actor))
    return { code: 'self_review_forbidden', message: 'The requester of an allowance cannot decide it.' };
  const reviewer = reviewerOf(set, origin);
  const key_id = input.requesting_key_id;
  if (key_id !== null && isMakerOf(set, key_id, reviewer) && separatesMakers(set, reviewer))
    return { code: 'self_review_forbidden', message: MAKER_FORBIDDEN };
  if (before.status !== 'REQUESTED' || endsMs(before) <= set.now_ms)
    return { code: 'review_final', message: 'It was decided already, or the request has expired.' };
  return null;
}

/** The allowance as a person grants it: only a purpose that the person sends vouches. */
function granted(before: Allowance, decision: DecideAllowance): Allowance {
  const { purpose, merchants, payee_ids, answers = [] } = decision;
  const { expected_items, ...terms } = termsOf(before);
  const after: AllowanceTerms = {
    ...terms,
    ...(purpose === undefined ? { ...(expected_items && { expected_items }) } : { purpose }),
    ...(merchants === undefined ? {} : { merchants }),
    ...(payee_ids === undefined ? {} : { payee_ids }),
    answers,
  };
  return {
    ...before,
    status: 'OPEN',
    amount_minor: decision.amount_minor ?? before.amount_minor,
    expires_at: decision.expires_at ?? before.expires_at,
    per_spend_limit_minor: decision.per_spend_limit_minor ?? before.per_spend_limit_minor,
    max_count: decision.max_count ?? before.max_count,
    terms: JSON.stringify(after),
    vouches: purpose !== undefined,
  };
}

/** Decides a requested allowance, once and for all. Granting may only narrow what was requested. */
export const decideAllowance: Command<DecideAllowanceInput, Allowance> = {
  name: 'decideAllowance',
  needs: ({ allowance_id, agent_id, requesting_key_id }) => ({
    allowances: [allowance_id],
    agents: agent_id === null ? [] : [agent_id],
    keys: requesting_key_id === null ? [] : [requesting_key_id],
    workspace: true,
    reviewers: true,
    webhooks: true,
  }),
  apply(set, input, origin) {
    const { decision } = input;
    const before = set.allowances.get(input.allowance_id);
    if (before === undefined) return refuse('not_found', 'No such allowance.');
    const refusal = whyNotDecided(set, before, input, origin);
    if (refusal !== null) return { kind: 'refused', refusal };
    const is_allowed = decision.action === 'ALLOW';
    const wider = is_allowed ? widened(before, decision, set.now_ms) : null;
    if (wider !== null) return refuse('invalid_request', wider.join(': '));
    const after: Allowance = is_allowed ? granted(before, decision) : { ...before, status: 'DENIED' };
    const authority = before.agent_id === null ? null : set.authority(before.agent_id);
    const over = is_allowed && !input.is_admin ? whyOverLimit(authority?.authority ?? null, after) : null;
    if (over !== null) return { kind: 'refused', refusal: over };

    // After this point it is decided: nothing may refuse it.
    const { key_id, principal_id } = origin.actor;
    const { action, comment = null } = decision;
    const decided = { action, by: { key_id, principal_id }, comment, at: set.now };
    const recorded: Allowance = { ...after, decided: JSON.stringify(decided) };
    const named = is_allowed ? 'allowance.granted' : 'allowance.denied';
    const event_id = changeAllowance(set, { before, after: recorded, more: { comment } }, origin, named);
    publishAllowance(set, 'allowance.decided', recorded, origin, event_id);
    return done(recorded);
  },
};
