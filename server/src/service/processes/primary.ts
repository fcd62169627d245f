import cluster, { type Worker } from 'node:cluster';
import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { Counter, Registry } from 'prom-client';
import type { ConnectionHandle } from '../http/balance.ts';
import { RESTARTS } from '../observability/metrics.ts';
import { type FromPrimary, isOurs, type Listening, type ToPrimary } from './messages.ts';
import { type RoutedTo, Router } from './router.ts';
import { makeCombinedMetrics } from './summed-metrics.ts';

const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 5_000;
/** A process that ran this long was well; the next restart of its place is prompt again. */
const RESTART_RESET_MS = 60_000;

export interface ProcessesOptions {
  /** How many serve. */
  count: number;
  /** The program, and its arguments for the process of a place; the first one prepares what is made once. */
  exec: string;
  argsOf: (place: number, is_first: boolean) => string[];
  /** Ports of 0 are replaced by free ones, which then stay the same however often a process is started. */
  ports: { host: string; port: number; metrics_host: string; metrics_port: number | null };
  log: Logger;
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** Called with the first workspace's key as soon as it was made: the start may still fail. */
  onFirst: (admin_key: string) => void;
  /** Makes the error with which the start fails from what the failing process says. */
  failure: (message: string) => Error;
  /** A start that is aborted fails, and whatever it has started has ended then. */
  signal: AbortSignal;
}

/** The processes of the service, from outside. */
export interface Processes extends Listening {
  /** Lets all of them finish what they have accepted. Resolves when all have ended. */
  stop(): Promise<void>;
}

/** Returns a port that nobody listens on; throws what listening there throws. */
async function freePortAt(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The ports that are free ones, as settings of the processes. */
async function environmentOf({ ports }: ProcessesOptions): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  if (ports.port === 0) env.PORT = String(await freePortAt(ports.host));
  if (ports.metrics_port === 0) env.METRICS_PORT = String(await freePortAt(ports.metrics_host));
  return env;
}

/**
 * Starts the processes of the service, which share its ports, and restarts each that ends unasked, after a pause that grows.
 * The first one starts before the others, since it prepares what is made once. A process that fails before all of them listen
 * fails the start; one that is killed then is restarted, if the first one has listened.
 */
