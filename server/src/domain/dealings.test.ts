import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addSaid, type DealingsRow, NOTHING_SAID, purposeHash, type Said } from './dealings.ts';

const empty: DealingsRow = {
  agent_id: 'agt_1',
  purpose_hash: 'sha256:0',
  kind: 'merchant',
  name: 'hetzner',
  allowed: 0,
  denied: 0,
  aligned: 0,
  misaligned: 0,
  paid: 0,
  usual_minor: {},
  payee_ids: [],
};
const said = fc.record<Said>({
  allowed: fc.boolean(),
  denied: fc.boolean(),
  aligned: fc.boolean(),
  misaligned: fc.boolean(),
  paid: fc.boolean(),
});

test('what is said anew takes the place of what was said before: the counts are those of the last words', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 1 }), (words) => {
      let row = empty;
      let before = NOTHING_SAID;
      for (const now of words) {
        row = addSaid(row, { before, now, amount_minor: 100, currency: 'EUR', payee_id: null });
        before = now;
      }
      for (const name of ['allowed', 'denied', 'aligned', 'misaligned', 'paid'] as const) {
        expect(row[name]).toBe(Number(before[name]));
      }
    }),
  );
});

test('amounts and payees are usual once the spend was paid or found to fit', () => {
  const paid = { ...NOTHING_SAID, paid: true };
  const spoken = { before: NOTHING_SAID, now: paid, currency: 'EUR' };
  const one = addSaid(empty, { ...spoken, amount_minor: 500, payee_id: 'iban:1' });
  const two = addSaid(one, { ...spoken, amount_minor: 200, payee_id: 'iban:2' });
  expect(two.usual_minor).toEqual({ EUR: { low: 200, high: 500 } });
  expect(two.payee_ids).toEqual(['iban:1', 'iban:2']);
  const denied = { ...NOTHING_SAID, denied: true };
  const three = addSaid(two, { ...spoken, now: denied, amount_minor: 9_000, payee_id: 'iban:3' });
  expect(three).toMatchObject({ usual_minor: two.usual_minor, payee_ids: two.payee_ids, denied: 1 });
});

test('a purpose is named by what it says, not by the order of its fields', () => {
  const one = purposeHash({ objective: 'a', constraints: ['b'] });
  expect(purposeHash({ constraints: ['b'], objective: 'a' })).toBe(one);
  expect(purposeHash({ objective: 'a', constraints: ['c'] })).not.toBe(one);
});
