import type { ApiKey } from '@purser/sdk';

type Scope = ApiKey['scopes'][number];

/** What a key can be made for: its scopes, and in words what whoever holds it can do. */
export interface KeyKind {
  kind: string;
  name: string;
  /** Null: the key is bound to an agent instead. */
  scopes: Scope[] | null;
  says: string;
}

export const KINDS: readonly KeyKind[] = [
  {
    kind: 'agent',
    name: 'Agent',
    scopes: null,
    says: 'Asks for spends of one agent and reads what became of them. Give it to the program that spends.',
  },
  {
    kind: 'admin',
    name: 'Admin',
    scopes: ['authorize', 'admin', 'review', 'read'],
    says: 'Can change everything, and asks for spends of any agent. Give it to nothing that an agent can read.',
  },
  {
    kind: 'reviewer',
    name: 'Reviewer',
    scopes: ['review', 'read'],
    says: 'Reads everything and answers reviews. For a bot that brings reviews to people elsewhere.',
  },
  {
    kind: 'read_only',
    name: 'Read-only',
    scopes: ['read'],
    says: 'Reads everything and changes nothing. For dashboards, exports and auditors.',
  },
  {
    kind: 'payment_adapter',
    name: 'Payment adapter',
    scopes: ['consume'],
    says: 'Uses capabilities up at the payment point and reports what the rail did. It reads nothing else.',
  },
];

const DAY_S = 86_400;

/** How long a key lives, in seconds; empty: for ever. */
export const LIVES: readonly (readonly [string, string])[] = [
  [String(30 * DAY_S), '30 days'],
  [String(90 * DAY_S), '90 days'],
  [String(365 * DAY_S), 'One year'],
  ['', 'Never'],
];
export const DEFAULT_LIFE = String(90 * DAY_S);
