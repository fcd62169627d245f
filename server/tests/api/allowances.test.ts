import { describe, expect, test } from 'vitest';
import { AUTHORITY, freshKey, makeKey, spend } from '../support/running-service.ts';
import { makeClient, twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

/** Two nodes of one installation. */
const { s, beside } = twoNodes({ plan: 'enterprise' });

// Nobody is asked about purpose or the month here.
const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const client = makeClient(s);
const { get, post, makeAgent, walk } = client;
const agentOf = (more: object = {}) => makeAgent({ ...OPEN, ...more }, { mode: 'ENFORCE' });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const allow = (more: object, key?: string): Promise<Shown> =>
  post('/v1/allowances', { amount_minor: 1_000, ...more }, key);
const forAgent = (agent: string, more: object = {}) =>
  allow({ agent, currency: 'EUR', expires_at: inDays(7), ...more });
const read = (id: string, key?: string) => get(`/v1/allowances/${id}`, key);
const revoke = async (id: string, key?: string, on = s) => {
  const options = { body: {}, ...(key === undefined ? {} : { key }) };
  const reply = await on.call('POST', `/v1/allowances/${id}/revoke`, options);
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
};
const patch = (id: string, body: object) => s.call('PATCH', `/v1/allowances/${id}`, { body });
/** The decision on a spend; 503 is asked again, as clients do. */
const ask = async (agent: string, amount_minor: number, more: object = {}, on = s): Promise<Shown> => {
  const given = { body: { ...spend(agent, amount_minor), ...more }, idempotency_key: freshKey() };
  let reply = await on.call('POST', '/v1/decisions', given);
  while (reply.status === 503) reply = await on.call('POST', '/v1/decisions', given);
  expect([200, 201], reply.text).toContain(reply.status);
  return reply.body;
};
const refused = async (path: string, body: unknown, options: { method?: string; key?: string } = {}) => {
  const { method = 'POST', key } = options;
  const reply = await s.call(method, path, {
    body,
    idempotency_key: freshKey(),
    ...(key === undefined ? {} : { key }),
  });
  return [reply.status, reply.body.error?.code, reply.body.error?.message];
};
const stagesOf = ({ policy_trace }: Shown) =>
  policy_trace.filter(({ stage }: { stage: string }) => stage === 'allowance');
const report = (id: string, type: string, amount_minor?: number, more: object = {}) =>
  post(`/v1/decisions/${id}/outcomes`, {
    type,
    ...(amount_minor === undefined ? {} : { amount_minor }),
    ...more,
  });
const valid = async () => {
  const found = await get('/v1/ledger/verify');
  expect(found.breaks).toEqual([]);
};

describe('an allowance', () => {
  test('is made, read and listed with its usage', async () => {
    const agent = await agentOf();
    const made = await forAgent(agent, {
      name: 'Nightly build',
      labels: { run: '17', customer: 'c42' },
      external_id: 'run-17',
      period: 'MONTH',
      time_zone: 'Europe/Berlin',
      max_count: 3,
      merchants: ['Hetzner Online'],
      purpose: 'Compute for the nightly build',
      expected_items: ['servers'],
    });
    expect(made).toMatchObject({
      id: expect.stringMatching(/^alw_/),
      status: 'OPEN',
      source: 'API',
      agent: { slug: agent },
      budget: null,
      parent: null,
      currency: 'EUR',
      amount_minor: 1_000,
      period: 'MONTH',
      time_zone: 'Europe/Berlin',
      per_spend_limit_minor: null,
      max_count: 3,
      merchants: ['Hetzner Online'],
      payee_ids: null,
      action_types: null,
      purpose: 'Compute for the nightly build',
      expected_items: ['servers'],
      answers: [],
      automatic: false,
      labels: { run: '17', customer: 'c42' },
      name: 'Nightly build',
      standing: { kind: 'allowance', limit_minor: 1_000, used_minor: 0, limit_count: 3, used_count: 0 },
      total: { used_minor: 0, used_count: 0 },
      last_used_at: null,
      request: null,
      decided: null,
      revoked: null,
    });
    expect(await read(made.id)).toEqual(made);
    for (const filter of [
      `agent=${agent}`,
      `agent=${made.agent.id}`,
      'label=customer:c42',
      'external_id=run-17',
      `agent=${agent}&status=OPEN,EXPIRED&automatic=false`,
    ])
      expect((await walk(`/v1/allowances?${filter}`)).map(({ id }) => id)).toEqual([made.id]);
    for (const filter of [
      'label=customer:c4',
      'external_id=run-1',
      'status=REVOKED',
      'automatic=true',
      'agent=nobody',
    ])
      expect((await walk(`/v1/allowances?${filter}`)).map(({ id }) => id)).not.toContain(made.id);
  });

  test('of a wrong shape is refused by the field’s name', async () => {
    const agent = await agentOf();
    const parent = await forAgent(agent, { labels: { a: '1' } });
    await post('/v1/budgets', { slug: 'dollars', currency: 'USD', period: 'MONTH', limit_minor: 100 });
    const good = { agent, currency: 'EUR', amount_minor: 5, expires_at: inDays(7) };
    const below = { parent: parent.id, amount_minor: 5 };
    const deep = [parent.id];
    for (let depth = 2; depth <= 4; depth++) deep.push((await allow({ ...below, parent: deep.at(-1) })).id);
    const gone = await forAgent(agent);
    await revoke(gone.id);
    const cases: [object, number, string, string][] = [
      [{ ...good, agent: undefined }, 400, 'invalid_request', 'agent'],
      [{ ...good, agent: 'nobody' }, 404, 'not_found', 'agent'],
      [{ ...good, budget: 'nobody' }, 404, 'not_found', 'budget'],
      [{ ...good, budget: 'dollars' }, 400, 'invalid_request', 'currency'],
      [{ ...good, currency: undefined }, 400, 'invalid_request', 'currency'],
      [{ ...good, amount_minor: 0 }, 400, 'invalid_request', 'amount_minor'],
      [{ ...good, max_count: 0 }, 400, 'invalid_request', 'max_count'],
      [{ ...good, merchants: [] }, 400, 'invalid_request', 'merchants'],
      [{ ...good, expires_at: undefined }, 400, 'invalid_request', 'expires_at'],
      [{ ...good, expires_at: inDays(-1) }, 400, 'invalid_request', 'expires_at'],
      [{ ...good, expires_at: inDays(367) }, 400, 'invalid_request', 'expires_at'],
      [{ ...good, expected_items: ['x'] }, 400, 'invalid_request', 'expected_items'],
      [{ ...good, labels: { 'Not good': 'x' } }, 400, 'invalid_request', 'labels'],
      [{ ...good, labels: { good: '' } }, 400, 'invalid_request', 'labels.good'],
      [{ ...good, unknown: 1 }, 400, 'invalid_request', 'unknown'],
      [{ ...below, agent }, 400, 'invalid_request', 'agent'],
      [{ ...below, currency: 'USD' }, 400, 'invalid_request', 'currency'],
      [{ ...below, amount_minor: 1_001 }, 400, 'invalid_request', 'amount_minor'],
      [{ ...below, expires_at: inDays(8) }, 400, 'invalid_request', 'expires_at'],
      [{ ...below, labels: { a: '2' } }, 400, 'invalid_request', 'labels.a'],
      [{ ...below, parent: 'alw_unknown' }, 404, 'not_found', 'parent'],
      [{ ...below, parent: deep.at(-1) }, 400, 'invalid_request', 'parent'],
      [{ ...below, parent: gone.id }, 409, 'allowance_not_open', 'parent'],
    ];
    for (const [body, status, code, field] of cases) {
      expect(await refused('/v1/allowances', body)).toEqual([status, code, expect.stringContaining(field)]);
      const several = { allowances: [good, body] };
      expect(await refused('/v1/allowances/batch', several)).toEqual([
        status,
        code,
        expect.stringContaining(`allowances[1].${field}`),
      ]);
    }
    expect((await walk(`/v1/allowances?agent=${agent}&status=OPEN`)).length).toBe(4);
  });

  test('is made once for its external id, however often it is sent', async () => {
    const agent = await agentOf();
    const body = { agent, currency: 'EUR', amount_minor: 5, expires_at: inDays(7), external_id: freshKey() };
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? s : beside).call('POST', '/v1/allowances', { body })),
    );
    expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1);
    expect(replies.filter(({ status }) => status === 201).length).toBe(1);
    const again = await s.call('POST', '/v1/allowances', { body });
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([200, 'true']);
    const other = { ...body, amount_minor: 6 };
    expect(await refused('/v1/allowances', other)).toEqual([409, 'allowance_exists', expect.any(String)]);
    // Another creator has external ids of its own.
    const { key } = await makeKey(s, { scopes: ['admin'] });
    expect((await allow(body, key)).id).not.toBe(again.body.id);
    const { data } = await post('/v1/allowances/batch', {
      allowances: [body, { ...body, external_id: freshKey() }],
    });
    expect(data[0].id).toBe(again.body.id);
  });
});

