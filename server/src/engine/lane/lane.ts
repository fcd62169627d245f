import { setTimeout as pause } from 'node:timers/promises';
import type { Origin } from '@purser/rules/domain/audit';
import { ApiError, overloaded, type RefusalReason } from '@purser/rules/errors';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { ClockWatch } from '../clock-watch.ts';
import { type Client, cut, isUnavailable, sqlState } from '../storage/database.ts';
import type { Tracing } from '../tracing.ts';
import {
  type BatchPart,
  clockDoubted,
  type Job,
  type JobResult,
  needsOf,
  runBatch,
  UnknownCommit,
} from './batch.ts';
import { type Command, Stale } from './command.ts';
import { KnownRows } from './known-rows.ts';

/** The value that `submit` resolves with; `Stale` is part of it only for commands that can be stale. */
export type Submitted<Output, Current> = [Current] extends [never] ? Output : Output | Stale<Current>;

/** The single write path of every workspace. */
export interface Lane {
  /**
   * Carries a command out, in a batch with others that wait. Resolves with its value, or with `Stale`. Rejects with an
   * ApiError: the command's refusal, `unavailable` if it was not carried out or that is unknown, `internal_error` for
   * a bug.
   */
  submit<Input, Output, Current = never>(
    workspace_id: string,
    command: Command<Input, Output, Current>,
    input: Input,
    origin: Origin,
  ): Promise<Submitted<Output, Current>>;
  /** Returns the number of commands that wait. */
  waiting(): number;
  /** Returns whether a command submitted now would be refused because too many wait. */
  isFull(): boolean;
  /** Refuses new commands and resolves when all accepted ones have been answered. */
  drain(): Promise<void>;
}

export interface LaneOptions {
  /** Made with `pipeline`. */
  pool: pg.Pool;
  log: Logger;
  random: () => number;
  /** The watch over the database's clock: while it doubts the clock, every command is refused. */
  clock: ClockWatch;
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** The rows that outlive a batch; the default is right but for tests. */
  known?: KnownRows;
  /** Called after each batch with its number of commands and the time that its writes and commit took. */
  observeBatch: (commands: number, commit_ms: number) => void;
  /** Null if nobody wants traces. */
  tracing?: Tracing | null;
  /** Called after each commit of a batch that changed something. */
  onWritten?: () => void;
  /** Called with the error of each attempt to write a batch that failed. */
  onFailed?: (error: unknown) => void;
  /** Called after each batch that made webhook queues due, so that they are looked at without waiting for the next poll. */
  onPublished?: () => void;
}

/** The most commands in one transaction. */
const MAX_BATCH = 200;
/** Concurrent batches over several workspaces. While one commits, the other is collected and carried out. */
const MAX_SHARED_BATCHES = 2;
/** Concurrent batches of a single workspace, which wait for its lock if another node holds it. */
const MAX_LONE_BATCHES = 4;
/** With this many commands waiting or in flight, new ones are refused at once. */
const MAX_QUEUE_LENGTH = 2_000;
/** A command that has waited this long is refused; the connection of a batch that takes this long is closed. */
const DEADLINE_MS = 5_000;
/**
 * Where more waits than a batch takes, half of that: what is carried out is then answered in time. Otherwise every command
 * of an overloaded workspace would reach its turn just when its caller has been told that it is too late.
 */
const MAX_WAIT_IN_OVERLOAD_MS = 2_500;
/**
 * A shared batch that fails after this long was blocked by one of its workspaces. Each of them is then carried out
 * alone until it succeeds, but at most for `ISOLATION_MS`.
 */
const STUCK_MS = 2_500;
const ISOLATION_MS = 30_000;
const ATTEMPTS = 3;
const FIRST_RETRY_MS = 10;

