import { describe, expect } from 'vitest';
import {
  AUTHORITY,
  fieldOf,
  freshKey,
  makeKey,
  makeTestCore,
  refusal,
  spend,
} from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
let now_ms = BEGIN_MS;
let adapter: string;
let reviewer: string;
let other_admin: string;

const client = serviceTest({
  stopped_at_ms: BEGIN_MS,
  plan: 'enterprise',
  env: { REVIEW_TTL_SECONDS: '600', CAPABILITY_TTL_SECONDS: '60' },
});
const { test, s, ask, keyWith } = client;
test.beforeAll(async () => {
  adapter = await keyWith('consume');
  reviewer = await keyWith('review', 'read');
  other_admin = await keyWith('admin', 'review', 'read', 'authorize');
});

const setClock = (time_ms: number) => {
  now_ms = time_ms;
  return s.setClock(now_ms);
};
const wait = (seconds: number) => setClock(now_ms + seconds * 1000);
const agent = (authority: object = {}, mode = 'ENFORCE') =>
  client.makeAgent({ review_threshold_minor: 1_000, monthly_budget_minor: 100_000, ...authority }, { mode });
const get = (id: string, key?: string) => client.get(`/v1/decisions/${id}`, key);
const patch = (slug: string, body: object) => s.call('PATCH', `/v1/agents/${slug}`, { body });
const setAuthority = (slug: string, body: object) => s.call('POST', `/v1/agents/${slug}/authority`, { body });
const allow = (id: string) =>
  s.call('POST', `/v1/decisions/${id}/reviews`, {
    key: reviewer,
    body: { action: 'ALLOW', reason_code: 'OK' },
  });
const report = (id: string, body: object) => s.call('POST', `/v1/decisions/${id}/outcomes`, { body });
const consume = (body: object, options: { key?: string; idempotency_key?: string } = {}) =>
  s.call('POST', '/v1/capabilities/consume', {
    key: adapter,
    idempotency_key: freshKey(),
    ...options,
    body,
  });
const pay = (made: { capability: { token: string } }, more: object = {}, options = {}) =>
  consume({ token: made.capability.token, amount_minor: 500, currency: 'EUR', ...more }, options);

describe('issuing', () => {
  test('a decision of ALLOW in ENFORCE issues a capability for what was authorized, for a limited time', async () => {
    const slug = await agent({ per_transaction_limit_minor: 300 });
    const made = await ask(slug, 500, { limitable: true, action: { payee_id: 'stripe:acct_1' } });
    expect(made.authorized_amount_minor).toBe(300);
    const { token, ...capability } = made.capability;
    expect(token).toMatch(/^cap_[0-9A-Z]{26}\.[A-Za-z0-9_-]{43}$/);
    expect(capability).toEqual({
      capability_id: token.split('.')[0],
      status: 'ISSUED',
      max_amount_minor: 300,
      currency: 'EUR',
      merchant: 'Hetzner Online',
      payee_id: 'stripe:acct_1',
      issued_at: made.created_at,
      expires_at: new Date(Date.parse(made.created_at) + 60_000).toISOString(),
      consumed_at: null,
    });
    expect(made.reservation.expires_at).toBe(capability.expires_at);
  });

  test('a DENY, a pending or denied REVIEW, and anything in SHADOW issue no capability', async () => {
    const limits = { per_transaction_limit_minor: 2_000 };
    const enforced = await agent(limits);
    const shadow = await agent(limits, 'SHADOW');
    for (const [slug, amount] of [
      [enforced, 2_001],
      [enforced, 1_500],
      [shadow, 2_001],
      [shadow, 1_500],
      [shadow, 500],
    ] as const) {
      const made = await ask(slug, amount);
      expect([made.capability, (await get(made.decision_id)).capability]).toEqual([null, null]);
    }
    const allowed = await ask(shadow, 1_500);
    expect((await allow(allowed.decision_id)).body).not.toHaveProperty('capability');
    expect((await get(allowed.decision_id)).capability).toBeNull();
  });
});

