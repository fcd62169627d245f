import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveSecrets } from '../../../../server/src/service/installation/secrets.ts';
import {
  checkpointsToPrune,
  makeVerifyingKey,
  noteVerifierKey,
  openCheckpoint,
  openRetiredKeys,
  publicJwk,
  publicPem,
  readPublicKeys,
  retireKey,
  signCheckpoint,
} from './checkpoints.ts';
import { sha256 } from './ledger.ts';

const key = deriveSecrets(Buffer.alloc(32, 7)).checkpointKey;
const WORKSPACE = 'ws_01KAJ5F0V8Z3M2Q9X7T4R6N1BC';
const signed = signCheckpoint(WORKSPACE, { seq: 4711, hash: sha256('x') }, '2026-11-21T08:30:00.000Z', key);

describe('a checkpoint', () => {
  test('is a C2SP signed note: origin, size, hash, time, and the signature line', () => {
    const lines = signed.note.split('\n');
    expect(lines.slice(0, 5)).toEqual([
      `purser/${WORKSPACE}`,
      '4711',
      sha256('x').toString('base64'),
      'signed_at 2026-11-21T08:30:00.000Z',
      '',
    ]);
    const [dash, name, signature] = (lines[5] as string).split(' ');
    expect([dash, name, lines.length, lines[6]]).toEqual(['—', `purser/${WORKSPACE}`, 7, '']);
    // By the words of the format: the signature is over the text up to and with its last newline, and the line
    // begins with the hash of name, newline, 0x01 and key.
    const bytes = Buffer.from(signature as string, 'base64');
    expect(bytes.length).toBe(4 + 64);
    const text = `${lines.slice(0, 4).join('\n')}\n`;
    expect(key.verify(text, bytes.subarray(4))).toBe(true);
    const named = Buffer.concat([Buffer.from(`purser/${WORKSPACE}\n\x01`), key.public_key]);
    expect(bytes.subarray(0, 4)).toEqual(sha256(named).subarray(0, 4));
    expect(noteVerifierKey(WORKSPACE, key).split('+')[1]).toBe(sha256(named).subarray(0, 4).toString('hex'));
  });

  const other = deriveSecrets(Buffer.alloc(32, 8)).checkpointKey;

  test('is verified with the public key alone, and contains what was signed', () => {
    expect(openCheckpoint(signed.note, [other, makeVerifyingKey(key.public_key)])).toEqual(signed);
    expect(openCheckpoint(signed.note, [other])).toBeNull();
  });

  test('is rejected when any bit is changed, any byte removed or anything added', () => {
    const bytes = Buffer.from(signed.note);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(openCheckpoint(changed.toString('utf8'), [key])).toBeNull();
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(openCheckpoint(bytes.toString('utf8', 0, length), [key])).toBeNull();
    }
    expect(openCheckpoint(`${signed.note}\n`, [key])).toBeNull();
    expect(openCheckpoint(signed.note + signed.note, [key])).toBeNull();
  });
});

describe('a public key', () => {
  test('is read in every form in which it is published', () => {
    const forms = [
      JSON.stringify(publicJwk(key)),
      JSON.stringify({ keys: [publicJwk(key)] }),
      publicPem(key),
      key.public_key.toString('base64'),
      `${key.public_key.toString('base64url')}\n`,
    ];
    for (const form of forms) expect(readPublicKeys(form).map(({ key_id }) => key_id)).toEqual([key.key_id]);
  });
  test('is refused in every other form', () => {
    const other = [
      '',
      '{}',
      '{',
      'sk_x',
      JSON.stringify({ keys: [] }),
      publicPem(key).replace('MCow', 'MCov'),
    ];
    for (const form of other) expect(() => readPublicKeys(form), form).toThrow(TypeError);
  });
  test('has the thumbprint of RFC 7638, as in the example of RFC 8037', () => {
    const example = makeVerifyingKey(Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url'));
    expect(example.key_id).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});

describe('a retired key', () => {
  const later = deriveSecrets(Buffer.alloc(32, 8)).checkpointKey;
  const last = deriveSecrets(Buffer.alloc(32, 9)).checkpointKey;
  const retired = retireKey(key, '2026-11-21T08:30:00.000Z', later);

  test('is accepted when its successor vouches for it, and then verifies what it signed', () => {
    const known = openRetiredKeys([retired], [last, later]);
    expect(known.map(({ key_id, retired_at }) => [key_id, retired_at])).toEqual([
      [key.key_id, '2026-11-21T08:30:00.000Z'],
    ]);
    const head = { seq: 3, hash: Buffer.alloc(32, 1) };
    const signed = signCheckpoint(WORKSPACE, head, '2026-11-20T08:30:00.000Z', key);
    expect(openCheckpoint(signed.note, [last, ...known])).toEqual(signed);
  });
  test('is rejected when no known key vouches for it or its fields were changed', () => {
    expect(openRetiredKeys([retired], [last])).toEqual([]);
    const forged = makeVerifyingKey(Buffer.alloc(32, 5)).public_key.toString('base64');
    for (const changed of [
      { ...retired, public_key: forged },
      { ...retired, retired_at: '2026-11-22T08:30:00.000Z' },
      { ...retired, signature: retired.signature.replace(/^./, (sign) => (sign === 'A' ? 'B' : 'A')) },
      { public_key: '', retired_at: '', signature: '' },
    ]) {
      expect(openRetiredKeys([changed], [last, later])).toEqual([]);
    }
  });
  test('is read from a JWK set beside the present key', () => {
    const set = JSON.stringify({ keys: [publicJwk(later), publicJwk(key)] });
    expect(readPublicKeys(set).map(({ key_id }) => key_id)).toEqual([later.key_id, key.key_id]);
  });
});

describe('checkpoints that accumulate for years', () => {
  const NOW = Date.parse('2026-11-21T08:30:00.000Z');
  const made = fc
    .array(fc.integer({ min: 0, max: 3 * 366 * 24 * 60 }), { minLength: 1, maxLength: 2_000 })
    .map((ages) =>
      [...ages]
        .sort((a, b) => b - a)
        .map((minutes, i) => ({ seq: i + 1, signed_at: new Date(NOW - minutes * 60_000).toISOString() })),
    );
  test('are pruned to the newest 20 and the last of every hour, day and month, so that their number is bounded', () => {
    fc.assert(
      fc.property(made, (all) => {
        const dropped = new Set(checkpointsToPrune(all, NOW));
        const kept = all.filter(({ seq }) => !dropped.has(seq));
        expect(kept.slice(-20)).toEqual(all.slice(-20));
        expect(kept.length).toBeLessThanOrEqual(20 + 25 + 32 + 38);
        for (const length of [7, 10, 13]) {
          const age_ms = { 7: Number.POSITIVE_INFINITY, 10: 31 * 86_400_000, 13: 86_400_000 }[
            length
          ] as number;
          const young = all.filter(({ signed_at }) => NOW - Date.parse(signed_at) < age_ms);
          for (const span of new Set(young.map(({ signed_at }) => signed_at.slice(0, length)))) {
            expect(kept.some(({ signed_at }) => signed_at.startsWith(span))).toBe(true);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
  test('are not changed by pruning them again', () => {
    fc.assert(
      fc.property(made, (all) => {
        const dropped = new Set(checkpointsToPrune(all, NOW));
        expect(
          checkpointsToPrune(
            all.filter(({ seq }) => !dropped.has(seq)),
            NOW,
          ),
        ).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
