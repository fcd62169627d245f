import type { Agent } from '../domain/agents.ts';
import type { AuditRecord } from '../domain/audit.ts';
import type { AuthorityRow } from '../domain/authorities.ts';
import type { BudgetRow } from '../domain/budget.ts';
import type { Consumption } from '../domain/capabilities.ts';
import type { DecisionState } from '../domain/decision-states.ts';
import type { DecisionRow } from '../domain/decisions.ts';
import type { ApiKey, KeyUse } from '../domain/keys.ts';
import type { Label } from '../domain/labels.ts';
import type { InLedger, LedgerEvent } from '../domain/ledger.ts';
import type { Outcome } from '../domain/outcomes.ts';
import type { ExpiredReservation } from '../domain/reservations.ts';
import type { ReviewRow } from '../domain/reviews.ts';
import type { Workspace } from '../domain/workspace.ts';
import type { KnownMerchantRow } from '../policy/known-merchants.ts';
import type { ApiKeyDigest } from '../storage/api-keys.ts';
import type { ExpiringHold } from '../storage/decision-states.ts';
import type { KnownMerchantRef } from '../storage/derived/known-merchants.ts';

/** The state of a decision after a record about it, and the id of the record's event in the chain. */
export interface Recorded {
  after: DecisionState;
  event_id: string;
}

/** The rows of one workspace that a batch writes. Rows about webhooks are in the outbox. */
export type Changes = ReturnType<typeof noChanges>;

/** Returns an empty set of changes. */
export function noChanges() {
  return {
    workspace: undefined as Workspace | undefined,
    agents: new Map<string, Agent>(),
    authorities: [] as AuthorityRow[],
    keys: new Map<string, ApiKey>(),
    new_digests: [] as ApiKeyDigest[],
    old_digests: [] as Pick<ApiKeyDigest, 'digest'>[],
    key_uses: new Map<string, KeyUse>(),
    decisions: [] as DecisionRow[],
    states: new Map<string, DecisionState>(),
    reviews: [] as ReviewRow[],
    labels: [] as Label[],
    outcomes: [] as Outcome[],
    consumptions: [] as InLedger<Consumption>[],
    /** By decision: the holds that from now on will expire by themselves, and those that no longer will. */
    new_expiring: new Map<string, ExpiringHold>(),
    settled_expiring: new Map<string, ExpiringHold>(),
    expired_reservations: [] as InLedger<ExpiredReservation>[],
    budgets: new Map<string, BudgetRow>(),
    /** By agent and key: what was made known, whether or not it was known before. */
    known_merchants: new Map<string, KnownMerchantRow>(),
    audit: [] as AuditRecord[],
    events: [] as LedgerEvent[],
  };
}

/** Names an agent's counter of a month and currency. */
export const budgetKey = (agent_id: string, period: string, currency: string) =>
  `${agent_id} ${period} ${currency}`;
/** Names what an agent is known to have paid. */
export const knownKey = ({ agent_id, key }: KnownMerchantRef) => `${agent_id} ${key}`;
/** Names an agent's idempotency key. */
export const idempotencyKey = (agent_id: string, key: string) => `${agent_id} ${key}`;
