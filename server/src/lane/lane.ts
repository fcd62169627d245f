import type pg from 'pg';
import type { Logger } from 'pino';
import { ApiError } from '../errors.ts';
import { type Client, cut, isUnavailable, sqlState } from '../storage/database.ts';
import { type Job, type Result, runBatch, UnknownCommit } from './batch.ts';
import type { Command } from './command.ts';
import type { Origin } from './working-set.ts';

/** The single write path of every workspace. */
export interface Lane {
  /**
   * Carries a command out, together with whatever else waits for the same workspace. Throws ApiError: the
   * command's refusal, `unavailable` when it was not carried out or nobody can tell, `internal_error` for a bug.
   */
  submit<Input, Output>(
    workspace_id: string,
    command: Command<Input, Output>,
    input: Input,
    origin: Origin,
  ): Promise<Output>;
  /** How many commands wait. */
  waiting(): number;
  /** Refuses what comes from now on and resolves when all that was accepted has been answered. */
  drain(): Promise<void>;
}

export interface LaneOptions {
  /** With `pipeline`. */
  pool: pg.Pool;
  log: Logger;
  random: () => number;
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** Told of each batch: how many commands, and how long its writes and commit took. */
  observeBatch: (commands: number, commit_ms: number) => void;
  /** Told of each batch that put webhooks into the outbox: a hint, so that they need not wait to be found. */
  onPublished?: () => void;
}

/** One transaction carries at most this many commands. */
const LARGEST_BATCH = 200;
/** Beyond this many, new commands are refused at once rather than kept waiting. */
const LONGEST_QUEUE = 2_000;
/** A command that has waited this long is refused; a batch that takes this long loses its connection. */
const DEADLINE_MS = 5_000;
const ATTEMPTS = 3;
const FIRST_RETRY_MS = 10;

/** Serialization failure and deadlock: PostgreSQL undid the transaction and asks for it again. */
const RETRYABLE = new Set(['40001', '40P01']);
interface Waiting extends Job {
  since_ms: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

const unavailable = (message: string, cause?: unknown) =>
  new ApiError('unavailable', message, { retry_after_s: 1, cause });

const LOST = 'The service cannot tell whether this was carried out; retry with the same idempotency key.';
const NOT_NOW = 'The service cannot write right now; nothing was carried out; retry.';

/**
 * Makes the lane. Batches form by themselves: while one commits, the next gathers. There is no timer, so a lone
 * command waits for nobody.
 */
export function makeLane(options: LaneOptions): Lane {
  const { pool, log, now_ms } = options;
  const queues = new Map<string, Waiting[]>();
  const running = new Set<string>();
  let waiting_count = 0;
  let in_flight = 0;
  let draining = false;
  let onDrained: (() => void) | undefined;

  async function run(workspace_id: string): Promise<void> {
    const queue = queues.get(workspace_id) as Waiting[];
    while (queue.length > 0) {
      const batch = queue.splice(0, LARGEST_BATCH);
      waiting_count -= batch.length;
      in_flight += batch.length;
      const fresh = batch.filter((job) => {
        if (now_ms() - job.since_ms < DEADLINE_MS) return true;
        job.reject(unavailable('The service is overloaded; nothing was carried out; retry.'));
        return false;
      });
      if (fresh.length > 0) await settle(workspace_id, fresh);
      in_flight -= batch.length;
    }
    queues.delete(workspace_id);
    running.delete(workspace_id);
    if (draining && running.size === 0) onDrained?.();
  }

  /** Runs a batch until it is certain what became of it, and answers everyone in it. Never throws. */
  async function settle(workspace_id: string, jobs: Waiting[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const results = await once(workspace_id, jobs);
        for (const [i, job] of jobs.entries()) answer(job, results[i] as Result);
        return;
      } catch (error) {
        const state = sqlState(error);
        if (error instanceof UnknownCommit) {
          log.error({ err: error, workspace_id, commands: jobs.length }, 'a commit was not answered');
          for (const job of jobs) job.reject(unavailable(LOST, error));
          return;
        }
        if (state !== undefined && RETRYABLE.has(state) && attempt < ATTEMPTS) {
          await new Promise((wait) =>
            setTimeout(wait, FIRST_RETRY_MS * 2 ** attempt * (0.5 + options.random())),
          );
          continue;
        }
        if (isUnavailable(error) || (state !== undefined && RETRYABLE.has(state))) {
          log.error({ err: error, workspace_id, commands: jobs.length }, 'a batch could not be written');
          for (const job of jobs) job.reject(unavailable(NOT_NOW, error));
          return;
        }
        if (jobs.length === 1) {
          log.error(
            { err: error, workspace_id, command: jobs[0]?.command.name },
            'a command could not be written',
          );
          jobs[0]?.reject(
            new ApiError('internal_error', 'Something unforeseen failed; nothing was carried out.', {
              cause: error,
            }),
          );
          return;
        }
        // One row of the batch was refused by the database: each command goes alone, so that the others pass.
        for (const job of jobs) await settle(workspace_id, [job]);
        return;
      }
    }
  }

  async function once(workspace_id: string, jobs: readonly Waiting[]): Promise<Result[]> {
    const client: Client = await pool.connect();
    let broken: Error | undefined;
    // A connection that does not answer holds the head locked for everybody: it is cut, and the server undoes
    // its transaction.
    const deadline = setTimeout(() => {
      broken = new Error('timeout: the database did not answer a batch');
      cut(client, broken);
    }, DEADLINE_MS);
    try {
      return await runBatch(client, workspace_id, jobs, {
        random: options.random,
        now_ms,
        onCommitted: (commit_ms) => options.observeBatch(jobs.length, commit_ms),
        onPublished: options.onPublished,
      });
    } catch (error) {
      broken ??= error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      clearTimeout(deadline);
      // After a failure the connection may be inside a transaction or out of step: it is not used again.
      client.release(broken);
    }
  }

  function answer(job: Waiting, result: Result): void {
    if (result.ok) job.resolve(result.value);
    else if ('refusal' in result) job.reject(new ApiError(result.refusal.code, result.refusal.message));
    else {
      log.error({ err: result.error, command: job.command.name }, 'a command failed');
      job.reject(
        new ApiError('internal_error', 'Something unforeseen failed; nothing was carried out.', {
          cause: result.error,
        }),
      );
    }
  }

  return {
    submit<Input, Output>(
      workspace_id: string,
      command: Command<Input, Output>,
      input: Input,
      origin: Origin,
    ) {
      if (draining) return Promise.reject(unavailable('The service is stopping; retry.'));
      if (waiting_count + in_flight >= LONGEST_QUEUE) {
        return Promise.reject(unavailable('The service is overloaded; nothing was carried out; retry.'));
      }
      return new Promise<Output>((resolve, reject) => {
        const job: Waiting = {
          command,
          input,
          origin,
          since_ms: now_ms(),
          resolve: resolve as never,
          reject,
        };
        waiting_count += 1;
        const queue = queues.get(workspace_id);
        if (queue === undefined) queues.set(workspace_id, [job]);
        else queue.push(job);
        if (running.has(workspace_id)) return;
        running.add(workspace_id);
        void run(workspace_id);
      });
    },
    waiting: () => waiting_count,
    drain() {
      draining = true;
      if (running.size === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        onDrained = resolve;
      });
    },
  };
}
