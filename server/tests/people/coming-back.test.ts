import { describe, expect } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const { test, s } = serviceTest({ plan: 'enterprise' });
let ada: Browser;
test.beforeAll(async () => {
  ada = await setUp(s);
});

interface Invited {
  id: string;
  token: string;
}
async function invite(by: Browser | string, email: string, role = 'admin'): Promise<Invited> {
  const body = { email, role };
  const reply =
    typeof by === 'string'
      ? await s.call('POST', '/v1/invitations', { key: by, body })
      : await by.call('POST', '/v1/invitations', { body });
  expect(reply.status, reply.text).toBe(201);
  return { id: reply.body.id, token: reply.body.url.split('#')[1] };
}
async function accept({ token }: Invited) {
  const browser = openBrowser(s);
  const body = { token, name: 'Somebody', password: PASSWORD };
  return { browser, reply: await browser.call('POST', '/v1/auth/invitations/accept', { body }) };
}
const read = ({ token }: Pick<Invited, 'token'>) =>
  openBrowser(s).call('POST', '/v1/auth/invitations/read', { body: { token } });
async function join(email: string, role = 'admin') {
  const { browser, reply } = await accept(await invite(ada, email, role));
  expect(reply.status, reply.text).toBe(201);
  return { browser, user_id: reply.body.user.id as string, principal_id: reply.body.principal_id as string };
}
const keyOf = async (browser: Browser, body: object): Promise<{ id: string; key: string }> =>
  (await browser.call('POST', '/v1/api-keys', { body: { name: 'k', ...body } })).body;
const works = async (key: string) => (await s.call('GET', '/v1/api-keys/current', { key })).status === 200;
const statusOf = async ({ id }: Invited) =>
  (await ada.call('GET', '/v1/invitations?limit=200')).body.data.find(
    (each: { id: string }) => each.id === id,
  ).status;

/** The ways out of being an administrator. */
const ENDS = {
  removed: (user_id: string, query = '') => ada.call('DELETE', `/v1/members/${user_id}${query}`),
  demoted: (user_id: string, query = '') =>
    ada.call('PATCH', `/v1/members/${user_id}${query}`, { body: { role: 'viewer' } }),
};

