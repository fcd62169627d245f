import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BENCH_AUTHORITY } from '../bench/spend-bodies.ts';
import { type Answer, type JsonClient, makeJsonClient } from '../demo/json-client.ts';
import { freePort, type ServeProcess, serviceEnvironment, startServing } from '../demo/purser-process.ts';
import { findViolations, invalidChain, queryOnce } from './invariants.ts';
import { shown } from './kills.ts';
import { type Finding, makeStage, type ScenarioContext, type Stage, spend } from './stage.ts';

const NODES = 4;
const CLIENTS = 16;
const STORM = 300;
const STORM_BUDGET_MINOR = 100_000;
const STORM_AMOUNT_MINOR = 777;
const DUPLICATES = 100;

/** A node beside the stage's own, on its database; it keeps its port when it is started again. */
interface Node {
  base_url: string;
  /** Where it logs each request that it received, with its id. */
  output_file: string;
  start(): Promise<void>;
  end(): Promise<string>;
}

async function makeNode(stage: Stage, context: ScenarioContext, number: number): Promise<Node> {
  const { host, port: database_port } = await stage.database();
  const port = await freePort();
  const env = serviceEnvironment(context.env, [], {
    DATABASE_URL: `postgresql://purser@localhost/purser?host=${encodeURIComponent(String(host))}&port=${database_port}`,
    SECRET_KEY: (await readFile(join(stage.data_dir, 'secret-key'), 'utf8')).trim(),
    DATA_DIR: join(stage.data_dir, `node-${number}`),
    RATE_LIMIT_PER_MINUTE: '10000000',
    PORT: String(port),
    LOG_LEVEL: 'info',
  });
  const output_file = join(stage.data_dir, `node-${number}.log`);
  let serving: ServeProcess | null = null;
  return {
    output_file,
    base_url: `http://127.0.0.1:${port}`,
    async start() {
      serving = await startServing({ env, output_file, signal: context.signal });
    },
    end: async () => (await serving?.end()) ?? 'not started',
  };
}

/**
 * How many of these requests a node has received. A client may send one on an idle connection at the moment at which a
 * stopping node closes it, which no server can prevent: the node never sees it, and HTTP has the client send it again.
 */
async function receivedOf(nodes: readonly Node[], request_ids: readonly string[]): Promise<number> {
  const logs = await Promise.all(nodes.map(({ output_file }) => readFile(output_file, 'utf8')));
  return request_ids.filter((id) => logs.some((log) => log.includes(id))).length;
}

/** More spends at once, over all nodes, than the budget has room for: not one too many is allowed. */
async function storm(clients: readonly JsonClient[], stage: Stage): Promise<string[]> {
  await stage.client.send('POST', '/v1/agents', {
    slug: 'storm',
    authority: { ...BENCH_AUTHORITY, monthly_budget_minor: STORM_BUDGET_MINOR },
  });
  const answers = await Promise.all(
    Array.from({ length: STORM }, (_, i) =>
      (clients[i % clients.length] as JsonClient).send(
        'POST',
        '/v1/decisions',
        { agent: 'storm', ...spend(STORM_AMOUNT_MINOR) },
        { 'idempotency-key': `storm-${i}` },
      ),
    ),
  );
  const held = answers.filter((each) => {
    const { reservation } = each.body as { reservation?: { status: string } };
    return reservation?.status === 'HELD';
  }).length;
  const room = Math.floor(STORM_BUDGET_MINOR / STORM_AMOUNT_MINOR);
  const odd = answers.filter((each) => each.status !== 201).length;
  return [
    ...(held === room ? [] : [`${held} spends were held where there was room for ${room}.`]),
    ...(odd === 0 ? [] : [`${odd} spends of the storm were not answered 201.`]),
  ];
}

/** One spend asked for many times at once, over all nodes: one decision. */
async function duplicates(clients: readonly JsonClient[]): Promise<string[]> {
  const answers: Answer[] = await Promise.all(
    Array.from({ length: DUPLICATES }, (_, i) =>
      (clients[i % clients.length] as JsonClient).send(
        'POST',
        '/v1/decisions',
        { agent: 'workshop-1', ...spend(1) },
        {
          'idempotency-key': 'duplicate',
        },
      ),
    ),
  );
  const made = answers.filter((each) => each.status === 201).length;
  const replayed = answers.filter((each) => each.status === 200).length;
  const different = new Set(answers.map((each) => JSON.stringify(each.body))).size;
  return made === 1 && replayed === DUPLICATES - 1 && different === 1
    ? []
    : [`Of ${DUPLICATES} duplicates ${made} were made, ${replayed} replayed; ${different} answers differ.`];
}