describe('the token is shown to the key that asked and to the agent’s own keys, and to nobody else', () => {
  const tokenOf = (body: { capability: { token?: string } | null }) => body.capability?.token;

  test('creation, replay and GET show the token to these keys alone, and lists to nobody', async () => {
    const slug = await agent();
    const own = (await makeKey(s, { agent_id: slug })).key;
    const own_too = (await makeKey(s, { agent_id: slug })).key;
    const stranger = (await makeKey(s, { agent_id: await agent() })).key;
    const read_only = (await makeKey(s, { scopes: ['read'] })).key;
    const colleague = (await makeKey(s, { scopes: ['authorize', 'read'] })).key;
    const idempotency_key = freshKey();
    const body = spend(slug, 500);
    const first = await s.call('POST', '/v1/decisions', { body, idempotency_key });
    const token = tokenOf(first.body) as string;
    expect(token).toBeDefined();
    const { decision_id } = first.body;
    const seenBy = async (key: string) => {
      const seen: (string | undefined)[] = [tokenOf(await get(decision_id, key))];
      const list = await s.call('GET', `/v1/decisions?q=hetzner&limit=200`, { key });
      seen.push(
        tokenOf(list.body.data.find((each: { decision_id: string }) => each.decision_id === decision_id)),
      );
      return seen;
    };
    for (const key of [s.admin_key, own, own_too]) expect(await seenBy(key)).toEqual([token, undefined]);
    for (const key of [other_admin, reviewer, read_only, colleague]) {
      expect(await seenBy(key)).toEqual([undefined, undefined]);
      expect((await get(decision_id, key)).capability).toEqual({
        ...(await get(decision_id)).capability,
        token: undefined,
      });
    }
    expect(refusal(await s.call('GET', `/v1/decisions/${decision_id}`, { key: stranger }))).toEqual([
      404,
      'not_found',
    ]);
    const replay = async (key: string) => {
      const reply = await s.call('POST', '/v1/decisions', { body, idempotency_key, key });
      expect(reply.status).toBe(200);
      return reply;
    };
    for (const key of [s.admin_key, own, own_too]) expect((await replay(key)).text).toBe(first.text);
    for (const key of [other_admin, colleague]) {
      const seen = await replay(key);
      expect(tokenOf(seen.body)).toBeUndefined();
      expect(seen.body).toEqual({
        ...first.body,
        capability: { ...first.body.capability, token: undefined },
      });
    }
    // Wherever others look, no answer carries a byte of it.
    const secret = token.split('.')[1] as string;
    for (const key of [other_admin, reviewer]) {
      for (const path of [
        '/v1/decisions?limit=200',
        `/v1/decisions/${decision_id}`,
        `/v1/decisions/${decision_id}/outcomes`,
        '/v1/ledger/events?limit=200',
        '/v1/audit?limit=200',
      ]) {
        expect((await s.call('GET', path, { key })).text).not.toContain(secret);
      }
    }
  });

  test('keys that look at the same decisions in the same moment see the token or not, each by its own right', async () => {
    const [slug, other] = [await agent(), await agent()];
    const own = (await makeKey(s, { agent_id: slug })).key;
    const stranger = (await makeKey(s, { agent_id: other })).key;
    const made: string[] = [];
    for (const of of [slug, other, slug]) {
      const reply = await s.call('POST', '/v1/decisions', {
        body: spend(of, 500),
        idempotency_key: freshKey(),
      });
      made.push(reply.body.decision_id);
    }
    const look = (key: string) => (id: string) => s.call('GET', `/v1/decisions/${id}`, { key });
    const ids = [...made, 'dec_00000000000000000000000000', 'dec_%00', `${made[0]}x`];
    const keys = [s.admin_key, own, stranger, reviewer, other_admin];
    const alone = [];
    for (const key of keys) for (const id of ids) alone.push(await look(key)(id));
    const together = await Promise.all(keys.flatMap((key) => ids.map(look(key))));
    const shown = (replies: Awaited<ReturnType<typeof s.call>>[]) =>
      replies.map(({ status, body }) => [status, body.error?.code, body.decision_id, tokenOf(body)]);
    expect(shown(together)).toEqual(shown(alone));
    const tokens = shown(together).filter(([, , , token]) => token !== undefined);
    expect(tokens.length).toBe(3 + 2 + 1);
  });

  test('an admin key does not see the token of a spend that an agent’s key asked for', async () => {
    const slug = await agent();
    const own = (await makeKey(s, { agent_id: slug })).key;
    const made = await ask(undefined, 500, {}, own);
    expect(tokenOf(made)).toBeDefined();
    expect(tokenOf(await get(made.decision_id, own))).toBe(tokenOf(made));
    for (const key of [s.admin_key, other_admin, reviewer]) {
      expect(tokenOf(await get(made.decision_id, key))).toBeUndefined();
    }
  });

  test('the reviewer never sees the token that a review issues, and whoever asked finds it by GET', async () => {
    const slug = await agent();
    const own = (await makeKey(s, { agent_id: slug })).key;
    const idempotency_key = freshKey();
    const body = spend(undefined, 1_500);
    const first = await s.call('POST', '/v1/decisions', { body, idempotency_key, key: own });
    const { decision_id } = first.body;
    const reviewed = await allow(decision_id);
    expect(tokenOf(reviewed.body)).toBeUndefined();
    expect(tokenOf(await get(decision_id, reviewer))).toBeUndefined();
    const token = tokenOf(await get(decision_id, own)) as string;
    // The replay stays the answer that was given: there was no capability then.
    const again = await s.call('POST', '/v1/decisions', { body, idempotency_key, key: own });
    expect(again.text).toBe(first.text);
    expect((await consume({ token, amount_minor: 1_500, currency: 'EUR' })).status).toBe(201);
  });
});

