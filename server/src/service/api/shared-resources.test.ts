import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeTestCore } from '../../../tests/support/running-service.ts';
import { readConfig } from '../config/config.ts';
import type { Answer, Call, ResourceName, Route } from '../http/route.ts';
import type { Core } from '../installation/runtime.ts';
import { Turns } from '../scheduling/turns.ts';
import { makeApiRoutes } from './routes.ts';
import { makePlaces, withPublicTurns, withTurns } from './shared-resources.ts';

const LASTING: ResourceName[] = ['verifications', 'exports', 'imports', 'simulations'];
const SHORT: ResourceName[] = ['reads', 'lists', 'reports'];

/** A request of a workspace; each has a key of its own unless one is named. */
const callOf = (workspace_id: string, key_id = `key_of_${workspace_id}`) =>
  ({ caller: { workspace_id, key_id }, headers: {} }) as Call;

/** Turns on a clock that moves only when they wait. */
function makeTurns() {
  let at_ms = 0;
  const turns = new Turns({
    now_ms: () => at_ms,
    after: (wait_ms, resume) =>
      void setImmediate(() => {
        at_ms += wait_ms;
        resume();
      }),
  });
  const places = makePlaces({ turns, metrics: { watchUse: () => {} } as unknown as Core['metrics'] });
  /** The handler of a route that the test makes. */
  const serving = (route: object) =>
    withTurns(route as Route, places, turns).handler as (call: Call) => Promise<Answer>;
  const usedBy = (workspace_id: string) =>
    turns.order.of(callOf(workspace_id).caller as never).workspace.used;
  const pass = (ms: number) => {
    at_ms += ms;
  };
  return { turns, places, serving, usedBy, now: () => at_ms, pass };
}

/** Waits until nothing more happens by itself. */
async function settled(): Promise<void> {
  for (let i = 0; i < 30; i++) await nextTurn();
}

/** A route that takes turns at a resource and is answered when the test says so. */
function makeHeldRoute(name: ResourceName) {
  const under_way: { workspace_id: string; answer: (answer: Answer) => void }[] = [];
  const { places, serving } = makeTurns();
  const handle = serving({
    shares: name,
    handler: (call: Call) =>
      new Promise<Answer>((answer) => under_way.push({ workspace_id: call.caller.workspace_id, answer })),
  });
  const of = (workspace_id: string) => under_way.filter((each) => each.workspace_id === workspace_id).length;
  return { handle, under_way, of, places: places[name] };
}

test.each([...SHORT, ...LASTING])(
  'of %s a tenant that asks for all there is leaves another one the next turn, and of what may last its turn at once',
  async (name) => {
    const { handle, of, under_way, places } = makeHeldRoute(name);
    const flood = Array.from({ length: 1_000 }, () => handle(callOf('ws_flood')).catch((error) => error));
    await settled();
    const is_short = SHORT.includes(name);
    expect(of('ws_flood')).toBeGreaterThan(0);
    expect(of('ws_flood')).toBeLessThanOrEqual(is_short ? places.total : places.total / 2);
    const honest = handle(callOf('ws_honest'));
    await settled();
    if (is_short) {
      under_way[0]?.answer({ status: 200 });
      await settled();
    }
    expect(of('ws_honest')).toBe(1);
    // Whatever ends is followed by who waits, so that all of it comes to its end.
    let answered = is_short ? 1 : 0;
    while (answered < under_way.length) {
      under_way[answered++]?.answer({ status: 200 });
      await settled();
    }
    expect((await honest).status).toBe(200);
    const ends = await Promise.all(flood);
    const refused = ends.filter((end) => end instanceof Error);
    expect(refused.length).toBeGreaterThanOrEqual(600 - places.total);
    for (const error of refused) expect(error).toMatchObject({ code: 'unavailable', retry_after_s: 1 });
    expect(places.inUse()).toBe(0);
  },
);

test('what a handler throws gives its turn back', async () => {
  const { serving, places } = makeTurns();
  const handle = serving({ shares: 'lists', handler: () => Promise.reject(new Error('no')) });
  await expect(handle(callOf('ws_1'))).rejects.toThrow('no');
  expect(places.lists.inUse()).toBe(0);
});

