import { x402Client } from '@x402/core/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NETWORK, openShop, PAY_TO } from '../../examples/x402/shop.mjs';
import { guardX402, type X402Options } from '../src/x402.ts';
import { type Fault, purserBehindFaults } from './purser-away.ts';

let runs = 0;

/** A shop behind x402, an agent with a wallet, and Purser between them. */
async function open(
  price: string,
  more: Partial<X402Options> = {},
  mode: 'SHADOW' | 'ENFORCE' = 'ENFORCE',
  facilitator_at_address = false,
) {
  const purser = purserBehindFaults({ mode });
  const { shop, scheme, till, close } = await openShop(price, { facilitator_at_address });
  const clock = { ahead: 0 };
  const lines: string[] = [];
  const wallet = new x402Client().register(NETWORK, scheme).setSpendControls(false);
  const rail = guardX402(wallet, {
    purser: purser.agent,
    adapter: purser.adapter,
    assets: { [`${NETWORK}:EURC`]: { currency: 'EUR', exponent: 2, decimals: 6 } },
    topUp: 100,
    name: `run-${++runs}`,
    now: () => Date.now() + clock.ahead,
    log: (line) => lines.push(line),
    ...more,
  });
  const paying = wrapFetchWithPayment(shop, wallet);
  const buy = () =>
    paying('http://weather.example/forecast').then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
  return { ...purser, till, rail, buy, clock, lines, close };
}

test('payments below one cent draw on one top-up, which is reported rounded up', async () => {
  const shop = await open('2500');
  for (let i = 0; i < 5; i++) expect(await shop.buy()).toBe(200);
  expect(shop.till.settled).toHaveLength(5);
  expect(
    shop.fake.decisions.map(({ action }) => [action.type, action.amount_minor, action.payee_id]),
  ).toEqual([['top_up', 100, `x402:${PAY_TO}`]]);
  expect(shop.fake.outcomes).toEqual([]);
  expect(await shop.rail.close()).toBe(0);
  expect(shop.fake.outcomes.map((each) => [each.type, each.amount_minor, each.source])).toEqual([
    ['SPEND_EXECUTED', 2, 'PAYMENT_RAIL'],
  ]);
  await shop.rail.close();
  expect(shop.fake.outcomes).toHaveLength(1);
});

test('an empty top-up is followed by another, and a payment over it has a decision of its own', async () => {
  const shop = await open('600000');
  for (let i = 0; i < 2; i++) expect(await shop.buy()).toBe(200);
  const large = await open('12345678');
  expect(await large.buy()).toBe(200);
  expect(shop.fake.decisions.map(({ action }) => action.amount_minor)).toEqual([100, 100]);
  expect(large.fake.decisions.map(({ action }) => action.amount_minor)).toEqual([1_235]);
});

test('at once, payments to one payee share one top-up', async () => {
  const shop = await open('10000');
  expect(await Promise.all(Array.from({ length: 8 }, () => shop.buy()))).toEqual(Array(8).fill(200));
  expect(shop.fake.decisions).toHaveLength(1);
});

test.each<[string, (shop: Awaited<ReturnType<typeof open>>) => void]>([
  ['denied', ({ fake }) => fake.decide('DENY')],
  ['waiting for a person', ({ fake }) => fake.decide('REVIEW')],
  [
    'Purser away',
    ({ state }) => {
      state.fault = 'request lost';
    },
  ],
])('%s: nothing is signed, and it is one line of the log', async (_, arrange) => {
  const shop = await open('2500');
  arrange(shop);
  const told = await shop.buy();
  expect(told).toContain('Purser refused this payment');
  for (const { explanation } of shop.fake.decisions) expect(told).not.toContain(explanation);
  expect([shop.till.signed, shop.till.settled, shop.lines.length]).toEqual([0, [], 1]);
});

