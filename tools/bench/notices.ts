import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { makeSpendBody } from './spend-bodies.ts';
import { betweenOf, medianOf, ratiosOf } from './statistics.ts';
import { type BenchWorkspace, makeWorkspaces } from './workspaces.ts';

const CHANNELS = 5;
const CLIENTS = 64;
const MIN_ROUNDS = 11;
const GOAL_RATIO = 0.95;

/** Workspaces, their agents, and the requests of each: a sixth request in a minute would be a summary. */
const ASKING = 4;
const AGENTS = 50;
const EACH = 5;
const DEAD = 4;
const ASKING_CLIENTS = 8;
const GOAL_DELAY_MS = 1_000;
const LATEST_MS = 120_000;

interface Receiver {
  url: string;
  count(): number;
  /** When the first notice about each decision arrived, by `performance.now()`. */
  arrived: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** A receiver in this process that answers 200 at once, or never. */
async function startReceiver({ is_dead = false } = {}): Promise<Receiver> {
  let count = 0;
  const arrived = new Map<string, number>();
  const server = createServer((request, response) => {
    count += 1;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at_ms = performance.now();
      const { decision_id } = JSON.parse(Buffer.concat(chunks).toString()).data as { decision_id?: string };
      if (decision_id !== undefined && !arrived.has(decision_id)) arrived.set(decision_id, at_ms);
      if (!is_dead) response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}/`, count: () => count, arrived, close };
}

/** Puts a review policy whose tier, limit and reminder bear on every request that waits. */
async function putPolicy({ purser }: BenchWorkspace): Promise<void> {
  const reviewer = 'user:bench';
  await purser.apiKeys.create({ name: 'Reviewer', scopes: ['review', 'read'], principal_id: reviewer });
  await purser.reviewPolicy.put({
    policy: {
      groups: { bench: [reviewer] },
      tiers: [
        {
          currency: 'EUR',
          from_minor: 0,
          approvals: 1,
          approvers: ['bench'],
          escalation: { after_seconds: 3_600, approvers: [reviewer] },
        },
      ],
      approver_limits: [{ approver: reviewer, currency: 'EUR', max_minor: 1_000_000 }],
      remind_before_seconds: 3_600,
    },
  });
}

/**
 * Measures the cost of five channels and a review policy per decision. One in fifty requests waits for a review. Loads with
 * and without them alternate. Each load with them is compared with the mean of the two loads around it, and the goal is about
 * the median of these ratios, so that a machine that becomes slower, or is disturbed for a while, slows both.
 */
async function measureCost(bench: Bench): Promise<GroupResult> {
  const { plan } = bench;
  const [workspace, ruled] = await makeWorkspaces(bench.purser, { count: 2, agents: 50, mode: 'ENFORCE' });
  if (workspace === undefined || ruled === undefined) throw new Error('No workspace was made.');
  const receiver = await startReceiver();
  await putPolicy(ruled);
  for (let i = 0; i < CHANNELS; i++)
    await ruled.purser.channels.create({ name: `Channel ${i}`, type: 'webhook', url: receiver.url });
  const load = async ({ targets }: BenchWorkspace) => {
    const loaded = await bench.load(CLIENTS, bench.decisionsOf(targets), {
      warm_up_ms: plan.warm_up_ms,
      measured_ms: plan.seconds * 1000,
    });
    return loaded.per_second;
  };
  try {
    const beside: number[] = [];
    await load(workspace);
    await load(ruled);
    const without = [await load(workspace)];
    for (let round = 0; round < Math.max(MIN_ROUNDS, plan.rounds); round++) {
      beside.push(await load(ruled));
      without.push(await load(workspace));
    }
    const problems = receiver.count() === 0 ? ['No channel received a notice.'] : [];
    return {
      tables: [
        {
          title: `Decisions, ${CLIENTS} clients, 50 agents in ENFORCE, one in fifty waits for a review`,
          columns: ['channels and review policy', 'per second, median'],
          rows: [
            ['none', shownNumber(medianOf(without))],
            [`${CHANNELS}, and a policy`, shownNumber(medianOf(beside))],
          ],
        },
      ],
      goals: [
        {
          name: `Decisions with ${CHANNELS} channels and a review policy, compared with none`,
          unit: '',
          is_least: true,
          goal: GOAL_RATIO,
          measured: medianOf(ratiosOf(beside, betweenOf(without))),
        },
      ],
      notes: [`The channels received ${receiver.count()} notices during the measurement.`],
      problems,
    };
  } finally {
    await receiver.close();
  }
}

/** The delays of the notices about as many requests, ms, from the answer to the arrival. */
async function delaysOf(
  bench: Bench,
  workspaces: readonly BenchWorkspace[],
  receiver: Receiver,
): Promise<number[]> {
  const targets = workspaces.flatMap((workspace) => workspace.targets);
  const answered = new Map<string, number>();
  const makeBody = (n: number) => {
    const body = JSON.parse(makeSpendBody(n));
    return JSON.stringify({ ...body, action: { ...body.action, amount_minor: 260_000 } });
  };
  const onCreated = (body: Buffer) => {
    const { decision_id } = JSON.parse(body.toString()) as { decision_id: string };
    answered.set(decision_id, performance.now());
  };
  const requests = bench.decisionsOf(targets, { makeBody, onCreated });
  const max_requests = targets.length * EACH;
  await bench.load(ASKING_CLIENTS, requests, { warm_up_ms: 0, measured_ms: LATEST_MS, max_requests });
  const deadline_ms = performance.now() + LATEST_MS;
  while (receiver.arrived.size < answered.size && performance.now() < deadline_ms) await pause(50);
  return [...answered].map(([id, at_ms]) =>
    Math.max(0, (receiver.arrived.get(id) ?? Number.POSITIVE_INFINITY) - at_ms),
  );
}

/** Measures how long a notice takes alone, and beside channels that never answer. */
async function measureDelays(bench: Bench): Promise<GroupResult> {
  const options = { count: 2 * ASKING, agents: AGENTS, mode: 'ENFORCE' } as const;
  const workspaces = await makeWorkspaces(bench.purser, options);
  const dead = await Promise.all(Array.from({ length: DEAD }, () => startReceiver({ is_dead: true })));
  const rows: string[][] = [];
  const slowest: number[] = [];
  const problems: string[] = [];
  try {
    for (const beside of [[], dead]) {
      const receiver = await startReceiver();
      const asking = workspaces.splice(0, ASKING);
      for (const { purser } of asking)
        for (const [n, { url }] of [...beside, receiver].entries())
          await purser.channels.create({ name: `Channel ${n}`, type: 'webhook', url });
      const delays = (await delaysOf(bench, asking, receiver)).sort((a, b) => a - b);
      const worst = delays.at(-1) ?? Number.POSITIVE_INFINITY;
      if (!Number.isFinite(worst)) problems.push('A notice did not arrive.');
      if (beside.some((each) => each.count() === 0)) problems.push('A dead channel was not tried.');
      const at = (share: number) => shownNumber(delays[Math.floor(delays.length * share)] ?? worst);
      const dead_count = beside.length === 0 ? 'none' : String(beside.length);
      rows.push([dead_count, String(delays.length), at(0.5), at(0.99), shownNumber(worst)]);
      slowest.push(worst);
      await receiver.close();
    }
  } finally {
    for (const each of dead) await each.close();
  }
  const [alone = 0, beside = Number.POSITIVE_INFINITY] = slowest;
  return {
    tables: [
      {
        title: `A notice from the answer to its arrival, ms, ${ASKING_CLIENTS} clients`,
        columns: ['channels that never answer', 'requests', 'p50', 'p99', 'slowest'],
        rows,
      },
    ],
    goals: [
      {
        name: `The slowest notice beside ${DEAD} dead channels, later than without`,
        unit: 'ms',
        is_least: false,
        goal: GOAL_DELAY_MS,
        measured: Math.max(0, beside - alone),
      },
    ],
    notes: [],
    problems,
  };
}

/** Measures what channels and a review policy cost, and whether dead channels delay others. */
export async function measureNotices(bench: Bench): Promise<GroupResult> {
  const parts = [await measureCost(bench), await measureDelays(bench)];
  return {
    tables: parts.flatMap(({ tables }) => tables),
    goals: parts.flatMap(({ goals }) => goals),
    notes: parts.flatMap(({ notes }) => notes),
    problems: parts.flatMap(({ problems }) => problems),
  };
}
