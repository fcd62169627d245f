import { makeIdsAt, type NewId } from '../domain/ids.ts';
import { KEY_NOT_GOOD, keyRefusal } from '../domain/keys.ts';
import { GENESIS } from '../domain/ledger.ts';
import type { ErrorCode } from '../errors.ts';
import { ApiError } from '../errors.ts';
import { countAgents, loadAgents, loadAgentsOfDecisions, putAgents } from '../storage/agents.ts';
import { insertKeyDigests, loadAdminKeys, loadKeys, putKeys, putKeyUses } from '../storage/api-keys.ts';
import { insertAuditRecords } from '../storage/audit.ts';
import { insertAuthorities, loadCurrentAuthorities } from '../storage/authorities.ts';
import { loadBudgets, loadBudgetsOfDecisions, putBudgets } from '../storage/budgets.ts';
import { insertConsumptions, loadEarlierConsumptions } from '../storage/consumptions.ts';
import { type Client, sqlState } from '../storage/database.ts';
import {
  deleteExpiringHolds,
  insertExpiringHolds,
  insertRunOutHolds,
  loadHoldsToLetGo,
  putDecisionStates,
} from '../storage/decision-states.ts';
import { insertDecisions, loadEarlierDecisions, loadKeptDecisions } from '../storage/decisions.ts';
import { insertLabels, loadLabelsOfDecisions } from '../storage/labels.ts';
import { appendLedgerEvents } from '../storage/ledger.ts';
import { insertOutcomes, loadOutcomesOfDecisions } from '../storage/outcomes.ts';
import { insertReviews } from '../storage/reviews.ts';
import {
  insertHead,
  loadWorkspace,
  lockHead,
  putWorkspace,
  readClock,
  writeHead,
} from '../storage/workspaces.ts';
import type { Command, Outcome } from './command.ts';
import type { Loaded, Needs, Origin } from './needs.ts';
import { WorkingSet } from './working-set.ts';

/** A command on its way through the lane. */
export interface Job {
  // biome-ignore lint/suspicious/noExplicitAny: the lane carries commands of every kind and looks into none.
  command: Command<any, any>;
  input: unknown;
  origin: Origin;
}

export type Result = Outcome<unknown> | { ok: false; error: unknown };

/** What was locked and loaded at the beginning of a batch's transaction. */
interface Opened {
  head: { seq: number; hash: Buffer };
  begins: boolean;
  now_ms: number;
  loaded: Loaded;
}

/** Waits for all, then throws the first failure: no answer of a pipelined connection is left unread. */
async function allOf<T extends readonly unknown[]>(promises: T): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(promises);
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return settled.map((each) => (each as PromiseFulfilledResult<unknown>).value) as never;
}

