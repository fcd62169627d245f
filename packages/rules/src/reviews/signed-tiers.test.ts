import { expect, test } from 'vitest';
import { SigningHistory } from '../signing/history.ts';
import { signedTierOf, TierApprovals } from './signed-tiers.ts';

const AT_MS = Date.parse('2026-11-24T06:00:00.000Z');
const created_at = new Date(AT_MS).toISOString();
const TIER = {
  tier: {
    from_minor: 0,
    approvals: 2,
    signed: true,
    approvers: ['user:ada', 'user:bo'],
    escalation: { after_seconds: 60, approvers: ['user:cy'] },
  },
  created_at,
  requester: 'user:rex',
};
const DI = { away_until: null, away_delegate: null, principal_id: 'user:di' };
const away = {
  ...DI,
  principal_id: 'user:ada',
  away_until: '2026-12-01T00:00:00Z',
  away_delegate: 'user:di',
};

/** Adds approvals to one decision; returns why each does not count, and whether it then has too few. */
function added(...approvals: [principal_id: string, after_ms?: number, on_behalf_of?: string][]) {
  const approvals_of = new TierApprovals();
  approvals_of.begin('dec_1');
  const faults = approvals.map(([principal_id, after_ms = 0, on_behalf_of = null]) =>
    approvals_of.add('dec_1', TIER, { principal_id, on_behalf_of, at_ms: AT_MS + after_ms }, [DI, away]),
  );
  return [faults, approvals_of.isIncomplete('dec_1')];
}

const NO_APPROVER = 'its signer is no approver of the tier';
const TWICE = 'its signer or place has approved already';

test('each approver and each place counts once', () => {
  expect(added(['user:ada'], ['user:bo'])).toEqual([[null, null], false]);
  expect(added(['user:ada'], ['user:ada'])).toEqual([[null, TWICE], true]);
  expect(added(['user:di', 0, 'user:ada'], ['user:ada'], ['user:bo'])).toEqual([[null, TWICE, null], false]);
});

test('nobody else counts, the escalation from its time on, and a delegate for the absent one alone', () => {
  expect(added(['user:zed'], ['user:rex'])).toEqual([[NO_APPROVER, NO_APPROVER], true]);
  expect(added(['user:cy'], ['user:cy', 60_000], ['user:bo'])).toEqual([[NO_APPROVER, null, null], false]);
  expect(added(['user:di'], ['user:di', 0, 'user:bo'])).toEqual([[NO_APPROVER, NO_APPROVER], true]);
});

test('a tier binds in ENFORCE alone, and only a signed one is counted', () => {
  const { tier } = TIER;
  const decision = {
    review_tier: tier,
    created_at,
    requested_by: { key_id: 'key_1', principal_id: 'user:rex' },
  };
  expect(signedTierOf({ ...decision, mode: 'ENFORCE' })).toEqual(TIER);
  expect(signedTierOf({ ...decision, mode: 'SHADOW' })).toBeNull();
  expect(signedTierOf({ ...decision, mode: 'ENFORCE', review_tier: { ...tier, signed: false } })).toBeNull();
});

test('a decision with values that no service wrote makes its approvals invalid and stops nothing', () => {
  const decision = {
    decision_id: 'dec_1',
    decision_hash: 'sha256:',
    merchant: 'M',
    payee_id: null,
    amount_minor: 1,
    currency: 'EUR',
    signed_tier: { ...TIER, created_at: 'never' },
  };
  const review = { action: 'ALLOW', reason_code: 'OK', comment: null, principal_id: 'user:ada', created_at };
  const found = new SigningHistory('ws_1', null).reviewed(7, { ...review, signature: '{}' }, decision);
  expect(found).toMatchObject({ seq: 7, kind: 'SIGNATURE_INVALID' });
});
