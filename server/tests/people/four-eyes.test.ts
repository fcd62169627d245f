import { describe, expect } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { AUTHORITY, fieldOf, freshKey, makeKey, refusal, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest({ plan: 'enterprise' });
let ada: Browser;
let ada_principal: string;
test.beforeAll(async () => {
  ada = await setUp(s);
  ada_principal = (await ada.call('GET', '/v1/me')).body.principal_id;
  const authority = { ...AUTHORITY, review_threshold_minor: 1 };
  await ada.call('POST', '/v1/agents', { body: { slug: 'bot', mode: 'ENFORCE', authority } });
});

const REVIEW = { action: 'ALLOW', reason_code: 'OK' };
const tokenOf = ({ body }: { body: { url: string } }) => body.url.split('#')[1] as string;
const invite = (body: object, key?: string) =>
  key === undefined
    ? ada.call('POST', '/v1/invitations', { body })
    : s.call('POST', '/v1/invitations', { key, body });
async function join(email: string, role: string, principal_id?: string) {
  const token = tokenOf(await invite({ email, role, ...(principal_id && { principal_id }) }));
  const browser = openBrowser(s);
  const body = { token, name: email, password: PASSWORD };
  const reply = await browser.call('POST', '/v1/auth/invitations/accept', { body });
  expect(reply.status, reply.text).toBe(201);
  return { browser, user_id: reply.body.user.id as string, principal_id: reply.body.principal_id as string };
}
const keyBy = async (browser: Browser, body: object) => {
  const reply = await browser.call('POST', '/v1/api-keys', { body: { name: 'k', ...body } });
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
};
const askedWith = async (key: string) => {
  const body = spend('bot', 2_000);
  const reply = await s.call('POST', '/v1/decisions', { key, body, idempotency_key: freshKey() });
  expect(reply.body.decision).toBe('REVIEW');
  return `/v1/decisions/${reply.body.decision_id}`;
};
const reviewBy = (browser: Browser, at: string) => browser.call('POST', `${at}/reviews`, { body: REVIEW });
const separate = (separation_of_duties: string) =>
  ada.call('PATCH', '/v1/workspace', { body: { separation_of_duties } });

describe('a key', () => {
  test('tells its maker, and the person at the root of its making, also through other keys', async () => {
    const first = await keyBy(ada, { scopes: ['admin', 'read'] });
    expect(first).toMatchObject({
      made_by: { key_id: null, principal_id: ada_principal },
      made_by_person: ada_principal,
    });
    const second = await makeKey(s, { scopes: ['admin', 'read'] }, first.key);
    const third = await makeKey(s, { agent_id: 'bot' }, second.key);
    expect(third).toMatchObject({
      made_by: { key_id: second.id, principal_id: null },
      made_by_person: ada_principal,
    });
    const by_operator = await makeKey(s, { scopes: ['read'] });
    expect(by_operator).toMatchObject({ made_by: { principal_id: null }, made_by_person: null });
    const listed = await ada.call('GET', `/v1/api-keys?person=${ada_principal}`);
    const ids = listed.body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([first.id, second.id, third.id]));
    expect(ids).not.toContain(by_operator.id);
  });
  test('carries the principal of a member, past ones included, only where that person makes it', async () => {
    const bob = await join('bob@example.com', 'admin', 'user:bob');
    const gone = await join('gone@example.com', 'viewer', 'user:gone');
    await ada.call('DELETE', `/v1/members/${gone.user_id}`);
    const own_key = await keyBy(bob.browser, { scopes: ['admin', 'read'] });
    const own = [
      await bob.browser.call('POST', '/v1/api-keys', {
        body: { name: 'k', scopes: ['review'], principal_id: 'user:bob' },
      }),
      await s.call('POST', '/v1/api-keys', {
        key: own_key.key,
        body: { name: 'k', scopes: ['review'], principal_id: 'user:bob' },
      }),
    ];
    expect(own.map(({ status }) => status)).toEqual([201, 201]);
    for (const principal_id of ['user:bob', 'user:gone', 'user:usr_01KAJ5F0V8Z3M2Q9X7T4R6N1BD']) {
      const body = { name: 'k', scopes: ['review'], principal_id };
      for (const reply of [
        await ada.call('POST', '/v1/api-keys', { body }),
        await s.call('POST', '/v1/api-keys', { body }),
      ]) {
        expect([principal_id, ...refusal(reply), fieldOf(reply)]).toEqual([
          principal_id,
          400,
          'invalid_request',
          'principal_id',
        ]);
      }
    }
    expect((await keyBy(ada, { scopes: ['review'], principal_id: 'user:ci' })).principal_id).toBe('user:ci');
    await ada.call('DELETE', `/v1/members/${bob.user_id}`);
  });
});

