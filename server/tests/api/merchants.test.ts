import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import {
  AUTHORITY,
  fieldOf,
  freshKey,
  makeKey,
  type RunningService,
  refusal,
  spend,
  startTestService,
} from '../support/running-service.ts';

let s: RunningService;
/** Another node on the same database. */
let other: RunningService;
let admin: Browser;
beforeAll(async () => {
  s = await startTestService({ plan: 'enterprise' });
  other = await startTestService({ beside: s });
  admin = await setUp(s);
});
afterAll(async () => {
  await other.stop();
  await s.stop();
});

async function makeAgent(authority: object = {}, mode = 'SHADOW'): Promise<string> {
  const slug = freshKey();
  const body = { slug, mode, authority: { ...AUTHORITY, ...authority } };
  expect((await s.call('POST', '/v1/agents', { body })).status).toBe(201);
  return slug;
}
const at = (agent: string, tail = '') => `/v1/agents/${agent}/merchants${tail}`;
const list = (agent: string, entries: object[], key = s.admin_key) =>
  s.call('POST', at(agent), { body: { entries }, key });
const allow = (merchant: string, more: object = {}) => ({ merchant, verdict: 'ALLOWED', ...more });
const block = (merchant: string, more: object = {}) => ({ merchant, verdict: 'BLOCKED', ...more });

async function listed(agent: string, ...entries: object[]) {
  const reply = await list(agent, entries);
  expect([reply.status, reply.body.error]).toEqual([201, undefined]);
  return reply.body.data;
}
const entriesOf = async (agent: string) => (await s.call('GET', at(agent))).body.data;
async function decide(agent: string, merchant: string, extra: { action?: object } = {}, node = s) {
  const body = spend(agent, 100, { ...extra, action: { merchant, ...extra.action } });
  const reply = await node.call('POST', '/v1/decisions', { body, idempotency_key: freshKey() });
  expect(reply.status).toBe(201);
  return reply.body;
}

