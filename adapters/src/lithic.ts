import { type CardMovement, type Cards, type CardsOptions, makeCards } from './cards.ts';
import { Foreign, Unreadable } from './foreign.ts';
import { makeRailLog } from './log.ts';

/** As Node has them, as `fetch` does, or as pairs. */
type HeadersLike = Record<string, string | string[] | undefined> | Iterable<readonly [string, string]>;

/** The part of Lithic's own client (`lithic`) in use. */
interface LithicClient {
  webhooks: {
    // biome-ignore lint/suspicious/noExplicitAny: headers of every shape that the client takes.
    parse(body: string, options: { headers: any; secret: string }): unknown;
  };
}

export interface LithicOptions extends Omit<CardsOptions, 'rail'> {
  /** Your `new Lithic(…)`. It only verifies signatures here; nothing is asked of Lithic. */
  lithic: LithicClient;
  /** The secrets of the authorization stream (`GET /v1/auth_stream/secret`) and of the event subscription. */
  secrets: readonly string[];
}

/** The answer for Lithic. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface LithicRail extends Pick<Cards, 'arm'> {
  /** Answers a request of the authorization stream or of an event subscription, given its raw body. Never rejects. */
  handle(body: string | Uint8Array, headers: HeadersLike): Promise<Answer>;
}

/** Lithic declines on any result but APPROVED and CHALLENGE. */
const DECLINED = 'UNAUTHORIZED_MERCHANT';
/** Kinds of authorization that request money. Credits to the card are not spends. */
const ASKS_MONEY = ['AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'BALANCE_INQUIRY'];
/** A refund that is taken back counts as a further capture. */
const CAPTURES = ['CLEARING', 'FINANCIAL_AUTHORIZATION', 'CORRECTION_DEBIT', 'RETURN_REVERSAL'];
const REFUNDS = ['RETURN', 'FINANCIAL_CREDIT_AUTHORIZATION', 'CORRECTION_CREDIT'];
const OVER = ['VOIDED', 'EXPIRED', 'DECLINED'];
const ASKS = 'card_authorization.approval_request';

const answer = (status: number, body: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** An amount with its currency, both as Lithic wrote them. */
const moneyOf = (money: Foreign) => ({
  amount_minor: money.integer('amount'),
  currency: money.matching('currency', /^[A-Z]{3}$/, 'an ISO 4217 code'),
});

/** The id of a delivery, which its signature covers; empty where there is none. */
function deliveryOf(headers: HeadersLike): string {
  const pairs =
    Symbol.iterator in headers ? [...(headers as Iterable<[string, string]>)] : Object.entries(headers);
  const found = pairs.find(([name]) => name.toLowerCase() === 'webhook-id')?.[1];
  return String(found ?? '').replace(/[^!-~]/g, '');
}

/** Every movement of a transaction. Throws if a part cannot be read, so that nothing of it is reported. */
function movementsOf(transaction: Foreign): CardMovement[] {
  const authorization = transaction.id('token');
  const status = transaction.text('status');
  const amounts = transaction.object('amounts');
  const events = transaction.has('events') ? transaction.objects('events') : [];
  const movements = events.flatMap((event): CardMovement[] => {
    const kind = event.text('type');
    const type = CAPTURES.includes(kind) ? 'captured' : REFUNDS.includes(kind) ? 'refunded' : null;
    // A clearing moves money whatever was answered before; an authorization that was declined moves none.
    const is_declined =
      kind.endsWith('AUTHORIZATION') && event.has('result') && !event.is('result', 'APPROVED');
    if (type === null || is_declined) return [];
    const { amount_minor, currency } = moneyOf(event.object('amounts').object('cardholder'));
    const reference = event.id('token');
    return [{ type, authorization, reference, currency, amount_minor: Math.abs(amount_minor) }];
  });
  const { currency } = moneyOf(amounts.object('cardholder'));
  const is_closed = status === 'SETTLED' && amounts.object('hold').integer('amount') === 0;
  if (is_closed) movements.push({ type: 'closed', authorization, currency });
  if (OVER.includes(status)) movements.push({ type: 'released', authorization, currency });
  return movements;
}

/** Decides authorizations of Lithic cards, and reports what is captured and given back. */
export function lithicRail(options: LithicOptions): LithicRail {
  const { lithic, secrets, ...rest } = options;
  const tell = makeRailLog('lithic', options.log);
  const cards = makeCards({ ...rest, rail: 'lithic' });

  function verified(body: string, headers: HeadersLike): Foreign {
    // Without headers Lithic's library verifies nothing.
    if (typeof headers !== 'object' || headers === null) throw new Error('no headers were given');
    let failure: unknown = new Error('no secret was given');
    for (const secret of secrets) {
      try {
        return new Foreign(lithic.webhooks.parse(body, { headers, secret }), 'event');
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async function authorize(asked: Foreign, delivery: string): Promise<Answer> {
    const token = asked.id('token');
    const amounts = asked.object('amounts');
    const merchant = asked.has('merchant') ? asked.object('merchant') : null;
    const approve =
      ASKS_MONEY.includes(asked.text('status')) &&
      (await cards.authorize({
        // Most programs are given no `event_token`. Two increments of the same amount are two deliveries.
        event: asked.has('event_token') ? asked.id('event_token') : `delivery-${delivery}`,
        authorization: token,
        card: asked.object('card').id('token'),
        ...moneyOf(amounts.object(amounts.has('hold') ? 'hold' : 'cardholder')),
        merchant_descriptor: merchant?.has('descriptor') ? merchant.text('descriptor') : null,
      }));
    return answer(200, { result: approve ? 'APPROVED' : DECLINED, token });
  }

  async function take(event: Foreign, delivery: string): Promise<Answer> {
    const type = event.text('event_type');
    if (type === ASKS) return authorize(event, delivery);
    if (type === 'card_transaction.updated') {
      for (const movement of movementsOf(event)) await cards.settle(movement);
    }
    return answer(200, {});
  }

  return {
    arm: cards.arm,
    async handle(body, headers) {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
      let event: Foreign;
      try {
        event = verified(text, headers);
      } catch (error) {
        tell(`refused a request: ${String(error).split('\n')[0]}`);
        return answer(401, { result: DECLINED });
      }
      try {
        return await take(event, deliveryOf(headers));
      } catch (error) {
        const token = event.idIfAny('token');
        const asks = event.is('event_type', ASKS);
        const is_final = asks || error instanceof Unreadable;
        // Sent again, what cannot be read is no better. What could not be reported is.
        const then = asks ? 'declined' : is_final ? 'a person should check it' : 'it should be sent again';
        tell(`${event.idIfAny('event_type')} ${token} could not be processed, ${then}: ${String(error)}`);
        return answer(is_final ? 200 : 500, { result: DECLINED, ...(token === undefined ? {} : { token }) });
      }
    },
  };
}
