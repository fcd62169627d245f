import { Foreign } from './foreign.ts';

const CURRENCY = /^[A-Z]{3}$/;

/** An authorization as a card network asks for it. */
export interface CardAuthorization {
  /** Id of this question. Its repeats get the same answer; another question under the same id is judged by itself. */
  event: string;
  /** Id of the authorization. All its increments share it. */
  authorization: string;
  card: string;
  /** The amount to add to what was approved, in ISO minor units; 0 checks the card. */
  amount_minor: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** The merchant's name as the network has it. */
  merchant_descriptor?: string | null | undefined;
}

/** A later event of an authorization. Each may arrive any number of times, in any order. */
export type CardMovement = { authorization: string; currency: string } & (
  | { type: 'captured' | 'refunded'; amount_minor: number; reference: string }
  /** Nothing more will be captured. */
  | { type: 'closed' }
  /** It was reversed, declined or expired before anything was captured. */
  | { type: 'released' }
);

/** A merchant's name without case, spacing and punctuation; empty where there is none. */
export const merchantKey = (name: string | null | undefined) =>
  (name ?? '')
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Checks the type of every field of a question. Throws an `Unreadable` that names the field. */
export function checkedQuestion(given: CardAuthorization): CardAuthorization {
  const asked = new Foreign(given, 'question');
  return {
    event: asked.id('event'),
    authorization: asked.id('authorization'),
    card: asked.id('card'),
    amount_minor: asked.integer('amount_minor', 0),
    currency: asked.matching('currency', CURRENCY, 'an ISO 4217 code'),
    merchant_descriptor: asked.has('merchant_descriptor') ? asked.text('merchant_descriptor') : null,
  };
}

/** Checks the type of every field of a movement. Throws an `Unreadable` that names the field. */
export function checkedMovement(given: CardMovement): CardMovement {
  const moved = new Foreign(given, 'movement');
  const of = {
    authorization: moved.id('authorization'),
    currency: moved.matching('currency', CURRENCY, 'an ISO 4217 code'),
  };
  const type = moved.matching('type', /^(captured|refunded|closed|released)$/, 'a type of movement');
  if (type === 'closed' || type === 'released') return { ...of, type };
  const of_money = { reference: moved.id('reference'), amount_minor: moved.integer('amount_minor', 0) };
  return { ...of, ...of_money, type: type as 'captured' | 'refunded' };
}

/** Names a question by its id and a hash of all that it asks, so that a changed question under a known id gets its own answer. */
export async function nameOf(asked: CardAuthorization): Promise<string> {
  const { event, authorization, card, amount_minor, currency, merchant_descriptor } = asked;
  const text = JSON.stringify([authorization, card, amount_minor, currency, merchant_descriptor]);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `${event} ${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
