import { beforeAll, describe, expect } from 'vitest';
import { type Browser, openBrowser, PASSWORD, postToHost, setUp, signIn } from '../support/browser.ts';
import { AUTHORITY, fieldOf, freshKey, makeKey, refusal, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest({ plan: 'enterprise' });
let ada: Browser;
let ada_id: string;
let key_of_lea: string;
test.beforeAll(async () => {
  // Before Lea is a member: afterwards nobody but Lea makes keys with this principal.
  key_of_lea = (await makeKey(s, { scopes: ['authorize'], principal_id: 'user:lea' })).key;
  ada = await setUp(s);
  ada_id = (await ada.call('GET', '/v1/me')).body.user.id;
});

const invite = (body: object, key?: string) =>
  key === undefined
    ? ada.call('POST', '/v1/invitations', { body })
    : s.call('POST', '/v1/invitations', { key, body });
const tokenOf = ({ body }: { body: { url: string } }) => body.url.split('#')[1] as string;
const accept = (token: string, password = PASSWORD, browser = openBrowser(s)) =>
  browser
    .call('POST', '/v1/auth/invitations/accept', { body: { token, name: 'Somebody', password } })
    .then((reply) => ({ reply, browser }));
async function join(body: { email: string; role: string; principal_id?: string }) {
  const { reply, browser } = await accept(tokenOf(await invite(body)));
  expect(reply.status).toBe(201);
  return { browser, me: reply.body, user_id: reply.body.user.id as string };
}

describe('an invitation', () => {
  test('is a link whose secret stands in the fragment and nowhere in the database', async () => {
    const reply = await invite({ email: ' Kim@Example.com', role: 'viewer' });
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ email: 'kim@example.com', role: 'viewer', principal_id: null });
    const { rows: kept } = await s.sql(
      "select expires_at = created_at + interval '7 days' as is_a_week from invitations where invitation_id = $1",
      [reply.body.id],
    );
    expect(kept[0].is_a_week).toBe(true);
    expect(reply.body.url).toMatch(/^http:\/\/localhost:\d+\/console\/invitation#ws_/);
    const proof = tokenOf(reply).split('.')[2] as string;
    const { rows } = await s.sql("select coalesce(string_agg(i::text, ' '), '') as all from invitations i");
    expect(rows[0].all).not.toContain(proof);
    const listed = await ada.call('GET', '/v1/invitations');
    expect(listed.body.data[0]).toMatchObject({ id: reply.body.id, status: 'pending' });
    expect(listed.text).not.toContain(proof);
  });
  test('joins once, with what it says, and all others of the e-mail are used up with it', async () => {
    const [one, two] = [
      await invite({ email: 'lea@example.com', role: 'reviewer', principal_id: 'user:lea' }),
      await invite({ email: 'lea@example.com', role: 'admin' }),
    ];
    const { reply } = await accept(tokenOf(one));
    expect([reply.status, reply.body.role, reply.body.principal_id]).toEqual([201, 'reviewer', 'user:lea']);
    for (const token of [tokenOf(one), tokenOf(two)]) {
      expect(refusal((await accept(token)).reply)).toEqual([401, 'unauthenticated']);
    }
  });
  test('is refused in one message when it is wrong, revoked, expired or another’s', async () => {
    const revoked = await invite({ email: 'eve@example.com', role: 'admin' });
    for (const status of [204, 204]) {
      expect((await ada.call('DELETE', `/v1/invitations/${revoked.body.id}`)).status).toBe(status);
    }
    const late = await invite({ email: 'late@example.com', role: 'admin' });
    await s.sql("update invitations set expires_at = now() - interval '1 s' where invitation_id = $1", [
      late.body.id,
    ]);
    const good = tokenOf(await invite({ email: 'good@example.com', role: 'viewer' }));
    const [workspace, id, proof] = good.split('.') as [string, string, string];
    const flipped = proof.startsWith('A') ? `B${proof.slice(1)}` : `A${proof.slice(1)}`;
    const wrong = [
      '',
      'x',
      `${workspace}.${id}.${flipped}`,
      `${workspace}.${revoked.body.id}.${proof}`,
      `${good} `,
      good.slice(0, -1),
    ];
    const messages = new Set<string>();
    for (const token of [...wrong, tokenOf(revoked), tokenOf(late)]) {
      const { reply, browser } = await accept(token);
      expect([token, ...refusal(reply)]).toEqual([token, 401, 'unauthenticated']);
      expect(browser.cookies.size).toBe(0);
      messages.add(reply.body.error.message);
    }
    expect(messages.size).toBe(1);
    await s.sql('update invitations set expires_at = $2 where invitation_id = $1', [
      late.body.id,
      late.body.expires_at,
    ]);
    expect((await accept(good)).reply.status).toBe(201);
  });
  test('of many at once one joins', async () => {
    const token = tokenOf(await invite({ email: 'many@example.com', role: 'viewer' }));
    const replies = await Promise.all([1, 2, 3, 4].map(() => accept(token)));
    expect(replies.map(({ reply }) => reply.status).sort()).toEqual([201, 401, 401, 401]);
    expect((await s.sql("select 1 from users where email = 'many@example.com'")).rowCount).toBe(1);
  });
  test('stays good where no session could be given: over plain http from another machine', async () => {
    const token = tokenOf(await invite({ email: 'far@example.com', role: 'viewer' }));
    const body = { token, name: 'Far', password: PASSWORD };
    expect(await postToHost(s, 'purser.example', '/v1/auth/invitations/accept', body)).toBe(403);
    expect((await accept(token)).reply.status).toBe(201);
  });
  test('to a member, or with a member’s principal, is not made', async () => {
    const member = await invite({ email: 'LEA@example.com', role: 'viewer' });
    expect(refusal(member)).toEqual([409, 'already_member']);
    const taken = await invite({ email: 'free@example.com', role: 'viewer', principal_id: 'user:lea' });
    expect(refusal(taken)).toEqual([409, 'principal_taken']);
    const later = await invite({ email: 'two@example.com', role: 'viewer', principal_id: 'user:two' });
    await join({ email: 'one@example.com', role: 'viewer', principal_id: 'user:two' });
    expect(refusal((await accept(tokenOf(later))).reply)).toEqual([409, 'principal_taken']);
  });
  test('with a weak password names the field, and stays good', async () => {
    const token = tokenOf(await invite({ email: 'weak@example.com', role: 'viewer' }));
    const { reply } = await accept(token, 'passwordpassword');
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'password']);
    expect((await accept(token)).reply.status).toBe(201);
  });
  const unseen = ['a\u0001@b.de', 'a\u200b@b.de', 'a@b\u202e.de', 'a\u00ad@b.de', 'a\u3164@b.de'];
  test.each(['nobody', '@x', 'a@', 'a b@c.de', 'a@b@c', ...unseen])(
    'to %j names the e-mail',
    async (email) => {
      const reply = await invite({ email, role: 'viewer' });
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'email']);
    },
  );
});

