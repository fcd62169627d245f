import { createHash } from 'node:crypto';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { describe, expect } from 'vitest';
import { AUTHORITY, freshKey, refusal, spend, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();

const post = (path: string, body: unknown, key?: string) =>
  s.call('POST', path, { body, ...(key === undefined ? {} : { key }) });
describe('agents and authorities', () => {
  test('an agent is made, found by id and slug, changed, and revoked for good', async () => {
    const made = (await post('/v1/agents', { slug: 'alpha' })).body;
    expect(made).toMatchObject({
      slug: 'alpha',
      name: 'alpha',
      mode: 'SHADOW',
      status: 'active',
      authority_version: null,
      authority_hash: null,
    });
    expect((await s.call('GET', '/v1/agents/alpha')).body).toEqual({
      ...made,
      budgets: [],
      last_decision_at: null,
    });
    expect((await s.call('GET', `/v1/agents/${made.id}`)).body).toEqual({
      ...made,
      budgets: [],
      last_decision_at: null,
    });
    expect(refusal(await post('/v1/agents', { slug: 'alpha' }))).toEqual([409, 'agent_exists']);
    const patch = (body: unknown) => s.call('PATCH', '/v1/agents/alpha', { body });
    const events = async () => (await s.call('GET', '/v1/ledger/events?limit=1')).body.data[0].seq;
    const before = await events();
    expect((await patch({})).body).toEqual(made);
    expect((await patch({ name: 'alpha', status: 'active', mode: 'SHADOW' })).body).toEqual(made);
    expect(await events()).toBe(before);
    expect((await patch({ name: ' Alpha ', mode: 'ENFORCE' })).body).toMatchObject({
      name: 'Alpha',
      mode: 'ENFORCE',
    });
    expect((await patch({ status: 'revoked' })).body.status).toBe('revoked');
    const back = await patch({ status: 'active' });
    expect([...refusal(back), back.body.error.message.split(':')[0]]).toEqual([
      400,
      'invalid_request',
      'status',
    ]);
    expect((await patch({ status: 'revoked' })).status).toBe(200);
    expect(refusal(await s.call('GET', '/v1/agents/nobody'))).toEqual([404, 'not_found']);
    expect(refusal(await s.call('PATCH', '/v1/agents/nobody', { body: {} }))).toEqual([404, 'not_found']);
  });

  test('authorities are versioned, hashed by RFC 8785 and stay on record', async () => {
    await post('/v1/agents', { slug: 'beta' });
    expect(refusal(await s.call('GET', '/v1/agents/beta/authority'))).toEqual([404, 'not_found']);
    const first = await post('/v1/agents/beta/authority', AUTHORITY);
    expect(first.status).toBe(201);
    expect(first.body.hash).toBe(
      `sha256:${createHash('sha256').update(canonicalJson(AUTHORITY)).digest('hex')}`,
    );
    const second = (await post('/v1/agents/beta/authority', AUTHORITY)).body;
    expect([first.body.version, second.version, second.hash]).toEqual([1, 2, first.body.hash]);
    expect((await s.call('GET', '/v1/agents/beta/authority')).body).toEqual(second);
    expect((await s.call('GET', '/v1/agents/beta/authority?version=1')).body).toEqual(first.body);
    expect(refusal(await s.call('GET', '/v1/agents/beta/authority?version=3'))).toEqual([404, 'not_found']);
    for (const [body, field] of [
      [{ currency: 'EUR' }, 'purpose'],
      [{ ...AUTHORITY, purpose: { objective: '' } }, 'purpose.objective'],
      [{ ...AUTHORITY, per_transaction_limit: 5 }, 'per_transaction_limit'],
      [{ ...AUTHORITY, monthly_budget_minor: -1 }, 'monthly_budget_minor'],
      [{ ...AUTHORITY, blocked_merchants: [''] }, 'blocked_merchants[0]'],
      [{ ...AUTHORITY, allowed_merchants: ['Acme', ''] }, 'allowed_merchants[1]'],
      [{ ...AUTHORITY, allowed_merchants: 'Acme' }, 'allowed_merchants'],
      [{ ...AUTHORITY, on_purpose_unclear: 'DENY' }, 'on_purpose_unclear'],
      [{ ...AUTHORITY, on_purpose_unclear: 'allow' }, 'on_purpose_unclear'],
    ] as const) {
      const reply = await post('/v1/agents/beta/authority', body);
      expect([reply.status, reply.body.error.message.split(':')[0]]).toEqual([400, field]);
    }
  });

  test('the free plan holds three agents, for ever, and never ENFORCE; a trial lends the quota alone', async () => {
    const free = await s.addWorkspace({ plan: 'free' });
    for (const slug of ['a', 'b', 'c'])
      expect((await post('/v1/agents', { slug }, free.admin_key)).status).toBe(201);
    await s.call('PATCH', '/v1/agents/a', { body: { status: 'revoked' }, key: free.admin_key });
    expect(refusal(await post('/v1/agents', { slug: 'd' }, free.admin_key))).toEqual([409, 'agent_limit']);
    expect(refusal(await post('/v1/agents', { slug: 'c', mode: 'ENFORCE' }, free.admin_key))).toEqual([
      409,
      'agent_exists',
    ]);
    expect(refusal(await post('/v1/agents', { slug: 'd', mode: 'ENFORCE' }, free.admin_key))).toEqual([
      409,
      'agent_limit',
    ]);
    expect(
      refusal(await s.call('PATCH', '/v1/agents/b', { body: { mode: 'ENFORCE' }, key: free.admin_key })),
    ).toEqual([409, 'plan_required']);
    const trial = await s.addWorkspace({ plan: 'free', trial_days: 3 });
    for (const slug of ['a', 'b', 'c', 'd'])
      expect((await post('/v1/agents', { slug }, trial.admin_key)).status).toBe(201);
    expect(refusal(await post('/v1/agents', { slug: 'e', mode: 'ENFORCE' }, trial.admin_key))).toEqual([
      409,
      'plan_required',
    ]);
    const { body } = await s.call('GET', '/v1/workspace', { key: trial.admin_key });
    expect(body).toMatchObject({
      plan: 'free',
      trial: { plan: 'team', active: true },
      features: { enforce: false, webhooks: true },
      quotas: { agents: { used: 4, limit: 50 } },
    });
  });
});

test('the time zone of a workspace is set by its exact name, audited, and sealed', async () => {
  const own = await s.addWorkspace({ plan: 'team' });
  const call = (method: string, path: string, body?: object) =>
    s.call(method, path, { key: own.admin_key, ...(body === undefined ? {} : { body }) });
  const set = (time_zone: unknown) => call('PATCH', '/v1/workspace', { time_zone: time_zone as string });
  const zone = async () => (await call('GET', '/v1/workspace')).body.time_zone;
  const verified = async () => (await call('GET', '/v1/ledger/verify')).body.valid;
  expect(await zone()).toBe('UTC');
  for (const wrong of ['berlin', 'europe/berlin', '+02:00', '', 7, null]) {
    const { status, body } = await set(wrong);
    expect([wrong, status, body.error?.message]).toEqual([wrong, 400, expect.stringContaining('time_zone')]);
  }
  expect((await set('Asia/Kathmandu')).body.time_zone).toBe('Asia/Kathmandu');
  expect([await zone(), await verified()]).toEqual(['Asia/Kathmandu', true]);
  const { data } = (await call('GET', '/v1/audit?action=workspace.updated')).body;
  expect(data.map((each: { changes: object }) => each.changes)).toEqual([
    { time_zone: { from: 'UTC', to: 'Asia/Kathmandu' } },
  ]);
  await s.sql("update workspaces set time_zone = 'Asia/Tokyo' where workspace_id = $1", [own.workspace_id]);
  expect(await verified()).toBe(false);
  await s.sql("update workspaces set time_zone = 'Asia/Kathmandu' where workspace_id = $1", [
    own.workspace_id,
  ]);
  await set('UTC');
  expect([await zone(), await verified()]).toEqual(['UTC', true]);
});

describe('keys', () => {
  test('a key’s kind follows from its scopes, its value is shown once, and its bounds hold', async () => {
    const agent = (await post('/v1/agents', { slug: 'gamma' })).body;
    const kind = async (body: object) => (await post('/v1/api-keys', { name: 'k', ...body })).body;
    expect(await kind({ agent_id: agent.id })).toMatchObject({
      kind: 'agent',
      scopes: ['authorize'],
      agent_id: agent.id,
      expires_at: null,
    });
    expect((await kind({ scopes: ['read', 'review', 'authorize', 'admin'] })).kind).toBe('admin');
    expect((await kind({ scopes: ['read', 'review'] })).kind).toBe('reviewer');
    expect((await kind({ scopes: ['read'] })).kind).toBe('read_only');
    expect((await kind({ scopes: ['consume'] })).kind).toBe('payment_adapter');
    const custom = await kind({ scopes: ['read', 'consume'], principal_id: 'user:ada' });
    expect(custom).toMatchObject({ kind: 'custom', principal_id: 'user:ada' });
    expect(custom.key).toMatch(/^sk_[0-9A-Za-z]{38}$/);
    for (const seconds of [60, 31_536_000]) {
      const made = await kind({ scopes: ['read'], expires_in_seconds: seconds });
      expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(seconds * 1000);
    }
    for (const [body, field] of [
      [{ scopes: ['read'], expires_in_seconds: 59 }, 'expires_in_seconds'],
      [{ scopes: ['read'], expires_in_seconds: 31_536_001 }, 'expires_in_seconds'],
      [{}, 'scopes'],
      [{ scopes: [] }, 'scopes'],
      [{ scopes: ['everything'] }, 'scopes[0]'],
      [{ scopes: ['read'], agent_id: agent.id }, 'scopes'],
      [{ agent_id: agent.id, principal_id: 'user:ada' }, 'principal_id'],
      [{ scopes: ['read'], principal_id: 'ada' }, 'principal_id'],
    ] as const) {
      const reply = await post('/v1/api-keys', { name: 'k', ...body });
      expect([reply.status, reply.body.error?.message.split(':')[0]]).toEqual([400, field]);
    }
    expect(refusal(await post('/v1/api-keys', { name: 'k', agent_id: 'nobody' }))).toEqual([
      404,
      'not_found',
    ]);
    const list = await s.call('GET', '/v1/api-keys?limit=200');
    expect(list.text).not.toContain(custom.key);
    expect(list.body.data.find((each: { id: string }) => each.id === custom.id)).toMatchObject({
      hint: `sk_…${custom.key.slice(-4)}`,
      status: 'active',
    });
  });

  test('a revocation is final, repeatable, and the last admin key cannot revoke itself', async () => {
    const other = await s.addWorkspace({ plan: 'team' });
    const key = other.admin_key;
    const own = (await s.call('GET', '/v1/api-keys', { key })).body.data[0].id;
    expect(refusal(await s.call('DELETE', `/v1/api-keys/${own}`, { key }))).toEqual([409, 'last_admin_key']);
    const second = (await post('/v1/api-keys', { name: 'k', scopes: ['admin', 'read'] }, key)).body;
    expect(refusal(await s.call('DELETE', `/v1/api-keys/${own}`))).toEqual([404, 'not_found']);
    expect((await s.call('DELETE', `/v1/api-keys/${own}`, { key })).status).toBe(204);
    expect((await s.call('DELETE', `/v1/api-keys/${own}`, { key: second.key })).status).toBe(204);
    expect(refusal(await s.call('GET', '/v1/api-keys', { key }))).toEqual([401, 'unauthenticated']);
  });
});

describe('audit', () => {
  test('every administrative change is recorded with who did it, and no secret', async () => {
    const other = await s.addWorkspace({ plan: 'team' });
    const { admin_key: key } = other;
    await post('/v1/agents', { slug: 'a', authority: AUTHORITY }, key);
    await s.call('PATCH', '/v1/agents/a', {
      body: { name: 'B' },
      key,
      headers: { 'x-request-id': 'my-own-id' },
    });
    const made = (await post('/v1/api-keys', { name: 'k', scopes: ['read'] }, key)).body;
    await s.call('DELETE', `/v1/api-keys/${made.id}`, { key });
    const audit = await s.call('GET', '/v1/audit', { key });
    expect(audit.body.data.map((each: { action: string }) => each.action)).toEqual([
      'api_key.revoked',
      'api_key.created',
      'agent.updated',
      'authority.created',
      'agent.created',
      'api_key.created',
      'workspace.created',
    ]);
    expect(audit.body.data[2]).toMatchObject({
      changes: { name: { from: 'a', to: 'B' } },
      request_id: 'my-own-id',
      actor: { type: 'api_key' },
    });
    expect(audit.body.data[6].actor).toEqual({
      type: 'operator',
      key_id: null,
      session_id: null,
      principal_id: null,
    });
    expect(audit.text).not.toContain(made.key);
    expect((await s.call('GET', '/v1/ledger/verify', { key })).body).toMatchObject({
      valid: true,
      breaks: [],
      events_checked: 7,
    });
    const since = (await s.call('GET', '/v1/ledger/verify?since=5', { key })).body;
    expect(since).toMatchObject({ valid: true, events_checked: 2 });
  });
});

describe('who may do what', () => {
  const ROUTES = [
    ['POST', '/v1/decisions', ['authorize'], true],
    ['GET', '/v1/decisions', ['read'], true],
    ['GET', '/v1/decisions/dec_00000000000000000000000000', ['read'], true],
    ['POST', '/v1/agents', ['admin'], false],
    ['GET', '/v1/agents', ['read'], false],
    ['GET', '/v1/agents/omega', ['read'], true],
    ['PATCH', '/v1/agents/omega', ['admin'], false],
    ['POST', '/v1/agents/omega/authority', ['admin'], false],
    ['GET', '/v1/agents/omega/authority', ['read'], true],
    ['POST', '/v1/api-keys', ['admin'], false],
    ['GET', '/v1/api-keys', ['admin'], false],
    ['DELETE', '/v1/api-keys/key_00000000000000000000000000', ['admin'], false],
    ['GET', '/v1/workspace', ['read'], false],
    ['GET', '/v1/audit', ['read'], false],
    ['GET', '/v1/ledger/events', ['read'], false],
    ['GET', '/v1/ledger/verify', ['read'], false],
  ] as const;
  const KINDS = {
    admin: ['admin', 'review', 'read', 'authorize'],
    reviewer: ['review', 'read'],
    read_only: ['read'],
    payment_adapter: ['consume'],
    custom: ['admin'],
  };

  test('every route answers each kind of key as the specification says, and no bad key', async () => {
    const agent = (await post('/v1/agents', { slug: 'omega', authority: AUTHORITY })).body;
    const newKey = async (body: object) => (await post('/v1/api-keys', { name: 'k', ...body })).body;
    const keys: [string, readonly string[], boolean, string][] = [
      ['agent', ['authorize'], true, (await newKey({ agent_id: agent.id })).key],
    ];
    for (const [kind, scopes] of Object.entries(KINDS))
      keys.push([kind, scopes, false, (await newKey({ scopes })).key]);
    const revoked = await newKey({ scopes: KINDS.admin });
    await s.call('DELETE', `/v1/api-keys/${revoked.id}`);
    const expired = await newKey({ scopes: KINDS.admin, expires_in_seconds: 60 });
    await s.sql("update api_keys set expires_at = now() - interval '1 second' where key_id = $1", [
      expired.id,
    ]);
    for (const [method, path, scopes, own] of ROUTES) {
      const send = (key: string | null) =>
        s.call(method, path, {
          key,
          ...(method === 'GET' || method === 'DELETE' ? {} : { body: { nonsense: 1 } }),
        });
      for (const [kind, held, is_agent, key] of keys) {
        const allowed =
          held.some((scope) => (scopes as readonly string[]).includes(scope)) || (is_agent && own);
        const reply = await send(key);
        const label = `${kind} ${method} ${path}`;
        if (allowed) expect([200, 204, 400, 404], label).toContain(reply.status);
        else expect([label, ...refusal(reply)]).toEqual([label, 403, 'insufficient_scope']);
      }
      for (const key of [null, `sk_${'z'.repeat(38)}`, revoked.key, expired.key]) {
        expect([path, ...refusal(await send(key))]).toEqual([path, 401, 'unauthenticated']);
      }
    }
  });

  test("no route shows or touches another workspace's things", async () => {
    const theirs = await s.addWorkspace({ plan: 'team' });
    const agent = (await post('/v1/agents', { slug: 'secret-slug', authority: AUTHORITY }, theirs.admin_key))
      .body;
    const key = (await s.call('GET', '/v1/api-keys', { key: theirs.admin_key })).body.data[0].id;
    const decision = (
      await s.call('POST', '/v1/decisions', {
        key: theirs.admin_key,
        body: spend('secret-slug', 5),
        idempotency_key: freshKey(),
      })
    ).body;
    for (const [method, path, body] of [
      ['GET', `/v1/decisions/${decision.decision_id}`],
      ['GET', `/v1/agents/${agent.id}`],
      ['GET', '/v1/agents/secret-slug'],
      ['PATCH', `/v1/agents/${agent.id}`, { name: 'x' }],
      ['POST', `/v1/agents/${agent.id}/authority`, AUTHORITY],
      ['GET', `/v1/agents/${agent.id}/authority`],
      ['DELETE', `/v1/api-keys/${key}`],
      ['POST', '/v1/api-keys', { name: 'k', agent_id: agent.id }],
      ['POST', '/v1/api-keys', { name: 'k', agent_id: 'secret-slug' }],
      ['POST', '/v1/decisions', spend('secret-slug', 5)],
      ['POST', '/v1/decisions', spend(agent.id, 5)],
    ] as const) {
      const reply = await s.call(method, path, {
        ...(body === undefined ? {} : { body }),
        idempotency_key: freshKey(),
      });
      expect([method, path, ...refusal(reply)]).toEqual([method, path, 404, 'not_found']);
      expect(reply.text).not.toMatch(/secret-slug|staging/);
    }
    for (const path of [
      '/v1/decisions?limit=200',
      '/v1/agents?limit=200',
      '/v1/audit?limit=200',
      '/v1/ledger/events?limit=200',
      `/v1/decisions?agent=${agent.id}`,
    ]) {
      const { text } = await s.call('GET', path);
      for (const id of [agent.id, decision.decision_id, theirs.workspace_id, 'secret-slug'])
        expect(text).not.toContain(id);
    }
  });
});

describe('limits on requests', () => {
  test('the 601st request of a key in a minute is 429 with Retry-After: 60; unknown keys are limited apart', async () => {
    const limited = await startTestService({
      env: { RATE_LIMIT_PER_MINUTE: '600', UNKNOWN_KEY_LIMIT_PER_MINUTE: '30' },
    });
    try {
      const unknown = await Promise.all(
        Array.from({ length: 31 }, () => limited.call('GET', '/v1/workspace', { key: null })),
      );
      expect(unknown.filter((reply) => reply.status === 401)).toHaveLength(30);
      expect(unknown.filter((reply) => reply.status === 429)).toHaveLength(1);
      const replies = [];
      for (let i = 0; i < 12; i++)
        replies.push(
          ...(await Promise.all(Array.from({ length: 50 }, () => limited.call('GET', '/v1/workspace')))),
        );
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
      const over = await limited.call('GET', '/v1/workspace');
      expect([...refusal(over), over.headers.get('retry-after')]).toEqual([429, 'rate_limited', '60']);
    } finally {
      await limited.stop();
    }
  });
});
