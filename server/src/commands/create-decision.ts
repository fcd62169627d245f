import type { Authority } from '../domain/authorities.ts';
import { periodOf, standingOf } from '../domain/budget.ts';
import { type Capability, capabilityExpiry, capabilityIdOf } from '../domain/capabilities.ts';
import { decide } from '../domain/decide.ts';
import {
  type Decision,
  type DecisionKind,
  effectiveDecision,
  type Mode,
  type ReasonCode,
} from '../domain/decisions.ts';
import { noReservation, reservationIdOf } from '../domain/reservations.ts';
import type { Action, SpendRequest } from '../domain/spends.ts';
import { type Command, done, refuse } from '../lane/command.ts';
import type { Assess, Assessment } from '../purpose/assessment.ts';

export interface CreateDecisionInput {
  agent_id: string;
  /** Whether the key is bound to that agent; then the request may name no other. */
  bound: boolean;
  request: SpendRequest;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body as it was sent. */
  request_hash: Buffer;
  /** An assessment made before the lane; it counts only if the authority is still the one it was made for. */
  assessed: { authority_hash: string; assessment: Assessment } | null;
  /** Whether the caller can assess once more, by the authority that holds now; else it is done here. */
  may_assess_again: boolean;
}

/** Nothing was decided yet: the spend is to be assessed by this authority, which must not be changed. */
export interface AssessFirst {
  assess_by: { hash: string; authority: Authority };
}

export interface CreatedDecision {
  replayed: boolean;
  /** The JSON text of the answer, without the capability's token: on a replay, the very text of the first one. */
  document: string;
  /** What was decided now; null on a replay. */
  decided: {
    decision: DecisionKind;
    mode: Mode;
    reason_code: ReasonCode;
    /** The authority it was decided by; it must not be changed. */
    authority: { hash: string; authority: Authority } | null;
  } | null;
}

/** The capability of an ALLOW in ENFORCE, where there is nothing left to wait for. */
function issueCapability(
  made: { decision_id: string; mode: Mode; decision: DecisionKind; amount_minor: number },
  action: Action,
  now_ms: number,
  ttl_seconds: number,
): Capability | null {
  if (made.mode !== 'ENFORCE' || made.decision !== 'ALLOW') return null;
  return {
    capability_id: capabilityIdOf(made.decision_id),
    status: 'ISSUED',
    max_amount_minor: made.amount_minor,
    currency: action.currency,
    merchant: action.merchant,
    payee_id: action.payee_id ?? null,
    issued_at: new Date(now_ms).toISOString(),
    expires_at: capabilityExpiry(now_ms, ttl_seconds),
    consumed_at: null,
  };
}

/**
 * When a fresh hold runs out by itself, or null when it stays. A hold is let go only on evidence that the money
 * did not move: in ENFORCE a review that nobody made has moved nothing, nor has a capability that ran out unused
 * where only its payee could be paid. All else waits for an outcome.
 */
function holdExpiry(
  mode: Mode,
  decision: DecisionKind,
  capability: Capability | null,
  now_ms: number,
  review_ttl_seconds: number,
): string | null {
  if (mode !== 'ENFORCE') return null;
  if (decision === 'REVIEW') return new Date(now_ms + review_ttl_seconds * 1000).toISOString();
  return capability !== null && capability.payee_id !== null ? capability.expires_at : null;
}

