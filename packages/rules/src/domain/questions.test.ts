import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../values/canonical-json.ts';
import { sha256, shownHash } from './ledger.ts';
import { questionId } from './questions.ts';

test('the id of a question is the beginning of its hash as one number in base 32', () => {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  fc.assert(
    fc.property(fc.string(), fc.string(), (objective, merchant_key) => {
      const asked = { kind: 'new_merchant', merchant_key, about: null } as const;
      const record = {
        objective: shownHash(sha256(objective)),
        kind: asked.kind,
        merchant_key,
        subject: null,
      };
      const hash = sha256(canonicalJson(record)).toString('hex').slice(0, 32);
      const digits = BigInt(`0x${hash}`).toString(32).padStart(26, '0');
      const id = [...digits].map((digit) => alphabet[Number.parseInt(digit, 32)]).join('');
      expect(questionId(objective, asked)).toBe(`q_${id}`);
    }),
  );
});

test('the id of a question depends on nothing but its objective, kind, merchant, clause and words', () => {
  const clause = { field: 'purpose.constraints[0]', text: 'No wine', hash: shownHash(sha256('No wine')) };
  const about = { clause, words: ['wine', 'red'] };
  const id = questionId('Buy paper.', { kind: 'prohibited', merchant_key: 'metro', about });
  expect(id).toBe('q_6JB1KN3JCP9VJGCN27SQ97XJ45');
  const turned = { clause: { ...clause, field: 'purpose.constraints[7]' }, words: ['red', 'wine'] };
  expect(questionId('Buy paper.', { kind: 'prohibited', merchant_key: 'metro', about: turned })).toBe(id);
});
