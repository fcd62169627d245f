import type { Origin } from '@purser/rules/domain/audit';
import { INVALID_KEY, keyRefusal } from '@purser/rules/domain/keys';
import { GENESIS } from '@purser/rules/domain/ledger';
import { NOT_SIGNED_IN, sessionRefusal } from '@purser/rules/domain/people';
import { decodeStop, encodeStop, type WorkspaceStop } from '@purser/rules/domain/workspace';
import { ApiError } from '@purser/rules/errors';
import { makeIdsAt } from '@purser/rules/values/ids';
import { boundsOf } from '../allowances/bound-keys.ts';
import type { Engine } from '../citus/engine.ts';
import { batchTimes, type ClockWatch } from '../clock-watch.ts';
import type { Needs } from '../needs/needs.ts';
import { type Client, sqlState } from '../storage/database.ts';
import { insertHead, lockHeads, readClock, writeHeads } from '../storage/workspaces.ts';
import { type Command, type CommandResult, refuse } from './command.ts';
import { beforeCommand, checkApplied } from './invariants.ts';
import type { HeadVersion, KnownRows } from './known-rows.ts';
import { sendLoads, settleAll } from './load-rows.ts';
import type { Loaded } from './tables.ts';
import { sendWide } from './wide-statements.ts';
import { WorkingSet } from './working-set.ts';
import { sendWrites } from './writes.ts';

/** A command with its input, waiting to be applied. */
export interface Job {
  // biome-ignore lint/suspicious/noExplicitAny: the lane carries commands of all kinds and never reads their inputs.
  command: Command<any, any, any>;
  input: unknown;
  origin: Origin;
  /** The rows that the command needs, including the submitting API key: see `needsOf`. */
  needs: Needs;
}

/** The result of a command in a batch; `failed`: the command threw, which is a bug. */
export type JobResult = CommandResult<unknown, unknown> | { kind: 'failed'; error: unknown };

/** The commands of one workspace in a batch. */
export interface BatchPart<J extends Job = Job> {
  workspace_id: string;
  jobs: readonly J[];
}

/** A workspace's locked head and loaded rows at the beginning of a batch. */
interface Opened {
  head: HeadVersion;
  has_webhooks: boolean;
  has_channels: boolean;
  stop: WorkspaceStop | null;
  begins: boolean;
  /** Later than every earlier batch. */
  order_ms: number;
  /** The time that limits, periods and expiry use: see `batchTimes`. */
  now_ms: number;
  loaded: Loaded;
}

/** Returns what a command needs loaded, and with it the API key or the session that submitted it. */
export function needsOf<Input>(
  command: { needs: (input: Input) => Needs },
  input: Input,
  origin: Origin,
): Needs {
  const needs = command.needs(input);
  const { key_id, session_id } = origin.actor;
  const { allowance_path, maker_key_ids = [] } = origin.bound ?? {};
  const allowances =
    allowance_path === undefined ? {} : { allowances: [...(needs.allowances ?? []), ...allowance_path] };
  if (key_id !== null)
    // Not `{ ...needs, keys }`: see `docs/decisions/0233`.
    return Object.assign({}, needs, allowances, {
      keys: [...(needs.keys ?? []), key_id, ...maker_key_ids],
    });
  return session_id === null ? needs : { ...needs, sessions: [session_id] };
}

/** A workspace that a batch begins. */
const NEW_HEAD = { time_ms: 0, has_webhooks: false, has_channels: false, stop: null };

/** Begins the transaction, locks the heads and loads the rows that the commands need, all in one round trip. */
async function open(
  client: Client,
  parts: readonly BatchPart[],
  options: Pick<BatchOptions, 'wait' | 'known' | 'clock' | 'engine'>,
): Promise<Map<string, Opened>> {
  const asked_ms = options.clock.elapsed_ms();
  const workspace_ids = parts.map((part) => part.workspace_id);
  const wanted = parts.map(({ workspace_id, jobs }) => ({
    workspace_id,
    needs: jobs.map(({ needs }) => needs),
  }));
  const beginning = client.query({ text: 'begin' });
  const locking = lockHeads(client, workspace_ids, options);
  const loading = sendLoads(client, wanted, options);
  const [, locked] = (await settleAll<unknown>([beginning, locking, ...loading.sent])) as [
    unknown,
    Awaited<typeof locking>,
  ];
  const loaded = await loading.finish(locked);
  const [first] = parts;
  const begins = locked.length === 0 && options.wait && first?.jobs[0]?.command.begins_workspace === true;
  const heads = begins
    ? [{ ...GENESIS, ...NEW_HEAD, workspace_id: first.workspace_id, clock_ms: await readClock(client) }]
    : locked;
  checkClock(options.clock, heads, asked_ms);
  const opened = new Map<string, Opened>();
  for (const { workspace_id, clock_ms, time_ms, seq, hash, has_webhooks, has_channels, stop } of heads) {
    opened.set(workspace_id, {
      head: { seq, hash, time_ms },
      has_webhooks,
      has_channels,
      stop: decodeStop(stop),
      begins,
      ...batchTimes(clock_ms, time_ms),
      loaded: loaded.get(workspace_id) as Loaded,
    });
  }
  return opened;
}

