import { type Cards, type CardsOptions, makeCards } from './cards.ts';

type Headers = Record<string, string | string[] | undefined>;

/** What is read of Lithic's own client (`lithic`). */
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

/** What to answer to Lithic. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface LithicRail extends Pick<Cards, 'arm'> {
  /** Answers a request of the authorization stream or of an event subscription, given its raw body. Never rejects. */
  handle(body: string | Uint8Array, headers: Headers): Promise<Answer>;
}

interface Money {
  amount: number;
  currency: string;
}
interface Asked {
  event_type: string;
  token: string;
  event_token?: string;
  status: string;
  card: { token: string };
  merchant?: { descriptor?: string };
  amounts: { cardholder: Money; hold: Money | null };
}
interface Transaction {
  event_type: string;
  token: string;
  status: string;
  amounts: { cardholder: Money; hold: Money };
  events?: { token: string; type: string; amounts: { cardholder: Money } }[];
}

/** Lithic declines on any result but APPROVED and CHALLENGE. */
const DECLINED = 'UNAUTHORIZED_MERCHANT';
/** What money is asked with; credits to the card are nothing that a spend was decided for. */
const ASKS_MONEY = ['AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'BALANCE_INQUIRY'];
const CAPTURES = ['CLEARING', 'FINANCIAL_AUTHORIZATION', 'CORRECTION_DEBIT'];
const REFUNDS = ['RETURN', 'FINANCIAL_CREDIT_AUTHORIZATION', 'CORRECTION_CREDIT'];

const answer = (status: number, body: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Decides authorizations of Lithic cards, and reports what is captured and given back. */
export function lithicRail(options: LithicOptions): LithicRail {
  const { lithic, secrets, ...rest } = options;
  const { log = console.log } = options;
  const cards = makeCards({ ...rest, rail: 'lithic' });

  function verified(body: string, headers: Headers): { event_type?: string; token?: string } {
    let failure: unknown = new Error('no secret is given');
    for (const secret of secrets) {
      try {
        return lithic.webhooks.parse(body, { headers, secret }) as { event_type?: string };
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async function authorize(asked: Asked): Promise<Answer> {
    const { token, event_token = token, card, status, merchant, amounts } = asked;
    const { amount, currency } = amounts.hold ?? amounts.cardholder;
    const approve =
      ASKS_MONEY.includes(status) &&
      (await cards.authorize({
        event: event_token,
        authorization: token,
        card: card.token,
        amount_minor: amount,
        currency,
        merchant_descriptor: merchant?.descriptor,
      }));
    return answer(200, { result: approve ? 'APPROVED' : DECLINED, token });
  }

  async function settle({ token, status, amounts, events = [] }: Transaction): Promise<void> {
    for (const { type, token: reference, amounts: of } of events) {
      const kind = CAPTURES.includes(type) ? 'captured' : REFUNDS.includes(type) ? 'refunded' : null;
      if (kind === null) continue;
      const { amount, currency } = of.cardholder;
      await cards.settle({
        type: kind,
        authorization: token,
        reference,
        currency,
        amount_minor: Math.abs(amount),
      });
    }
    const given = { authorization: token, currency: amounts.cardholder.currency };
    if (status === 'SETTLED' && amounts.hold.amount === 0) await cards.settle({ ...given, type: 'closed' });
    if (['VOIDED', 'EXPIRED', 'DECLINED'].includes(status)) {
      await cards.settle({ ...given, type: 'released' });
    }
  }

  return {
    arm: cards.arm,
    async handle(body, headers) {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
      let event: ReturnType<typeof verified>;
      try {
        event = verified(text, headers);
      } catch (error) {
        log(`purser lithic: refused a request: ${String(error).split('\n')[0]}`);
        return answer(401, { result: DECLINED });
      }
      const asks = event.event_type === 'card_authorization.approval_request';
      try {
        if (asks) return await authorize(event as Asked);
        if (event.event_type === 'card_transaction.updated') await settle(event as Transaction);
        return answer(200, {});
      } catch (error) {
        log(`purser lithic: ${event.event_type} ${event.token} could not be taken in: ${String(error)}`);
        return answer(asks ? 200 : 500, { result: DECLINED, token: event.token });
      }
    },
  };
}
