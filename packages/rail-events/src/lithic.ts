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

function moneyAt(amounts: Json, name: string): { minor: bigint; currency: string } {
  const of = objectAt(amounts, name);
  return {
    minor: BigInt(wholeOf(of.amount, `amounts.${name}.amount`)),
    currency: currencyOf(of.currency, `amounts.${name}.currency`),
  };
}

function readEvent(transaction: Json, event: Json, now_ms: number): ReadItem {
  return readItem(() => {
    const kind = Object.hasOwn(LITHIC_KINDS, String(event.type))
      ? LITHIC_KINDS[String(event.type)]
      : undefined;
    if (kind === undefined || event.result !== 'APPROVED') return skip('NOT_FINAL');
    const token = reference(idAt(event, 'token')) ?? refuse('COLUMNS', 'events[].token', 'is missing');
    const amounts = objectAt(event, 'amounts');
    const { minor, currency } = moneyAt(amounts, 'cardholder');
    const is_known = isObject(amounts.merchant) && amounts.merchant.amount !== 0;
    const at_merchant = is_known ? moneyAt(amounts, 'merchant') : null;
    const merchant = objectAt(transaction, 'merchant');
    const line = {
      kind,
      merchant: merchantName(merchant.descriptor, 'merchant.descriptor'),
      payee_id: null,
      instrument: onRail('lithic', idAt(transaction, 'card_token')),
      amount_minor: lineAmount(minor, 'amounts.cardholder.amount'),
      currency,
      merchant_amount_minor:
        at_merchant === null ? null : lineAmount(at_merchant.minor, 'amounts.merchant.amount'),
      merchant_currency: at_merchant?.currency ?? null,
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

/** Reads a card transaction of Lithic, also inside an event: one line for each of its events that moved money. */
export function readLithicTransaction(value: unknown, now_ms: number): ReadItem[] {
  const outer = isObject(value) ? value : {};
  const of = isObject(outer.payload) ? outer.payload : outer;
  const events = objectsAt(of, 'events');
  if (idAt(of, 'token') === null)
    return [{ problem: { code: 'COLUMNS', column: 'token', message: 'is missing' } }];
  return events.length === 0
    ? [{ skipped: 'NOT_FINAL' }]
    : events.map((event) => readEvent(of, event, now_ms));
}
