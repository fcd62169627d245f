import type { Decision, Reservation } from '@purser/contract/decisions';
import type { Capability } from '@purser/contract/records';
import { countersOfAllowance, earliestExpiry, type LoadedAllowance } from '@purser/rules/counters/allowances';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import { budgetStatus, periodOf } from '@purser/rules/domain/budget';
import { capabilityExpiry, newCapability } from '@purser/rules/domain/capabilities';
import { composeDecision, encodeDecision } from '@purser/rules/domain/decision-document';
import { escalatesAt, newHoldExpiresAt } from '@purser/rules/domain/decision-states';
import { decisionRow } from '@purser/rules/domain/decisions';
import { noReservation, reservationIdOf } from '@purser/rules/domain/reservations';
import { whyInactive } from '@purser/rules/domain/workspace';
import { isLease, LEASE_TTL_SECONDS } from '@purser/rules/leases/leases';
import { loadedAllowances } from '@purser/rules/policy/allowances';
import { withSlots } from '@purser/rules/policy/counters';
import { decide, type Verdict } from '@purser/rules/policy/decide';
import { remediesOf, smallerAmountOf } from '@purser/rules/policy/remedies';
import { countedLimits, loadedBudgets } from '@purser/rules/policy/shared-budgets';
import { mayBeAnswered, type ReviewTerms, reviewTerms } from '@purser/rules/reviews/review-policy';
import { type Command, type CommandResult, done, refuse } from '../lane/command.ts';
import type { WorkingSet } from '../lane/working-set.ts';
import { publishReachedLimits } from '../limits/reached-limits.ts';
import {
  countAsked,
  hasSameAnswers,
  questionsOf,
  questionsWithCounts,
} from '../questions/asked-questions.ts';
import { parseReviewPolicy } from '../storage/reviews/review-policies.ts';
import {
  allowancesCounted,
  allowancesOf,
  budgetsNamed,
  chainOf,
  namedAllowance,
  standingOf,
} from './allowances/chain.ts';
import { publishReachedAllowances } from './allowances/publish-allowance.ts';
import {
  alertingLimits,
  type CreateDecisionInput,
  type CreatedDecision,
  countersAssessed,
  countersOfSmaller,
  duplicatesOf,
  type KnownAuthority,
  merchantAsked,
  type StaleDecision,
  UNASSESSED,
} from './spend-to-decide.ts';

export type {
  Assessed,
  CreateDecisionInput,
  CreatedDecision,
  KnownAuthority,
  StaleDecision,
} from './spend-to-decide.ts';

type Decided = CommandResult<CreatedDecision, StaleDecision>;

/** Refuses a request of another agent than the key's, of an agent that may not spend, or with a key that another request used. */
function whyNotAsked(set: WorkingSet, agent: Agent, input: CreateDecisionInput): Decided | null {
  const { agent_id, slug } = agent;
  const named = input.request.agent ?? slug;
  if (input.bound && named !== slug && named !== agent_id) {
    return refuse('agent_mismatch', `This key is bound to the agent "${slug}" and cannot act for another.`);
  }
  const inactive = whyInactive(agent, set.stop);
  return inactive === null ? null : refuse('agent_not_active', inactive);
}

/** Returns the earlier answer to this idempotency key, or the refusal where it answered another request. */
function replayOf(set: WorkingSet, { agent_id }: Agent, input: CreateDecisionInput): Decided | null {
  const earlier = set.earlierDecision(agent_id, input.idempotency_key);
  if (earlier === undefined) return null;
  return earlier.request_hash.equals(input.request_hash)
    ? done({ replayed: true, document: earlier.document, live_at: earlier.live_at, decided: null })
    : refuse(
        'idempotency_conflict',
        'The idempotency key was already used for a different request; use a new one.',
      );
}

function knownAuthority(set: WorkingSet, agent: Agent): KnownAuthority | null {
  const { agent_id, directory_version, answers_version, allowances_version } = agent;
  const current = set.authority(agent_id);
  return (
    current && {
      hash: current.row.hash,
      authority: current.authority,
      directory_version,
      answers_version,
      allowances_version,
    }
  );
}

function isAssessedFor(
  set: WorkingSet,
  agent: Agent,
  { assessed, standing }: Pick<CreateDecisionInput, 'assessed' | 'standing'>,
  { hash, directory_version }: KnownAuthority,
): boolean {
  return (
    assessed?.authority_hash === hash &&
    assessed.directory.version === directory_version &&
    (standing?.version ?? 0) === agent.allowances_version &&
    hasSameAnswers(set, agent, assessed)
  );
}

