import type { RailKind } from '@purser/contract/values/history';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  lithicMovement,
  lithicUpdated,
  stripeAuthorization,
  stripeEvent,
  stripeTransaction,
} from '../../../packages/rail-events/tests/vendor-objects.ts';
import { freshKey } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';
import { authorizationOf, disordered, eventsOf, expectedOf, stories } from './card-orders.ts';
import { makeRailSender } from './rail-sender.ts';

takesMinutes(5);

const { test, s, get, post, walk, makeAgent, ask, keyWith } = serviceTest({ plan: 'enterprise' });
const { addRail, send } = makeRailSender(s);
const RUNS = Number(process.env.CARD_ORDERS_RUNS);
const USD = { currency: 'USD' };
/** The time of authorizations, so that they are not older than requests. */
const created = () => Math.floor(Date.now() / 1000);

let cards = 0;
/** An agent with a card of its own. */
async function cardOf(
  agent: { mode?: string } = {},
  kind: RailKind = 'stripe_issuing',
  currency: { currency: string } = USD,
) {
  const slug = await makeAgent(currency, agent);
  const card = `card${++cards}`;
  const put = await s.call('PUT', `/v1/instruments/${kind}:${card}`, { body: { agent: slug } });
  expect(put.status).toBe(200);
  return { slug, card, instrument: `${kind}:${card}` };
}
const decisionsOf = (slug: string) => walk(`/v1/decisions?agent=${slug}`, { limit: 200 });
const outcomesOf = async (id: string): Promise<unknown[][]> =>
  (await get(`/v1/decisions/${id}/outcomes`)).data.map((each: Record<string, unknown>) => [
    each.type,
    each.amount_minor,
    each.source,
    each.external_reference,
  ]);
const authorized = (fields: object) =>
  stripeEvent('issuing_authorization.created', stripeAuthorization({ created: created(), ...fields }));
const updated = (fields: object) =>
  stripeEvent('issuing_authorization.updated', stripeAuthorization({ created: created(), ...fields }));
const captured = (fields: object) =>
  stripeEvent('issuing_transaction.created', stripeTransaction({ created: created(), ...fields }));
const cardNamed = (id: string) => ({ card: { id } as never });

