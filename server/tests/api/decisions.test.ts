import { createHash } from 'node:crypto';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, makeAgent } = serviceTest();

const decide = (body: unknown, idempotency_key = freshKey(), key?: string) =>
  s.call('POST', '/v1/decisions', { body, idempotency_key, ...(key === undefined ? {} : { key }) });

describe('201: a spend is decided', () => {
  test('an aligned spend within every limit is allowed, held and explained', async () => {
    const agent = await makeAgent({ monthly_budget_minor: 100_000, per_transaction_limit_minor: 20_000 });
    const { status, body } = await decide(
      spend(agent, 5_440, {
        task: 'staging for 4.2',
        context: { ticket: 7 },
        trace: [{ step: 'compared prices' }],
      }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      decision: 'ALLOW',
      effective_decision: 'ALLOW',
      review_state: null,
      reason_code: 'WITHIN_AUTHORITY',
      reason_codes: ['WITHIN_AUTHORITY'],
      requested_amount_minor: 5_440,
      authorized_amount_minor: 5_440,
      currency: 'EUR',
      mode: 'SHADOW',
      authority_version: 1,
      capability: null,
      review: null,
      label: null,
      outcome_state: 'NONE',
      verified: false,
      task: 'staging for 4.2',
      context: { ticket: 7 },
      trace: [{ step: 'compared prices' }],
      limitable: false,
      min_amount_minor: null,
    });
    expect(body.decision_id).toMatch(/^dec_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(body.purpose.assessment).toBe('PURPOSE_ALIGNED');
    expect(body.policy_trace.map((entry: { stage: string }) => entry.stage)).toEqual([
      'authority',
      'currency',
      'merchant',
      'per_transaction_limit',
      'monthly_budget',
      'min_amount',
      'purpose',
      'review_threshold',
    ]);
    expect(body.reservation).toMatchObject({
      status: 'HELD',
      amount_minor: 5_440,
      currency: 'EUR',
      expires_at: null,
      budget: { limit_minor: 100_000, held_minor: 5_440, committed_minor: 0, remaining_minor: 94_560 },
    });
    expect(body.reservation.period).toBe(body.created_at.slice(0, 7));
  });

  test('every reason is given exactly where the contract says so', async () => {
    const limits = {
      per_transaction_limit_minor: 10_000,
      monthly_budget_minor: 25_000,
      review_threshold_minor: 9_000,
    };
    const agent = await makeAgent({ ...limits, blocked_merchants: ['Evil Corp', 'evil.example'] });
    const bare = await makeAgent(null);
    const reasons = async (body: unknown) => (await decide(body)).body.reason_codes;
    expect(await reasons(spend(bare, 1))).toEqual(['NO_AUTHORITY']);
    expect(await reasons(spend(agent, 1, { action: { currency: 'USD' } }))).toEqual([
      'CURRENCY_NOT_AUTHORIZED',
    ]);
    expect((await reasons(spend(agent, 1, { action: { merchant: 'SQ *Eví1 C0rp, Inc.' } })))[0]).toBe(
      'MERCHANT_BLOCKED',
    );
    expect((await reasons(spend(agent, 1, { action: { merchant: 'shop.evil.example' } })))[0]).toBe(
      'MERCHANT_BLOCKED',
    );
    expect(await reasons(spend(agent, 10_001))).toEqual([
      'PER_TRANSACTION_LIMIT_EXCEEDED',
      'REVIEW_THRESHOLD_EXCEEDED',
    ]);
    expect(await reasons(spend(agent, 10_001, { limitable: true, min_amount_minor: 10_001 }))).toEqual([
      'MIN_AMOUNT_UNREACHABLE',
      'REVIEW_THRESHOLD_EXCEEDED',
      'AMOUNT_LIMITED',
    ]);
    expect(await reasons(spend(agent, 10_001, { limitable: true }))).toEqual([
      'REVIEW_THRESHOLD_EXCEEDED',
      'AMOUNT_LIMITED',
    ]);
    expect(await reasons(spend(agent, 9_000))).toEqual(['WITHIN_AUTHORITY']);
    expect(await reasons(spend(agent, 6_001))).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
    const capped = (await decide(spend(agent, 6_001, { limitable: true }))).body;
    expect(capped).toMatchObject({
      decision: 'ALLOW',
      reason_code: 'AMOUNT_LIMITED',
      authorized_amount_minor: 6_000,
    });
    expect(await reasons(spend(agent, 1, { limitable: true }))).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
  });

  test('DENY holds nothing; REVIEW holds and authorizes nothing yet; SHADOW is never stopped, ENFORCE is', async () => {
    const limits = { review_threshold_minor: 100, per_transaction_limit_minor: 500 };
    const shadow = await makeAgent(limits);
    const enforce = await makeAgent(limits, { mode: 'ENFORCE' });
    for (const [agent, denied, review] of [
      [shadow, 'ALLOW', 'ALLOW'],
      [enforce, 'DENY', 'REVIEW'],
    ] as const) {
      const deny = (await decide(spend(agent, 501))).body;
      expect(deny).toMatchObject({
        decision: 'DENY',
        effective_decision: denied,
        authorized_amount_minor: 0,
      });
      expect(deny.reservation).toMatchObject({ reservation_id: null, status: 'NONE', amount_minor: 0 });
      const pending = (await decide(spend(agent, 101))).body;
      expect(pending).toMatchObject({
        decision: 'REVIEW',
        effective_decision: review,
        review_state: 'PENDING',
        authorized_amount_minor: 0,
      });
      expect(pending.reservation).toMatchObject({ status: 'HELD', amount_minor: 101 });
      expect(pending.reservation.expires_at === null).toBe(agent === shadow);
    }
  });

  test('amounts up to the largest are exact, and a month that could not be counted exactly is refused', async () => {
    const agent = await makeAgent();
    const most = Number.MAX_SAFE_INTEGER;
    expect((await decide(spend(agent, most))).body).toMatchObject({
      decision: 'ALLOW',
      authorized_amount_minor: most,
    });
    expect((await decide(spend(agent, 1))).body.reason_codes).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
  });

  test('texts are trimmed and NFC, amounts may be written 12.0', async () => {
    const agent = await makeAgent();
    const raw = JSON.stringify(spend(agent, 0, { action: { merchant: '  Cafe\u0301 Hosting  ' } })).replace(
      '"amount_minor":0',
      '"amount_minor":12.0',
    );
    const { status, body } = await s.call('POST', '/v1/decisions', { raw, idempotency_key: freshKey() });
    expect(status).toBe(201);
    expect(body.action).toMatchObject({ merchant: 'Caf\u00e9 Hosting', amount_minor: 12 });
  });
});

describe("201: the operator's hand on purpose", () => {
  const unknown = { action: { merchant: 'Trefoil Ltd', description: '40 pcs as in the framework order' } };

  test('an unclear spend is reviewed, unless the authority lets it pass; then the trace says so', async () => {
    const reviewed = (await decide(spend(await makeAgent(), 100, unknown))).body;
    expect([reviewed.decision, reviewed.reason_code]).toEqual(['REVIEW', 'PURPOSE_UNCLEAR']);
    const passed = (await decide(spend(await makeAgent({ on_purpose_unclear: 'ALLOW' }), 100, unknown))).body;
    expect([passed.decision, passed.reason_codes]).toEqual(['ALLOW', ['WITHIN_AUTHORITY']]);
    expect(passed.purpose).toEqual(reviewed.purpose);
    const stage = passed.policy_trace.find((entry: { stage: string }) => entry.stage === 'purpose');
    expect([stage.outcome, stage.observed]).toEqual(['PASS', 'PURPOSE_UNCLEAR']);
    expect(stage.detail).toContain('allows an unclear purpose');
    expect(passed.explanation).toContain('unclear');
  });

  test('an allowed merchant speaks for the purpose, against no limit and no blocklist', async () => {
    const authority = {
      allowed_merchants: ['Trefoil'],
      per_transaction_limit_minor: 100,
      blocked_merchants: ['Trefoil Online'],
    };
    const agent = await makeAgent(authority);
    const allowed = (await decide(spend(agent, 100, unknown))).body;
    expect([allowed.decision, allowed.purpose.assessment]).toEqual(['ALLOW', 'PURPOSE_ALIGNED']);
    expect(allowed.purpose.evidence).toContainEqual({
      field: 'allowed_merchants[0]',
      text: 'Trefoil',
      effect: 'supports',
    });
    const over = (await decide(spend(agent, 101, unknown))).body;
    expect([over.decision, over.reason_code]).toEqual(['DENY', 'PER_TRANSACTION_LIMIT_EXCEEDED']);
    const blocked = await makeAgent({ ...authority, blocked_merchants: ['trefoil'] });
    expect((await decide(spend(blocked, 100, unknown))).body.reason_code).toBe('MERCHANT_BLOCKED');
  });
});

describe('200: a replay', () => {
  test('a replay is the first answer byte for byte, whatever happened since', async () => {
    const agent = await makeAgent({ monthly_budget_minor: 1_000 });
    const first = await decide(spend(agent, 1_000), 'replay-1');
    await s.call('POST', `/v1/agents/${agent}/authority`, {
      body: { ...AUTHORITY, monthly_budget_minor: 1 },
    });
    expect((await decide(spend(agent, 1))).body.decision).toBe('DENY');
    const again = await decide(spend(agent, 1_000), 'replay-1');
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([200, 'true']);
    expect(again.text).toBe(first.text);
    expect(first.headers.get('idempotent-replay')).toBeNull();
  });

  test('a replay names the request that made the decision, so that a client that lost the answer recognises its own', async () => {
    const agent = await makeAgent();
    const key = freshKey();
    // What looks like the field in the request's own words is not taken for it.
    const body = spend(agent, 1_000, { context: { request_id: 'req_forged"}' } });
    const ask = (request_id: string) =>
      s.call('POST', '/v1/decisions', {
        body,
        idempotency_key: key,
        headers: { 'x-request-id': request_id },
      });
    const first = await ask('lost/1');
    expect([first.headers.get('idempotent-replay-of'), first.body.request_id]).toEqual([null, 'lost/1']);
    for (const again of [await ask('lost/1'), await ask('another')]) {
      expect([again.status, again.headers.get('idempotent-replay-of')]).toEqual([200, 'lost/1']);
    }
  });

  test('order of keys, white space and notation of numbers do not make another request', async () => {
    const agent = await makeAgent();
    const key = freshKey();
    const raw = (text: string) => s.call('POST', '/v1/decisions', { raw: text, idempotency_key: key });
    const first = await raw(
      `{"agent":"${agent}","action":{"type":"t","merchant":"m","amount_minor":12,"currency":"EUR"}}`,
    );
    const again = await raw(
      `{ "action" : {"currency":"EUR","amount_minor":1.2e1,"merchant":"m","type":"t"},\n"agent":"${agent}"}`,
    );
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.text).toBe(first.text);
  });

  test('a replay finds the decision after the key of the agent was rotated', async () => {
    const agent = await makeAgent();
    const newKey = async () =>
      (await s.call('POST', '/v1/api-keys', { body: { name: 'k', agent_id: agent } })).body;
    const [before, after] = [await newKey(), await newKey()];
    const idempotency_key = freshKey();
    const first = await decide(spend(undefined, 5), idempotency_key, before.key);
    expect((await s.call('DELETE', `/v1/api-keys/${before.id}`)).status).toBe(204);
    const again = await decide(spend(undefined, 5), idempotency_key, after.key);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.text).toBe(first.text);
  });

  test('a refused request binds nothing, and two agents may use the same key', async () => {
    const [one, two] = [await makeAgent(), await makeAgent()];
    const key = freshKey();
    expect((await decide({ ...spend(one, 5), nonsense: 1 }, key)).status).toBe(400);
    const first = await decide(spend(one, 6), key);
    const second = await decide(spend(two, 7), key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.decision_id).not.toBe(first.body.decision_id);
  });
});

