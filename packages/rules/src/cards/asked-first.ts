import type { DecisionCore } from '../domain/decisions.ts';
import { askedRow, askedSpend } from '../matching/asked-spend.ts';
import { matchSpends } from '../matching/match-spends.ts';
import type { AskedSpend, CoverageSettings } from '../matching/spends.ts';

/** A spend that a card was asked for. Minor units. */
export interface PaidByCard {
  /** The rail's name of it. */
  authorization: string;
  /** The card. */
  instrument: string;
  merchant: string;
  amount_minor: number;
  currency: string;
  /** In the merchant's own currency; null: not known. */
  merchant_amount_minor: number | null;
  merchant_currency: string | null;
  occurred_at: string;
}

/** The amounts of a payment, one in each currency that its rail names. Requests may be in either. */
export function amountsOf({
  amount_minor,
  currency,
  merchant_amount_minor,
  merchant_currency,
}: Pick<PaidByCard, 'amount_minor' | 'currency' | 'merchant_amount_minor' | 'merchant_currency'>): {
  currency: string;
  amount_minor: number;
}[] {
  const paid = { currency, amount_minor };
  return merchant_currency === null || merchant_amount_minor === null || merchant_currency === currency
    ? [paid]
    : [paid, { currency: merchant_currency, amount_minor: merchant_amount_minor }];
}

/**
 * The decision among those of an agent that asked for a payment, by the rules of coverage: the rail's own reference, the card as payee,
 * the merchant; null: none. A request after the payment is none, unless clocks may differ or the rail named it.
 */
export function askedFirst(
  asked: readonly AskedSpend[],
  paid: PaidByCard,
  settings: CoverageSettings,
): string | null {
  const { authorization, instrument, merchant, occurred_at } = paid;
  const spend = {
    key: authorization,
    starts_ms: Date.parse(occurred_at),
    is_day: false,
    merchant,
    payee_id: instrument,
    instrument,
    amounts: amountsOf(paid),
    references: [authorization],
    resolution: null,
  };
  const match = matchSpends([spend], asked, settings).get(authorization);
  return match === undefined || (match.is_late && match.rule !== 'RAIL') ? null : match.decision_id;
}

/** True if a decision that was only just made asked for a payment. */
export function hasAskedFirst(decision: DecisionCore, paid: PaidByCard, settings: CoverageSettings): boolean {
  return askedFirst([askedSpend(askedRow(decision, [], null))], paid, settings) !== null;
}
