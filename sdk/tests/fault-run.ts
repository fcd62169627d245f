import { type ChildProcess, fork, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Purser } from '../src/index.ts';
import { type ProxyFaults, startFaultProxy } from './fault-proxy.ts';
import { type RailFaults, startRail } from './fault-rail.ts';
import { AUTHORITY } from './service.ts';

/** The service that is asked. `restart` kills it, PostgreSQL with it, and starts it on the same data and port. */
export interface FaultService {
  url: string;
  admin_key: string;
  restart?: () => Promise<void>;
}

export interface Variant {
  mode: 'SHADOW' | 'ENFORCE';
  /** The client consumes; else the token goes to `pay`, which has it consumed. */
  adapter?: boolean;
  idempotent?: boolean;
  /** Nothing consumes the capability: the payment system knows nothing of it. */
  token_unused?: true;
  /** A mistake: every exception of the payment is reported as its failure. */
  every_failure_is_definite?: boolean;
  /** `withheld`: a service that does not say whose a replay is. `forged`: whoever asks is told that it is theirs. */
  replay_of?: 'withheld' | 'forged';
  /** The service itself is killed, again and again. */
  service_killed?: true;
  /** Faults of the payment system, if they differ from the usual ones. */
  rail_faults?: RailFaults;
  /** Nothing is lost and nobody is killed: this many callers of each name call at once. */
  race?: number;
}

/** The results of all runs of a variant. */
export interface Tally {
  runs: number;
  paid: number;
  paid_twice: number;
  /** FAILED or CANCELLED is on record, and the money moved. */
  failed_though_paid: number;
  /** EXECUTED is on record, and no money moved. */
  executed_though_unpaid: number;
  /** Nobody crashed, gave up, was declined or left uncertain, and still nothing was paid. */
  unpaid_without_cause: number;
  service_kills: number;
  /** Callers by how they ended; `killed`: their process was. */
  ended: Record<string, number>;
  took_s: number;
}

const PROXY_FAULTS: ProxyFaults = {
  lost_requests: 0.15,
  lost_answers: 0.15,
  cut: 0.04,
  delayed: 0.03,
  failed: 0.04,
  other: 0.04,
};
const RAIL_FAULTS: RailFaults = { lost_requests: 0.08, lost_answers: 0.08, declined: 0.05 };
const NO_PROXY_FAULTS = Object.fromEntries(Object.keys(PROXY_FAULTS).map((name) => [name, 0]));
const NO_RAIL_FAULTS: RailFaults = { lost_requests: 0, lost_answers: 0, declined: 0 };
const PROCESSES = 4;
const RUNS_AT_ONCE = 200;
/** In the runs of a variant that has the service killed. */
const KILLS_OF_SERVICE = 8;
/**
 * A process that is making calls is killed whenever so many have ended. It takes those with it that it was making, half as many as
 * there are runs at once: in long runs a tenth of all calls, so that most runs show what comes of the other faults.
 */
const callsAKill = (runs: number) => Math.min(2 * runs, 5 * RUNS_AT_ONCE);
/** Endings after which a spend may rightly be unpaid. */
const CAUSES = [
  'killed',
  'PurserUnavailable',
  'SpendUncertain',
  'SpendFailed',
  'SpendRefused',
  'RateLimitError',
];

let variants = 0;

/** One line of a caller: it is ready, or how a job ended. */
type CallerLine = { job?: number; ended?: string };

interface Caller {
  child: ChildProcess;
  /** Calls back with an error if the caller cannot be reached. */
  tell(job: object, done: (error: Error | null | undefined) => void): void;
  onLine(hear: (line: CallerLine) => void): void;
}

