import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveSecrets, keyHint, makeApiKey, type Secrets } from './secrets.ts';

const secrets = deriveSecrets(Buffer.alloc(32, 7));
const others = deriveSecrets(Buffer.alloc(32, 8));
const digestOf = (by: Secrets, key: string) => by.keyDigests(key)[0].digest;
const tokens = secrets.capabilityTokens;
const CAPABILITY = 'cap_01KAJ5F0V8Z3M2Q9X7T4R6N1BD';

describe('an API key', () => {
  const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

  test('is sk_, 32 random characters, and 6 that check them', () => {
    for (let i = 0; i < 200; i++) {
      const key = makeApiKey(randomInt);
      expect(key).toMatch(/^sk_[0-9A-Za-z]{38}$/);
      const check = [...key.slice(-6)].reduce((sum, letter) => sum * 62 + BASE62.indexOf(letter), 0);
      expect(check).toBe(crc32(key.slice(3, -6)));
    }
  });
  test('draws every character', () => {
    const drawn = new Set(Array.from({ length: 200 }, () => makeApiKey(randomInt).slice(3, -6)).join(''));
    expect(drawn.size).toBe(62);
  });
  test('is hinted at by its last four characters alone', () => {
    expect(keyHint('sk_abcdefghijklmnop')).toBe('sk_…mnop');
  });
  test('has another digest under another secret', () => {
    const digest = digestOf(secrets, 'sk_a');
    expect(digest.equals(digestOf(secrets, 'sk_a'))).toBe(true);
    expect(digest.equals(digestOf(secrets, 'sk_b'))).toBe(false);
    expect(digest.equals(digestOf(others, 'sk_a'))).toBe(false);
    expect(digest.equals(secrets.cursorMacs[0]('sk_a'))).toBe(false);
  });
});

describe('a capability’s token', () => {
  const token = tokens.of('ws_1', CAPABILITY);

  test('opens in its own workspace, under its own secret', () => {
    expect(tokens.open('ws_1', token)).toBe(CAPABILITY);
    expect(tokens.open('ws_2', token)).toBeNull();
    expect(others.capabilityTokens.open('ws_1', token)).toBeNull();
  });
  test('cut at any place is unknown', () => {
    for (let n = 0; n < token.length; n++) expect(tokens.open('ws_1', token.slice(0, n)), `${n}`).toBeNull();
    for (let n = 1; n < token.length; n++) expect(tokens.open('ws_1', token.slice(n)), `${n}`).toBeNull();
  });
  test('with any one character altered, in case too, is unknown', () => {
    const alphabet = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=`;
    for (let n = 0; n < token.length; n++) {
      for (const letter of alphabet) {
        if (letter === token[n]) continue;
        const altered = token.slice(0, n) + letter + token.slice(n + 1);
        expect(tokens.open('ws_1', altered), altered).toBeNull();
      }
    }
  });
  test.each([
    ['lower case', token.toLowerCase()],
    ['upper case', token.toUpperCase()],
    ['something behind it', `${token}A`],
    ['padding', `${token}=`],
    ['a second point', `${token}.`],
    ['another id', token.replace('N1BD', 'N1BE')],
    ['another kind of id', token.replace('cap_', 'dec_')],
    ['a zero byte', `${token}\0`],
    ['characters of several bytes', `${token.slice(0, -3)}€`],
  ])('with %s is unknown', (_name, altered) => {
    expect(tokens.open('ws_1', altered)).toBeNull();
  });
  test('cannot be guessed: no other text opens', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 120 }),
        (text) => tokens.open('ws_1', text) === null,
      ),
    );
  });
});

describe('secrets after a rotation', () => {
  const old = Buffer.alloc(32, 7);
  const rotated = deriveSecrets(Buffer.alloc(32, 9), { old: [old, Buffer.alloc(32, 8)] });
  const nonce = Buffer.alloc(12, 1);

  test('make everything with the present key, and read what any old one made', () => {
    const present = deriveSecrets(Buffer.alloc(32, 9));
    for (const by of [present, secrets, others]) {
      const sealed = by.sealWebhookSecret('ws_1', 'whsec_x', nonce);
      expect(rotated.openWebhookSecret('ws_1', sealed)).toBe('whsec_x');
      expect(rotated.isSealedNow('ws_1', sealed)).toBe(by === present);
      expect(() => rotated.openWebhookSecret('ws_2', sealed)).toThrow(/unknown secret key/);
      expect(rotated.capabilityTokens.open('ws_1', by.capabilityTokens.of('ws_1', CAPABILITY))).toBe(
        CAPABILITY,
      );
      expect(rotated.capabilityTokens.open('ws_2', by.capabilityTokens.of('ws_1', CAPABILITY))).toBeNull();
      expect(rotated.keyDigests('sk_a')).toContainEqual(by.keyDigests('sk_a')[0]);
      expect(rotated.installationChecks).toContainEqual(by.installationChecks[0]);
      expect(rotated.verifyingKeys.map((key) => key.key_id)).toContain(by.checkpointKey.key_id);
    }
    expect(rotated.keyDigests('sk_a')[0]).toEqual(present.keyDigests('sk_a')[0]);
    expect(rotated.sealWebhookSecret('ws_1', 'a', nonce)).toBe(present.sealWebhookSecret('ws_1', 'a', nonce));
    expect(rotated.capabilityTokens.of('ws_1', CAPABILITY)).toBe(
      present.capabilityTokens.of('ws_1', CAPABILITY),
    );
    expect(rotated.checkpointKey.key_id).toBe(present.checkpointKey.key_id);
  });

  test('read nothing that an unknown key made', () => {
    const unknown = deriveSecrets(Buffer.alloc(32, 10));
    const sealed = unknown.sealWebhookSecret('ws_1', 'whsec_x', nonce);
    expect(() => rotated.openWebhookSecret('ws_1', sealed)).toThrow();
    expect(() => rotated.openWebhookSecret('ws_1', '')).toThrow(/unknown secret key/);
    expect(rotated.capabilityTokens.open('ws_1', unknown.capabilityTokens.of('ws_1', CAPABILITY))).toBeNull();
    expect(rotated.keyDigests('sk_a')).not.toContainEqual(unknown.keyDigests('sk_a')[0]);
  });
});