describe('a stream holds its turn', () => {
  async function* chunksOf(...texts: string[]): AsyncGenerator<string, void, void> {
    for (const text of texts) {
      if (text === 'fails') throw new Error('it failed');
      yield text;
    }
  }
  async function open(chunks: AsyncGenerator<string, void, void>) {
    const { serving, places } = makeTurns();
    const answer: Answer = { status: 200, stream: { chunks, content_type: 'text/plain' } };
    const { stream } = await serving({ shares: 'exports', handler: async () => answer })(callOf('ws_1'));
    return { chunks: stream?.chunks as typeof chunks, inUse: places.exports.inUse };
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

test('an answer costs its bytes, however it is written, and a verification a price of its own', async () => {
  const { serving, usedBy } = makeTurns();
  const page = 'x'.repeat(1_000_000);
  const answers: Answer[] = [
    { status: 200, json: page },
    { status: 200, body: { data: page } },
  ];
  const list = serving({ shares: 'lists', handler: async () => answers.shift() });
  expect((await list(callOf('ws_1'))).json).toBe(page);
  expect(Math.round(usedBy('ws_1'))).toBe(21);
  const { json } = await list(callOf('ws_1'));
  expect(Buffer.concat(json as Buffer[]).toString()).toBe(JSON.stringify({ data: page }));
  expect(Math.round(usedBy('ws_1'))).toBe(42);
  const beside = makeTurns();
  const verify = beside.serving({
    shares: 'verifications',
    handler: async () => ({ status: 200, body: { valid: true } }),
  });
  await verify(callOf('ws_2'));
  expect(Math.round(beside.usedBy('ws_2'))).toBe(5);
});

test('what works behind for a report does not wait for the report itself', async () => {
  const { turns, serving, now, pass } = makeTurns();
  const handle = serving({
    shares: 'reports',
    async handler() {
      for (let i = 0; i < 20; i++) await turns.background(() => pass(2));
      return { status: 200 };
    },
  });
  await handle(callOf('ws_1'));
  expect(now()).toBeLessThan(60);
});

test('the chunks of a stream are background work: they wait while somebody waits for a request, and cost nothing', async () => {
  const { serving, usedBy, now, turns } = makeTurns();
  async function* chunks() {
    for (let i = 0; i < 4; i++) yield 'x'.repeat(1_000_000);
  }
  const answer: Answer = { status: 200, stream: { chunks: chunks(), content_type: 'text/plain' } };
  const { stream } = await serving({ shares: 'exports', handler: async () => answer })(callOf('ws_1'));
  const used = usedBy('ws_1');
  turns.enter({ workspace_id: 'ws_2', key_id: 'key_2' });
  const began_ms = now();
  for await (const _ of stream?.chunks ?? []) void turns.background(() => {});
  expect(now() - began_ms).toBeLessThanOrEqual(5 * 50);
  expect(usedBy('ws_1')).toBe(used);
});

test('the second page of a workspace waits for its turn beside another, which is served at once', async () => {
  const { serving, now } = makeTurns();
  const ask = serving({
    shares: 'lists',
    handler: async () => ({ status: 200, json: 'x'.repeat(1_000_000) }),
  });
  await ask(callOf('ws_honest'));
  for (let i = 0; i < 5; i++) await ask(callOf('ws_flood'));
  const began_ms = now();
  const next = ask(callOf('ws_flood'));
  await ask(callOf('ws_honest'));
  expect(now() - began_ms).toBeLessThan(20);
  await next;
  expect(now() - began_ms).toBeGreaterThanOrEqual(40);
});

test('a long body takes a turn of the event loop, and a short one none', async () => {
  const { serving, usedBy } = makeTurns();
  const ask = serving({ handler: async () => ({ status: 201, json: '{}' }) });
  const used: number[] = [];
  for (const headers of [
    { 'content-length': '400' },
    { 'content-length': '60000' },
    { 'transfer-encoding': 'chunked' },
    {},
  ]) {
    expect((await ask({ ...callOf('ws_1'), headers } as Call)).status).toBe(201);
    used.push(Math.round(usedBy('ws_1')));
  }
  expect(used).toEqual([0, 3, 6, 6]);
});

test.each([...SHORT, ...LASTING])(
  'a workspace leaves time to one that asks for %s only where somebody waits for it',
  async (name) => {
    const { turns, serving } = makeTurns();
    const busy = { workspace_id: 'ws_busy', key_id: 'key_of_ws_busy' };
    for (let i = 0; i < 10; i++) turns.order.begin(busy, 20, false);
    await serving({ shares: name, handler: async () => ({ status: 200 }) })(callOf('ws_other'));
    expect(turns.order.leavesTime(busy)).toBe(name === 'reads' || name === 'lists');
  },
);

test('public answers take turns by client address, and probes none', async () => {
  const { turns } = makeTurns();
  const route = {
    handler: async () => ({
      status: 200,
      text: { content: Buffer.alloc(5_000_000), content_type: 'text/plain' },
    }),
  } as unknown as Route;
  const asking = (each: Route) => {
    const { handler } = withPublicTurns(each, turns);
    return (client_address: string) =>
      (handler as unknown as (call: Partial<Call>) => Promise<Answer>)({ client_address });
  };
  const usedBy = (address: string) =>
    turns.order.of({ workspace_id: address, key_id: address }).workspace.used;
  await asking({ ...route, is_probe: true } as Route)('192.0.2.1');
  expect(usedBy('192.0.2.1')).toBe(0);
  await asking(route)('192.0.2.1');
  expect(usedBy('192.0.2.1')).toBe(5.4);
  expect(usedBy('192.0.2.2')).toBe(0);
  const busy = { workspace_id: 'ws_busy', key_id: 'key_of_ws_busy' };
  for (let i = 0; i < 10; i++) turns.order.begin(busy, 20, false);
  await asking({ ...route, is_probe: true } as Route)('192.0.2.3');
  expect(turns.order.leavesTime(busy)).toBe(false);
  await asking(route)('192.0.2.3');
  expect(turns.order.leavesTime(busy)).toBe(true);
});
