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
  occurred_at: string;
}

/**
 * The decision among those of an agent that asked for a payment, by the rules of coverage: the rail's own reference, the card as payee,
 * the merchant; null: none. A request after the payment is none, unless clocks may differ or the rail named it.
 */
export function askedFirst(
  asked: readonly AskedSpend[],
  { authorization, instrument, merchant, amount_minor, currency, occurred_at }: PaidByCard,
  settings: CoverageSettings,
): string | null {
  const spend = {
    key: authorization,
    starts_ms: Date.parse(occurred_at),
    is_day: false,
    merchant,
    payee_id: instrument,
    instrument,
    amounts: [{ currency, amount_minor }],
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
