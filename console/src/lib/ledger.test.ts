import { createHash } from 'node:crypto';
import type { LedgerEvent } from '@purser/sdk';
import { expect, test } from 'vitest';
import { hashOf, sealedText } from './ledger.ts';

const EVENT: LedgerEvent = {
  seq: 12,
  id: 'evt_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
  type: 'decision.created',
  subject: { type: 'decision', id: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD' },
  occurred_at: '2026-11-21T08:00:00.000Z',
  data_hash: `sha256:${'ab'.repeat(32)}`,
  prev_hash: `sha256:${'01'.repeat(32)}`,
  hash: '',
};

test('the sealed text has its keys in order and nothing between', () => {
  expect(sealedText(EVENT)).toBe(
    `{"data_hash":"sha256:${'ab'.repeat(32)}","id":"${EVENT.id}","occurred_at":"2026-11-21T08:00:00.000Z","seq":12,"subject":{"id":"${EVENT.subject.id}","type":"decision"},"type":"decision.created"}`,
  );
});

test('the hash is that of the bytes of the hash before and of the sealed text', async () => {
  const expected = createHash('sha256')
    .update(Buffer.from('01'.repeat(32), 'hex'))
    .update(sealedText(EVENT))
    .digest('hex');
  expect(await hashOf(EVENT)).toBe(`sha256:${expected}`);
});

test('any other field makes another hash', async () => {
  const hash = await hashOf(EVENT);
  for (const changed of [
    { ...EVENT, seq: 13 },
    { ...EVENT, occurred_at: '2026-11-21T08:00:00.001Z' },
    { ...EVENT, prev_hash: `sha256:${'02'.repeat(32)}` },
    { ...EVENT, subject: { ...EVENT.subject, id: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BE' } },
  ]) {
    expect(await hashOf(changed)).not.toBe(hash);
  }
});
