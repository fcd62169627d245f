import { idAt, type Json, lineAmount, momentOf, objectAt } from './fields.ts';
import { type ReadItem, readItem, refuse, skip } from './read-line.ts';
import { stripeAmount } from './stripe-amounts.ts';
import { stripeObject } from './stripe-object.ts';
import { merchantName, onRail, reference, words } from './texts.ts';

/** The amount of a Stripe object in the merchant's own currency. */
export function stripeMerchantMoney(of: Json) {
  if (typeof of.merchant_amount !== 'number' || typeof of.merchant_currency !== 'string')
    return { merchant_amount_minor: null, merchant_currency: null };
  const names = { amount: 'merchant_amount', currency: 'merchant_currency' };
  const { minor, currency } = stripeAmount(of.merchant_amount, of.merchant_currency, names);
  return { merchant_amount_minor: lineAmount(minor, 'merchant_amount'), merchant_currency: currency };
}

/** Reads an Issuing transaction of Stripe, also inside an event. Captures are below 0, refunds above. */
export function readStripeTransaction(value: unknown, now_ms: number): ReadItem[] {
  const of = stripeObject(value);
  return [
    readItem(() => {
      const id = reference(idAt(of, 'id')) ?? refuse('COLUMNS', 'id', 'is missing');
      if (of.type !== 'capture' && of.type !== 'refund') return skip('NOT_A_SPEND');
      const { minor, currency } = stripeAmount(of.amount, of.currency, {
        amount: 'amount',
        currency: 'currency',
      });
      const merchant = objectAt(of, 'merchant_data');
      const line = {
        kind: minor < 0n ? ('SPEND' as const) : ('REFUND' as const),
        merchant: merchantName(merchant.name, 'merchant_data.name'),
        payee_id: null,
        instrument: onRail('stripe_issuing', idAt(of, 'card')),
        amount_minor: lineAmount(minor, 'amount'),
        currency,
        ...stripeMerchantMoney(of),
        occurred_at: momentOf(of.created, now_ms, 'created'),
        precision: 'SECOND' as const,
        external_reference: id,
        authorization: reference(idAt(of, 'authorization')),
        description: null,
        category: words(merchant.category),
      };
      return { line, key: id };
    }),
  ];
}
