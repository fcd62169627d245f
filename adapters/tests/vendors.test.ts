import Lithic from 'lithic';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../src/cards.ts';
import { lithicRail } from '../src/lithic.ts';
import { stripeIssuing } from '../src/stripe-issuing.ts';
import { LITHIC_SECRET, STRIPE_SECRET } from './card-rails.ts';
import { decide, purserBehindFaults } from './purser-away.ts';

interface Vendor {
  name: string;
  /** The payee that the card is. */
  payee: string;
  question: object;
  /** Fields by which a question is judged. */
  judged_by: string[];
  movement: object;
  reported_by: string[];
  approves: (body: string) => boolean;
  open: (common: object) => {
    arm: (arming: { card: string; decision_id: string }) => Promise<void>;
    post: (event: object) => Promise<{ status: number; body: string }>;
  };
}

const AMOUNT = 5_440;
const money = { amount: AMOUNT, currency: 'EUR' };
const stripe = new Stripe('sk_test_of_the_tests');
const lithic = new Lithic({ apiKey: 'of-the-tests' });

const VENDORS: Vendor[] = [
  {
    name: 'Stripe Issuing',
    payee: 'stripe_issuing:card_1',
    question: {
      id: 'evt_1',
      type: 'issuing_authorization.request',
      data: {
        object: {
          id: 'auth_1',
          card: { id: 'card_1' },
          merchant_data: { name: 'Hetzner Online' },
          pending_request: { amount: AMOUNT, currency: 'eur' },
        },
      },
    },
    judged_by: [
      'id',
      'type',
      'data',
      'data.object',
      'data.object.id',
      'data.object.card',
      'data.object.card.id',
      'data.object.merchant_data',
      'data.object.merchant_data.name',
      'data.object.pending_request',
      'data.object.pending_request.amount',
      'data.object.pending_request.currency',
    ],
    movement: {
      id: 'evt_2',
      type: 'issuing_authorization.updated',
      data: {
        object: {
          id: 'auth_1',
          status: 'closed',
          approved: true,
          currency: 'eur',
          transactions: [{ id: 'tx_1', type: 'capture', amount: -5_000, currency: 'eur' }],
        },
      },
    },
    reported_by: [
      'data',
      'data.object',
      'data.object.id',
      'data.object.status',
      'data.object.approved',
      'data.object.currency',
      'data.object.transactions.0',
      'data.object.transactions.0.id',
      'data.object.transactions.0.type',
      'data.object.transactions.0.amount',
      'data.object.transactions.0.currency',
    ],
    approves: (body) => JSON.parse(body).approved === true,
    open(common) {
      const rail = stripeIssuing({
        ...common,
        stripe,
        webhookSecret: STRIPE_SECRET,
        apiVersion: 'v',
      } as never);
      const post = (event: object) => {
        const payload = JSON.stringify(event);
        const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: STRIPE_SECRET });
        return rail.handle(payload, signature);
      };
      return { arm: rail.arm, post };
    },
  },
  {
    name: 'Lithic',
    payee: 'lithic:card_1',
    question: {
      event_type: 'card_authorization.approval_request',
      token: 'auth_1',
      event_token: 'evt_1',
      status: 'AUTHORIZATION',
      card: { token: 'card_1' },
      merchant: { descriptor: 'Hetzner Online' },
      amounts: { hold: money },
    },
    judged_by: [
      'event_type',
      'token',
      'status',
      'card',
      'card.token',
      'merchant',
      'merchant.descriptor',
      'amounts',
      'amounts.hold',
      'amounts.hold.amount',
      'amounts.hold.currency',
    ],
    movement: {
      event_type: 'card_transaction.updated',
      token: 'auth_1',
      status: 'SETTLED',
      amounts: { cardholder: money, hold: { amount: 0, currency: 'EUR' } },
      events: [
        { token: 'tx_1', type: 'CLEARING', amounts: { cardholder: { amount: 5_000, currency: 'EUR' } } },
      ],
    },
    reported_by: [
      'token',
      'status',
      'amounts',
      'amounts.cardholder',
      'amounts.cardholder.currency',
      'amounts.hold',
      'amounts.hold.amount',
      'events.0',
      'events.0.token',
      'events.0.type',
      'events.0.amounts',
      'events.0.amounts.cardholder',
      'events.0.amounts.cardholder.amount',
      'events.0.amounts.cardholder.currency',
    ],
    approves: (body) => JSON.parse(body).result === 'APPROVED',
    open(common) {
      const rail = lithicRail({ ...common, lithic, secrets: [LITHIC_SECRET] } as never);
      let sent = 0;
      const post = (event: object) => {
        const body = JSON.stringify(event);
        const id = `msg_${++sent}`;
        const now = new Date();
        return rail.handle(body, {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
          'webhook-signature': new Webhook(LITHIC_SECRET).sign(id, now, body),
        });
      };
      return { arm: rail.arm, post };
    },
  },
];

