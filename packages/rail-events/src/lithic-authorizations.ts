import type { AuthorizationState, CardEvent, CardSpend } from './card-event.ts';
import { idAt, isObject, type Json, lineAmount, momentMs, momentOf, objectAt, objectsAt } from './fields.ts';
import { lithicMerchantMoney, lithicMoney, lithicTransaction, readLithicTransaction } from './lithic.ts';
import { linesOf, refuse } from './read-line.ts';
import { merchantName, onRail, reference, words } from './texts.ts';

const RAIL = 'lithic';
const STATES: Readonly<Record<string, AuthorizationState>> = {
  DECLINED: 'DECLINED',
  VOIDED: 'REVERSED',
  EXPIRED: 'EXPIRED',
};
/** Events by which money is asked for, or taken without asking. */
const ASKS_MONEY = [
  'AUTHORIZATION',
  'AUTHORIZATION_ADVICE',
  'FINANCIAL_AUTHORIZATION',
  'CLEARING',
  'CORRECTION_DEBIT',
];

/** While a part is still held, further clearings may come. */
function stateOf(of: Json): AuthorizationState {
  const { status } = of;
  if (status === 'SETTLED') {
    const { amount } = objectAt(objectAt(of, 'amounts'), 'hold');
    return typeof amount === 'number' && amount !== 0 ? 'OPEN' : 'CLOSED';
  }
  return Object.hasOwn(STATES, String(status)) ? (STATES[String(status)] as AuthorizationState) : 'OPEN';
}

/** The amounts of the first event that asked for money; without events, those of the transaction. */
function askedFirst(of: Json): Json | null {
  if (!Array.isArray(of.events)) return objectAt(of, 'amounts');
  const asked = objectsAt(of, 'events').filter((event) => {
    const { amount } = objectAt(objectAt(event, 'amounts'), 'cardholder');
    return ASKS_MONEY.includes(String(event.type)) && amount !== 0;
  });
  const when = ({ created }: Json) => momentMs(created) ?? 0;
  const [first] = asked.sort((one, other) => when(one) - when(other));
  return first === undefined ? null : objectAt(first, 'amounts');
}

function spendOf(of: Json, instrument: string | null, now_ms: number): CardSpend | null {
  if (instrument === null) return refuse('COLUMNS', 'card_token', 'is missing');
  const amounts = askedFirst(of);
  if (amounts === null) return null;
  const { minor, currency } = lithicMoney(amounts, 'cardholder');
  if (minor === 0n) return null;
  const merchant = objectAt(of, 'merchant');
  return {
    instrument,
    merchant: merchantName(merchant.descriptor, 'merchant.descriptor'),
    category: words(merchant.mcc),
    amount_minor: lineAmount(minor, 'amounts.cardholder.amount'),
    currency,
    ...lithicMerchantMoney(amounts),
    occurred_at: momentOf(of.created, now_ms, 'created'),
  };
}

/** Reads a card transaction of Lithic. It is the authorization, and has all that happened to it so far. */
export function readLithicAuthorization(body: Json, now_ms: number): CardEvent {
  const of = lithicTransaction(body);
  const authorization = reference(idAt(of, 'token')) ?? refuse('COLUMNS', 'token', 'is missing');
  if (of.events !== undefined && !Array.isArray(of.events)) refuse('COLUMNS', 'events', 'is no list');
  if (!isObject(of.amounts) && of.events === undefined) refuse('COLUMNS', 'amounts', 'is missing');
  const instrument = onRail(RAIL, idAt(of, 'card_token'));
  const spend = spendOf(of, instrument, now_ms);
  const lines = linesOf(readLithicTransaction(of, now_ms));
  return { lines, authorization: { authorization, instrument, state: stateOf(of), spend } };
}
