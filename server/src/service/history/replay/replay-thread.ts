import { Worker } from 'node:worker_threads';
import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import type { OwnMerchant } from '@purser/rules/purpose/own-merchants';
import type { ReplayJob, ReplayResults } from './replay-job.ts';

/** Data that the thread starts with. */
export interface ThreadData {
  merchants: readonly OwnMerchant[];
}

/** A message to the thread: a job, then its lines in parts, then the end of them. A job that is dropped stops at its next turn. */
export type ToThread = { id: number } & (
  | { job: ReplayJob }
  | { lines: readonly ReplayedLine[] }
  | { ends: 'whole' | 'dropped' }
);

/** The thread's answer to a job. */
export type FromThread = { id: number } & ({ result: unknown } | { error: unknown });

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Running {
  worker: Worker;
  jobs: Map<number, Waiting>;
  idle: NodeJS.Timeout | null;
}

/** The heap of the thread, MiB: four jobs of 200,000 lines and the caches of the assessor. */
const MAX_HEAP_MIB = 1_024;
/** An idle thread is ended after this long. */
const IDLE_MS = 60_000;
/** Node loads no TypeScript in a thread, so that tests, which run from the sources, start what was built of it. */
const FILE = import.meta.url.endsWith('.ts')
  ? '../../../../dist/service/history/replay/replay-worker.js'
  : './replay-worker.js';

/**
 * One thread that does the work about lines, so that the event loop is free for decisions. Its jobs take turns. It is started
 * when there is a job, and ends when there was none for a minute. Where it ends before that, its jobs fail and the next job
 * starts another.
 */
export class ReplayThread {
  readonly #data: ThreadData;
  readonly #max_heap_mib: number;
  #running: Running | null = null;
  #last_id = 0;

  constructor(data: ThreadData, max_heap_mib = MAX_HEAP_MIB) {
    this.#data = data;
    this.#max_heap_mib = max_heap_mib;
  }

  /**
   * Does a job. `pages`: its lines in any order. Rejects with the error of the pages or of the job, and with the reason of the
   * signal, which stops it: nobody waits for its result.
   */
  async run<Kind extends ReplayJob['kind']>(
    job: Extract<ReplayJob, { kind: Kind }>,
    pages: AsyncIterable<readonly ReplayedLine[]>,
    signal?: AbortSignal,
  ): Promise<ReplayResults[Kind]> {
    signal?.throwIfAborted();
    const running = this.#started();
    const { worker, jobs } = running;
    this.#last_id += 1;
    const id = this.#last_id;
    const post = (message: ToThread) => worker.postMessage(message);
    const answer = new Promise<unknown>((resolve, reject) => jobs.set(id, { resolve, reject }));
    // Noted at once: the thread may end while lines are read.
    answer.catch(() => {});
    const stop = () => jobs.get(id)?.reject(signal?.reason);
    signal?.addEventListener('abort', stop);
    try {
      post({ id, job });
      for await (const lines of pages) {
        signal?.throwIfAborted();
        if (!jobs.has(id)) break;
        post({ id, lines });
      }
      post({ id, ends: 'whole' });
      return (await answer) as ReplayResults[Kind];
    } catch (error) {
      post({ id, ends: 'dropped' });
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      jobs.delete(id);
      if (jobs.size === 0) this.#endLater(running);
    }
  }

  #started(): Running {
    if (this.#running !== null) {
      if (this.#running.idle !== null) clearTimeout(this.#running.idle);
      this.#running.idle = null;
      return this.#running;
    }
    const worker = new Worker(new URL(FILE, import.meta.url), {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: this.#max_heap_mib },
    });
    // A request that waits for it keeps the process alive by its connection.
    worker.unref();
    const running: Running = { worker, jobs: new Map(), idle: null };
    let reason: unknown = null;
    worker.on('message', (message: FromThread) => {
      const waiting = running.jobs.get(message.id);
      if ('error' in message) waiting?.reject(message.error);
      else waiting?.resolve(message.result);
    });
    worker.on('error', (error) => {
      reason = error;
    });
    worker.on('exit', (code) => {
      if (this.#running === running) this.#running = null;
      const error = new Error(`The thread of replays ended with ${code}.`, { cause: reason });
      for (const { reject } of running.jobs.values()) reject(error);
      running.jobs.clear();
    });
    this.#running = running;
    return running;
  }

  #endLater(running: Running): void {
    running.idle = setTimeout(() => {
      // A job that comes while it ends starts another.
      if (this.#running === running) this.#running = null;
      void running.worker.terminate();
    }, IDLE_MS);
    running.idle.unref();
  }
}
