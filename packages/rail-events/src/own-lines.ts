import { LINE_KINDS, type LineKind } from '@purser/contract/values/history';
import { instantMs } from '@purser/rules/values/timestamps';
import { currencyOf, isObject, lineAmount, noonMs, timeOf, wholeOf } from './fields.ts';
import { type ReadItem, readItem, refuse } from './read-line.ts';
import { merchantName, namedOnRail, reference, words } from './texts.ts';

function timeAndPrecision(value: unknown, given: unknown, now_ms: number) {
  const text = typeof value === 'string' ? value.trim() : '';
  const noon_ms = noonMs(text);
  const time_ms = noon_ms ?? instantMs(text);
  if (time_ms === null) return refuse('DATE', 'occurred_at', 'must be a date, or RFC 3339 with an offset');
  if (given !== undefined && given !== null && given !== 'DAY' && given !== 'SECOND')
    return refuse('DATE', 'precision', 'must be SECOND or DAY');
  if (noon_ms === null && given !== 'DAY')
    return { occurred_at: timeOf(time_ms, now_ms, 'occurred_at'), precision: 'SECOND' as const };
  const day = new Date(time_ms).toISOString().slice(0, 10);
  const at_noon = noon_ms ?? noonMs(day) ?? time_ms;
  return { occurred_at: timeOf(at_noon, now_ms, 'occurred_at'), precision: 'DAY' as const };
}

/** Reads a line in the form of the API, for any rail that has no other. `feed` is the rail of an instrument that names none. */
export function readOwnLine(value: unknown, now_ms: number, feed: string): ReadItem[] {
  const of = isObject(value) ? value : {};
  return [
    readItem(() => {
      const kind = (of.kind ?? 'SPEND') as LineKind;
      if (!LINE_KINDS.includes(kind)) return refuse('COLUMNS', 'kind', 'must be SPEND or REFUND');
      const amount = wholeOf(of.amount_minor, 'amount_minor');
      if (amount < 0) return refuse('AMOUNT', 'amount_minor', 'is below 0');
      const has_merchant_money = typeof of.merchant_amount_minor === 'number';
      const external_reference = reference(of.external_reference);
      const line = {
        kind,
        merchant: merchantName(of.merchant, 'merchant'),
        payee_id: namedOnRail(feed, of.payee_id),
        instrument: namedOnRail(feed, of.instrument),
        amount_minor: lineAmount(BigInt(amount), 'amount_minor'),
        currency: currencyOf(of.currency, 'currency'),
        merchant_amount_minor: has_merchant_money
          ? lineAmount(
              BigInt(wholeOf(of.merchant_amount_minor, 'merchant_amount_minor')),
              'merchant_amount_minor',
            )
          : null,
        merchant_currency: has_merchant_money ? currencyOf(of.merchant_currency, 'merchant_currency') : null,
        ...timeAndPrecision(of.occurred_at, of.precision, now_ms),
        external_reference,
        authorization: reference(of.authorization),
        description: words(of.description),
        category: words(of.category),
      };
      return { line, key: external_reference };
    }),
  ];
}
