import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeJsonClient } from '../demo/json-client.ts';
import { freePort, type ServeProcess, serviceEnvironment, startServing } from '../demo/purser-process.ts';
import { invalidChain, queryOnce } from './invariants.ts';
import { type Finding, makeStage, type ScenarioContext } from './stage.ts';

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

/** Two nodes whose clocks are ten minutes off, one ahead and one behind: history follows the database's clock. */
export async function differentClocks(context: ScenarioContext): Promise<Finding> {
  const stage = await makeStage(context, { REVIEW_TTL_SECONDS: '60' });
  const nodes: ServeProcess[] = [];
  try {
    const { host, port } = await stage.database();
    const secret_key = (await readFile(join(stage.data_dir, 'secret-key'), 'utf8')).trim();
    for (const [name, by_ms] of Object.entries({ ahead: APART_MS, behind: -APART_MS })) {
      const clock_file = join(stage.data_dir, `clock-${name}.mjs`);
      await writeFile(clock_file, shiftedClock(by_ms));
      nodes.push(
        await startServing({
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
        }),
      );
    }
    const problems: string[] = [];
    const [{ agent_key, agent }] = stage.agents as [(typeof stage.agents)[number]];
    await stage.client.send('PATCH', `/v1/agents/${agent}`, { mode: 'ENFORCE' });
    const clients = nodes.map((node) => makeJsonClient(node.base_url, agent_key));
    const decided: { created_at: string; expires_at: string | null; decision: string }[] = [];
    for (let n = 0; n < 20; n++) {
      const client = clients[n % 2] as (typeof clients)[number];
      const answer = await client.send(
        'POST',
        '/v1/decisions',
        {
          action: { type: 'purchase', merchant: 'A shop', amount_minor: 100 + n, currency: 'EUR' },
        },
        { 'idempotency-key': `clock-${n}` },
      );
      const body = answer.body as {
        created_at: string;
        decision: string;
        reservation: { expires_at: string | null };
      };
      if (answer.status !== 201) problems.push(`A node answered ${answer.status}.`);
      decided.push({ ...body, expires_at: body.reservation.expires_at });
    }
    const [clock] = await queryOnce<{ ms: string }>(
      await stage.database(),
      'select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
    );
    const times = decided.map((each) => Date.parse(each.created_at));
    if (times.some((time, i) => i > 0 && time < (times[i - 1] as number)))
      problems.push('Time ran backwards.');
    const furthest_ms = Math.max(...times.map((time) => Math.abs(time - Number(clock?.ms))));
    if (furthest_ms > TOLERANCE_MS)
      problems.push(`A decision is ${furthest_ms} ms off the database's clock.`);
    for (const { created_at, expires_at } of decided) {
      if (expires_at !== null && Date.parse(expires_at) - Date.parse(created_at) !== 60_000) {
        problems.push(`A hold of ${created_at} runs out at ${expires_at}.`);
      }
    }
    const key = await stage.client.send('POST', '/v1/api-keys', {
      name: 'short',
      scopes: ['read'],
      expires_in_seconds: 60,
    });
    const { key: value } = key.body as { key: string };
    for (const node of nodes) {
      const reader = makeJsonClient(node.base_url, value);
      const { status } = await reader.send('GET', '/v1/workspace');
      if (status !== 200) problems.push(`A key that lives for a minute was answered ${status}.`);
      reader.close();
    }
    for (const client of clients) client.close();
    problems.push(...(await invalidChain(stage.client)));
    return { figures: { decisions: decided.length, furthest_off_ms: furthest_ms }, problems };
  } finally {
    for (const node of nodes) await node.end();
    await stage.close();
  }
}
