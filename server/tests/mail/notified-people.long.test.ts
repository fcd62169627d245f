import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { fieldOf, makeKey, type RunningService, startTestService } from '../support/running-service.ts';
import { makeClient } from '../support/service-test.ts';
import { until } from '../support/until.ts';

/** A Tuesday; clocks in Berlin are one hour ahead of UTC. */
const START = Date.parse('2026-11-24T06:30:00.000Z');
const REVIEWED = { review_threshold_minor: 1_000 };
const OVER = 5_000;

let mail: MailServer;
let s: RunningService;
let ada: Browser;
let client: ReturnType<typeof makeClient>;
let agent: string;
beforeAll(async () => {
  mail = await startMailServer();
  s = await startTestService({
    plan: 'enterprise',
    stopped_at_ms: START,
    env: { SMTP_URL: mail.url, SMTP_FROM: 'Purser <purser@example.com>' },
  });
  ada = await setUp(s);
  client = makeClient(s);
  agent = await client.makeAgent(REVIEWED, { mode: 'ENFORCE' });
});
afterAll(async () => {
  await s.stop();
  await mail.close();
});

let clock_ms = START;
const passTo = async (time: string) => {
  clock_ms = Date.parse(time);
  await s.setClock(clock_ms);
};
const SETTINGS = { time_zone: 'Europe/Berlin', email: 'MINE', digest: 'NONE', quiet_hours: null };
const put = (body: object, browser = ada) => browser.call('PUT', '/v1/me/notifications', { body });

async function join(
  email: string,
  role: string,
): Promise<{ browser: Browser; principal_id: string; user_id: string }> {
  await ada.call('POST', '/v1/invitations', { body: { email, role } });
  // Each batch is a little later than the one before it, also while the clock is stopped.
  clock_ms += 1_000;
  await s.setClock(clock_ms);
  const { mail: received } = await mail.mailTo(email, /Invitation/);
  const token = /#(\S+)$/m.exec(received.text ?? '')?.[1];
  const browser = openBrowser(s);
  const body = { token, name: email.split('@')[0], password: PASSWORD };
  const reply = await browser.call('POST', '/v1/auth/invitations/accept', { body });
  expect(reply.status, reply.text).toBe(201);
  return { browser, principal_id: reply.body.principal_id, user_id: reply.body.user.id };
}
/** The recipients of the notices about a decision. */
const toldOf = async (decision_id: string, kind = 'REQUESTED') =>
  (
    await s.sql('select recipient from notices where decision_id = $1 and kind = $2 order by recipient', [
      decision_id,
      kind,
    ])
  ).rows.map(({ recipient }) => recipient);

describe('the settings of a person', () => {
  test('are mail for each request and no digest, until they are put', async () => {
    const { body } = await ada.call('GET', '/v1/me/notifications');
    expect(body).toEqual({ ...SETTINGS, time_zone: 'UTC', sent_to: 'ada@example.com' });
    const quiet_hours = { time_zone: 'Europe/Berlin', from: '19:00', to: '08:00', days: ['MON', 'TUE'] };
    const wanted = { ...SETTINGS, email: 'NONE', digest: 'DAILY', quiet_hours };
    expect((await put(wanted)).body).toEqual({ ...wanted, sent_to: 'ada@example.com' });
    expect((await ada.call('GET', '/v1/me/notifications')).body).toEqual({
      ...wanted,
      sent_to: 'ada@example.com',
    });
    await put(SETTINGS);
  });
  test.each([
    ['time_zone', 'Europe/Nowhere'],
    ['email', 'ALL'],
    ['digest', 'WEEKLY'],
    ['quiet_hours', { from: '19:00', to: '08:00' }],
  ])('with a wrong %s are refused', async (field, value) => {
    const reply = await put({ ...SETTINGS, [field]: value });
    expect([reply.status, fieldOf(reply).startsWith(field)]).toEqual([400, true]);
  });
});