/** Serialization failure and deadlock: PostgreSQL rolled the transaction back, and a retry may succeed. */
const RETRYABLE = new Set(['40001', '40P01']);
interface Waiting extends Job {
  since_ms: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The refusal of a command while too many wait. */
const LANE_FULL = overloaded('lane');
const unavailable = (message: string, reason: RefusalReason, cause?: unknown) =>
  new ApiError('unavailable', message, { retry_after_s: 1, reason, cause });
const outcomeUnknown = (cause: unknown) =>
  new ApiError(
    'unavailable',
    'The service cannot tell whether this was carried out; retry with the same idempotency key.',
    { retry_after_s: 1, is_outcome_unknown: true, reason: 'commit_unknown', cause },
  );
const unforeseen = (cause: unknown) =>
  new ApiError('internal_error', 'Something unforeseen failed; nothing was carried out.', { cause });

const NOT_NOW = 'The service cannot write right now; nothing was carried out; retry.';

/**
 * Makes the lane. Batches form without a timer: commands that arrive while one batch commits make up the next, and a
 * single command waits for nothing. Workspaces share batches, because a commit, and every statement before it, costs the
 * same for one decision as for many. A workspace that another node has locked leaves the batch and waits alone. So does
 * every workspace of a shared batch that timed out, until it succeeds, since any of them may have blocked the batch.
 */
export function makeLane(options: LaneOptions): Lane {
  const { pool, log, now_ms, clock, known = new KnownRows() } = options;
  /** The waiting commands by workspace; the workspace that was served last comes last. */
  const queues = new Map<string, Waiting[]>();
  /** Workspaces with a batch in flight. */
  const busy = new Set<string>();
  /** Parts that wait to be carried out alone. */
  const lone: BatchPart<Waiting>[] = [];
  /** Workspaces that are carried out alone, and until when (ms). */
  const isolated = new Map<string, number>();
  let shared_running = 0;
  let lone_running = 0;
  let waiting_count = 0;
  let in_flight = 0;
  let draining = false;
  let onDrained: (() => void) | undefined;

  const isFull = () => waiting_count + in_flight >= MAX_QUEUE_LENGTH;

  /**
   * Takes the commands of the next shared batch from the workspaces in turn. Those of isolated workspaces are added to
   * the parts that wait to be carried out alone.
   */
  function collectBatch(): BatchPart<Waiting>[] {
    const parts: BatchPart<Waiting>[] = [];
    let room = MAX_BATCH;
    for (const [workspace_id, queue] of queues) {
      if (busy.has(workspace_id)) continue;
      const begins = queue[0]?.command.begins_workspace === true;
      // A new workspace has no head to lock yet. A shared batch treats it as locked, so it is then carried out alone.
      const max_wait_ms = queue.length > room ? MAX_WAIT_IN_OVERLOAD_MS : DEADLINE_MS;
      const taken = queue.splice(0, begins ? 1 : room);
      queues.delete(workspace_id);
      if (queue.length > 0) queues.set(workspace_id, queue);
      waiting_count -= taken.length;
      in_flight += taken.length;
      const jobs = taken.filter((job) => {
        if (now_ms() - job.since_ms < max_wait_ms) return true;
        job.reject(LANE_FULL);
        in_flight -= 1;
        return false;
      });
      if (jobs.length > 0) {
        busy.add(workspace_id);
        if ((isolated.get(workspace_id) ?? 0) > now_ms()) {
          lone.push({ workspace_id, jobs });
        } else {
          parts.push({ workspace_id, jobs });
          room -= jobs.length;
        }
      }
      if (room === 0) break;
    }
    return parts;
  }

  function pump(): void {
    runLone();
    while (shared_running < MAX_SHARED_BATCHES) {
      const parts = collectBatch();
      const [only] = parts;
      if (only === undefined) break;
      if (parts.length === 1 && mayRunAlone(only)) runAlone(only);
      else runShared(parts);
    }
    runLone();
    if (draining && busy.size === 0 && queues.size === 0) onDrained?.();
  }

  function runLone(): void {
    while (lone.length > 0 && lone_running < MAX_LONE_BATCHES) runAlone(lone.shift() as BatchPart<Waiting>);
  }

  /**
   * A workspace may wait for its lock at once only while no other batch is in flight. Otherwise it would get a
   * transaction of its own for what is mostly one command, and so would the next workspaces (measured with 64 clients
   * over 200 workspaces: sharing makes a third fewer transactions and takes a sixth less processor time a decision).
   */
  function mayRunAlone(part: BatchPart<Waiting>): boolean {
    if (part.jobs[0]?.command.begins_workspace === true) return lone_running < MAX_LONE_BATCHES;
    return shared_running + lone_running === 0;
  }

  function runAlone(part: BatchPart<Waiting>): void {
    lone_running += 1;
    void settle([part], true).then(() => {
      lone_running -= 1;
      finished(part);
      pump();
    });
  }

  function runShared(parts: readonly BatchPart<Waiting>[]): void {
    shared_running += 1;
    void settle(parts, false).then((locked) => {
      shared_running -= 1;
      for (const part of parts) {
        if (locked.includes(part)) lone.push(part);
        else finished(part);
      }
      pump();
    });
  }

  function isolate(parts: readonly BatchPart<Waiting>[]): void {
    const now = now_ms();
    for (const [workspace_id, until_ms] of isolated) if (until_ms <= now) isolated.delete(workspace_id);
    for (const { workspace_id } of parts) isolated.set(workspace_id, now + ISOLATION_MS);
  }

  function finished(part: BatchPart<Waiting>): void {
    busy.delete(part.workspace_id);
    in_flight -= part.jobs.length;
  }

  /**
   * Runs a batch, with retries, until its result is final, and answers its commands. Parts whose workspaces are locked
   * are not answered but returned. Never throws.
   */
  async function settle(parts: readonly BatchPart<Waiting>[], wait: boolean): Promise<BatchPart<Waiting>[]> {
    const jobs = parts.flatMap((part) => part.jobs);
    for (let attempt = 1; ; attempt++) {
      const began_ms = now_ms();
      try {
        const results = await once(parts, wait, jobs.length);
        for (const { workspace_id } of parts) isolated.delete(workspace_id);
        return parts.filter((part, i) => {
          const answers = results[i];
          if (answers === null || answers === undefined) return true;
          for (const [k, job] of part.jobs.entries()) answer(job, answers[k] as JobResult);
          return false;
        });
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'clock') {
          for (const job of jobs) job.reject(error);
          return [];
        }
        options.onFailed?.(error);
        const state = sqlState(error);
        const may_retry = state !== undefined && RETRYABLE.has(state);
        const giveUp = (message: string, reason: ApiError) => {
          const workspace_ids = parts.map((part) => part.workspace_id);
          const commands = [...new Set(jobs.map((job) => job.command.name))];
          log.error({ err: error, workspace_ids, commands }, message);
          for (const job of jobs) job.reject(reason);
          return [];
        };
        if (parts.length > 1 && now_ms() - began_ms >= STUCK_MS) isolate(parts);
        if (error instanceof UnknownCommit) return giveUp('a commit was not answered', outcomeUnknown(error));
        if (may_retry && attempt < ATTEMPTS) {
          await pause(FIRST_RETRY_MS * 2 ** attempt * (0.5 + options.random()));
          continue;
        }
        if (may_retry || isUnavailable(error)) {
          return giveUp('a batch could not be written', unavailable(NOT_NOW, 'database', error));
        }
        if (jobs.length === 1) return giveUp('a command could not be written', unforeseen(error));
        // The database refused a row of the batch. The batch is split into its workspaces, and then into single
        // commands, so that all others succeed.
        const [only] = parts;
        const smaller =
          parts.length > 1 || only === undefined
            ? parts
            : only.jobs.map((job) => ({ workspace_id: only.workspace_id, jobs: [job] }));
        for (const part of smaller) await settle([part], true);
        return [];
      }
    }
  }