describe('what people do is recorded as theirs', () => {
  test('reviews, labels, outcomes and keys; nobody reviews what their own key asked for', async () => {
    const lea = await signIn(s, 'lea@example.com');
    const authority = { ...AUTHORITY, review_threshold_minor: 1_000 };
    await ada.call('POST', '/v1/agents', { body: { slug: 'bot', authority } });
    const ask = async (key: string) =>
      (await s.call('POST', '/v1/decisions', { key, body: spend('bot', 2_000), idempotency_key: freshKey() }))
        .body;
    const hers = await ask(key_of_lea);
    const review = { action: 'ALLOW', reason_code: 'OK' };
    const self = await lea.call('POST', `/v1/decisions/${hers.decision_id}/reviews`, { body: review });
    expect(refusal(self)).toEqual([403, 'self_review_forbidden']);
    const others = await ask(s.admin_key);
    const at = `/v1/decisions/${others.decision_id}`;
    const by_lea = { key_id: null, principal_id: 'user:lea' };
    expect((await lea.call('POST', `${at}/reviews`, { body: review })).body).toMatchObject(by_lea);
    const label = { label: 'PURPOSE_ALIGNED' };
    expect((await lea.call('POST', `${at}/labels`, { body: label })).body).toMatchObject(by_lea);
    const outcome = await ada.call('POST', `${at}/outcomes`, {
      body: { type: 'SPEND_EXECUTED', amount_minor: 2_000 },
    });
    expect(outcome.body.reported_by).toEqual({ key_id: null, principal_id: `user:${ada_id}` });
    const made = await ada.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['authorize'] } });
    expect(made.body.principal_id).toBe(`user:${ada_id}`);
    const given = { name: 'k', scopes: ['read'], principal_id: 'user:other' };
    expect((await ada.call('POST', '/v1/api-keys', { body: given })).body.principal_id).toBe('user:other');
    const bound = await ada.call('POST', '/v1/api-keys', { body: { name: 'k', agent_id: 'bot' } });
    expect(bound.body.principal_id).toBe(null);
    const audit = (await ada.call('GET', '/v1/audit?limit=1')).body.data[0];
    const { body: me } = await ada.call('GET', '/v1/me');
    expect(audit.actor).toEqual({
      type: 'user',
      key_id: null,
      session_id: me.session.id,
      principal_id: me.principal_id,
    });
    const of_key = await invite({ email: 'by-key@example.com', role: 'viewer' }, s.admin_key);
    expect(of_key.status).toBe(201);
    const actor = (await ada.call('GET', '/v1/audit?limit=1')).body.data[0].actor;
    expect([actor.type, actor.session_id]).toEqual(['api_key', null]);
  });
  test('memberships are in the chain: invited, joined, another role, removed', async () => {
    const { user_id } = await join({ email: 'brief@example.com', role: 'viewer' });
    await ada.call('PATCH', `/v1/members/${user_id}`, { body: { role: 'reviewer' } });
    await ada.call('DELETE', `/v1/members/${user_id}`);
    const { body } = await ada.call('GET', '/v1/audit?limit=4');
    expect(body.data.map((each: { action: string }) => each.action)).toEqual([
      'member.removed',
      'member.role_changed',
      'member.joined',
      'member.invited',
    ]);
    expect(body.data[1].changes).toEqual({ role: { from: 'viewer', to: 'reviewer' } });
    const verified = await ada.call('GET', '/v1/ledger/verify');
    expect([verified.body.valid, verified.body.breaks]).toEqual([true, []]);
  });
  test('sign-ins and refusals are listed; of nobody too, as long as there is one workspace', async () => {
    const fail = (email: string) =>
      openBrowser(s).call('POST', '/v1/auth/sign-in', { body: { email, password: 'wrong' } });
    await fail('lea@example.com');
    await fail('nobody@example.com');
    const { body: of_nobody } = await ada.call('GET', '/v1/sign-ins?member=false');
    expect(of_nobody.data).toMatchObject([
      { kind: 'wrong', method: 'password', email: 'nobody@example.com', user_id: null },
    ]);
    const { body } = await ada.call('GET', '/v1/sign-ins?member=true&limit=1');
    expect(body.data).toMatchObject([
      { kind: 'wrong', method: 'password', email: 'lea@example.com', attempts: 1 },
    ]);
    const next = await ada.call('GET', `/v1/sign-ins?member=true&limit=1&cursor=${body.next_cursor}`);
    expect(next.body.data[0].kind).toBe('ok');
    const { body: all } = await ada.call('GET', '/v1/sign-ins?limit=200');
    expect(all.data).toContainEqual(of_nobody.data[0]);
    expect(all.data).toContainEqual(body.data[0]);
  });
  test('an invitation that is revoked, or used up by another one, is told once; who failed to sign in is in no chain', async () => {
    const email = 'twice@example.com';
    const [used, other, revoked] = [
      await invite({ email, role: 'viewer' }),
      await invite({ email, role: 'viewer' }),
      await invite({ email: 'once@example.com', role: 'viewer' }),
    ];
    for (let again = 0; again < 2; again++)
      expect((await ada.call('DELETE', `/v1/invitations/${revoked.body.id}`)).status).toBe(204);
    await accept(tokenOf(used));
    const chain = async () => (await ada.call('GET', '/v1/audit?limit=6')).body.data;
    const told = await chain();
    expect(
      told.map((each: { action: string; target: { id: string } }) => [each.action, each.target.id]),
    ).toEqual([
      ['invitation.revoked', other.body.id],
      ['member.joined', expect.stringMatching(/^usr_/)],
      ['invitation.revoked', revoked.body.id],
      ...[revoked, other, used].map(({ body }) => ['member.invited', body.id]),
    ]);
    await openBrowser(s).call('POST', '/v1/auth/sign-in', { body: { email, password: 'wrong' } });
    expect(await chain()).toEqual(told);
  });
});