describe('a request that waits for a review', () => {
  test('is mailed to members who may decide it: not to viewers, people who want none, or the requester', async () => {
    const lea = await join('lea@example.com', 'reviewer');
    const silent = await join('silent@example.com', 'admin');
    await join('viewer@example.com', 'viewer');
    await put({ ...SETTINGS, email: 'NONE' }, silent.browser);
    const me = await ada.call('GET', '/v1/me');
    const asked = await client.ask(agent, OVER);
    expect(asked.decision).toBe('REVIEW');
    expect(await toldOf(asked.decision_id)).toEqual([me.body.principal_id, lea.principal_id].sort());
    clock_ms += 1_000;
    await s.setClock(clock_ms);
    for (const address of ['ada@example.com', 'lea@example.com']) {
      const { mail: received } = await mail.mailTo(address, /requested by/);
      expect(received.subject).toBe(`EUR 50.00 requested by ${agent} waits for a review`);
      expect(received.text).toContain(`/console/decisions/${asked.decision_id}`);
      expect(received.messageId).toMatch(/^<ntc_[0-9A-Z]{26}@example\.com>$/);
    }

    const { key } = await makeKey(s, { scopes: ['authorize'], principal_id: 'user:bot-owner' });
    const bot = await join('unproved@example.com', 'reviewer');
    await s.sql('update users set email_proved_at = null where user_id = $1', [bot.user_id]);
    const other = await client.ask(agent, OVER, {}, key);
    expect(await toldOf(other.decision_id)).toEqual([me.body.principal_id, lea.principal_id].sort());
  });
  test('is mailed to the delegate of an approver who is away, until they are back', async () => {
    const dee = await join('dee@example.com', 'reviewer');
    const me = (await ada.call('GET', '/v1/me')).body;
    const policy = {
      tiers: [{ currency: 'EUR', from_minor: 0, approvals: 1, approvers: [me.principal_id] }],
    };
    expect((await ada.call('PUT', '/v1/review-policy', { body: { policy } })).status).toBe(200);
    const away = { until: new Date(clock_ms + 86_400_000).toISOString(), delegate: dee.principal_id };
    expect((await ada.call('PUT', '/v1/me/away', { body: away })).status).toBe(200);
    const both = await client.ask(agent, OVER);
    expect(await toldOf(both.decision_id)).toEqual([me.principal_id, dee.principal_id].sort());
    expect((await ada.call('DELETE', '/v1/me/away')).status).toBe(204);
    const alone = await client.ask(agent, OVER);
    expect(await toldOf(alone.decision_id)).toEqual([me.principal_id]);
    expect((await ada.call('PUT', '/v1/review-policy', { body: { policy: {} } })).status).toBe(200);
  });
  test('is mailed to the person to whom it is assigned, and nobody is notified of their own assignment', async () => {
    const me = (await ada.call('GET', '/v1/me')).body;
    const eve = await join('eve@example.com', 'reviewer');
    const { decision_id } = await client.ask(agent, OVER);
    const path = `/v1/decisions/${decision_id}/notes`;
    const own = { text: 'Mine', assign_to: me.principal_id };
    expect((await ada.call('POST', path, { body: own })).status).toBe(201);
    expect(await toldOf(decision_id, 'ASSIGNED')).toEqual([]);
    const hers = { text: 'Please look', assign_to: eve.principal_id };
    expect((await ada.call('POST', path, { body: hers })).status).toBe(201);
    expect(await toldOf(decision_id, 'ASSIGNED')).toEqual([eve.principal_id]);
    clock_ms += 1_000;
    await s.setClock(clock_ms);
    const { mail: received } = await mail.mailTo('eve@example.com', /assigned to you/);
    expect(received.text).toContain(`/console/decisions/${decision_id}`);
  });
  test('of the person themselves is mailed to the others alone', async () => {
    const me = await ada.call('GET', '/v1/me');
    await s.sql('update api_keys set principal_id = $1 where kind <> $2 and principal_id is null', [
      me.body.principal_id,
      'x',
    ]);
    const asked = await client.ask(agent, OVER);
    expect(await toldOf(asked.decision_id)).not.toContain(me.body.principal_id);
  });
});

test('a digest is made at 08:00 in the person’s time zone, once, and never without requests', async () => {
  const max = await join('max@example.com', 'reviewer');
  await put({ ...SETTINGS, email: 'NONE', digest: 'DAILY' }, max.browser);
  const digests = async () =>
    (
      await s.sql(
        "select data, due_at from notices where recipient_id = $1 and kind = 'DIGEST' order by due_at",
        [max.user_id],
      )
    ).rows;
  const nextOf = async () =>
    (
      await s.sql('select next_digest_at from notification_settings where user_id = $1', [max.user_id])
    ).rows[0].next_digest_at.toISOString();
  expect(await nextOf()).toBe('2026-11-24T07:00:00.000Z');
  await client.ask(agent, OVER);
  await passTo('2026-11-24T07:00:00.000Z');
  await until(async () => (await nextOf()) === '2026-11-25T07:00:00.000Z');
  clock_ms += 1_000;
  await s.setClock(clock_ms);
  const { mail: digest } = await mail.mailTo('max@example.com', /wait/);
  expect(digest.subject).toMatch(/^\d+ requests? waits? for a review$/);
  const [made, ...others] = await digests();
  expect(others).toEqual([]);
  const data = JSON.parse(made.data);
  expect(data).toMatchObject({ agents: [agent], amounts: [{ currency: 'EUR' }] });
  expect(data.count).toBeGreaterThan(0);
  // As after a crash between the digest and its note, at whichever node.
  await s.sql('update notification_settings set next_digest_at = $2 where user_id = $1', [
    max.user_id,
    '2026-11-24T07:00:00.000Z',
  ]);
  await until(async () => (await nextOf()) === '2026-11-25T07:00:00.000Z');
  expect(await digests()).toHaveLength(1);
  // Everything that waited has expired.
  await passTo('2026-11-27T07:00:00.000Z');
  await until(async () => (await nextOf()) === '2026-11-28T07:00:00.000Z');
  expect(await digests()).toHaveLength(1);
});
