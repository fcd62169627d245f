import { describe, expect, test } from 'vitest';
import {
  AUTHORITY,
  fieldOf,
  freshKey,
  makeKey,
  type Reply,
  refusal,
  spend,
} from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

/** Two nodes of one installation. */
const { s, beside, get, post, makeAgent, walk } = twoNodes({ plan: 'enterprise' });

// Nobody is asked about purpose or the month here.
const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const agentOf = (more: object = {}) => makeAgent({ ...OPEN, ...more }, { mode: 'ENFORCE' });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const make = (more: object, key?: string): Promise<Shown> =>
  post('/v1/allowances', { amount_minor: 1_000, ...more }, key);
const forAgent = (agent: string, more: object = {}) =>
  make({ agent, currency: 'EUR', expires_at: inDays(7), ...more });
const send = (path: string, body: object, key?: string, on = s): Promise<Reply> =>
  on.call('POST', path, { body, idempotency_key: freshKey(), ...(key === undefined ? {} : { key }) });
const ask = (key: string, amount_minor: number, more: object = {}, on = s) =>
  send('/v1/decisions', { ...spend(undefined, amount_minor), ...more }, key, on);
const current = (key: string, on = s) => on.call('GET', '/v1/api-keys/current', { key });
const revoke = (id: string, key?: string) => send(`/v1/allowances/${id}/revoke`, {}, key);
const valid = async () => expect((await get('/v1/ledger/verify')).breaks).toEqual([]);

/** An allowance with a key of its own, a part of it with one, and another allowance of the agent. */
async function family() {
  const agent = await agentOf();
  const above = await forAgent(agent, { key: true });
  const below = await make({ parent: above.id, amount_minor: 400, key: true });
  const aside = await forAgent(agent, { key: true });
  return { agent, above, below, aside };
}

