import Lithic from 'lithic';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import type { Arming, CardMovement, CardsOptions } from '../src/cards.ts';
import { lithicRail } from '../src/lithic.ts';
import { stripeIssuing } from '../src/stripe-issuing.ts';

export interface Question {
  /** Null: the vendor names none, as Lithic does for most programs. */
  event: string | null;
  authorization: string;
  card: string;
  amount: number;
  currency?: string;
  /** Null: the network names none. */
  merchant?: string | null;
  /** Lithic's id of the delivery; another each time where it is left out. */
  delivery?: string;
}
export interface Signing {
  secret?: string;
  /** Seconds from now. */
  at?: number;
  /** Change the body after it was signed. */
  tamper?: boolean;
}

/** A card rail as its vendor drives it: signed requests in, answers out. */
export interface CardRail {
  rail: string;
  arm(arming: Arming): Promise<void>;
  /** Whether the vendor would approve. */
  ask(question: Question, signing?: Signing): Promise<boolean>;
  /** The status that the vendor gets. */
  move(movement: CardMovement): Promise<number>;
}
export type Common = Omit<CardsOptions, 'rail'>;

const MERCHANT = 'Hetzner Online';
const altered = (body: string, { tamper = false }: Signing) =>
  tamper ? body.replace(MERCHANT, 'Evil Online') : body;

export const STRIPE_SECRET = 'whsec_of_the_tests';
const stripe = new Stripe('sk_test_of_the_tests');

/** Stripe, with its own library's signatures. */
function stripeRail(options: Common): CardRail {
  const issuing = stripeIssuing({
    ...options,
    stripe,
    webhookSecret: ['whsec_of_old', STRIPE_SECRET],
    apiVersion: '2026-10-28.endive',
  });
  const post = (event: object, signing: Signing = {}) => {
    const { secret = STRIPE_SECRET, at = 0 } = signing;
    const payload = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1000) + at;
    const signature = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return issuing.handle(altered(payload, signing), signature);
  };
  let sent = 0;
  return {
    rail: 'stripe_issuing',
    arm: issuing.arm,
    async ask({ event, authorization, card, amount, currency = 'eur', merchant = MERCHANT }, signing) {
      const object = {
        id: authorization,
        card: { id: card },
        status: 'pending',
        approved: false,
        currency,
        merchant_data: { name: merchant },
        pending_request: { amount, currency, is_amount_controllable: false },
      };
      const request = { id: event, type: 'issuing_authorization.request', data: { object } };
      const { status, body } = await post(request, signing);
      return status === 200 && JSON.parse(body).approved === true;
    },
    async move(movement) {
      const currency = movement.currency.toLowerCase();
      const { authorization, type } = movement;
      const id = `evt_move_${++sent}`;
      if (type === 'captured' || type === 'refunded') {
        const amount = movement.amount_minor * (type === 'captured' ? -1 : 1);
        const kind = type === 'captured' ? 'capture' : 'refund';
        const object = { id: movement.reference, type: kind, amount, currency, authorization };
        return (await post({ id, type: 'issuing_transaction.created', data: { object } })).status;
      }
      const status = type === 'closed' ? 'closed' : 'reversed';
      const object = { id: authorization, status, approved: true, currency, transactions: [] };
      return (await post({ id, type: 'issuing_authorization.updated', data: { object } })).status;
    },
  };
}

export const LITHIC_SECRET = `whsec_${Buffer.from('a secret of the tests, long').toString('base64')}`;
const lithic = new Lithic({ apiKey: 'of-the-tests' });
const LITHIC_STATUS = { captured: 'PENDING', refunded: 'SETTLED', closed: 'SETTLED', released: 'VOIDED' };

/** Lithic, with signatures of Standard Webhooks. */
export function lithicCards(options: Common): CardRail {
  const rail = lithicRail({ ...options, lithic, secrets: [LITHIC_SECRET] });
  let sent = 0;
  const post = (event: object, signing: Signing = {}, id = `msg_${++sent}`) => {
    const { secret = LITHIC_SECRET, at = 0 } = signing;
    const body = JSON.stringify(event);
    const date = new Date(Date.now() + at * 1000);
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(date.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, date, body),
    };
    return rail.handle(altered(body, signing), headers);
  };
  return {
    rail: 'lithic',
    arm: rail.arm,
    async ask({ event, authorization, card, amount, currency = 'EUR', ...more }, signing) {
      const money = { amount, currency: currency.toUpperCase() };
      const { merchant = MERCHANT, delivery } = more;
      const request = {
        event_type: 'card_authorization.approval_request',
        token: authorization,
        ...(event === null ? {} : { event_token: event }),
        status: 'AUTHORIZATION',
        card: { token: card },
        merchant: merchant === null ? {} : { descriptor: merchant },
        amounts: { cardholder: money, hold: money },
      };
      const { status, body } = await post(request, signing, delivery);
      return status === 200 && JSON.parse(body).result === 'APPROVED';
    },
    async move(movement) {
      const { type, authorization, currency } = movement;
      const money = (amount: number) => ({ amount, currency });
      const events =
        type === 'captured' || type === 'refunded'
          ? [
              {
                token: movement.reference,
                type: type === 'captured' ? 'CLEARING' : 'RETURN',
                amounts: { cardholder: money(movement.amount_minor) },
              },
            ]
          : [];
      const body = {
        event_type: 'card_transaction.updated',
        token: authorization,
        status: LITHIC_STATUS[type],
        amounts: { cardholder: money(0), hold: money(type === 'refunded' ? 1 : 0) },
        events,
      };
      return (await post(body)).status;
    },
  };
}

export const RAILS: [string, (options: Common) => CardRail][] = [
  ['Stripe Issuing', stripeRail],
  ['Lithic', lithicCards],
];
