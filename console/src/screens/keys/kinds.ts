import type { ApiKey } from '@purser/sdk';

type Scope = ApiKey['scopes'][number];

/** A kind of key: its scopes and a description. */
export interface KeyKind {
  kind: string;
  name: string;
  /** Null: the key is bound to an agent instead. */
  scopes: Scope[] | null;
  hint: string;
}

export const KINDS: readonly KeyKind[] = [
  {
    kind: 'agent',
    name: 'Agent',
    scopes: null,
    hint: 'Sends requests for one agent and reads their results. For the program that spends.',
  },
  {
    kind: 'admin',
    name: 'Admin',
    scopes: ['authorize', 'admin', 'review', 'read'],
    hint: 'Full access, including requests for any agent. Keep it where no agent can read it.',
  },
  {
    kind: 'reviewer',
    name: 'Reviewer',
    scopes: ['review', 'read'],
    hint: 'Reads everything and reviews requests. For a bot that brings reviews to people elsewhere.',
  },
  {
    kind: 'read_only',
    name: 'Read-only',
    scopes: ['read'],
    hint: 'Reads everything and changes nothing. For dashboards, exports and auditors.',
  },
  {
    kind: 'payment_adapter',
    name: 'Payment adapter',
    scopes: ['consume'],
    hint: 'Consumes capabilities at the point of payment and reports what the rail did. Reads nothing else.',
  },
];

const DAY_S = 86_400;

/** Lifetimes of a key in seconds. Empty for no expiry. */
export const LIVES: readonly (readonly [string, string])[] = [
  [String(30 * DAY_S), '30 days'],
  [String(90 * DAY_S), '90 days'],
  [String(365 * DAY_S), 'One year'],
  ['', 'Never'],
];
export const DEFAULT_LIFE = String(90 * DAY_S);
