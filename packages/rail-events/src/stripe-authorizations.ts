import type { AuthorizationState, CardEvent, CardSpend } from './card-event.ts';
import { idAt, isObject, type Json, lineAmount, momentOf, objectAt, objectsAt } from './fields.ts';
import { linesOf, refuse } from './read-line.ts';
import { stripeAmount } from './stripe-amounts.ts';
import { readStripeTransaction, stripeMerchantMoney } from './stripe-issuing.ts';
import { stripeObject } from './stripe-object.ts';
import { merchantName, onRail, reference, words } from './texts.ts';

const RAIL = 'stripe_issuing';
const STATES: Readonly<Record<string, AuthorizationState>> = {
  closed: 'CLOSED',
  reversed: 'REVERSED',
  expired: 'EXPIRED',
};

/** A request that nobody has answered yet is open, whatever `approved` says. */
function stateOf(of: Json): AuthorizationState {
  if (of.approved === false) return isObject(of.pending_request) ? 'OPEN' : 'DECLINED';
  const status = String(of.status);
  return Object.hasOwn(STATES, status) ? (STATES[status] as AuthorizationState) : 'OPEN';
}

/** The object with the amounts that were asked for first; those of the authorization change with what is given back or asked for later. */
function askedFirst(of: Json): Json {
  const asked = objectsAt(of, 'request_history').filter(
    ({ amount }) => typeof amount === 'number' && amount > 0,
  );
  const when = ({ created }: Json) => (typeof created === 'number' ? created : 0);
  const [first] = asked.sort((one, other) => when(one) - when(other));
  return first ?? of;
}

function spendOf(of: Json, instrument: string | null, now_ms: number): CardSpend | null {
  if (instrument === null) return refuse('COLUMNS', 'card', 'is missing');
  const asked = askedFirst(of);
  const { minor, currency } = stripeAmount(asked.amount, of.currency, {
    amount: 'amount',
    currency: 'currency',
  });
  if (minor <= 0n) return null;
  const merchant = objectAt(of, 'merchant_data');
  return {
    instrument,
    merchant: merchantName(merchant.name, 'merchant_data.name'),
    category: words(merchant.category),
    amount_minor: lineAmount(minor, 'amount'),
    currency,
    ...stripeMerchantMoney(asked),
    occurred_at: momentOf(of.created, now_ms, 'created'),
  };
}

/** Reads an authorization of Stripe Issuing, with the transactions that it lists. */
export function readStripeAuthorization(body: Json, now_ms: number): CardEvent {
  const of = stripeObject(body);
  const authorization = reference(idAt(of, 'id')) ?? refuse('COLUMNS', 'id', 'is missing');
  const instrument = onRail(RAIL, idAt(of, 'card'));
  const { card, merchant_data, created } = of;
  // What a transaction leaves out is that of its authorization.
  const inherited = { card, merchant_data, created, currency: of.currency, authorization };
  const items = objectsAt(of, 'transactions').flatMap((each) =>
    readStripeTransaction({ ...inherited, ...each, authorization }, now_ms),
  );
  const spend = spendOf(of, instrument, now_ms);
  return { lines: linesOf(items), authorization: { authorization, instrument, state: stateOf(of), spend } };
}

/** Reads a capture or refund of Stripe Issuing. A capture without an authorization is one by itself. */
export function readStripeCapture(body: Json, now_ms: number): CardEvent {
  const lines = linesOf(readStripeTransaction(body, now_ms));
  const [found] = lines;
  if (found === undefined) return { lines, authorization: null };
  const { kind, authorization, instrument, merchant, category, occurred_at } = found.line;
  const { amount_minor, currency, merchant_amount_minor, merchant_currency } = found.line;
  const is_spend = kind === 'SPEND';
  if (authorization === null && !is_spend) return { lines, authorization: null };
  const is_known = is_spend && instrument !== null;
  const money = { amount_minor, currency, merchant_amount_minor, merchant_currency };
  const spend = is_known ? { instrument, merchant, category, ...money, occurred_at } : null;
  const state = authorization === null ? 'CLOSED' : null;
  return {
    lines,
    authorization: { authorization: authorization ?? found.key, instrument, state, spend },
  };
}
