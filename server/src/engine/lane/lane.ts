import type { Origin } from '@purser/rules/domain/audit';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Engine } from '../citus/engine.ts';
import type { ClockWatch } from '../clock-watch.ts';
import { type Client, cut } from '../storage/database.ts';
import type { Tracing } from '../tracing.ts';
import { clockSuspect, type JobResult, needsOf, runBatch } from './batch.ts';
import type { Command, Stale } from './command.ts';
import { KnownRows } from './known-rows.ts';
import { type Settling, settleBatch, unavailable } from './settle-batch.ts';
import { createsWorkspace, LANE_FULL, type Part, WaitingCommands } from './waiting-commands.ts';

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
  /** The engine, as the connections of `pool` find it; plain PostgreSQL when left out. */
  engine?: Engine;
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
  /** Called after each batch that has queued events for webhooks, so that they are sent without waiting for the next poll. */
  onPublished?: () => void;
}

/** Concurrent batches over several workspaces. While one commits, the other is collected and carried out. */
const MAX_SHARED_BATCHES = 2;
/** Concurrent batches of a single workspace, which wait for its lock if another node holds it. */
const MAX_LONE_BATCHES = 4;
/** Concurrent batches on Citus, where each is of a single workspace. */
const MAX_CITUS_BATCHES = 16;
/** The connection of a batch that takes this long is closed. */
const DEADLINE_MS = 5_000;

/**
 * Makes the lane. Batches form without a timer: commands that arrive while one batch commits make up the next, and a
 * single command waits for nothing. Workspaces share batches, because a commit, and every statement before it, costs the
 * same for one decision as for many. A workspace that another node has locked leaves the batch and waits alone. So does
 * every workspace of a shared batch that timed out, until it succeeds, since any of them may have blocked the batch.
 */
export function makeLane(options: LaneOptions): Lane {
  const batches = new Batches(options);
  return {
    submit: (...given) => batches.submit(...given),
    waiting: () => batches.commands.count,
    isFull: () => batches.commands.isFull(),
    drain: () => batches.drain(),
  };
}

/** The batches of one process: which run, and which run next. */
class Batches {
  readonly #options: LaneOptions;
  readonly #known: KnownRows;
  readonly #engine: Engine;
  readonly commands: WaitingCommands;
  readonly #settling: Settling;
  /** Parts that wait to be carried out alone. */
  readonly #alone: Part[] = [];
  #shared_running = 0;
  #alone_running = 0;
  #draining = false;
  #onDrained: (() => void) | undefined;

