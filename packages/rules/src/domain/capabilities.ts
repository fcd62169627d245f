import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import type { Capability, ConsumptionSummary } from '@purser/contract/records';
import type { CAPABILITY_STATUSES } from '@purser/contract/values/decisions';
import type { Agent } from './agents.ts';
import { recordHash, shownHash } from './ledger.ts';

export type CapabilityStatus = (typeof CAPABILITY_STATUSES)[number];

/** The use of a capability. Never changed or removed; sealed by the event `capability.consumed`. */
export interface Consumption {
  capability_id: string;
  decision_id: string;
  agent_id: string;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body. */
  request_hash: Buffer;
  amount_minor: number;
  currency: string;
  payee_id: string | null;
  merchant: string | null;
  external_reference: string | null;
  key_id: string;
  principal_id: string | null;
  consumed_at: string;
}

/** The id of a decision's capability. There is at most one, and both ids end in the same 26 characters. */
export function capabilityIdOf(decision_id: string): string {
  return `cap_${decision_id.slice('dec_'.length)}`;
}

/** The id of the decision that a capability belongs to. */
export function decisionIdOfCapability(capability_id: string): string {
  return `dec_${capability_id.slice('cap_'.length)}`;
}

/** The earlier of two moments (ISO UTC). The second may be none. */
export const earlierOf = (one: string, other: string | undefined): string =>
  other !== undefined && other < one ? other : one;

/**
 * When a capability that is issued at `now_ms` expires: after its time, with the authority's validity, or with the allowances
 * that it counts in. ISO UTC.
 */
export function capabilityExpiry(
  now_ms: number,
  capability_ttl_seconds: number,
  { valid_until }: Pick<Authority, 'valid_until'>,
  /** The earliest expiry of the allowances that the spend counts in. */
  allowed_until?: string,
): string {
  const expires_at = new Date(now_ms + capability_ttl_seconds * 1000).toISOString();
  return earlierOf(earlierOf(expires_at, valid_until), allowed_until);
}

/** The capability that a decision issues, for the action with the amount that was authorized. */
export function newCapability(
  decision_id: string,
  { amount_minor, currency, merchant, payee_id }: Action,
  now_ms: number,
  expires_at: string,
): Capability {
  return {
    capability_id: capabilityIdOf(decision_id),
    status: 'ISSUED',
    max_amount_minor: amount_minor,
    currency,
    merchant,
    payee_id: payee_id ?? null,
    issued_at: new Date(now_ms).toISOString(),
    expires_at,
    consumed_at: null,
  };
}

/**
 * The status of a capability at `now_ms`. An unused one is EXPIRED from `expires_at` on, and REVOKED once its agent is.
 * Pausing the agent does not change the status; the capability is only refused until the agent is active again.
 */
export function capabilityStatusAt(
  capability: Pick<Capability, 'status' | 'expires_at'>,
  agent: Pick<Agent, 'status'>,
  now_ms: number,
): CapabilityStatus {
  if (capability.status !== 'ISSUED') return capability.status;
  if (agent.status === 'revoked') return 'REVOKED';
  return Date.parse(capability.expires_at) <= now_ms ? 'EXPIRED' : 'ISSUED';
}

/** The form of a consumption that the ledger seals: all columns. */
export function sealedConsumption(consumption: Consumption): Record<string, unknown> {
  return { ...consumption, request_hash: shownHash(consumption.request_hash) };
}

/** The `data_hash` of a consumption: SHA-256 of the RFC 8785 form of all columns. */
export function consumptionDataHash(consumption: Consumption): Buffer {
  return recordHash(sealedConsumption(consumption));
}

/** A consumption as its decision tells it. */
export function consumptionSummary(consumption: Consumption): ConsumptionSummary {
  const { amount_minor, payee_id, merchant, external_reference, key_id, principal_id } = consumption;
  return { amount_minor, payee_id, merchant, external_reference, consumed_by: { key_id, principal_id } };
}

/** A consumption as the API returns it. */
export function consumptionBody(consumption: Consumption, agent: Pick<Agent, 'agent_id' | 'slug'>) {
  const { capability_id, decision_id, amount_minor, currency, payee_id, consumed_at } = consumption;
  return {
    capability_id,
    decision_id,
    agent: { id: agent.agent_id, slug: agent.slug },
    status: 'CONSUMED' as const,
    amount_minor,
    currency,
    payee_id,
    consumed_at,
  };
}
