import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';
import { weaknessOf } from './secret-key.ts';

const problemOf = (SECRET_KEY: string): string | null => {
  try {
    readConfig({ SECRET_KEY });
    return null;
  } catch (error) {
    return (error as ConfigError).message;
  }
};

describe('a weak SECRET_KEY is refused in one line that names the variable and not the value', () => {
  const counted = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
  test.each([
    ['zeros', Buffer.alloc(32).toString('base64')],
    ['zeros in hexadecimal', '0'.repeat(64)],
    ['one byte', Buffer.alloc(64, 7).toString('base64')],
    ['a few bytes', Buffer.from('deadbeefcafe'.repeat(8), 'hex').toString('hex')],
    ['a sequence', counted.toString('hex')],
    ['a sequence of odd steps', Buffer.from(counted.map((byte) => byte * 37)).toString('base64')],
    ['a short key written twice', randomBytes(16).toString('hex').repeat(2)],
    ['a text in base64', Buffer.from('The quick brown fox jumps over the lazy dog').toString('base64')],
    ['a text in hexadecimal', Buffer.from('my-very-secret-purser-key-of-2026').toString('hex')],
    ['typed letters in base64', Buffer.from('q8Zx0Lm2Vb7Nc4Kj9Hg1Fd5Sa3Po6Iu8').toString('base64')],
    ['words that happen to be base64', 'thisisthesecretkeyofourpurserinstallationthere'],
    ['words with hyphens', 'correct-horse-battery-staple-and-another-stone'],
    ['words with a number', 'productionsecretdonotsharethisonewithothers2026'],
    ['keys beside each other', 'qwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyui'],
  ])('%s', (_, text) => {
    const problem = problemOf(text);
    expect(problem).toMatch(
      /^SECRET_KEY is weak: it [a-z ]+ \(its value is not shown\), but must be [^\n]+\.$/,
    );
    expect(problem).not.toContain(text.slice(0, 12));
  });
});

test('a random key is never refused, however it is written', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 96 });
  // Uniform bytes: fast-check itself likes extreme ones, which a random key is not made of.
  for (let i = 0; i < 20_000; i++) {
    const key = randomBytes(32 + (i % 64));
    const digits = key.toString(i % 2 === 0 ? 'base64' : 'base64url').replace(/=+$/, '');
    expect([weaknessOf(key, digits), weaknessOf(key, null)], key.toString('hex')).toEqual([null, null]);
  }
  // And whatever is given, the answer is a key or one line.
  fc.assert(
    fc.property(bytes, (key) => {
      const problem = problemOf(Buffer.from(key).toString('base64'));
      expect(problem === null || /^SECRET_KEY is weak: [^\n]+$/.test(problem)).toBe(true);
    }),
  );
});

describe('SECRET_KEYS_OLD', () => {
  const [present, one, other] = [1, 2, 3].map(() => randomBytes(32)) as [Buffer, Buffer, Buffer];

  test('holds earlier keys, weak ones too: to get away from them is why they are there', () => {
    const SECRET_KEYS_OLD = `${one.toString('base64')}, ${other.toString('hex')},${'0'.repeat(64)}`;
    const config = readConfig({ SECRET_KEY: present.toString('base64'), SECRET_KEYS_OLD });
    expect(config.secret_keys_old).toEqual([one, other, Buffer.alloc(32)]);
    expect(readConfig({}).secret_keys_old).toEqual([]);
  });
  test.each([
    ['a short one', `${one.toString('base64')},YWJj`],
    ['an empty one', `${one.toString('base64')},,${other.toString('base64')}`],
    ['no base64', 'hunter2!'],
    ['too many', Array.from({ length: 9 }, () => randomBytes(32).toString('base64')).join()],
    ['the present one', present.toString('hex')],
  ])('with %s is refused in one line without the value', (_, SECRET_KEYS_OLD) => {
    const problem = () => readConfig({ SECRET_KEY: present.toString('base64'), SECRET_KEYS_OLD });
    expect(problem).toThrow(ConfigError);
    expect(problem).toThrow(/^SECRET_KEYS_OLD [^\n]+\.$/);
    expect(problem).not.toThrow(SECRET_KEYS_OLD.slice(0, 10));
  });
});
