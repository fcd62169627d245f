import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeJsonClient } from '../demo/json-client.ts';
import { freePort, type ServeProcess, serviceEnvironment, startServing } from '../demo/purser-process.ts';
import { invalidChain, queryOnce } from './invariants.ts';
import { type Finding, makeStage, type ScenarioContext, type Stage } from './stage.ts';

const APART_MS = 10 * 60_000;
/** Two requests apart, and the time between the two clocks' readings here. */
const TOLERANCE_MS = 5_000;

/** Puts the clock of a Node process off by some milliseconds: loaded before the program. */
const shiftedClock = (by_ms: number) => `
const now = Date.now.bind(Date);
const Real = Date;
globalThis.Date = class extends Real {
  constructor(...given) { if (given.length === 0) super(now() + ${by_ms}); else super(...given); }
  static now() { return now() + ${by_ms}; }
};
`;

/** The part of a decision by which its times are judged. */
interface Decided {
  created_at: string;
  expires_at: string | null;
}

/** Two nodes whose clocks are ten minutes off, one ahead and one behind: history follows the database's clock. */
export async function differentClocks(context: ScenarioContext): Promise<Finding> {
  const stage = await makeStage(context, { REVIEW_TTL_SECONDS: '60' });
  const nodes: ServeProcess[] = [];
  try {
    for (const [name, by_ms] of Object.entries({ ahead: APART_MS, behind: -APART_MS }))
      nodes.push(await startShifted(context, stage, name, by_ms));
    const problems: string[] = [];
    const decided = await decideInTurn(stage, nodes, problems);
    const furthest_ms = await checkTimes(stage, decided, problems);
    await useShortKey(stage, nodes, problems);
    problems.push(...(await invalidChain(stage.client)));
    return { figures: { decisions: decided.length, furthest_off_ms: furthest_ms }, problems };
  } finally {
    for (const node of nodes) await node.end();
    await stage.close();
  }
}

/** Starts a node beside the stage's own, with a clock that is off. */
async function startShifted(
  context: ScenarioContext,
  stage: Stage,
  name: string,
  by_ms: number,
): Promise<ServeProcess> {
  const { host, port } = await stage.database();
  const secret_key = (await readFile(join(stage.data_dir, 'secret-key'), 'utf8')).trim();
  const clock_file = join(stage.data_dir, `clock-${name}.mjs`);
  await writeFile(clock_file, shiftedClock(by_ms));
  return startServing({
    env: serviceEnvironment(context.env, [], {
      DATABASE_URL: `postgresql://purser@localhost/purser?host=${encodeURIComponent(String(host))}&port=${port}`,
      SECRET_KEY: secret_key,
      DATA_DIR: join(stage.data_dir, `node-${name}`),
      RATE_LIMIT_PER_MINUTE: '10000000',
      REVIEW_TTL_SECONDS: '60',
      PORT: String(await freePort()),
    }),
    output_file: join(stage.data_dir, `node-${name}.log`),
    signal: context.signal,
    node_options: ['--import', clock_file],
  });
}

/** Requests decisions of one agent in ENFORCE from all nodes in turn. */
async function decideInTurn(
  stage: Stage,
  nodes: readonly ServeProcess[],
  problems: string[],
): Promise<Decided[]> {
  const [{ agent_key, agent }] = stage.agents as [(typeof stage.agents)[number]];
  await stage.client.send('PATCH', `/v1/agents/${agent}`, { mode: 'ENFORCE' });
  const clients = nodes.map((node) => makeJsonClient(node.base_url, agent_key));
  const decided: Decided[] = [];
  for (let n = 0; n < 20; n++) {
    const client = clients[n % clients.length] as (typeof clients)[number];
    const action = { type: 'purchase', merchant: 'A shop', amount_minor: 100 + n, currency: 'EUR' };
    const answer = await client.send(
      'POST',
      '/v1/decisions',
      { action },
      { 'idempotency-key': `clock-${n}` },
    );
    const body = answer.body as { created_at: string; reservation: { expires_at: string | null } };
    if (answer.status !== 201) problems.push(`A node answered ${answer.status}.`);
    decided.push({ created_at: body.created_at, expires_at: body.reservation.expires_at });
  }
  for (const client of clients) client.close();
  return decided;
}

/** Compares the times of decisions with each other and with the database's clock. Returns the furthest that one is off. */
async function checkTimes(stage: Stage, decided: readonly Decided[], problems: string[]): Promise<number> {
  const [clock] = await queryOnce<{ ms: string }>(
    await stage.database(),
    'select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
  );
  const times = decided.map((each) => Date.parse(each.created_at));
  if (times.some((time, i) => i > 0 && time < (times[i - 1] as number))) problems.push('Time ran backwards.');
  const furthest_ms = Math.max(...times.map((time) => Math.abs(time - Number(clock?.ms))));
  if (furthest_ms > TOLERANCE_MS) problems.push(`A decision is ${furthest_ms} ms off the database's clock.`);
  for (const { created_at, expires_at } of decided) {
    if (expires_at !== null && Date.parse(expires_at) - Date.parse(created_at) !== 60_000) {
      problems.push(`A hold of ${created_at} expires at ${expires_at}.`);
    }
  }
  return furthest_ms;
}

/** Every node takes a key that lives for a minute. */
async function useShortKey(stage: Stage, nodes: readonly ServeProcess[], problems: string[]): Promise<void> {
  const made = await stage.client.send('POST', '/v1/api-keys', {
    name: 'short',
    scopes: ['read'],
    expires_in_seconds: 60,
  });
  const { key } = made.body as { key: string };
  for (const node of nodes) {
    const reader = makeJsonClient(node.base_url, key);
    const { status } = await reader.send('GET', '/v1/workspace');
    if (status !== 200) problems.push(`A key that lives for a minute was answered ${status}.`);
    reader.close();
  }
}