describe('a spend under an allowance', () => {
  test('counts in it, in all above it and in their budgets, and gives back everywhere', async () => {
    await post('/v1/budgets', { slug: 'team', currency: 'EUR', period: 'MONTH', limit_minor: 10_000 });
    const agent = await agentOf();
    const above = await allow({
      agent,
      budget: 'team',
      currency: 'EUR',
      expires_at: inDays(7),
      labels: { team: 'x', customer: 'Doe, John' },
    });
    const below = await allow({ parent: above.id, amount_minor: 600, period: 'DAY' });
    expect(below).toMatchObject({
      agent: { slug: agent },
      currency: 'EUR',
      labels: { team: 'x' },
      expires_at: above.expires_at,
    });
    const made = await ask(agent, 400, { allowance: below.id });
    expect(made).toMatchObject({
      decision: 'ALLOW',
      allowance: { id: below.id, name: null, labels: { team: 'x', customer: 'Doe, John' } },
    });
    expect(stagesOf(made).map(({ name, outcome }: Shown) => [name, outcome])).toEqual([
      [below.id, 'PASS'],
      [above.id, 'PASS'],
    ]);
    expect(made.reservation.limits).toMatchObject([
      { kind: 'shared_budget', name: 'team', used_minor: 400 },
      { kind: 'allowance', name: below.id, subject: null, used_minor: 400, used_count: 1 },
      { kind: 'allowance', name: below.id, subject: 'all', used_minor: 400 },
      { kind: 'allowance', name: above.id, used_minor: 400, remaining_minor: 600 },
    ]);
    const used = async () => [
      (await read(below.id)).standing.used_minor,
      (await read(below.id)).total.used_minor,
      (await read(above.id)).standing.used_minor,
      (await get('/v1/budgets/team')).standing.used_minor,
    ];
    expect(await used()).toEqual([400, 400, 400, 400]);
    expect((await read(above.id)).last_used_at).toBe(made.created_at);
    await report(made.decision_id, 'SPEND_EXECUTED', 300);
    expect(await used()).toEqual([300, 300, 300, 300]);
    await report(made.decision_id, 'PARTIALLY_REFUNDED', 100, { source: 'PAYMENT_RAIL' }).catch(() => {});
    const second = await ask(agent, 100, { allowance: below.id });
    await report(second.decision_id, 'SPEND_FAILED');
    expect((await used()).every((each) => each <= 300)).toBe(true);
    for (const filter of [
      `allowance=${below.id}`,
      `allowance=${above.id}`,
      `label=team:x&agent=${agent}`,
      'label=customer:Doe%5C,%20John',
      'label=team:y,customer:Doe%5C,%20John,team:z',
    ])
      expect((await walk(`/v1/decisions?${filter}`)).map((each) => each.decision_id)).toEqual([
        second.decision_id,
        made.decision_id,
      ]);
    for (const none of ['team:y', 'customer:Doe', 'customer:Doe,team:y', 'customer:Doe%5C%5C,team:y'])
      expect(await walk(`/v1/decisions?label=${none}`)).toEqual([]);
    for (const wrong of ['customer:Doe,%20John', 'team:x,PURPOSE_ALIGNDE', ',team:x', 'team:x,'])
      expect(await s.call('GET', `/v1/decisions?label=${wrong}`)).toMatchObject({
        status: 400,
        body: {
          error: {
            code: 'invalid_request',
            message: expect.stringContaining('a comma in a value is written \\,'),
          },
        },
      });
    await valid();
  });

  test('is denied or capped by the first thing that holds, and says what would help', async () => {
    const agent = await agentOf();
    const bounded = await forAgent(agent, {
      merchants: ['Hetzner Online'],
      action_types: ['Purchase'],
      per_spend_limit_minor: 500,
      max_count: 2,
    });
    const to = (more: object) => ({ action: { ...spend(agent, 100).action, ...more } });
    const found = async (amount_minor: number, more: object = {}) => {
      const {
        decision,
        reason_code,
        authorized_amount_minor: amount,
      } = await ask(agent, amount_minor, {
        allowance: bounded.id,
        ...more,
      });
      return [decision, reason_code, amount];
    };
    expect(await found(0, to({ merchant: 'Elsewhere' }))).toEqual(['DENY', 'OUTSIDE_ALLOWANCE', 0]);
    expect(await found(0, to({ type: 'top_up' }))).toEqual(['DENY', 'OUTSIDE_ALLOWANCE', 0]);
    expect(await found(501)).toEqual(['DENY', 'ALLOWANCE_EXCEEDED', 0]);
    expect(await found(501, { limitable: true })).toEqual(['ALLOW', 'AMOUNT_LIMITED', 500]);
    expect(await found(400)).toEqual(['ALLOW', 'WITHIN_AUTHORITY', 400]);
    expect(await found(1, { limitable: true })).toEqual(['DENY', 'ALLOWANCE_EXCEEDED', 0]);
    const payees = await forAgent(agent, { payee_ids: ['sepa:DE1'] });
    expect((await ask(agent, 1, { allowance: payees.id })).reason_code).toBe('OUTSIDE_ALLOWANCE');
    const dollars = await forAgent(agent, { currency: 'USD' });
    const denied = await ask(agent, 1, { allowance: dollars.id });
    expect(denied).toMatchObject({ decision: 'DENY', reason_code: 'OUTSIDE_ALLOWANCE' });
    expect(denied.remedies).toContainEqual({
      type: 'REQUEST_ALLOWANCE',
      amount_minor: 1,
      clears: ['OUTSIDE_ALLOWANCE'],
      then: 'ALLOW',
    });
    expect((await read(bounded.id)).status).toBe('EXHAUSTED');
    await valid();
  });

  test('must be named where the authority requires one', async () => {
    const agent = await agentOf({ allowance_required: true });
    const denied = await ask(agent, 100);
    expect(denied).toMatchObject({ decision: 'DENY', reason_code: 'ALLOWANCE_REQUIRED' });
    expect(denied.remedies.map(({ type }: Shown) => type)).toContain('REQUEST_ALLOWANCE');
    const { id } = await forAgent(agent);
    expect((await ask(agent, 100, { allowance: id })).decision).toBe('ALLOW');
  });

  test('of another agent, or unknown, is not there; one of any agent is', async () => {
    const [one, other] = [await agentOf(), await agentOf()];
    const { id } = await forAgent(one);
    for (const allowance of [id, 'alw_01KAJ5F0V8Z3M2Q9X7T4R6N1BD']) {
      const body = { ...spend(other, 1), allowance };
      expect(await refused('/v1/decisions', body)).toEqual([404, 'not_found', expect.any(String)]);
    }
    await post('/v1/budgets', { slug: 'everybody', currency: 'EUR', period: 'TOTAL', limit_minor: 150 });
    const any = await allow({ budget: 'everybody', currency: 'EUR', expires_at: inDays(1) });
    expect((await ask(one, 100, { allowance: any.id })).decision).toBe('ALLOW');
    expect(await ask(other, 100, { allowance: any.id })).toMatchObject({
      decision: 'DENY',
      reason_code: 'BUDGET_EXCEEDED',
    });
  });

  test('20 at once on an allowance for 10, over two nodes: exactly 10, also in its parent', async () => {
    const agents = [await agentOf(), await agentOf(), await agentOf()];
    await post('/v1/budgets', { slug: 'race', currency: 'EUR', period: 'TOTAL', limit_minor: 1_000_000 });
    const parent = await allow({
      budget: 'race',
      currency: 'EUR',
      expires_at: inDays(1),
      amount_minor: 1_000,
    });
    const children = await Promise.all(agents.map(() => allow({ parent: parent.id, amount_minor: 900 })));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        ask(agents[i % 3] as string, 100, { allowance: children[i % 3].id }, i % 2 ? s : beside),
      ),
    );
    expect(answers.filter(({ decision }) => decision === 'ALLOW').length).toBe(10);
    expect((await read(parent.id)).standing).toMatchObject({ used_minor: 1_000, used_count: 10 });
    expect((await read(parent.id)).status).toBe('EXHAUSTED');
    await valid();
  });
});

