import { describe, expect } from 'vitest';
import {
  caseOf,
  makeWorld,
  nameOf,
  type PreparedRequest,
  ROUTES,
  type RouteCase,
  type Scope,
  type World,
} from '../support/every-route.ts';
import { makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { ofSeveralTasks, recordStatements } from '../support/statements.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** Every kind of key; each scope alone is among them. Null: an agent's own key, which has `authorize`. */
const KINDS: Record<string, Scope[] | null> = {
  agent: null,
  admin: ['admin', 'review', 'read', 'authorize'],
  reviewer: ['review', 'read'],
  read_only: ['read'],
  payment_adapter: ['consume'],
  'custom, admin alone': ['admin'],
  'custom, review alone': ['review'],
  'custom, authorize alone': ['authorize'],
  'custom, consume and read': ['consume', 'read'],
};
/** Kinds tried where the answer is the same for all of them: the first tier tries the next one at each route. */
const TRIED = Number(process.env.SCOPE_KINDS);
const NAMES = ROUTES.map(nameOf);
function isTried(kind: string, name: string): boolean {
  const kinds = Object.keys(KINDS);
  const distance = (kinds.indexOf(kind) - NAMES.indexOf(name)) % kinds.length;
  return (distance + kinds.length) % kinds.length < TRIED;
}
type Condition = 'valid' | 'expired' | 'revoked' | 'other workspace' | 'other agent' | 'paused agent';

const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
const sent = recordStatements();
const { test, s } = serviceTest({ stopped_at_ms: BEGIN_MS, plan: 'enterprise', looks_like_citus: true });
let here: World;
/** Keys by kind and condition. `other agent` and `paused agent` matter where the key or request has an agent. */
const keys = new Map<string, string>();

test.beforeAll(async () => {
  here = await makeWorld(s, s);
  const tenant = await s.addWorkspace({ plan: 'enterprise' });
  const there = await makeWorld(s, tenant);
  const neighbour = await makeWorld(s, s);
  for (const [kind, scopes] of Object.entries(KINDS)) {
    const made = (world: World, more: object = {}) =>
      makeKey(s, { ...(scopes === null ? { agent_id: world.slug } : { scopes }), ...more }, world.setup);
    keys.set(`${kind} valid`, (await made(here)).key);
    keys.set(`${kind} expired`, (await made(here, { expires_in_seconds: 60 })).key);
    const revoked = await made(here);
    await s.call('DELETE', `/v1/api-keys/${revoked.id}`);
    keys.set(`${kind} revoked`, revoked.key);
    keys.set(`${kind} other workspace`, (await made(there)).key);
    if (scopes === null) keys.set(`${kind} other agent`, (await made(neighbour)).key);
  }
  await s.setClock(BEGIN_MS + HOUR_MS);
});

/** What the specification says of this key at this route. */
function expected(
  route: RouteCase,
  scopes: Scope[] | null,
  condition: Condition,
): [number, string | undefined] {
  if (condition === 'expired' || condition === 'revoked') return [401, 'unauthenticated'];
  const may =
    (scopes ?? ['authorize']).some((scope) => route.scopes.includes(scope)) ||
    (scopes === null && route.agent_key === true);
  if (!may) return [403, 'insufficient_scope'];
  if (condition === 'other agent') return [...(route.other_agent as [number, string])];
  if (condition === 'paused agent' && route.paused !== undefined) return [...route.paused];
  if (condition === 'other workspace' && route.other_workspace !== undefined)
    return [...route.other_workspace];
  if (condition === 'other workspace' && route.names === 'one thing') {
    // An agent's key names its own agent or is refused for naming another, whosever that one is.
    return scopes === null && route.other_agent?.[1] === 'agent_mismatch'
      ? [403, 'agent_mismatch']
      : [404, 'not_found'];
  }
  return [route.status, route.code];
}

test.each(NAMES)('%s declares the scopes of the specification', (name) => {
  const route = ROUTES.find((each) => nameOf(each) === name);
  expect([...(route?.scopes ?? [])].sort()).toEqual([...caseOf(name).scopes].sort());
  expect(route?.agentKey === 'own').toBe(caseOf(name).agent_key === true);
});

describe.each(NAMES)('%s', (name) => {
  const [method] = name.split(' ') as [string];
  const route = caseOf(name);

  test('every kind of key, in every condition', async () => {
    const ready: PreparedRequest[] = [];
    /** A refused request changed nothing, so it is used again. */
    const prepare = async () => ready.pop() ?? (await route.request(here));
    const attempt = async (kind: string, scopes: Scope[] | null, condition: Condition) => {
      const prepared = await prepare();
      const { path, ...given } = prepared;
      const key = keys.get(`${kind} ${condition === 'paused agent' ? 'valid' : condition}`) as string;
      const reply = await s.call(method, path, { ...given, key });
      const said = [kind, condition, ...refusal(reply)];
      expect(said).toEqual([kind, condition, ...expected(route, scopes, condition)]);
      if (condition === 'expired') expect(reply.body.error.message).toMatch(/expired/);
      if (reply.status >= 400) ready.push(prepared);
    };
    for (const [kind, scopes] of Object.entries(KINDS)) {
      const conditions: Condition[] = ['other workspace', 'valid'];
      if (isTried(kind, name)) conditions.unshift('expired', 'revoked');
      if (scopes === null) conditions.unshift('other agent');
      for (const condition of conditions) await attempt(kind, scopes, condition);
    }
    // A paused agent asks for nothing, so the requests that will be taken are prepared before.
    const tried = Object.entries(KINDS).filter(
      ([kind, scopes]) => scopes === null || route.paused !== undefined || isTried(kind, name),
    );
    const taken = tried.filter(([, scopes]) => expected(route, scopes, 'paused agent')[0] < 400);
    while (ready.length <= taken.length) {
      const next = await route.request(here);
      // Two requests that delete the same thing: the second one has to be prepared after the first was taken.
      if (method === 'DELETE' && ready.some(({ path }) => path === next.path)) break;
      ready.push(next);
    }
    const setStatus = (status: string) => s.call('PATCH', `/v1/agents/${here.slug}`, { body: { status } });
    await setStatus('paused');
    for (const [kind, scopes] of tried) await attempt(kind, scopes, 'paused agent');
    await setStatus('active');
  });

  test('401 without a key, with an unknown one, and with what is no key at all', async () => {
    const { path, ...given } = await route.request(here);
    for (const key of [null, `sk_${'x'.repeat(38)}`, 'sk_', 'Bearer x', here.agent_id]) {
      expect(refusal(await s.call(method, path, { ...given, key }))).toEqual([401, 'unauthenticated']);
    }
  });
});

test('a revoked agent’s own key still reads what is its own, and asks for nothing more', async () => {
  const gone = await makeWorld(s, s);
  const key = (await makeKey(s, { agent_id: gone.slug })).key;
  const { decision_id } = await gone.ask(10);
  await s.call('PATCH', `/v1/agents/${gone.slug}`, { body: { status: 'revoked' } });
  expect((await s.call('GET', `/v1/decisions/${decision_id}`, { key })).status).toBe(200);
  expect((await s.call('GET', `/v1/agents/${gone.slug}/authority`, { key })).status).toBe(200);
  const { path, ...given } = await caseOf('POST /v1/decisions').request(gone);
  expect(refusal(await s.call('POST', path, { ...given, key }))).toEqual([403, 'agent_not_active']);
});

test.afterAll(() => sent.stop());

test('what these routes send to Citus is one task each, in the text that it is sent', async () => {
  expect(await ofSeveralTasks(sent.texts, { query: s.sql } as never)).toEqual([]);
});