describe('listing', () => {
  test('answers the entries in the order given, and who made them', async () => {
    const agent = await makeAgent();
    const [first, second] = await listed(
      agent,
      allow('Hetzner Online', { payee_ids: ['sepa:B', 'sepa:A', 'sepa:B'], note: 'Our host.' }),
      block('Evil Hosting'),
    );
    expect(first).toEqual({
      entry_id: expect.stringMatching(/^mer_[0-9A-Z]{26}$/),
      merchant: 'Hetzner Online',
      payee_ids: ['sepa:A', 'sepa:B'],
      verdict: 'ALLOWED',
      note: 'Our host.',
      created_at: expect.any(String),
      created_by: { key_id: expect.stringMatching(/^key_/), principal_id: null },
    });
    expect(second).toMatchObject({ merchant: 'Evil Hosting', payee_ids: [], verdict: 'BLOCKED', note: null });
    expect(await entriesOf(agent)).toEqual([second, first]);
    const page = await s.call('GET', at(agent, '?limit=1'));
    expect(page.body.data).toEqual([second]);
    const rest = await s.call('GET', at(agent, `?limit=1&cursor=${page.body.next_cursor}`));
    expect(rest.body).toEqual({ data: [first], next_cursor: null });
  });

  test('the same again, however it is spelled, adds no second entry and no event', async () => {
    const agent = await makeAgent();
    const [made] = await listed(agent, allow('Hetzner Online GmbH', { payee_ids: ['sepa:A', 'sepa:B'] }));
    const { rows: before } = await s.sql('select sum(seq) from ledger_heads');
    const again = allow('HETZNER ONLINE', { payee_ids: ['sepa:B', 'sepa:A'], note: 'Again' });
    expect(await listed(agent, again, again)).toEqual([made, made]);
    expect((await s.sql('select sum(seq) from ledger_heads')).rows).toEqual(before);
    expect(await listed(agent, allow('Hetzner Online'))).not.toContainEqual(made);
    expect(await entriesOf(agent)).toHaveLength(2);
  });

  test('all or none: one contradiction, which is named, and nothing is listed', async () => {
    const agent = await makeAgent({ blocked_merchants: ['Evil'], allowed_merchants: ['Good Host'] });
    await listed(agent, allow('Fine Shop'), block('Worse Shop'));
    const cases = [
      [allow('Evil Hosting'), 'Evil Hosting', 'Evil'],
      [allow('The Worse Shop Ltd'), 'The Worse Shop Ltd', 'Worse Shop'],
      [block('Good'), 'Good', 'Good Host'],
      [block('fine shop'), 'fine shop', 'Fine Shop'],
    ] as const;
    for (const [entry, merchant, opposite] of cases) {
      const reply = await list(agent, [allow('Harmless'), entry]);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'entries[1].merchant']);
      expect(reply.body.error.message).toContain(`"${merchant}"`);
      expect(reply.body.error.message).toContain(`"${opposite}"`);
    }
    expect(refusal(await list(agent, [allow('Both'), block('both')]))).toEqual([400, 'invalid_request']);
    expect(await entriesOf(agent)).toHaveLength(2);
  });

  test.each([
    ['entries', { entries: [] }],
    ['entries', {}],
    ['entries', { entries: Array.from({ length: 201 }, (_, i) => allow(`Shop ${i}`)) }],
    ['entries[0].merchant', { entries: [allow('x'.repeat(201))] }],
    ['entries[0].merchant', { entries: [{ verdict: 'ALLOWED' }] }],
    ['entries[0].verdict', { entries: [{ merchant: 'Shop', verdict: 'ALLOW' }] }],
    ['entries[0].note', { entries: [allow('Shop', { note: 'x'.repeat(2_001) })] }],
    ['entries[0].payee_ids[0]', { entries: [allow('Shop', { payee_ids: ['no rail'] })] }],
    ['entries[0].limit', { entries: [allow('Shop', { limit: 1 })] }],
  ])('%s at fault is named', async (field, body) => {
    const agent = await makeAgent();
    const reply = await s.call('POST', at(agent), { body });
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
  });

  test('an agent has at most 2,000 entries in force, however they are listed', async () => {
    const agent = await makeAgent();
    const some = (n: number) => Array.from({ length: 200 }, (_, i) => allow(`Shop number ${n} ${i}`));
    for (let n = 0; n < 10; n++) await listed(agent, ...some(n));
    expect(refusal(await list(agent, [allow('One more')]))).toEqual([409, 'merchant_limit']);
    const [repeated] = await listed(agent, allow('Shop number 3 7'));
    expect((await s.call('DELETE', at(agent, `/${repeated.entry_id}`))).status).toBe(204);
    await listed(agent, allow('One more'));
  });
});

describe('who may', () => {
  test('a reviewer, by key or session, where the current authority says so and else not', async () => {
    const agent = await makeAgent();
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ann' })).key;
    const invite = await admin.call('POST', '/v1/invitations', {
      body: { email: 'bob@example.com', role: 'reviewer', principal_id: 'user:bob' },
    });
    const bob = openBrowser(s);
    await bob.call('POST', '/v1/auth/invitations/accept', {
      body: { token: invite.body.url.split('#')[1], name: 'Bob', password: PASSWORD },
    });
    const body = { entries: [allow('Shop')] };
    const [kept] = await listed(agent, allow('Kept'));
    const tries = () =>
      Promise.all([
        s.call('POST', at(agent), { body, key: reviewer }),
        bob.call('POST', at(agent), { body }),
        s.call('DELETE', at(agent, `/${kept.entry_id}`), { key: reviewer }),
      ]);
    for (const reply of await tries()) expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
    expect(await entriesOf(agent)).toEqual([kept]);
    const authority = { ...AUTHORITY, reviewer_may_list: true };
    await s.call('POST', `/v1/agents/${agent}/authority`, { body: authority });
    expect((await tries()).map(({ status }) => status)).toEqual([201, 201, 204]);
    const [only] = await entriesOf(agent);
    expect(['user:ann', 'user:bob']).toContain(only.created_by.principal_id);
    await s.call('POST', `/v1/agents/${agent}/authority`, { body: AUTHORITY });
    const [by_key, by_person] = await tries();
    expect([by_key, by_person].map(refusal)).toEqual(Array(2).fill([403, 'insufficient_scope']));
  });

  test('an entry of another agent is nobody’s, and an ended one can be ended again', async () => {
    const [one, two] = [await makeAgent(), await makeAgent()];
    const [{ entry_id }] = await listed(one, allow('Shop'));
    expect(refusal(await s.call('DELETE', at(two, `/${entry_id}`)))).toEqual([404, 'not_found']);
    expect(refusal(await s.call('DELETE', at(one, '/mer_x')))).toEqual([404, 'not_found']);
    expect(await entriesOf(two)).toEqual([]);
    for (let i = 0; i < 2; i++) expect((await s.call('DELETE', at(one, `/${entry_id}`))).status).toBe(204);
    expect(await entriesOf(one)).toEqual([]);
    const own = (await makeKey(s, { agent_id: two })).key;
    expect((await s.call('GET', at(two), { key: own })).status).toBe(200);
    expect((await s.call('GET', at(one), { key: own })).status).toBe(404);
    expect(refusal(await s.call('GET', at(two, '/suggestions'), { key: own }))).toEqual([
      403,
      'insufficient_scope',
    ]);
  });
});

