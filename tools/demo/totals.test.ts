import type { PurposeAssessment } from '@purser/server/tools';
import { expect, test } from 'vitest';
import { findAddress } from './purser-process.ts';
import type { Decided, SentSpend } from './send-spends.ts';
import { percentilesOf, totalsOf } from './totals.ts';

const LEDGER = { valid: true, events_checked: 1, head: { seq: 1, hash: 'sha256:00' }, duration_ms: 1 };

function sent(
  expected: PurposeAssessment,
  decided: Partial<Decided> | null,
  attack: string | null = null,
): SentSpend {
  return {
    spend: {
      id: 'x',
      authority_id: 'a',
      authority: {},
      request: {},
      expected: { purpose: expected, why: '' },
      attack,
      tags: [],
      other_words: [],
      allowance: null,
    },
    decided:
      decided === null
        ? null
        : {
            decision: 'ALLOW',
            reason_codes: ['WITHIN_AUTHORITY'],
            purpose: 'PURPOSE_ALIGNED',
            authorized_amount_minor: 1,
            explanation: '',
            rationale: '',
            ...decided,
          },
    error: decided === null ? '400 invalid_request: action.currency' : null,
    status: decided === null ? 400 : 201,
    took_ms: 2,
  };
}

test('a spend without a decision is listed as an error and counts nowhere else', () => {
  const totals = totalsOf([sent('PURPOSE_ALIGNED', {}), sent('PURPOSE_ALIGNED', null)], LEDGER);
  expect(totals.errors).toEqual([{ id: 'x', error: '400 invalid_request: action.currency' }]);
  expect([totals.spends, totals.decided, totals.decisions.ALLOW, totals.agreement.judged]).toEqual([
    2, 1, 1, 1,
  ]);
});

test('a misaligned spend that was taken for aligned, and an attack that got an ALLOW, are counted as such', () => {
  const totals = totalsOf(
    [sent('PURPOSE_MISALIGNED', {}, 'injection'), sent('PURPOSE_ALIGNED', {}, 'injection')],
    LEDGER,
  );
  expect(totals.agreement).toMatchObject({
    agreed: 1,
    misaligned_taken_for_aligned: 1,
    aligned_not_recognised: 0,
  });
  expect(totals.attacks).toEqual({ tried: 1, allowed: 1, allowed_ids: ['x'] });
});

test('percentiles are by nearest rank, in any order of the values', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentilesOf(values)).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  expect(percentilesOf([])).toEqual({ p50: 0, p95: 0, p99: 0, max: 0 });
});

test("the service's address is found in a line of any form, and never with port 0", () => {
  expect(findAddress('{"msg":"Listening on http://127.0.0.1:41234."}')).toBe('http://127.0.0.1:41234');
  expect(findAddress('Purser at http://127.0.0.1:0, then http://localhost:80/')).toBe('http://localhost:80');
  expect(findAddress('see https://example.com:443')).toBeNull();
});
