import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../src/cards.ts';
import { lithicRail } from '../src/lithic.ts';
import { lithicCards, type Question } from './card-rails.ts';
import { decide, purserBehindFaults } from './purser-away.ts';

const AMOUNT = 5_440;

async function open() {
  const { agent, adapter, fake } = purserBehindFaults();
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const secret = 'a secret of the tests with 32 characters';
  const common = { agent, adapter, store: memoryStore(), secret, answerWithin: 60_000, log };
  const rail = lithicCards(common);
  const { decision_id } = await decide(agent, 'lithic:card_1', AMOUNT);
  await rail.arm({ card: 'card_1', decision_id });
  const ask = (more: Partial<Question> = {}) =>
    rail.ask({ event: null, authorization: 'auth_1', card: 'card_1', amount: AMOUNT, ...more });
  return { ask, fake, lines, common };
}

describe('without an event_token', () => {
  test.each<[string, Partial<Question>]>([
    ['a higher amount', { amount: 900_000 }],
    ['the same amount once more', {}],
    ['any amount once more', { amount: 1 }],
    ['another merchant', { merchant: 'CASINO', amount: 0 }],
    ['another card', { card: 'card_2' }],
    ['another currency', { currency: 'USD' }],
    ['another authorization', { authorization: 'auth_2' }],
  ])('an authorization that was approved in full lets through no %s', async (_, other) => {
    const { ask, fake } = await open();
    expect(await ask()).toBe(true);
    expect(await ask(other)).toBe(false);
    expect(fake.consumed.map(({ amount_minor }) => amount_minor)).toEqual([AMOUNT]);
  });

  test('a delivery that comes again is answered alike', async () => {
    const { ask } = await open();
    expect(await ask({ delivery: 'msg_of_first', amount: 3_000 })).toBe(true);
    expect(await ask({ delivery: 'msg_of_second', amount: 3_000 })).toBe(false);
    for (let i = 0; i < 3; i++) {
      expect(await ask({ delivery: 'msg_of_first', amount: 3_000 })).toBe(true);
      expect(await ask({ delivery: 'msg_of_second', amount: 3_000 })).toBe(false);
    }
    expect(await ask({ delivery: 'msg_of_third', amount: 2_440 })).toBe(true);
  });

  test('where not even the delivery has an id, the same question is answered alike and another is judged', async () => {
    const { common } = await open();
    const rail = lithicRail({
      ...common,
      lithic: { webhooks: { parse: (body: string) => JSON.parse(body) } },
      secrets: ['any'],
    });
    const ask = async (amount: number, descriptor = 'Hetzner Online') => {
      const money = { amount, currency: 'EUR' };
      const body = JSON.stringify({
        event_type: 'card_authorization.approval_request',
        token: 'auth_1',
        status: 'AUTHORIZATION',
        card: { token: 'card_1' },
        merchant: { descriptor },
        amounts: { cardholder: money, hold: null },
      });
      return JSON.parse((await rail.handle(body, {})).body).result;
    };
    expect([await ask(AMOUNT), await ask(AMOUNT)]).toEqual(['APPROVED', 'APPROVED']);
    expect(await ask(900_000)).not.toBe('APPROVED');
    expect(await ask(AMOUNT, 'CASINO')).not.toBe('APPROVED');
  });

  test('in any order, what deliveries let through together is never more than what was consumed', async () => {
    const asked = fc.record({
      delivery: fc.constantFrom('msg_a', 'msg_b', 'msg_c', 'msg_d'),
      amount: fc.constantFrom(1, 1_000, 2_720, AMOUNT, AMOUNT + 1),
      authorization: fc.constantFrom('auth_1', 'auth_2'),
      merchant: fc.constantFrom('Hetzner Online', 'Casino', null),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { maxLength: 12 }), async (questions) => {
        const { ask, fake } = await open();
        const approved = new Map<string, number>();
        for (const each of questions) {
          const answer = await ask(each);
          const name = JSON.stringify(each);
          if (approved.has(name)) expect(answer).toBe(true);
          if (!answer) continue;
          expect(each.merchant).toBe('Hetzner Online');
          approved.set(name, each.amount);
        }
        const sum = [...approved.values()].reduce((a, b) => a + b, 0);
        const consumed = fake.consumed.reduce((all, { amount_minor }) => all + amount_minor, 0);
        expect(sum).toBeLessThanOrEqual(consumed);
        expect(consumed).toBeLessThanOrEqual(AMOUNT);
      }),
      { numRuns: Number(process.env.CARD_RUNS) },
    );
  });
});

test.each<[string, (headers: Record<string, string>) => never]>([
  ['as Node has them', (headers) => headers as never],
  ['in other letters', ({ 'webhook-id': id }) => ({ 'Webhook-Id': id }) as never],
  ['as fetch has them', (headers) => new Headers(headers) as never],
  ['as pairs', (headers) => Object.entries(headers) as never],
])('the id of a delivery is found in headers %s', async (_, shaped) => {
  const { common } = await open();
  const parse = (body: string) => JSON.parse(body);
  const rail = lithicRail({ ...common, lithic: { webhooks: { parse } }, secrets: ['any'] });
  const money = { amount: AMOUNT, currency: 'EUR' };
  const body = JSON.stringify({
    event_type: 'card_authorization.approval_request',
    token: 'auth_1',
    status: 'AUTHORIZATION',
    card: { token: 'card_1' },
    merchant: { descriptor: 'Hetzner Online' },
    amounts: { cardholder: money, hold: null },
  });
  const ask = async (id: string) =>
    JSON.parse((await rail.handle(body, shaped({ 'webhook-id': id }))).body).result === 'APPROVED';
  expect([await ask('msg_1'), await ask('msg_2'), await ask('msg_1')]).toEqual([true, false, true]);
});

test('without headers nothing is verified, so nothing is taken', async () => {
  const { common } = await open();
  const rail = lithicRail({
    ...common,
    lithic: { webhooks: { parse: (body: string) => JSON.parse(body) } },
    secrets: ['any'],
  });
  expect(await rail.handle('{}', undefined as never)).toMatchObject({ status: 401 });
});
