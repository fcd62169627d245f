import {
  currencyOf,
  idAt,
  isObject,
  type Json,
  lineAmount,
  momentOf,
  objectAt,
  objectsAt,
  wholeOf,
} from './fields.ts';
import { type ReadItem, readItem, refuse, skip } from './read-line.ts';
import { merchantName, onRail, reference, words } from './texts.ts';

/** Kinds of the events that move money; the other types move none. */
export const LITHIC_KINDS: Readonly<Record<string, 'SPEND' | 'REFUND'>> = {
  CLEARING: 'SPEND',
  FINANCIAL_AUTHORIZATION: 'SPEND',
  CORRECTION_DEBIT: 'SPEND',
  RETURN_REVERSAL: 'SPEND',
  RETURN: 'REFUND',
  FINANCIAL_CREDIT_AUTHORIZATION: 'REFUND',
  CORRECTION_CREDIT: 'REFUND',
};

/** A clearing moves money whatever was answered before; an authorization that was declined moves none. */
const isDeclined = ({ type, result }: Json) =>
  String(type).endsWith('AUTHORIZATION') && result !== undefined && result !== 'APPROVED';

/** An amount of Lithic's with its currency; `name` is the view of it, such as `cardholder`. */
export function lithicMoney(amounts: Json, name: string): { minor: bigint; currency: string } {
  const of = objectAt(amounts, name);
  return {
    minor: BigInt(wholeOf(of.amount, `amounts.${name}.amount`)),
    currency: currencyOf(of.currency, `amounts.${name}.currency`),
  };
}

/** The amount in the merchant's own currency. */
export function lithicMerchantMoney(amounts: Json) {
  if (!isObject(amounts.merchant) || amounts.merchant.amount === 0)
    return { merchant_amount_minor: null, merchant_currency: null };
  const { minor, currency } = lithicMoney(amounts, 'merchant');
  return { merchant_amount_minor: lineAmount(minor, 'amounts.merchant.amount'), merchant_currency: currency };
}

function readEvent(transaction: Json, event: Json, now_ms: number): ReadItem {
  return readItem(() => {
    const kind = Object.hasOwn(LITHIC_KINDS, String(event.type))
      ? LITHIC_KINDS[String(event.type)]
      : undefined;
    if (kind === undefined || isDeclined(event)) return skip('NOT_FINAL');
    const token = reference(idAt(event, 'token')) ?? refuse('COLUMNS', 'events[].token', 'is missing');
    const amounts = objectAt(event, 'amounts');
    const { minor, currency } = lithicMoney(amounts, 'cardholder');
    const merchant = objectAt(transaction, 'merchant');
    const line = {
      kind,
      merchant: merchantName(merchant.descriptor, 'merchant.descriptor'),
      payee_id: null,
      instrument: onRail('lithic', idAt(transaction, 'card_token')),
      amount_minor: lineAmount(minor, 'amounts.cardholder.amount'),
      currency,
      ...lithicMerchantMoney(amounts),
      occurred_at: momentOf(event.created, now_ms, 'events[].created'),
      precision: 'SECOND' as const,
      external_reference: token,
      authorization: reference(idAt(transaction, 'token')),
      description: null,
      category: words(merchant.mcc),
    };
    return { line, key: token };
  });
}

/** The card transaction of an event, or the value itself. */
export function lithicTransaction(value: unknown): Json {
  const outer = isObject(value) ? value : {};
  return isObject(outer.payload) ? outer.payload : outer;
}

/** Reads a card transaction of Lithic, also inside an event: one line for each of its events that moved money. */
export function readLithicTransaction(value: unknown, now_ms: number): ReadItem[] {
  const of = lithicTransaction(value);
  const events = objectsAt(of, 'events');
  if (idAt(of, 'token') === null)
    return [{ problem: { code: 'COLUMNS', column: 'token', message: 'is missing' } }];
  return events.length === 0
    ? [{ skipped: 'NOT_FINAL' }]
    : events.map((event) => readEvent(of, event, now_ms));
}