describe('what is shown of audit records', () => {
  test('has e-mails, client addresses and session ids for administrators alone, in lists, tables and exports', async () => {
    const { browser: viewer } = await join({ email: 'reader@example.com', role: 'viewer' });
    const { key } = await makeKey(s, { scopes: ['read'] });
    const personal = /@[\w.-]*example|127\.0\.0\.1|"?ses_[0-9A-Z]{26}/;
    const csv = { headers: { accept: 'text/csv' } };
    const asked = [
      ['/v1/audit?limit=200', {}],
      ['/v1/audit', csv],
      ['/v1/ledger/export', {}],
    ] as const;
    for (const [path, options] of asked) {
      expect([path, personal.exec((await ada.call('GET', path, options)).text)?.[0]]).not.toEqual([
        path,
        undefined,
      ]);
      for (const read of [viewer.call('GET', path, options), s.call('GET', path, { ...options, key })]) {
        const { status, text } = await read;
        expect([path, status, personal.exec(text)?.[0]]).toEqual([path, 200, undefined]);
      }
    }
    const { body } = await viewer.call('GET', '/v1/audit?action=member.joined&limit=1');
    expect(body.data[0]).toMatchObject({
      actor: { type: 'user', session_id: null },
      changes: { role: { from: null, to: 'viewer' } },
      client_address: null,
    });
    expect(body.data[0].changes).not.toHaveProperty('email');
  });
});

