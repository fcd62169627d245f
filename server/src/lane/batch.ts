import { makeIdsAt, type NewId } from '../domain/ids.ts';
import { KEY_NOT_GOOD, keyRefusal } from '../domain/keys.ts';
import { GENESIS, type LedgerHead } from '../domain/ledger.ts';
import { ApiError } from '../errors.ts';
import { countAgentsOf, findAgents, findAgentsOfDecisions, putAgents } from '../storage/agents.ts';
import { insertKeyDigests, loadAdminKeys, loadKeys, putKeys, putKeyUses } from '../storage/api-keys.ts';
import { insertAuditRecords } from '../storage/audit.ts';
import { findCurrentAuthorities, insertAuthorities } from '../storage/authorities.ts';
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
import { type Of, type Write, withoutWorkspace } from '../storage/rows.ts';
import { loadEndpointsOf } from '../storage/webhooks.ts';
import {
  insertHead,
  loadWorkspaces,
  lockHeads,
  putWorkspace,
  readClock,
  writeHeads,
} from '../storage/workspaces.ts';
import type { Command, Outcome } from './command.ts';
import type { Loaded, Needs, Origin } from './needs.ts';
import { writeOutboxes } from './outbox.ts';
import { WorkingSet } from './working-set.ts';

/** A command on its way through the lane. */
export interface Job {
  // biome-ignore lint/suspicious/noExplicitAny: the lane carries commands of every kind and looks into none.
  command: Command<any, any>;
  input: unknown;
  origin: Origin;
}

export type Result = Outcome<unknown> | { ok: false; error: unknown };

/** The commands of one workspace in a batch. */
export interface Part<J extends Job = Job> {
  workspace_id: string;
  jobs: readonly J[];
}