/** Throws `unavailable` where the clock that these heads were locked at is not believed: it must not date anything. */
function checkClock(
  clock: ClockWatch,
  heads: readonly { clock_ms: number; time_ms: number }[],
  asked_ms: number,
): void {
  const [first] = heads;
  const answered_ms = clock.elapsed_ms();
  if (first === undefined) return;
  const newest_ms = Math.max(...heads.map(({ time_ms }) => time_ms));
  const reading = { clock_ms: first.clock_ms, asked_ms, answered_ms };
  // A workspace that begins has no batch yet, which says nothing of others.
  if (!clock.observe(newest_ms === 0 ? reading : { newest_ms, ...reading }))
    throw clockSuspect(clock.doubt() as string);
}

/** Clients ask again once the clock was read again. */
const CLOCK_RETRY_S = 5;

/** The refusal of a write while the database's clock is not believed. */
export const clockSuspect = (doubt: string) =>
  new ApiError('unavailable', doubt, { retry_after_s: CLOCK_RETRY_S, reason: 'clock' });

/** Returns why the API key or the session of a job is not good at the batch timestamp, or null if it is. */
function refusalOf(set: WorkingSet, { actor, role, bound }: Origin): string | null {
  if (actor.key_id !== null) {
    const key = set.keys.get(actor.key_id);
    return key === undefined
      ? INVALID_KEY
      : keyRefusal(bound === undefined ? key : { ...key, ...boundsOf(set, bound) }, set.now_ms);
  }
  if (actor.session_id === null) return null;
  const session = set.people.session(actor.session_id);
  // The request was let in by the scopes of a role, which another command may have changed since.
  if (session === undefined || (role !== null && session.role !== role)) return NOT_SIGNED_IN;
  return sessionRefusal(session, set.now_ms);
}

/**
 * Applies one command, after checking that its API key or session is still good at the batch timestamp. Throws
 * BrokenInvariant where the command left the working set in a state that must not be committed.
 */
function applyOne(set: WorkingSet, job: Job): CommandResult<unknown, unknown> {
  const refusal = refusalOf(set, job.origin);
  if (refusal !== null) return refuse('unauthenticated', refusal);
  const { command, input, origin, needs } = job;
  const before = beforeCommand(set);
  const result: CommandResult<unknown, unknown> = command.apply(set, input, origin);
  checkApplied(set, before, {
    name: command.name,
    is_done: result.kind === 'done',
    needs_webhooks: needs.webhooks === true,
  });
  return result;
}

/**
 * Applies the commands in order. If one throws (a bug, or a broken invariant), only its own result is `failed`: the
 * others are applied again to the rows as they were loaded, without it. So nothing that it changed is ever committed.
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

/** The result of a workspace's commands. */
interface Folded {
  set: WorkingSet;
  found: Opened;
}

/** Sends the writes of everything that the batch changed, and of the new heads, without waiting. */
function write(
  client: Client,
  changed: readonly [Folded, ...Folded[]],
  engine: Engine | undefined,
): Promise<unknown>[] {
  const headOf = ({ set, found }: Folded) => ({
    workspace_id: set.workspace_id,
    ...set.head,
    time_ms: set.order_ms,
    has_webhooks: set.outbox.hasEndpoints(found.has_webhooks),
    has_channels: set.outbox.hasChannels(found.has_channels),
    stop: encodeStop(set.stop),
  });
  const sets = changed.map(({ set }) => set);
  const [first] = changed;
  // A modifying statement in another is a task of its own for Citus, so that joining them buys nothing.
  return sendWide(client, engine?.kind !== 'citus', (collector) => [
    // On Citus the other rows of a new workspace are inserted through its head.
    ...(first.found.begins ? [insertHead(collector, headOf(first))] : []),
    ...sendWrites(collector, sets),
    ...(first.found.begins ? [] : [writeHeads(collector, changed.map(headOf))]),
  ]);
}

