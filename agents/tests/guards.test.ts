import { Purser, type SpendRequest } from '@purser/sdk';
import { type FakePurser, fakePurser } from '@purser/sdk/testing';
import { describe, expect, test } from 'vitest';
import type { Refusal } from '../src/index.ts';
import { checkTypes, driveClaude } from './claude/install.ts';
import { driveAiSdk, driveGuardedTool } from './drivers/ai-sdk.ts';
import type { Driver, Order } from './drivers/driver.ts';
import { driveLangChain } from './drivers/langchain.ts';
import { driveOpenAI } from './drivers/openai.ts';

const DRIVERS: [string, Driver][] = [
  ['the Claude Agent SDK', driveClaude],
  ['a guarded tool', driveGuardedTool],
  ['the AI SDK', driveAiSdk],
  ['LangChain', driveLangChain],
  ['OpenAI Agents', driveOpenAI],
];

const ORDER: Order = {
  invoice: 'INV-1',
  merchant: 'Hetzner Online',
  amount_minor: 5440,
  account: 'DE01',
  description: 'A server',
};
const toSpend = ({ invoice, merchant, amount_minor, description }: Order): SpendRequest => ({
  idempotencyKey: invoice,
  action: { type: 'purchase', merchant, amount_minor, currency: 'EUR', description },
});

/** Has the model buy these, one after the other, and gives what ran and what it was told of each. */
async function converse(
  drive: Driver,
  orders: readonly Order[],
  given: {
    purser: Purser;
    toSpend?: (order: Order) => SpendRequest;
    buy?: (order: Order) => Promise<string>;
  },
) {
  const ran: string[] = [];
  const told: string[] = [];
  const refusals: Refusal[] = [];
  const left = [...orders];
  await drive({
    purser: given.purser,
    toSpend: given.toSpend ?? toSpend,
    onRefusal: (refusal) => refusals.push(refusal),
    async buy(order) {
      ran.push(order.invoice);
      return (await given.buy?.(order)) ?? `bought ${order.invoice}`;
    },
    async next(last) {
      if (last !== null) told.push(last);
      return left.shift() ?? null;
    },
  });
  return { ran, told, refusals };
}

const clientOf = (fake: FakePurser) => new Purser({ apiKey: 'sk_agent', fetch: fake.fetch, maxRetries: 0 });

describe.each(DRIVERS)('%s', (_, drive) => {
  test('runs what is allowed, and the model gets what the tool gave', async () => {
    const fake = fakePurser();
    const { ran, told, refusals } = await converse(drive, [ORDER], { purser: clientOf(fake) });
    expect([ran, refusals]).toEqual([['INV-1'], []]);
    expect(told.join()).toContain('bought INV-1');
  });

  test('does not run what is denied, and says so without naming a limit', async () => {
    const fake = fakePurser();
    fake.decide('DENY');
    const { ran, told, refusals } = await converse(drive, [ORDER], { purser: clientOf(fake) });
    expect(ran).toEqual([]);
    expect(told.join()).toMatch(/This spend is not allowed.*ask the person/);
    expect(refusals.map(({ status, decision_id }) => [status, decision_id])).toEqual([
      ['DENIED', fake.decisions[0]?.decision_id],
    ]);
    expect(told.join()).not.toContain(fake.decisions[0]?.explanation);
  });

  test('refuses what waits for a person, and runs it once that person allowed it', async () => {
    const fake = fakePurser();
    fake.decide('REVIEW');
    const purser = clientOf(fake);
    const first = await converse(drive, [ORDER], { purser });
    expect([first.ran, first.refusals[0]?.status]).toEqual([[], 'WAITING_FOR_REVIEW']);
    expect(first.told.join()).toContain('A person must review this spend first.');
    fake.review(fake.decisions[0]?.decision_id as string, 'ALLOW');
    const again = await converse(drive, [ORDER], { purser });
    expect(again.ran).toEqual(['INV-1']);
  });

  test('runs one name once, however often the model says it', async () => {
    const { ran, refusals } = await converse(drive, [ORDER, ORDER, ORDER], {
      purser: clientOf(fakePurser()),
    });
    expect(ran).toEqual(['INV-1']);
    expect(refusals).toHaveLength(2);
    for (const { status } of refusals) expect(['ALREADY_PAID', 'UNCERTAIN']).toContain(status);
  });

  test.each<[string, (order: Order) => SpendRequest]>([
    [
      'throws',
      () => {
        throw new Error('no such invoice');
      },
    ],
    ['gives nothing', () => undefined as never],
    ['names nothing', () => ({ action: toSpend(ORDER).action }) as SpendRequest],
  ])('does not run where the reading of the spend %s', async (_, wrong) => {
    const fake = fakePurser();
    const { ran, told, refusals } = await converse(drive, [ORDER], {
      purser: clientOf(fake),
      toSpend: wrong,
    });
    expect([ran, refusals.map(({ status }) => status), fake.decisions]).toEqual([[], ['REFUSED'], []]);
    expect(told.join()).toContain('Nothing was paid');
  });

  test('does not run while Purser is away, or refuses the key', async () => {
    const away = new Purser({
      apiKey: 'sk_agent',
      maxRetries: 0,
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
    const down = await converse(drive, [ORDER], { purser: away });
    expect([down.ran, down.refusals[0]?.status]).toEqual([[], 'UNAVAILABLE']);
    const error = { code: 'unauthenticated', message: 'The key is unknown.', request_id: 'req_1' };
    const unknown = new Purser({
      apiKey: 'sk_agent',
      fetch: async () => Response.json({ error }, { status: 401 }),
    });
    const refused = await converse(drive, [ORDER], { purser: unknown });
    expect([refused.ran, refused.refusals[0]?.status]).toEqual([[], 'REFUSED']);
  });

  test('a tool that fails is not tried again under its name', async () => {
    const fake = fakePurser();
    const { ran } = await converse(drive, [ORDER, ORDER], {
      purser: clientOf(fake),
      buy: () => Promise.reject(new Error('the connection broke')),
    });
    expect(ran).toEqual(['INV-1']);
    // A time-out proves nothing, so nothing is reported and the money stays held.
    expect(fake.outcomes).toEqual([]);
  });
});

test('the hook has the type that the Claude Agent SDK wants', () => checkTypes());
