import type { RailKind } from '@purser/contract/values/history';
import { recordHash } from '../domain/ledger.ts';

/** Facts of an authorization: the decision that it is watched by, and the states that its rail reported. */
export const AUTHORIZATION_FACTS = ['DECISION', 'DECLINED', 'CLOSED', 'REVERSED', 'EXPIRED'] as const;
export type AuthorizationFact = (typeof AUTHORIZATION_FACTS)[number];

/** A fact of a card authorization. Facts are added and never changed, so their order does not matter. */
export interface RailAuthorizationRow {
  rail_authorization_id: string;
  /** The rail that reported it. */
  rail_id: string;
  kind: RailKind;
  /** The vendor's own name of the authorization. */
  authorization_id: string;
  fact: AuthorizationFact;
  /** The decision of a DECISION; null for a state. */
  decision_id: string | null;
  /** True if the decision was made of the authorization, false if the agent had asked first; null for a state. */
  is_observed: boolean | null;
  recorded_at: string;
}

/** The `data_hash` of a fact: SHA-256 of the RFC 8785 form of all columns. */
export function authorizationDataHash(row: RailAuthorizationRow): Buffer {
  return recordHash(row);
}

/**
 * The idempotency key of the decision that is made of an authorization. It has blanks, which no client's key has, so no client can
 * take its place.
 */
export function observedKey(kind: RailKind, authorization: string): string {
  return `card ${kind} ${authorization}`;
}