/** A process that spends with the TypeScript client, or with `SPEND_CALLER=python` with the Python client. */
function startCaller(settings: object): Caller {
  if (process.env.SPEND_CALLER !== 'python') {
    const file = fileURLToPath(new URL('fault-caller.mjs', import.meta.url));
    const child = fork(file, [JSON.stringify(settings)], { execArgv: [] });
    return {
      child,
      tell: (job, done) => child.send(job, done),
      onLine: (hear) => child.on('message', hear),
    };
  }
  const python = fileURLToPath(new URL('../../python/.venv/tests/bin/python', import.meta.url));
  if (!existsSync(python))
    throw new Error('SPEND_CALLER=python needs its environment: run npm run test:python');
  const file = fileURLToPath(new URL('../../python/tests/fault_caller.py', import.meta.url));
  const child = spawn(python, [file, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'] });
  // One that is killed breaks the pipe; its exit says so.
  child.stdin.on('error', () => {});
  return {
    child,
    tell: (job, done) => child.stdin.write(`${JSON.stringify(job)}\n`, done),
    onLine: (hear) => createInterface({ input: child.stdout }).on('line', (line) => hear(JSON.parse(line))),
  };
}

/** Processes that call `spend`; some are killed while they do. */
function makeCallers(settings: object, calls_a_kill: number) {
  const pending = new Map<number, { child: ChildProcess; settle: (ended: string) => void }>();
  const callers: Caller[] = [];
  let jobs = 0;
  let calls = 0;
  let stopping = false;

  function start(slot: number): Promise<void> {
    const caller = startCaller(settings);
    const { child } = caller;
    callers[slot] = caller;
    return new Promise((ready) => {
      caller.onLine(({ job, ended }) => {
        if (job === undefined) return ready();
        const waiting = pending.get(job);
        pending.delete(job);
        waiting?.settle(ended as string);
      });
      child.on('exit', () => {
        for (const [job, waiting] of pending) {
          if (waiting.child !== child) continue;
          pending.delete(job);
          waiting.settle('killed');
        }
        if (!stopping) void start(slot);
      });
    });
  }

  return {
    ready: () => Promise.all(Array.from({ length: PROCESSES }, (_, slot) => start(slot))),
    /** Has one of the processes make the call; resolves with how it ended. */
    call(request: object): Promise<string> {
      const { child, tell } = callers[Math.floor(Math.random() * PROCESSES)] as Caller;
      const job = ++jobs;
      return new Promise<string>((settle) => {
        pending.set(job, { child, settle });
        tell({ job, request }, (error) => {
          if (error != null && pending.delete(job)) settle('killed');
        });
      }).then((ended) => {
        // One that is making a call, or the kill would show nothing.
        const under_way = [...pending.values()];
        if (++calls % calls_a_kill < 1)
          under_way[Math.floor(Math.random() * under_way.length)]?.child.kill('SIGKILL');
        return ended;
      });
    },
    async stop() {
      stopping = true;
      const gone = callers.map(({ child }) => new Promise((resolve) => child.once('exit', resolve)));
      for (const { child } of callers) child.kill('SIGKILL');
      await Promise.all(gone);
    },
  };
}

/** Two callers of one name at once (or a `race`), in any of the processes, and one later; so often, and what came of it. */
export async function runFaults(s: FaultService, variant: Variant, runs: number): Promise<Tally> {
  const begun_ms = performance.now();
  const admin = new Purser({ apiKey: s.admin_key, baseURL: s.url, timeout: 60_000 });
  const agent = await admin.agents.create({
    slug: `faults-${++variants}`,
    mode: variant.mode,
    authority: AUTHORITY,
  });
  const is_race = variant.race !== undefined;
  const rail = await startRail(variant.rail_faults ?? (is_race ? NO_RAIL_FAULTS : RAIL_FAULTS));
  const faults: ProxyFaults = is_race ? { ...PROXY_FAULTS, ...NO_PROXY_FAULTS } : PROXY_FAULTS;
  const proxy = await startFaultProxy(s.url, faults, (headers, asked) => {
    if (variant.replay_of === 'withheld') delete headers['idempotent-replay-of'];
    if (variant.replay_of === 'forged' && 'idempotent-replay-of' in headers) {
      headers['idempotent-replay-of'] = asked['x-request-id'];
    }
  });
  const callers = makeCallers(
    {
      agent_key: (await admin.apiKeys.create({ name: 'asks', agent_id: agent.id })).key,
      adapter_key: (
        await admin.apiKeys.create({
          name: 'pays',
          scopes: ['consume'],
        })
      ).key,
      base_url: proxy.url,
      rail_url: rail.url,
      variant,
    },
    is_race ? Number.POSITIVE_INFINITY : callsAKill(runs),
  );
  await callers.ready();

  const ended = new Map<string, string[]>();
  let begun = 0;
  async function run(name: string): Promise<void> {
    // Each sum is another one: the same sum to the same payee again would be asked about.
    const amount_minor = 500 + begun;
    begun += 1;
    const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor, currency: 'EUR' };
    const request = { idempotencyKey: name, action, context: { name } };
    const at_once = Array.from({ length: variant.race ?? 2 }, () => callers.call(request));
    ended.set(name, [...(await Promise.all(at_once)), await callers.call(request)]);
  }
  let is_over = false;
  const killing = (async () => {
    const { restart } = s;
    if (variant.service_killed !== true || restart === undefined) return 0;
    let kills = 0;
    for (; !is_over; kills += 1) {
      // So many spends are made in between, however fast the machine is; the first kill comes early.
      const until = ended.size + Math.max(3, runs / KILLS_OF_SERVICE);
      while (!is_over && ended.size < until) await new Promise((resolve) => setTimeout(resolve, 20));
      if (!is_over) await restart();
    }
    return kills;
  })();
  let next = 0;
  const lanes = Array.from({ length: Math.min(RUNS_AT_ONCE, runs) }, async () => {
    while (next < runs) await run(`spend-${variants}-${++next}`);
  });
  await Promise.all(lanes);
  is_over = true;
  const service_kills = await killing;
  await callers.stop();
  // What was delayed on the way still arrives.
  if (!is_race) await new Promise((resolve) => setTimeout(resolve, 1_500));
  await proxy.close();
  await rail.close();

  const tally: Tally = {
    runs,
    paid: 0,
    paid_twice: 0,
    failed_though_paid: 0,
    executed_though_unpaid: 0,
    unpaid_without_cause: 0,
    service_kills,
    ended: {},
    took_s: 0,
  };
  const states = new Map<string, string>();
  for await (const { context, outcome_state } of admin.decisions.list({ agent: agent.slug, limit: 200 })) {
    states.set((context as { name: string }).name, outcome_state);
  }
  for (const [name, how] of ended) {
    const payments = rail.payments.get(name) ?? 0;
    const state = states.get(name) ?? 'NONE';
    if (payments > 0) tally.paid += 1;
    if (payments > 1) tally.paid_twice += 1;
    if (payments > 0 && (state === 'FAILED' || state === 'CANCELLED')) tally.failed_though_paid += 1;
    if (payments === 0 && state === 'EXECUTED') tally.executed_though_unpaid += 1;
    if (payments === 0 && !how.some((each) => CAUSES.includes(each))) tally.unpaid_without_cause += 1;
    for (const each of how) tally.ended[each] = (tally.ended[each] ?? 0) + 1;
  }
  tally.took_s = Math.round((performance.now() - begun_ms) / 1000);
  return tally;
}
