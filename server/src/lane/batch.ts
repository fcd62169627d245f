import type { Origin } from '../domain/audit.ts';
import { KEY_NOT_GOOD, keyRefusal } from '../domain/keys.ts';
import { GENESIS, type LedgerHead } from '../domain/ledger.ts';
import { ApiError } from '../errors.ts';
import { type Client, sqlState } from '../storage/database.ts';
import { insertHead, lockHeads, readClock, writeHeads } from '../storage/workspaces.ts';
import { makeIdsAt, type NewId } from '../values/ids.ts';
import { type Command, type CommandResult, refuse } from './command.ts';
import { distribute, type Loaded, loadWebhooks, type Needs, sendLoads, sendWrites } from './tables.ts';
import { WorkingSet } from './working-set.ts';

/** A command on its way through the lane. */
export interface Job {
  // biome-ignore lint/suspicious/noExplicitAny: the lane carries commands of every kind and looks into none.
  command: Command<any, any, any>;
  input: unknown;
  origin: Origin;
}

/** What became of a command; `failed`: it threw, which is a bug. */
export type JobResult = CommandResult<unknown, unknown> | { kind: 'failed'; error: unknown };

/** The commands of one workspace in a batch. */
export interface BatchPart<J extends Job = Job> {
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
async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return settled.map((each) => (each as PromiseFulfilledResult<T>).value);
}

/** What a job wants loaded: what its command names, and the key that it was asked with. */
function needsOf({ command, input, origin }: Job): Needs {
  const needs = command.needs(input);
  const { key_id } = origin.actor;
  return key_id === null ? needs : { ...needs, keys: [...(needs.keys ?? []), key_id] };
}

/** Begins the transaction, locks the heads and loads what the commands name, all in one round trip. */
async function open(
  client: Client,
  parts: readonly BatchPart[],
  options: { wait: boolean },
): Promise<Map<string, Opened>> {
  const workspace_ids = parts.map((part) => part.workspace_id);
  const wanted = parts.map(({ workspace_id, jobs }) => ({ workspace_id, needs: jobs.map(needsOf) }));
  const begun = client.query({ text: 'begin' });
  const locking = lockHeads(client, workspace_ids, options);
  const loading = sendLoads(client, wanted);
  const [, locked, ...found] = (await settleAll<unknown>([begun, locking, ...loading])) as [
    unknown,
    Awaited<typeof locking>,
    ...Awaited<(typeof loading)[number]>[],
  ];
  const listening = new Set(locked.filter((head) => head.has_webhooks).map((head) => head.workspace_id));
  const webhooks = await loadWebhooks(
    client,
    wanted.filter(({ workspace_id }) => listening.has(workspace_id)),
  );
  const loaded = distribute(workspace_ids, found, webhooks);
  const opened = new Map<string, Opened>();
  for (const { workspace_id, clock_ms, time_ms, seq, hash, has_webhooks } of locked) {
    // Later than every batch before it, also when the clock was set back.
    const now_ms = Math.max(clock_ms, time_ms + 1);
    const rows = loaded.get(workspace_id) as Loaded;
    opened.set(workspace_id, { head: { seq, hash }, has_webhooks, begins: false, now_ms, loaded: rows });
  }
  const [first] = parts;
  if (locked.length === 0 && options.wait && first?.jobs[0]?.command.begins_workspace === true) {
    const rows = loaded.get(first.workspace_id) as Loaded;
    const now_ms = await readClock(client);
    opened.set(first.workspace_id, {
      head: GENESIS,
      has_webhooks: false,
      begins: true,
      now_ms,
      loaded: rows,
    });
  }
  return opened;
}

/** The state that a command answers on: its key must still be good at the batch's moment. */
function applyOne(set: WorkingSet, job: Job): CommandResult<unknown, unknown> {
  const { key_id } = job.origin.actor;
  if (key_id !== null) {
    const key = set.key(key_id);
    const refusal = key === undefined ? KEY_NOT_GOOD : keyRefusal(key, set.now_ms);
    if (refusal !== null) return refuse('unauthenticated', refusal);
  }
  const before = set.change_count;
  const result: CommandResult<unknown, unknown> = job.command.apply(set, job.input, job.origin);
  if (result.kind !== 'done' && set.change_count !== before) {
    throw new Error(`${job.command.name} was ${result.kind} after it had changed something`);
  }
  return result;
}

/**
 * Applies the commands in order. One that throws (a bug) is answered alone: the others are folded again from the
 * rows as they were loaded, as though it had never come.
 */
export function fold(
  jobs: readonly Job[],
  makeSet: () => WorkingSet,
): { set: WorkingSet; results: JobResult[] } {
  const failed = new Map<number, unknown>();
  for (;;) {
    const set = makeSet();
    const results: JobResult[] = [];
    let thrown = false;
    for (const [i, job] of jobs.entries()) {
      if (failed.has(i)) {
        results.push({ kind: 'failed', error: failed.get(i) });
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

/** Everything the batch changed and the heads that it leaves: sent together with the commit. */
function write(
  client: Client,
  sets: readonly WorkingSet[],
  opened: ReadonlyMap<string, Opened>,
): Promise<unknown>[] {
  const heads = sets.map((set) => ({
    workspace_id: set.workspace_id,
    ...set.head,
    time_ms: set.now_ms,
    has_webhooks: set.outbox.hasEndpoints(opened.get(set.workspace_id)?.has_webhooks === true),
  }));
  const [head] = heads;
  const begins = head !== undefined && opened.get(head.workspace_id)?.begins === true;
  return [...sendWrites(client, sets), begins ? insertHead(client, head) : writeHeads(client, heads)];
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

const NO_WORKSPACE = refuse('not_found', 'There is no such workspace.');

/**
 * Runs one batch as one transaction on `client`; a part that begins its workspace runs alone. The results are those
 * of the parts, in order; null: another transaction had locked the workspace, nothing of the part was done. Throws
 * what the database threw: before the commit was sent, nothing of the batch exists; UnknownCommit says that it may.
 */
export async function runBatch(
  client: Client,
  parts: readonly BatchPart[],
  options: BatchOptions,
): Promise<(JobResult[] | null)[]> {
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
