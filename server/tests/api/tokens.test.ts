import { expect } from 'vitest';
import { caseOf, makeWorld, nameOf, ROUTES, type World } from '../support/every-route.ts';
import { CAPABILITY_TOKEN, freshKey, makeKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const { test, s } = serviceTest({ plan: 'enterprise' });
let world: World;
/** A key of the agent, and an admin key. Each asked for two spends of the agent, so each may see their tokens. */
let keys: { agent: string; admin: string };

test.beforeAll(async () => {
  world = await makeWorld(s, s);
  const bound = (await makeKey(s, { agent_id: world.slug })).key;
  const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
  keys = { agent: bound, admin: world.setup };
  const live = new Map<string, { decision_id: string; capability: { token: string } | null }>();
  /** One spend of each key that was allowed, and one that a person allowed: their capabilities stay unconsumed. */
  const make = async (key: string, amount: number) => {
    const body = spend(world.slug, amount);
    const made = await s.call('POST', '/v1/decisions', { key, body, idempotency_key: freshKey() });
    expect(made.status).toBe(201);
    if (amount > 1_000) {
      const review = { action: 'ALLOW', reason_code: 'OK' };
      const path = `/v1/decisions/${made.body.decision_id}`;
      const said = await s.call('POST', `${path}/reviews`, { key: reviewer, body: review });
      expect(said.status).toBe(201);
      expect(said.text).not.toMatch(CAPABILITY_TOKEN);
      return (await s.call('GET', path, { key })).body;
    }
    return made.body;
  };
  for (const key of Object.values(keys)) {
    for (const amount of [10, 2_000]) {
      const made = await make(key, amount);
      expect(made.capability).toMatchObject({ status: 'ISSUED' });
      expect(made.capability.token).toMatch(CAPABILITY_TOKEN);
      live.set(`${amount}`, made);
    }
  }
  world.ask = async (amount) => live.get(amount > 1_000 ? '2000' : '10') as never;
});

test.each(['agent', 'admin'] as const)(
  'no route that is read shows a live capability’s token but that of its decision: key of the %s',
  async (whose) => {
    const key = keys[whose];
    const shown = new Set<string>();
    let answered = 0;
    for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
      const name = nameOf(route);
      const { path } = await caseOf(name).request(world);
      const more = name === 'GET /v1/decisions/export' ? ['/v1/decisions/export?format=jsonl'] : [];
      for (const each of [path, ...more]) {
        const reply = await s.call('GET', each, { key });
        if (reply.status === 200) answered += 1;
        if (CAPABILITY_TOKEN.test(reply.text)) shown.add(name);
      }
    }
    expect([...shown]).toEqual(['GET /v1/decisions/:id']);
    expect(answered).toBeGreaterThan(whose === 'admin' ? 30 : 5);
  },
);
