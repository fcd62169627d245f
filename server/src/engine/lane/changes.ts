import type { Label } from '@purser/contract/records';
import type { Note } from '@purser/contract/reviews/note';
import type { Agent } from '@purser/rules/domain/agents';
import type { AuditRecord } from '@purser/rules/domain/audit';
import type { AuthorityRow } from '@purser/rules/domain/authorities';
import type { BudgetRow } from '@purser/rules/domain/budget';
import type { Consumption } from '@purser/rules/domain/capabilities';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { NewDecisionRow } from '@purser/rules/domain/decisions';
import type { ApiKey, KeyUse } from '@purser/rules/domain/keys';
import type { InLedger, LedgerEvent } from '@purser/rules/domain/ledger';
import type { Outcome } from '@purser/rules/domain/outcomes';
import type { ExpiredReservation } from '@purser/rules/domain/reservations';
import type { ReviewRow } from '@purser/rules/domain/reviews';
import type { ReviewPolicyRow, Workspace } from '@purser/rules/domain/workspace';
import type { KnownMerchantRow } from '@purser/rules/policy/known-merchants';
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
    review_policies: [] as ReviewPolicyRow[],
    keys: new Map<string, ApiKey>(),
    new_digests: [] as ApiKeyDigest[],
    old_digests: [] as Pick<ApiKeyDigest, 'digest'>[],
    key_uses: new Map<string, KeyUse>(),
    decisions: [] as NewDecisionRow[],
    states: new Map<string, DecisionState>(),
    reviews: [] as ReviewRow[],
    labels: [] as Label[],
    notes: [] as Note[],
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
