import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiError } from '@purser/rules/errors';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../tools/demo/purser-process.ts';
import { makeLimiters } from '../../src/service/http/limiters.ts';
import { makeKeyLimit, makeUnknownKeyLimit } from '../../src/service/http/rate-limit.ts';
import { connectSharedCounts, type SharedCounts } from '../../src/service/http/shared-counts.ts';
import { Attempts } from '../../src/service/people/attempts.ts';
import { startTestService } from '../support/running-service.ts';
import { until } from '../support/until.ts';

const has_redis = spawnSync('redis-server', ['--version']).status === 0;
if (!has_redis) console.warn('redis-server is not installed: the limits shared by Redis are not tested.');

const log = pino({ level: 'silent' });
let directory: string;
let port: number;
let redis: ChildProcess | undefined;
/** They wait for Redis however busy this machine is, since what is exact is so only of nodes that it answers in time. */
const nodes: SharedCounts[] = [];
const PATIENT = { answer_ms: 600_000, silent_ms: 600_000 };

async function startRedis(): Promise<void> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
  redis = spawn('redis-server', options, { stdio: 'ignore' });
  await Promise.all(nodes.map(({ client }) => untilStatus(client, 'ready')));
}

async function endRedis(signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => redis?.once('exit', resolve));
  redis?.kill(signal);
  await ended;
}

/** Resolves once the client is connected, or no longer is. */
const untilStatus = (client: SharedCounts['client'], status: 'ready' | 'gone') =>
  until(() => (client.status === 'ready') === (status === 'ready'));

describe.skipIf(!has_redis)('limits shared by Redis', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'purser-redis-'));
    port = await freePort();
    for (let i = 0; i < 4; i++)
      nodes.push(await connectSharedCounts(`redis://127.0.0.1:${port}`, log, PATIENT));
    await startRedis();
  });
  afterAll(async () => {
    for (const node of nodes) node.close();
    await endRedis('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  test('four nodes let exactly the given number through together, by key and by address', async () => {
    const by_key = nodes.map(({ client }) => makeKeyLimit(600, makeLimiters(client, false)));
    const by_address = nodes.map(({ client }) =>
      makeUnknownKeyLimit(30, () => 0, makeLimiters(client, false)),
    );
    const ask = (limits: typeof by_key, count: number, name: string) =>
      Promise.all(Array.from({ length: count }, (_, i) => limits[i % 4]?.(name)));
    const keys = await ask(by_key, 1_000, 'key_shared');
    expect(keys.filter((each) => each?.within)).toHaveLength(600);
    const addresses = await ask(by_address, 100, '192.0.2.77');
    expect(addresses.filter((each) => each?.within)).toHaveLength(30);
  });

  test('nodes with REDIS_URL share the limit of a key', async () => {
    const connected = async () =>
      String(await nodes[0]?.client.client('LIST'))
        .trim()
        .split('\n').length;
    const before = await connected();
    const env = { REDIS_URL: `redis://127.0.0.1:${port}`, RATE_LIMIT_PER_MINUTE: '30' };
    const first = await startTestService({ env });
    const second = await startTestService({ env, beside: first });
    await until(async () => (await connected()) >= before + 2);
    // On a busy machine a node may not be answered in time, and counts by itself until it is: then more pass than may.
    await until(async () => {
      const body = { name: 'k', scopes: ['read'] };
      const { key } = (await first.call('POST', '/v1/api-keys', { body })).body;
      const statuses: (number | undefined)[] = [];
      for (let i = 0; i < 60; i++)
        statuses.push((await [first, second][i % 2]?.call('GET', '/v1/workspace', { key }))?.status);
      return statuses.every((status, i) => status === (i < 30 ? 200 : 429));
    });
    await second.stop();
    await first.stop();
  });

  test('wrong passwords are counted by all nodes together, and right ones at once are all let in', async () => {
    const mac = (text: string) => createHash('sha256').update(text).digest();
    const attempts = nodes.map(({ client }) => new Attempts(makeLimiters(client, false), mac));
    const attempt = async (node: number, email: string, is_right: boolean, client_address = '192.0.2.1') => {
      const guesser = { as: 'stranger', client_address, email } as const;
      const judged = attempts[node]?.judge(
        guesser,
        async () => is_right,
        () => {},
      );
      return judged?.catch((error: ApiError) => error.code);
    };
    const of = (count: number, make: (i: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: count }, (_, i) => make(i)));
    const wrong = await of(40, (i) => attempt(i % 4, 'wrong@example.com', false));
    expect(wrong.filter((each) => each === false)).toHaveLength(10);
    expect(wrong.filter((each) => each === 'rate_limited')).toHaveLength(30);
    const right = await of(40, () => attempt(0, 'right@example.com', true));
    expect(right.filter((each) => each === true)).toHaveLength(40);
    for (let n = 0; n < 5; n++) {
      await of(10, (i) => attempt(i % 4, 'many@example.com', false, `198.51.100.${n}`));
    }
    expect(await attempt(3, 'many@example.com', true, '203.0.113.9')).toBe('rate_limited');
  });

  test('a process without a working Redis counts by itself: neither open nor closed, and shares again after', async () => {
    const limits = nodes.map(({ client }) => makeKeyLimit(100, makeLimiters(client, false)));
    const ask = async (name: string) => {
      const all = await Promise.all(Array.from({ length: 800 }, (_, i) => limits[i % 4]?.(name)));
      return all.filter((each) => each?.within).length;
    };
    await endRedis('SIGKILL');
    await Promise.all(nodes.map(({ client }) => untilStatus(client, 'gone')));
    expect(await ask('key_alone')).toBe(4 * 100);
    await startRedis();
    expect(await ask('key_again')).toBe(100);
  });

  test('a Redis that says nothing any more holds nobody up for long, and is given up', async () => {
    const as_served = await Promise.all(
      nodes.map(() => connectSharedCounts(`redis://127.0.0.1:${port}`, log)),
    );
    await Promise.all(as_served.map(({ client }) => untilStatus(client, 'ready')));
    const limits = as_served.map(({ client }) => makeKeyLimit(100, makeLimiters(client, false)));
    redis?.kill('SIGSTOP');
    const all = await Promise.all(Array.from({ length: 800 }, (_, i) => limits[i % 4]?.('key_stopped')));
    expect(all.filter((each) => each?.within)).toHaveLength(4 * 100);
    await Promise.all(as_served.map(({ client }) => untilStatus(client, 'gone')));
    redis?.kill('SIGCONT');
    await Promise.all(as_served.map(({ client }) => untilStatus(client, 'ready')));
    for (const node of as_served) node.close();
  });
});

test('a Redis that was never there leaves each process with a limit of its own', async () => {
  const nowhere = await connectSharedCounts(`redis://127.0.0.1:${await freePort()}`, log);
  const limit = makeKeyLimit(100, makeLimiters(nowhere.client, false));
  const all = await Promise.all(Array.from({ length: 150 }, () => limit('key_nowhere')));
  expect(all.filter((each) => each.within)).toHaveLength(100);
  nowhere.close();
});
