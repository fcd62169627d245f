import { idAt, type Json, lineAmount, momentOf } from './fields.ts';
import { type ReadItem, readItem, refuse, skip } from './read-line.ts';
import { stripeAmount } from './stripe-amounts.ts';
import { stripeObject } from './stripe-object.ts';
import { merchantName, onRail, reference, words } from './texts.ts';

type Part = { kind: 'SPEND' | 'REFUND'; field: 'amount_captured' | 'amount_refunded' };

function readPart(of: Json, now_ms: number, { kind, field }: Part): ReadItem {
  return readItem(() => {
    const id = reference(idAt(of, 'id')) ?? refuse('COLUMNS', 'id', 'is missing');
    if (of.status !== 'succeeded' || of.captured === false) return skip('NOT_FINAL');
    const { minor, currency } = stripeAmount(of[field], of.currency, { amount: field, currency: 'currency' });
    const named = of.calculated_statement_descriptor ?? of.statement_descriptor;
    const line = {
      kind,
      merchant: merchantName(named, 'calculated_statement_descriptor'),
      payee_id: null,
      instrument: onRail('stripe_charges', idAt(of, 'customer')),
      amount_minor: lineAmount(minor, field),
      currency,
      merchant_amount_minor: null,
      merchant_currency: null,
      occurred_at: momentOf(of.created, now_ms, 'created'),
      precision: 'SECOND' as const,
      external_reference: id,
      authorization: null,
      description: words(of.description),
      category: null,
    };
    return { line, key: kind === 'SPEND' ? id : `${id} refunded` };
  });
}

/** Reads a charge of Stripe: what was captured, and as a line of its own what was refunded. */
export function readStripeCharge(value: unknown, now_ms: number): ReadItem[] {
  const of = stripeObject(value);
  const items = [readPart(of, now_ms, { kind: 'SPEND', field: 'amount_captured' })];
  const is_refunded = of.status === 'succeeded' && typeof of.amount_refunded === 'number';
  if (is_refunded && (of.amount_refunded as number) !== 0)
    items.push(readPart(of, now_ms, { kind: 'REFUND', field: 'amount_refunded' }));
  return items;
}