describe('a key of an allowance', () => {
  test('is made with it, shown once, and named by every answer that shows keys', async () => {
    const agent = await agentOf();
    const made = await forAgent(agent, { key: true, name: 'Nightly build', external_id: 'run-1' });
    expect(made.api_key).toMatchObject({
      key: expect.stringMatching(/^sk_/),
      name: 'Nightly build',
      kind: 'agent',
      scopes: ['authorize'],
      agent_id: made.agent.id,
      allowance_id: made.id,
      expires_at: made.expires_at,
    });
    expect((await get(`/v1/allowances/${made.id}`)).api_key).toBeUndefined();
    expect((await current(made.api_key.key)).body).toEqual({
      id: made.api_key.id,
      kind: 'agent',
      scopes: ['authorize'],
      agent_id: made.agent.id,
      principal_id: null,
      allowance_id: made.id,
      agent: expect.objectContaining({ id: made.agent.id, may_spend: true }),
    });
    const listed = await walk(`/v1/api-keys?agent=${agent}`);
    expect(listed).toEqual([
      expect.objectContaining({ id: made.api_key.id, allowance_id: made.id, status: 'active' }),
    ]);
    // A repeat makes no second key and shows none.
    const body = { agent, currency: 'EUR', amount_minor: 1_000, key: true, name: 'Nightly build' };
    const again = await s.call('POST', '/v1/allowances', {
      body: { ...body, expires_at: made.expires_at, external_id: 'run-1' },
    });
    expect(again.status, again.text).toBe(200);
    expect(again.headers.get('idempotent-replay')).toBe('true');
    expect(again.body.api_key).toBeUndefined();
    expect(await walk(`/v1/api-keys?agent=${agent}`)).toHaveLength(1);
    await valid();
  });

  test('ends with it at the latest, and before that where it is asked to', async () => {
    const agent = await agentOf();
    const short = await forAgent(agent, { key: { expires_in_seconds: 3_600 } });
    const life_ms = Date.parse(short.api_key.expires_at) - Date.parse(short.api_key.created_at);
    expect(life_ms).toBe(3_600_000);
    const long = await forAgent(agent, { expires_at: inDays(1), key: { expires_in_seconds: 864_000 } });
    expect(long.api_key.expires_at).toBe(long.expires_at);
    const later = await s.call('PATCH', `/v1/allowances/${short.id}`, {
      body: { expires_at: new Date(Date.now() + 1_500).toISOString() },
    });
    expect(later.status, later.text).toBe(200);
    await expect
      .poll(async () => (await current(short.api_key.key, beside)).status, { timeout: 30_000 })
      .toBe(401);
    expect(await walk(`/v1/api-keys?agent=${agent}&status=expired`)).toEqual([
      expect.objectContaining({ id: short.api_key.id, status: 'expired', expires_at: later.body.expires_at }),
    ]);
  });

  test('comes with each of several allowances of a batch', async () => {
    const agent = await agentOf();
    const one = { agent, currency: 'EUR', amount_minor: 5, expires_at: inDays(1), external_id: 'twice' };
    const two = { ...one, external_id: 'other', key: true };
    const { data } = await post('/v1/allowances/batch', { allowances: [{ ...one, key: true }, two] });
    expect(data.map(({ api_key }: Shown) => api_key.allowance_id)).toEqual(data.map(({ id }: Shown) => id));
    for (const { api_key } of data) expect((await current(api_key.key)).status).toBe(200);
    const again = await post('/v1/allowances/batch', { allowances: [{ ...one, key: true }, two] });
    expect(again.data.map(({ api_key }: Shown) => api_key)).toEqual([undefined, undefined]);
  });

  test('is refused by the field’s name', async () => {
    const agent = await agentOf();
    const { id: budget } = await post('/v1/budgets', {
      slug: `shared-${agent}`,
      currency: 'EUR',
      period: 'MONTH',
      limit_minor: 100,
    });
    const of_any = { budget, currency: 'EUR', amount_minor: 5, expires_at: inDays(1) };
    for (const [body, field] of [
      [{ ...of_any, key: true }, 'key'],
      [{ ...of_any, agent, key: false }, 'key'],
      [{ ...of_any, agent, key: { expires_in_seconds: 1 } }, 'key'],
      [{ ...of_any, agent, key: { expires_in_seconds: 60, more: 1 } }, 'key'],
    ] as const) {
      const reply = await send('/v1/allowances', body);
      expect(refusal(reply), reply.text).toEqual([400, 'invalid_request']);
      expect(fieldOf(reply)).toMatch(new RegExp(`^${field}`));
    }
  });

  test('is one more of an open allowance where an administrator makes it', async () => {
    const { agent, above, aside } = await family();
    const { key, ...made } = await makeKey(s, { agent_id: agent, allowance: above.id });
    expect(made).toMatchObject({ allowance_id: above.id, expires_at: above.expires_at });
    expect((await ask(key, 10)).body.allowance.id).toBe(above.id);
    const body = { name: 'k', agent_id: agent };
    expect(
      refusal(await send('/v1/api-keys', { ...body, allowance: 'alw_00000000000000000000000000' })),
    ).toEqual([404, 'not_found']);
    const other = await agentOf();
    expect(refusal(await send('/v1/api-keys', { ...body, agent_id: other, allowance: above.id }))).toEqual([
      404,
      'not_found',
    ]);
    const scoped = await send('/v1/api-keys', { name: 'k', scopes: ['read'], allowance: above.id });
    expect([scoped.status, fieldOf(scoped)]).toEqual([400, 'agent_id']);
    await revoke(aside.id);
    expect(refusal(await send('/v1/api-keys', { ...body, allowance: aside.id }))).toEqual([
      409,
      'allowance_not_open',
    ]);
  });
});

