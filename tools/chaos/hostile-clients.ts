import { connect, type Socket } from 'node:net';
import { makeSpendBody } from '../bench/spend-bodies.ts';
import { between } from './random.ts';
import { type Finding, makeStage, type ScenarioContext, type Stage } from './stage.ts';

/** What is hostile here is bounded and follows from the seed; only what the machine makes of it does not. */
const ROUNDS = 100;
const MIN_ROUNDS = 5;
const MAX_CONNECTIONS = 24;
const MAX_PIPELINED = 2_000;
const MAX_HELD_MS = 700;
const HONEST_WRITES = 40;
/** Longer than the service waits for a body, which is the longest that a connection without a reader keeps anything. */
const GIVEN_BACK_WITHIN_MS = 40_000;
const ANSWER_WITHIN_MS = 60_000;
const ENTRIES_TO_EXPORT = 2_000;

/** Resources that workers use as well, whatever clients do, and the connections that honest clients keep. */
const ALSO_USED_BY_OTHERS = /^(connections|connections:(lane|reads|keys|reports|webhooks))$/;

interface Arsenal {
  random: () => number;
  port: number;
  /** Heads of every route, without keys. */
  routes: { method: string; path: string }[];
  keys: string[];
  sent: { connections: number; requests: number };
}

/** What one connection does. It resolves when the attack is under way; the connection is then reset or left alone. */
type Attack = (arsenal: Arsenal, socket: Socket) => void;