  constructor(options: LaneOptions) {
    const { log, random, now_ms, known = new KnownRows() } = options;
    const commands = new WaitingCommands(now_ms);
    this.#options = options;
    this.#known = known;
    this.#engine = options.engine ?? { kind: 'postgres' };
    this.commands = commands;
    this.#settling = {
      log,
      random,
      now_ms,
      run: (parts, wait) => this.#runOnce(parts, wait),
      onFailed: (error) => options.onFailed?.(error),
      onStuck: (parts) => commands.isolate(parts),
      onSettled: (parts) => commands.rejoin(parts),
    };
  }

  submit<Input, Output, Current = never>(
    workspace_id: string,
    command: Command<Input, Output, Current>,
    input: Input,
    origin: Origin,
  ): Promise<Submitted<Output, Current>> {
    if (this.#draining) return Promise.reject(unavailable('The service is stopping; retry.', 'stopping'));
    if (this.commands.isFull()) return Promise.reject(LANE_FULL);
    const doubt = this.#options.clock.doubt();
    if (doubt !== null) return Promise.reject(clockSuspect(doubt));
    return new Promise((resolve, reject) => {
      const needs = needsOf(command, input, origin);
      const since_ms = this.#options.now_ms();
      const job = { command, input, origin, needs, since_ms, resolve: resolve as never, reject };
      if (this.commands.add(workspace_id, job)) this.#pump();
    });
  }

  waiting = () => this.commands.count;
  isFull = () => this.commands.isFull();

  drain(): Promise<void> {
    this.#draining = true;
    return new Promise((resolve) => {
      this.#onDrained = resolve;
      this.#pump();
    });
  }

  /** Starts all batches that may run now. */
  #pump(): void {
    this.#startAlone();
    while (this.#shared_running < MAX_SHARED_BATCHES) {
      const { shared, alone } = this.commands.take();
      this.#alone.push(...alone);
      // On Citus a batch over several workspaces would commit in two phases, and one would wait for another's worker.
      if (this.#engine.kind === 'citus') {
        this.#alone.push(...shared);
        break;
      }
      const [only] = shared;
      if (only === undefined) break;
      if (shared.length === 1 && this.#mayRunAlone(only)) this.#runAlone(only);
      else this.#runShared(shared);
    }
    this.#startAlone();
    if (this.#draining && this.commands.isEmpty()) this.#onDrained?.();
  }

  #maxAlone(): number {
    return this.#engine.kind === 'citus' ? MAX_CITUS_BATCHES : MAX_LONE_BATCHES;
  }

  #startAlone(): void {
    while (this.#alone.length > 0 && this.#alone_running < this.#maxAlone())
      this.#runAlone(this.#alone.shift() as Part);
  }

  /**
   * A workspace may wait for its lock at once only while no other batch is in flight. Otherwise it would get a
   * transaction of its own for what is mostly one command, and so would the next workspaces (measured with 64 clients
   * over 200 workspaces: sharing makes a third fewer transactions and takes a sixth less processor time a decision).
   */
  #mayRunAlone(part: Part): boolean {
    if (createsWorkspace(part)) return this.#alone_running < this.#maxAlone();
    return this.#shared_running + this.#alone_running === 0;
  }

  #runAlone(part: Part): void {
    this.#alone_running += 1;
    void settleBatch(this.#settling, [part], true).then(() => {
      this.#alone_running -= 1;
      this.commands.finish(part);
      this.#pump();
    });
  }

  #runShared(parts: readonly Part[]): void {
    this.#shared_running += 1;
    void settleBatch(this.#settling, parts, false).then((locked) => {
      this.#shared_running -= 1;
      this.#alone.push(...locked);
      for (const part of parts) if (!locked.includes(part)) this.commands.finish(part);
      this.#pump();
    });
  }

  /** Runs a batch as one transaction on a connection of its own. */
  async #runOnce(parts: readonly Part[], wait: boolean): Promise<(JobResult[] | null)[]> {
    const { pool, tracing } = this.#options;
    const client: Client = await pool.connect();
    // The first connection may find the engine only now; each part is then carried out alone, as if it were locked.
    if (parts.length > 1 && this.#engine.kind === 'citus') {
      client.release();
      return parts.map(() => null);
    }
    let broken: Error | undefined;
    // A connection that does not answer keeps its heads locked for everybody. Closing it makes the server roll the
    // transaction back.
    const deadline = setTimeout(() => {
      broken = new Error('timeout: the database did not respond to a batch');
      cut(client, broken);
    }, DEADLINE_MS);
    try {
      const run = () => this.#runOn(client, parts, wait);
      return await (tracing?.traceBatch(client, parts, run) ?? run());
    } catch (error) {
      broken ??= error instanceof Error ? error : new Error(String(error));
      for (const { workspace_id } of parts) this.#known.forget(workspace_id);
      throw error;
    } finally {
      clearTimeout(deadline);
      // After a failure the connection may be inside a transaction or have unread answers, so it is not reused.
      client.release(broken);
    }
  }

  #runOn(client: Client, parts: readonly Part[], wait: boolean): Promise<(JobResult[] | null)[]> {
    const { clock, random, now_ms, observeBatch, onWritten, onPublished } = this.#options;
    const commands = parts.reduce((count, { jobs }) => count + jobs.length, 0);
    return runBatch(client, parts, {
      known: this.#known,
      clock,
      engine: this.#engine,
      wait,
      random,
      now_ms,
      onCommitted(commit_ms, has_changes) {
        observeBatch(commands, commit_ms);
        if (has_changes) onWritten?.();
      },
      onPublished,
    });
  }
}