describe('400: bad input', () => {
  const wrong: [string, unknown, string][] = [
    ['no action', {}, 'action'],
    ['an amount as text', spend('a', '12' as never), 'action.amount_minor'],
    ['a fraction', spend('a', 12.5), 'action.amount_minor'],
    ['zero', spend('a', 0), 'action.amount_minor'],
    ['too much', spend('a', 9_007_199_254_740_992), 'action.amount_minor'],
    ['a currency in lower case', spend('a', 1, { action: { currency: 'eur' } }), 'action.currency'],
    ['a currency that is none', spend('a', 1, { action: { currency: 'XXX' } }), 'action.currency'],
    ['an empty merchant', spend('a', 1, { action: { merchant: '   ' } }), 'action.merchant'],
    ['a long merchant', spend('a', 1, { action: { merchant: 'm'.repeat(201) } }), 'action.merchant'],
    ['NUL in a merchant', spend('a', 1, { action: { merchant: 'a\u0000b' } }), 'action.merchant'],
    ['a payee without a rail', spend('a', 1, { action: { payee_id: 'nobody' } }), 'action.payee_id'],
    ['26 steps', spend('a', 1, { trace: Array(26).fill({ step: 's' }) }), 'trace'],
    ['a step without text', spend('a', 1, { trace: [{ kind: 'k' }] }), 'trace[0].step'],
    ['an unknown field', spend('a', 1, { limits: 1 }), 'limits'],
    ['an unknown field inside', spend('a', 1, { action: { amount: 1 } }), 'action.amount'],
    ['a context over 8 KB', spend('a', 1, { context: { x: 'y'.repeat(8_192) } }), 'context'],
    ['a context that is a list', spend('a', 1, { context: [] }), 'context'],
    ['limitable as text', spend('a', 1, { limitable: 'yes' }), 'limitable'],
    ['null for a field', spend('a', 1, { task: null }), 'task'],
    ['a list', [], 'body'],
  ];
  test.each(wrong)('%s names the field', async (_name, body, field) => {
    const { status, body: answer } = await decide(body);
    expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.error.message.split(':')[0]).toBe(field);
  });

  test.each([
    ['none', undefined],
    ['256 characters', 'k'.repeat(256)],
    ['a blank inside', 'a b'],
  ])('an idempotency key of %s is refused', async (_name, key) => {
    const reply = await s.call('POST', '/v1/decisions', {
      body: spend('a', 1),
      ...(key === undefined ? {} : { idempotency_key: key }),
    });
    expect(reply.status).toBe(400);
    expect(reply.body.error.message).toMatch(/^idempotency-key: /);
  });

  test('duplicate keys, prototype names, bad JSON and oversized bodies are refused and write nothing', async () => {
    const before = (await s.sql('select seq from ledger_heads')).rows;
    const valid = JSON.stringify(spend('agent-1', 1));
    const raws: (string | Buffer)[] = [
      valid.replace('"type":', '"type":"x","type":'),
      valid.replace('{', '{"__proto__":{},'),
      valid.slice(0, -1),
      '',
      '[]',
      'null',
      `${'['.repeat(30_000)}`,
      Buffer.from([0x7b, 0xff, 0x7d]),
      valid.replace('"EUR"', `"EUR","description":"${'x'.repeat(70_000)}"`),
      valid.replace(':1,', ':9007199254740991.4,'),
    ];
    for (const raw of raws) {
      const reply = await s.call('POST', '/v1/decisions', { raw, idempotency_key: freshKey() });
      expect([reply.status, reply.body.error.code], String(raw).slice(0, 80)).toEqual([
        400,
        'invalid_request',
      ]);
    }
    expect((await s.sql('select seq from ledger_heads')).rows).toEqual(before);
  });

  test('any value put anywhere into a body is a decision or a 400 that names a field, never a 500', async () => {
    const agent = await makeAgent();
    const paths = [
      'agent',
      'task',
      'trace',
      'limitable',
      'min_amount_minor',
      'context',
      'action',
      'action.type',
      'action.merchant',
      'action.amount_minor',
      'action.currency',
      'action.description',
      'action.payee_id',
      'action.category',
      'constructor',
      'action.toString',
    ];
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.double(),
      fc.constant('\ud800'),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), value, async (path, given) => {
        const body = spend(agent, 5) as unknown as Record<string, Record<string, unknown>>;
        const [outer, inner] = path.split('.') as [string, string?];
        const target =
          inner === undefined ? (body as Record<string, unknown>) : (body.action as Record<string, unknown>);
        Object.defineProperty(target, inner ?? outer, { value: given, enumerable: true, configurable: true });
        const reply = await decide(body);
        expect([200, 201, 400, 404]).toContain(reply.status);
        if (reply.status === 400) expect(reply.body.error.message).toMatch(/^[^:]{1,140}: ./);
      }),
      { numRuns: 300 },
    );
  });
});

