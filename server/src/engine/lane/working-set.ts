import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { WebhookEventType } from '@purser/contract/values/webhooks';
import { Counters } from '@purser/rules/counters/counters-in-memory';
import type { Agent } from '@purser/rules/domain/agents';
import { type AuditedChange, type AuditRecord, auditedChange, type Origin } from '@purser/rules/domain/audit';
import type { AuthorityRow } from '@purser/rules/domain/authorities';
import type { BudgetRow } from '@purser/rules/domain/budget';
import { countedByNew } from '@purser/rules/domain/decision-states';
import { decisionDataHash, type EarlierDecision, type NewDecisionRow } from '@purser/rules/domain/decisions';
import {
  eventHash,
  type LedgerEvent,
  type LedgerEventType,
  type LedgerHead,
  recordHash,
  type SubjectType,
} from '@purser/rules/domain/ledger';
import type { ReviewPolicyRow, Workspace, WorkspaceStop } from '@purser/rules/domain/workspace';
import { NO_REVIEW_POLICY } from '@purser/rules/reviews/review-policy';
import type { NewId } from '@purser/rules/values/ids';
import { Allowances } from '../allowances/allowances.ts';
import { ImportedLines } from '../history/imported-lines.ts';
import { ResolvedLines } from '../matching/resolved-lines.ts';
import { Rails } from '../rails/rails.ts';
import { DecisionLinks } from '../sharing/decision-links.ts';
import { SigningKeys } from '../signing/signing-keys.ts';
import { SlackLinks } from '../slack/slack-links.ts';
import { parseAuthority } from '../storage/authorities.ts';
import type { KnownMerchantRef } from '../storage/derived/known-merchants.ts';
import { budgetKey, type Changes, idempotencyKey, knownKey, noChanges } from './changes.ts';
import { checkBudget, checkHold, checkSlots } from './invariants.ts';
import { Keys } from './keys.ts';
import { LimitAlerts } from './limit-alerts.ts';
import { ListedMerchants } from './listed-merchants.ts';
import { Outbox } from './outbox.ts';
import { People } from './people.ts';
import { Questions } from './questions.ts';
import { Records } from './records.ts';
import { SharedBudgets } from './shared-budgets.ts';
import type { Loaded } from './tables.ts';

/** One workspace as a batch found it. */
export interface FoundWorkspace {
  workspace_id: string;
  head: LedgerHead;
  stop: WorkspaceStop | null;
  /** See `batchTimes`. */
  order_ms: number;
  now_ms: number;
  newId: NewId;
  loaded: Loaded;
}

/** The parts of a working set that most batches make no use of; in a batch of many workspaces they were half of its lists. */
interface RareParts {
  people?: People;
  listed_merchants?: ListedMerchants;
  decision_links?: DecisionLinks;
  signing_keys?: SigningKeys;
  imported?: ImportedLines;
  rails?: Rails;
  resolved_lines?: ResolvedLines;
  slack_links?: SlackLinks;
}

/**
 * The rows that a batch loaded for one workspace, and the changes of its commands. A command sees the changes of those
 * before it. Nothing here does I/O: the lane writes `changes` after all commands have been applied. Loaded rows are
 * never changed in place, so that a batch can be folded again from the same rows.
 */
export class WorkingSet {
  readonly workspace_id: string;
  /** The time of the batch in the chain (ms): later than that of every earlier batch. */
  readonly order_ms: number;
  /** The batch timestamp by the database's clock (ms), which records carry and limits count by: see `batchTimes`. */
  readonly now_ms: number;
  readonly now: string;
  readonly newId: NewId;
  /** The webhook endpoints and channels, and what is to be sent to them. */
  readonly outbox: Outbox;
  readonly keys: Keys;
  readonly shared_budgets: SharedBudgets;
  readonly allowances: Allowances;
  readonly limit_alerts: LimitAlerts;
  readonly questions: Questions;
  /** The parts that no decision asks for; each is made when a command first does. */
  readonly rare: RareParts = {};
  /** Usage over time. */
  readonly counters: Counters;
  /** The later history of earlier decisions. */
  readonly records: Records;
  readonly changes: Changes = noChanges();
  /** The stop of all agents; null while they may spend. A command that changes it records that with `audit`. */
  stop: WorkspaceStop | null;
  /** Grows with every change, so that a command which left it unchanged has changed nothing. */
  change_count = 0;
  /** Grows with every published event, also where no endpoint takes it. */
  published_count = 0;

