import type { Authority } from '@purser/contract/authority';
import { describe, expect, test } from 'vitest';
import { directoryAt, EMPTY_DIRECTORY, type MerchantEntry } from '../merchants/directory.ts';
import { judgeMerchantAllowlist } from './allowed-merchants.ts';

const listed = (merchant: string, ...payee_ids: string[]): MerchantEntry => ({
  entry_id: `mer_${merchant}`,
  agent_id: 'agt_1',
  merchant,
  payee_ids,
  verdict: 'ALLOWED',
  note: null,
  listed_in: 1,
  unlisted_in: null,
  created_at: '2026-11-20T12:00:00.000Z',
  unlisted_at: null,
  key_id: null,
  principal_id: 'user:ada',
});

function judged(
  terms: Partial<Authority>,
  merchant: string,
  payee_id?: string,
  entries: MerchantEntry[] = [],
) {
  const authority = { purpose: { objective: 'Anything' }, currency: 'EUR', ...terms };
  const action = { type: 'purchase', merchant, amount_minor: 1, currency: 'EUR' };
  const found = judgeMerchantAllowlist(
    authority,
    {
      authority,
      request: { action: payee_id === undefined ? action : { ...action, payee_id } },
      directory: entries.length === 0 ? EMPTY_DIRECTORY : directoryAt(1, entries),
      budget: { held_minor: 0, committed_minor: 0 },
      assessment: null,
      is_known_merchant: true,
      now_ms: 0,
    },
    1,
  );
  return [found.outcome, 'reason_code' in found ? found.reason_code : found.detail];
}

const hetzner = { merchant: 'Hetzner Online', payee_id: 'iban:DE1' };
const ALLOWED = ['PASS', expect.stringContaining('is one of your approved merchants.')];

describe('a merchant that is known by its payees', () => {
  test.each([
    ['REVIEW', 'ALLOW'],
    ['REVIEW', 'REVIEW'],
    ['DENY', 'DENY'],
  ] as const)('is a %s at another one where other merchants are %s', (outcome, on_other_merchants) => {
    const terms = { allowed_payees: [hetzner], on_other_merchants };
    expect(judged(terms, 'HETZNER ONLINE GmbH', 'iban:DE1')).toEqual(ALLOWED);
    expect(judged(terms, 'HETZNER ONLINE GmbH', 'iban:DE2')).toEqual([outcome, 'PAYEE_NOT_ALLOWED']);
    expect(judged(terms, 'Hetzner Online')).toEqual([outcome, 'PAYEE_NOT_ALLOWED']);
  });
  test('is bound although the lists allow its name, or the payee for whomever', () => {
    const terms = {
      allowed_merchants: ['Hetzner Online'],
      allowed_payees: [hetzner, { payee_id: 'iban:DE2' }],
    };
    expect(judged(terms, 'Hetzner Online', 'iban:DE2')).toEqual(['REVIEW', 'PAYEE_NOT_ALLOWED']);
  });
  test('may be paid at each of them, whichever spelling each was written with', () => {
    const terms = {
      allowed_payees: [
        { merchant: 'hetzner.com', payee_id: 'iban:DE1' },
        { merchant: 'https://www.Hetzner.com/', payee_id: 'iban:DE2' },
        { merchant: 'console.hetzner.com', payee_id: 'iban:DE3' },
      ],
      on_other_merchants: 'DENY' as const,
    };
    for (const payee_id of ['iban:DE1', 'iban:DE2', 'iban:DE3'])
      expect(judged(terms, 'console.hetzner.com', payee_id)).toEqual(ALLOWED);
    expect(judged(terms, 'hetzner.com', 'iban:DE3')).toEqual(['DENY', 'PAYEE_NOT_ALLOWED']);
  });
  test('is bound by its entry in the merchant directory too', () => {
    const entries = [listed('Zinnober Kontor', 'iban:7'), listed('Acme Paper')];
    const terms = { on_other_merchants: 'DENY' as const };
    expect(judged(terms, 'PAYPAL *ZINNOBER KONTOR', 'iban:7', entries)).toEqual(ALLOWED);
    expect(judged(terms, 'PAYPAL *ZINNOBER KONTOR', 'iban:8', entries)).toEqual([
      'DENY',
      'PAYEE_NOT_ALLOWED',
    ]);
    expect(judged(terms, 'Acme Paper', 'iban:8', entries)).toEqual(ALLOWED);
    expect(judged(terms, 'Other Paper', 'iban:8', entries)).toEqual(['DENY', 'MERCHANT_NOT_ALLOWED']);
  });
});

test('a payee that is allowed for whomever may be paid under any name', () => {
  const terms = { allowed_payees: [{ payee_id: 'iban:DE2' }], on_other_merchants: 'DENY' as const };
  expect(judged(terms, 'Anybody', 'iban:DE2')).toEqual(['PASS', 'The policy allows this payee.']);
  expect(judged(terms, 'Anybody', 'iban:DE3')).toEqual(['DENY', 'MERCHANT_NOT_ALLOWED']);
});

test('payees alone leave other merchants as they are', () => {
  expect(judged({ allowed_payees: [hetzner] }, 'Acme Paper')).toEqual([
    'PASS',
    'The policy allows other merchants too.',
  ]);
});