test('a replay of the authority that decided changes nothing, whatever was left of allowances and their budgets', async () => {
  await post('/v1/budgets', { slug: 'replayed', currency: 'EUR', period: 'TOTAL', limit_minor: 500 });
  const agent = await agentOf();
  const above = await allow({ agent, budget: 'replayed', currency: 'EUR', expires_at: inDays(7) });
  const below = await allow({ parent: above.id, amount_minor: 300 });
  for (const [amount_minor, allowance, limitable] of [
    [200, below.id, false],
    [200, below.id, true],
    [150, above.id, false],
    [100, above.id, false],
    [50, above.id, false],
  ] as const)
    await ask(agent, amount_minor, { allowance, limitable });
  const { authority } = await get(`/v1/agents/${agent}/authority`);
  const reply = await s.call('POST', `/v1/agents/${agent}/authority/simulate`, { body: authority });
  expect([reply.body.evaluated, reply.body.changed]).toEqual([5, []]);
});

describe('an allowance that ended', () => {
  test('permits nothing from the next request on, on the other node too; what was issued cannot be consumed', async () => {
    const agent = await agentOf();
    const above = await forAgent(agent);
    const below = await allow({ parent: above.id, amount_minor: 500 });
    const made = await ask(agent, 100, { allowance: below.id });
    const { key } = await makeKey(s, { scopes: ['consume'] });
    const own = await s.call('GET', `/v1/decisions/${made.decision_id}`, {});
    await revoke(above.id);
    expect(await revoke(above.id)).toMatchObject({ status: 'REVOKED', revoked: { reason: null } });
    expect(await ask(agent, 1, { allowance: below.id }, beside)).toMatchObject({
      decision: 'DENY',
      reason_code: 'ALLOWANCE_NOT_OPEN',
    });
    const consume = { token: own.body.capability.token, amount_minor: 100, currency: 'EUR' };
    expect(await refused('/v1/capabilities/consume', consume, { key })).toEqual([
      409,
      'capability_revoked',
      expect.any(String),
    ]);
    // What was executed counts all the same.
    await report(made.decision_id, 'SPEND_EXECUTED', 100);
    expect((await read(above.id)).standing.used_minor).toBe(100);
    expect(await refused('/v1/allowances', { parent: below.id, amount_minor: 1 })).toEqual([
      409,
      'allowance_not_open',
      expect.any(String),
    ]);
    expect((await patch(above.id, { amount_minor: 5 })).status).toBe(409);
    await valid();
  });

  test('a review cannot allow what it held; a capability and a review end with it', async () => {
    const agent = await agentOf({ review_threshold_minor: 50 });
    const soon = new Date(Date.now() + 120_000).toISOString();
    const short = await forAgent(agent, { expires_at: soon });
    const quick = await ask(agent, 10, { allowance: short.id });
    expect(quick.capability.expires_at).toBe(soon);
    const waits = await ask(agent, 100, { allowance: short.id });
    expect(waits).toMatchObject({ decision: 'REVIEW', reservation: { expires_at: soon } });
    await revoke(short.id);
    const { key } = await makeKey(s, { scopes: ['review'], principal_id: 'user:ada' });
    const path = `/v1/decisions/${waits.decision_id}/reviews`;
    const allowed = { action: 'ALLOW', reason_code: 'OTHER' };
    expect(await refused(path, allowed, { key })).toEqual([409, 'allowance_not_open', expect.any(String)]);
    await post(path, { ...allowed, action: 'DENY' }, key);
    expect((await read(short.id)).standing.used_minor).toBe(10);
  });

  test('changes within its parent: a lower amount stops, a later expiry is bounded', async () => {
    const agent = await agentOf();
    const above = await forAgent(agent);
    const below = await allow({ parent: above.id, amount_minor: 500 });
    expect((await patch(below.id, { amount_minor: 1_001 })).body.error.message).toContain('amount_minor');
    expect((await patch(below.id, { expires_at: inDays(8) })).body.error.message).toContain('expires_at');
    expect((await patch(below.id, { purpose: 'x' })).status).toBe(400);
    expect((await patch(below.id, { amount_minor: 100, name: 'Less' })).body).toMatchObject({
      amount_minor: 100,
      name: 'Less',
    });
    expect((await ask(agent, 101, { allowance: below.id }, beside)).reason_code).toBe('ALLOWANCE_EXCEEDED');
    const { data } = await get('/v1/audit?limit=1');
    expect(data[0]).toMatchObject({
      action: 'allowance.updated',
      target: { type: 'allowance', id: below.id },
      changes: { amount_minor: { from: 500, to: 100 }, name: { from: null, to: 'Less' } },
    });
  });
});

