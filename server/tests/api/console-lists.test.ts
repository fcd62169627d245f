import { describe, expect } from 'vitest';
import { AUTHORITY, fieldOf, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
type Shown = any;

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
const { test, s, get, post, walk, ask } = serviceTest({
  plan: 'enterprise',
  stopped_at_ms: BEGIN_MS,
  env: { REVIEW_TTL_SECONDS: '600' },
});

describe('lists that can be sorted', () => {
  const reversed = (of: Shown[]) => [...of].reverse();

  test('agents come by their creation or slug, in both directions, page by page', async () => {
    for (const slug of ['sorted-c', 'sorted-a', 'sorted-b']) await post('/v1/agents', { slug });
    const slugs = async (sorting: string) =>
      (await walk(`/v1/agents?q=sorted-${sorting}`)).map(({ slug }) => slug);
    expect(await slugs('')).toEqual(['sorted-b', 'sorted-a', 'sorted-c']);
    expect(await slugs('&order=asc')).toEqual(['sorted-c', 'sorted-a', 'sorted-b']);
    expect(await slugs('&sort=slug&order=asc')).toEqual(['sorted-a', 'sorted-b', 'sorted-c']);
    expect(await slugs('&sort=slug')).toEqual(['sorted-c', 'sorted-b', 'sorted-a']);
    const { next_cursor } = await get('/v1/agents?q=sorted-&sort=slug&limit=1');
    const reply = await s.call('GET', `/v1/agents?q=sorted-&limit=1&cursor=${next_cursor}`);
    expect([reply.status, fieldOf(reply)]).toEqual([400, 'cursor']);
  });

  test('keys come oldest first where that is asked', async () => {
    for (let i = 0; i < 3; i++) await makeKey(s, { scopes: ['read'] });
    const ids = async (sorting: string) => (await walk(`/v1/api-keys${sorting}`)).map(({ id }) => id);
    const newest_first = await ids('');
    expect(newest_first.length).toBeGreaterThan(3);
    expect(await ids('?sort=created_at&order=asc')).toEqual(reversed(newest_first));
  });

  test('listed merchants come by name whatever its capitals, and a page continues behind an entry that was removed', async () => {
    await post('/v1/agents', { slug: 'sorting', authority: AUTHORITY });
    const entries = ['beta', 'Alpha', 'Gamma', 'delta'].map((merchant) => ({ merchant, verdict: 'ALLOWED' }));
    await post('/v1/agents/sorting/merchants', { entries });
    const names = async (sorting: string) =>
      (await walk(`/v1/agents/sorting/merchants?${sorting}`)).map(({ merchant }) => merchant);
    expect(await names('sort=merchant&order=asc')).toEqual(['Alpha', 'beta', 'delta', 'Gamma']);
    expect(await names('sort=merchant')).toEqual(['Gamma', 'delta', 'beta', 'Alpha']);
    expect(await names('order=asc')).toEqual(reversed(await names('')));
    const path = '/v1/agents/sorting/merchants?sort=merchant&order=asc';
    const first = await get(`${path}&limit=2`);
    await s.call('DELETE', `/v1/agents/sorting/merchants/${first.data[1].entry_id}`);
    const { data } = await get(`${path}&cursor=${first.next_cursor}`);
    expect(data.map(({ merchant }: Shown) => merchant)).toEqual(['delta', 'Gamma']);
  });
});

describe('GET /v1/changes', () => {
  test('changes tell the head alone at first, then what came since, by type, and what waits for a person', async () => {
    await post('/v1/agents', {
      slug: 'changing',
      mode: 'ENFORCE',
      authority: { ...AUTHORITY, review_threshold_minor: 1_000, on_purpose_unclear: 'ALLOW' },
    });
    const first = await get('/v1/changes');
    expect(first).toEqual({ seq: first.seq, types: {}, pending_reviews: 0, truncated: false });
    expect((await get('/v1/ledger/events?limit=1')).data[0].seq).toBe(first.seq);
    await ask('changing', 10);
    await ask('changing', 20);
    const waiting = await ask('changing', 2_000);
    const then = await get(`/v1/changes?since=${first.seq}`);
    expect(then).toEqual({
      seq: first.seq + 3,
      types: { 'decision.created': 3 },
      pending_reviews: 1,
      truncated: false,
    });
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'] })).key;
    const body = { action: 'DENY', reason_code: 'NO' };
    await s.call('POST', `/v1/decisions/${waiting.decision_id}/reviews`, { key: reviewer, body });
    expect(await get(`/v1/changes?since=${then.seq}`, reviewer)).toEqual({
      seq: then.seq + 2,
      types: { 'api_key.created': 1, 'decision.review.recorded': 1 },
      pending_reviews: 0,
      truncated: false,
    });
    expect((await get(`/v1/changes?since=${then.seq + 2}`)).types).toEqual({});
  });

  test('changes say that all must be read anew where `since` is ahead of the chain, or too far behind it', async () => {
    const { seq } = await get('/v1/changes');
    expect(await get(`/v1/changes?since=${seq + 1}`)).toMatchObject({ seq, types: {}, truncated: true });
    expect(await get(`/v1/changes?since=${Number.MAX_SAFE_INTEGER}`)).toMatchObject({ seq, truncated: true });
    await Promise.all(Array.from({ length: 501 }, () => ask('changing', 1)));
    const behind = await get(`/v1/changes?since=${seq}`);
    expect(behind).toMatchObject({ types: { 'decision.created': 500 }, truncated: true });
    expect(await get(`/v1/changes?since=${seq + 1}`)).toMatchObject({
      types: { 'decision.created': 500 },
      truncated: false,
    });
  });

  test('a review whose time ran out waits no more, though nothing of it is in the chain yet', async () => {
    const { seq, pending_reviews } = await get('/v1/changes');
    await ask('changing', 3_000);
    expect((await get(`/v1/changes?since=${seq}`)).pending_reviews).toBe(pending_reviews + 1);
    await s.setClock(BEGIN_MS + 700_000);
    await ask('changing', 1);
    expect((await get('/v1/changes')).pending_reviews).toBe(pending_reviews);
  });

  test('a bad `since` is refused by its name; a workspace sees its own chain alone', async () => {
    for (const since of ['-1', 'x', '1.5', '']) {
      const reply = await s.call('GET', `/v1/changes?since=${since}`);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'since']);
    }
    const other = await s.addWorkspace({ plan: 'team' });
    expect(await get('/v1/changes?since=0', other.admin_key)).toEqual({
      seq: 2,
      types: { 'api_key.created': 1, 'workspace.created': 1 },
      pending_reviews: 0,
      truncated: false,
    });
  });
});

