import type { Agent } from '../domain/agents.ts';
import {
  type Actor,
  type AuditedState,
  type AuditRecord,
  auditedForm,
  changesBetween,
} from '../domain/audit.ts';
import type { Authority, AuthorityRow } from '../domain/authorities.ts';
import type { BudgetRow } from '../domain/budget.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import {
  afterRunningOut,
  type Decision,
  type DecisionRow,
  type DecisionState,
  decisionDataHash,
  type EarlierDecision,
  hasRunOut,
  initialState,
  runOutDataHash,
} from '../domain/decisions.ts';
import type { NewId } from '../domain/ids.ts';
import type { ApiKey, KeyUse } from '../domain/keys.ts';
import {
  eventHash,
  type LedgerEvent,
  type LedgerEventType,
  type LedgerHead,
  recordHash,
  type SubjectType,
} from '../domain/ledger.ts';
import type { WebhookEndpoint, WebhookEventType } from '../domain/webhooks.ts';
import type { Workspace } from '../domain/workspace.ts';
import { parseAuthority } from '../storage/authorities.ts';
import type { ExpiringHold } from '../storage/decisions.ts';
import { Outbox } from './outbox.ts';

/** What a command wants loaded before it is applied. */
export interface Needs {
  /** Agents by id or slug, with their current authorities. */
  agents?: readonly string[];
  /** This month's budgets of these agents, run-out holds let go. */
  budgets_of?: readonly string[];
  idempotency?: { agent_id: string; idempotency_key: string };
  keys?: readonly string[];
  /** The workspace itself and its number of agents. */
  workspace?: boolean;
  admin_keys?: boolean;
  /** The webhook endpoints: for whatever publishes an event or changes them. */
  webhooks?: boolean;
}

/** The rows that a batch found, as they were before it. */
export interface Loaded {
  workspace: Workspace | undefined;
  agent_count: number;
  agents: readonly Agent[];
  authorities: readonly AuthorityRow[];
  budgets: readonly BudgetRow[];
  run_out_holds: readonly DecisionState[];
  earlier_decisions: readonly EarlierDecision[];
  keys: readonly ApiKey[];
  admin_keys: readonly ApiKey[];
  webhooks: readonly WebhookEndpoint[];
}

/** Where a change comes from, for the audit list. */
export interface Origin {
  actor: Actor;
  request_id: string | null;
  client_address: string | null;
}

const budgetKey = (agent_id: string, period: string, currency: string) => `${agent_id} ${period} ${currency}`;
const idempotencyKey = (agent_id: string, key: string) => `${agent_id} ${key}`;

/**
 * The rows that a batch loaded and what its commands changed about them. Commands see the changes of those
 * before them. Nothing here does I/O: the lane writes `changes` when all commands have been applied. Loaded rows
 * are never changed in place, so that a batch can be folded again from the same rows.
 */
export class WorkingSet {
  readonly workspace_id: string;
  /** The batch's moment by the database's clock, later than that of every earlier batch. */
  readonly now_ms: number;
  readonly now: string;
  readonly newId: NewId;
  /** The webhook endpoints and what is to be sent to them. */
  readonly outbox: Outbox;
  readonly changes = {
    workspace: undefined as Workspace | undefined,
    agents: new Map<string, Agent>(),
    authorities: [] as AuthorityRow[],
    keys: new Map<string, ApiKey>(),
    new_keys: [] as ApiKey[],
    key_uses: new Map<string, KeyUse>(),
    decisions: [] as DecisionRow[],
    states: new Map<string, DecisionState>(),
    new_expiring: [] as ExpiringHold[],
    settled_expiring: [] as ExpiringHold[],
    budgets: new Map<string, BudgetRow>(),
    audit: [] as AuditRecord[],
    events: [] as LedgerEvent[],
  };
  /** Grows with every change; what leaves it as it was has changed nothing. */
  change_count = 0;

  #head: LedgerHead;
  #workspace: Workspace | undefined;
  #agent_count: number;
  readonly #agents = new Map<string, Agent>();
  readonly #authorities = new Map<string, AuthorityRow>();
  readonly #budgets = new Map<string, BudgetRow>();
  readonly #earlier = new Map<string, EarlierDecision>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #admin_key_ids: string[];

  constructor(workspace_id: string, head: LedgerHead, now_ms: number, newId: NewId, loaded: Loaded) {
    this.workspace_id = workspace_id;
    this.now_ms = now_ms;
    this.now = new Date(now_ms).toISOString();
    this.newId = newId;
    this.outbox = new Outbox(this.now, loaded.webhooks, () => {
      this.change_count += 1;
    });
    this.#head = head;
    this.#workspace = loaded.workspace;
    this.#agent_count = loaded.agent_count;
    for (const agent of loaded.agents) this.#rememberAgent(agent);
    for (const row of loaded.authorities) this.#authorities.set(row.agent_id, row);
    for (const row of loaded.budgets)
      this.#budgets.set(budgetKey(row.agent_id, row.period, row.currency), row);
    for (const earlier of loaded.earlier_decisions) {
      this.#earlier.set(idempotencyKey(earlier.agent_id, earlier.idempotency_key), earlier);
    }
    for (const key of loaded.keys) this.#keys.set(key.key_id, key);
    for (const key of loaded.admin_keys) this.#keys.set(key.key_id, key);
    this.#admin_key_ids = loaded.admin_keys.map((key) => key.key_id);
    for (const hold of loaded.run_out_holds) if (hasRunOut(hold, now_ms)) this.#letRunOut(hold);
  }

  get head(): LedgerHead {
    return this.#head;
  }

  workspace(): Workspace | undefined {
    return this.#workspace;
  }

  agentCount(): number {
    return this.#agent_count;
  }

