import { describe, expect } from 'vitest';
import { fieldOf, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, makeAgent, keyWith } = serviceTest({ plan: 'free' });

const HOST = 'hooks.slack.example';
const URL = `https://${HOST}/services/T0/B0/very-secret-token`;
const slack = (more: object = {}) => ({ name: 'Finance', type: 'slack_webhook', url: URL, ...more });
const channels = async () => (await get('/v1/channels')).data;

test.afterEach(async () => {
  for (const { id } of await channels()) await s.call('DELETE', `/v1/channels/${id}`);
});

describe('channels', () => {
  test('one is made on every plan, shown without its URL, changed, disabled and deleted, all of it audited', async () => {
    const agent = await makeAgent();
    const quiet_hours = { time_zone: 'Europe/Berlin', from: '19:00', to: '08:00' };
    const filter = { agents: [agent], currency: 'EUR', from_minor: 5_000, reasons: ['NEW_MERCHANT'] };
    const made = await post('/v1/channels', slack({ filter, quiet_hours }));
    expect(made).toMatchObject({
      name: 'Finance',
      type: 'slack_webhook',
      status: 'active',
      target: HOST,
      filter,
      quiet_hours,
      show_claims: true,
      health: { state: 'UNUSED', last_success_at: null, failing_since: null, last_error: null },
    });
    expect(made).not.toHaveProperty('secret');
    const path = `/v1/channels/${made.id}`;
    const patch = async (body: object) => (await s.call('PATCH', path, { body })).body;
    expect(await patch({ filter: null, quiet_hours: null, show_claims: false })).toMatchObject({
      filter: null,
      quiet_hours: null,
      show_claims: false,
      target: HOST,
    });
    expect((await patch({ url: 'https://other.example/x' })).target).toBe('other.example');
    expect((await patch({ status: 'disabled' })).health.state).toBe('DISABLED');
    expect(await get(path)).toEqual(await patch({}));
    expect((await s.call('DELETE', path)).status).toBe(204);
    expect(refusal(await s.call('GET', path))).toEqual([404, 'not_found']);
    const records = (await get(`/v1/audit?target=${made.id}`)).data as { action: string; changes: object }[];
    expect(records.map(({ action }) => action)).toEqual([
      'channel.deleted',
      'channel.updated',
      'channel.updated',
      'channel.updated',
      'channel.created',
    ]);
    expect(records.at(-1)?.changes).toMatchObject({
      target: { from: null, to: HOST },
      settings_hash: { from: null, to: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    });
    expect((await get('/v1/ledger/verify')).valid).toBe(true);
  });

  test('the same settings again change nothing, since their hash is the same', async () => {
    const { id } = await post('/v1/channels', slack());
    const before = (await get('/v1/ledger/events?limit=1')).data[0].seq;
    await s.call('PATCH', `/v1/channels/${id}`, { body: { url: URL } });
    expect((await get('/v1/ledger/events?limit=1')).data[0].seq).toBe(before);
  });

  test('no row, audit record or answer has a URL or a secret as it is', async () => {
    const { secret } = await post('/v1/channels', { name: 'Pager', type: 'webhook', url: URL });
    expect(secret).toMatch(/^whsec_/);
    await post('/v1/channels', slack());
    const { rows } = await s.sql(
      'select (select json_agg(c) from channels c)::text || (select json_agg(a) from audit_records a)::text as all',
    );
    const everything = `${rows[0].all}${JSON.stringify([await channels(), await get('/v1/audit?limit=200')])}`;
    expect(everything).not.toContain('very-secret-token');
    expect(everything).not.toContain(secret.slice(6, 40));
  });

  test('a channel that was edited behind the service’s back shows in the verification', async () => {
    const { id } = await post('/v1/channels', slack());
    await s.sql('update channels set target = $1 where channel_id = $2', ['evil.example', id]);
    const found = await get('/v1/ledger/verify');
    expect(found.breaks[0].detail).toContain(id);
    await s.sql('update channels set target = $1 where channel_id = $2', [HOST, id]);
    expect((await get('/v1/ledger/verify')).valid).toBe(true);
  });

  test('each type takes its own settings, and URLs follow the rules of webhooks', async () => {
    const refused = async (body: object) => {
      const reply = await s.call('POST', '/v1/channels', { body });
      expect(reply.status, reply.text).toBe(400);
      return fieldOf(reply);
    };
    const { url: _, ...nothing } = slack();
    expect(await refused(nothing)).toBe('url');
    expect(await refused(slack({ addresses: ['a@example.com'] }))).toBe('addresses');
    for (const url of ['http://hooks.example.com/', 'https://localhost/', 'https://169.254.169.254/'])
      expect(await refused(slack({ url }))).toBe('url');
    expect(await refused({ name: 'Mail', type: 'email' })).toBe('addresses');
    expect(await refused(slack({ quiet_hours: { time_zone: 'Mars', from: '19:00', to: '08:00' } }))).toBe(
      'quiet_hours.time_zone',
    );
    expect(
      refusal(await s.call('POST', '/v1/channels', { body: slack({ filter: { agents: ['no-one'] } }) })),
    ).toEqual([404, 'not_found']);
  });

  test('409 email_not_configured for mail without a mail server', async () => {
    const body = { name: 'Mail', type: 'email', addresses: ['finance@example.com'] };
    expect(refusal(await s.call('POST', '/v1/channels', { body }))).toEqual([409, 'email_not_configured']);
  });

  test('409 channel_limit for the twenty-first', async () => {
    for (let i = 0; i < 20; i++) await post('/v1/channels', slack({ name: `Channel ${i}` }));
    expect(refusal(await s.call('POST', '/v1/channels', { body: slack() }))).toEqual([409, 'channel_limit']);
    expect((await channels()).length).toBe(20);
  });

  test('only administrators reach channels; readers see notices', async () => {
    const reader = await keyWith('read');
    expect(refusal(await s.call('GET', '/v1/channels', { key: reader }))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect(await get('/v1/notices', reader)).toEqual({ data: [], next_cursor: null });
  });
});