/** Everything that the decision depends on, as the batch finds it. */
function factsOf(
  set: WorkingSet,
  { agent_id }: Agent,
  input: CreateDecisionInput,
  known: KnownAuthority | null,
) {
  const { request, assessed, also_minor, chain } = input;
  const { authority, assessment, directory } = known === null || assessed === null ? UNASSESSED : assessed;
  const currency = authority?.currency ?? request.action.currency;
  const merchant = merchantAsked(input);
  return {
    authority,
    request,
    directory,
    budget: set.budget(agent_id, periodOf(set.now_ms), currency),
    counters: withSlots(countersAssessed(input), (counter) => set.counters.slots(counter)),
    ...(also_minor === undefined ? {} : { duplicates_of: duplicatesOf(input, set.counters) }),
    shared_budgets:
      authority === null
        ? []
        : loadedBudgets(budgetsNamed(input) ?? [], set.shared_budgets.all(), set.counters),
    ...(chain === undefined ? {} : { allowances: loadedAllowances(chainOf(set, chain), set.counters) }),
    answers_ahead: {
      standing: loadedAllowances(
        standingOf(input).flatMap(({ allowance_id }) => set.allowances.get(allowance_id) ?? []),
        set.counters,
      ),
      mayAnswer: (amount_minor: number) =>
        mayBeAnswered(parseReviewPolicy(set.reviewPolicy()), request.action.currency, amount_minor),
    },
    assessment,
    is_known_merchant: merchant !== undefined && set.isKnownMerchant(merchant),
    now_ms: set.now_ms,
  };
}
type Facts = ReturnType<typeof factsOf>;

/** A smaller amount that a denied spend may be offered once its duplicates were loaded; null where there is none. */
function amountToLoad(input: CreateDecisionInput, facts: Facts, verdict: Verdict): number | null {
  if (verdict.decision !== 'DENY' || input.also_minor !== undefined) return null;
  // A remedy is offered only where it was tried, and what a smaller amount would repeat was not loaded.
  return facts.authority?.duplicate_window_seconds === undefined ? null : smallerAmountOf(facts, verdict);
}

interface TimeLimits {
  review_ttl_seconds: number;
  capability_ttl_seconds: number;
  /** True with a mail server: people who may decide a request are mailed. */
  mails_people?: boolean;
}

/** A spend that was decided and not written yet. */
interface DecidedSpend {
  decision_id: string;
  agent: Agent;
  facts: Facts;
  verdict: Verdict;
  /** The allowances that it counts in: those that it was made under, and the standing approval that was used. */
  counts_in: readonly LoadedAllowance[];
}

/** The capability that the decision issues: an ALLOW in ENFORCE has one. */
function issueCapability(
  { decision_id, agent, facts, verdict, counts_in }: DecidedSpend,
  capability_ttl_seconds: number,
): Capability | null {
  const { authority, request, now_ms } = facts;
  if (agent.mode !== 'ENFORCE' || verdict.decision !== 'ALLOW' || authority === null) return null;
  const ttl_seconds = isLease(authority, request.action)
    ? Math.min(LEASE_TTL_SECONDS, capability_ttl_seconds)
    : capability_ttl_seconds;
  const expires_at = capabilityExpiry(now_ms, ttl_seconds, authority, earliestExpiry(counts_in));
  const action = { ...request.action, amount_minor: verdict.held_amount_minor };
  return newCapability(decision_id, action, now_ms, expires_at);
}

/** The terms of a decision under the review policy that is in force for this batch. */
function termsInForce(
  set: WorkingSet,
  { mode }: Agent,
  { decision }: Verdict,
  { currency, amount_minor }: Reservation,
): ReviewTerms {
  const row = set.reviewPolicy();
  const in_force = { version: row.version, policy: parseReviewPolicy(row) };
  return reviewTerms(in_force, { mode, decision, currency, held_minor: amount_minor });
}

/** Notifies channels and people of a decision that waits for a review. In SHADOW none does. */
function giveNotice(set: WorkingSet, made: Decision): void {
  if (made.mode !== 'ENFORCE' || made.decision !== 'REVIEW') return;
  const { remind_before_seconds = null } = parseReviewPolicy(set.reviewPolicy());
  set.outbox.notices.requested(made, { remind_before_seconds, escalates_at: escalatesAt(made) });
}

/** Publishes what a decision reached in its limits and allowances. */
function publishReached(set: WorkingSet, made: Decision, { authority }: Facts, origin: Origin): void {
  publishReachedLimits(set, made, authority, origin);
  publishReachedAllowances(set, made, origin);
}