  async function once(
    parts: readonly BatchPart<Waiting>[],
    wait: boolean,
    commands: number,
  ): Promise<(JobResult[] | null)[]> {
    const client: Client = await pool.connect();
    let broken: Error | undefined;
    // A connection that does not answer keeps its heads locked for everybody. Closing it makes the server roll the
    // transaction back.
    const deadline = setTimeout(() => {
      broken = new Error('timeout: the database did not answer a batch');
      cut(client, broken);
    }, DEADLINE_MS);
    try {
      const run = () =>
        runBatch(client, parts, {
          known,
          clock,
          wait,
          random: options.random,
          now_ms,
          onCommitted(commit_ms, has_changes) {
            options.observeBatch(commands, commit_ms);
            if (has_changes) options.onWritten?.();
          },
          onPublished: options.onPublished,
        });
      return await (options.tracing?.traceBatch(client, parts, run) ?? run());
    } catch (error) {
      broken ??= error instanceof Error ? error : new Error(String(error));
      for (const { workspace_id } of parts) known.forget(workspace_id);
      throw error;
    } finally {
      clearTimeout(deadline);
      // After a failure the connection may be inside a transaction or have unread answers, so it is not reused.
      client.release(broken);
    }
  }

  function answer(job: Waiting, result: JobResult): void {
    if (result.kind === 'done') job.resolve(result.value);
    else if (result.kind === 'stale') job.resolve(new Stale(result.current));
    else if (result.kind === 'refused') job.reject(new ApiError(result.refusal.code, result.refusal.message));
    else {
      log.error({ err: result.error, command: job.command.name }, 'a command failed');
      job.reject(unforeseen(result.error));
    }
  }

  return {
    submit(workspace_id, command, input, origin) {
      if (draining) return Promise.reject(unavailable('The service is stopping; retry.', 'stopping'));
      if (isFull()) return Promise.reject(LANE_FULL);
      const doubt = clock.doubt();
      if (doubt !== null) return Promise.reject(clockDoubted(doubt));
      return new Promise((resolve, reject) => {
        const job: Waiting = {
          command,
          input,
          origin,
          needs: needsOf(command, input, origin),
          since_ms: now_ms(),
          resolve: resolve as never,
          reject,
        };
        waiting_count += 1;
        const queue = queues.get(workspace_id);
        if (queue === undefined) queues.set(workspace_id, [job]);
        else queue.push(job);
        if (!busy.has(workspace_id)) pump();
      });
    },
    waiting: () => waiting_count,
    isFull,
    drain() {
      draining = true;
      return new Promise((resolve) => {
        onDrained = resolve;
        pump();
      });
    },
  };
}