test('in SHADOW what would have been denied is paid, and reported', async () => {
  const shop = await open('2500', {}, 'SHADOW');
  shop.fake.decide('DENY');
  expect(await shop.buy()).toBe(200);
  expect(await shop.rail.close()).toBe(0);
  expect(shop.fake.consumed).toEqual([]);
  expect(shop.fake.outcomes.map((each) => [each.type, each.amount_minor])).toEqual([['SPEND_EXECUTED', 1]]);
});

test('an asset that is not listed is refused before anything is asked', async () => {
  const shop = await open('2500', {
    assets: { 'x402:other:USD': { currency: 'USD', exponent: 2, decimals: 6 } },
  });
  expect(await shop.buy()).toContain('is not listed');
  expect([shop.till.signed, shop.fake.decisions]).toEqual([0, []]);
});

test('what was signed and not seen settled is uncertain until it can be settled no more', async () => {
  const asked: unknown[] = [];
  const shop = await open('600000', {
    wasSettled: async ({ payload }) => {
      asked.push(payload);
      return false;
    },
  });
  shop.till.settles = false;
  await shop.buy();
  expect(shop.till.signed).toBe(1);
  // It counts against the top-up, though the seller said that it failed: he holds a signature.
  expect(await shop.rail.close()).toBe(1);
  expect([shop.fake.outcomes, asked]).toEqual([[], []]);
  shop.clock.ahead = 95_000;
  expect(await shop.rail.close()).toBe(0);
  expect(asked).toHaveLength(1);
  expect(shop.fake.outcomes.map(({ type }) => type)).toEqual(['SPEND_FAILED']);
});

test('over HTTP, what a facilitator settles is paid; with it away, what was signed is uncertain', async () => {
  const shop = await open('600000', {}, 'ENFORCE', true);
  try {
    expect(await shop.buy()).toBe(200);
    shop.till.settles = false;
    expect(await shop.buy()).toBe(402);
  } finally {
    shop.close();
  }
  expect(await shop.buy()).not.toBe(200);
  expect([shop.till.settled.length, shop.till.signed]).toEqual([1, 3]);
  expect(await shop.rail.close()).toBe(2);
  shop.clock.ahead = 95_000;
  expect(await shop.rail.close()).toBe(0);
  expect(shop.fake.outcomes.map((each) => [each.type, each.amount_minor])).toEqual([
    ['SPEND_EXECUTED', 60],
    ['SPEND_EXECUTED', 60],
    ['SPEND_EXECUTED', 60],
  ]);
});

test('with nobody to look at the chain, what was signed counts as paid', async () => {
  const shop = await open('600000');
  shop.till.settles = false;
  await shop.buy();
  shop.clock.ahead = 95_000;
  expect(await shop.rail.close()).toBe(0);
  expect(shop.fake.outcomes.map((each) => [each.type, each.amount_minor])).toEqual([['SPEND_EXECUTED', 60]]);
});

test('in any order, at once, with Purser away: nothing is signed beyond what was consumed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          buyers: fc.integer({ min: 1, max: 4 }),
          fault: fc.constantFrom<Fault>('none', 'none', 'request lost', 'answer lost'),
          close: fc.boolean(),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      async (rounds) => {
        const shop = await open('400000');
        for (const { buyers, fault, close } of rounds) {
          shop.state.fault = fault;
          await Promise.all(Array.from({ length: buyers }, () => shop.buy()));
          shop.state.fault = 'none';
          if (close) await shop.rail.close();
          const consumed = shop.fake.consumed.reduce((sum, { amount_minor }) => sum + amount_minor, 0);
          expect(shop.till.signed * 40).toBeLessThanOrEqual(consumed);
          expect(shop.till.settled.length).toBe(shop.till.signed);
        }
        await shop.rail.close();
        const reported = shop.fake.outcomes.reduce((sum, { amount_minor }) => sum + (amount_minor ?? 0), 0);
        expect(reported).toBe(shop.till.signed * 40);
      },
    ),
    { numRuns: Number(process.env.X402_RUNS ?? 25) },
  );
});
