import cluster, { type Worker } from 'node:cluster';
import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { Counter, Registry } from 'prom-client';
import type { ConnectionHandle } from '../http/balance.ts';
import { RESTARTS } from '../observability/metrics.ts';
import { type FromPrimary, isOurs, type Listening, type ToPrimary } from './messages.ts';
import { makeRouter, type RoutedTo } from './router.ts';
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

/**
 * Starts the processes of the service, which share its ports, and starts anew, after a pause that grows, each that ends
 * unasked. The first one starts before the others, since it prepares what is made once. A process that fails before all
 * of them listen fails the start; one that is killed then is started again, if the first one has listened.
 */
export async function startProcesses(options: ProcessesOptions): Promise<Processes> {
  const { count, log, ports, signal, now_ms } = options;
  const env: Record<string, string> = {};
  if (ports.port === 0) env.PORT = String(await freePortAt(ports.host));
  if (ports.metrics_port === 0) env.METRICS_PORT = String(await freePortAt(ports.metrics_host));
  const running = new Map<number, Worker>();
  // Each takes connections from the port itself. What the primary hands out by turns hangs for as long as the client
  // waits when the process that it was handed to dies before it takes it.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { RateLimiterClusterMaster } = await import('rate-limiter-flexible');
  new RateLimiterClusterMaster();
  // Whatever ends the primary, no process of it stays behind.
  process.once('exit', () => {
    for (const worker of running.values()) worker.process.kill('SIGKILL');
  });

  const restarts = new Set<NodeJS.Timeout>();
  let is_starting = true;
  let has_first = false;
  let is_stopping = false;
  let fail = (_message: string) => {};
  let allEnded = () => {};
  const tell = (to: number, message: FromPrimary) => void running.get(to)?.send(message);
  const router = makeRouter();
  const own = new Registry();
  const restarted = new Counter({ ...RESTARTS, registers: [own] });
  const metrics = makeCombinedMetrics(
    (of, id) => tell(of, { purser: 'count', id }),
    () => own.getMetricsAsJSON(),
  );

  /** Starts the process of a place, and again when it ends; `pause_ms` is the pause before that. */
  function start(place: number, is_first: boolean, pause_ms: number, onListening: (of: Listening) => void) {
    const began_ms = now_ms();
    cluster.setupPrimary({ exec: options.exec, args: options.argsOf(place, is_first) });
    const worker = cluster.fork(env);
    const { id } = worker;
    running.set(id, worker);
    let problem = '';
    // What is sent to a process that has just ended fails, and its end is seen to below.
    worker.on('error', () => {});
    worker.on('message', (message: unknown, handle: unknown) => {
      if (!isOurs<ToPrimary>(message)) return;
      if (message.purser === 'made') options.onFirst(message.admin_key);
      else if (message.purser === 'listening') {
        router.add(id, worker as unknown as RoutedTo);
        onListening(message.listening);
      } else if (message.purser === 'open') router.counted(id, message.open);
      else if (message.purser === 'route') router.route(handle as ConnectionHandle);
      else if (message.purser === 'ready') router.ready(id, message.connection);
      else if (message.purser === 'taken') router.taken(id, message.connection);
      else if (message.purser === 'failed') problem = message.message;
      else if (message.purser === 'counted') metrics.counted(id, message.id, message.metrics);
      else if (message.purser === 'scrape') {
        const answer = { purser: 'scraped', id: message.id } as const;
        void metrics.text([...running.keys()]).then((text) => tell(id, { ...answer, text }));
      }
    });
    worker.on('exit', (code, by_signal) => {
      running.delete(id);
      router.remove(id);
      void metrics.ended(id);
      if (running.size === 0) allEnded();
      if (is_stopping) return;
      if (is_starting && !(has_first && by_signal !== null)) return fail(problem);
      const next_ms = now_ms() - began_ms > RESTART_RESET_MS ? RESTART_FIRST_MS : pause_ms;
      const how = { process: place, code, signal: by_signal, ...(problem === '' ? {} : { problem }) };
      log.error(how, `a process of the service ended; it restarts in ${next_ms} ms`);
      const timer = setTimeout(() => {
        restarts.delete(timer);
        restarted.inc();
        start(place, false, Math.min(2 * next_ms, RESTART_MAX_MS), onListening);
      }, next_ms);
      restarts.add(timer);
    });
  }
  /** Resolves when the process of a place listens, the first of it or one that was started again. */
  const listening = (place: number) =>
    new Promise<Listening>((resolve) => start(place, place === 1, RESTART_FIRST_MS, resolve));

  async function stop(): Promise<void> {
    is_stopping = true;
    for (const timer of restarts) clearTimeout(timer);
    if (running.size === 0) return;
    const ended = new Promise<void>((resolve) => {
      allEnded = resolve;
    });
    for (const worker of running.values()) worker.process.kill('SIGTERM');
    await ended;
  }

  const failed = new Promise<never>((_resolve, reject) => {
    fail = (message) =>
      reject(options.failure(message === '' ? 'A process of the service ended during its start.' : message));
    signal.addEventListener('abort', () => fail('The start was interrupted.'));
  });
  failed.catch(() => {});
  try {
    const first = await Promise.race([listening(1), failed]);
    has_first = true;
    const others = Array.from({ length: count - 1 }, (_, i) => listening(i + 2));
    await Promise.race([Promise.all(others), failed]);
    is_starting = false;
    return { ...first, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