describe.each(Object.entries(ENDS))('an administrator who is %s', (name, end) => {
  test('leaves no invitation behind, of their own or of their keys, and no admin key', async () => {
    const eve = await join(`eve-${name}@example.com`);
    const own = await keyOf(eve.browser, { scopes: ['admin', 'read'] });
    const child = await makeKey(s, { scopes: ['admin', 'read'] }, own.key);
    const grandchild = await makeKey(s, { scopes: ['admin', 'read'] }, child.key);
    const reader = await keyOf(eve.browser, { scopes: ['read'] });
    const invited = [
      await invite(eve.browser, `one-${name}@example.com`),
      await invite(child.key, `two-${name}@example.com`),
      await invite(grandchild.key, `three-${name}@example.com`, 'viewer'),
    ];
    const other = await invite(ada, `four-${name}@example.com`);
    expect([200, 204]).toContain((await end(eve.user_id)).status);
    for (const each of invited) {
      expect(await statusOf(each)).toBe('revoked');
      expect(refusal((await accept(each)).reply)).toEqual([401, 'unauthenticated']);
    }
    for (const { key } of [own, child, grandchild]) expect(await works(key)).toBe(false);
    expect([await works(reader.key), await works(s.admin_key)]).toEqual([true, true]);
    expect((await accept(other)).reply.status).toBe(201);
    expect((await ada.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
  });
  test('leaves the admin keys with keep_keys=true, and they are revoked when asked for without', async () => {
    const dan = await join(`dan-${name}@example.com`);
    const { key } = await keyOf(dan.browser, { scopes: ['admin', 'read'] });
    const invited = await invite(key, `five-${name}@example.com`);
    await end(dan.user_id, '?keep_keys=true');
    expect([await works(key), await statusOf(invited)]).toEqual([true, 'revoked']);
    expect((await accept(await invite(key, `six-${name}@example.com`))).reply.status).toBe(401);
    expect((await ENDS.removed(dan.user_id)).status).toBe(204);
    expect(await works(key)).toBe(false);
  });
});

test('a key in the name of a person is revoked with their administration', async () => {
  const named = await makeKey(s, { scopes: ['admin', 'read'], principal_id: 'user:kim' });
  const reply = await ada.call('POST', '/v1/invitations', {
    body: { email: 'kim@example.com', role: 'admin', principal_id: 'user:kim' },
  });
  const kim = await accept({ id: reply.body.id, token: reply.body.url.split('#')[1] });
  await ENDS.removed(kim.reply.body.user.id);
  expect(await works(named.key)).toBe(false);
});

test('a change of role that keeps an administrator, or makes one, ends no invitation', async () => {
  const lea = await join('lea@example.com', 'reviewer');
  const own = await invite(ada, 'seven@example.com', 'viewer');
  await ada.call('PATCH', `/v1/members/${lea.user_id}`, { body: { role: 'admin' } });
  expect(await statusOf(own)).toBe('pending');
});

test('an invitation ends with the key that made it, and is refused while its inviter’s account is disabled', async () => {
  const key = await makeKey(s, { scopes: ['admin', 'read'] });
  const by_key = await invite(key.key, 'eight@example.com');
  await ada.call('DELETE', `/v1/api-keys/${key.id}`);
  expect(await statusOf(by_key)).toBe('revoked');
  expect(refusal((await accept(by_key)).reply)).toEqual([401, 'unauthenticated']);
  const fay = await join('fay@example.com');
  const by_fay = await invite(fay.browser, 'nine@example.com');
  await s.sql('update users set disabled_at = now() where user_id = $1', [fay.user_id]);
  expect(refusal((await accept(by_fay)).reply)).toEqual([401, 'unauthenticated']);
  expect(refusal(await read(by_fay)), 'and shows nothing').toEqual([401, 'unauthenticated']);
  await s.sql('update users set disabled_at = null where user_id = $1', [fay.user_id]);
  expect((await accept(by_fay)).reply.status).toBe(201);
});

test('an invitation can be read before it is accepted, by its token alone, and says where, as what and by whom', async () => {
  const { name: workspace_name } = (await ada.call('GET', '/v1/workspace')).body;
  const { name: inviter } = (await ada.call('GET', '/v1/me')).body.user;
  const invited = await invite(ada, 'reads@example.com', 'reviewer');
  const { token } = invited;
  const { expires_at } = (await ada.call('GET', '/v1/invitations?limit=200')).body.data.find(
    (each: { id: string }) => each.id === invited.id,
  );
  const summary = { workspace_name, inviter, email: 'reads@example.com', role: 'reviewer', expires_at };
  for (const reply of [await read(invited), await read(invited)]) {
    expect([reply.status, reply.body]).toEqual([200, summary]);
    expect(reply.headers.getSetCookie()).toEqual([]);
  }
  const by_key = await invite(s.admin_key, 'by-key@example.com', 'viewer');
  expect((await read(by_key)).body).toMatchObject({ inviter: null, role: 'viewer' });
  const [workspace, id, proof] = token.split('.') as [string, string, string];
  for (const wrong of ['', 'x', `${workspace}.${id}.`, `${workspace}.${by_key.id}.${proof}`]) {
    expect([wrong, ...refusal(await read({ token: wrong }))]).toEqual([wrong, 401, 'unauthenticated']);
  }
  expect((await accept(invited)).reply.status).toBe(201);
  expect(refusal(await read(invited)), 'used').toEqual([401, 'unauthenticated']);
  await ada.call('DELETE', `/v1/invitations/${by_key.id}`);
  expect(refusal(await read(by_key)), 'revoked').toEqual([401, 'unauthenticated']);
});

test('who accepts while their inviter is being removed joins before it or not at all', async () => {
  for (let round = 0; round < 10; round++) {
    const eve = await join(`race-${round}@example.com`);
    const invited = await invite(eve.browser, `raced-${round}@example.com`);
    const [{ reply }, removed] = await Promise.all([accept(invited), ENDS.removed(eve.user_id)]);
    expect(removed.status).toBe(204);
    expect([201, 401]).toContain(reply.status);
    const { rows } = await s.sql(
      `select (select seq from audit_records where action = 'member.joined' and target_id = $1) as joined,
        (select seq from audit_records where action = 'member.removed' and target_id = $2) as removed`,
      [reply.body.user?.id ?? null, eve.user_id],
    );
    if (reply.status === 201) expect(Number(rows[0].joined)).toBeLessThan(Number(rows[0].removed));
  }
});
