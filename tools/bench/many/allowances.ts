import { randomUUID } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { shownNumber } from '../render.ts';
import type { GroupResult } from '../result.ts';
import { BENCH_AUTHORITY } from '../spend-bodies.ts';
import { medianOf } from '../statistics.ts';
import { type BenchWorkspace, makeWorkspaces } from '../workspaces.ts';

/** Children of one parent; the other parent has few. */
const MANY = 10_000;
const FEW = 10;
const BATCH = 100;
/** Decisions under each, in turns. */
const TIMES = 201;
const GOALS = { last_children: 1.3, decision: 1.1 };
const DAY_MS = 86_400_000;

interface Made {
  client: BenchWorkspace['client'];
  child_id: string;
  agent_id: string;
  /** The time of each batch of children, in the order of their making. */
  took_ms: number[];
}

/** Makes a parent with `count` children, batch by batch. */
async function makeChildren({ client, agent_ids }: BenchWorkspace, count: number): Promise<Made> {
  const agent_id = agent_ids[0] as string;
  const amount_minor = 1_000_000_000;
  const expires_at = new Date(Date.now() + 30 * DAY_MS).toISOString();
  const send = async (path: string, sent: object) => {
    const { status, body, took_ms } = await client.send('POST', path, sent);
    if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${JSON.stringify(body)}`);
    return { body, took_ms };
  };
  const parent = await send('/v1/allowances', { agent: agent_id, currency: 'EUR', amount_minor, expires_at });
  const { id: parent_id } = parent.body as { id: string };
  const took_ms: number[] = [];
  let child_id = '';
  for (let made = 0; made < count; made += BATCH) {
    const some = Math.min(BATCH, count - made);
    const allowances = Array.from({ length: some }, () => ({ parent: parent_id, amount_minor }));
    const batch = await send('/v1/allowances/batch', { allowances });
    took_ms.push(batch.took_ms);
    child_id = (batch.body as { data: { id: string }[] }).data.at(-1)?.id ?? '';
  }
  return { client, child_id, agent_id, took_ms };
}

/** Decides one spend under the newest child; returns its time in ms. */
async function decideUnder({ client, child_id, agent_id }: Made): Promise<number> {
  const action = { type: 'purchase', merchant: 'Hub Works', amount_minor: 100, currency: 'EUR' };
  const sent = { agent: agent_id, allowance: child_id, action };
  const key = { 'idempotency-key': randomUUID() };
  const { status, body, took_ms } = await client.send('POST', '/v1/decisions', sent, key);
  const { decision } = body as { decision?: string };
  if (status !== 201 || decision !== 'ALLOW')
    throw new Error(`a decision was answered ${status} ${decision}`);
  return took_ms;
}

/** Measures how children are made, and spends decided under one of them, beside few and beside many others. */
export async function measureAllowances(bench: Bench): Promise<GroupResult> {
  const many = bench.plan.kind === 'quick' ? MANY / 10 : MANY;
  const [few_in, many_in] = await makeWorkspaces(bench.purser, {
    count: 2,
    agents: 1,
    mode: 'ENFORCE',
    authorityOf: () => BENCH_AUTHORITY,
  });
  if (few_in === undefined || many_in === undefined) throw new Error('there are no two workspaces');
  const beside_few = await makeChildren(few_in, FEW);
  const beside_many = await makeChildren(many_in, many);
  const tenth = Math.max(1, beside_many.took_ms.length / 10);
  const first_ms = medianOf(beside_many.took_ms.slice(0, tenth));
  const last_ms = medianOf(beside_many.took_ms.slice(-tenth));
  const took: [few: number[], many: number[]] = [[], []];
  for (let time = 0; time < TIMES; time += 1) {
    took[0].push(await decideUnder(beside_few));
    took[1].push(await decideUnder(beside_many));
  }
  const [few_ms, many_ms] = [medianOf(took[0]), medianOf(took[1])];
  const children = many.toLocaleString('en');
  const goal = (name: string, most: number, measured: number) => ({
    name,
    unit: '' as const,
    is_least: false,
    goal: most,
    measured,
  });
  return {
    tables: [
      {
        title: 'ms in the middle',
        columns: ['', 'few', 'many', 'times'],
        rows: [
          [
            `a batch of ${BATCH} children: the first and the last tenth of ${children}`,
            ...[first_ms, last_ms, last_ms / first_ms].map(shownNumber),
          ],
          [
            `a decision under one of ${FEW} and of ${children}`,
            ...[few_ms, many_ms, many_ms / few_ms].map(shownNumber),
          ],
        ],
      },
    ],
    goals: [
      goal(
        `The last tenth of ${children} children, compared with the first`,
        GOALS.last_children,
        last_ms / first_ms,
      ),
      goal(
        `A decision under one of ${children} children, compared with ${FEW}`,
        GOALS.decision,
        many_ms / few_ms,
      ),
    ],
    notes: [],
    problems: [],
  };
}