describe('a bound key', () => {
  test('spends under its allowance, unnamed or named, or under one below it, and under no other', async () => {
    const { agent, above, below, aside } = await family();
    const { key } = above.api_key;
    for (const [named, counts_in] of [
      [{}, above.id],
      [{ allowance: above.id }, above.id],
      [{ allowance: below.id }, below.id],
    ] as const) {
      const reply = await ask(key, 10, named);
      expect(reply.status, reply.text).toBe(201);
      expect(reply.body.allowance.id).toBe(counts_in);
    }
    expect((await get(`/v1/allowances/${above.id}`)).standing.used_minor).toBe(30);
    for (const named of [aside.id, 'alw_00000000000000000000000000'])
      expect(refusal(await ask(key, 10, { allowance: named }))).toEqual([403, 'allowance_mismatch']);
    expect(refusal(await ask(below.api_key.key, 10, { allowance: above.id }))).toEqual([
      403,
      'allowance_mismatch',
    ]);
    expect(refusal(await ask(key, 10, { agent: await agentOf() }))).toEqual([403, 'agent_mismatch']);
    expect((await ask(key, 10, { agent })).status).toBe(201);
    // The amount of the allowance caps it.
    expect((await ask(below.api_key.key, 500)).body).toMatchObject({
      decision: 'DENY',
      reason_code: 'ALLOWANCE_EXCEEDED',
    });
  });

  test('sees the decisions, outcomes and allowances of its own alone', async () => {
    const { agent, above, below, aside } = await family();
    const [own, part, other] = await Promise.all(
      [above, below, aside].map(async (each) => (await ask(each.api_key.key, 10)).body),
    );
    const unbound = (await makeKey(s, { agent_id: agent })).key;
    const without = (await ask(unbound, 10)).body;
    const { key } = above.api_key;
    const ids = (await walk('/v1/decisions', { key })).map(({ decision_id }) => decision_id);
    expect(ids.sort()).toEqual([own.decision_id, part.decision_id].sort());
    const exported = await s.call('GET', '/v1/decisions/export?format=jsonl', { key });
    expect(exported.text).not.toContain(other.decision_id);
    expect(exported.text).toContain(own.decision_id);
    expect(await walk(`/v1/decisions?allowance=${aside.id}`, { key })).toEqual([]);
    expect((await walk(`/v1/decisions?allowance=${below.id}`, { key })).length).toBe(1);
    for (const [decision, status] of [
      [own, 200],
      [part, 200],
      [other, 404],
      [without, 404],
    ] as const) {
      for (const path of ['', '/outcomes', '/reviews'])
        expect((await s.call('GET', `/v1/decisions/${decision.decision_id}${path}`, { key })).status).toBe(
          status,
        );
    }
    const failed = { type: 'SPEND_FAILED' };
    for (const { decision_id } of [other, without])
      expect(refusal(await send(`/v1/decisions/${decision_id}/outcomes`, failed, key))).toEqual([
        404,
        'not_found',
      ]);
    expect((await send(`/v1/decisions/${part.decision_id}/outcomes`, failed, key)).status).toBe(201);
    expect((await walk('/v1/allowances', { key })).map(({ id }) => id)).toEqual([below.id, above.id]);
    expect((await walk('/v1/allowances', { key: below.api_key.key })).map(({ id }) => id)).toEqual([
      below.id,
    ]);
    expect((await s.call('GET', `/v1/allowances/${aside.id}`, { key })).status).toBe(404);
    expect((await s.call('GET', `/v1/allowances/${above.id}`, { key: below.api_key.key })).status).toBe(404);
    const found = await s.call('GET', `/v1/search?q=${encodeURIComponent(own.action.merchant)}&limit=100`, {
      key,
    });
    const hits = found.body.data.map(({ id }: Shown) => id);
    expect(hits).not.toContain(other.decision_id);
    const hidden = await s.call('GET', `/v1/search?q=${other.decision_id}`, { key });
    expect(hidden.body.data).toEqual([]);
  });

  test('has idempotency keys of its own: siblings and the agent’s other keys never replay each other', async () => {
    const { agent, above, below } = await family();
    const unbound = (await makeKey(s, { agent_id: agent })).key;
    const made = await Promise.all(
      [above.api_key.key, below.api_key.key, unbound].map(async (key) => {
        const given = { key, body: spend(undefined, 10), idempotency_key: 'same' };
        const first = await s.call('POST', '/v1/decisions', given);
        const again = await beside.call('POST', '/v1/decisions', given);
        expect([first.status, again.status]).toEqual([201, 200]);
        expect(again.body.decision_id).toBe(first.body.decision_id);
        return first.body.decision_id;
      }),
    );
    expect(new Set(made).size).toBe(3);
    const second = (await makeKey(s, { agent_id: agent, allowance: above.id })).key;
    const shared = await s.call('POST', '/v1/decisions', {
      key: second,
      body: spend(undefined, 10),
      idempotency_key: 'same',
    });
    expect([shared.status, shared.body.decision_id]).toEqual([200, made[0]]);
    await valid();
  });

  test('is refused from the next request on when its allowance, or one above it, is revoked: on every node', async () => {
    const { agent, above, below, aside } = await family();
    const unbound = (await makeKey(s, { agent_id: agent })).key;
    await Promise.all([s, beside].map((on) => ask(below.api_key.key, 1, {}, on)));
    await revoke(above.id);
    for (const on of [s, beside])
      for (const { api_key } of [above, below]) {
        expect((await current(api_key.key, on)).status).toBe(401);
        expect(refusal(await ask(api_key.key, 1, {}, on))).toEqual([401, 'unauthenticated']);
      }
    for (const key of [aside.api_key.key, unbound]) expect((await ask(key, 1, {}, beside)).status).toBe(201);
    const status = Object.fromEntries(
      (await walk(`/v1/api-keys?agent=${agent}`)).map(({ id, status }) => [id, status]),
    );
    expect(status).toMatchObject({
      [above.api_key.id]: 'revoked',
      [below.api_key.id]: 'revoked',
      [aside.api_key.id]: 'active',
    });
    expect((await walk(`/v1/api-keys?agent=${agent}&status=revoked`)).length).toBe(2);
    await valid();
  });

  test('makes parts of its own with keys, narrower and with no longer lives, which end with the key that made them', async () => {
    const { agent, above, below, aside } = await family();
    const { key } = above.api_key;
    const part = await make({ parent: above.id, amount_minor: 300, key: true, merchants: ['Hetzner'] }, key);
    expect(part.api_key.allowance_id).toBe(part.id);
    const deeper = await make({ parent: part.id, amount_minor: 100, key: true }, part.api_key.key);
    expect((await ask(deeper.api_key.key, 5)).body.allowance.id).toBe(deeper.id);
    for (const parent of [aside.id, 'alw_00000000000000000000000000'])
      expect(refusal(await send('/v1/allowances', { parent, amount_minor: 1 }, key))).toEqual([
        404,
        'not_found',
      ]);
    expect(
      refusal(await send('/v1/allowances', { parent: above.id, amount_minor: 1 }, below.api_key.key)),
    ).toEqual([404, 'not_found']);
    for (const [field, value] of Object.entries({
      purpose: 'x',
      expected_items: ['x'],
      budget: 'x',
    })) {
      const reply = await send('/v1/allowances', { parent: above.id, amount_minor: 1, [field]: value }, key);
      expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
      expect(reply.body.error.message).toContain(field);
    }
    // What an agent's key makes does not outlive it.
    const leaked = await makeKey(s, { agent_id: agent, expires_in_seconds: 600 });
    const made = await make({ parent: aside.id, amount_minor: 5, key: true }, leaked.key);
    const made_ms = Date.parse(made.api_key.expires_at) - Date.now();
    expect(made_ms).toBeLessThanOrEqual(600_000);
    const below_it = await make({ parent: made.id, amount_minor: 5, key: true }, made.api_key.key);
    expect((await s.call('DELETE', `/v1/api-keys/${leaked.id}`)).status).toBe(204);
    for (const each of [made, below_it]) expect((await current(each.api_key.key, beside)).status).toBe(401);
    await valid();
  });

  test('revokes what agents made below it, and nothing else', async () => {
    const { above, below, aside } = await family();
    const { key } = above.api_key;
    const part = await make({ parent: above.id, amount_minor: 1, key: true }, key);
    expect(refusal(await revoke(above.id, key))).toEqual([403, 'insufficient_scope']);
    expect(refusal(await revoke(below.id, key))).toEqual([403, 'insufficient_scope']);
    expect(refusal(await revoke(aside.id, key))).toEqual([404, 'not_found']);
    expect((await revoke(part.id, key)).body.status).toBe('REVOKED');
    expect((await current(part.api_key.key, beside)).status).toBe(401);
  });
});

