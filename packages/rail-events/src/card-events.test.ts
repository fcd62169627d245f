import { readFileSync } from 'node:fs';
import type { RailKind } from '@purser/contract/values/history';
import { describe, expect, test } from 'vitest';
import {
  CREATED_AT,
  CREATED_S,
  lithicMovement,
  lithicUpdated,
  stripeAuthorization,
  stripeEvent,
  stripeTransaction,
} from '../tests/vendor-objects.ts';
import type { CardEvent } from './card-event.ts';
import { readCardEvent, usedTypes } from './card-events.ts';

const NOW_MS = Date.parse('2026-11-22T00:00:00Z');

function eventOf(kind: RailKind, body: unknown): CardEvent {
  const read = readCardEvent(kind, body, NOW_MS);
  if (read.kind !== 'CARD') throw new Error(JSON.stringify(read));
  return read.event;
}
const stripe = (...of: Parameters<typeof stripeEvent>) => eventOf('stripe_issuing', stripeEvent(...of));
const updated = (fields: Parameters<typeof stripeAuthorization>[0]) =>
  stripe('issuing_authorization.updated', stripeAuthorization(fields)).authorization;
const lithic = (...of: Parameters<typeof lithicUpdated>) => eventOf('lithic', lithicUpdated(...of));

const SPEND = {
  instrument: 'stripe_issuing:ic_1',
  merchant: 'HETZNER ONLINE',
  category: 'computer_software_stores',
  amount_minor: 1250,
  currency: 'USD',
  merchant_amount_minor: 1250,
  merchant_currency: 'USD',
  occurred_at: CREATED_AT,
};

describe('an authorization of Stripe Issuing', () => {
  test('is the spend that the card was asked for', () => {
    expect(stripe('issuing_authorization.created', stripeAuthorization())).toEqual({
      lines: [],
      authorization: { authorization: 'iauth_1', instrument: SPEND.instrument, state: 'OPEN', spend: SPEND },
    });
  });
  test('says its state', () => {
    expect(updated({ status: 'closed' })?.state).toBe('CLOSED');
    expect(updated({ status: 'reversed' })?.state).toBe('REVERSED');
    expect(updated({ status: 'expired' })?.state).toBe('EXPIRED');
    expect(updated({ status: 'of a later version' })?.state).toBe('OPEN');
    expect(updated({ status: 'closed', approved: false })?.state).toBe('DECLINED');
  });
  test('is open while nobody has answered', () => {
    const pending_request = { amount: 1250 } as never;
    expect(updated({ approved: false, pending_request })?.state).toBe('OPEN');
  });
  test('is for what was asked first, whatever was given back or asked for since', () => {
    const request = (amount: number, created: number) =>
      ({ amount, merchant_amount: amount, merchant_currency: 'usd', created, approved: true }) as never;
    const request_history = [request(4000, CREATED_S + 60), request(1250, CREATED_S)];
    const fields = { status: 'reversed' as const, amount: 0, merchant_amount: 0, request_history };
    expect(updated(fields)?.spend).toEqual(SPEND);
  });
  test('of nothing is no spend', () => {
    expect(updated({ amount: 0 })?.spend).toBeNull();
  });
  test('has the transactions that it lists as lines, the same as when they come alone', () => {
    const alone = stripe('issuing_transaction.created', stripeTransaction());
    const listed = stripe(
      'issuing_authorization.updated',
      stripeAuthorization({ status: 'closed', transactions: [stripeTransaction()] }),
    );
    expect(listed.lines).toEqual(alone.lines);
    expect(alone.lines).toMatchObject([
      { key: 'ipi_1', line: { kind: 'SPEND', amount_minor: 1250, authorization: 'iauth_1' } },
    ]);
  });
  test('in a currency whose units are not those of ISO 4217 is in ISO units', () => {
    expect(updated({ amount: 50_000, currency: 'isk' })?.spend).toMatchObject({
      amount_minor: 500,
      currency: 'ISK',
    });
  });
});

describe('a transaction of Stripe Issuing', () => {
  test('without an authorization is one of its own, and closed', () => {
    const { authorization } = stripe(
      'issuing_transaction.created',
      stripeTransaction({ authorization: null }),
    );
    expect(authorization).toMatchObject({
      authorization: 'ipi_1',
      state: 'CLOSED',
      spend: { amount_minor: 1250 },
    });
  });
  test('that gives money back is a line, and no spend', () => {
    const refund = stripeTransaction({ id: 'ipi_2', type: 'refund', amount: 300, merchant_amount: 300 });
    const read = stripe('issuing_transaction.created', refund);
    expect(read.lines).toMatchObject([{ line: { kind: 'REFUND', amount_minor: 300 } }]);
    expect(read.authorization).toMatchObject({ authorization: 'iauth_1', state: null, spend: null });
    const alone = stripe('issuing_transaction.created', { ...refund, authorization: null });
    expect(alone.authorization).toBeNull();
  });
});