describe('GET /v1/agents', () => {
  test('agents are filtered by status, mode and a part of slug or name, one by one and together', async () => {
    const agents: { slug: string; name: string; mode: string; status: string }[] = [];
    for (const [slug, name, mode, status] of [
      ['list-a', 'Ärger_1', 'SHADOW', 'active'],
      ['list-b', 'ÄRGER%2', 'ENFORCE', 'paused'],
      ['list-c', 'Plain', 'ENFORCE', 'revoked'],
      ['list-d', 'Plain list', 'SHADOW', 'paused'],
      ['e', 'Enlist', 'SHADOW', 'active'],
    ] as const) {
      const { id } = await post('/v1/agents', { slug, name, mode });
      if (status !== 'active') await s.call('PATCH', `/v1/agents/${id}`, { body: { status } });
      agents.push({ slug, name, mode, status });
    }
    const holds: Record<string, (agent: (typeof agents)[number], value: string) => boolean> = {
      status: (agent, value) => value.split(',').includes(agent.status),
      mode: (agent, value) => value.split(',').includes(agent.mode),
      q: (agent, value) => `${agent.slug}\n${agent.name}`.toLowerCase().includes(value.toLowerCase()),
    };
    for (const filters of [
      { q: 'LIST' },
      { q: 'ärger' },
      { q: '%' },
      { q: '_' },
      { q: 'list-', status: 'paused' },
      { q: 'list', status: 'paused,revoked', mode: 'ENFORCE' },
      { q: 'list', mode: 'SHADOW,ENFORCE' },
      { q: 'nobody' },
    ]) {
      const expected = agents.filter((agent) =>
        Object.entries(filters).every(([name, value]) => holds[name]?.(agent, value)),
      );
      const found = await walk(`/v1/agents?${new URLSearchParams(filters)}`);
      expect([filters, found.map(({ slug }) => slug)]).toEqual([
        filters,
        expected.map(({ slug }) => slug).reverse(),
      ]);
    }
    for (const [name, value] of [
      ['status', 'gone'],
      ['mode', 'SHADOW,'],
      ['q', ''],
    ]) {
      const reply = await s.call('GET', `/v1/agents?${name}=${value}`);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', name]);
    }
  });

  test('every agent shows what is left of its budgets this month, and when it last asked', async () => {
    const authority = { ...AUTHORITY, monthly_budget_minor: 10_000 };
    await post('/v1/agents', { slug: 'budget-a', authority });
    await post('/v1/agents', { slug: 'budget-b', authority: { ...AUTHORITY, currency: 'JPY' } });
    await post('/v1/agents', { slug: 'budget-c' });
    await ask('budget-a', 1_000);
    const { decision_id, created_at } = await ask('budget-a', 2_000);
    const paid = { type: 'SPEND_EXECUTED', amount_minor: 1_500 };
    await s.call('POST', `/v1/decisions/${decision_id}/outcomes`, { body: paid });
    await s.call('POST', '/v1/agents/budget-a/authority', { body: { ...AUTHORITY, currency: 'USD' } });
    const [c, b, a] = await walk('/v1/agents?q=budget-');
    expect([c.budgets, c.last_decision_at]).toEqual([[], null]);
    const none = { limit_minor: null, remaining_minor: null, held_minor: 0, committed_minor: 0 };
    expect([b.budgets, b.last_decision_at]).toEqual([[{ currency: 'JPY', ...none }], null]);
    expect(a.budgets).toEqual([
      { currency: 'USD', ...none },
      { currency: 'EUR', ...none, held_minor: 1_000, committed_minor: 1_500 },
    ]);
    expect(a.last_decision_at).toBe(created_at);
    for (const agent of [a, b, c]) expect(await get(`/v1/agents/${agent.slug}`)).toEqual(agent);
  });
});

