import { type CardMovement, type Cards, type CardsOptions, makeCards } from './cards.ts';
import { Foreign, Unreadable } from './foreign.ts';
import { makeRailLog } from './log.ts';

/** The part of Stripe's own client (`stripe` 23) in use. */
interface StripeClient {
  webhooks: {
    constructEventAsync(
      body: string,
      signature: string,
      secret: string,
      tolerance?: number,
    ): Promise<unknown>;
  };
}

export interface StripeIssuingOptions extends Omit<CardsOptions, 'rail'> {
  /** Your `new Stripe(…)`. It only verifies signatures here; nothing is asked of Stripe. */
  stripe: StripeClient;
  /** `whsec_…` of the endpoint; several while it is being replaced. */
  webhookSecret: string | readonly string[];
  /** Sent back as `Stripe-Version`: the version of the webhook endpoint. */
  apiVersion: string;
}

/** The answer for Stripe. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface StripeIssuing extends Pick<Cards, 'arm'> {
  /** Answers a request to the webhook endpoint, given its raw body and the header `Stripe-Signature`. Never rejects. */
  handle(body: string | Uint8Array, signature: string | null | undefined): Promise<Answer>;
}

const TOLERANCE_SECONDS = 300;
const ASKS = 'issuing_authorization.request';
/** Statuses in which nothing more is captured. An authorization that was approved and is closed may have been. */
const OVER = ['closed', 'reversed', 'expired'];

/** Where Stripe's minor units are not ISO 4217's: Stripe's units in one of ISO's, or the reverse. */
const DIVIDED_BY: Record<string, number> = { ISK: 100, UGX: 100 };
const TIMES: Record<string, number> = { MGA: 100 };

/** An amount of Stripe's in ISO minor units, or null where it is none. The sign is dropped: Stripe counts captures below 0. */
export function isoAmount(
  amount: unknown,
  currency: unknown,
): { amount_minor: number; currency: string } | null {
  if (!Number.isSafeInteger(amount) || typeof currency !== 'string' || !/^[a-z]{3}$/.test(currency))
    return null;
  const iso = currency.toUpperCase();
  const amount_minor = (Math.abs(amount as number) * (TIMES[iso] ?? 1)) / (DIVIDED_BY[iso] ?? 1);
  return Number.isSafeInteger(amount_minor) ? { amount_minor, currency: iso } : null;
}

/** An amount with its currency. `min`: what Stripe's own amount must be at least. */
function moneyOf(of: Foreign, min?: number) {
  const currency = of.matching('currency', /^[a-z]{3}$/, 'three small letters');
  const money = isoAmount(of.integer('amount', min), currency);
  if (money === null) throw new Unreadable(`amount must be a valid amount in ${currency}`);
  return money;
}

/** An id, also where Stripe was asked to expand the object that it names. */
const idOf = (of: Foreign, name: string) => of.idIfAny(name) ?? of.object(name).id('id');

const KINDS: Readonly<Record<string, 'captured' | 'refunded'>> = { capture: 'captured', refund: 'refunded' };

/** A capture or refund of an authorization, which it names itself where it is not given. */
function movementOf(transaction: Foreign, authorization = idOf(transaction, 'authorization')): CardMovement {
  const type = KINDS[transaction.matching('type', /^(capture|refund)$/, '"capture" or "refund"')];
  return {
    type: type as 'captured' | 'refunded',
    authorization,
    reference: transaction.id('id'),
    ...moneyOf(transaction),
  };
}

/** All that an authorization says. Throws before anything of it is reported where a part cannot be read. */
function movementsOf(of: Foreign): CardMovement[] {
  const authorization = of.id('id');
  const status = of.text('status');
  const currency = of.matching('currency', /^[a-z]{3}$/, 'three small letters').toUpperCase();
  const transactions = of.has('transactions') ? of.objects('transactions') : [];
  const movements = transactions.map((each) => movementOf(each, authorization));
  const is_closed = status === 'closed' && of.boolean('approved');
  if (is_closed) movements.push({ type: 'closed', authorization, currency });
  else if (OVER.includes(status)) movements.push({ type: 'released', authorization, currency });
  return movements;
}

/** Returns the event of a request that one of the secrets signed. Throws for any other request. */
async function verifiedEvent(
  { stripe, webhookSecret, now = Date.now }: StripeIssuingOptions,
  body: string,
  signature: string,
): Promise<Foreign> {
  let failure: unknown = new Error('no secret was given');
  for (const secret of [webhookSecret].flat()) {
    try {
      const event = await stripe.webhooks.constructEventAsync(body, signature, secret, TOLERANCE_SECONDS);
      // Stripe's library looks at the age alone.
      const signed_at = Number(/(?:^|,)\s*t=(\d+)/.exec(signature)?.[1]);
      if (!(signed_at * 1000 <= now() + TOLERANCE_SECONDS * 1000))
        throw new Error('its signature is from the future');
      return new Foreign(event, 'event');
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Decides authorizations of Stripe Issuing cards, and reports what is captured and given back. */
export function stripeIssuing(options: StripeIssuingOptions): StripeIssuing {
  const { stripe, webhookSecret, apiVersion, ...rest } = options;
  const tell = makeRailLog('stripe_issuing', options.log);
  const cards = makeCards({ ...rest, rail: 'stripe_issuing' });

  const answer = (status: number, body: object): Answer => ({
    status,
    headers: { 'content-type': 'application/json', 'stripe-version': apiVersion },
    body: JSON.stringify(body),
  });

  async function take(event: Foreign): Promise<Answer> {
    const type = event.text('type');
    const object = event.object('data').object('object');
    if (type === ASKS) {
      const merchant = object.has('merchant_data') ? object.object('merchant_data') : null;
      const question = {
        event: event.id('id'),
        authorization: object.id('id'),
        card: idOf(object, 'card'),
        ...moneyOf(object.object('pending_request'), 0),
        merchant_descriptor: merchant?.has('name') ? merchant.text('name') : null,
      };
      return answer(200, { approved: await cards.authorize(question) });
    }
    const movements =
      type === 'issuing_authorization.created' || type === 'issuing_authorization.updated'
        ? movementsOf(object)
        : type === 'issuing_transaction.created' || type === 'issuing_transaction.updated'
          ? [movementOf(object)]
          : [];
    for (const movement of movements) await cards.settle(movement);
    return answer(200, { received: true });
  }

  return {
    arm: cards.arm,
    async handle(body, signature) {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
      let event: Foreign;
      try {
        event = await verifiedEvent(options, text, signature ?? '');
      } catch (error) {
        tell(`refused a request: ${String(error).split('\n')[0]}`);
        // Stripe itself, with another secret than ours, would go by the timeout default: it has to be set to decline.
        return answer(400, { approved: false, error: 'The signature is invalid.' });
      }
      try {
        return await take(event);
      } catch (error) {
        const asks = event.is('type', ASKS);
        const is_final = asks || error instanceof Unreadable;
        // Sent again, what cannot be read is no better. What could not be reported is.
        const then = asks ? 'declined' : is_final ? 'a person should check it' : 'it should be sent again';
        tell(
          `${event.idIfAny('type')} ${event.idIfAny('id')} could not be processed, ${then}: ${String(error)}`,
        );
        return answer(is_final ? 200 : 500, { approved: false });
      }
    },
  };
}