describe('a name', () => {
  const rename = (browser: Browser, name: string) => browser.call('PATCH', '/v1/me', { body: { name } });
  test('that another member has, or one that looks like it, is refused', async () => {
    const { browser } = await join({ email: 'mallory@example.com', role: 'viewer' });
    const taken = [
      'Ada',
      'ADA.',
      'Аdа',
      'Adá',
      'ada@example.com',
      'Somebody (ada@example.com)',
      `user:${ada_id}`,
    ];
    for (const name of [...taken, '\u202eadA', '\u200d']) {
      const reply = await rename(browser, name);
      expect([name, ...refusal(reply), fieldOf(reply)]).toEqual([name, 400, 'invalid_request', 'name']);
    }
    expect((await rename(browser, 'Mallory')).status).toBe(200);
    expect((await rename(ada, 'Ada')).status, 'one’s own may be sent again').toBe(200);
    const { body } = await ada.call('GET', '/v1/sign-ins?member=true&limit=1');
    expect(body.data).toMatchObject([
      { kind: 'name_changed', method: 'session', email: 'mallory@example.com', attempts: 1 },
    ]);
  });
  test('that another member has gets the e-mail behind it when somebody joins with it', async () => {
    const namesake = async (email: string, name: string) => {
      const token = tokenOf(await invite({ email, role: 'viewer' }));
      const body = { token, name, password: PASSWORD };
      return openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    };
    const joined = await namesake('other-ada@example.com', 'ada');
    expect(joined.body.user.name).toBe('ada (other-ada@example.com)');
    const long = `${'x'.repeat(40)}@${'y'.repeat(30)}.example`;
    expect((await namesake(long, 'Ada')).body.user.name).toBe(long.slice(0, 64));
    const hidden = await namesake('hidden@example.com', 'Ada\u202e');
    expect([...refusal(hidden), fieldOf(hidden)]).toEqual([400, 'invalid_request', 'name']);
  });
  test('of an account that joins another workspace tells it apart there too', async () => {
    const tenant = await s.addWorkspace({ plan: 'team' });
    const asked = { key: tenant.admin_key, body: { email: 'eve2@example.com', role: 'admin' } };
    const there = await s.call('POST', '/v1/invitations', asked);
    const body = { token: tokenOf(there), name: 'Ada', password: PASSWORD };
    const eve = await openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    expect(eve.body.user.name).toBe('Ada');
    const here = await accept(tokenOf(await invite({ email: 'eve2@example.com', role: 'viewer' })));
    expect(here.reply.body.user.name).toBe('Ada (eve2@example.com)');
    await s.sql('delete from members where workspace_id = $1', [tenant.workspace_id]);
    await s.sql('delete from workspaces where workspace_id = $1', [tenant.workspace_id]);
  });
});