describe('401, 403, 404, 409, 422', () => {
  test('401 without a key, with an unknown one, with a revoked and an expired one', async () => {
    const agent = await makeAgent();
    const made = (
      await s.call('POST', '/v1/api-keys', { body: { name: 'k', agent_id: agent, expires_in_seconds: 60 } })
    ).body;
    const status = async (key: string | null) =>
      (await s.call('POST', '/v1/decisions', { key, body: spend(undefined, 1), idempotency_key: freshKey() }))
        .status;
    expect(await status(null)).toBe(401);
    expect(await status(`sk_${'x'.repeat(38)}`)).toBe(401);
    expect(await status(made.key)).toBe(201);
    await s.sql("update api_keys set expires_at = now() - interval '1 second' where key_id = $1", [made.id]);
    const expired = await s.call('GET', '/v1/decisions', { key: made.key });
    expect(expired.status).toBe(401);
    expect(expired.body.error.message).toMatch(/expired/);
    await s.sql('update api_keys set expires_at = null where key_id = $1', [made.id]);
    expect(await status(made.key)).toBe(201);
    await s.call('DELETE', `/v1/api-keys/${made.id}`);
    expect(await status(made.key)).toBe(401);
  });

  test('403 agent_mismatch, and agent_not_active from the very next request, on a replay too', async () => {
    const [agent, other] = [await makeAgent(), await makeAgent()];
    const key = (await s.call('POST', '/v1/api-keys', { body: { name: 'k', agent_id: agent } })).body.key;
    expect((await decide(spend(other, 1), freshKey(), key)).body.error.code).toBe('agent_mismatch');
    expect((await decide(spend(agent, 1), freshKey(), key)).status).toBe(201);
    const idempotency_key = freshKey();
    expect((await decide(spend(agent, 1), idempotency_key)).status).toBe(201);
    await s.call('PATCH', `/v1/agents/${agent}`, { body: { status: 'paused' } });
    expect((await decide(spend(agent, 1), idempotency_key)).body.error.code).toBe('agent_not_active');
    await s.call('PATCH', `/v1/agents/${agent}`, { body: { status: 'active' } });
    expect((await decide(spend(agent, 1), idempotency_key)).status).toBe(200);
    await s.call('PATCH', `/v1/agents/${agent}`, { body: { status: 'revoked' } });
    expect((await decide(spend(agent, 1))).body.error.code).toBe('agent_not_active');
  });

  test('403 insufficient_scope, 404 for an agent of another workspace, 409 for another body, 422 without an agent', async () => {
    const agent = await makeAgent();
    const other = await s.addWorkspace({ plan: 'team' });
    const reader = (await s.call('POST', '/v1/api-keys', { body: { name: 'r', scopes: ['read'] } })).body.key;
    expect((await decide(spend(agent, 1), freshKey(), reader)).body.error.code).toBe('insufficient_scope');
    expect((await decide(spend(agent, 1), freshKey(), other.admin_key)).body.error.code).toBe('not_found');
    expect((await decide(spend(undefined, 1))).body.error.code).toBe('agent_required');
    const key = freshKey();
    expect((await decide(spend(agent, 1), key)).status).toBe(201);
    expect((await decide(spend(agent, 2), key)).body.error.code).toBe('idempotency_conflict');
  });
});