/** Begins the transaction, locks the head and loads what the commands name, all in one round trip. */
async function open(client: Client, workspace_id: string, jobs: readonly Job[]): Promise<Opened | null> {
  const needs = jobs.map((job) => job.command.needs(job.input));
  const all = <T>(of: (need: Needs) => readonly T[] | undefined) => [
    ...new Set(needs.flatMap((need) => of(need) ?? [])),
  ];
  const agent_refs = all((need) => need.agents);
  const budget_agents = all((need) => need.budgets_of);
  const decisions = all((need) => need.decisions);
  const labels_of = all((need) => need.labels_of);
  const outcomes_of = all((need) => need.outcomes_of);
  const consumption_keys = needs.flatMap((need) => need.consumption_key ?? []);
  const idempotency = needs.flatMap((need) => need.idempotency ?? []);
  const key_ids = [
    ...new Set([...all((need) => need.keys), ...jobs.flatMap((job) => job.origin.actor.key_id ?? [])]),
  ];
  const wants_workspace = needs.some((need) => need.workspace === true);
  const none = Promise.resolve([]);
  const sent = [
    client.query({ text: 'begin' }),
    // Each statement after this one takes its snapshot when it begins, which is after the head was locked.
    lockHead(client, workspace_id),
    agent_refs.length > 0 ? loadAgents(client, workspace_id, agent_refs) : none,
    agent_refs.length > 0 ? loadCurrentAuthorities(client, workspace_id, agent_refs) : none,
    // Holds before budgets: whatever has run out for the one statement has for the later one, so that the counter
    // of its month is among those loaded.
    budget_agents.length > 0 ? loadHoldsToLetGo(client, workspace_id, budget_agents) : none,
    budget_agents.length > 0 ? loadBudgets(client, workspace_id, budget_agents) : none,
    idempotency.length > 0 ? loadEarlierDecisions(client, workspace_id, idempotency) : none,
    key_ids.length > 0 ? loadKeys(client, workspace_id, key_ids) : none,
    needs.some((need) => need.admin_keys === true) ? loadAdminKeys(client, workspace_id) : none,
    wants_workspace ? loadWorkspace(client, workspace_id) : Promise.resolve(undefined),
    wants_workspace ? countAgents(client, workspace_id) : Promise.resolve(0),
    decisions.length > 0 ? loadKeptDecisions(client, workspace_id, decisions) : none,
    decisions.length > 0 ? loadAgentsOfDecisions(client, workspace_id, decisions) : none,
    decisions.length > 0 ? loadBudgetsOfDecisions(client, workspace_id, decisions) : none,
    labels_of.length > 0 ? loadLabelsOfDecisions(client, workspace_id, labels_of) : none,
    outcomes_of.length > 0 ? loadOutcomesOfDecisions(client, workspace_id, outcomes_of) : none,
    consumption_keys.length > 0 ? loadEarlierConsumptions(client, workspace_id, consumption_keys) : none,
  ] as const;
  const [
    ,
    locked,
    agents,
    authorities,
    holds_to_let_go,
    budgets,
    earlier_decisions,
    keys,
    admin_keys,
    workspace,
    count,
    kept_decisions,
    agents_of_decisions,
    budgets_of_decisions,
    labels,
    outcomes,
    earlier_consumptions,
  ] = await allOf(sent);
  const loaded: Loaded = {
    workspace,
    agent_count: count,
    agents: [...agents, ...agents_of_decisions],
    authorities,
    budgets: [...budgets, ...budgets_of_decisions],
    holds_to_let_go,
    earlier_decisions,
    keys,
    admin_keys,
    decisions: kept_decisions,
    labels,
    outcomes,
    earlier_consumptions,
  };
  if (locked !== undefined) {
    // Later than every batch before it, also when the clock was set back.
    const now_ms = Math.max(locked.clock_ms, locked.time_ms + 1);
    return { head: { seq: locked.seq, hash: locked.hash }, begins: false, now_ms, loaded };
  }
  if (jobs[0]?.command.begins_workspace !== true) return null;
  return { head: GENESIS, begins: true, now_ms: await readClock(client), loaded };
}

/** The state that a command answers on: its key must still be good at the batch's moment. */
function applyOne(set: WorkingSet, job: Job): Outcome<unknown> {
  const { key_id } = job.origin.actor;
  if (key_id !== null) {
    const key = set.key(key_id);
    const refusal = key === undefined ? KEY_NOT_GOOD : keyRefusal(key, set.now_ms);
    if (refusal !== null) return { ok: false, refusal: { code: 'unauthenticated', message: refusal } };
  }
  const before = set.change_count;
  const outcome = job.command.apply(set, job.input, job.origin);
  if (!outcome.ok && set.change_count !== before) {
    throw new Error(`${job.command.name} refused after it had changed something`);
  }
  return outcome;
}

/**
 * Applies the commands in order. One that throws (a bug) is answered alone: the others are folded again from the
 * rows as they were loaded, as though it had never come.
 */
export function fold(
  jobs: readonly Job[],
  makeSet: () => WorkingSet,
): { set: WorkingSet; results: Result[] } {
  const failed = new Map<number, unknown>();
  for (;;) {
    const set = makeSet();
    const results: Result[] = [];
    let thrown = false;
    for (const [i, job] of jobs.entries()) {
      if (failed.has(i)) {
        results.push({ ok: false, error: failed.get(i) });
        continue;
      }
      try {
        results.push(applyOne(set, job));
      } catch (error) {
        failed.set(i, error);
        thrown = true;
        break;
      }
    }
    if (!thrown) return { set, results };
  }
}