export async function startProcesses(options: ProcessesOptions): Promise<Processes> {
  const primary = new Primary(options, await environmentOf(options));
  // Each takes connections from the port itself. What the primary hands out by turns hangs for as long as the client
  // waits when the process that it was handed to dies before it takes it.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { RateLimiterClusterMaster } = await import('rate-limiter-flexible');
  new RateLimiterClusterMaster();
  // Whatever ends the primary, no process of it stays behind.
  process.once('exit', () => primary.kill());
  try {
    return { ...(await primary.start()), stop: () => primary.stop() };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

/** A place that one process after the other may have. */
interface Place {
  number: number;
  is_first: boolean;
  /** The pause before its next restart. */
  pause_ms: number;
  /** Called whenever a process of it listens. */
  onListening: (of: Listening) => void;
}

/** A process that has a place. */
interface Running {
  worker: Worker;
  place: Place;
  began_ms: number;
  /** The failure that it reported; empty if there is none. */
  problem: string;
}

class Primary {
  readonly #options: ProcessesOptions;
  readonly #env: Record<string, string>;
  readonly #running = new Map<number, Running>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #router = new Router();
  readonly #restarted: Counter;
  readonly #metrics: ReturnType<typeof makeCombinedMetrics>;
  /** Rejects when the start has failed. */
  readonly #failed: Promise<never>;
  #fail: (message: string) => void = () => {};
  #allEnded = () => {};
  #is_starting = true;
  #has_first = false;
  #is_stopping = false;

  constructor(options: ProcessesOptions, env: Record<string, string>) {
    this.#options = options;
    this.#env = env;
    const own = new Registry();
    this.#restarted = new Counter({ ...RESTARTS, registers: [own] });
    this.#metrics = makeCombinedMetrics(
      (of, id) => this.#tell(of, { purser: 'count', id }),
      () => own.getMetricsAsJSON(),
    );
    this.#failed = new Promise<never>((_resolve, reject) => {
      this.#fail = (message) =>
        reject(
          options.failure(message === '' ? 'A process of the service ended during its start.' : message),
        );
    });
    this.#failed.catch(() => {});
    options.signal.addEventListener('abort', () => this.#fail('The start was interrupted.'));
  }

  /** Resolves when all processes listen. */
  async start(): Promise<Listening> {
    const first = await Promise.race([this.#listening(1), this.#failed]);
    this.#has_first = true;
    const others = Array.from({ length: this.#options.count - 1 }, (_, i) => this.#listening(i + 2));
    await Promise.race([Promise.all(others), this.#failed]);
    this.#is_starting = false;
    return first;
  }

  async stop(): Promise<void> {
    this.#is_stopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    if (this.#running.size === 0) return;
    const ended = new Promise<void>((resolve) => {
      this.#allEnded = resolve;
    });
    for (const { worker } of this.#running.values()) worker.process.kill('SIGTERM');
    await ended;
  }

  kill(): void {
    for (const { worker } of this.#running.values()) worker.process.kill('SIGKILL');
  }

  /** Resolves when the process of a place listens, the first of it or one that was started again. */
  #listening(number: number): Promise<Listening> {
    return new Promise((onListening) =>
      this.#fork({ number, is_first: number === 1, pause_ms: RESTART_FIRST_MS, onListening }),
    );
  }

  #fork(place: Place): void {
    const { exec, argsOf, now_ms } = this.#options;
    cluster.setupPrimary({ exec, args: argsOf(place.number, place.is_first) });
    const began_ms = now_ms();
    const worker = cluster.fork(this.#env);
    const running: Running = { worker, place, began_ms, problem: '' };
    this.#running.set(worker.id, running);
    // What is sent to a process that has just ended fails, and its end is seen to below.
    worker.on('error', () => {});
    worker.on('message', (message: unknown, handle: unknown) => {
      if (isOurs<ToPrimary>(message)) this.#onMessage(running, message, handle);
    });
    worker.on('exit', (code, signal) => this.#onExit(running, code, signal));
  }

  #onMessage(from: Running, message: ToPrimary, handle: unknown): void {
    const { id } = from.worker;
    const router = this.#router;
    if (message.purser === 'made') this.#options.onFirst(message.admin_key);
    else if (message.purser === 'listening') {
      router.add(id, from.worker as unknown as RoutedTo);
      from.place.onListening(message.listening);
    } else if (message.purser === 'open') router.counted(id, message.open);
    else if (message.purser === 'route') router.route(handle as ConnectionHandle);
    else if (message.purser === 'ready') router.ready(id, message.connection);
    else if (message.purser === 'taken') router.taken(id, message.connection);
    else if (message.purser === 'failed') from.problem = message.message;
    else if (message.purser === 'counted') this.#metrics.counted(id, message.id, message.metrics);
    else if (message.purser === 'scrape') {
      const answer = { purser: 'scraped', id: message.id } as const;
      void this.#metrics.text([...this.#running.keys()]).then((text) => this.#tell(id, { ...answer, text }));
    }
  }

  #onExit({ worker: { id }, place, began_ms, problem }: Running, code: number, signal: string | null): void {
    this.#running.delete(id);
    this.#router.remove(id);
    void this.#metrics.ended(id);
    if (this.#running.size === 0) this.#allEnded();
    if (this.#is_stopping) return;
    if (this.#is_starting && !(this.#has_first && signal !== null)) {
      this.#fail(problem);
      return;
    }
    const { now_ms, log } = this.#options;
    const pause_ms = now_ms() - began_ms > RESTART_RESET_MS ? RESTART_FIRST_MS : place.pause_ms;
    const how = { process: place.number, code, signal, ...(problem === '' ? {} : { problem }) };
    log.error(how, `a process of the service ended; it restarts in ${pause_ms} ms`);
    this.#restartIn(pause_ms, place);
  }

  #restartIn(pause_ms: number, place: Place): void {
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#restarted.inc();
      this.#fork({ ...place, is_first: false, pause_ms: Math.min(2 * pause_ms, RESTART_MAX_MS) });
    }, pause_ms);
    this.#restarts.add(timer);
  }

  #tell(to: number, message: FromPrimary): void {
    this.#running.get(to)?.worker.send(message);
  }
}
