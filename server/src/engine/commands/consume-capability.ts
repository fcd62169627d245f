import type { Agent } from '@purser/rules/domain/agents';
import { type Consumption, decisionIdOfCapability } from '@purser/rules/domain/capabilities';
import { capabilityOf } from '@purser/rules/domain/decision-states';
import { whyNotConsumed, whyNotCovered } from '@purser/rules/policy/may-pay';
import { type Command, done, refuse } from '../lane/command.ts';

export interface ConsumeCapabilityInput {
  /** The id of a capability whose token has been verified. */
  capability_id: string;
  amount_minor: number;
  currency: string;
  payee_id: string | null;
  merchant: string | null;
  external_reference: string | null;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body as it was sent. */
  request_hash: Buffer;
}

export interface ConsumedCapability {
  replayed: boolean;
  consumption: Consumption;
  agent: Pick<Agent, 'agent_id' | 'slug'>;
}

const NO_CAPABILITY = 'No such capability.';

/**
 * Consumes a capability for its single payment. Only one of several concurrent consumers succeeds. The hold then stays
 * until an outcome settles it.
 */
export const consumeCapability: Command<ConsumeCapabilityInput, ConsumedCapability> = {
  name: 'consumeCapability',
  needs: ({ capability_id, idempotency_key }) => ({
    decisions: [decisionIdOfCapability(capability_id)],
    allowances_of: [decisionIdOfCapability(capability_id)],
    consumption_key: idempotency_key,
  }),
  apply(set, input, origin) {
    const { idempotency_key, request_hash, amount_minor, currency, payee_id, merchant } = input;
    const earlier = set.records.earlierConsumption(idempotency_key);
    if (earlier !== undefined && !earlier.request_hash.equals(request_hash)) {
      return refuse(
        'idempotency_conflict',
        'The idempotency key was already used for a different request; use a new one.',
      );
    }
    const record = set.records.decision(decisionIdOfCapability(input.capability_id));
    const agent = record === undefined ? undefined : set.agent(record.decision.agent.id);
    const capability = record === undefined ? null : capabilityOf(record.decision, record.state);
    if (record === undefined || agent === undefined || capability === null) {
      return refuse('not_found', NO_CAPABILITY);
    }
    if (earlier !== undefined) return done({ replayed: true, consumption: earlier, agent });
    const { stop, now_ms } = set;
    const allowances = set.allowances.ofDecision(record.decision);
    const refused =
      whyNotConsumed({ decision: record.decision, agent, stop, capability, allowances, now_ms }) ??
      whyNotCovered(capability, input);
    if (refused !== null) return refuse(refused.code, refused.message);
    const consumption: Consumption = {
      capability_id: capability.capability_id,
      decision_id: record.decision.decision_id,
      agent_id: agent.agent_id,
      idempotency_key,
      request_hash,
      amount_minor,
      currency,
      payee_id: payee_id ?? capability.payee_id,
      merchant,
      external_reference: input.external_reference,
      key_id: origin.actor.key_id as string,
      principal_id: origin.actor.principal_id,
      consumed_at: set.now,
    };
    // After this point the capability is consumed: nothing may refuse it.
    set.records.addConsumption(consumption);
    return done({ replayed: false, consumption, agent });
  },
};