/** Keeps what a committed batch found and changed in a workspace that had begun before. */
function keep(known: KnownRows, { set, found }: Folded): void {
  if (found.begins) return;
  const written = set.change_count > 0 ? { ...set.head, time_ms: set.order_ms } : found.head;
  known.keep(set, found.loaded, found.head, written);
}

/** The commit was sent, but it is unknown whether the whole batch was committed: no caller may be told that it was. */
export class UnknownCommit extends Error {
  override name = 'UnknownCommit';
}

/**
 * Returns whether PostgreSQL itself rejected the commit; a lost connection or a stopping server leaves it unknown. So does an
 * internal error: Citus reports with one that a worker did not confirm its part, which it may have committed.
 */
function refusedByDatabase(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(08|57P|40003|XX)/.test(state);
}

export interface BatchOptions {
  /** The watch over the database's clock. */
  clock: ClockWatch;
  /** The rows that outlive a batch. Kept in runBatch; after an error the caller has to forget the workspaces. */
  known: KnownRows;
  /** Plain PostgreSQL when left out. */
  engine?: Engine;
  /** Wait for workspaces that another transaction has locked; if false, their parts are left out. */
  wait: boolean;
  /** Returns numbers from 0 up to 1, for ids. */
  random: () => number;
  /** Called with the time that the writes and the commit took, and whether there were any writes. */
  onCommitted?: (commit_ms: number, has_changes: boolean) => void;
  /** Called when the batch has queued events for webhooks. */
  onPublished?: (() => void) | undefined;
  now_ms: () => number;
}

/**
 * Resolves when the transaction with all of its writes is committed. Throws UnknownCommit where it may have been, and
 * whatever the database refused where it was not.
 */
async function settleCommit(
  commit: Promise<{ command: string }>,
  writes: readonly Promise<unknown>[],
): Promise<void> {
  const [committed, ...written] = await Promise.allSettled([commit, ...writes]);
  if (committed.status === 'rejected') {
    if (refusedByDatabase(committed.reason)) throw committed.reason;
    throw new UnknownCommit('the response to a commit did not arrive', { cause: committed.reason });
  }
  const failure = written.find((each) => each.status === 'rejected');
  // PostgreSQL answers the commit of a failed transaction with ROLLBACK; the failed write then has the cause.
  if (committed.value.command !== 'COMMIT')
    throw failure?.reason ?? new ApiError('internal_error', 'The change could not be saved.');
  // A write that failed in the driver never reached PostgreSQL, so the transaction was committed without it.
  if (failure !== undefined)
    throw new UnknownCommit('a batch was committed without one of its writes', { cause: failure.reason });
}

const NO_WORKSPACE = refuse('not_found', 'No such workspace.');

/**
 * Runs one batch as one transaction on `client`. A part that begins its workspace must be the only one. Returns the
 * results of the parts, in order; null means that another transaction had locked the workspace and nothing of the part
 * was done. Throws UnknownCommit if the batch may have been committed; with any other error, thrown by the database,
 * nothing of the batch was.
 */
export async function runBatch(
  client: Client,
  parts: readonly BatchPart[],
  options: BatchOptions,
): Promise<(JobResult[] | null)[]> {
  const opened = await open(client, parts, options);
  const folded: Folded[] = [];
  const results = parts.map(({ workspace_id, jobs }) => {
    const found = opened.get(workspace_id);
    if (found === undefined) return options.wait ? jobs.map(() => NO_WORKSPACE) : null;
    const { head, stop, order_ms, now_ms, loaded } = found;
    const newId = makeIdsAt(order_ms, options.random);
    const { set, results } = fold(
      jobs,
      () => new WorkingSet({ workspace_id, head, stop, order_ms, now_ms, newId, loaded }),
    );
    folded.push({ set, found });
    return results;
  });
  const [changed, ...others] = folded.filter(({ set }) => set.change_count > 0);
  const began_ms = options.now_ms();
  // Everything was folded and checked. After this point only the database may refuse.
  // A batch without changes commits too: the decision that a replay returns may not have reached a synchronous standby
  // yet, and a commit waits for everything before it.
  const writes = changed === undefined ? [] : write(client, [changed, ...others], options.engine);
  // Citus counts what it wrote in the answers alone: an insert through a head that is not there writes nothing.
  if (options.engine?.kind === 'citus') await settleAll(writes);
  await settleCommit(client.query({ text: 'commit' }), writes);
  for (const each of folded) keep(options.known, each);
  options.onCommitted?.(options.now_ms() - began_ms, changed !== undefined);
  if (folded.some(({ set }) => set.outbox.has_events)) options.onPublished?.();
  return results;
}