const pick = <T>(random: () => number, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T;

/** One request of any route, with a good key, an unknown one, or none. */
function anyRequest({ random, routes, keys }: Arsenal): string {
  const { method, path } = pick(random, routes);
  const key = pick(random, [...keys, 'sk_of_nobody_of_nobody_of_nobody', null]);
  const body = method === 'GET' || method === 'HEAD' ? '' : pick(random, ['{}', makeSpendBody(1), '{"a":']);
  return [
    `${method} ${path} HTTP/1.1`,
    'host: hostile',
    ...(key === null ? [] : [`x-api-key: ${key}`]),
    ...(body === '' ? [] : ['content-type: application/json', `content-length: ${body.length}`]),
    ...(method === 'POST' ? [`idempotency-key: hostile-${Math.floor(random() * 1e9)}`] : []),
    '',
    body,
  ].join('\r\n');
}

function withKey({ random, keys }: Arsenal, head: string): string {
  return `${head} HTTP/1.1\r\nhost: hostile\r\nx-api-key: ${pick(random, keys)}\r\n`;
}

function send({ sent }: Arsenal, socket: Socket, text: string, requests = 1): void {
  sent.requests += requests;
  socket.write(text);
}

const slowBody = (arsenal: Arsenal) =>
  `${withKey(arsenal, 'POST /v1/decisions')}content-type: application/json\r\nidempotency-key: slow\r\ncontent-length: 5000\r\n\r\n{`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  'a part of the headers': (arsenal, socket) => {
    const text = anyRequest(arsenal);
    send(arsenal, socket, text.slice(0, between(arsenal.random, 1, text.length - 3)));
  },
  'a slow body': (arsenal, socket) => send(arsenal, socket, slowBody(arsenal)),
  'an answer that is not read': (arsenal, socket) => {
    socket.pause();
    const path = pick(arsenal.random, ['/openapi.json', '/docs', '/v1/decisions?limit=200', '/v1/audit']);
    send(arsenal, socket, `${withKey(arsenal, `GET ${path}`)}\r\n`.repeat(8), 8);
  },
  'a stream that is not read': (arsenal, socket) => {
    socket.pause();
    send(arsenal, socket, `${withKey(arsenal, 'GET /v1/ledger/export')}\r\n`.repeat(6), 6);
  },
  verifications: (arsenal, socket) =>
    send(arsenal, socket, `${withKey(arsenal, 'GET /v1/ledger/verify')}\r\n`.repeat(6), 6),
  CONNECT: (arsenal, socket) => {
    const before = arsenal.random() < 0.5 ? anyRequest(arsenal) : '';
    send(arsenal, socket, `${before}CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n`);
  },
  upgrade: (arsenal, socket) =>
    send(
      arsenal,
      socket,
      `${withKey(arsenal, 'GET /v1/workspace')}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    ),
  pipelining: (arsenal, socket) => {
    if (arsenal.random() < 0.5) socket.pause();
    const count = Math.ceil(MAX_PIPELINED ** arsenal.random());
    const is_one_route = arsenal.random() < 0.5;
    const request = anyRequest(arsenal);
    const texts = Array.from({ length: count }, () => (is_one_route ? request : anyRequest(arsenal)));
    send(arsenal, socket, texts.join(''), count);
  },
  'no HTTP': (arsenal, socket) =>
    send(
      arsenal,
      socket,
      `${anyRequest(arsenal)}${pick(arsenal.random, ['\0\r\n\r\n', 'x'.repeat(70_000)])}`,
    ),
  silence: () => {},
};

/** How the client leaves: at once, when something was answered, after a while, or half. */
async function leave({ random }: Arsenal, socket: Socket): Promise<void> {
  const how = random();
  const held = new Promise((resolve) => setTimeout(resolve, between(random, 0, MAX_HELD_MS)));
  const answered = new Promise((resolve) => socket.once('readable', resolve).once('close', resolve));
  await pick(random, [Promise.resolve(), Promise.race([answered, held]), held]);
  if (how < 0.2) socket.end();
  else if (how < 0.4) socket.destroy();
  else socket.resetAndDestroy();
  // Whoever only says that it will send no more keeps its half of the connection for a while.
  if (how < 0.2) await held;
}

async function attack(arsenal: Arsenal, names: readonly string[]): Promise<void> {
  const { random } = arsenal;
  const connections = between(random, 4, MAX_CONNECTIONS);
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port: arsenal.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      arsenal.sent.connections += 1;
      // All is chosen before anything is waited for, so that the order of events changes no choice.
      const attackIt = ATTACKS[pick(random, names)] as Attack;
      attackIt(arsenal, socket);
      await leave(arsenal, socket);
      socket.destroy();
    }),
  );
}

/** What is still held of what requests share; empty: nothing. */
async function stillHeld(stage: Stage): Promise<string[]> {
  const answer = await fetch(`${stage.base_url}/metrics`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  const text = await answer.text();
  const found = [...text.matchAll(/^purser_resource_in_use\{resource="([^"]+)"\} (\S+)$/gm)];
  if (found.length === 0) return [`/metrics was answered ${answer.status} and tells of no resource`];
  return found
    .filter(([, resource, held]) => !ALSO_USED_BY_OTHERS.test(resource as string) && held !== '0')
    .map(([, resource, held]) => `${held} of ${resource}`);
}

/** Everything that an honest client meets after a round. */
async function checkService(
  stage: Stage,
  { wait }: ScenarioContext,
  round: string,
): Promise<{ problems: string[]; slowest_ms: number; back_ms: number }> {
  const problems: string[] = [];
  const began_ms = performance.now();
  let held = await stillHeld(stage);
  while (held.length > 0 && performance.now() - began_ms < GIVEN_BACK_WITHIN_MS) {
    await wait(50);
    held = await stillHeld(stage);
  }
  const back_ms = performance.now() - began_ms;
  for (const what of held) problems.push(`${round}: ${what} not given back.`);
  const times: number[] = [];
  const ask = async (path: string, key: string, body?: { text: string; idempotency_key: string }) => {
    const asked_ms = performance.now();
    const answer = await fetch(`${stage.base_url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      headers: {
        'x-api-key': key,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': body.idempotency_key }),
      },
      ...(body === undefined ? {} : { body: body.text }),
    });
    const text = await answer.text();
    times.push(performance.now() - asked_ms);
    return { status: answer.status, text };
  };
  const writes = await Promise.all(
    Array.from({ length: HONEST_WRITES }, (_, i) => {
      const { agent_key } = stage.agents[i % stage.agents.length] as (typeof stage.agents)[number];
      return ask('/v1/decisions', agent_key, {
        text: makeSpendBody(i),
        idempotency_key: `honest ${round} ${i}`.replaceAll(' ', '-'),
      });
    }),
  );
  for (const { status, text } of writes)
    if (status !== 201)
      problems.push(`${round}: an honest write was answered ${status} ${text.slice(0, 200)}`);
  const verified = await ask('/v1/ledger/verify', stage.admin_key);
  if (verified.status !== 200 || !verified.text.includes('"valid":true'))
    problems.push(`${round}: verification was answered ${verified.status} ${verified.text.slice(0, 200)}`);
  const exported = await ask('/v1/ledger/export', stage.admin_key);
  if (exported.status !== 200 || !exported.text.trimEnd().split('\n').at(-1)?.includes('"sha256'))
    problems.push(`${round}: the export was answered ${exported.status} and is not whole`);
  return { problems, slowest_ms: Math.max(...times), back_ms };
}