describe('a card of an agent in SHADOW', () => {
  test('makes one decision for an authorization, as if the agent had asked', async () => {
    const { slug, card, instrument } = await cardOf();
    const rail = await addRail('stripe_issuing');
    const event = authorized({ id: 'iauth_a', amount: 4_200, ...cardNamed(card) });
    for (let i = 0; i < 3; i++) expect((await send(rail, event)).status).toBe(200);
    const [decision, ...others] = await decisionsOf(slug);
    expect(others).toEqual([]);
    expect(decision).toMatchObject({
      mode: 'SHADOW',
      effective_decision: 'ALLOW',
      requested_amount_minor: 4_200,
      currency: 'USD',
      action: { merchant: 'HETZNER ONLINE', payee_id: instrument, category: 'computer_software_stores' },
      observed: {
        rail_id: rail.id,
        authorization: 'iauth_a',
        occurred_at: new Date(event.data.object.created * 1000).toISOString(),
      },
      requested_by: { key_id: rail.id, principal_id: null },
      outcome_state: 'NONE',
    });
    expect(await get(`/v1/decisions/${decision.decision_id}`)).toMatchObject({ observed: decision.observed });
  });

  test('reports captures as one sum once they are all there, refunds by their names, and a later capture on top', async () => {
    const { slug, card } = await cardOf();
    const rail = await addRail('stripe_issuing');
    const of = { authorization: 'iauth_b', card };
    await send(rail, authorized({ id: 'iauth_b', amount: 1_000, ...cardNamed(card) }));
    await send(rail, captured({ ...of, id: 'ipi_b1', amount: -300 }));
    await send(rail, captured({ ...of, id: 'ipi_b2', amount: -400 }));
    const [{ decision_id }] = await decisionsOf(slug);
    expect(await outcomesOf(decision_id)).toEqual([]);
    await send(rail, updated({ id: 'iauth_b', status: 'closed', ...cardNamed(card) }));
    await send(rail, captured({ ...of, id: 'ipi_b3', amount: 100, type: 'refund' }));
    await send(rail, captured({ ...of, id: 'ipi_b4', amount: -50 }));
    expect((await outcomesOf(decision_id)).reverse()).toEqual([
      ['SPEND_EXECUTED', 700, 'PAYMENT_RAIL', 'iauth_b'],
      ['PARTIALLY_REFUNDED', 100, 'PAYMENT_RAIL', 'ipi_b3'],
      ['SPEND_EXECUTED', 750, 'PAYMENT_RAIL', 'iauth_b'],
    ]);
    expect(await get(`/v1/decisions/${decision_id}`)).toMatchObject({
      outcome_state: 'PARTIALLY_REFUNDED',
      verified: true,
      reservation: { status: 'COMMITTED', amount_minor: 650 },
    });
  });

  test('reports what was declined as failed and what was given back as cancelled', async () => {
    const { slug, card } = await cardOf();
    const rail = await addRail('stripe_issuing');
    for (const [id, fields] of [
      ['iauth_declined', { status: 'closed', approved: false }],
      ['iauth_reversed', { status: 'reversed' }],
      ['iauth_expired', { status: 'expired' }],
    ] as const)
      await send(rail, updated({ id, ...fields, ...cardNamed(card) }));
    const states = (await decisionsOf(slug)).map(({ observed, outcome_state, reservation }) => [
      observed.authorization,
      outcome_state,
      reservation.status,
    ]);
    expect(states.sort()).toEqual([
      ['iauth_declined', 'FAILED', 'RELEASED'],
      ['iauth_expired', 'CANCELLED', 'RELEASED'],
      ['iauth_reversed', 'CANCELLED', 'RELEASED'],
    ]);
  });

  test('of Lithic is watched in the same way', async () => {
    const { slug, card, instrument } = await cardOf({}, 'lithic');
    const rail = await addRail('lithic');
    const asked = lithicMovement({ token: 'le_x', type: 'AUTHORIZATION', amount: 2_000 });
    const cleared = lithicMovement({ token: 'le_y', type: 'CLEARING', amount: 1_900, minute: 3 });
    await send(rail, lithicUpdated({ token: 'lt_x', card_token: card }, [asked]));
    await send(rail, lithicUpdated({ token: 'lt_x', card_token: card, status: 'SETTLED' }, [asked, cleared]));
    const [decision] = await decisionsOf(slug);
    expect(decision).toMatchObject({
      requested_amount_minor: 2_000,
      action: { payee_id: instrument },
      observed: { authorization: 'lt_x' },
      outcome_state: 'EXECUTED',
    });
    expect(await outcomesOf(decision.decision_id)).toEqual([
      ['SPEND_EXECUTED', 1_900, 'PAYMENT_RAIL', 'lt_x'],
    ]);
  });

  test('is watched for the agent that asked first, by its own decision', async () => {
    const { slug, card, instrument } = await cardOf();
    const rail = await addRail('stripe_issuing');
    const request = (amount_minor: number, more: object = {}) =>
      ask(slug, amount_minor, { action: { merchant: 'Hetzner Online', currency: 'USD', ...more } });
    const by_merchant = await request(5_000);
    const by_card = await request(5_000, { merchant: 'Another name', payee_id: instrument });
    const other_card = await request(5_000, { payee_id: 'stripe_issuing:another' });
    const far = await request(5_200);
    for (const id of ['iauth_1st', 'iauth_2nd', 'iauth_3rd']) {
      await send(rail, authorized({ id, amount: 5_000, ...cardNamed(card) }));
      await send(rail, captured({ id: `ipi_${id}`, authorization: id, card, amount: -5_000 }));
      await send(rail, updated({ id, amount: 5_000, status: 'closed', ...cardNamed(card) }));
    }
    // The same card first, then the merchant; the third was not asked for.
    const executed = (id: string) => [['SPEND_EXECUTED', 5_000, 'PAYMENT_RAIL', id]];
    expect(await outcomesOf(by_card.decision_id)).toEqual(executed('iauth_1st'));
    expect(await outcomesOf(by_merchant.decision_id)).toEqual(executed('iauth_2nd'));
    for (const { decision_id } of [other_card, far]) expect(await outcomesOf(decision_id)).toEqual([]);
    const observed = (await decisionsOf(slug)).filter((each) => each.observed !== undefined);
    expect(observed.map((each) => each.observed.authorization)).toEqual(['iauth_3rd']);
  });

  test('in another currency than the merchant’s is of the request in the merchant’s, which gets its outcomes in that', async () => {
    const { slug, card } = await cardOf({}, 'stripe_issuing', { currency: 'EUR' });
    const rail = await addRail('stripe_issuing');
    const in_euro = (merchant_amount: number) => ({ merchant_amount, merchant_currency: 'eur' });
    const asked = await ask(slug, 4_600, { action: { merchant: 'Hetzner Online', currency: 'EUR' } });
    const of = { authorization: 'iauth_abroad', card };
    await send(
      rail,
      authorized({ id: 'iauth_abroad', amount: 5_000, ...in_euro(4_600), ...cardNamed(card) }),
    );
    await send(rail, captured({ ...of, id: 'ipi_abroad', amount: -5_010, ...in_euro(-4_600) }));
    const refund = { id: 'ipi_returned', type: 'refund', amount: 1_090, ...in_euro(1_000) };
    await send(rail, captured({ ...of, ...refund }));
    await send(
      rail,
      updated({
        id: 'iauth_abroad',
        status: 'closed',
        amount: 5_000,
        ...in_euro(4_600),
        ...cardNamed(card),
      }),
    );
    expect((await outcomesOf(asked.decision_id)).reverse()).toEqual([
      ['SPEND_EXECUTED', 4_600, 'PAYMENT_RAIL', 'iauth_abroad'],
      ['PARTIALLY_REFUNDED', 1_000, 'PAYMENT_RAIL', 'ipi_returned'],
    ]);
    expect(await decisionsOf(slug)).toHaveLength(1);
    // Near in one currency is not near in the other.
    await ask(slug, 5_000, { action: { merchant: 'Hetzner Online', currency: 'EUR' } });
    await send(rail, authorized({ id: 'iauth_other', amount: 5_000, ...in_euro(4_600), ...cardNamed(card) }));
    const observed = (await decisionsOf(slug)).filter((each) => each.observed !== undefined);
    expect(observed.map((each) => each.observed.authorization)).toEqual(['iauth_other']);
  });

  test('is of the request that its rail names, whatever the amount, and of none that the agent cancelled', async () => {
    const { slug, card, instrument } = await cardOf();
    const rail = await addRail('stripe_issuing');
    const consumer = await keyWith('consume');
    const named = await ask(slug, 9_000, { action: { merchant: 'Another name', currency: 'USD' } });
    const cancelled = await ask(slug, 5_000, {
      action: { merchant: 'Hetzner Online', currency: 'USD', payee_id: instrument },
    });
    const report = (id: string, body: object, key?: string) =>
      post(`/v1/decisions/${id}/outcomes`, body, key);
    await report(
      named.decision_id,
      {
        type: 'SPEND_EXECUTED',
        amount_minor: 9_000,
        external_reference: 'iauth_named',
        source: 'PAYMENT_RAIL',
      },
      consumer,
    );
    await report(cancelled.decision_id, { type: 'SPEND_CANCELLED' });
    for (const id of ['iauth_named', 'iauth_after'])
      await send(rail, authorized({ id, amount: 5_000, ...cardNamed(card) }));
    const observed = (await decisionsOf(slug)).filter((each) => each.observed !== undefined);
    expect(observed.map((each) => each.observed.authorization)).toEqual(['iauth_after']);
  });

  test('is compared with requests as the workspace sets it', async () => {
    const { slug, card } = await cardOf();
    const rail = await addRail('stripe_issuing');
    const settings = async (coverage: object) =>
      expect((await s.call('PATCH', '/v1/workspace', { body: { coverage } })).status).toBe(200);
    const asked = await ask(slug, 5_000, { action: { merchant: 'Hetzner Online', currency: 'USD' } });
    const observed = async () =>
      (await decisionsOf(slug)).filter((each) => each.observed !== undefined).length;
    await send(rail, authorized({ id: 'iauth_near', amount: 5_400, ...cardNamed(card) }));
    expect(await observed()).toBe(1);
    await settings({ tolerance_percent: 10 });
    await send(rail, authorized({ id: 'iauth_wider', amount: 5_400, ...cardNamed(card) }));
    await settings({ tolerance_percent: 2 });
    expect(await observed()).toBe(1);
    await send(rail, captured({ id: 'ipi_wider', authorization: 'iauth_wider', card, amount: -5_400 }));
    await send(rail, updated({ id: 'iauth_wider', status: 'closed', ...cardNamed(card) }));
    expect(await outcomesOf(asked.decision_id)).toEqual([
      ['SPEND_EXECUTED', 5_400, 'PAYMENT_RAIL', 'iauth_wider'],
    ]);
  });

  test('names its decision on its lines; one that the agent asked for names none', async () => {
    const { slug, card } = await cardOf();
    const rail = await addRail('stripe_issuing');
    await ask(slug, 5_000, { action: { merchant: 'Hetzner Online', currency: 'USD' } });
    for (const [id, amount] of [
      ['iauth_asked', 5_000],
      ['iauth_unasked', 2_000],
    ] as const) {
      await send(rail, authorized({ id, amount, ...cardNamed(card) }));
      await send(rail, captured({ id: `ipi_${id}`, authorization: id, card, amount: -amount }));
    }
    await send(rail, captured({ id: 'ipi_alone', authorization: null, card, amount: -700 }));
    const made = new Map(
      (await decisionsOf(slug)).map((each) => [each.observed?.authorization, each.decision_id]),
    );
    const lines = await walk(`/v1/lines?rail=${rail.id}`);
    expect(lines.map((each) => [each.external_reference, each.observed_decision_id]).sort()).toEqual([
      ['ipi_alone', made.get('ipi_alone')],
      ['ipi_iauth_asked', null],
      ['ipi_iauth_unasked', made.get('iauth_unasked')],
    ]);
    const [line] = lines;
    expect(await get(`/v1/lines/${line.line_id}`)).toMatchObject({
      observed_decision_id: line.observed_decision_id,
    });
  });

  test('cannot lose its place to a client’s idempotency key', async () => {
    const { slug, card } = await cardOf();
    const rail = await addRail('stripe_issuing');
    await send(rail, authorized({ id: 'iauth_key', amount: 900, ...cardNamed(card) }));
    const [{ decision_id }] = await decisionsOf(slug);
    const { idempotency_key } = (
      await s.sql('select idempotency_key from decisions where decision_id = $1', [decision_id])
    ).rows[0];
    const body = {
      agent: slug,
      action: { type: 'purchase', merchant: 'Shop', amount_minor: 900, currency: 'USD' },
    };
    const reply = await s.call('POST', '/v1/decisions', { body, idempotency_key });
    expect(reply).toMatchObject({ status: 400 });
    for (const key of ['iauth_key', 'stripe_issuing', freshKey()])
      expect((await s.call('POST', '/v1/decisions', { body, idempotency_key: key })).status).toBe(201);
  });
});

