import { describe, expect, test } from 'vitest';
import type { AgentStatus } from './agents.ts';
import {
  type CapabilityStatus,
  capabilityExpiry,
  capabilityIdOf,
  capabilityStatusAt,
  consumptionDataHash,
  decisionIdOfCapability,
} from './capabilities.ts';

const ENDS = '2026-11-21T08:15:00.000Z';
const before = Date.parse(ENDS) - 1;
const after = Date.parse(ENDS);

describe('a capability', () => {
  test.each<[CapabilityStatus, AgentStatus, number, CapabilityStatus]>([
    ['ISSUED', 'active', before, 'ISSUED'],
    ['ISSUED', 'active', after, 'EXPIRED'],
    // A pause ends; a revocation does not.
    ['ISSUED', 'paused', before, 'ISSUED'],
    ['ISSUED', 'paused', after, 'EXPIRED'],
    ['ISSUED', 'revoked', before, 'REVOKED'],
    ['CONSUMED', 'active', after, 'CONSUMED'],
    ['CONSUMED', 'revoked', after, 'CONSUMED'],
    ['REVOKED', 'active', after, 'REVOKED'],
    ['REVOKED', 'paused', before, 'REVOKED'],
  ])('that is %s and whose agent is %s has at %d the status %s', (status, agent, now_ms, expected) => {
    expect(capabilityStatusAt({ status, expires_at: ENDS }, { status: agent }, now_ms)).toBe(expected);
  });
  test('expires exactly its lifetime after it was issued', () => {
    expect(capabilityExpiry(Date.parse('2026-11-21T08:00:00.000Z'), 900, {})).toBe(ENDS);
  });
  test('expires with the authority where that ends before', () => {
    const issued_ms = Date.parse('2026-11-21T08:00:00.000Z');
    const before = '2026-11-21T08:00:03.000Z';
    expect(capabilityExpiry(issued_ms, 900, { valid_until: before })).toBe(before);
    expect(capabilityExpiry(issued_ms, 900, { valid_until: '2027-01-01T00:00:00.000Z' })).toBe(ENDS);
  });
  test('has the id of its decision with another prefix', () => {
    const id = 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD';
    expect(capabilityIdOf(id)).toBe('cap_01KAJ5F0V8Z3M2Q9X7T4R6N1BD');
    expect(decisionIdOfCapability(capabilityIdOf(id))).toBe(id);
  });
});

test('every column of a consumption is sealed', () => {
  const consumption = {
    capability_id: 'cap_1',
    decision_id: 'dec_1',
    agent_id: 'agt_1',
    idempotency_key: 'k',
    request_hash: Buffer.alloc(32, 1),
    amount_minor: 5,
    currency: 'EUR',
    payee_id: null,
    merchant: null,
    external_reference: null,
    key_id: 'key_1',
    principal_id: null,
    consumed_at: ENDS,
  };
  const sealed = consumptionDataHash(consumption).toString('hex');
  for (const name of Object.keys(consumption) as (keyof typeof consumption)[]) {
    const altered = { ...consumption, [name]: name === 'request_hash' ? Buffer.alloc(32, 2) : 'altered' };
    expect(consumptionDataHash(altered as never).toString('hex'), name).not.toBe(sealed);
  }
});