describe('versions of an authority', () => {
  test('versions of an authority are listed newest first with their notes, which are no part of their hash', async () => {
    await post('/v1/agents', { slug: 'versions', authority: AUTHORITY });
    const second = await post('/v1/agents/versions/authority', { ...AUTHORITY, note: 'Nothing new.' });
    const third = await post('/v1/agents/versions/authority', { ...AUTHORITY, monthly_budget_minor: 5 });
    const [v3, v2, v1] = await walk('/v1/agents/versions/authority/versions');
    expect([v3, v2]).toEqual([third, second]);
    expect([v2.note, v3.note, v1.note]).toEqual(['Nothing new.', null, null]);
    expect(v2.authority).toEqual(AUTHORITY);
    expect([v1.version, v1.hash]).toEqual([1, v2.hash]);
    expect(await get('/v1/agents/versions/authority?version=2')).toEqual(second);
    const { data } = await get('/v1/audit?limit=2');
    expect(data.map((record: Shown) => record.changes.note ?? null)).toEqual([
      null,
      { from: null, to: 'Nothing new.' },
    ]);
    expect(await get('/v1/ledger/verify')).toMatchObject({ valid: true, breaks: [] });
    const own = (await makeKey(s, { agent_id: 'versions' })).key;
    expect((await get('/v1/agents/versions/authority/versions', own)).data).toHaveLength(3);
    await s.sql(`update authorities set note = 'Something else.' where note = 'Nothing new.'`);
    expect((await get('/v1/ledger/verify')).valid).toBe(false);
    await s.sql(`update authorities set note = 'Nothing new.' where note = 'Something else.'`);
    expect((await get('/v1/ledger/verify')).valid).toBe(true);
  });

  test('if-match lets only one of two editors save', async () => {
    await post('/v1/agents', { slug: 'edited' });
    const save = (hash: string | null, body: object = AUTHORITY) =>
      s.call('POST', '/v1/agents/edited/authority', {
        body,
        ...(hash === null ? {} : { headers: { 'if-match': hash } }),
      });
    const nothing = await save(`"sha256:${'0'.repeat(64)}"`);
    expect(refusal(nothing)).toEqual([409, 'authority_changed']);
    expect(nothing.body.error.message).toContain('has no authority');
    const { hash } = (await save(null)).body;
    const both = await Promise.all(
      [1, 2].map((monthly_budget_minor) => save(`"${hash}"`, { ...AUTHORITY, monthly_budget_minor })),
    );
    expect(both.map((reply) => reply.status).sort()).toEqual([201, 409]);
    const late = both.find((reply) => reply.status === 409);
    expect(late?.body.error).toMatchObject({ code: 'authority_changed' });
    expect(late?.body.error.message).toContain('version 2');
    expect((await get('/v1/agents/edited')).authority_version).toBe(2);
    for (const bad of [hash, '*', '"sha256:short"', 'W/"x"', '']) {
      const reply = await save(bad);
      expect([bad, ...refusal(reply), fieldOf(reply)]).toEqual([bad, 400, 'invalid_request', 'if-match']);
    }
    const long = await save(null, { ...AUTHORITY, note: 'x'.repeat(2_001) });
    expect([...refusal(long), fieldOf(long)]).toEqual([400, 'invalid_request', 'note']);
    const simulated = await s.call('POST', '/v1/agents/edited/authority/simulate', {
      body: { ...AUTHORITY, note: 'x' },
    });
    expect([...refusal(simulated), fieldOf(simulated)]).toEqual([400, 'invalid_request', 'note']);
  });
});

