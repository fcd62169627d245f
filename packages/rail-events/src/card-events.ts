import type { RailKind } from '@purser/contract/values/history';
import type { CardEvent } from './card-event.ts';
import { isObject, type Json } from './fields.ts';
import { readLithicAuthorization } from './lithic-authorizations.ts';
import { type Problem, readPart } from './read-line.ts';
import { readStripeAuthorization, readStripeCapture } from './stripe-authorizations.ts';

/** An event as it was read. `type` is the vendor's name of it. */
export type ReadEvent =
  | { kind: 'CARD'; type: string; event: CardEvent }
  /** The vendor asks whether to approve a payment, and nobody here may answer. */
  | { kind: 'ASKS'; type: string }
  /** Nothing of it is used. */
  | { kind: 'UNUSED'; type: string }
  | { kind: 'UNREADABLE'; type: string | null; problem: Problem };

type Reader = (body: Json, now_ms: number) => CardEvent;

/** How each vendor names its events. */
interface Vendor {
  type_field: string;
  /** Requests to approve a payment. */
  asks: readonly string[];
  readers: Readonly<Record<string, Reader>>;
}

const VENDORS: Readonly<Record<RailKind, Vendor>> = {
  stripe_issuing: {
    type_field: 'type',
    asks: ['issuing_authorization.request'],
    readers: {
      'issuing_authorization.created': readStripeAuthorization,
      'issuing_authorization.updated': readStripeAuthorization,
      'issuing_transaction.created': readStripeCapture,
    },
  },
  lithic: {
    type_field: 'event_type',
    asks: ['card_authorization.approval_request'],
    readers: { 'card_transaction.updated': readLithicAuthorization },
  },
};

/** The types of events that a vendor has to send. */
export const usedTypes = (kind: RailKind): string[] => Object.keys(VENDORS[kind].readers);

/**
 * Reads the body of a vendor's webhook. Pure, and checked at run time: a value that is not what the vendor publishes is
 * UNREADABLE and says which field it is. Times over a day ahead of `now_ms` are refused.
 */
export function readCardEvent(kind: RailKind, body: unknown, now_ms: number): ReadEvent {
  const { type_field, asks, readers } = VENDORS[kind];
  const type = isObject(body) ? body[type_field] : undefined;
  if (!isObject(body) || typeof type !== 'string' || type === '') {
    const problem: Problem = { code: 'COLUMNS', column: type_field, message: 'is missing' };
    return { kind: 'UNREADABLE', type: null, problem };
  }
  if (asks.includes(type)) return { kind: 'ASKS', type };
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read === undefined) return { kind: 'UNUSED', type };
  const part = readPart(() => read(body, now_ms));
  if ('problem' in part) return { kind: 'UNREADABLE', type, problem: part.problem };
  return 'skipped' in part ? { kind: 'UNUSED', type } : { kind: 'CARD', type, event: part.value };
}
