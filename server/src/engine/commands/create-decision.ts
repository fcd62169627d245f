import type { Mode } from '@purser/rules/domain/agents';
import type { Assessment } from '@purser/rules/domain/assessment';
import type { Authority } from '@purser/rules/domain/authorities';
import { budgetStatus, periodOf } from '@purser/rules/domain/budget';
import { type Capability, capabilityExpiry, newCapability } from '@purser/rules/domain/capabilities';
import { composeDecision, encodeDecision } from '@purser/rules/domain/decision-document';
import { newHoldExpiresAt } from '@purser/rules/domain/decision-states';
import { type DecisionKind, decisionRow, type ReasonCode } from '@purser/rules/domain/decisions';
import { noReservation, reservationIdOf } from '@purser/rules/domain/reservations';
import type { SpendRequest } from '@purser/rules/domain/spends';
import { whyInactive } from '@purser/rules/domain/workspace';
import { type Directory, EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import {
  type CountersOf,
  countersOf,
  hasCounters,
  NO_COUNTERS,
  ofDuplicates,
  type SpendCounter,
  withSlots,
} from '@purser/rules/policy/counters';
import { decide } from '@purser/rules/policy/decide';
import { knownMerchantKey } from '@purser/rules/policy/known-merchants';
import { asksForKnown } from '@purser/rules/policy/new-merchant';
import { remediesOf, smallerAmountOf } from '@purser/rules/policy/remedies';
import { countedLimits, loadedBudgets } from '@purser/rules/policy/shared-budgets';
import type { DecideFacts } from '@purser/rules/policy/stage';
import { valueIn } from '@purser/rules/values/maps';
import { tellThresholds } from '../lane/budget-thresholds.ts';
import { type Command, done, refuse } from '../lane/command.ts';
import type { Counters } from '../lane/counters.ts';

export interface CreateDecisionInput {
  agent_id: string;
  /** Whether the API key is bound to that agent; the request then must not name another agent. */
  bound: boolean;
  request: SpendRequest;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body as it was sent. */
  request_hash: Buffer;
  /** Made before the command is submitted, since the lane waits for no assessor; valid only for its authority. */
  assessed: Assessed | null;
  /** A smaller amount that may be offered instead, so that what it would repeat is looked for too. */
  also_minor?: number;
}

/** An assessment, with the authority and the listed merchants that it was made for. */
export interface Assessed {
  authority_hash: string;
  /** Shared; it must not be changed. */
  authority: Authority;
  directory: Directory;
  assessment: Assessment;
}

/**
 * An authority and its hash, and the version of the agent's directory of merchants. The authority is shared and must not be
 * changed.
 */
export interface KnownAuthority {
  hash: string;
  authority: Authority;
  directory_version: number;
}

/** What a decision has to be asked for again with: the authority in force, and `also_minor` where that is lacking. */
export interface StaleDecision extends KnownAuthority {
  also_minor?: number;
}

export interface CreatedDecision {
  replayed: boolean;
  /** The JSON text of the answer without the capability's token; on a replay, the same text as the first time. */
  document: string;
  /** The new decision; null on a replay. */
  decided: {
    decision: DecisionKind;
    mode: Mode;
    reason_code: ReasonCode;
    /** The authority it was decided by. */
    authority: KnownAuthority | null;
  } | null;
}

/** What a spend is judged by where the agent has no authority: no stage then looks at the merchants. */
const UNASSESSED = { authority: null, assessment: null, directory: EMPTY_DIRECTORY };

type Spend = Pick<CreateDecisionInput, 'agent_id' | 'request' | 'assessed' | 'also_minor'>;

/** Of each spend on its way through the lane, which asks for them twice. */
const counters_assessed = new WeakMap<Spend, CountersOf<SpendCounter>>();

/** The counters that the spend counts in under the authority that it was assessed for. */
function countersAssessed(spend: Spend): CountersOf<SpendCounter> {
  const { agent_id, request, assessed } = spend;
  if (assessed === null || !hasCounters(assessed.authority)) return NO_COUNTERS;
  return valueIn(counters_assessed, spend, () => countersOf(assessed.authority, agent_id, request.action));
}

/** What duplicates of the spend in the smaller amount are counted in; none where it has none, or nobody looks for duplicates. */
function countersOfSmaller({ agent_id, request, assessed, also_minor }: Spend): CountersOf<SpendCounter> {
  if (assessed === null || also_minor === undefined) return NO_COUNTERS;
  const { authority } = assessed;
  if (authority.duplicate_window_seconds === undefined) return NO_COUNTERS;
  return ofDuplicates(countersOf(authority, agent_id, { ...request.action, amount_minor: also_minor }));
}

/** Whom the agent would pay, where that authority asks whether it has paid them before. */
function merchantAsked({ agent_id, request, assessed }: Spend) {
  if (assessed === null || !asksForKnown(assessed.authority)) return undefined;
  return { agent_id, key: knownMerchantKey(request.action) };
}

function duplicatesOf(spend: Spend, counters: Counters): NonNullable<DecideFacts['duplicates_of']> {
  const loaded = withSlots(countersOfSmaller(spend), (counter) => counters.slots(counter));
  return new Map([[spend.also_minor as number, loaded]]);
}

/**
 * Decides a spend and holds its money, in one step. A used idempotency key returns the earlier decision. The result is
 * stale if the spend was assessed for another authority, or for other listed merchants, than those that are current at the
 * batch timestamp; also where a smaller amount may be offered instead of a denied one, and what that would repeat has to be loaded
 * first (`also_minor`). So a listing is in force from the next decision on, on every node.
 */
export function makeCreateDecision(options: {
  review_ttl_seconds: number;
  capability_ttl_seconds: number;
}): Command<CreateDecisionInput, CreatedDecision, StaleDecision> {
  const { review_ttl_seconds, capability_ttl_seconds } = options;
  return {
    name: 'createDecision',
    needs: (input) => ({
      agents: [input.agent_id],
      budgets_of: [input.agent_id],
      counters: [...countersAssessed(input).values(), ...countersOfSmaller(input).values()],
      idempotency: { agent_id: input.agent_id, idempotency_key: input.idempotency_key },
      known_merchant: merchantAsked(input),
      shared_budgets: input.assessed?.authority.budgets,
      webhooks: true,
    }),
    apply(set, input, origin) {
      const { request, idempotency_key, request_hash, assessed } = input;
      const agent = set.agent(input.agent_id);
      if (agent === undefined) return refuse('not_found', 'No such agent.');
      const { agent_id, mode, slug } = agent;
      const named = request.agent ?? slug;
      if (input.bound && named !== slug && named !== agent_id) {
        return refuse(
          'agent_mismatch',
          `This key is bound to the agent "${slug}" and cannot act for another.`,
        );
      }
      const inactive = whyInactive(agent, set.stop);
      if (inactive !== null) return refuse('agent_not_active', inactive);
      const earlier = set.earlierDecision(agent_id, idempotency_key);
      if (earlier !== undefined) {
        return earlier.request_hash.equals(request_hash)
          ? done({ replayed: true, document: earlier.document, decided: null })
          : refuse(
              'idempotency_conflict',
              'The idempotency key was already used for a different request; use a new one.',
            );
      }

      const current = set.authority(agent_id);
      const { directory_version } = agent;
      const known = current && { hash: current.row.hash, authority: current.authority, directory_version };
      if (
        known !== null &&
        (assessed?.authority_hash !== known.hash || assessed.directory.version !== directory_version)
      ) {
        return { kind: 'stale', current: known };
      }

      const { authority, assessment, directory } =
        known === null || assessed === null ? UNASSESSED : assessed;
      const { action } = request;
      const { currency } = action;
      const period = periodOf(set.now_ms);
      const counters = withSlots(countersAssessed(input), (counter) => set.counters.slots(counter));
      const merchant = merchantAsked(input);
      const shared_budgets = loadedBudgets(authority, set.shared_budgets.all(), set.counters);
      const facts = {
        authority,
        request,
        directory,
        budget: set.budget(agent_id, period, authority?.currency ?? currency),
        counters,
        ...(input.also_minor === undefined ? {} : { duplicates_of: duplicatesOf(input, set.counters) }),
        shared_budgets,
        assessment,
        is_known_merchant: merchant !== undefined && set.isKnownMerchant(merchant),
        now_ms: set.now_ms,
      };
      const verdict = decide(facts);
      const { decision, held_amount_minor: amount_minor } = verdict;
      if (known !== null && decision === 'DENY' && input.also_minor === undefined) {
        // A remedy is offered only where it was tried, and what a smaller amount would repeat was not loaded.
        const also_minor =
          authority?.duplicate_window_seconds === undefined ? null : smallerAmountOf(facts, verdict);
        if (also_minor !== null) return { kind: 'stale', current: { ...known, also_minor } };
      }

      const decision_id = set.newId('decision');
      let capability: Capability | null = null;
      if (mode === 'ENFORCE' && decision === 'ALLOW' && authority !== null) {
        const expires_at = capabilityExpiry(set.now_ms, capability_ttl_seconds, authority);
        capability = newCapability(decision_id, { ...action, amount_minor }, set.now_ms, expires_at);
      }
      const budget = set.budget(agent_id, period, currency);
      // A limit in another currency says nothing about this counter.
      const in_its_currency = authority?.currency === currency;
      const limit_minor = in_its_currency ? (authority.monthly_budget_minor ?? null) : null;
      let reservation = noReservation(currency, period, budget, limit_minor);
      if (decision !== 'DENY') {
        const held = { ...budget, held_minor: budget.held_minor + amount_minor };
        set.putBudget(held);
        reservation = {
          ...reservation,
          reservation_id: reservationIdOf(decision_id),
          status: 'HELD',
          amount_minor,
          expires_at: newHoldExpiresAt(mode, decision, capability, set.now_ms, review_ttl_seconds),
          budget: budgetStatus(held, limit_minor),
        };
      }
      const own = { count: decision === 'DENY' ? 0 : 1, amount_minor };
      const limits = in_its_currency ? countedLimits(facts, own) : [];
      if (limits.length > 0) reservation = { ...reservation, limits };
      const made = composeDecision({
        decision_id,
        agent,
        request,
        verdict,
        remedies: remediesOf(facts, verdict, reservation.expires_at),
        authority: current?.row ?? null,
        directory_version,
        reservation,
        capability,
        created_at: set.now,
        requested_by: { key_id: origin.actor.key_id as string, principal_id: origin.actor.principal_id },
        request_id: origin.request_id,
      });
      const document = encodeDecision(made);
      const row = decisionRow(made, { idempotency_key, request_hash, document });
      set.publish('decision.created', document, set.addDecision(row, made));
      if (decision !== 'DENY') tellThresholds(set, decision_id, limits, origin);
      const { reason_code } = verdict;
      return done({ replayed: false, document, decided: { decision, mode, reason_code, authority: known } });
    },
  };
}