describe('the last administrator', () => {
  test('is neither demoted nor removed, also by two at once', async () => {
    const admins = (await ada.call('GET', '/v1/members')).body.data.filter(
      (each: { role: string; user_id: string }) => each.role === 'admin' && each.user_id !== ada_id,
    );
    for (const { user_id } of admins) await ada.call('DELETE', `/v1/members/${user_id}`);
    const demote = { role: 'viewer' };
    const alone = await ada.call('PATCH', `/v1/members/${ada_id}`, { body: demote });
    expect(refusal(alone)).toEqual([409, 'last_admin']);
    expect(refusal(await ada.call('DELETE', `/v1/members/${ada_id}`))).toEqual([409, 'last_admin']);
    const second = await join({ email: 'second@example.com', role: 'admin' });
    const replies = await Promise.all([
      ada.call('DELETE', `/v1/members/${second.user_id}`),
      second.browser.call('DELETE', `/v1/members/${ada_id}`),
    ]);
    expect(replies.filter((reply) => reply.status === 204)).toHaveLength(1);
    const { rowCount } = await s.sql("select 1 from members where role = 'admin' and removed_at is null");
    expect(rowCount).toBe(1);
    if (replies[0]?.status !== 204) {
      const back = await second.browser.call('POST', '/v1/invitations', {
        body: { email: 'ada@example.com', role: 'admin' },
      });
      ada = (await accept(tokenOf(back))).browser;
    }
  });
  test('nobody who is no member is removed or given a role', async () => {
    const path = '/v1/members/usr_01KAJ5F0V8Z3M2Q9X7T4R6N1BD';
    expect(refusal(await ada.call('DELETE', path))).toEqual([404, 'not_found']);
    expect(refusal(await ada.call('PATCH', path, { body: { role: 'viewer' } }))).toEqual([404, 'not_found']);
  });
});

describe('a person in several workspaces', () => {
  let tenant: { workspace_id: string; admin_key: string };
  let lea: Browser;
  beforeAll(async () => {
    tenant = await s.addWorkspace({ plan: 'team' });
    lea = await signIn(s, 'lea@example.com');
  });
  test('joins the second with the password of their account, and no other', async () => {
    const invited = await invite({ email: 'lea@example.com', role: 'viewer' }, tenant.admin_key);
    const wrong = await accept(tokenOf(invited), 'some other password');
    expect(refusal(wrong.reply)).toEqual([401, 'unauthenticated']);
    const { reply } = await accept(tokenOf(invited));
    expect([reply.status, reply.body.workspace.id, reply.body.role]).toEqual([
      201,
      tenant.workspace_id,
      'viewer',
    ]);
    // The name of the account stays.
    expect(reply.body.user.name).toBe('Somebody');
    expect(reply.body.workspaces.map((each: { role: string }) => each.role)).toEqual(['reviewer', 'viewer']);
  });
  test('goes from one to the other, with the role of each, and nowhere else', async () => {
    const go = (workspace_id: string) => lea.call('POST', '/v1/me/workspace', { body: { workspace_id } });
    expect((await go(tenant.workspace_id)).body.scopes).toEqual(['read']);
    const shown = await lea.call('GET', '/v1/workspace');
    expect(shown.body.id).toBe(tenant.workspace_id);
    expect((await go(s.workspace_id)).body.scopes).toEqual(['review', 'read']);
    const foreign = await s.addWorkspace({ plan: 'team' });
    for (const id of [foreign.workspace_id, 'ws_01KAJ5F0V8Z3M2Q9X7T4R6N1BD']) {
      expect(refusal(await go(id))).toEqual([404, 'not_found']);
    }
  });
  test('who is removed from one is out of it, and goes on in the other', async () => {
    const { body: me } = await lea.call('GET', '/v1/me');
    const removed = await s.call('DELETE', `/v1/members/${me.user.id}`, { key: tenant.admin_key });
    expect(removed.status).toBe(204);
    const still = await lea.call('GET', '/v1/me');
    expect(still.body.workspaces).toHaveLength(1);
  });
  test('an attempt with an e-mail that nobody has is shown to no workspace once there are several', async () => {
    const email = 'stranger@example.com';
    await openBrowser(s).call('POST', '/v1/auth/sign-in', { body: { email, password: 'wrong' } });
    expect((await s.sql('select 1 from sign_ins where email = $1', [email])).rowCount).toBe(0);
  });
});