test('of a key it is told who made it', async () => {
  const admin = await makeKey(s, { scopes: ['admin', 'read'], principal_id: 'user:grace' });
  const made = (await post('/v1/api-keys', { name: 'k', scopes: ['read'] }, admin.key)) as Shown;
  const keys = await walk('/v1/api-keys');
  const creatorOf = (id: string) => keys.find((key: Shown) => key.id === id)?.created_by;
  expect(creatorOf(made.id)).toEqual({ type: 'api_key', key_id: admin.id, principal_id: 'user:grace' });
  const first = keys.at(-1) as Shown;
  expect(first.created_by).toEqual({ type: 'system', key_id: null, principal_id: null });
});

test('keys are filtered by agent, status and kind, one by one and together', async () => {
  await post('/v1/agents', { slug: 'keyed' });
  await post('/v1/agents', { slug: 'keyed-too' });
  const { id: agent_id } = await get('/v1/agents/keyed');
  await makeKey(s, { agent_id: 'keyed' });
  const gone = await makeKey(s, { agent_id: 'keyed' });
  await makeKey(s, { agent_id: 'keyed-too', expires_in_seconds: 60 });
  await makeKey(s, { scopes: ['consume'], expires_in_seconds: 60 });
  await s.call('DELETE', `/v1/api-keys/${gone.id}`);
  await s.setClock(BEGIN_MS + 3_600_000);
  // When a key was last used is noted behind the requests.
  const keys = async (query = '') =>
    (await walk(`/v1/api-keys${query}`)).map(({ last_used_at, ...key }) => key);
  const all = await keys();
  const { id: other_id } = await get('/v1/agents/keyed-too');
  const ids: Record<string, string[]> = {
    keyed: [agent_id],
    [agent_id]: [agent_id],
    'keyed,keyed-too': [agent_id, other_id],
    nobody: [],
  };
  const holds: Record<string, (key: Shown, value: string) => boolean> = {
    agent: (key, value) => (ids[value] ?? []).includes(key.agent_id),
    status: (key, value) => value.split(',').includes(key.status),
    kind: (key, value) => value.split(',').includes(key.kind),
  };
  for (const filters of [
    { agent: 'keyed' },
    { agent: agent_id },
    { agent: 'keyed,keyed-too' },
    { agent: 'nobody' },
    { status: 'active' },
    { status: 'expired,revoked' },
    { kind: 'agent,payment_adapter' },
    { kind: 'admin' },
    { agent: 'keyed,keyed-too', status: 'expired', kind: 'agent' },
  ]) {
    const expected = all.filter((key) =>
      Object.entries(filters).every(([name, value]) => holds[name]?.(key, value)),
    );
    expect([filters, await keys(`?${new URLSearchParams(filters as Record<string, string>)}`)]).toEqual([
      filters,
      expected,
    ]);
  }
  for (const [name, value] of [
    ['agent', 'No One'],
    ['status', 'lost'],
    ['kind', 'admin,root'],
  ]) {
    const reply = await s.call('GET', `/v1/api-keys?${name}=${value}`);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', name]);
  }
});