describe('a card transaction of Lithic', () => {
  const asked = lithicMovement({ token: 'le_1', type: 'AUTHORIZATION', amount: 1250 });
  const cleared = lithicMovement({ token: 'le_2', type: 'CLEARING', amount: 900, minute: 5 });
  test('is the spend that its first authorization asked for', () => {
    expect(lithic({}, [cleared, asked])).toMatchObject({
      authorization: {
        authorization: 'lt_1',
        instrument: 'lithic:card-a',
        state: 'OPEN',
        spend: { merchant: 'DIGITALOCEAN', amount_minor: 1250, currency: 'USD', occurred_at: CREATED_AT },
      },
      lines: [{ key: 'le_2', line: { kind: 'SPEND', amount_minor: 900, authorization: 'lt_1' } }],
    });
  });
  test('is closed once it is settled and nothing is held', () => {
    expect(lithic({ status: 'SETTLED' }).authorization?.state).toBe('CLOSED');
    expect(lithic({ status: 'SETTLED', hold: 300 }).authorization?.state).toBe('OPEN');
    expect(lithic({ status: 'VOIDED' }).authorization?.state).toBe('REVERSED');
    expect(lithic({ status: 'EXPIRED' }).authorization?.state).toBe('EXPIRED');
    const declined = lithicMovement({
      token: 'le_1',
      type: 'AUTHORIZATION',
      amount: 1250,
      result: 'DECLINED',
    });
    expect(lithic({ status: 'DECLINED' }, [declined]).authorization).toMatchObject({
      state: 'DECLINED',
      spend: { amount_minor: 1250 },
    });
  });
  test('of a check of the card, or of money that came back, is no spend', () => {
    const check = lithicMovement({ token: 'le_1', type: 'BALANCE_INQUIRY', amount: 0 });
    expect(lithic({}, [check]).authorization?.spend).toBeNull();
    const credit = lithicMovement({ token: 'le_1', type: 'FINANCIAL_CREDIT_AUTHORIZATION', amount: -500 });
    expect(lithic({ status: 'SETTLED' }, [credit])).toMatchObject({
      lines: [{ line: { kind: 'REFUND', amount_minor: 500 } }],
      authorization: { spend: null },
    });
  });
});

describe('any other event', () => {
  test('that asks for an approval is named', () => {
    expect(
      readCardEvent(
        'stripe_issuing',
        stripeEvent('issuing_authorization.request', stripeAuthorization()),
        NOW_MS,
      ),
    ).toEqual({ kind: 'ASKS', type: 'issuing_authorization.request' });
    const asks = { event_type: 'card_authorization.approval_request', token: 'lt_1' };
    expect(readCardEvent('lithic', asks, NOW_MS)).toEqual({ kind: 'ASKS', type: asks.event_type });
  });
  test('is not used', () => {
    for (const type of ['charge.succeeded', 'constructor', '__proto__'])
      expect(readCardEvent('stripe_issuing', { type }, NOW_MS)).toEqual({ kind: 'UNUSED', type });
  });
  test('that cannot be read says which field is at fault', () => {
    const problemOf = (kind: RailKind, body: unknown) => {
      const read = readCardEvent(kind, body, NOW_MS);
      return read.kind === 'UNREADABLE' ? read.problem.column : read;
    };
    const created = (fields: object) =>
      problemOf('stripe_issuing', stripeEvent('issuing_authorization.created', stripeAuthorization(fields)));
    for (const body of [null, [], 'text', 7, {}, { type: '' }])
      expect(problemOf('stripe_issuing', body)).toBe('type');
    expect(created({ id: null })).toBe('id');
    expect(created({ card: null })).toBe('card');
    expect(created({ amount: 12.5 })).toBe('amount');
    expect(created({ currency: 'xxx' })).toBe('currency');
    expect(created({ created: 'soon' })).toBe('created');
    expect(created({ merchant_data: { name: ' ' } })).toBe('merchant_data.name');
    expect(created({ transactions: [{ ...stripeTransaction(), amount: '12' }] })).toBe('amount');
    expect(problemOf('lithic', { event_type: 'card_transaction.updated' })).toBe('token');
    expect(problemOf('lithic', { ...lithicUpdated(), events: 'none' })).toBe('events');
  });
});

test('a vendor has to send the types that are read', () => {
  expect(usedTypes('lithic')).toEqual(['card_transaction.updated']);
  expect(usedTypes('stripe_issuing')).toHaveLength(3);
});

describe('the fixtures of files have the fields that the SDKs of their vendors know', () => {
  const FILES = new URL('../../../server/tests/history/fixtures/', import.meta.url);
  const records = (name: string) => JSON.parse(readFileSync(new URL(name, FILES), 'utf8')).data as object[];
  const unknown = (of: object, known: object) => Object.keys(of).filter((field) => !(field in known));

  test('Stripe', () => {
    for (const each of records('stripe_issuing.json')) {
      expect(unknown(each, stripeTransaction())).toEqual([]);
      const { merchant_data } = each as ReturnType<typeof stripeTransaction>;
      expect(unknown(merchant_data, stripeTransaction().merchant_data)).toEqual([]);
    }
  });
  test('Lithic', () => {
    for (const each of records('lithic.json') as ReturnType<typeof lithicUpdated>[]) {
      const known = lithicUpdated();
      expect(unknown(each, known)).toEqual([]);
      expect(unknown(each.amounts, known.amounts)).toEqual([]);
      expect(unknown(each.merchant, known.merchant)).toEqual([]);
      for (const event of each.events ?? []) expect(unknown(event, known.events?.[0] ?? {})).toEqual([]);
    }
  });
});
