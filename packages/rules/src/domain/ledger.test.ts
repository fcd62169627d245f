import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../values/canonical-json.ts';
import { firstIdAt, makeIdsAt } from '../values/ids.ts';
import { type DecisionRow, decisionDataHash } from './decisions.ts';
import { checkLink, eventHash, GENESIS, type LedgerEvent, recordHash, sha256, shownHash } from './ledger.ts';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

const event: LedgerEvent = (() => {
  const unsealed = {
    seq: 1,
    id: 'evt_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
    type: 'decision.created',
    subject_type: 'decision',
    subject_id: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BC',
    occurred_at: '2026-11-21T08:30:00.000Z',
    data_hash: sha256('data'),
    prev_hash: GENESIS.hash,
  } as const;
  return { ...unsealed, hash: eventHash(unsealed) };
})();

describe('the hash of an event', () => {
  test('is SHA-256 of the hash before and the RFC 8785 form, as the contract says', () => {
    fc.assert(
      fc.property(hash, hash, fc.integer({ min: 1 }), (data_hash, prev_hash, seq) => {
        const sealed = {
          seq,
          id: event.id,
          type: event.type,
          subject: { type: event.subject_type, id: event.subject_id },
          occurred_at: event.occurred_at,
          data_hash: shownHash(data_hash),
        };
        const expected = createHash('sha256').update(prev_hash).update(canonicalJson(sealed)).digest();
        expect(eventHash({ ...event, seq, data_hash, prev_hash })).toEqual(expected);
      }),
    );
  });

  test('has not changed for an example event', () => {
    expect(shownHash(event.hash)).toBe(
      'sha256:d36ad584eb2e6e0a3f17f5ebc71500f65d9a0ca3c230c4fd654a161fdc3a577c',
    );
  });
});

test('what is sealed of a decision is the RFC 8785 form of its row, whatever its texts hold', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  const row = fc.record({
    merchant: text,
    idempotency_key: text,
    document: text,
    // In rows that are older than these they are null.
    core: fc.option(text),
    live_at: fc.option(fc.array(fc.nat())),
    requested_amount_minor: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    request_hash: hash,
  });
  fc.assert(
    fc.property(row, (given) => {
      const decision: DecisionRow = {
        decision_id: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BC',
        agent_id: 'agt_01KAJ5F0V8Z3M2Q9X7T4R6N1BB',
        decision: 'DENY',
        mode: 'SHADOW',
        reason_codes: ['NO_AUTHORITY'],
        currency: 'EUR',
        created_at: '2026-11-21T08:30:00.000Z',
        ...given,
      };
      const { core, live_at, ...always } = decision;
      const form = {
        ...always,
        ...(core === null ? {} : { core: shownHash(sha256(core)) }),
        ...(live_at === null ? {} : { live_at }),
        request_hash: shownHash(given.request_hash),
        document: shownHash(sha256(given.document)),
      };
      expect(decisionDataHash(decision)).toEqual(recordHash(form));
    }),
  );
});

describe('a link is checked against the one before it', () => {
  const kinds = (...args: Parameters<typeof checkLink>) => checkLink(...args).map((found) => found.kind);
  test('and is accepted when nothing was changed', () =>
    expect(kinds(GENESIS, event, event.data_hash)).toEqual([]));
  test('and a gap is reported', () =>
    expect(kinds(GENESIS, { ...event, seq: 2 }, event.data_hash)).toEqual(['GAP', 'ENTRY_ALTERED']));
  test('and another predecessor is reported', () =>
    expect(kinds({ seq: 0, hash: sha256('x') }, event, event.data_hash)).toEqual(['LINK_BROKEN']));
  test('and an altered entry is reported', () =>
    expect(kinds(GENESIS, { ...event, subject_id: 'dec_x' }, event.data_hash)).toEqual(['ENTRY_ALTERED']));
  test('and an altered row is reported', () =>
    expect(kinds(GENESIS, event, sha256('other'))).toEqual(['ROW_MISMATCH']));
  test('and a missing row is reported', () => expect(kinds(GENESIS, event, null)).toEqual(['ROW_MISMATCH']));
});

describe('ids', () => {
  test('sort by time and then by the order in which they were made, and bounds by time are right', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 47 }), fc.integer({ min: 1, max: 50 }), (time_ms, count) => {
        const newId = makeIdsAt(time_ms, () => 0.5);
        const ids = Array.from({ length: count }, () => newId('decision'));
        expect([...ids].sort()).toEqual(ids);
        for (const id of ids) {
          expect(id).toMatch(/^dec_[0-9A-HJKMNP-TV-Z]{26}$/);
          expect(id >= firstIdAt('decision', time_ms) && id < firstIdAt('decision', time_ms + 1)).toBe(true);
        }
      }),
    );
  });
});