  readonly #loaded: Loaded;
  readonly #noteChange = () => {
    this.change_count += 1;
  };
  readonly #occurred_at: string;
  #head: LedgerHead;
  #workspace: Workspace | undefined;
  #agent_count: number;
  readonly #agents = new Map<string, Agent>();
  readonly #authorities = new Map<string, AuthorityRow>();
  readonly #budgets = new Map<string, BudgetRow>();
  readonly #first_seq: number;
  readonly #earlier = new Map<string, EarlierDecision>();
  readonly #known_merchants: ReadonlySet<string>;
  /** Ascending; the last one is in force if the command needs `review_policy`. */
  readonly #review_policies: ReviewPolicyRow[];

  constructor({ workspace_id, head, stop, order_ms, now_ms, newId, loaded }: FoundWorkspace) {
    this.workspace_id = workspace_id;
    this.stop = stop;
    this.order_ms = order_ms;
    this.now_ms = now_ms;
    this.now = new Date(now_ms).toISOString();
    this.#occurred_at = order_ms === now_ms ? this.now : new Date(order_ms).toISOString();
    this.newId = newId;
    this.#loaded = loaded;
    const noteChange = this.#noteChange;
    this.outbox = new Outbox({ now: this.now, order_ms, newId, loaded }, noteChange);
    this.shared_budgets = new SharedBudgets(loaded.shared_budgets, noteChange);
    this.allowances = new Allowances(loaded, noteChange);
    this.limit_alerts = new LimitAlerts(loaded.limit_alerts, noteChange);
    this.counters = new Counters([...loaded.counters, ...loaded.budget_counters]);
    this.#first_seq = head.seq;
    this.#head = head;
    const [workspace] = loaded.workspaces;
    this.#workspace = workspace && { ...workspace, workspace_id };
    this.#agent_count = loaded.agent_counts[0]?.count ?? 0;
    for (const agent of [...loaded.agents, ...loaded.agents_of_decisions]) this.#setAgent(agent);
    for (const row of [...loaded.authorities, ...loaded.authorities_of_decisions])
      this.#authorities.set(row.agent_id, row);
    for (const row of [...loaded.budgets, ...loaded.budgets_of_decisions])
      this.#budgets.set(budgetKey(row.agent_id, row.period, row.currency), row);
    for (const earlier of loaded.earlier_decisions) {
      this.#earlier.set(idempotencyKey(earlier.agent_id, earlier.idempotency_key), earlier);
    }
    this.#known_merchants = new Set(loaded.known_merchants.map(knownKey));
    this.#review_policies = [...loaded.review_policy_versions, ...loaded.review_policies];
    this.keys = new Keys(
      [
        ...loaded.keys,
        ...loaded.keys_of_invitations,
        ...loaded.foreign_keys,
        ...loaded.admin_keys,
        ...loaded.review_keys,
      ],
      this.changes,
      noteChange,
    );
    this.questions = new Questions(this, loaded.questions);
    this.records = new Records(this, loaded);
  }

  get head(): LedgerHead {
    return this.#head;
  }

  get people(): People {
    this.rare.people ??= new People(this.now, this.#loaded, this.#noteChange);
    return this.rare.people;
  }

  get listed_merchants(): ListedMerchants {
    this.rare.listed_merchants ??= new ListedMerchants(this.#loaded, this.#noteChange);
    return this.rare.listed_merchants;
  }

  get decision_links(): DecisionLinks {
    this.rare.decision_links ??= new DecisionLinks(this.#loaded.decision_links, this.#noteChange);
    return this.rare.decision_links;
  }

  get signing_keys(): SigningKeys {
    this.rare.signing_keys ??= new SigningKeys(this.#loaded.signing_keys, this.#noteChange);
    return this.rare.signing_keys;
  }

  get imported(): ImportedLines {
    this.rare.imported ??= new ImportedLines(this.#loaded, this.#noteChange);
    return this.rare.imported;
  }

  get rails(): Rails {
    this.rare.rails ??= new Rails(this, this.#loaded, this.#noteChange);
    return this.rare.rails;
  }

  get resolved_lines(): ResolvedLines {
    this.rare.resolved_lines ??= new ResolvedLines(this.#loaded, this.#noteChange);
    return this.rare.resolved_lines;
  }

  get slack_links(): SlackLinks {
    this.rare.slack_links ??= new SlackLinks(this.#loaded.slack_links, this.#noteChange);
    return this.rare.slack_links;
  }

  workspace(): Workspace | undefined {
    return this.#workspace;
  }

  agentCount(): number {
    return this.#agent_count;
  }

  /** Returns an agent by id or slug. */
  agent(ref: string): Agent | undefined {
    return this.#agents.get(ref);
  }

  /** Returns the agent's current authority, or null if it has none. */
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

  /** The number of events of the chain after one, those of this batch left out. */
  eventsSince(seq: number): number {
    return this.#first_seq - seq;
  }

  earlierDecision(agent_id: string, key: string): EarlierDecision | undefined {
    return this.#earlier.get(idempotencyKey(agent_id, key));
  }

  /** True if an agent is known to have paid this; the command must need `known_merchant`. */
  isKnownMerchant(of: KnownMerchantRef): boolean {
    const name = knownKey(of);
    return this.#known_merchants.has(name) || this.changes.known_merchants.has(name);
  }

  /** The review policy in force; the command must need `review_policy`. */
  reviewPolicy(): ReviewPolicyRow {
    return this.#review_policies.at(-1) ?? NO_REVIEW_POLICY;
  }

  /** A version of the review policy that the command needs. Throws where it was not loaded. */
  reviewPolicyVersion(version: number): ReviewPolicyRow {
    const found = this.#review_policies.find((row) => row.version === version);
    if (version === 0) return NO_REVIEW_POLICY;
    if (found === undefined) throw new Error(`version ${version} of the review policy was not loaded`);
    return found;
  }

  addReviewPolicy(row: ReviewPolicyRow): void {
    this.#review_policies.push(row);
    this.changes.review_policies.push(row);
    this.change_count += 1;
  }

  putWorkspace(workspace: Workspace): void {
    this.#workspace = workspace;
    this.changes.workspace = workspace;
    this.change_count += 1;
  }

  putAgent(agent: Agent): void {
    if (!this.#agents.has(agent.agent_id)) this.#agent_count += 1;
    this.#setAgent(agent);
    this.changes.agents.set(agent.agent_id, agent);
    this.change_count += 1;
  }

  addAuthority(row: AuthorityRow): void {
    this.#authorities.set(row.agent_id, row);
    this.changes.authorities.push(row);
    this.change_count += 1;
  }

  /**
   * Adds a decision, the content of the row's document, and counts it in its limits over time. Returns its event's id. Throws
   * BrokenInvariant, before anything is changed, where the decision's amounts or slots contradict each other.
   */
  addDecision(row: NewDecisionRow, decision: Decision): string {
    checkHold(decision);
    checkSlots(decision);
    // After this point nothing may fail.
    this.#earlier.set(idempotencyKey(row.agent_id, row.idempotency_key), row);
    this.changes.decisions.push(row);
    for (const each of countedByNew(decision, this.now)) this.counters.add(each);
    this.records.begin(decision);
    return this.append('decision.created', 'decision', row.decision_id, decisionDataHash(row));
  }

  /** Throws BrokenInvariant where an amount is below zero. */
  putBudget(row: BudgetRow): void {
    checkBudget(row);
    this.#budgets.set(budgetKey(row.agent_id, row.period, row.currency), row);
    this.changes.budgets.set(budgetKey(row.agent_id, row.period, row.currency), row);
    this.change_count += 1;
  }

  /**
   * Records an administrative change: an audit record, and the event in the chain that seals it. The audit list shows
   * `from` and `to`; `state` has every changed row as it is after the change. Returns the event's id.
   */
  audit(
    action: LedgerEventType,
    target: { type: SubjectType; id: string },
    origin: Origin,
    change: AuditedChange,
  ): string {
    const record: AuditRecord = {
      seq: this.#head.seq + 1,
      audit_id: this.newId('audit'),
      action,
      actor: origin.actor,
      target_type: target.type,
      target_id: target.id,
      ...auditedChange(change),
      request_id: origin.request_id,
      client_address: origin.client_address,
      created_at: this.now,
    };
    this.changes.audit.push(record);
    return this.append(action, target.type, target.id, recordHash(record));
  }

  /**
   * Queues an event for every webhook endpoint that takes its type, in the same transaction as the change itself. `data`
   * is JSON text without any secret; `event_id` is that of the event in the chain. The command must need `webhooks`:
   * otherwise the event would reach nobody unless another command of the batch does.
   */
  publish(type: WebhookEventType, data: string, event_id: string): void {
    this.published_count += 1;
    this.outbox.publish(type, data, event_id);
  }

  /** Appends the next event to the chain and returns its id. */
  append(type: LedgerEventType, subject_type: SubjectType, subject_id: string, data_hash: Buffer): string {
    const event: LedgerEvent = {
      seq: this.#head.seq + 1,
      id: this.newId('event'),
      type,
      subject_type,
      subject_id,
      occurred_at: this.#occurred_at,
      data_hash,
      prev_hash: this.#head.hash,
      hash: this.#head.hash,
    };
    event.hash = eventHash(event);
    this.#head = { seq: event.seq, hash: event.hash };
    this.changes.events.push(event);
    this.change_count += 1;
    return event.id;
  }

  #setAgent(agent: Agent): void {
    this.#agents.set(agent.agent_id, agent);
    this.#agents.set(agent.slug, agent);
  }
}