/** Holds the money of a decision against its month. Returns the hold, with the limits that it counts in. */
function reserve(
  set: WorkingSet,
  { decision_id, agent, facts, verdict, counts_in }: DecidedSpend,
  capability: Capability | null,
  review_ttl_seconds: number,
): Reservation {
  const { authority, request } = facts;
  const { currency } = request.action;
  const { decision, held_amount_minor: amount_minor } = verdict;
  const period = periodOf(set.now_ms);
  const budget = set.budget(agent.agent_id, period, currency);
  // A limit in another currency says nothing about this counter.
  const in_its_currency = authority?.currency === currency;
  const limit_minor = in_its_currency ? (authority.monthly_budget_minor ?? null) : null;
  const own = { count: decision === 'DENY' ? 0 : 1, amount_minor };
  // What an allowance in another currency denied says nothing about it either.
  const allowances = counts_in.filter((each) => each.currency === currency);
  const { counters, shared_budgets, now_ms } = facts;
  const counted = in_its_currency ? countedLimits({ counters, shared_budgets, allowances, now_ms }, own) : [];
  const limits = counted.length === 0 ? {} : { limits: counted };
  if (decision === 'DENY')
    return Object.assign({}, noReservation(currency, period, budget, limit_minor), limits);
  const held = { ...budget, held_minor: budget.held_minor + amount_minor };
  set.putBudget(held);
  return {
    reservation_id: reservationIdOf(decision_id),
    status: 'HELD',
    amount_minor,
    currency,
    period,
    expires_at: newHoldExpiresAt(
      agent.mode,
      decision,
      capability,
      set.now_ms,
      authority?.review_ttl_seconds ?? review_ttl_seconds,
      earliestExpiry(counts_in),
    ),
    budget: budgetStatus(held, limit_minor),
    ...limits,
  };
}

/**
 * Decides a spend and holds its money, in one step. A used idempotency key returns the earlier decision. The result is
 * stale if the spend was assessed for another authority, other listed merchants or other answers than those that are current at the
 * batch timestamp; also where a smaller amount may be offered instead of a denied one, and what that would repeat has to be loaded
 * first (`also_minor`). So a listing, and an answer, is in force from the next decision on, on every node.
 */
export function makeCreateDecision(
  options: TimeLimits,
): Command<CreateDecisionInput, CreatedDecision, StaleDecision> {
  return {
    name: 'createDecision',
    needs: (input) => ({
      agents: [input.agent_id],
      budgets_of: [input.agent_id],
      counters: [
        ...countersAssessed(input).values(),
        ...countersOfSmaller(input).values(),
        ...allowancesOf(input).flatMap(countersOfAllowance),
      ],
      idempotency: { agent_id: input.agent_id, idempotency_key: input.idempotency_key },
      known_merchant: merchantAsked(input),
      limit_alerts: alertingLimits(input),
      questions: questionsOf(input),
      shared_budgets: budgetsNamed(input),
      allowances: allowancesOf(input).map(({ allowance_id }) => allowance_id),
      review_policy: true,
      webhooks: true,
      notice_bursts_of: [input.agent_id],
      notified_people: options.mails_people === true,
    }),
    apply(set, input, origin) {
      const agent = set.agent(input.agent_id);
      if (agent === undefined) return refuse('not_found', 'No such agent.');
      const answered = whyNotAsked(set, agent, input) ?? replayOf(set, agent, input);
      if (answered !== null) return answered;
      const known = knownAuthority(set, agent);
      if (known !== null && !isAssessedFor(set, agent, input, known))
        return { kind: 'stale', current: known };
      const facts = factsOf(set, agent, input, known);
      const verdict = decide(facts);
      const also_minor = amountToLoad(input, facts, verdict);
      if (known !== null && also_minor !== null) return { kind: 'stale', current: { ...known, also_minor } };

      // After this point the decision is made: nothing may refuse it.
      const decision_id = set.newId('decision');
      const decided = { decision_id, agent, facts, verdict, counts_in: allowancesCounted(facts, verdict) };
      const capability = issueCapability(decided, options.capability_ttl_seconds);
      const reservation = reserve(set, decided, capability, options.review_ttl_seconds);
      const made = composeDecision({
        decision_id,
        agent,
        request: input.request,
        ...(input.observed === undefined ? {} : { observed: input.observed }),
        verdict,
        remedies: remediesOf(facts, verdict, reservation.expires_at),
        authority: set.authority(agent.agent_id)?.row ?? null,
        directory_version: agent.directory_version,
        questions: known === null ? [] : questionsWithCounts(set, input),
        allowance: namedAllowance(facts),
        standing_approval: verdict.standing_approval,
        review_terms: termsInForce(set, agent, verdict, reservation),
        reservation,
        capability,
        created_at: set.now,
        requested_by: {
          key_id: input.observed?.rail_id ?? (origin.actor.key_id as string),
          principal_id: origin.actor.principal_id,
        },
        request_id: origin.request_id,
      });
      const { idempotency_key, request_hash } = input;
      const row = decisionRow(made, { idempotency_key, request_hash }, encodeDecision(made));
      const event_id = set.addDecision(row, made);
      countAsked(set, made);
      set.allowances.noteUses(decision_id, decided.counts_in);
      set.publish('decision.created', row.document, event_id);
      giveNotice(set, made);
      const { decision, reason_code } = verdict;
      publishReached(set, made, facts, origin);
      const capability_id = capability?.capability_id ?? null;
      const told = { decision, mode: agent.mode, reason_code, capability_id, authority: known };
      const { document, live_at } = row;
      return done({ replayed: false, document, live_at, decided: told });
    },
  };
}
