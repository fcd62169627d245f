import { afterAll, test as base, beforeAll, expect } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  type RunningService,
  spend,
  startTestService,
} from './running-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

/** What most tests do at the API. Every call has to succeed; `key` is the administrator's where none is given. */
export interface Client {
  /** The body of a 200. */
  get(path: string, key?: string): Promise<Shown>;
  /** The body of a 201. Each call has an idempotency key of its own. */
  post(path: string, body: object, key?: string): Promise<Shown>;
  /** Every item of a list, page by page. */
  walk(path: string, options?: { limit?: number; key?: string }): Promise<Shown[]>;
  /** The decision on a spend that serves the purpose of `AUTHORITY`, `extra` laid over it. */
  ask(
    agent: string | undefined,
    amount_minor: number,
    extra?: Record<string, unknown>,
    key?: string,
  ): Promise<Shown>;
  /** The slug of a new agent with `AUTHORITY` and this laid over it; with null it has no authority. */
  makeAgent(
    authority?: object | null,
    more?: { slug?: string; mode?: string },
    key?: string,
  ): Promise<string>;
  /** A new key that may do this. */
  keyWith(...scopes: string[]): Promise<string>;
}

let agents = 0;

/** A client of a service; the service may be started later. */
export function makeClient(service: Pick<RunningService, 'call'>): Client {
  async function taken(status: number, method: string, path: string, options: object, key?: string) {
    const reply = await service.call(method, path, { ...options, ...(key === undefined ? {} : { key }) });
    expect(reply.status, reply.text).toBe(status);
    return reply.body;
  }
  const client: Client = {
    get: (path, key) => taken(200, 'GET', path, {}, key),
    post: (path, body, key) => taken(201, 'POST', path, { body, idempotency_key: freshKey() }, key),
    async walk(path, { limit = 2, key } = {}) {
      const found: Shown[] = [];
      for (let cursor = ''; ; ) {
        const page = await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`, key);
        expect(page.data.length).toBeLessThanOrEqual(limit);
        found.push(...page.data);
        if (page.next_cursor === null) return found;
        cursor = `&cursor=${page.next_cursor}`;
      }
    },
    ask: (agent, amount_minor, extra, key) =>
      client.post('/v1/decisions', spend(agent, amount_minor, extra), key),
    async makeAgent(authority = {}, more = {}, key) {
      const slug = more.slug ?? `agent-${++agents}`;
      const given = authority === null ? {} : { authority: { ...AUTHORITY, ...authority } };
      await client.post('/v1/agents', { ...more, slug, ...given }, key);
      return slug;
    },
    keyWith: async (...scopes) => (await makeKey(service as RunningService, { scopes })).key,
  };
  return client;
}

/**
 * A service for one test file, started before its first hook or test and stopped after its last: `test` with it as a
 * fixture, which helpers of the file reach as `s`, and a client of it. Hooks of the file are `test.beforeAll` and so on.
 */
export function serviceTest(options: Parameters<typeof startTestService>[0] = {}) {
  const s = {} as RunningService;
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
  const test = base.extend('service', { scope: 'file', auto: true }, async ({}, { onCleanup }) => {
    Object.assign(s, await startTestService(options));
    onCleanup(() => s.stop());
    return s;
  });
  return { test, s, ...makeClient(s) };
}

/** Two nodes of one installation for the tests of a file: each hook and test of it reaches them, and a client of the first. */
export function twoNodes(options: Parameters<typeof startTestService>[0] = {}) {
  const s = {} as RunningService;
  const beside = {} as RunningService;
  beforeAll(async () => {
    Object.assign(s, await startTestService(options));
    Object.assign(beside, await startTestService({ beside: s }));
  });
  afterAll(async () => {
    await beside.stop();
    await s.stop();
  });
  return { s, beside, ...makeClient(s) };
}
