import { type Cards, type CardsOptions, makeCards } from './cards.ts';

/** What is read of Stripe's own client (`stripe` 23). */
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

/** What to answer to Stripe. */
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

interface Transaction {
  id: string;
  type: string;
  amount: number;
  currency: string;
  authorization: string | { id: string } | null;
}
interface Authorization {
  id: string;
  card: { id: string };
  status: string;
  approved: boolean;
  currency: string;
  merchant_data?: { name?: string | null };
  pending_request: { amount: number; currency: string } | null;
  transactions?: Transaction[];
}
interface StripeEvent {
  id: string;
  type: string;
  data: { object: unknown };
}

/** Decides authorizations of Stripe Issuing cards, and reports what is captured and given back. */
export function stripeIssuing(options: StripeIssuingOptions): StripeIssuing {
  const { stripe, webhookSecret, apiVersion, ...rest } = options;
  const { log = console.log, now = Date.now } = options;
  const cards = makeCards({ ...rest, rail: 'stripe_issuing' });
  const secrets = typeof webhookSecret === 'string' ? [webhookSecret] : webhookSecret;

  const answer = (status: number, body: object): Answer => ({
    status,
    headers: { 'content-type': 'application/json', 'stripe-version': apiVersion },
    body: JSON.stringify(body),
  });

  async function verified(body: string, signature: string): Promise<StripeEvent> {
    let failure: unknown = new Error('no secret is given');
    for (const secret of secrets) {
      try {
        const event = await stripe.webhooks.constructEventAsync(body, signature, secret, TOLERANCE_SECONDS);
        // Stripe's library looks at the age alone.
        const signed_at = Number(/(?:^|,)\s*t=(\d+)/.exec(signature)?.[1]);
        if (!(signed_at * 1000 <= now() + TOLERANCE_SECONDS * 1000))
          throw new Error('it was signed in the future');
        return event as StripeEvent;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async function settleTransaction({
    id,
    type,
    amount,
    currency,
    authorization,
  }: Transaction): Promise<void> {
    const converted = isoAmount(amount, currency);
    const of = typeof authorization === 'string' ? authorization : authorization?.id;
    const kind = type === 'capture' ? 'captured' : type === 'refund' ? 'refunded' : null;
    if (converted === null || of === undefined || kind === null) {
      log(
        `purser stripe_issuing: ${id} (${type}) belongs to no authorization that could be settled; a person should look`,
      );
      return;
    }
    await cards.settle({ type: kind, authorization: of, reference: id, ...converted });
  }

  async function settleAuthorization(authorization: Authorization): Promise<void> {
    const { id, status, approved, currency } = authorization;
    for (const each of authorization.transactions ?? [])
      await settleTransaction({ ...each, authorization: id });
    const given = { authorization: id, currency: currency.toUpperCase() };
    if (status === 'closed') await cards.settle({ ...given, type: approved ? 'closed' : 'released' });
    if (status === 'reversed' || status === 'expired') await cards.settle({ ...given, type: 'released' });
  }

  async function take(event: StripeEvent): Promise<Answer> {
    const { type, data } = event;
    if (type === 'issuing_authorization.request') {
      const { id, card, pending_request, merchant_data } = data.object as Authorization;
      const asked = isoAmount(pending_request?.amount, pending_request?.currency);
      if (asked === null || (pending_request?.amount ?? -1) < 0) {
        log(`purser stripe_issuing: declined ${id}: its amount or currency cannot be read`);
        return answer(200, { approved: false });
      }
      const merchant_descriptor = merchant_data?.name ?? undefined;
      const question = { event: event.id, authorization: id, card: card.id, ...asked, merchant_descriptor };
      return answer(200, { approved: await cards.authorize(question) });
    }
    if (type === 'issuing_authorization.created' || type === 'issuing_authorization.updated') {
      await settleAuthorization(data.object as Authorization);
    } else if (type === 'issuing_transaction.created' || type === 'issuing_transaction.updated') {
      await settleTransaction(data.object as Transaction);
    }
    return answer(200, { received: true });
  }

  return {
    arm: cards.arm,
    async handle(body, signature) {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
      let event: StripeEvent;
      try {
        event = await verified(text, signature ?? '');
      } catch (error) {
        log(`purser stripe_issuing: refused a request: ${String(error).split('\n')[0]}`);
        // Stripe itself, with another secret than ours, would go by the timeout default: it has to be set to decline.
        return answer(400, { approved: false, error: 'The signature proves nothing.' });
      }
      try {
        return await take(event);
      } catch (error) {
        log(`purser stripe_issuing: ${event.type} ${event.id} could not be taken in: ${String(error)}`);
        return answer(event.type === 'issuing_authorization.request' ? 200 : 500, { approved: false });
      }
    },
  };
}
