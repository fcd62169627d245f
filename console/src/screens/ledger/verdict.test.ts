import { ConnectionError, type LedgerVerification, TimeoutError } from '@purser/sdk';
import { describe, expect, test } from 'vitest';
import { unfinishedOf, verdictOf } from './verdict.ts';

const HASH = `sha256:${'a'.repeat(64)}`;
const VALID: LedgerVerification = {
  valid: true,
  checked_at: '2026-11-22T10:00:00.000Z',
  events_checked: 1234,
  head: { seq: 1234, hash: HASH },
  checkpoint: {
    seq: 1234,
    hash: HASH,
    signed_at: '2026-11-22T09:00:00.000Z',
    key_id: 'k',
    note: 'n',
    checked: 1,
  },
  approvals: { signed: 0, verified: 0 },
  signer_roots: [],
  roots_pinned: false,
  breaks: [],
  first_break_seq: null,
  duration_ms: 12,
};
const textOf = (found: LedgerVerification) => Object.values(verdictOf(found)).join(' ');

describe('the result of a verification', () => {
  test('that found nothing says that it is valid, and against what', () => {
    expect(textOf(VALID)).toContain('is valid');
    expect(textOf(VALID)).toContain('1,234 entries');
    expect(textOf(VALID)).toContain('1 signed checkpoint.');
  });
  test('without a checkpoint says what it cannot detect', () => {
    expect(textOf({ ...VALID, checkpoint: null })).toContain('truncation would not be detected');
  });
  test('that found a break names the first, and never says valid', () => {
    const broken = {
      ...VALID,
      valid: false,
      first_break_seq: 7,
      breaks: [
        { seq: 7, kind: 'ROW_MISMATCH' as const, detail: 'decision' },
        { seq: 9, kind: 'GAP' as const, detail: '' },
      ],
    };
    expect(verdictOf(broken).title).toBe('The history breaks at entry 7.');
    expect(textOf(broken)).toContain('1 further break was');
    expect(textOf(broken)).not.toMatch(/valid/);
  });
});

describe('a verification without a result', () => {
  test('that took too long says so, what to do, and nothing about the history', () => {
    const told = unfinishedOf(new TimeoutError('late'));
    expect(told?.title).toBe('The verification took too long.');
    expect(told?.text).toContain('says nothing about the history');
    expect(told?.text).toContain('only after an entry');
    expect(Object.values(told ?? {}).join(' ')).not.toMatch(/valid|break/);
  });
  test('that lost its connection is reported as any other error', () => {
    expect(unfinishedOf(new ConnectionError('gone'))).toBeNull();
    expect(unfinishedOf(new Error('other'))).toBeNull();
  });
});