  /** By id or slug. */
  agent(ref: string): Agent | undefined {
    return this.#agents.get(ref);
  }

  /** The agent's current authority, or null when none was posted. */
  authority(agent_id: string): { row: AuthorityRow; authority: Authority } | null {
    const row = this.#authorities.get(agent_id);
    return row === undefined ? null : { row, authority: parseAuthority(row) };
  }

  budget(agent_id: string, period: string, currency: string): BudgetRow {
    return (
      this.#budgets.get(budgetKey(agent_id, period, currency)) ?? {
        agent_id,
        period,
        currency,
        held_minor: 0,
        committed_minor: 0,
      }
    );
  }

  earlierDecision(agent_id: string, key: string): EarlierDecision | undefined {
    return this.#earlier.get(idempotencyKey(agent_id, key));
  }

  key(key_id: string): ApiKey | undefined {
    return this.#keys.get(key_id);
  }

  /** Admin keys that were not revoked, expired ones among them. */
  adminKeys(): ApiKey[] {
    return this.#admin_key_ids
      .flatMap((id) => this.#keys.get(id) ?? [])
      .filter((key) => key.revoked_at === null);
  }

  putWorkspace(workspace: Workspace): void {
    this.#workspace = workspace;
    this.changes.workspace = workspace;
    this.change_count += 1;
  }

  putAgent(agent: Agent): void {
    if (!this.#agents.has(agent.agent_id)) this.#agent_count += 1;
    this.#rememberAgent(agent);
    this.changes.agents.set(agent.agent_id, agent);
    this.change_count += 1;
  }

  addAuthority(row: AuthorityRow): void {
    this.#authorities.set(row.agent_id, row);
    this.changes.authorities.push(row);
    this.change_count += 1;
  }

  addKey(key: ApiKey): void {
    this.changes.new_keys.push(key);
    this.putKey(key);
  }

  putKey(key: ApiKey): void {
    this.#keys.set(key.key_id, key);
    this.changes.keys.set(key.key_id, key);
    this.change_count += 1;
  }

  noteKeyUse(use: KeyUse): void {
    this.changes.key_uses.set(use.key_id, use);
    this.change_count += 1;
  }

  /**
   * `made` is what the row's document says; its state is kept apart only if it will change by itself. Gives the id
   * of its event.
   */
  addDecision(row: DecisionRow, made: Decision): string {
    this.#earlier.set(idempotencyKey(row.agent_id, row.idempotency_key), row);
    this.changes.decisions.push(row);
    const { expires_at } = made.reservation;
    if (expires_at !== null) {
      const state = initialState(made);
      this.changes.states.set(state.decision_id, state);
      this.changes.new_expiring.push({ ...state, expires_at });
    }
    return this.append('decision.created', 'decision', row.decision_id, decisionDataHash(row));
  }

  putBudget(row: BudgetRow): void {
    this.#budgets.set(budgetKey(row.agent_id, row.period, row.currency), row);
    this.changes.budgets.set(budgetKey(row.agent_id, row.period, row.currency), row);
    this.change_count += 1;
  }

  /**
   * Records an administrative change: an audit record, and its event in the chain that seals the record. `from`
   * and `to` are what the audit list shows; `state` is every row that was changed, as it stands afterwards.
   */
  audit(
    action: LedgerEventType,
    target: { type: SubjectType; id: string },
    origin: Origin,
    change: { from: object | null; to: object; state: AuditedState },
  ): void {
    const record: AuditRecord = {
      seq: this.#head.seq + 1,
      audit_id: this.newId('audit'),
      action,
      actor: origin.actor,
      target_type: target.type,
      target_id: target.id,
      changes: changesBetween(
        change.from as Record<string, unknown> | null,
        change.to as Record<string, unknown>,
      ),
      state: canonicalJson(auditedForm(change.state)),
      request_id: origin.request_id,
      client_address: origin.client_address,
      created_at: this.now,
    };
    this.changes.audit.push(record);
    this.append(action, target.type, target.id, recordHash(record));
  }

  /**
   * Tells every webhook endpoint that takes this type of an event, in the same transaction as the change itself.
   * `data` is JSON text, without any secret; `event_id` that of the event in the chain. Needs `webhooks`.
   */
  publish(type: WebhookEventType, data: string, event_id: string): void {
    this.outbox.publish(type, data, event_id);
  }

  /** Adds the next link of the chain and gives its id. */
  append(type: LedgerEventType, subject_type: SubjectType, subject_id: string, data_hash: Buffer): string {
    const unsealed = {
      seq: this.#head.seq + 1,
      id: this.newId('event'),
      type,
      subject_type,
      subject_id,
      occurred_at: this.now,
      data_hash,
      prev_hash: this.#head.hash,
    };
    const event: LedgerEvent = { ...unsealed, hash: eventHash(unsealed) };
    this.#head = { seq: event.seq, hash: event.hash };
    this.changes.events.push(event);
    this.change_count += 1;
    return event.id;
  }

  #rememberAgent(agent: Agent): void {
    this.#agents.set(agent.agent_id, agent);
    this.#agents.set(agent.slug, agent);
  }

  /** A hold that ran out is let go before any command looks at the budget. */
  #letRunOut(hold: DecisionState): void {
    const budget = this.budget(hold.agent_id, hold.period, hold.currency);
    this.putBudget({ ...budget, held_minor: budget.held_minor - hold.held_minor });
    this.changes.states.set(hold.decision_id, afterRunningOut(hold));
    this.changes.settled_expiring.push({ ...hold, expires_at: hold.expires_at as string });
    this.append('reservation.expired', 'reservation', hold.reservation_id as string, runOutDataHash(hold));
  }
}