describe('an agent key', () => {
  test('makes parts of what it may use, which only narrow, and revokes those alone', async () => {
    const [agent, other] = [await agentOf(), await agentOf()];
    const { key } = await makeKey(s, { agent_id: agent });
    const { key: foreign } = await makeKey(s, { agent_id: other });
    const above = await forAgent(agent);
    const made = await allow({ parent: above.id, amount_minor: 500 }, key);
    expect(made).toMatchObject({ agent: { slug: agent }, created_by: { principal_id: null } });
    for (const field of ['purpose', 'budget'])
      expect(
        await refused('/v1/allowances', { parent: above.id, amount_minor: 5, [field]: 'x' }, { key }),
      ).toEqual([403, 'insufficient_scope', expect.stringContaining(field)]);
    const own = { agent, currency: 'EUR', amount_minor: 5, expires_at: inDays(1) };
    expect(await refused('/v1/allowances', own, { key })).toEqual([
      403,
      'insufficient_scope',
      expect.any(String),
    ]);
    expect(await refused('/v1/allowances/batch', { allowances: [own] }, { key })).toEqual([
      403,
      'insufficient_scope',
      expect.any(String),
    ]);
    expect(await refused(`/v1/allowances/${above.id}/revoke`, {}, { key })).toEqual([
      403,
      'insufficient_scope',
      expect.any(String),
    ]);
    expect((await walk('/v1/allowances', { key: foreign })).map(({ id }) => id)).not.toContain(made.id);
    for (const path of [`/v1/allowances/${above.id}`, `/v1/allowances/${made.id}`])
      expect((await s.call('GET', path, { key: foreign })).status).toBe(404);
    expect(await refused('/v1/allowances', { parent: above.id, amount_minor: 5 }, { key: foreign })).toEqual([
      404,
      'not_found',
      expect.any(String),
    ]);
    const seen = (await walk('/v1/allowances', { key })).filter((each) => each.agent !== null);
    expect(seen.map(({ id }) => id)).toEqual([made.id, above.id]);
    expect((await revoke(made.id, key)).status).toBe('REVOKED');
  });
});
