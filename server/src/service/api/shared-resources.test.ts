import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeTestCore } from '../../../tests/support/running-service.ts';
import { readConfig } from '../config/config.ts';
import type { Answer, Call, ResourceName, Route } from '../http/route.ts';
import { makePresence } from '../scheduling/presence.ts';
import { WorkTime } from '../scheduling/work-time.ts';
import { makeApiRoutes } from './routes.ts';
import { makeResources, withPublicTurns, withTurns } from './shared-resources.ts';

const NAMES: ResourceName[] = ['reads', 'lists', 'reports', 'verifications', 'exports', 'simulations'];

/** A request of a workspace; each has a key of its own unless one is named. */
const callOf = (workspace_id: string, key_id = `key_of_${workspace_id}`) =>
  ({ caller: { workspace_id, key_id } }) as Call;

const turns = {
  answer_time: new WorkTime({ reason: 'answers_time', share: 1, now_ms: () => 0, isAlone: () => true }),
  presence: makePresence(() => 0),
};

/** A route that takes turns at a resource and is answered when the test says so. */
function makeHeldRoute(name: ResourceName) {
  const under_way: { workspace_id: string; answer: (answer: Answer) => void }[] = [];
  const route = {
    shares: name,
    handler: (call: Call) =>
      new Promise<Answer>((answer) => under_way.push({ workspace_id: call.caller.workspace_id, answer })),
  } as unknown as Route;
  const resources = makeResources(() => {});
  const handle = withTurns(route, resources, turns).handler as unknown as (call: Call) => Promise<Answer>;
  const of = (workspace_id: string) => under_way.filter((each) => each.workspace_id === workspace_id).length;
  return { handle, under_way, of, shares: resources[name] };
}

describe.each(NAMES)('of %s', (name) => {
  test('a tenant that asks for all there is leaves another one its turn at once', async () => {
    const { handle, of, under_way, shares } = makeHeldRoute(name);
    const flood = Array.from({ length: 1_000 }, () => handle(callOf('ws_flood')).catch((error) => error));
    await nextTurn();
    expect(of('ws_flood')).toBeGreaterThan(0);
    expect(of('ws_flood')).toBeLessThanOrEqual(shares.total / 2);
    const honest = handle(callOf('ws_honest'));
    await nextTurn();
    expect(of('ws_honest')).toBe(1);
    // Whatever ends is followed by who waits, so that all of it comes to its end.
    let answered = 0;
    while (answered < under_way.length) {
      under_way[answered++]?.answer({ status: 200 });
      await nextTurn();
    }
    expect((await honest).status).toBe(200);
    const ends = await Promise.all(flood);
    const refused = ends.filter((end) => end instanceof Error);
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ code: 'unavailable', retry_after_s: 1 });
    expect(shares.inUse()).toBe(0);
  });
});

test('what a handler throws gives its turn back', async () => {
  const resources = makeResources(() => {});
  const route = { shares: 'lists', handler: () => Promise.reject(new Error('no')) } as unknown as Route;
  const handle = withTurns(route, resources, turns).handler as unknown as (call: Call) => Promise<Answer>;
  await expect(handle(callOf('ws_1'))).rejects.toThrow('no');
  expect(resources.lists.inUse()).toBe(0);
});

describe('a stream holds its turn', () => {
  async function* chunksOf(...texts: string[]): AsyncGenerator<string, void, void> {
    for (const text of texts) {
      if (text === 'fails') throw new Error('it failed');
      yield text;
    }
  }
  async function open(chunks: AsyncGenerator<string, void, void>) {
    const resources = makeResources(() => {});
    const answer: Answer = { status: 200, stream: { chunks, content_type: 'text/plain' } };
    const route = { shares: 'exports', handler: async () => answer } as unknown as Route;
    const handle = withTurns(route, resources, turns).handler as unknown as (call: Call) => Promise<Answer>;
    const { stream } = await handle(callOf('ws_1'));
    return { chunks: stream?.chunks as typeof chunks, inUse: resources.exports.inUse };
  }

  test('until its last chunk', async () => {
    const { chunks, inUse } = await open(chunksOf('a', 'b'));
    const seen: unknown[] = [];
    for await (const chunk of chunks) seen.push([chunk, inUse()]);
    expect(seen).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(inUse()).toBe(0);
  });

  test('until it fails, or nobody takes it any more, also when it never began', async () => {
    const failing = await open(chunksOf('fails'));
    await expect(failing.chunks.next()).rejects.toThrow('it failed');
    expect(failing.inUse()).toBe(0);
    const left = await open(chunksOf('a', 'b'));
    await left.chunks.next();
    await left.chunks.return();
    expect(left.inUse()).toBe(0);
    const unbegun = await open(chunksOf('a'));
    await unbegun.chunks.return();
    expect(unbegun.inUse()).toBe(0);
  });
});

test('every route that reads from the database takes turns, or looks up together with others of its workspace', async () => {
  const core = makeTestCore({ url: 'postgres://nobody@127.0.0.1:9/nothing' });
  const without = makeApiRoutes(core, readConfig({}))
    .filter((route) => route.scopes !== 'public' && route.shares === undefined)
    .filter((route) => route.method === 'GET' || route.takes_long === true);
  await core.close();
  // What a key may do is known once it is authenticated. Samples are written and removed one at a time.
  expect(without.map((route) => route.operationId)).toEqual([
    ...['getDecision', 'getCurrentApiKey', 'createSample', 'removeSample'],
  ]);
});