describe('what an entry does', () => {
  test('BLOCKED denies the next decision on every node, names who listed it, and ends with the entry', async () => {
    const agent = await makeAgent();
    const name = 'Evil Hosting Ltd';
    for (const node of [s, other])
      expect((await decide(agent, name, {}, node)).reason_codes).not.toContain('MERCHANT_BLOCKED');
    const made = await admin.call('POST', at(agent), { body: { entries: [block('Evil Hosting')] } });
    expect(made.status).toBe(201);
    const { principal_id } = made.body.data[0].created_by;
    for (const node of [other, s]) {
      const denied = await decide(agent, name, {}, node);
      expect([denied.decision, denied.reason_code]).toEqual(['DENY', 'MERCHANT_BLOCKED']);
      expect(denied.explanation).toContain(`${principal_id} blocked "Evil Hosting" on `);
      expect(denied.directory_version).toBe(1);
    }
    const stricter = { ...AUTHORITY, per_transaction_limit_minor: 1_000_000 };
    await s.call('POST', `/v1/agents/${agent}/authority`, { body: stricter });
    expect((await decide(agent, name)).decision).toBe('DENY');
    await s.call('DELETE', at(agent, `/${made.body.data[0].entry_id}`));
    for (const node of [other, s]) {
      expect((await decide(agent, name, {}, node)).reason_codes).not.toContain('MERCHANT_BLOCKED');
    }
  });

  test('ALLOWED vouches for the merchant under every authority, for its payees alone, and names who listed it', async () => {
    const agent = await makeAgent();
    const about = (payee_id: string) => ({ action: { description: 'virtual server', payee_id } });
    const ask = async (payee_id = 'sepa:A', node = s) =>
      (await decide(agent, 'ZINNOBER KONTOR GmbH', about(payee_id), node)).purpose;
    expect((await ask()).assessment).toBe('PURPOSE_UNCLEAR');
    const entries = [allow('Zinnober Kontor', { payee_ids: ['sepa:A'] })];
    const made = await admin.call('POST', at(agent), { body: { entries } });
    const { principal_id } = made.body.data[0].created_by;
    for (const node of [other, s]) {
      const vouched = await ask('sepa:A', node);
      expect(vouched.assessment).toBe('PURPOSE_ALIGNED');
      expect(JSON.stringify(vouched)).toContain(`listed by ${principal_id}`);
    }
    expect((await ask('sepa:B')).assessment).not.toBe('PURPOSE_ALIGNED');
    const edited = { ...AUTHORITY, purpose: { ...AUTHORITY.purpose, constraints: ['No gift cards.'] } };
    await s.call('POST', `/v1/agents/${agent}/authority`, { body: edited });
    expect((await ask()).assessment).toBe('PURPOSE_ALIGNED');
    await s.call('DELETE', at(agent, `/${made.body.data[0].entry_id}`));
    expect((await ask()).assessment).toBe('PURPOSE_UNCLEAR');
  });

  test('neither the agent nor its authority’s hash shows the directory', async () => {
    const agent = await makeAgent();
    const before = (await s.call('GET', `/v1/agents/${agent}`)).body;
    await listed(agent, allow('Shop'));
    const after = (await s.call('GET', `/v1/agents/${agent}`)).body;
    expect({ ...after, updated_at: before.updated_at }).toEqual(before);
  });

  test('of a listing and decisions that race on two nodes, each decision is before or after it', async () => {
    for (let round = 0; round < 3; round++) {
      const agent = await makeAgent();
      const name = 'Racing Host';
      const nodes = [s, other];
      const asked = Array.from({ length: 12 }, (_, i) => decide(agent, name, {}, nodes[i % 2]));
      const listing = listed(agent, block(name));
      const [made] = await Promise.all([Promise.all(asked), listing]);
      const { body } = await s.call('GET', '/v1/ledger/events?type=merchant.listed&limit=1');
      const [{ seq }] = body.data;
      for (const each of made) {
        const found = await s.call('GET', `/v1/ledger/events?subject=${each.decision_id}`);
        const is_after = found.body.data[0].seq > seq;
        expect([each.reason_code === 'MERCHANT_BLOCKED', each.directory_version ?? 0]).toEqual([
          is_after,
          is_after ? 1 : 0,
        ]);
      }
      // Whoever was told of the listing is decided by it.
      for (const node of nodes)
        expect((await decide(agent, name, {}, node)).reason_code).toBe('MERCHANT_BLOCKED');
    }
  });

  test('an ALLOWED entry lifts no limit, no block and no pause of a spend', async () => {
    const amounts = fc.integer({ min: 1, max: 3_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          per_transaction_limit_minor: fc.option(amounts, { nil: undefined }),
          monthly_budget_minor: fc.option(amounts, { nil: undefined }),
          review_threshold_minor: fc.option(amounts, { nil: undefined }),
          blocked_merchants: fc.constantFrom([], ['Shop'], ['Other']),
        }),
        fc.record({ amount_minor: amounts, currency: fc.constantFrom('EUR', 'USD') }),
        async (limits, action) => {
          const given = JSON.parse(JSON.stringify(limits));
          const [without, withEntry] = [await makeAgent(given), await makeAgent()];
          // Listed before the authority blocks it, which then prevails.
          await listed(withEntry, allow('Shop Ltd'));
          const body = { ...AUTHORITY, ...given };
          await s.call('POST', `/v1/agents/${withEntry}/authority`, { body });
          const [bare, vouched] = [
            await decide(without, 'Shop Ltd', { action }),
            await decide(withEntry, 'Shop Ltd', { action }),
          ];
          const hard = (codes: string[]) => codes.filter((code) => !/^PURPOSE_|^WITHIN/.test(code));
          expect(hard(vouched.reason_codes)).toEqual(hard(bare.reason_codes));
          expect(vouched.authorized_amount_minor <= action.amount_minor).toBe(true);
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('history', () => {
  test('each listing and unlisting is in the audit and in the chain, which stays valid', async () => {
    const agent = await makeAgent();
    const [one, two] = await listed(agent, allow('Shop', { note: 'Why' }), block('Evil'));
    await s.call('DELETE', at(agent, `/${one.entry_id}`));
    const records = async (target: string) =>
      (await s.call('GET', `/v1/audit?target=${target}`)).body.data.map(
        (record: { action: string; target: object }) => [record.action, record.target],
      );
    const target = { type: 'merchant', id: one.entry_id };
    expect(await records(one.entry_id)).toEqual([
      ['merchant.unlisted', target],
      ['merchant.listed', target],
    ]);
    expect(await records(two.entry_id)).toHaveLength(1);
    const [record] = (await s.call('GET', `/v1/audit?target=${two.entry_id}`)).body.data;
    expect(record.changes).toMatchObject({
      merchant: { from: null, to: 'Evil' },
      verdict: { to: 'BLOCKED' },
    });
    expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true });
    const { text } = await s.call('GET', '/v1/ledger/export');
    for (const { entry_id } of [one, two]) expect(text).toContain(entry_id);
  });
});

describe('simulation', () => {
  const simulate = async (agent: string, draft: object = AUTHORITY) =>
    (await s.call('POST', `/v1/agents/${agent}/authority/simulate`, { body: draft })).body;

  test('replays the merchants as they stand; those that did not change since change nothing', async () => {
    const agent = await makeAgent();
    await listed(agent, block('Evil'), allow('Odd Shop'));
    for (const name of ['Evil Hosting', 'Odd Shop', 'Hetzner', 'Nowhere Shop']) await decide(agent, name);
    expect(await simulate(agent)).toMatchObject({ evaluated: 4, changed: [] });
    await listed(agent, allow('Unrelated'), block('Hetzner'));
    const { changed } = await simulate(agent);
    expect(changed).toMatchObject([{ merchant: 'Hetzner', draft: { reason_code: 'MERCHANT_BLOCKED' } }]);
    for (const { entry_id } of await entriesOf(agent)) await s.call('DELETE', at(agent, `/${entry_id}`));
    const evil = (await simulate(agent)).changed.find(
      (each: { merchant: string }) => each.merchant === 'Evil Hosting',
    );
    expect(evil).toMatchObject({ current: { reason_code: 'MERCHANT_BLOCKED' } });
    expect(evil.draft.reason_code).not.toBe('MERCHANT_BLOCKED');
  });
});

test('simulation assesses anew what a listing vouches for since, also behind what a card’s statement adds', async () => {
  const agent = await makeAgent();
  const action = { description: 'virtual server' };
  for (const name of ['PAYPAL *ZINNOBER KONTOR 4711', 'Purpur Kontor']) await decide(agent, name, { action });
  await listed(agent, allow('Zinnober Kontor'));
  const path = `/v1/agents/${agent}/authority/simulate`;
  const { body } = await s.call('POST', path, { body: AUTHORITY });
  expect(body.changed).toMatchObject([
    { merchant: 'PAYPAL *ZINNOBER KONTOR 4711', draft: { reason_code: 'WITHIN_AUTHORITY' } },
  ]);
});

describe('suggestions', () => {
  const suggestionsOf = async (agent: string, query = '') =>
    (await s.call('GET', at(agent, `/suggestions${query}`))).body;
  const say = async (id: string, tail: string, body: object, key: string) =>
    expect((await s.call('POST', `/v1/decisions/${id}/${tail}`, { body, key })).status).toBe(201);

  test('of what was decided, with what people and the rail said; the most frequent first', async () => {
    const agent = await makeAgent({ review_threshold_minor: 50 }, 'SHADOW');
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'] })).key;
    const adapter = (await makeKey(s, { scopes: ['consume'] })).key;
    const made: Record<string, string[]> = {};
    for (const [name, count] of Object.entries({
      Right: 5,
      Wrong: 4,
      Mixed: 3,
      Silent: 2,
      Claimed: 1,
    })) {
      made[name] = [];
      for (let i = 0; i < count; i++) {
        const action = { description: `${name} thing ${i}`, payee_id: `sepa:${name}${i % 2}` };
        made[name].push(
          (await decide(agent, i % 2 === 0 ? `${name} Shop` : `${name.toUpperCase()} SHOP GmbH`, { action }))
            .decision_id,
        );
      }
    }
    const of = (name: string, i = 0) => made[name]?.[i] as string;
    const review = { reason_code: 'CHECKED' };
    await say(of('Right'), 'reviews', { ...review, action: 'ALLOW' }, reviewer);
    await say(of('Right', 1), 'labels', { label: 'PURPOSE_ALIGNED' }, reviewer);
    await say(of('Wrong'), 'labels', { label: 'PURPOSE_MISALIGNED' }, reviewer);
    await say(of('Mixed'), 'labels', { label: 'PURPOSE_MISALIGNED' }, reviewer);
    await say(of('Mixed', 1), 'reviews', { ...review, action: 'ALLOW' }, reviewer);
    await say(of('Claimed'), 'outcomes', { type: 'SPEND_EXECUTED', amount_minor: 100 }, s.admin_key);
    const executed = { type: 'SPEND_EXECUTED', amount_minor: 100, source: 'PAYMENT_RAIL' };
    await say(of('Silent'), 'outcomes', executed, adapter);

    const { data, next_cursor } = await suggestionsOf(agent);
    expect(next_cursor).toBeNull();
    expect(data.map((each: Record<string, unknown>) => [each.count, each.suggestion])).toEqual([
      [5, 'ALLOW'],
      [4, 'BLOCK'],
      [3, 'ASK'],
      // In SHADOW the rail settled what nobody had allowed: that is nobody's word.
      [2, 'ASK'],
      // An agent's own report is nobody's word either.
      [1, 'ASK'],
    ]);
    const [right] = data;
    expect(right).toMatchObject({
      merchant: 'Right Shop',
      payee_ids: ['sepa:Right0', 'sepa:Right1'],
      amounts: [{ currency: 'EUR', amount_minor: 500 }],
      labels: { ALIGNED: 1, UNCLEAR: 0, MISALIGNED: 0 },
      reviews: { allowed: 1, denied: 0 },
      outcomes: { executed: 0, failed: 0 },
      examples: ['Right thing 4', 'Right thing 3', 'Right thing 2'],
      why: expect.stringMatching(/^People .*\.$/),
    });
    expect(right.assessments.ALIGNED + right.assessments.UNCLEAR + right.assessments.MISALIGNED).toBe(5);
    expect(right.first_at < right.last_at).toBe(true);
    expect(data[4].outcomes).toEqual({ executed: 1, failed: 0 });

    const paged: unknown[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const page = await suggestionsOf(agent, query);
      paged.push(...page.data);
      query = page.next_cursor === null ? '' : `?limit=2&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(data);

    await listed(agent, allow('right shop', { payee_ids: ['sepa:Right0'] }), block('Wrong'));
    const rest = await suggestionsOf(agent);
    expect(rest.data.map((each: { merchant: string }) => each.merchant)).toEqual([
      'Mixed Shop',
      'SILENT SHOP GmbH',
      'Claimed Shop',
    ]);
  });

  test('the rail’s word on what was in force is enough to suggest ALLOW', async () => {
    const agent = await makeAgent({}, 'ENFORCE');
    const adapter = (await makeKey(s, { scopes: ['consume'] })).key;
    const made = await decide(agent, 'Hetzner');
    expect(made.decision).toBe('ALLOW');
    const executed = { type: 'SPEND_EXECUTED', amount_minor: 100, source: 'PAYMENT_RAIL' };
    await say(made.decision_id, 'outcomes', executed, adapter);
    const [only] = (await suggestionsOf(agent)).data;
    expect(only).toMatchObject({ suggestion: 'ALLOW', settled: 1, outcomes: { executed: 1 } });
  });

  test('the shadow report says how many reviews the merchants would spare that are not listed', async () => {
    const agent = await makeAgent();
    const nobody = { description: 'qwertz zuiop' };
    for (let i = 0; i < 3; i++) await decide(agent, 'Zinnober Kontor', { action: nobody });
    const refused = await decide(agent, 'Purpur Kontor', { action: nobody });
    await decide(agent, 'Indigo Kontor', { action: nobody });
    await say(refused.decision_id, 'labels', { label: 'PURPOSE_MISALIGNED' }, s.admin_key);
    const merchantsOf = async () =>
      (await s.call('GET', `/v1/reports/shadow?agent=${agent}`)).body.readiness.merchants;
    expect(refused.reason_codes).toEqual(['PURPOSE_UNCLEAR']);
    const two = { merchants: ['Zinnober Kontor', 'Indigo Kontor'], spared: 4, reviews: 5 };
    const message = 'Confirming these 2 merchants would save 4 of 5 reviews.';
    expect(await merchantsOf()).toEqual([{ agent, ...two, message }]);
    await listed(agent, allow('zinnober kontor'));
    expect(await merchantsOf()).toMatchObject([
      { spared: 1, message: expect.stringContaining('this merchant would save 1 of 5') },
    ]);
    await listed(agent, allow('Indigo Kontor'));
    expect(await merchantsOf()).toEqual([]);
  });

  test('are of the last 90 days alone', async () => {
    const clocked = await startTestService({ stopped_at_ms: Date.UTC(2026, 6, 1), plan: 'enterprise' });
    try {
      const body = { slug: 'old', authority: AUTHORITY };
      await clocked.call('POST', '/v1/agents', { body });
      for (const [month, merchant] of [
        [6, 'Old Shop'],
        [10, 'New Shop'],
      ] as const) {
        await clocked.setClock(Date.UTC(2026, month, 2));
        const asked = spend('old', 10, { action: { merchant } });
        await clocked.call('POST', '/v1/decisions', { body: asked, idempotency_key: freshKey() });
      }
      const found = await clocked.call('GET', '/v1/agents/old/merchants/suggestions');
      expect(found.body.data.map((each: { merchant: string }) => each.merchant)).toEqual(['New Shop']);
    } finally {
      await clocked.stop();
    }
  });
});