describe('POST /v1/capabilities/consume', () => {
  describe('201', () => {
    test('a consumption pays once, and the hold stays until an outcome settles it', async () => {
      const slug = await agent();
      const made = await ask(slug, 500, { action: { payee_id: 'stripe:acct_1' } });
      const reply = await pay(made, {
        amount_minor: 499,
        payee_id: 'stripe:acct_1',
        merchant: ' hetzner  ONLINE',
        external_reference: 'pi_1',
      });
      expect(reply.status).toBe(201);
      expect(reply.body).toEqual({
        capability_id: made.capability.capability_id,
        decision_id: made.decision_id,
        agent: made.agent,
        status: 'CONSUMED',
        amount_minor: 499,
        currency: 'EUR',
        payee_id: 'stripe:acct_1',
        consumed_at: reply.body.consumed_at,
      });
      await wait(86_400);
      expect(await get(made.decision_id)).toMatchObject({
        capability: {
          status: 'CONSUMED',
          consumed_at: reply.body.consumed_at,
          consumption: {
            amount_minor: 499,
            payee_id: 'stripe:acct_1',
            merchant: 'hetzner  ONLINE',
            external_reference: 'pi_1',
            consumed_by: { principal_id: null },
          },
        },
        reservation: { status: 'HELD', amount_minor: 500, expires_at: null, budget: { held_minor: 500 } },
      });
      const events = (await s.call('GET', '/v1/ledger/events?limit=50')).body.data;
      expect(events.filter((event: { type: string }) => event.type === 'capability.consumed')).toContainEqual(
        expect.objectContaining({ subject: { type: 'capability', id: made.capability.capability_id } }),
      );
    });

    test('a decision without a payee lets any be paid, and the consumption says which', async () => {
      const made = await ask(await agent(), 500);
      expect((await pay(made, { payee_id: 'iban:DE1' })).body.payee_id).toBe('iban:DE1');
      const other = await ask(await agent(), 500);
      expect((await pay(other)).body.payee_id).toBeNull();
    });

    test('after a consumption only the adapter’s report releases the hold, not the client’s', async () => {
      const slug = await agent();
      const made = await ask(slug, 500);
      await pay(made);
      await report(made.decision_id, { type: 'SPEND_CANCELLED' });
      expect(await get(made.decision_id)).toMatchObject({
        outcome_state: 'CANCELLED',
        reservation: { status: 'HELD', budget: { held_minor: 500 } },
      });
      const rail = await s.call('POST', `/v1/decisions/${made.decision_id}/outcomes`, {
        key: adapter,
        body: { type: 'SPEND_CANCELLED', source: 'PAYMENT_RAIL' },
      });
      expect(rail.body.flags).toEqual([]);
      expect(await get(made.decision_id)).toMatchObject({
        verified: true,
        capability: { status: 'CONSUMED' },
        reservation: { status: 'RELEASED', budget: { held_minor: 0 } },
      });
    });

    test('no report of the agent makes room for a further payment: a budget of 10,000 pays 10,000 at the most', async () => {
      // The same sum again is doubtful once the agent's past is read, and this is about money alone.
      const slug = await agent({
        monthly_budget_minor: 10_000,
        review_threshold_minor: 10_000,
        on_purpose_unclear: 'ALLOW',
      });
      const own = (await makeKey(s, { agent_id: slug })).key;
      const tell = (id: string, body: object, key: string) =>
        s.call('POST', `/v1/decisions/${id}/outcomes`, { key, body });
      const executed = (amount_minor: number) => ({ type: 'SPEND_EXECUTED', amount_minor });
      const ways = [
        async (id: string) => tell(id, executed(1), own),
        async (id: string) => {
          await tell(id, executed(4_500), own);
          await tell(id, { type: 'REFUNDED' }, own);
        },
        async (id: string) => {
          await tell(id, { ...executed(4_500), source: 'PAYMENT_RAIL' }, adapter);
          await tell(id, { type: 'REFUNDED' }, own);
        },
        async (id: string) => tell(id, { type: 'SPEND_FAILED' }, own),
      ];
      let paid = 0;
      for (let i = 0; i < 12; i++) {
        const made = await ask(undefined, 4_500, { action: { payee_id: 'stripe:acct_1' } }, own);
        if (made.decision !== 'ALLOW') continue;
        const used = await pay(made, { amount_minor: 4_500, payee_id: 'stripe:acct_1' });
        expect(used.status).toBe(201);
        paid += 4_500;
        await ways[i % ways.length]?.(made.decision_id);
        const { reservation, outcome_state, verified } = await get(made.decision_id);
        expect(reservation.amount_minor).toBe(4_500);
        expect(reservation.budget.held_minor + reservation.budget.committed_minor).toBe(paid);
        // What only the agent says was given back is shown, and verified by nobody.
        if (outcome_state === 'REFUNDED') expect(verified).toBe(false);
      }
      expect(paid).toBe(9_000);
    });

    test('after a consumption a client may claim more than was held, and the rail’s report corrects it', async () => {
      const made = await ask(await agent(), 500);
      await pay(made);
      await report(made.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 700 });
      expect((await get(made.decision_id)).reservation).toMatchObject({
        status: 'COMMITTED',
        amount_minor: 700,
      });
      const rail = (body: object) =>
        s.call('POST', `/v1/decisions/${made.decision_id}/outcomes`, {
          key: adapter,
          body: { source: 'PAYMENT_RAIL', ...body },
        });
      await rail({ type: 'SPEND_EXECUTED', amount_minor: 450 });
      expect((await get(made.decision_id)).reservation).toMatchObject({
        status: 'COMMITTED',
        amount_minor: 450,
      });
      await rail({ type: 'PARTIALLY_REFUNDED', amount_minor: 50 });
      expect((await get(made.decision_id)).reservation).toMatchObject({
        status: 'COMMITTED',
        amount_minor: 400,
      });
    });

    test.each<[string, object | null]>([
      ['before any outcome', null],
      ['and the client’s execution', { type: 'SPEND_EXECUTED', amount_minor: 500 }],
      ['and the client’s failure', { type: 'SPEND_FAILED' }],
      ['and the rail’s failure', { type: 'SPEND_FAILED', source: 'PAYMENT_RAIL' }],
      ['and the rail’s execution', { type: 'SPEND_EXECUTED', amount_minor: 400, source: 'PAYMENT_RAIL' }],
    ])(
      'a label that comes after the capability ran out leaves the history valid: %s',
      async (_name, body) => {
        const made = await ask(await agent(), 500, { action: { payee_id: 'stripe:acct_1' } });
        await pay(made, { payee_id: 'stripe:acct_1' });
        await wait(61);
        const label = await s.call('POST', `/v1/decisions/${made.decision_id}/labels`, {
          key: reviewer,
          body: { label: 'PURPOSE_ALIGNED' },
        });
        expect(label.status).toBe(201);
        if (body !== null) {
          const path = `/v1/decisions/${made.decision_id}/outcomes`;
          expect((await s.call('POST', path, { key: adapter, body })).status).toBe(201);
        }
        expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
      },
    );

    test('a capability works again once the pause of its agent has ended', async () => {
      const slug = await agent();
      const made = await ask(slug, 500);
      await patch(slug, { status: 'paused' });
      expect((await get(made.decision_id)).capability.status).toBe('ISSUED');
      expect(refusal(await pay(made))).toEqual([403, 'agent_not_active']);
      await patch(slug, { status: 'active' });
      expect((await pay(made)).status).toBe(201);
    });

    test('a new version of the same authority leaves the capability valid', async () => {
      const slug = await agent();
      const made = await ask(slug, 500);
      const { authority } = (await s.call('GET', `/v1/agents/${slug}/authority`)).body;
      expect((await setAuthority(slug, authority)).body.version).toBe(2);
      expect((await pay(made)).status).toBe(201);
    });

    test('a key with consume among its scopes may consume', async () => {
      const both = (await makeKey(s, { scopes: ['consume', 'read'] })).key;
      expect((await pay(await ask(await agent(), 500), {}, { key: both })).status).toBe(201);
    });
  });

  describe('200: a replay', () => {
    test('a replay is the first answer, to any key, whatever became of it since, and writes nothing', async () => {
      const slug = await agent();
      const made = await ask(slug, 500);
      const idempotency_key = freshKey();
      const first = await pay(made, { external_reference: 'pi_1' }, { idempotency_key });
      await report(made.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 500 });
      await setAuthority(slug, AUTHORITY);
      await wait(3_600);
      await patch(slug, { status: 'revoked' });
      const before = (await s.call('GET', '/v1/ledger/events?limit=1')).body.data[0].seq;
      const another_adapter = (await makeKey(s, { scopes: ['consume'] })).key;
      for (const key of [adapter, another_adapter]) {
        const again = await pay(made, { external_reference: 'pi_1' }, { idempotency_key, key });
        expect([again.status, again.headers.get('idempotent-replay'), again.text]).toEqual([
          200,
          'true',
          first.text,
        ]);
      }
      expect(first.headers.get('idempotent-replay')).toBeNull();
      const { data } = (await s.call('GET', `/v1/ledger/events?after=${before}&order=asc`)).body;
      // Holds of the tests before this one run out meanwhile.
      const written = data.filter(({ type }: { type: string }) => type !== 'reservation.expired');
      expect(written.map(({ type }: { type: string }) => type)).toEqual(['api_key.created']);
    });
    test('a refused consumption binds no idempotency key', async () => {
      const made = await ask(await agent(), 500);
      const idempotency_key = freshKey();
      expect((await pay(made, { amount_minor: 501 }, { idempotency_key })).status).toBe(422);
      expect((await pay(made, {}, { idempotency_key })).status).toBe(201);
    });
  });

  test('400 names the field', async () => {
    const made = await ask(await agent(), 500);
    for (const [more, field] of [
      [{ token: undefined }, 'token'],
      [{ token: '' }, 'token'],
      [{ token: 5 }, 'token'],
      [{ amount_minor: undefined }, 'amount_minor'],
      [{ amount_minor: 0 }, 'amount_minor'],
      [{ amount_minor: '500' }, 'amount_minor'],
      [{ currency: undefined }, 'currency'],
      [{ currency: 'EURO' }, 'currency'],
      [{ payee_id: 'acct_1' }, 'payee_id'],
      [{ merchant: '' }, 'merchant'],
      [{ capability_id: 'cap_1' }, 'capability_id'],
    ] as const) {
      const reply = await pay(made, more);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
    }
    const without = await s.call('POST', '/v1/capabilities/consume', {
      key: adapter,
      body: { token: made.capability.token, amount_minor: 500, currency: 'EUR' },
    });
    expect([...refusal(without), fieldOf(without)]).toEqual([400, 'invalid_request', 'idempotency-key']);
    expect((await pay(made)).status).toBe(201);
  });

  describe('403', () => {
    test('agent_not_active where the agent is paused or revoked, whatever else is wrong with the request', async () => {
      const slug = await agent();
      const made = await ask(slug, 500, { action: { payee_id: 'stripe:acct_1' } });
      for (const status of ['paused', 'revoked']) {
        await patch(slug, { status });
        expect(refusal(await pay(made, { amount_minor: 900 }))).toEqual([403, 'agent_not_active']);
      }
      expect((await get(made.decision_id)).capability.status).toBe('REVOKED');
      await wait(61);
      // The money that only this capability could move is free; nothing else is.
      expect((await get(made.decision_id)).reservation.status).toBe('EXPIRED');
    });
    test('insufficient_scope for every key without consume, whatever token it holds', async () => {
      const slug = await agent();
      const own = (await makeKey(s, { agent_id: slug })).key;
      const made = await ask(slug, 500);
      for (const key of [own, s.admin_key, reviewer]) {
        expect(refusal(await pay(made, {}, { key }))).toEqual([403, 'insufficient_scope']);
      }
    });
  });

  describe('404', () => {
    test('not_found for a token that is truncated, altered, in another case, forged, or only an id', async () => {
      const made = await ask(await agent(), 500);
      const { token, capability_id } = made.capability;
      const other = (await ask(await agent(), 500)).capability.token;
      const mac = token.split('.')[1];
      for (const altered of [
        token.slice(0, -1),
        token.slice(1),
        `${token}A`,
        token.toLowerCase(),
        token.toUpperCase(),
        capability_id,
        `${capability_id}.`,
        `${other.split('.')[0]}.${mac}`,
        `cap_01KAJ5F0V8Z3M2Q9X7T4R6N1BD.${mac}`,
        made.decision_id,
        'x',
      ]) {
        const body = { token: altered, amount_minor: 500, currency: 'EUR' };
        expect(refusal(await consume(body)), altered).toEqual([404, 'not_found']);
      }
      expect((await get(made.decision_id)).capability.status).toBe('ISSUED');
    });
    test('not_found for a token of another workspace', async () => {
      const tenant = await s.addWorkspace({ plan: 'team' });
      const foreign = (await makeKey(s, { scopes: ['consume'] }, tenant.admin_key)).key;
      const made = await ask(await agent(), 500);
      expect(refusal(await pay(made, {}, { key: foreign }))).toEqual([404, 'not_found']);
      expect((await pay(made)).status).toBe(201);
    });
    test('not_found for a well-made token of a decision that issued none', async () => {
      const core = makeTestCore(s.database.connection);
      try {
        const pending = await ask(await agent(), 1_500);
        for (const id of [pending.decision_id, 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD']) {
          const token = core.secrets.capabilityTokens.of(s.workspace_id, id.replace('dec_', 'cap_'));
          expect(refusal(await consume({ token, amount_minor: 1, currency: 'EUR' }))).toEqual([
            404,
            'not_found',
          ]);
        }
      } finally {
        await core.close();
      }
    });
  });

  describe('409', () => {
    test('capability_used for a second consumption, of the same amount or another', async () => {
      const made = await ask(await agent(), 500);
      await pay(made, { amount_minor: 1 });
      for (const more of [{ amount_minor: 1 }, { amount_minor: 499 }, { amount_minor: 9_999 }]) {
        expect(refusal(await pay(made, more))).toEqual([409, 'capability_used']);
      }
      await wait(61);
      expect(refusal(await pay(made))).toEqual([409, 'capability_used']);
    });
    test('capability_expired from the moment it ends, and the hold is released only where one payee alone could be paid', async () => {
      const slug = await agent();
      const bound = await ask(slug, 500, { action: { payee_id: 'stripe:acct_1' } });
      const free = await ask(slug, 500);
      // Each batch is a millisecond later than the one before.
      const ends_ms = Date.parse(bound.capability.expires_at);
      await setClock(ends_ms - 1);
      expect((await get(bound.decision_id)).capability.status).toBe('ISSUED');
      await setClock(ends_ms + 10);
      for (const [made, payee_id, status] of [
        [bound, 'stripe:acct_1', 'EXPIRED'],
        [free, undefined, 'HELD'],
      ] as const) {
        expect(refusal(await pay(made, { payee_id }))).toEqual([409, 'capability_expired']);
        expect(await get(made.decision_id)).toMatchObject({
          capability: { status: 'EXPIRED', consumed_at: null },
          reservation: { status },
        });
      }
      expect((await get(free.decision_id)).reservation.budget.held_minor).toBe(500);
    });
    test('capability_revoked where an outcome was reported before it was used', async () => {
      const slug = await agent();
      for (const body of [
        { type: 'SPEND_FAILED' },
        { type: 'SPEND_CANCELLED' },
        // What was paid must not be paid a second time.
        { type: 'SPEND_EXECUTED', amount_minor: 500 },
      ]) {
        const made = await ask(slug, 500);
        await report(made.decision_id, body);
        expect((await get(made.decision_id)).capability.status).toBe('REVOKED');
        expect(refusal(await pay(made))).toEqual([409, 'capability_revoked']);
        await wait(61);
        expect(refusal(await pay(made))).toEqual([409, 'capability_revoked']);
      }
    });
    test('authority_changed under another authority, until the same one is back', async () => {
      const slug = await agent();
      const { authority } = (await s.call('GET', `/v1/agents/${slug}/authority`)).body;
      const made = await ask(slug, 500);
      await setAuthority(slug, { ...authority, blocked_merchants: ['Nobody'] });
      expect(refusal(await pay(made, { amount_minor: 501 }))).toEqual([409, 'authority_changed']);
      await setAuthority(slug, authority);
      expect((await pay(made)).status).toBe(201);
    });
    test('idempotency_conflict where the key was used for another consumption', async () => {
      const slug = await agent();
      const made = await ask(slug, 500);
      const second = await ask(slug, 500);
      const idempotency_key = freshKey();
      await pay(made, {}, { idempotency_key });
      for (const [about, more] of [
        [made, { amount_minor: 499 }],
        [made, { external_reference: 'x' }],
        [second, {}],
      ] as const) {
        expect(refusal(await pay(about, more, { idempotency_key }))).toEqual([409, 'idempotency_conflict']);
      }
      // Keys of decisions and of consumptions are two things, and so are two workspaces'.
      expect((await pay(second)).status).toBe(201);
    });
  });

  describe('422', () => {
    test('payee_mismatch for another payee, or none, where the decision named one', async () => {
      const made = await ask(await agent(), 500, { action: { payee_id: 'stripe:acct_1' } });
      for (const payee_id of [undefined, 'stripe:acct_2', 'stripe:ACCT_1', 'iban:acct_1']) {
        expect(refusal(await pay(made, { payee_id }))).toEqual([422, 'payee_mismatch']);
      }
      expect((await pay(made, { payee_id: 'stripe:acct_1' })).status).toBe(201);
    });
    test('merchant_mismatch for another merchant; additions of a card descriptor do not matter, and it may be left out', async () => {
      const made = await ask(await agent(), 500);
      for (const merchant of ['Hetzner', 'Hetzner Online Refunds', 'Неtzner Online']) {
        expect(refusal(await pay(made, { merchant }))).toEqual([422, 'merchant_mismatch']);
      }
      expect((await pay(made, { merchant: 'HETZNER ONLINE GMBH 0123' })).status).toBe(201);
    });
    test('currency_mismatch, and amount_exceeds_authorized by one unit', async () => {
      const made = await ask(await agent(), 500);
      expect(refusal(await pay(made, { currency: 'USD' }))).toEqual([422, 'currency_mismatch']);
      expect(refusal(await pay(made, { amount_minor: 501 }))).toEqual([422, 'amount_exceeds_authorized']);
      expect((await get(made.decision_id)).capability.status).toBe('ISSUED');
      expect((await pay(made)).status).toBe(201);
    });
    test('amount_exceeds_authorized above what a review allowed, and above what a limit left of the amount', async () => {
      const slug = await agent({ per_transaction_limit_minor: 2_000 });
      const { decision_id } = await ask(slug, 2_500, { limitable: true });
      await allow(decision_id);
      const allowed = await get(decision_id);
      expect(allowed.capability.max_amount_minor).toBe(2_000);
      expect(refusal(await pay(allowed, { amount_minor: 2_001 }))).toEqual([
        422,
        'amount_exceeds_authorized',
      ]);
      expect((await pay(allowed, { amount_minor: 2_000 })).status).toBe(201);
    });
  });
});