test('an answer and each chunk of a stream take a turn of the event loop, which is told what they cost', async () => {
  const costs: number[] = [];
  const answer_time = {
    reserve: (workspace_id: string) => {
      expect(workspace_id).toBe('ws_1');
      return (took_ms: number) => void costs.push(took_ms);
    },
  };
  const page = 'x'.repeat(1_000_000);
  async function* chunks() {
    yield page;
    yield page;
  }
  const answers: Answer[] = [
    { status: 200, json: page },
    { status: 200, body: { data: page } },
    { status: 200, stream: { chunks: chunks(), content_type: 'text/plain' } },
  ];
  const route = { shares: 'lists', handler: async () => answers.shift() } as unknown as Route;
  const { handler } = withTurns(
    route,
    makeResources(() => {}),
    { ...turns, answer_time },
  );
  const ask = () => (handler as unknown as (call: Call) => Promise<Answer>)(callOf('ws_1'));
  expect((await ask()).json).toBe(page);
  const { json } = await ask();
  expect(Buffer.concat(json as Buffer[]).toString()).toBe(JSON.stringify({ data: page }));
  const { stream } = await ask();
  for await (const chunk of stream?.chunks ?? []) expect(chunk).toBe(page);
  expect(costs.map(Math.round)).toEqual([21, 21, 1, 21, 21, 1]);
});

test('a verification pays for what it costs the database, however short its answer', async () => {
  const costs: number[] = [];
  const answer_time = { reserve: () => (took_ms: number) => void costs.push(took_ms) };
  const route = {
    shares: 'verifications',
    handler: async () => ({ status: 200, body: { valid: true } }),
  } as unknown as Route;
  const { handler } = withTurns(
    route,
    makeResources(() => {}),
    { ...turns, answer_time },
  );
  await (handler as unknown as (call: Call) => Promise<Answer>)(callOf('ws_1'));
  expect(costs).toEqual([20]);
});

test('the second page of a workspace waits until the first is paid for, while another is served', async () => {
  let at_ms = 0;
  const timers: (() => void)[] = [];
  const answer_time = new WorkTime({
    reason: 'answers_time',
    share: 0.25,
    now_ms: () => at_ms,
    after: (wait_ms, resume) =>
      void timers.push(() => {
        at_ms += wait_ms;
        resume();
      }),
  });
  const route = {
    shares: 'lists',
    handler: async () => ({ status: 200, json: 'x'.repeat(1_000_000) }),
  } as unknown as Route;
  const { handler } = withTurns(
    route,
    makeResources(() => {}),
    { ...turns, answer_time },
  );
  const ask = handler as unknown as (call: Call) => Promise<Answer>;
  await ask(callOf('ws_flood'));
  const second = ask(callOf('ws_flood'));
  await ask(callOf('ws_honest'));
  expect(at_ms).toBe(0);
  while (timers.length > 0) timers.shift()?.();
  await second;
  expect(at_ms).toBeGreaterThanOrEqual(40);
});

test('a long body takes a turn of the event loop, and a short one none', async () => {
  const costs: number[] = [];
  const answer_time = { reserve: () => (took_ms: number) => void costs.push(took_ms) };
  const route = { handler: async () => ({ status: 201, json: '{}' }) } as unknown as Route;
  const { handler } = withTurns(
    route,
    makeResources(() => {}),
    { ...turns, answer_time },
  );
  const ask = handler as unknown as (call: Call) => Promise<Answer>;
  for (const headers of [
    { 'content-length': '400' },
    { 'content-length': '60000' },
    { 'transfer-encoding': 'chunked' },
    {},
  ]) {
    expect((await ask({ ...callOf('ws_1'), headers } as Call)).status).toBe(201);
  }
  expect(costs.map(Math.round)).toEqual([3, 3]);
});

test('public answers to one address wait for each other, other addresses and probes do not', async () => {
  let at_ms = 0;
  const timers: (() => void)[] = [];
  const public_time = new WorkTime({
    reason: 'answers_time',
    share: 0.25,
    now_ms: () => at_ms,
    after: (wait_ms, resume) =>
      void timers.push(() => {
        at_ms += wait_ms;
        resume();
      }),
  });
  const route = {
    handler: async () => ({
      status: 200,
      text: { content: Buffer.alloc(5_000_000), content_type: 'text/plain' },
    }),
  } as unknown as Route;
  const asking = (each: Route) => {
    const { handler } = withPublicTurns(each, public_time);
    return (client_address: string) =>
      (handler as unknown as (call: Partial<Call>) => Promise<Answer>)({ client_address });
  };
  const ask = asking(route);
  await ask('192.0.2.1');
  const second = ask('192.0.2.1');
  await ask('192.0.2.2');
  await asking({ ...route, is_probe: true } as Route)('192.0.2.1');
  expect(timers).toHaveLength(1);
  while (timers.length > 0) timers.shift()?.();
  await second;
  expect(at_ms).toBeGreaterThanOrEqual(20);
});