/**
 * Clients that reset, pipeline, stop reading or sending, and leave connections half open, at every moment of a request
 * and of every route, several at once. After each round the process lives, all that they took is given back, and an
 * honest client is served.
 */
export async function hostileClients(context: ScenarioContext): Promise<Finding> {
  const { share, random, say, signal } = context;
  const rounds = Math.max(MIN_ROUNDS, Math.round(ROUNDS * share));
  const stage = await makeStage(context, { LOG_LEVEL: 'fatal' });
  const sent = { connections: 0, requests: 0 };
  const problems: string[] = [];
  let ended: string | null = null;
  void stage.serving.exited.then((how) => {
    ended = how;
  });
  let slowest_ms = 0;
  let back_ms = 0;
  let carried_out = 0;
  try {
    const document = (await (await fetch(`${stage.base_url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{[^}]+\}/g, 'none'),
      })),
    );
    const { body } = await stage.client.send('POST', '/v1/api-keys', { name: 'hostile', scopes: ['read'] });
    const { key } = body as { key: string };
    // A history of which the kernel does not hold all for a client that reads nothing.
    const recorder = stage.makeRecorder(HONEST_WRITES);
    recorder.start();
    while (recorder.acknowledged() < ENTRIES_TO_EXPORT) await context.wait(50);
    await recorder.stop();
    const arsenal: Arsenal = {
      random,
      port: Number(new URL(stage.base_url).port),
      routes: [...routes, { method: 'HEAD', path: '/healthz' }, { method: 'GET', path: '/nowhere' }],
      keys: [key, stage.agents[0]?.agent_key as string],
      sent,
    };
    const names = Object.keys(ATTACKS);
    for (let n = 1; n <= rounds && problems.length === 0; n++) {
      signal.throwIfAborted();
      // Each kind by itself first, then all of them in one another's way.
      const chosen = n <= names.length && rounds > names.length ? [names[n - 1] as string] : names;
      const round = `round ${n} (${chosen.length === 1 ? chosen[0] : 'everything'})`;
      try {
        await attack(arsenal, chosen);
        const found = await checkService(stage, context, round);
        problems.push(...found.problems);
        slowest_ms = Math.max(slowest_ms, found.slowest_ms);
        back_ms = Math.max(back_ms, found.back_ms);
      } catch (error) {
        signal.throwIfAborted();
        problems.push(`${round}: ${(error as Error).message} ${String((error as Error).cause ?? '')}`);
      }
      if (ended !== null) problems.push(`${round}: the service ended: ${ended}`);
      carried_out = n;
      if (n % 10 === 0) say(`  ${n} of ${rounds} rounds`);
    }
    return {
      figures: {
        rounds: carried_out,
        connections: sent.connections,
        requests: sent.requests,
        all_back_ms: Math.round(back_ms),
        slowest_honest_answer_ms: Math.round(slowest_ms),
        node: process.versions.node,
      },
      problems,
    };
  } finally {
    await stage.close();
  }
}