/** Values that no field by which money is decided may have. */
const WRONG = [
  undefined,
  null,
  [],
  {},
  '',
  'a\nb',
  1.5,
  1e300,
  true,
  [AMOUNT],
  ['card_1'],
  { id: ['card_1'] },
];

/** The event with another value at a path. */
function changed(event: object, path: string, value: unknown): object {
  const copy = structuredClone(event);
  const names = path.split('.');
  const last = names.pop() as string;
  const holder = names.reduce((of, name) => of[name] as never, copy as Record<string, unknown>);
  holder[last] = value;
  return copy;
}

describe.each(VENDORS)('$name', ({ payee, question, judged_by, movement, reported_by, approves, open }) => {
  async function armed() {
    const { agent, adapter, fake } = purserBehindFaults();
    const lines: string[] = [];
    const secret = 'a secret of the tests with 32 characters';
    const log = (line: string) => lines.push(line);
    const rail = open({ agent, adapter, store: memoryStore(), secret, answerWithin: 60_000, log });
    const { decision_id } = await decide(agent, payee, AMOUNT);
    await rail.arm({ card: 'card_1', decision_id });
    return { ...rail, fake, lines };
  }

  test('the question and the movement are taken as they are', async () => {
    const { post, fake } = await armed();
    expect(approves((await post(question)).body)).toBe(true);
    expect((await post(movement)).status).toBe(200);
    expect(fake.outcomes.map(({ type, amount_minor }) => [type, amount_minor])).toEqual([
      ['SPEND_EXECUTED', 5_000],
    ]);
  });

  test.each(judged_by)(
    'a question whose %s has another type is declined and consumes nothing',
    async (path) => {
      for (const value of WRONG) {
        const { post, fake, lines } = await armed();
        const { status, body } = await post(changed(question, path, value));
        expect([value, status, approves(body), fake.consumed]).toEqual([value, 200, false, []]);
        expect(lines.length).toBeLessThanOrEqual(1);
        expect(lines.join().split('\n')).toHaveLength(1);
      }
    },
  );

  test.each(reported_by)('a movement whose %s has another type reports nothing', async (path) => {
    for (const value of WRONG) {
      const { post, fake, lines } = await armed();
      await post(question);
      lines.length = 0;
      const other = changed(movement, path, value);
      if (JSON.stringify(other) === JSON.stringify(movement)) continue;
      const { status } = await post(other);
      expect([value, status, fake.outcomes]).toEqual([value, 200, []]);
      expect(lines.join().split('\n')).toHaveLength(1);
    }
  });

  test.each(WRONG)('a signed body that is %j is refused, and nothing rejects', async (value) => {
    const { post, fake } = await armed();
    const { body } = await post((value ?? null) as never);
    expect([approves(body), fake.consumed]).toEqual([false, []]);
  });
});