describe('GET: decisions are found again', () => {
  test('a decision is found only by its own workspace and agent', async () => {
    const [agent, other] = [await makeAgent(), await makeAgent()];
    const made = (await decide(spend(agent, 5))).body;
    const keyOf = async (agent_id: string) =>
      (await s.call('POST', '/v1/api-keys', { body: { name: 'k', agent_id } })).body.key;
    const elsewhere = await s.addWorkspace({ plan: 'team' });
    const get = (key?: string) =>
      s.call('GET', `/v1/decisions/${made.decision_id}`, key === undefined ? {} : { key });
    expect((await get()).body).toEqual(made);
    expect((await get(await keyOf(agent))).status).toBe(200);
    expect((await get(await keyOf(other))).body.error.code).toBe('not_found');
    expect((await get(elsewhere.admin_key)).body.error.code).toBe('not_found');
    const listed = (await s.call('GET', '/v1/decisions', { key: await keyOf(other) })).body.data;
    expect(listed).toEqual([]);
  });

  test('every filter narrows the list, and several apply together', async () => {
    const agent = await makeAgent({ per_transaction_limit_minor: 100, review_threshold_minor: 50 });
    const enforce = await makeAgent({}, { mode: 'ENFORCE' });
    const small = (await decide(spend(agent, 10, { action: { merchant: 'Hetzner 100%_Ünder' } }))).body;
    const review = (await decide(spend(agent, 60))).body;
    const deny = (await decide(spend(agent, 101))).body;
    const other = (await decide(spend(enforce, 70, { action: { merchant: 'ΣΊΣΥΦΟΣ ΑΕ' } }))).body;
    const ids = async (query: string) =>
      (await s.call('GET', `/v1/decisions?${query}`)).body.data.map(
        (each: { decision_id: string }) => each.decision_id,
      );
    const of = `agent=${agent}`;
    expect(await ids(of)).toEqual([deny.decision_id, review.decision_id, small.decision_id]);
    expect(await ids(`${of}&order=asc`)).toEqual([small.decision_id, review.decision_id, deny.decision_id]);
    expect(await ids(`agent=${other.agent.id}`)).toEqual([other.decision_id]);
    expect(await ids(`agent=${enforce}&mode=ENFORCE`)).toEqual([other.decision_id]);
    expect(await ids(`${of}&mode=ENFORCE`)).toEqual([]);
    expect(await ids(`${of}&decision=REVIEW`)).toEqual([review.decision_id]);
    expect(await ids(`${of}&reason=REVIEW_THRESHOLD_EXCEEDED`)).toEqual([
      deny.decision_id,
      review.decision_id,
    ]);
    expect(await ids(`${of}&q=${encodeURIComponent('100%_üN')}`)).toEqual([small.decision_id]);
    expect(await ids(`${of}&q=${encodeURIComponent('100_')}`)).toEqual([]);
    expect(await ids(`agent=${enforce}&q=${encodeURIComponent('σίσυφος')}`)).toEqual([other.decision_id]);
    expect(await ids(`${of}&min_amount=60&max_amount=101`)).toEqual([deny.decision_id, review.decision_id]);
    expect(await ids(`${of}&min_amount=61&max_amount=100`)).toEqual([]);
    expect(await ids(`${of}&reviewed=true`)).toEqual([]);
    expect(await ids(`${of}&reviewed=false&labeled=false`)).toHaveLength(3);
    expect(await ids(`${of}&labeled=true`)).toEqual([]);
    expect(await ids(`${of}&from=${review.created_at}`)).toEqual([deny.decision_id, review.decision_id]);
    expect(await ids(`${of}&to=${review.created_at}`)).toEqual([small.decision_id]);
    const today = small.created_at.slice(0, 10);
    expect(await ids(`${of}&from=${today}&to=${today}`)).toHaveLength(3);
    expect(await ids('agent=nobody-of-that-name')).toEqual([]);
    for (const query of [
      'limit=0',
      'limit=201',
      'order=up',
      'decision=MAYBE',
      'from=yesterday',
      'reviewed=1',
      'min_amount=-1',
      'q=%00',
      'limit=1&limit=2',
      'colour=red',
    ]) {
      const reply = await s.call('GET', `/v1/decisions?${query}`);
      expect([query, reply.status]).toEqual([query, 400]);
      expect(reply.body.error.message.startsWith(query.split('=')[0] as string)).toBe(true);
    }
  });

  test('paging neither repeats nor skips while others write, and a cursor fits only its own list', async () => {
    const agent = await makeAgent();
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.unshift((await decide(spend(agent, 1 + i))).body.decision_id);
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await s.call('GET', `/v1/decisions?agent=${agent}&limit=2${cursor}`);
      seen.push(...body.data.map((each: { decision_id: string }) => each.decision_id));
      await decide(spend(agent, 100));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(made);
    const elsewhere = await s.addWorkspace({ plan: 'team' });
    for (const [path, key] of [
      [`/v1/decisions?limit=2${cursor}`, undefined],
      [`/v1/decisions?agent=${agent}&order=asc${cursor}`, undefined],
      [`/v1/agents?limit=2${cursor}`, undefined],
      [`/v1/decisions?agent=${agent}${cursor}`, elsewhere.admin_key],
      [`/v1/decisions?agent=${agent}${cursor}x`, undefined],
    ] as const) {
      const reply = await s.call('GET', path, key === undefined ? {} : { key });
      expect([path, reply.status, reply.body.error?.message.split(':')[0]]).toEqual([path, 400, 'cursor']);
    }
  });
});

describe('the history of decisions', () => {
  test('each decision is an event whose hash anybody can recompute, and the chain verifies', async () => {
    const events: Record<string, unknown>[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await s.call('GET', `/v1/ledger/events?limit=200${cursor}`);
      events.unshift(...body.data.reverse());
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    let previous = `sha256:${'0'.repeat(64)}`;
    for (const [i, event] of events.entries()) {
      const { prev_hash, hash, ...sealed } = event;
      expect([sealed.seq, prev_hash]).toEqual([i + 1, previous]);
      const bytes = Buffer.from(String(prev_hash).slice('sha256:'.length), 'hex');
      expect(hash).toBe(
        `sha256:${createHash('sha256').update(bytes).update(canonicalJson(sealed)).digest('hex')}`,
      );
      previous = String(hash);
    }
    const head = (await s.call('GET', '/v1/ledger/events?limit=1')).body.data[0];
    // The tests above changed the expiry of a key behind the service's back, and the verification says so.
    const verified = (await s.call('GET', '/v1/ledger/verify')).body;
    expect(verified.head).toEqual({ seq: head.seq, hash: head.hash });
    expect(verified.events_checked).toBe(events.length);
  });
});
