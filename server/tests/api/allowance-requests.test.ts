import { describe, expect } from 'vitest';
import {
  AUTHORITY,
  fieldOf,
  freshKey,
  makeKey,
  type Reply,
  refusal,
  spend,
} from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, makeAgent, walk } = serviceTest({ plan: 'enterprise' });

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const ASKED = { currency: 'EUR', amount_minor: 1_000, purpose: 'Compute for the load test' };
const NOBODY = 'alw_00000000000000000000000000';
const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const send = (path: string, body: object, key?: string): Promise<Reply> =>
  s.call('POST', path, { body, idempotency_key: freshKey(), ...(key === undefined ? {} : { key }) });
const request = async (key: string, more: object = {}): Promise<Shown> =>
  post('/v1/allowances/request', { ...ASKED, ...more }, key);
const decide = (id: string, body: object, key?: string) => send(`/v1/allowances/${id}/decide`, body, key);

/** An agent with a key of its own, and keys of a reviewer and an administrator. */
async function people(terms: object = {}) {
  const agent = await makeAgent({ ...OPEN, ...terms }, { mode: 'ENFORCE' });
  const own = (await makeKey(s, { agent_id: agent })).key;
  const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
  return { agent, own, reviewer };
}

describe('a requested allowance', () => {
  test('shows what was asked for and by when it must be decided, and permits nothing until then', async () => {
    const { agent, own } = await people();
    const made = await request(own, { merchants: ['Hetzner Online'], max_count: 3 });
    expect(made).toMatchObject({
      status: 'REQUESTED',
      source: 'REQUEST',
      agent: { slug: agent },
      amount_minor: 1_000,
      merchants: ['Hetzner Online'],
      max_count: 3,
      answers: [],
      automatic: false,
      decided: null,
      request: {
        amount_minor: 1_000,
        purpose: ASKED.purpose,
        expires_at: made.expires_at,
        requested_by: { key_id: made.created_by.key_id, principal_id: null },
      },
    });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(7 * DAY_MS);
    expect(Date.parse(made.request.decide_by)).toBeGreaterThan(Date.parse(made.created_at));
    const tried = await send('/v1/decisions', { ...spend(undefined, 10), allowance: made.id }, own);
    expect(tried.body).toMatchObject({ decision: 'DENY', reason_code: 'ALLOWANCE_NOT_OPEN' });
    expect((await walk(`/v1/allowances?agent=${agent}&status=REQUESTED`)).map(({ id }) => id)).toEqual([
      made.id,
    ]);
    expect((await get('/v1/audit?limit=1')).data[0]).toMatchObject({
      action: 'allowance.requested',
      target: { id: made.id },
    });
  });

  test('names its agent where a workspace key requests it, and nothing that only people set', async () => {
    const { agent, own } = await people();
    const other = await makeAgent(OPEN);
    expect(refusal(await send('/v1/allowances/request', ASKED))).toEqual([422, 'agent_required']);
    expect(refusal(await send('/v1/allowances/request', { ...ASKED, agent: 'nobody' }))).toEqual([
      404,
      'not_found',
    ]);
    expect(refusal(await send('/v1/allowances/request', { ...ASKED, agent: other }, own))).toEqual([
      403,
      'agent_mismatch',
    ]);
    expect((await send('/v1/allowances/request', { ...ASKED, agent })).status).toBe(201);
    for (const [field, value] of Object.entries({
      parent: NOBODY,
      budget: 'x',
      key: true,
      answers: ['PURPOSE_UNCLEAR'],
      automatic: true,
      labels: { a: 'b' },
    })) {
      const reply = await send('/v1/allowances/request', { ...ASKED, [field]: value }, own);
      expect([reply.status, fieldOf(reply)]).toEqual([400, field]);
    }
    for (const field of ['purpose', 'amount_minor', 'currency']) {
      const reply = await send('/v1/allowances/request', { ...ASKED, [field]: undefined }, own);
      expect([reply.status, fieldOf(reply)]).toEqual([400, field]);
    }
    for (const expires_at of [inDays(-1), inDays(367)])
      expect(fieldOf(await send('/v1/allowances/request', { ...ASKED, expires_at }, own))).toBe('expires_at');
    expect(
      refusal(await send('/v1/allowances/request', ASKED, (await makeKey(s, { scopes: ['read'] })).key)),
    ).toEqual([403, 'insufficient_scope']);
  });

  test('is one for its external id, and ten at a time for an agent', async () => {
    const { own } = await people();
    const first = await request(own, { external_id: 'load-1' });
    const again = await send('/v1/allowances/request', { ...ASKED, external_id: 'load-1' }, own);
    expect([again.status, again.body.id, again.headers.get('idempotent-replay')]).toEqual([
      200,
      first.id,
      'true',
    ]);
    expect(
      refusal(
        await send('/v1/allowances/request', { ...ASKED, amount_minor: 2, external_id: 'load-1' }, own),
      ),
    ).toEqual([409, 'allowance_exists']);
    for (let i = 1; i < 10; i++) await request(own);
    expect(refusal(await send('/v1/allowances/request', ASKED, own))).toEqual([409, 'allowance_limit']);
    await decide(first.id, { action: 'DENY' });
    await request(own);
  });

  test('of a bound key is refused: it could not spend under it', async () => {
    const { agent } = await people();
    const made = await post('/v1/allowances', {
      agent,
      currency: 'EUR',
      amount_minor: 5,
      expires_at: inDays(1),
      key: true,
    });
    expect(refusal(await send('/v1/allowances/request', ASKED, made.api_key.key))).toEqual([
      403,
      'allowance_mismatch',
    ]);
  });
});