/** What was locked and loaded of one workspace at the beginning of a batch's transaction. */
interface Opened {
  head: LedgerHead;
  has_webhooks: boolean;
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

/** What the commands of all parts want of one kind, each once. */
function wantedOf<T>(
  needs: readonly { workspace_id: string; needs: readonly Needs[] }[],
  of: (need: Needs) => readonly T[] | T | undefined,
): { workspace_id: string; one: T }[] {
  return needs.flatMap((part) => {
    const all = new Set<T>(part.needs.flatMap((need) => of(need) ?? []) as T[]);
    return [...all].map((one) => ({ workspace_id: part.workspace_id, one }));
  });
}

/** Found rows by workspace, without the workspace. */
function byWorkspace<T>(found: readonly Of<T>[]): Map<string, T[]> {
  const rows = new Map<string, T[]>();
  for (const each of found) {
    const row = withoutWorkspace(each);
    const list = rows.get(each.workspace_id);
    if (list === undefined) rows.set(each.workspace_id, [row]);
    else list.push(row);
  }
  return rows;
}

/** Begins the transaction, locks the heads and loads what the commands name, all in one round trip. */
async function open(
  client: Client,
  parts: readonly Part[],
  options: { wait: boolean },
): Promise<Map<string, Opened>> {
  const workspace_ids = parts.map((part) => part.workspace_id);
  const needs = parts.map(({ workspace_id, jobs }) => ({
    workspace_id,
    needs: jobs.map((job) => job.command.needs(job.input)),
    keys: jobs.flatMap((job) => job.origin.actor.key_id ?? []),
  }));
  const refs = wantedOf(needs, (need) => need.agents).map(({ workspace_id, one }) => ({
    workspace_id,
    ref: one,
  }));
  const agents = wantedOf(needs, (need) => need.budgets_of).map(({ workspace_id, one }) => ({
    workspace_id,
    agent_id: one,
  }));
  const idempotency = wantedOf(needs, (need) => need.idempotency).map(({ workspace_id, one }) => ({
    workspace_id,
    ...one,
  }));
  const key_ids = needs.flatMap(({ workspace_id, needs, keys }) =>
    [...new Set([...needs.flatMap((need) => need.keys ?? []), ...keys])].map((key_id) => ({
      workspace_id,
      key_id,
    })),
  );
  const decisionsOf = (of: (need: Needs) => readonly string[] | undefined) =>
    wantedOf(needs, of).map(({ workspace_id, one }) => ({ workspace_id, decision_id: one }));
  const decisions = decisionsOf((need) => need.decisions);
  const labels_of = decisionsOf((need) => need.labels_of);
  const outcomes_of = decisionsOf((need) => need.outcomes_of);
  const consumptions = wantedOf(needs, (need) => need.consumption_key).map(({ workspace_id, one }) => ({
    workspace_id,
    idempotency_key: one,
  }));
  const idsOf = (wants: (need: Needs) => boolean | undefined) =>
    needs.filter((part) => part.needs.some((need) => wants(need) === true)).map((part) => part.workspace_id);
  const workspaces = idsOf((need) => need.workspace);
  const admins = idsOf((need) => need.admin_keys);

  const look = <T, R>(load: (client: Client, wanted: readonly T[]) => Promise<R[]>, wanted: readonly T[]) =>
    wanted.length > 0 ? load(client, wanted) : Promise.resolve([]);
  const sent = [
    client.query({ text: 'begin' }),
    // Each statement after this one takes its snapshot when it begins, which is after the heads were locked.
    lockHeads(client, workspace_ids, options),
    look(findAgents, refs),
    look(findCurrentAuthorities, refs),
    // Holds before budgets: whatever has run out for the one statement has for the later one, so that the counter
    // of its month is among those loaded.
    look(loadHoldsToLetGo, agents),
    look(loadBudgets, agents),
    look(loadEarlierDecisions, idempotency),
    look(loadKeys, key_ids),
    look(loadAdminKeys, admins),
    look(loadWorkspaces, workspaces),
    look(countAgentsOf, workspaces),
    look(loadKeptDecisions, decisions),
    look(findAgentsOfDecisions, decisions),
    look(loadBudgetsOfDecisions, decisions),
    look(loadLabelsOfDecisions, labels_of),
    look(loadOutcomesOfDecisions, outcomes_of),
    look(loadEarlierConsumptions, consumptions),
  ] as const;
  const [, locked, ...found] = await allOf(sent);
  const [agent_rows, authorities, holds, budgets, earlier, keys, admin_keys, kept_workspaces, counts] = found;
  const [, , , , , , , , , kept, agents_of, budgets_of, labels, outcomes, consumed] = found;
  // Only where there are any: a workspace without webhooks sends no statement for them.
  const listening = new Set(locked.filter((head) => head.has_webhooks).map((head) => head.workspace_id));
  const publishing = idsOf((need) => need.webhooks).filter((id) => listening.has(id));
  const endpoints = publishing.length > 0 ? await loadEndpointsOf(client, publishing) : [];
  const rows = {
    webhooks: byWorkspace(endpoints),
    agents: byWorkspace([...agent_rows, ...agents_of]),
    authorities: byWorkspace(authorities),
    budgets: byWorkspace([...budgets, ...budgets_of]),
    holds: byWorkspace(holds),
    earlier: byWorkspace(earlier),
    keys: byWorkspace(keys),
    admin_keys: byWorkspace(admin_keys),
    kept: byWorkspace(kept),
    labels: byWorkspace(labels),
    outcomes: byWorkspace(outcomes),
    consumed: byWorkspace(consumed),
  };
  const loadedOf = (id: string): Loaded => ({
    workspace: kept_workspaces.find((each) => each.workspace_id === id),
    agent_count: counts.find((each) => each.workspace_id === id)?.count ?? 0,
    agents: rows.agents.get(id) ?? [],
    authorities: rows.authorities.get(id) ?? [],
    budgets: rows.budgets.get(id) ?? [],
    holds_to_let_go: rows.holds.get(id) ?? [],
    earlier_decisions: rows.earlier.get(id) ?? [],
    keys: rows.keys.get(id) ?? [],
    admin_keys: rows.admin_keys.get(id) ?? [],
    webhooks: rows.webhooks.get(id) ?? [],
    decisions: rows.kept.get(id) ?? [],
    labels: rows.labels.get(id) ?? [],
    outcomes: rows.outcomes.get(id) ?? [],
    earlier_consumptions: rows.consumed.get(id) ?? [],
  });
  const opened = new Map<string, Opened>();
  for (const { workspace_id, clock_ms, time_ms, seq, hash, has_webhooks } of locked) {
    // Later than every batch before it, also when the clock was set back.
    const now_ms = Math.max(clock_ms, time_ms + 1);
    const loaded = loadedOf(workspace_id);
    opened.set(workspace_id, { head: { seq, hash }, has_webhooks, begins: false, now_ms, loaded });
  }
  const [first] = parts;
  if (locked.length === 0 && options.wait && first?.jobs[0]?.command.begins_workspace === true) {
    const { workspace_id } = first;
    const now_ms = await readClock(client);
    const loaded = loadedOf(workspace_id);
    opened.set(workspace_id, { head: GENESIS, has_webhooks: false, begins: true, now_ms, loaded });
  }
  return opened;
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
function write(
  client: Client,
  sets: readonly WorkingSet[],
  opened: ReadonlyMap<string, Opened>,
): Promise<unknown>[] {
  const writes: Promise<unknown>[] = [];
  const put = <Row>(write: Write<Row>, rowsOf: (changes: WorkingSet['changes']) => Iterable<Row>) => {
    const parts = sets.flatMap(({ workspace_id, changes }) => {
      const rows = [...rowsOf(changes)];
      return rows.length === 0 ? [] : [{ workspace_id, rows }];
    });
    if (parts.length > 0) writes.push(write(client, parts));
  };
  for (const { changes } of sets) {
    if (changes.workspace !== undefined) writes.push(putWorkspace(client, changes.workspace));
  }
  put(putAgents, (changes) => changes.agents.values());
  put(insertAuthorities, (changes) => changes.authorities);
  put(putKeys, (changes) => changes.keys.values());
  put(insertKeyDigests, (changes) => changes.new_keys);
  put(putKeyUses, (changes) => changes.key_uses.values());
  put(insertDecisions, (changes) => changes.decisions);
  put(putDecisionStates, (changes) => changes.states.values());
  put(insertReviews, (changes) => changes.reviews);
  put(insertLabels, (changes) => changes.labels);
  put(insertOutcomes, (changes) => changes.outcomes);
  put(insertConsumptions, (changes) => changes.consumptions);
  put(deleteExpiringHolds, (changes) => changes.settled_expiring.values());
  put(insertExpiringHolds, (changes) => changes.new_expiring.values());
  put(insertRunOutHolds, (changes) => changes.run_out_holds);
  put(putBudgets, (changes) => changes.budgets.values());
  put(insertAuditRecords, (changes) => changes.audit);
  put(appendLedgerEvents, (changes) => changes.events);
  writes.push(...writeOutboxes(client, sets));
  const heads = sets.map((set) => ({
    workspace_id: set.workspace_id,
    ...set.head,
    time_ms: set.now_ms,
    has_webhooks: set.outbox.hasEndpoints(opened.get(set.workspace_id)?.has_webhooks === true),
  }));
  const [head] = heads;
  const begins = head !== undefined && opened.get(head.workspace_id)?.begins === true;
  writes.push(begins ? insertHead(client, head) : writeHeads(client, heads));
  return writes;
}

/** The commit was sent, and it is not certain that all of the batch is in it: nobody may be told "done". */
export class UnknownCommit extends Error {
  override name = 'UnknownCommit';
}

/** PostgreSQL itself said that the commit failed; a lost connection or a stopping server says nothing. */
function refusedByDatabase(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(08|57P|40003)/.test(state);
}

export interface BatchOptions {
  /** Whether to wait for a workspace that another transaction has locked; else its part is left out. */
  wait: boolean;
  /** Numbers from 0 up to 1, for ids. */
  random: () => number;
  /** Told how long the writing and committing took. */
  onCommitted?: (commit_ms: number) => void;
  /** Told that webhooks wait to be sent. */
  onPublished?: (() => void) | undefined;
  now_ms: () => number;
}

const NO_WORKSPACE: Result = {
  ok: false,
  refusal: { code: 'not_found', message: 'There is no such workspace.' },
};

/**
 * Runs one batch as one transaction on `client`; a part that begins its workspace runs alone. The results are those
 * of the parts, in order; null: another transaction had locked the workspace, nothing of the part was done. Throws
 * what the database threw: before the commit was sent, nothing of the batch exists; UnknownCommit says that it may.
 */
export async function runBatch(
  client: Client,
  parts: readonly Part[],
  options: BatchOptions,
): Promise<(Result[] | null)[]> {
  const opened = await open(client, parts, options);
  const sets: WorkingSet[] = [];
  const results = parts.map(({ workspace_id, jobs }) => {
    const found = opened.get(workspace_id);
    if (found === undefined) return options.wait ? jobs.map(() => NO_WORKSPACE) : null;
    const { head, now_ms, loaded } = found;
    const newId: NewId = makeIdsAt(now_ms, options.random);
    const folded = fold(jobs, () => new WorkingSet(workspace_id, head, now_ms, newId, loaded));
    if (folded.set.change_count > 0) sets.push(folded.set);
    return folded.results;
  });
  const began_ms = options.now_ms();
  // A batch that changed nothing commits too: what a replay repeats may have been kept by this server alone so far,
  // and with a synchronous standby a commit waits for all that came before it.
  const writes = sets.length === 0 ? [] : write(client, sets, opened);
  const commit = client.query({ text: 'commit' });
  // PostgreSQL answers a commit of a failed transaction with ROLLBACK: then the writes say what failed.
  const [written, committed] = await Promise.all([
    Promise.allSettled(writes),
    commit.then(
      (result) => ({ ok: result.command === 'COMMIT' }),
      (error: unknown) => ({ ok: false, error }),
    ),
  ]);
  const failure = written.find((each) => each.status === 'rejected');
  if (committed.ok) {
    // One that the driver itself gave up never reached PostgreSQL, which then had nothing to undo.
    if (failure !== undefined)
      throw new UnknownCommit('a batch was committed without one of its writes', { cause: failure.reason });
    options.onCommitted?.(options.now_ms() - began_ms);
    if (sets.some((set) => set.outbox.changes.queues.size > 0)) options.onPublished?.();
    return results;
  }
  if ('error' in committed) {
    if (refusedByDatabase(committed.error)) throw committed.error;
    throw new UnknownCommit('the answer of a commit did not come', { cause: committed.error });
  }
  throw failure?.reason ?? new ApiError('internal_error', 'The change could not be kept.');
}
