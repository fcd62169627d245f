import { describe, expect, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { memoryStore } from '../src/cards.ts';
import { isoAmount } from '../src/stripe-issuing.ts';
import { type CardRail, type Common, type Question, RAILS, type Signing } from './card-rails.ts';
import { decide, purserBehindFaults } from './purser-away.ts';

function open(makeRail: (options: Common) => CardRail, more: Partial<Common> = {}) {
  const purser = purserBehindFaults();
  const lines: string[] = [];
  const options: Common = {
    agent: purser.agent,
    adapter: purser.adapter,
    store: memoryStore(),
    secret: 'a secret of the tests with 32 characters',
    // Far more than an answer takes: what is tried here is not the machine.
    answerWithin: 60_000,
    log: (line) => lines.push(line),
    ...more,
  };
  return { ...purser, lines, rail: makeRail(options), again: () => makeRail(options) };
}

const question = (more: Partial<Question> = {}): Question => ({
  event: 'evt_1',
  authorization: 'auth_1',
  card: 'card_1',
  amount: 5_440,
  ...more,
});
const OF = { authorization: 'auth_1', currency: 'EUR' };

describe.each(RAILS)('%s', (_, makeRail) => {
  test('approves what a decision armed, consumes it, and reports the captures at the end as the rail’s word', async () => {
    const { rail, agent, fake } = open(makeRail);
    const payee_id = `${rail.rail}:card_1`;
    const { decision_id } = await decide(agent, payee_id);
    await rail.arm({ card: 'card_1', decision_id });
    expect(await rail.ask(question())).toBe(true);
    expect(fake.consumed.map((each) => [each.amount_minor, each.payee_id])).toEqual([[5_440, payee_id]]);
    await rail.move({ ...OF, type: 'captured', amount_minor: 3_000, reference: 'tx_1' });
    for (let i = 0; i < 2; i++) {
      await rail.move({ ...OF, type: 'captured', amount_minor: 2_000, reference: 'tx_2' });
    }
    expect(fake.outcomes).toEqual([]);
    for (let i = 0; i < 2; i++) await rail.move({ ...OF, type: 'closed' });
    await rail.move({ ...OF, type: 'refunded', amount_minor: 500, reference: 'tx_3' });
    expect(
      fake.outcomes.map((each) => [each.type, each.amount_minor, each.source, each.external_reference]),
    ).toEqual([
      ['SPEND_EXECUTED', 5_000, 'PAYMENT_RAIL', 'auth_1'],
      ['PARTIALLY_REFUNDED', 500, 'PAYMENT_RAIL', 'tx_3'],
    ]);
  });

  test('a capture after the end raises what was reported, also after a refund, and a lower one asks for a person', async () => {
    const { rail, agent, fake, lines } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    await rail.ask(question());
    const capture = (reference: string, amount_minor: number) =>
      rail.move({ ...OF, type: 'captured', amount_minor, reference });
    await capture('tx_1', 500);
    await rail.move({ ...OF, type: 'closed' });
    await rail.move({ ...OF, type: 'refunded', amount_minor: 100, reference: 'tx_2' });
    await capture('tx_3', 9_000);
    await capture('tx_3', 9_000);
    const told = () => fake.outcomes.map((each) => [each.type, each.amount_minor, each.flags]);
    const reported = [
      ['SPEND_EXECUTED', 500, []],
      ['PARTIALLY_REFUNDED', 100, []],
      ['SPEND_EXECUTED', 9_500, ['OVER_AUTHORIZED', 'ADJUSTED']],
    ];
    expect(told()).toEqual(reported);
    expect(lines.join()).not.toContain('a person should check it');
    await capture('tx_3', 100);
    expect(told()).toEqual(reported);
    expect(lines.at(-2)).toContain('a person should check it');
  });

  test('captures that come at once after the end are reported as their sum, and nobody is asked to look', async () => {
    const { rail, agent, fake, lines, again } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    await rail.ask(question());
    await rail.move({ ...OF, type: 'captured', amount_minor: 100, reference: 'tx_0' });
    await rail.move({ ...OF, type: 'closed' });
    const late = Array.from({ length: 8 }, (_, i) =>
      again().move({ ...OF, type: 'captured', amount_minor: 1_000, reference: `tx_late_${i}` }),
    );
    expect(await Promise.all(late)).toEqual(Array(8).fill(200));
    expect(Math.max(...fake.outcomes.map(({ amount_minor }) => amount_minor ?? 0))).toBe(8_100);
    expect(lines.join()).not.toContain('a person should check it');
  });

  test('an authorization that was let go is reported as cancelled, once', async () => {
    const { rail, agent, fake } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    expect(await rail.ask(question())).toBe(true);
    for (let i = 0; i < 3; i++) await rail.move({ ...OF, type: 'released' });
    expect(fake.outcomes.map(({ type }) => type)).toEqual(['SPEND_CANCELLED']);
  });

  test('answers a repeated event alike, also after a crash, and no second authorization gets anything', async () => {
    const { rail, again, agent, fake } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    const answers = await Promise.all([rail.ask(question()), again().ask(question()), rail.ask(question())]);
    expect([...answers, await again().ask(question())]).toEqual([true, true, true, true]);
    expect(await rail.ask(question({ event: 'evt_2', authorization: 'auth_2' }))).toBe(false);
    expect(fake.consumed).toHaveLength(1);
  });

  test('increments fit within the consumed amount, or are declined', async () => {
    const { rail, agent, fake } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    const asked: [string, number][] = [
      ['evt_1', 3_000],
      ['evt_2', 2_000],
      ['evt_2', 2_000],
      ['evt_3', 1_000],
      ['evt_4', 440],
    ];
    const answers: boolean[] = [];
    for (const [event, amount] of asked) answers.push(await rail.ask(question({ event, amount })));
    expect(answers).toEqual([true, true, true, false, true]);
    expect(fake.consumed.map(({ amount_minor }) => amount_minor)).toEqual([5_440]);
  });

  test('a card armed with a token alone lets the first amount through and no more', async () => {
    const { rail, agent, fake } = open(makeRail);
    const { capability } = await decide(agent, undefined);
    await rail.arm({ card: 'card_1', token: capability?.token as string });
    expect(await rail.ask(question({ amount: 3_000 }))).toBe(true);
    expect(await rail.ask(question({ event: 'evt_2', amount: 1 }))).toBe(false);
    expect(fake.consumed.map(({ amount_minor }) => amount_minor)).toEqual([3_000]);
  });

  test('the same event with another question is judged by what it asks', async () => {
    const { rail, agent } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    expect(await rail.ask(question())).toBe(true);
    for (const other of [
      { amount: 900_000 },
      { amount: 1 },
      { authorization: 'auth_2' },
      { card: 'card_2' },
      { currency: 'usd' },
      { merchant: 'Casino' },
    ]) {
      expect([other, await rail.ask(question(other))]).toEqual([other, false]);
    }
    expect(await rail.ask(question())).toBe(true);
  });

  test.each<[string, string | null]>([
    ['no name', null],
    ['an empty name', ''],
    ['a name of punctuation', ' *** '],
    ['another name', 'CASINO ROYALE'],
  ])('a merchant with %s is declined, also on an increment', async (_, merchant) => {
    const { rail, agent, fake } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    expect(await rail.ask(question({ merchant, amount: 2_000 }))).toBe(false);
    expect(fake.consumed).toEqual([]);
    const right = { authorization: 'auth_2', amount: 2_000 };
    expect(await rail.ask(question({ ...right, event: 'evt_2' }))).toBe(true);
    expect(await rail.ask(question({ ...right, event: 'evt_3', merchant }))).toBe(false);
    expect(await rail.ask(question({ ...right, event: 'evt_4', merchant: 'HETZNER  ONLINE' }))).toBe(true);
  });

  test('without the check of the merchant, a question needs no name', async () => {
    const { rail, agent } = open(makeRail, { checkMerchant: false });
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    expect(await rail.ask(question({ merchant: null, amount: 2_000 }))).toBe(true);
    expect(await rail.ask(question({ event: 'evt_2', merchant: 'Casino', amount: 2_000 }))).toBe(true);
  });

  test('a check of the card is approved only while it is armed, and consumes nothing', async () => {
    const { rail, agent, fake } = open(makeRail);
    expect(await rail.ask(question({ event: 'evt_0', authorization: 'auth_0', amount: 0 }))).toBe(false);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    expect(await rail.ask(question({ amount: 0 }))).toBe(true);
    expect(fake.consumed).toEqual([]);
    expect(await rail.ask(question({ event: 'evt_2', authorization: 'auth_2' }))).toBe(true);
    expect(await rail.ask(question({ event: 'evt_3', authorization: 'auth_3', amount: 0 }))).toBe(false);
  });

  test.each<[string, Partial<Question>, Signing]>([
    ['a forged signature', {}, { secret: `whsec_${btoa('of somebody else')}` }],
    ['a late signature', {}, { at: -600 }],
    ['a signature of the future', {}, { at: 600 }],
    ['a body that was changed', {}, { tamper: true }],
    ['another currency', { currency: 'usd' }, {}],
    ['a higher amount', { amount: 5_441 }, {}],
    ['an amount below zero', { amount: -1 }, {}],
    ['an unknown card', { card: 'card_2' }, {}],
  ])('%s is declined, consumes nothing, and is one line of the log', async (_, asked, signing) => {
    const { rail, agent, fake, lines } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    expect(await rail.ask(question(asked), signing)).toBe(false);
    expect([fake.consumed, lines.length]).toEqual([[], 1]);
    expect(lines[0]).toMatch(/declined|refused/);
    // The decision stays good for the right payment.
    expect(await rail.ask(question({ event: 'evt_right', authorization: 'auth_right' }))).toBe(true);
  });

  test.each(['request lost', 'answer lost', 'hangs'] as const)(
    'Purser away (%s): declined, and declined again when the same event comes back',
    async (fault) => {
      const { rail, agent, fake, state, lines } = open(
        makeRail,
        fault === 'hangs' ? { answerWithin: 40 } : {},
      );
      await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
      state.fault = fault;
      expect(await rail.ask(question())).toBe(false);
      expect(lines).toHaveLength(1);
      state.fault = 'none';
      expect(await rail.ask(question())).toBe(false);
      // It may have been consumed: nothing else gets it, and what is held is let go on the network's word.
      expect(await rail.ask(question({ event: 'evt_2', authorization: 'auth_2' }))).toBe(false);
      // What became of the question is noted after its answer: the network's word comes again until it is taken in.
      await until(async () => {
        await rail.move({ ...OF, type: 'released' });
        return fake.outcomes.length > 0;
      });
      expect(fake.outcomes.map(({ type, source }) => [type, source])).toEqual([
        ['SPEND_CANCELLED', 'PAYMENT_RAIL'],
      ]);
    },
  );

  test('a store that fails or hangs declines', async () => {
    const store = memoryStore();
    const state = { replace: store.replace };
    const replace: typeof store.replace = (...given) => state.replace(...given);
    const { rail, agent } = open(makeRail, { answerWithin: 40, store: { get: store.get, replace } });
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    state.replace = () => Promise.reject(new Error('the disk is full'));
    expect(await rail.ask(question())).toBe(false);
    state.replace = () => new Promise(() => {});
    expect(await rail.ask(question({ event: 'evt_2' }))).toBe(false);
  });

  test('arms nothing with a decision for another card, or that is not allowed', async () => {
    const { rail, agent, fake } = open(makeRail);
    const { decision_id } = await decide(agent, `${rail.rail}:card_9`);
    await expect(rail.arm({ card: 'card_1', decision_id })).rejects.toThrow(`not for ${rail.rail}:card_1`);
    fake.decide('DENY');
    const denied = await decide(agent, undefined);
    await expect(rail.arm({ card: 'card_1', decision_id: denied.decision_id })).rejects.toThrow(
      'no usable capability',
    );
    expect(await rail.ask(question())).toBe(false);
  });

  test('in SHADOW no card is armed, and nothing is approved', async () => {
    const shadow = purserBehindFaults({ mode: 'SHADOW' });
    const { rail } = open(makeRail, { agent: shadow.agent, adapter: shadow.adapter });
    const { decision_id } = await decide(shadow.agent, undefined);
    await expect(rail.arm({ card: 'card_1', decision_id })).rejects.toThrow('made in SHADOW');
    expect(await rail.ask(question())).toBe(false);
  });

  test('what was armed too long ago is declined', async () => {
    const clock = { ahead: 0 };
    const { rail, agent } = open(makeRail, { now: () => Date.now() + clock.ahead });
    const { decision_id } = await decide(agent, undefined);
    await rail.arm({ card: 'card_1', decision_id, ttl: 60_000 });
    clock.ahead = 60_000;
    expect(await rail.ask(question(), { at: 60 })).toBe(false);
  });

  test('the store is given no token that could be used', async () => {
    const store = memoryStore();
    const written: string[] = [];
    const replace: typeof store.replace = (key, expected, value) => {
      written.push(key, value);
      return store.replace(key, expected, value);
    };
    const { rail, agent } = open(makeRail, { store: { get: store.get, replace } });
    const { decision_id, capability } = await decide(agent, undefined);
    await rail.arm({ card: 'card_1', decision_id });
    await rail.ask(question());
    expect(written.length).toBeGreaterThan(3);
    expect(written.join('\n')).not.toContain(capability?.token);
  });

  test('an answer that is no consumption of the capability is declined, and uses the card up', async () => {
    const { rail, agent, state, fake } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    for (const answer of [[], {}, 'OK']) {
      state.answer = answer;
      expect(await rail.ask(question())).toBe(false);
      state.answer = undefined;
    }
    expect(await rail.ask(question({ event: 'evt_2', authorization: 'auth_2' }))).toBe(false);
    expect(fake.outcomes).toEqual([]);
  });

  test('a movement that could not be reported is answered so that it comes again', async () => {
    const { rail, agent, fake, state } = open(makeRail);
    await rail.arm({ card: 'card_1', decision_id: (await decide(agent, undefined)).decision_id });
    await rail.ask(question());
    await rail.move({ ...OF, type: 'captured', amount_minor: 5_440, reference: 'tx_1' });
    state.fault = 'answer lost';
    expect(await rail.move({ ...OF, type: 'closed' })).toBe(500);
    state.fault = 'none';
    state.answer = [];
    expect(await rail.move({ ...OF, type: 'closed' })).toBe(500);
    state.answer = undefined;
    expect(await rail.move({ ...OF, type: 'closed' })).toBe(200);
    expect(fake.outcomes.map(({ type }) => type)).toEqual(['SPEND_EXECUTED']);
  });
});

test.each<[number, string, ReturnType<typeof isoAmount>]>([
  [5_440, 'eur', { amount_minor: 5_440, currency: 'EUR' }],
  [500, 'jpy', { amount_minor: 500, currency: 'JPY' }],
  [500, 'isk', { amount_minor: 5, currency: 'ISK' }],
  [50_000, 'ugx', { amount_minor: 500, currency: 'UGX' }],
  [550, 'isk', null],
  [5, 'mga', { amount_minor: 500, currency: 'MGA' }],
  [-5_440, 'eur', { amount_minor: 5_440, currency: 'EUR' }],
  [54.4, 'eur', null],
  [5_440, 'EUR', null],
])('Stripe’s %d %s in ISO minor units', (amount, currency, iso) => {
  expect(isoAmount(amount, currency)).toEqual(iso);
});
