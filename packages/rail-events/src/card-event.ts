import type { EventLine } from './read-line.ts';

/** The states of an authorization. CLOSED: all captures that its rail expects are there. */
export const AUTHORIZATION_STATES = ['OPEN', 'DECLINED', 'CLOSED', 'REVERSED', 'EXPIRED'] as const;
export type AuthorizationState = (typeof AUTHORIZATION_STATES)[number];

/** The spend that a card was asked for. `instrument` is the card; amounts are in minor units. */
export interface CardSpend {
  instrument: string;
  merchant: string;
  category: string | null;
  amount_minor: number;
  currency: string;
  /** The amount in the merchant's own currency; both null: the rail does not say it. */
  merchant_amount_minor: number | null;
  merchant_currency: string | null;
  occurred_at: string;
}

/** One authorization as an event shows it. */
export interface CardAuthorization {
  /** The rail's own name of it. */
  authorization: string;
  /** The card, also where there is no spend. */
  instrument: string | null;
  /** Null: the event tells nothing of it. */
  state: AuthorizationState | null;
  /** Null: nothing is to be paid, as where a card is only checked, or money came back. */
  spend: CardSpend | null;
}

/** The content of a card event: the movements of money in it, and the authorization that it is about. */
export interface CardEvent {
  lines: EventLine[];
  authorization: CardAuthorization | null;
}