describe('only lines are made', () => {
  const sendCapture = async (card: string) => {
    const id = `iauth_${card}`;
    const rail = await addRail('stripe_issuing');
    await send(rail, authorized({ id, amount: 700, ...cardNamed(card) }));
    await send(rail, captured({ id: `ipi_${card}`, authorization: id, card, amount: -700 }));
    await send(rail, updated({ id, amount: 700, status: 'closed', ...cardNamed(card) }));
    return walk(`/v1/lines?rail=${rail.id}`);
  };

  test('for an agent in ENFORCE, one that is paused, and a card that is nobody’s', async () => {
    const enforced = await cardOf({ mode: 'ENFORCE' });
    const paused = await cardOf();
    await s.call('PATCH', `/v1/agents/${paused.slug}`, { body: { status: 'paused' } });
    for (const { card, slug } of [enforced, paused]) {
      expect(await sendCapture(card)).toHaveLength(1);
      expect(await decisionsOf(slug)).toEqual([]);
    }
    const before = (await walk('/v1/decisions', { limit: 200 })).length;
    expect(await sendCapture('nobodys')).toMatchObject([{ agent: null, amount_minor: 700 }]);
    expect(await walk('/v1/decisions', { limit: 200 })).toHaveLength(before);
  });

  test('of a payment before the card was assigned', async () => {
    const slug = await makeAgent(USD);
    const from = new Date(Date.now() + 3_600_000).toISOString();
    const path = '/v1/instruments/stripe_issuing:later';
    await s.call('PUT', path, { body: { agent: slug, from } });
    await sendCapture('later');
    expect(await decisionsOf(slug)).toEqual([]);
  });

  test('of a check of the card and of money that came back without an authorization', async () => {
    const { slug, card } = await cardOf();
    const rail = await addRail('stripe_issuing');
    await send(rail, authorized({ id: 'iauth_zero', amount: 0, ...cardNamed(card) }));
    await send(rail, captured({ id: 'ipi_back', authorization: null, card, amount: 200, type: 'refund' }));
    expect(await decisionsOf(slug)).toEqual([]);
    expect(await walk(`/v1/lines?rail=${rail.id}`)).toMatchObject([{ kind: 'REFUND', amount_minor: 200 }]);
  });
});