describe('the principal of a member', () => {
  test('goes to nobody else after they are removed, and back to them when they return', async () => {
    const zed = await join('zed@example.com', 'viewer');
    await ada.call('DELETE', `/v1/members/${zed.user_id}`);
    const eve = { email: 'eve@example.com', role: 'viewer', principal_id: zed.principal_id };
    expect(refusal(await invite(eve))).toEqual([409, 'principal_taken']);
    const other = { email: 'zed@example.com', role: 'viewer', principal_id: 'user:other' };
    expect([...refusal(await invite(other)), fieldOf(await invite(other))]).toEqual([
      400,
      'invalid_request',
      'principal_id',
    ]);
    const back = await join('zed@example.com', 'viewer', zed.principal_id);
    expect(back.principal_id).toBe(zed.principal_id);
    await ada.call('DELETE', `/v1/members/${zed.user_id}`);
    expect((await join('zed@example.com', 'viewer')).principal_id).toBe(zed.principal_id);
  });
  test('is not given away before its owner comes, where it is made of their id', async () => {
    const tenant = await s.addWorkspace({ plan: 'team' });
    const token = tokenOf(await invite({ email: 'far@example.com', role: 'viewer' }, tenant.admin_key));
    const joined = await openBrowser(s).call('POST', '/v1/auth/invitations/accept', {
      body: { token, name: 'Far', password: PASSWORD },
    });
    const principal_id = `user:${joined.body.user.id}`;
    const eve = await invite({ email: 'eve@example.com', role: 'viewer', principal_id });
    expect(refusal(eve)).toEqual([409, 'principal_taken']);
    expect((await join('far@example.com', 'viewer')).principal_id).toBe(principal_id);
  });
});

describe('a principal that a key of another person’s making carries', () => {
  test('goes to nobody until the key is revoked, whether the key is made before or after the invitation', async () => {
    const before = await keyBy(ada, { scopes: ['review'], principal_id: 'user:may' });
    const asked = { email: 'may@example.com', role: 'reviewer', principal_id: 'user:may' };
    expect(refusal(await invite(asked))).toEqual([409, 'principal_taken']);
    await ada.call('DELETE', `/v1/api-keys/${before.id}`);
    const token = tokenOf(await invite(asked));
    const after = await keyBy(ada, { scopes: ['review'], principal_id: 'user:may' });
    const accept = () =>
      openBrowser(s).call('POST', '/v1/auth/invitations/accept', {
        body: { token, name: 'May', password: PASSWORD },
      });
    expect(refusal(await accept())).toEqual([409, 'principal_taken']);
    await ada.call('DELETE', `/v1/api-keys/${after.id}`);
    const joined = await accept();
    expect([joined.status, joined.body.principal_id]).toEqual([201, 'user:may']);
    await ada.call('DELETE', `/v1/members/${joined.body.user.id}`);
  });
});

