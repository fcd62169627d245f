import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { makeWorkspaces } from '../bench/workspaces.ts';
import { Honest, honestWork } from '../demo/honest.ts';
import { watchMachine } from './quiet-machine.ts';
import { between } from './random.ts';
import { type Finding, makeStage, type ScenarioContext, type Stage } from './stage.ts';

/** An honest tenant's slowest request of twenty may take so many times as long as when it is quiet. */
const MAX_RATIO = 2;
/**
 * A ratio of a few milliseconds says nothing: the flood, the service and the database share the machine's cores, and the
 * flood's clients take theirs first.
 */
const NOT_TELLING_BELOW_MS = 150;
const DECISIONS_WITH_MUCH_TEXT = 60;
/** How often quiet and flood take turns. */
const TURNS = 5;
/** Much less than a refusal asks for, and enough that the flood's clients are not the slow part. */
const PAUSE_AFTER_REFUSAL_MS = 50;

/** No two requests of floods have the same idempotency key. */
let next_number = 0;

interface Flood {
  clients: number;
  method: 'GET' | 'POST';
  path: string;
  body?: (n: number) => unknown;
}

/** Asks and drops what comes: reading it would make the flood's clients the slow part. Gives the status. */
function ask(stage: Stage, agent: Agent, key: string, flood: Flood, n: number): Promise<number> {
  const text = flood.body === undefined ? undefined : JSON.stringify(flood.body(n));
  const headers = {
    'x-api-key': key,
    'idempotency-key': `flood-${flood.path}-${n}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(flood.path, stage.base_url),
      { method: flood.method, agent, headers },
      (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.end(text);
  });
}

/** A text that no table knows a word of: the dearest to read. */
function randomWords(random: () => number, length: number): string {
  let text = '';
  while (text.length < length - 4) {
    for (let i = 0; i < 3; i++) text += String.fromCharCode(between(random, 97, 122));
    text += ' ';
  }
  return text.trimEnd();
}

function muchText(random: () => number) {
  return {
    agent: 'workshop-1',
    action: {
      type: 'purchase',
      merchant: 'Hetzner',
      amount_minor: 100,
      currency: 'EUR',
      description: randomWords(random, 1_900),
    },
    task: randomWords(random, 3_900),
    trace: Array.from({ length: 25 }, () => ({ step: randomWords(random, 1_950) })),
  };
}

const get = (path: string, clients: number) => (): Flood => ({ clients, method: 'GET', path });

/** What the flooding tenant asks for: each of the things that all tenants share. */
const FLOOD_MAKERS: Readonly<Record<string, (random: () => number) => Flood>> = {
  lists: get('/v1/decisions?limit=200', 32),
  reads: get('/v1/audit?limit=200', 32),
  reports: get('/v1/reports/shadow', 16),
  verifications: get('/v1/ledger/verify', 16),
  exports: get('/v1/ledger/export', 16),
  simulations: () => ({
    clients: 16,
    method: 'POST',
    path: '/v1/agents/workshop-1/authority/simulate?limit=2000',
    body: (n) => ({ purpose: { objective: `Keep the office in coffee ${n}` }, currency: 'EUR' }),
  }),
  texts: (random) => {
    const body = muchText(random);
    return { clients: 16, method: 'POST', path: '/v1/decisions', body: () => body };
  },
  metrics: get('/metrics', 32),
};

/** The names of the floods, in the order in which they run. */
export const FLOODS = Object.keys(FLOOD_MAKERS);

/** Asks with all its clients for as long as `work` takes, and counts the answers by status. */
async function flooded(
  stage: Stage,
  { key, flood, answers }: { key: string; flood: Flood; answers: Map<number, number> },
  work: () => Promise<void>,
) {
  let is_over = false;
  const agent = new Agent({ keepAlive: true, maxSockets: flood.clients });
  const asking = Array.from({ length: flood.clients }, async () => {
    while (!is_over) {
      const status = await ask(stage, agent, key, flood, next_number++);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 503) await wait(PAUSE_AFTER_REFUSAL_MS);
    }
  });
  try {
    await work();
  } finally {
    is_over = true;
    await Promise.allSettled(asking);
    agent.destroy();
  }
}

/** One tenant floods each thing that is shared in turn; another one beside it is served nearly as when it is quiet. */
export async function noisyNeighbour(context: ScenarioContext): Promise<Finding> {
  const { random, share, say, floods } = context;
  const measured_ms = Math.max(3_000, Math.round(20_000 * share));
  const stage = await makeStage(context, { LOG_LEVEL: 'warn' });
  try {
    const [noisy] = await makeWorkspaces(stage, { count: 1, agents: 1 });
    if (noisy === undefined) throw new Error('There is no second workspace.');
    for (let n = 0; n < DECISIONS_WITH_MUCH_TEXT; n++) {
      await noisy.client.send('POST', '/v1/decisions', muchText(random), { 'idempotency-key': `much-${n}` });
    }
    const machine = await watchMachine(context.wait);
    const figures: Finding['figures'] = {};
    const problems: string[] = [];
    const slow: string[] = [];
    for (const name of floods) {
      const flood = FLOOD_MAKERS[name]?.(random);
      if (flood === undefined) throw new Error(`There is no flood of ${name}.`);
      // The clients share one process: how late that is itself is part of what they measure.
      const lateness = monitorEventLoopDelay({ resolution: 10 });
      const answers = new Map<number, number>();
      const quiet = new Honest();
      const during = new Honest();
      // In turn, so that what else the machine does meanwhile falls on both.
      for (let turn = 0; turn < TURNS; turn++) {
        const { base_url, client, agents } = stage;
        const by = { base_url, client, agent_key: agents[0]?.agent_key ?? '' };
        const work = (round: string, measured: Honest) =>
          honestWork(by, performance.now() + measured_ms / TURNS, `${round}-${turn}`, measured);
        await work(`${name}-quiet`, quiet);
        lateness.enable();
        await flooded(stage, { key: noisy.admin_key, flood, answers }, () => work(name, during));
        lateness.disable();
        context.signal.throwIfAborted();
      }
      const late_ms = Math.max(0, lateness.percentile(95) / 1e6 - 10);
      const ratio = during.p95 / quiet.p95;
      const told = [...answers].map(([status, count]) => `${count} x ${status}`).join(', ');
      figures[`${name}_p95_quiet_ms`] = quiet.p95.toFixed(1);
      figures[`${name}_p95_ms`] = during.p95.toFixed(1);
      figures[`${name}_ratio`] = ratio.toFixed(2);
      say(
        `${name}: p95 ${quiet.p95.toFixed(1)} ms, beside the flood ${during.p95.toFixed(1)} ms (clients late by ${late_ms.toFixed(1)} ms; ${told})`,
      );
      const is_slow = during.p95 > MAX_RATIO * quiet.p95 + late_ms && during.p95 > NOT_TELLING_BELOW_MS;
      if (is_slow) {
        slow.push(`Beside a flood of ${name} the p95 was ${ratio.toFixed(1)} times that of quiet.`);
      }
      for (const [status, count] of during.failures) {
        problems.push(`Beside a flood of ${name} ${count} honest requests were answered ${status}.`);
      }
    }
    noisy.client.close();
    const { is_judged, durations } = await machine();
    return { figures: { durations, ...figures }, problems: is_judged ? [...problems, ...slow] : problems };
  } finally {
    await stage.close();
  }
}