/** Decides a spend and holds its money, in one step; an idempotency key that was used is answered again. */
export function makeCreateDecision(options: {
  assess: Assess;
  review_ttl_seconds: number;
  capability_ttl_seconds: number;
}): Command<CreateDecisionInput, CreatedDecision | AssessFirst> {
  const { assess, review_ttl_seconds, capability_ttl_seconds } = options;
  return {
    name: 'createDecision',
    needs: ({ agent_id, idempotency_key }) => ({
      agents: [agent_id],
      budgets_of: [agent_id],
      idempotency: { agent_id, idempotency_key },
      webhooks: true,
    }),
    apply(set, input, origin) {
      const { request, idempotency_key, request_hash } = input;
      const agent = set.agent(input.agent_id);
      if (agent === undefined) return refuse('not_found', 'There is no such agent.');
      if (
        input.bound &&
        request.agent !== undefined &&
        request.agent !== agent.slug &&
        request.agent !== agent.agent_id
      ) {
        return refuse(
          'agent_mismatch',
          `This key is bound to the agent "${agent.slug}" and cannot ask for another.`,
        );
      }
      if (agent.status !== 'active') {
        return refuse('agent_not_active', `The agent "${agent.slug}" is ${agent.status}.`);
      }
      const earlier = set.earlierDecision(agent.agent_id, idempotency_key);
      if (earlier !== undefined) {
        return earlier.request_hash.equals(request_hash)
          ? done({ replayed: true, document: earlier.document, decided: null })
          : refuse(
              'idempotency_conflict',
              'The idempotency key was already used for a different request; use a new one.',
            );
      }

      const { action } = request;
      const { agent_id, mode } = agent;
      const current = set.authority(agent_id);
      const period = periodOf(set.now_ms);
      const budget = set.budget(agent_id, period, action.currency);
      const { assessed } = input;
      if (current !== null && input.may_assess_again && assessed?.authority_hash !== current.row.hash) {
        return done({ assess_by: { hash: current.row.hash, authority: current.authority } });
      }
      const verdict = decide(
        { authority: current?.authority ?? null, request, budget },
        assessed !== null && assessed.authority_hash === current?.row.hash
          ? () => assessed.assessment
          : assess,
      );
      const { decision, held_amount_minor } = verdict;
      const holds = decision !== 'DENY';
      const held = { ...budget, held_minor: budget.held_minor + held_amount_minor };
      if (holds) set.putBudget(held);

      // A limit in another currency says nothing about this counter.
      const limit_minor =
        current?.authority.currency === action.currency
          ? (current.authority.monthly_budget_minor ?? null)
          : null;
      const decision_id = set.newId('decision');
      const amount_minor = held_amount_minor;
      const capability = issueCapability(
        { decision_id, mode, decision, amount_minor },
        action,
        set.now_ms,
        capability_ttl_seconds,
      );
      const expires_at = holdExpiry(mode, decision, capability, set.now_ms, review_ttl_seconds);
      const review_state = decision === 'REVIEW' ? 'PENDING' : null;
      const document: Decision = {
        decision_id,
        decision,
        effective_decision: effectiveDecision(mode, decision, review_state),
        review_state,
        reason_code: verdict.reason_code,
        reason_codes: verdict.reason_codes,
        requested_amount_minor: action.amount_minor,
        authorized_amount_minor: verdict.authorized_amount_minor,
        currency: action.currency,
        mode,
        explanation: verdict.explanation,
        policy_trace: verdict.policy_trace,
        purpose: verdict.purpose,
        authority_version: current?.row.version ?? null,
        authority_hash: current?.row.hash ?? null,
        reservation: holds
          ? {
              reservation_id: reservationIdOf(decision_id),
              status: 'HELD',
              amount_minor: held_amount_minor,
              currency: action.currency,
              period,
              expires_at,
              budget: standingOf(held, limit_minor),
            }
          : noReservation(action.currency, period, budget, limit_minor),
        capability,
        agent: { id: agent_id, slug: agent.slug },
        action,
        task: request.task ?? null,
        trace: request.trace ?? null,
        limitable: request.limitable ?? false,
        min_amount_minor: request.min_amount_minor ?? null,
        context: request.context ?? null,
        review: null,
        label: null,
        outcome_state: 'NONE',
        verified: false,
        created_at: set.now,
        requested_by: { key_id: origin.actor.key_id as string, principal_id: origin.actor.principal_id },
      };
      const text = JSON.stringify(document);
      const event_id = set.addDecision(
        {
          decision_id,
          agent_id,
          idempotency_key,
          request_hash,
          decision,
          mode,
          reason_codes: verdict.reason_codes,
          merchant: action.merchant,
          requested_amount_minor: action.amount_minor,
          currency: action.currency,
          created_at: set.now,
          document: text,
        },
        document,
      );
      set.publish('decision.created', text, event_id);
      return done({
        replayed: false,
        document: text,
        decided: {
          decision,
          mode,
          reason_code: verdict.reason_code,
          authority: current === null ? null : { hash: current.row.hash, authority: current.authority },
        },
      });
    },
  };
}