/** What one node changes holds on the next request at each other: a pause, its end, a revoked key. */
async function changes(nodes: readonly Node[], stage: Stage, rounds: number): Promise<string[]> {
  const problems: string[] = [];
  const admins = nodes.map((node) => makeJsonClient(node.base_url, stage.admin_key));
  for (let round = 0; round < rounds; round++) {
    for (const [i, admin] of admins.entries()) {
      const made = await admin.send('POST', '/v1/api-keys', {
        name: 'short-lived',
        agent_id: ((await admin.send('GET', '/v1/agents/workshop-1')).body as { id: string }).id,
      });
      const { id, key } = made.body as { id: string; key: string };
      const askers = nodes.map((node) => makeJsonClient(node.base_url, key));
      const expectOfAll = async (status: number, when: string) => {
        for (const [k, asker] of askers.entries()) {
          const answer = await asker.send('POST', '/v1/decisions', spend(1), {
            'idempotency-key': `change-${round}-${i}-${k}-${status}`,
          });
          if (answer.status !== status) problems.push(`${when}, node ${k + 1} answered ${answer.status}.`);
        }
      };
      await admin.send('PATCH', '/v1/agents/workshop-1', { status: 'paused' });
      await expectOfAll(403, 'After a pause');
      await admin.send('PATCH', '/v1/agents/workshop-1', { status: 'active' });
      await expectOfAll(201, 'After its end');
      await admin.send('DELETE', `/v1/api-keys/${id}`);
      await expectOfAll(401, 'After a revocation');
      for (const asker of askers) asker.close();
    }
  }
  for (const admin of admins) admin.close();
  return problems;
}

/** The chain has no gap and no fork: as many events as its last number says. */
async function gaps(stage: Stage): Promise<string[]> {
  const [row] = await queryOnce<{ events: string; last: string; links: string }>(
    await stage.database(),
    'select count(*) as events, max(seq) as last, count(distinct prev_hash) as links from ledger_events',
  );
  return row?.events === row?.last && row?.events === row?.links
    ? []
    : [`The chain has ${row?.events} events, ${row?.links} links, and ends with number ${row?.last}.`];
}

/**
 * Four processes on one database: clients that go round them while each is restarted in turn have an answer to every
 * request that a node received, a storm overspends nothing, equal idempotency keys make one decision, changes hold at
 * once everywhere, and all of it is one chain.
 */
export async function severalNodes(context: ScenarioContext): Promise<Finding> {
  const rounds = Math.max(1, Math.round(5 * context.share));
  const stage = await makeStage(context);
  const nodes: Node[] = [];
  try {
    for (let number = 1; number <= NODES; number++) {
      const node = await makeNode(stage, context, number);
      await node.start();
      nodes.push(node);
    }
    let turn = 0;
    const recorder = stage.makeRecorder(CLIENTS, () => (nodes[turn++ % NODES] as Node).base_url);
    const problems: string[] = [];
    recorder.start();
    await context.wait(1_000);
    for (let round = 1; round <= rounds; round++) {
      for (const [i, node] of nodes.entries()) {
        const how = await node.end();
        if (how !== 'exit code 0') problems.push(`Node ${i + 1} ended with ${how}.`);
        await node.start();
        await context.wait(300);
      }
    }
    await recorder.stop();
    const figures = recorder.figures();
    if ((await receivedOf(nodes, [recorder.answered()])) === 0) problems.push('The logs name no request.');
    const received = await receivedOf(nodes, recorder.unanswered());
    if (received > 0)
      problems.push(`${received} requests were received and had no answer: ${recorder.breaks()}.`);
    if (figures.unavailable > 0) problems.push(`${figures.unavailable} were refused during the restarts.`);
    problems.push(...(await findViolations(recorder, stage.client, await stage.database())));

    const clients = Array.from({ length: CLIENTS }, (_, i) =>
      makeJsonClient((nodes[i % NODES] as Node).base_url, stage.admin_key),
    );
    problems.push(...(await storm(clients, stage)));
    problems.push(...(await duplicates(clients)));
    for (const client of clients) client.close();
    problems.push(...(await changes(nodes, stage, rounds)));
    problems.push(...(await gaps(stage)));
    problems.push(...(await invalidChain(stage.client)));
    return { figures: { nodes: NODES, restarts: rounds * NODES, ...shown(figures) }, problems };
  } finally {
    for (const node of nodes) await node.end();
    await stage.close();
  }
}