test('of 600 requests that race the revocation of their allowance over two nodes, each is decided before it or refused', async () => {
  const { above, below } = await family();
  const keys = [above.api_key.key, below.api_key.key];
  const answers = await Promise.all([
    ...Array.from({ length: 300 }, (_, i) => ask(keys[i % 2] as string, 1, {}, i % 3 === 0 ? beside : s)),
    revoke(above.id),
    ...Array.from({ length: 300 }, (_, i) => ask(keys[i % 2] as string, 1, {}, i % 3 === 0 ? beside : s)),
  ]);
  const seen = new Set(answers.map(({ status }) => status));
  for (const status of seen) expect([200, 201, 401, 503]).toContain(status);
  for (const on of [s, beside]) for (const key of keys) expect((await ask(key, 1, {}, on)).status).toBe(401);
  await valid();
});

test('the 1,001st open allowance of agents below one is refused', async () => {
  const { above, aside } = await family();
  const { key } = above.api_key;
  await s.sql(
    `insert into allowances select (json_populate_record(a, json_build_object('allowance_id',
      'alw_' || lpad(n::text, 26, '0'), 'parent_id', a.allowance_id, 'made_by_agent', true, 'path',
      json_build_array('alw_' || lpad(n::text, 26, '0'), a.allowance_id), 'external_id', null))).*
      from allowances a, generate_series(1, 1000) n where a.allowance_id = $1`,
    [above.id],
  );
  expect(refusal(await send('/v1/allowances', { parent: above.id, amount_minor: 1 }, key))).toEqual([
    409,
    'allowance_limit',
  ]);
  expect(
    (await send('/v1/allowances', { parent: aside.id, amount_minor: 1 }, aside.api_key.key)).status,
  ).toBe(201);
});