describe('events in any order', () => {
  test(`make one decision for each of ${RUNS} authorizations, with the right outcome`, async () => {
    const drawn = fc.sample(stories, { numRuns: RUNS, seed: 34 });
    let state = 34;
    const next = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const kinds = ['stripe_issuing', 'lithic'] as const;
    const [stripe, lithic] = [await cardOf(), await cardOf({}, 'lithic')];
    const rails = { stripe_issuing: await addRail('stripe_issuing'), lithic: await addRail('lithic') };
    const told = drawn.map((story, i) => ({ story, kind: kinds[i % 2] as RailKind, id: `o${i}` }));
    const named = (kind: RailKind, event: object) =>
      JSON.parse(
        JSON.stringify(event)
          .replaceAll('"ic_1"', JSON.stringify(stripe.card))
          .replaceAll('"card-a"', JSON.stringify(lithic.card))
          // Amounts of all are near each other, but nobody asked.
          .replaceAll('"HETZNER ONLINE"', JSON.stringify(kind)),
      );
    const sent = told.flatMap(({ story, kind, id }) =>
      eventsOf(kind, story, id).map((event) => ({ kind, event: named(kind, event) })),
    );
    const queue = disordered(sent, next);
    const sender = async () => {
      for (let each = queue.pop(); each !== undefined; each = queue.pop()) {
        let reply = await send(rails[each.kind], each.event);
        while (reply.status === 503) reply = await send(rails[each.kind], each.event);
        expect(reply.status, reply.text).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: 12 }, sender));
    const decisions = [...(await decisionsOf(stripe.slug)), ...(await decisionsOf(lithic.slug))];
    const by_authorization = new Map(decisions.map((each) => [each.observed.authorization, each]));
    expect(by_authorization.size).toBe(decisions.length);
    const expected = told.filter(({ story }) => story.end !== 'ALONE' || story.captures.length > 0);
    expect(decisions).toHaveLength(expected.length);
    for (const { story, kind, id } of expected) {
      const decision = by_authorization.get(authorizationOf(kind, story, id));
      const { outcome_state, spent } = expectedOf(story);
      expect(decision, JSON.stringify(story)).toMatchObject({ outcome_state });
      if (spent !== null)
        expect(decision?.reservation, JSON.stringify(story)).toMatchObject({ amount_minor: spent });
      if (outcome_state !== 'NONE') expect(decision?.verified).toBe(true);
    }
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });
});

test('an agent’s month has its observed decisions, and outcomes come also while its workspace is stopped', async () => {
  const { slug, card } = await cardOf();
  const rail = await addRail('stripe_issuing');
  await send(rail, authorized({ id: 'iauth_month', amount: 800, ...cardNamed(card) }));
  expect(await decisionsOf(slug)).toMatchObject([
    { reservation: { status: 'HELD', budget: { held_minor: 800, committed_minor: 0 } } },
  ]);
  expect((await s.call('POST', '/v1/workspace/stop', { body: { reason: 'Drill.' } })).status).toBe(200);
  await send(rail, captured({ id: 'ipi_month', authorization: 'iauth_month', card, amount: -700 }));
  await send(rail, updated({ id: 'iauth_month', amount: 800, status: 'closed', ...cardNamed(card) }));
  await send(rail, authorized({ id: 'iauth_stopped', amount: 100, ...cardNamed(card) }));
  await s.call('POST', '/v1/workspace/resume', { body: {} });
  const decisions = await decisionsOf(slug);
  expect(decisions).toMatchObject([{ outcome_state: 'EXECUTED', reservation: { amount_minor: 700 } }]);
});