describe('the decision on a request', () => {
  test('opens it as granted, once, and answers the request that waits for it', async () => {
    const { own } = await people();
    const made = await request(own, { merchants: ['Hetzner Online', 'OVH'], max_count: 3 });
    const waiting = s.call('GET', `/v1/allowances/${made.id}?wait_seconds=20`, { key: own });
    const reply = await decide(made.id, {
      action: 'ALLOW',
      comment: 'Once',
      purpose: 'The load test of release 4.2',
      amount_minor: 500,
      expires_at: inDays(2),
      per_spend_limit_minor: 100,
      max_count: 2,
      merchants: ['Hetzner Online'],
      answers: ['PURPOSE_UNCLEAR'],
    });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({
      status: 'OPEN',
      source: 'REQUEST',
      amount_minor: 500,
      per_spend_limit_minor: 100,
      max_count: 2,
      merchants: ['Hetzner Online'],
      purpose: 'The load test of release 4.2',
      answers: ['PURPOSE_UNCLEAR'],
      decided: { action: 'ALLOW', comment: 'Once', by: { key_id: expect.any(String) } },
      request: { amount_minor: 1_000, purpose: ASKED.purpose },
    });
    expect((await waiting).body.status).toBe('OPEN');
    expect(
      (await send('/v1/decisions', { ...spend(undefined, 50), allowance: made.id }, own)).body.decision,
    ).toBe('ALLOW');
    expect(refusal(await decide(made.id, { action: 'DENY' }))).toEqual([409, 'review_final']);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });

  test('or denies it for good', async () => {
    const { own } = await people();
    const made = await request(own);
    expect((await decide(made.id, { action: 'DENY', comment: 'No' })).body).toMatchObject({
      status: 'DENIED',
      decided: { action: 'DENY', comment: 'No' },
    });
    expect(refusal(await decide(made.id, { action: 'ALLOW' }))).toEqual([409, 'review_final']);
    const tried = await send('/v1/decisions', { ...spend(undefined, 10), allowance: made.id }, own);
    expect(tried.body).toMatchObject({ decision: 'DENY', reason_code: 'ALLOWANCE_NOT_OPEN' });
  });

  test('may only lower, shorten and leave out', async () => {
    const { own } = await people();
    const made = await request(own, {
      merchants: ['Hetzner Online'],
      payee_ids: ['stripe:acct_1'],
      per_spend_limit_minor: 100,
      max_count: 3,
      expires_at: inDays(3),
    });
    for (const [field, value] of Object.entries({
      amount_minor: 1_001,
      expires_at: inDays(4),
      per_spend_limit_minor: 101,
      max_count: 4,
      merchants: ['OVH'],
      payee_ids: ['stripe:acct_2'],
      answers: ['OVER_BUDGET'],
      currency: 'USD',
    })) {
      const reply = await decide(made.id, { action: 'ALLOW', [field]: value });
      expect([reply.status, fieldOf(reply).split('[')[0]], reply.text).toEqual([400, field]);
    }
    expect((await get(`/v1/allowances/${made.id}`)).status).toBe('REQUESTED');
  });

  test('is up to a reviewer within the limit of the authority, and to an administrator beyond', async () => {
    const { own, reviewer } = await people({ reviewer_allowance_limit_minor: 500 });
    const made = await request(own);
    expect(refusal(await decide(made.id, { action: 'ALLOW', amount_minor: 501 }, reviewer))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect((await decide(made.id, { action: 'ALLOW', amount_minor: 500 }, reviewer)).body.status).toBe(
      'OPEN',
    );
    const { own: bare, reviewer: bound } = await people();
    const next = await request(bare);
    expect(refusal(await decide(next.id, { action: 'ALLOW', amount_minor: 1 }, bound))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect((await decide(next.id, { action: 'ALLOW' })).body.status).toBe('OPEN');
    const dollars = await request(own, { currency: 'USD' });
    expect(refusal(await decide(dollars.id, { action: 'ALLOW', amount_minor: 1 }, reviewer))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect(refusal(await decide(dollars.id, { action: 'ALLOW' }, own))).toEqual([403, 'insufficient_scope']);
  });

  test('is not the requester’s', async () => {
    const { agent } = await people();
    const both = (await makeKey(s, { scopes: ['authorize', 'review', 'admin'], principal_id: 'user:eve' }))
      .key;
    const made = await request(both, { agent });
    expect(refusal(await decide(made.id, { action: 'ALLOW' }, both))).toEqual([403, 'self_review_forbidden']);
    const same_person = (await makeKey(s, { scopes: ['review', 'admin'], principal_id: 'user:eve' })).key;
    expect(refusal(await decide(made.id, { action: 'ALLOW' }, same_person))).toEqual([
      403,
      'self_review_forbidden',
    ]);
    expect((await decide(made.id, { action: 'ALLOW' })).body.status).toBe('OPEN');
  });

  test('is of a request alone, and in time', async () => {
    const { agent, own } = await people();
    const made = await post('/v1/allowances', {
      agent,
      currency: 'EUR',
      amount_minor: 5,
      expires_at: inDays(1),
    });
    expect(refusal(await decide(made.id, { action: 'ALLOW' }))).toEqual([409, 'not_reviewable']);
    expect(refusal(await decide(NOBODY, { action: 'ALLOW' }))).toEqual([404, 'not_found']);
    const soon = await request(own, { expires_at: new Date(Date.now() + 1_500).toISOString() });
    await expect
      .poll(async () => (await get(`/v1/allowances/${soon.id}`)).status, { timeout: 30_000 })
      .toBe('EXPIRED');
    expect(refusal(await decide(soon.id, { action: 'ALLOW' }))).toEqual([409, 'review_final']);
  });
});