test('the workspace’s name and the mode of new agents can be changed, with an audit record', async () => {
  const before = await get('/v1/workspace');
  const patch = (body: object, key?: string) =>
    s.call('PATCH', '/v1/workspace', { body, ...(key === undefined ? {} : { key }) });
  const renamed = await patch({ name: '  Payments  ' });
  expect([renamed.status, renamed.body]).toEqual([200, { ...before, name: 'Payments' }]);
  expect((await patch({ mode: 'ENFORCE' })).body).toEqual({ ...before, name: 'Payments', mode: 'ENFORCE' });
  expect(await get('/v1/workspace')).toMatchObject({ name: 'Payments', mode: 'ENFORCE' });
  expect((await post('/v1/agents', { slug: 'born-enforced' })).mode).toBe('ENFORCE');
  const { seq } = await get('/v1/changes');
  expect((await patch({})).status).toBe(200);
  expect((await patch({ mode: 'ENFORCE', name: 'Payments' })).status).toBe(200);
  expect((await get('/v1/changes')).seq).toBe(seq);
  const updates = (await get('/v1/audit?limit=5')).data.filter(
    (each: Shown) => each.action === 'workspace.updated',
  );
  expect(updates.map((each: Shown) => [each.target, each.changes])).toEqual([
    [{ type: 'workspace', id: s.workspace_id }, { mode: { from: 'SHADOW', to: 'ENFORCE' } }],
    [{ type: 'workspace', id: s.workspace_id }, { name: { from: before.name, to: 'Payments' } }],
  ]);
  for (const [body, field] of [
    [{ name: '' }, 'name'],
    [{ mode: 'LIVE' }, 'mode'],
    [{ plan: 'free' }, 'plan'],
  ] as const) {
    const reply = await patch(body);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
  }
  const free = await s.addWorkspace({ plan: 'free' });
  expect(refusal(await patch({ mode: 'ENFORCE' }, free.admin_key))).toEqual([409, 'plan_required']);
  expect((await get('/v1/ledger/verify')).valid).toBe(true);
});