describe('a review by the person who made the requesting key', () => {
  test('says so in the record, the decision and the event, in a workspace of one person who may review', async () => {
    const { body: hook } = await ada.call('POST', '/v1/webhooks', {
      body: { url: 'https://receiver.invalid/four-eyes', events: ['decision.review.recorded'] },
    });
    const agent_key = await keyBy(ada, { agent_id: 'bot' });
    const at = await askedWith(agent_key.key);
    const reply = await reviewBy(ada, at);
    expect([reply.status, reply.body.by_key_maker]).toEqual([201, true]);
    expect((await ada.call('GET', at)).body.review.by_key_maker).toBe(true);
    expect((await ada.call('GET', `${at}/reviews`)).body.data[0].by_key_maker).toBe(true);
    const { rows } = await s.sql('select payload from webhook_events order by event_id');
    expect(JSON.parse(rows.at(-1).payload)).toMatchObject({
      type: 'decision.review.recorded',
      data: { by_key_maker: true },
    });
    await ada.call('DELETE', `/v1/webhooks/${hook.id}`);
    const others = await askedWith(s.admin_key);
    expect((await reviewBy(ada, others)).body.by_key_maker).toBe(false);
    expect((await ada.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
  });
  test('is refused as soon as another member may review, whatever way the key was made', async () => {
    const agent_key = await keyBy(ada, { agent_id: 'bot' });
    const admin_key = await keyBy(ada, { scopes: ['admin', 'read', 'review'] });
    const by_key = await makeKey(s, { agent_id: 'bot' }, admin_key.key);
    const rex = await join('rex@example.com', 'reviewer');
    for (const { key } of [agent_key, by_key]) {
      const at = await askedWith(key);
      expect(refusal(await reviewBy(ada, at))).toEqual([403, 'self_review_forbidden']);
      // A reviewer's key of one's own is no way round.
      for (const body of [{ scopes: ['review'] }, { scopes: ['review'], principal_id: 'user:somebody' }]) {
        const { key: reviewer_key } = await keyBy(ada, body);
        const made_by_key = await makeKey(s, { scopes: ['review'] }, admin_key.key);
        for (const with_key of [reviewer_key, made_by_key.key, admin_key.key]) {
          const reply = await s.call('POST', `${at}/reviews`, { key: with_key, body: REVIEW });
          expect(refusal(reply)).toEqual([403, 'self_review_forbidden']);
        }
      }
      const other = await reviewBy(rex.browser, at);
      expect([other.status, other.body.by_key_maker]).toEqual([201, false]);
    }
    await ada.call('DELETE', `/v1/members/${rex.user_id}`);
    const at = await askedWith(agent_key.key);
    expect((await reviewBy(ada, at)).body.by_key_maker).toBe(true);
  });
  test('is refused with a key of one’s own that carries the principal of the only other reviewer', async () => {
    const rex = await join('rex2@example.com', 'reviewer', 'user:rex2');
    const { id, key } = await keyBy(ada, { scopes: ['review'], principal_id: 'user:mask' });
    // As keys from before members had their principals may.
    await s.sql("update api_keys set principal_id = 'user:rex2' where key_id = $1", [id]);
    const { key: agent_key } = await keyBy(ada, { agent_id: 'bot' });
    const reply = await s.call('POST', `${await askedWith(agent_key)}/reviews`, { key, body: REVIEW });
    expect(refusal(reply)).toEqual([403, 'self_review_forbidden']);
    await s.sql("update api_keys set principal_id = 'user:mask' where key_id = $1", [id]);
    await ada.call('DELETE', `/v1/members/${rex.user_id}`);
  });
  test('is refused where the key carries the person’s principal, or was made with one that does', async () => {
    // Both before the person joins, as a key may be made for who comes later.
    const carried = await makeKey(s, { scopes: ['admin', 'authorize'], principal_id: 'user:kim' });
    const kim = await join('kim@example.com', 'admin', 'user:kim');
    const child = await makeKey(s, { scopes: ['admin', 'authorize'] }, carried.key);
    const grandchild = await makeKey(s, { agent_id: 'bot' }, child.key);
    expect(grandchild.made_by_person).toBe('user:kim');
    for (const { key } of [carried, child, grandchild]) {
      expect(refusal(await reviewBy(kim.browser, await askedWith(key)))).toEqual([
        403,
        'self_review_forbidden',
      ]);
    }
    const { key } = await keyBy(kim.browser, { scopes: ['review'], principal_id: 'user:mask' });
    const reply = await s.call('POST', `${await askedWith(carried.key)}/reviews`, { key, body: REVIEW });
    expect(refusal(reply)).toEqual([403, 'self_review_forbidden']);
    await ada.call('DELETE', `/v1/members/${kim.user_id}`);
  });
  test('is refused always under MAKER and never under REQUESTER; keys without a person are not compared', async () => {
    const agent_key = await keyBy(ada, { agent_id: 'bot' });
    const before = (await ada.call('GET', '/v1/workspace')).body.separation_of_duties;
    expect([before, (await separate('MAKER')).body.separation_of_duties]).toEqual(['AUTO', 'MAKER']);
    const alone = await reviewBy(ada, await askedWith(agent_key.key));
    expect(refusal(alone)).toEqual([403, 'self_review_forbidden']);
    const audit = (await ada.call('GET', '/v1/audit?limit=1')).body.data[0];
    expect([audit.action, audit.changes]).toEqual([
      'workspace.updated',
      { separation_of_duties: { from: 'AUTO', to: 'MAKER' } },
    ]);
    const [one, other] = [
      await makeKey(s, { agent_id: 'bot' }),
      await makeKey(s, { scopes: ['review'], principal_id: 'user:ops' }),
    ];
    const reply = await s.call('POST', `${await askedWith(one.key)}/reviews`, {
      key: other.key,
      body: REVIEW,
    });
    expect([reply.status, reply.body.by_key_maker]).toEqual([201, false]);
    const rex = await join('rex@example.com', 'reviewer');
    await separate('REQUESTER');
    expect((await reviewBy(ada, await askedWith(agent_key.key))).body.by_key_maker).toBe(true);
    const own = await keyBy(ada, { scopes: ['authorize'] });
    expect(refusal(await reviewBy(ada, await askedWith(own.key)))).toEqual([403, 'self_review_forbidden']);
    await separate('AUTO');
    await ada.call('DELETE', `/v1/members/${rex.user_id}`);
  });
  test('is allowed under AUTO where the only other reviewer’s account is disabled', async () => {
    const rex = await join('rex@example.com', 'reviewer');
    const { key } = await keyBy(ada, { agent_id: 'bot' });
    await s.sql('update users set disabled_at = now() where user_id = $1', [rex.user_id]);
    expect((await reviewBy(ada, await askedWith(key))).status).toBe(201);
    await s.sql('update users set disabled_at = null where user_id = $1', [rex.user_id]);
    expect((await reviewBy(ada, await askedWith(key))).status).toBe(403);
  });
});

test('the shadow report counts reviews by the person who made the requesting key, and readiness warns of them', async () => {
  const authority = { ...AUTHORITY, review_threshold_minor: 1 };
  await ada.call('POST', '/v1/agents', { body: { slug: 'trial', mode: 'SHADOW', authority } });
  const { key } = await keyBy(ada, { agent_id: 'trial' });
  const reviewed = await s.call('POST', '/v1/decisions', {
    key,
    body: spend('trial', 2_000),
    idempotency_key: freshKey(),
  });
  const rex = (await ada.call('GET', '/v1/members')).body.data.find(
    ({ email }: { email: string }) => email === 'rex@example.com',
  );
  await ada.call('DELETE', `/v1/members/${rex.user_id}`);
  const at = `/v1/decisions/${reviewed.body.decision_id}`;
  const first = await reviewBy(ada, at);
  expect(first.body.by_key_maker).toBe(true);
  const reportOf = async () => (await ada.call('GET', '/v1/reports/shadow?agent=trial')).body;
  const report = await reportOf();
  expect(report.reviews).toMatchObject({ count: 1, allowed: 1, by_key_maker: 1 });
  expect(report.readiness.warnings.map(({ code }: { code: string }) => code)).toContain(
    'REVIEWED_BY_KEY_MAKER',
  );
  const body = { ...REVIEW, supersedes: first.body.review_id };
  expect((await s.call('POST', `${at}/reviews`, { body })).body.by_key_maker).toBe(false);
  expect((await reportOf()).reviews).toMatchObject({ allowed: 1, by_key_maker: 0 });
});

test('the maker is found by what the decision says, whatever its context pretends', async () => {
  const { key } = await keyBy(ada, { agent_id: 'bot' });
  await separate('MAKER');
  const body = spend('bot', 2_000, { context: { requested_by: { key_id: 'key_x' } } });
  const reply = await s.call('POST', '/v1/decisions', { key, body, idempotency_key: freshKey() });
  const refused = await reviewBy(ada, `/v1/decisions/${reply.body.decision_id}`);
  expect(refusal(refused)).toEqual([403, 'self_review_forbidden']);
  await separate('AUTO');
});