/** Everything the batch changed, one statement a table, with the commit in the same round trip. */
function write(client: Client, set: WorkingSet, begins: boolean): Promise<unknown>[] {
  const { workspace_id, changes } = set;
  const head = { ...set.head, time_ms: set.now_ms };
  const writes: Promise<unknown>[] = [];
  const put = <Row>(
    insert: (client: Client, workspace_id: string, rows: readonly Row[]) => Promise<unknown>,
    rows: readonly Row[],
  ) => {
    if (rows.length > 0) writes.push(insert(client, workspace_id, rows));
  };
  if (changes.workspace !== undefined) writes.push(putWorkspace(client, changes.workspace));
  put(putAgents, [...changes.agents.values()]);
  put(insertAuthorities, changes.authorities);
  put(putKeys, [...changes.keys.values()]);
  put(insertKeyDigests, changes.new_keys);
  put(putKeyUses, [...changes.key_uses.values()]);
  put(insertDecisions, changes.decisions);
  put(putDecisionStates, [...changes.states.values()]);
  put(insertReviews, changes.reviews);
  put(insertLabels, changes.labels);
  put(insertOutcomes, changes.outcomes);
  put(insertConsumptions, changes.consumptions);
  put(deleteExpiringHolds, [...changes.settled_expiring.values()]);
  put(insertExpiringHolds, [...changes.new_expiring.values()]);
  put(insertRunOutHolds, changes.run_out_holds);
  put(putBudgets, [...changes.budgets.values()]);
  put(insertAuditRecords, changes.audit);
  put(appendLedgerEvents, changes.events);
  writes.push(begins ? insertHead(client, workspace_id, head) : writeHead(client, workspace_id, head));
  return writes;
}

/** The commit was sent and its answer never came, or came broken: nobody may be told "done". */
export class UnknownCommit extends Error {
  override name = 'UnknownCommit';
}

/** PostgreSQL itself said that the commit failed; a lost connection or a stopping server says nothing. */
function refusedByDatabase(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(08|57P|40003)/.test(state);
}

export interface BatchOptions {
  /** Numbers from 0 up to 1, for ids. */
  random: () => number;
  /** Told how long the writing and committing took. */
  onCommitted?: (commit_ms: number) => void;
  now_ms: () => number;
}

/**
 * Runs one batch as one transaction on `client`. Throws what the database threw: before the commit was sent,
 * nothing of the batch exists; UnknownCommit says that it may.
 */
export async function runBatch(
  client: Client,
  workspace_id: string,
  jobs: readonly Job[],
  options: BatchOptions,
): Promise<Result[]> {
  const opened = await open(client, workspace_id, jobs);
  if (opened === null) {
    await client.query({ text: 'rollback' });
    const code: ErrorCode = 'not_found';
    return jobs.map(() => ({ ok: false, refusal: { code, message: 'There is no such workspace.' } }));
  }
  const { head, now_ms, loaded, begins } = opened;
  const newId: NewId = makeIdsAt(now_ms, options.random);
  const { set, results } = fold(jobs, () => new WorkingSet(workspace_id, head, now_ms, newId, loaded));
  if (set.change_count === 0) {
    await client.query({ text: 'rollback' });
    return results;
  }
  const began_ms = options.now_ms();
  const writes = write(client, set, begins);
  const commit = client.query({ text: 'commit' });
  // PostgreSQL answers a commit of a failed transaction with ROLLBACK: then the writes say what failed.
  const [written, committed] = await Promise.all([
    Promise.allSettled(writes),
    commit.then(
      (result) => ({ ok: result.command === 'COMMIT' }),
      (error: unknown) => ({ ok: false, error }),
    ),
  ]);
  if (committed.ok) {
    options.onCommitted?.(options.now_ms() - began_ms);
    return results;
  }
  if ('error' in committed) {
    if (refusedByDatabase(committed.error)) throw committed.error;
    throw new UnknownCommit('the answer of a commit did not come', { cause: committed.error });
  }
  const failure = written.find((each) => each.status === 'rejected');
  throw failure?.reason ?? new ApiError('internal_error', 'The change could not be kept.');
}