test('the database holds no token and no key that could be used', async () => {
  const slug = await agent();
  const keys = [s.admin_key, adapter, reviewer, other_admin, (await makeKey(s, { agent_id: slug })).key];
  const issued = await ask(slug, 500);
  const consumed = await ask(slug, 500);
  await pay(consumed, { external_reference: 'kept' });
  const refused = await ask(slug, 500);
  await pay(refused, { amount_minor: 501 });
  const reviewed = await ask(slug, 1_500);
  await allow(reviewed.decision_id);
  const tokens = [issued, consumed, refused, await get(reviewed.decision_id)].map(
    (each) => each.capability.token as string,
  );
  const { rows: tables } = await s.sql(
    "select table_name from information_schema.tables where table_schema = 'public' order by 1",
  );
  expect(tables.length).toBeGreaterThan(15);
  let dump = '';
  for (const { table_name } of tables) {
    const { rows } = await s.sql(`select t::text as row from ${table_name} t`);
    dump += rows.map((row) => row.row).join('\n');
  }
  expect(dump).toContain('kept');
  expect(dump).toContain(issued.capability.capability_id);
  const base64 = (text: string) => Buffer.from(text).toString('base64').slice(0, -4);
  const hex = (text: string) => Buffer.from(text).toString('hex');
  for (const secret of [
    ...keys.map((key) => key.slice(3)),
    ...tokens.map((each) => each.split('.')[1] as string),
  ]) {
    for (const form of [secret, base64(secret), hex(secret), hex(secret).toUpperCase()]) {
      expect(dump.includes(form)).toBe(false);
    }
  }
  for (const token of tokens) {
    const bytes = Buffer.from(token.split('.')[1] as string, 'base64url').toString('hex');
    expect(dump.includes(bytes)).toBe(false);
  }
});

test('after all of this the chain is whole', async () => {
  expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
});