describe('GET /v1/reports/overview', () => {
  test('the overview counts both modes, and all that waits now, of one agent on request', async () => {
    const { admin_key: key } = await s.addWorkspace({ plan: 'team' });
    const authority = { ...AUTHORITY, review_threshold_minor: 1_000, per_transaction_limit_minor: 5_000 };
    for (const mode of ['SHADOW', 'ENFORCE'])
      await post('/v1/agents', { slug: mode.toLowerCase(), mode, authority }, key);
    for (const [slug, amount] of [
      ['shadow', 10],
      ['shadow', 2_000],
      ['enforce', 20],
      ['enforce', 3_000],
      ['enforce', 6_000],
      ['enforce', 1_500],
    ] as const) {
      await ask(slug, amount, {}, key);
    }
    const all = await get('/v1/reports/overview', key);
    const counted = (rows: Shown[], name: string) =>
      rows.map((row) => [row[name], row.count, row.shadow, row.enforce]);
    expect(counted(all.by_decision, 'decision')).toEqual([
      ['ALLOW', 2, 1, 1],
      ['REVIEW', 3, 1, 2],
      ['DENY', 1, 0, 1],
    ]);
    expect(all.by_day).toMatchObject([
      {
        day: '2026-11-21',
        count: 6,
        shadow: { count: 2, allow: 1, review: 1, deny: 0 },
        enforce: { count: 4, allow: 1, review: 2, deny: 1 },
      },
    ]);
    expect(all.by_agent.map((row: Shown) => [row.agent.slug, row.mode, row.count])).toEqual([
      ['enforce', 'ENFORCE', 4],
      ['shadow', 'SHADOW', 2],
    ]);
    expect(counted(all.by_merchant, 'merchant')).toEqual([['Hetzner Online', 6, 2, 4]]);
    // Of the history from some entry on nothing is kept: it does not speak of the whole.
    await get('/v1/ledger/verify?since=3', key);
    expect((await get('/v1/reports/overview', key)).last_verification).toBeNull();
    const { checked_at, events_checked } = await get('/v1/ledger/verify', key);
    expect((await get('/v1/reports/overview', key)).last_verification).toEqual({
      checked_at,
      valid: true,
      events_checked,
      first_break_seq: null,
    });
    expect(all.by_currency).toMatchObject([
      { currency: 'EUR', count: 6, amount_minor: 12_530, deny: { count: 1 } },
    ]);
    expect(all.pending_reviews).toEqual({
      count: 3,
      amounts: [{ currency: 'EUR', count: 3, amount_minor: 6_500 }],
      next_expires_at: expect.any(String),
    });
    const [soonest] = (await get('/v1/decisions?order=expires&limit=1', key)).data;
    expect(all.pending_reviews.next_expires_at).toBe(soonest.reservation.expires_at);
    const one = await get('/v1/reports/overview?agent=shadow&from=2026-01-01&to=2026-02-01', key);
    expect(one).toMatchObject({ agent: { slug: 'shadow' }, by_day: [], by_agent: [], by_currency: [] });
    expect(one.pending_reviews).toEqual({
      count: 1,
      amounts: [{ currency: 'EUR', count: 1, amount_minor: 2_000 }],
      next_expires_at: null,
    });
    expect(refusal(await s.call('GET', '/v1/reports/overview?agent=nobody', { key }))).toEqual([
      404,
      'not_found',
    ]);
    const wrong = await s.call('GET', '/v1/reports/overview?from=x', { key });
    expect([...refusal(wrong), fieldOf(wrong)]).toEqual([400, 'invalid_request', 'from']);
  });

  test('the shadow report comes as CSV where it is asked for, with no cell that a spreadsheet would run', async () => {
    const { admin_key: key } = await s.addWorkspace({ plan: 'team' });
    await post('/v1/agents', { slug: 'a', authority: AUTHORITY }, key);
    await ask('a', 70, { action: { merchant: '=cmd|calc' } }, key);
    const reply = await s.call('GET', '/v1/reports/shadow', { key, headers: { accept: 'text/csv' } });
    expect(reply.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(reply.headers.get('content-disposition')).toContain('shadow-report.csv');
    const lines = reply.text.split('\n').slice(0, -1);
    expect(lines[0]).toBe(
      'section,name,count,allow,review,deny,currency,currency_count,amount_minor,from,to,amount_cut',
    );
    const of = (section: string) => lines.filter((line) => line.startsWith(`${section},`));
    expect(of('by_merchant').map((line) => line.split(',')[1])).toEqual(["'=cmd|calc"]);
    expect(of('by_agent')[0]).toMatch(/^by_agent,a,1,\d,\d,\d,EUR,1,70,/);
    expect(of('by_day')).toHaveLength(1);
    const json = await s.call('GET', '/v1/reports/shadow', {
      key,
      headers: { accept: 'application/json, text/csv;q=0.5' },
    });
    expect(json.body.totals.count).toBe(1);
  });
});
