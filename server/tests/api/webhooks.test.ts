import { afterEach, describe, expect } from 'vitest';
import { connectOnce } from '../../src/engine/storage/database.ts';
import { AUTHORITY, freshKey, refusal, spend, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver, verifies } from '../support/webhook-receiver.ts';

const ALL_TYPES = [
  'decision.created',
  'decision.review.recorded',
  'decision.label.recorded',
  'decision.outcome.recorded',
];

const { test, s, get, ask, makeAgent } = serviceTest({
  env: {
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    WEBHOOK_RETRY_FIRST_MS: '40',
    WEBHOOK_RETRY_MAX_MS: '300',
    WEBHOOK_TIMEOUT_MS: '60000',
  },
});
let receiver: Receiver;
test.beforeAll(async () => {
  receiver = await startReceiver();
  await makeAgent({}, { slug: 'a' });
});
test.afterAll(() => receiver.close());
afterEach(async () => {
  for (const { id } of (await list()).data) await s.call('DELETE', `/v1/webhooks/${id}`);
  receiver.received.length = 0;
  receiver.answer = (_request, response) => response.writeHead(200).end();
});

const list = () => get('/v1/webhooks');
const create = async (body: object = {}) =>
  (await s.call('POST', '/v1/webhooks', { body: { url: receiver.url, ...body } })).body;
const decide = (amount = 100, extra = {}) => ask('a', amount, extra);
const deliveries = async (query = '') => (await get(`/v1/webhooks/deliveries?limit=200${query}`)).data;
const audited = async () => (await get('/v1/audit?limit=200')).data;

describe('endpoints', () => {
  test('an endpoint is made with its secret, listed without it, changed and deleted, all of it audited without secrets', async () => {
    const reply = await s.call('POST', '/v1/webhooks', { body: { url: receiver.url } });
    expect(reply.status).toBe(201);
    expect(Object.keys(reply.body)).toEqual(['id', 'url', 'events', 'secret']);
    const { id, secret } = reply.body;
    expect(id).toMatch(/^wh_/);
    expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
    expect(reply.body.events).toEqual(ALL_TYPES);
    expect((await list()).data).toMatchObject([
      {
        id,
        url: receiver.url,
        events: ALL_TYPES,
        status: 'active',
        disabled_reason: null,
        failing_since: null,
      },
    ]);
    const patch = (body: unknown) => s.call('PATCH', `/v1/webhooks/${id}`, { body });
    const events = async () => (await s.call('GET', '/v1/ledger/events?limit=1')).body.data[0].seq;
    const before = await events();
    expect((await patch({})).body.events).toEqual(ALL_TYPES);
    expect(await events()).toBe(before);
    expect((await patch({ events: ['decision.label.recorded'], status: 'disabled' })).body).toMatchObject({
      events: ['decision.label.recorded'],
      status: 'disabled',
      disabled_reason: 'REQUESTED',
    });
    expect((await patch({ status: 'active' })).body).toMatchObject({
      status: 'active',
      disabled_reason: null,
    });
    const rotated = await s.call('POST', `/v1/webhooks/${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(secret);
    expect((await s.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    expect(refusal(await s.call('DELETE', `/v1/webhooks/${id}`))).toEqual([404, 'not_found']);
    expect((await list()).data).toEqual([]);
    const records = (await audited()).filter((each: { target: { id: string } }) => each.target.id === id);
    expect(records.map((each: { action: string }) => each.action)).toEqual([
      'webhook.deleted',
      'webhook.secret_rotated',
      'webhook.updated',
      'webhook.updated',
      'webhook.created',
    ]);
    expect(records.at(-1).changes.url).toEqual({ from: null, to: receiver.url });
    const everything = JSON.stringify([records, (await s.sql('select * from audit_records')).rows]);
    expect(everything).not.toContain('whsec_');
    for (const value of [secret, rotated.body.secret]) expect(everything).not.toContain(value.slice(6, 40));
    expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true });
  });

  test('a secret is in no row of the database as it is', async () => {
    const { secret } = await create();
    const { rows } = await s.sql('select secrets::text from webhook_endpoints');
    expect(rows).toHaveLength(1);
    expect(rows[0].secrets).not.toContain('whsec_');
    expect(rows[0].secrets).not.toContain(secret.slice(6));
  });

  test('an endpoint whose row was edited behind the service’s back shows in the verification', async () => {
    const { id } = await create();
    await s.sql('update webhook_endpoints set url = $1 where endpoint_id = $2', [
      'https://evil.example/',
      id,
    ]);
    const found = (await s.call('GET', '/v1/ledger/verify')).body;
    expect(found.valid).toBe(false);
    expect(found.breaks[0].detail).toContain(id);
    await s.sql('update webhook_endpoints set url = $1 where endpoint_id = $2', [receiver.url, id]);
    expect((await s.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
  });

  test('409 plan_required without the Team plan, and a trial of it is enough', async () => {
    const free = await s.addWorkspace({ plan: 'free' });
    const trial = await s.addWorkspace({ plan: 'free', trial_days: 3 });
    const body = { url: receiver.url };
    expect(refusal(await s.call('POST', '/v1/webhooks', { key: free.admin_key, body }))).toEqual([
      409,
      'plan_required',
    ]);
    expect((await s.call('POST', '/v1/webhooks', { key: trial.admin_key, body })).status).toBe(201);
  });

  test('409 webhook_limit at the twenty-first, and room again after a deletion', async () => {
    const made = [];
    for (let i = 0; i < 20; i++) made.push(await create());
    const body = { url: receiver.url };
    expect(refusal(await s.call('POST', '/v1/webhooks', { body }))).toEqual([409, 'webhook_limit']);
    await s.call('DELETE', `/v1/webhooks/${made[0].id}`);
    expect((await s.call('POST', '/v1/webhooks', { body })).status).toBe(201);
  });

  test('a wrong body or query of the webhook routes is answered 400 naming the field', async () => {
    const post = async (body: unknown) => {
      const reply = await s.call('POST', '/v1/webhooks', { body });
      return [reply.status, reply.body.error?.message.split(':')[0]];
    };
    expect(await post({})).toEqual([400, 'url']);
    expect(await post({ url: 'ftp://example.com/' })).toEqual([400, 'url']);
    expect(await post({ url: 'https://user@example.com/' })).toEqual([400, 'url']);
    expect(await post({ url: receiver.url, events: ['decision.deleted'] })).toEqual([400, 'events[0]']);
    expect(await post({ url: receiver.url, events: ['webhook.test'] })).toEqual([400, 'events[0]']);
    expect(await post({ url: receiver.url, events: [] })).toEqual([400, 'events']);
    expect(await post({ url: receiver.url, events: Array(21).fill('decision.created') })).toEqual([
      400,
      'events',
    ]);
    expect(await post({ url: receiver.url, event: [] })).toEqual([400, 'event']);
  });

  test('403 without the admin scope, 404 for another workspace’s', async () => {
    const { id } = await create();
    const reader = (await s.call('POST', '/v1/api-keys', { body: { name: 'r', scopes: ['read', 'review'] } }))
      .body.key;
    const other = await s.addWorkspace({ plan: 'team' });
    for (const [method, path, body] of [
      ['POST', '/v1/webhooks', { url: receiver.url }],
      ['GET', '/v1/webhooks', undefined],
      ['GET', '/v1/webhooks/deliveries', undefined],
      ['PATCH', `/v1/webhooks/${id}`, { status: 'disabled' }],
      ['DELETE', `/v1/webhooks/${id}`, undefined],
      ['POST', `/v1/webhooks/${id}/rotate-secret`, {}],
      ['POST', `/v1/webhooks/${id}/test`, undefined],
      ['POST', `/v1/webhooks/${id}/replay`, { from: '2026-01-01' }],
    ] as const) {
      expect(refusal(await s.call(method, path, { key: reader, body }))).toEqual([403, 'insufficient_scope']);
      if (!path.includes(id)) continue;
      expect(refusal(await s.call(method, path, { key: other.admin_key, body }))).toEqual([404, 'not_found']);
    }
    expect((await list()).data[0]).toMatchObject({ id, status: 'active' });
  });
});

describe('deliveries', () => {
  test('decision.created carries the decision as it was answered, signed, under one id at every endpoint', async () => {
    const one = await create();
    const two = await create({ events: ['decision.created'] });
    await create({ events: ['decision.review.recorded'] });
    const decision = await decide();
    await until(() => receiver.received.length === 2);
    const [first, second] = receiver.received as [Receiver['received'][0], Receiver['received'][0]];
    expect(first.event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'decision.created',
      created_at: decision.created_at,
      data: decision,
    });
    expect(Object.keys(first.event)).toEqual(['id', 'type', 'created_at', 'data']);
    expect(second.body).toBe(first.body);
    expect(
      [one, two].map(({ secret }) => receiver.received.filter((each) => verifies(each, secret)).length),
    ).toEqual([1, 1]);
    const { headers } = first;
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-svc-id']).toBe(first.event.id);
    expect(headers['x-svc-type']).toBe('decision.created');
    for (const name of ['id', 'type', 'signature']) {
      expect(headers[`x-purser-${name}`]).toBe(headers[`x-svc-${name}`]);
    }
    expect(headers['webhook-id']).toBe(first.event.id);
    const { rows } = await s.sql('select id from ledger_events where subject_id = $1', [
      decision.decision_id,
    ]);
    expect(rows).toEqual([{ id: first.event.id }]);
  });

  test('an endpoint made on one node hears of the next decision on another, and of none after its deletion', async () => {
    const other = await startTestService({ beside: s, env: { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' } });
    const decideThere = async (amount: number) =>
      (await other.call('POST', '/v1/decisions', { body: spend('a', amount), idempotency_key: freshKey() }))
        .body;
    await decideThere(11);
    const { id } = await create();
    await decideThere(12);
    await until(() => receiver.received.length === 1);
    await s.call('DELETE', `/v1/webhooks/${id}`);
    await decideThere(13);
    await other.stop();
    expect(receiver.received.map((each) => each.event.data.requested_amount_minor)).toEqual([12]);
    expect((await s.sql('select 1 from webhook_deliveries')).rowCount).toBe(0);
  });

  test('a replayed request, a refused request and another workspace’s decision cause no delivery', async () => {
    await create();
    const other = await s.addWorkspace({ plan: 'team' });
    await s.call('POST', '/v1/agents', { key: other.admin_key, body: { slug: 'a', authority: AUTHORITY } });
    const key = freshKey();
    const body = spend('a', 7);
    await s.call('POST', '/v1/decisions', { body, idempotency_key: key });
    expect((await s.call('POST', '/v1/decisions', { body, idempotency_key: key })).status).toBe(200);
    await s.call('POST', '/v1/decisions', { body: spend('a', 8), idempotency_key: key });
    await s.call('POST', '/v1/decisions', { key: other.admin_key, body, idempotency_key: freshKey() });
    const last = await decide(9);
    await until(() => receiver.received.some((each) => each.event.data.decision_id === last.decision_id));
    expect(receiver.received.map((each) => each.event.data.requested_amount_minor)).toEqual([7, 9]);
  });

  test('a failure is retried in the same bytes under the same id, freshly signed, and every attempt is listed', async () => {
    const { id, secret } = await create();
    let answered = 0;
    receiver.answer = (_request, response) => {
      answered += 1;
      response.writeHead(answered < 3 ? 503 : 204).end();
    };
    await decide();
    await until(async () => (await deliveries(`&endpoint=${id}&status=SUCCEEDED`)).length === 1);
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map((each) => each.body)).size).toBe(1);
    expect(new Set(receiver.received.map((each) => each.headers['x-svc-id'])).size).toBe(1);
    for (const each of receiver.received) expect(verifies(each, secret)).toBe(true);
    const attempts = await deliveries(`&endpoint=${id}`);
    const event_id = receiver.received[0]?.event.id;
    expect(attempts).toMatchObject([
      { event_id, attempt: 3, status: 'SUCCEEDED', http_status: 204, error: null, next_attempt_at: null },
      { event_id, attempt: 2, status: 'RETRYING', http_status: 503, error: 'bad_status' },
      { event_id, attempt: 1, status: 'RETRYING', http_status: 503, event_type: 'decision.created' },
    ]);
    for (const [i, wait_ms] of [80, 40].entries()) {
      const { attempted_at, duration_ms, next_attempt_at } = attempts[i + 1];
      const ended_ms = Date.parse(attempted_at) + duration_ms;
      expect(Math.abs(Date.parse(next_attempt_at) - ended_ms - wait_ms)).toBeLessThanOrEqual(2);
    }
    expect((await s.sql('select 1 from webhook_deliveries')).rowCount).toBe(0);
  });

  test('a delivery is not attempted again after its fifth failure', async () => {
    const { id } = await create();
    receiver.answer = (_request, response) => response.writeHead(500).end();
    await decide();
    await until(async () => (await deliveries(`&endpoint=${id}&status=FAILED`)).length === 1);
    const attempts = await deliveries(`&endpoint=${id}`);
    expect(attempts.map((each: { attempt: number }) => each.attempt)).toEqual([5, 4, 3, 2, 1]);
    expect(attempts[0]).toMatchObject({ status: 'FAILED', http_status: 500, next_attempt_at: null });
    expect((await s.sql('select 1 from webhook_deliveries')).rowCount).toBe(0);
    await until(async () => (await list()).data[0].failing_since === attempts[4].attempted_at);
  });

  test('deleting or disabling an endpoint stops deliveries that wait for another attempt', async () => {
    receiver.answer = (_request, response) => response.writeHead(500).end();
    const deleted = await create();
    await decide();
    await until(async () => (await deliveries(`&endpoint=${deleted.id}`)).length >= 1);
    await s.call('DELETE', `/v1/webhooks/${deleted.id}`);
    const seen = receiver.received.length;
    const disabled = await create();
    await decide();
    await until(async () => (await deliveries(`&endpoint=${disabled.id}`)).length >= 1);
    await s.call('PATCH', `/v1/webhooks/${disabled.id}`, { body: { status: 'disabled' } });
    const left = async () =>
      (await s.sql('select endpoint_id, attempts from webhook_deliveries')).rows.map(
        (row) => row.endpoint_id,
      );
    await until(async () => (await left()).every((each) => each === disabled.id));
    // A worker gives a queue back when nothing of it is under way any more.
    await until(
      async () => (await s.sql('select 1 from webhook_queues where leased_by is not null')).rowCount === 0,
    );
    const { attempts } = (await s.sql('select attempts from webhook_deliveries')).rows[0];
    await decide();
    await new Promise((wait) => setTimeout(wait, 800));
    expect((await s.sql('select attempts from webhook_deliveries')).rows).toEqual([{ attempts }]);
    expect(receiver.received.length).toBeGreaterThan(seen);
    receiver.answer = (_request, response) => response.writeHead(200).end();
    await s.call('PATCH', `/v1/webhooks/${disabled.id}`, { body: { status: 'active' } });
    await until(async () => (await deliveries(`&endpoint=${disabled.id}&status=SUCCEEDED`)).length === 1);
  });

  test('the list of attempts filters, pages, and shows a neighbour nothing', async () => {
    const { id } = await create();
    for (let i = 0; i < 5; i++) await decide(i + 1);
    await until(async () => (await deliveries(`&endpoint=${id}`)).length === 5);
    const all = await deliveries(`&endpoint=${id}`);
    // The order in which attempts under way at once end says nothing of the order in which they began.
    const moments = all.map((each: { attempted_at: string }) => each.attempted_at);
    expect(moments).toEqual([...moments].sort().reverse());
    expect(await deliveries(`&event=${all[2].event_id}`)).toEqual([all[2]]);
    expect(await deliveries(`&event=${all[3].event_id},${all[1].event_id}`)).toEqual([all[1], all[3]]);
    expect(await deliveries(`&endpoint=${id}&type=decision.created`)).toEqual(all);
    expect(await deliveries(`&endpoint=${id}&type=decision.label.recorded`)).toEqual([]);
    expect(await deliveries(`&endpoint=${id}&status=FAILED`)).toEqual([]);
    const pages = [];
    let cursor = '';
    do {
      const path = `/v1/webhooks/deliveries?endpoint=${id}&limit=2${cursor}`;
      const { data, next_cursor } = (await s.call('GET', path)).body;
      pages.push(...data);
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`;
    } while (cursor !== '');
    expect(pages).toEqual(all);
    const other = await s.addWorkspace({ plan: 'team' });
    const theirs = await s.call('GET', `/v1/webhooks/deliveries?endpoint=${id}`, { key: other.admin_key });
    expect(theirs.body).toEqual({ data: [], next_cursor: null });
    const first = (await s.call('GET', '/v1/webhooks/deliveries?limit=1')).body.next_cursor;
    const elsewhere = await s.call('GET', `/v1/webhooks/deliveries?limit=1&status=FAILED&cursor=${first}`);
    expect(elsewhere.body.error?.message).toMatch(/^cursor:/);
    for (const [name, value] of [
      ['status', 'SENT'],
      ['status', 'FAILED,'],
      ['type', 'decision.created,decision.gone'],
      ['from', 'now'],
      ['to', '2026-13-01'],
    ]) {
      const wrong = await s.call('GET', `/v1/webhooks/deliveries?${name}=${value}`);
      expect(wrong.body.error?.message).toMatch(new RegExp(`^${name}:`));
    }
    expect(await deliveries(`&endpoint=${id}&status=FAILED,RETRYING`)).toEqual([]);
    expect(await deliveries(`&endpoint=${id}&status=FAILED,SUCCEEDED`)).toEqual(all);
    expect(await deliveries(`&endpoint=${id}&type=decision.created,webhook.test`)).toEqual(all);
    for (const bound of moments) {
      const isSince = (each: { attempted_at: string }) => each.attempted_at >= bound;
      expect(await deliveries(`&endpoint=${id}&from=${bound}`)).toEqual(all.filter(isSince));
      expect(await deliveries(`&endpoint=${id}&to=${bound}&status=SUCCEEDED`)).toEqual(
        all.filter((each: { attempted_at: string }) => !isSince(each)),
      );
    }
  });

  test('one endpoint is shown without its secret, and an event in the very bytes that were sent', async () => {
    const { id, secret } = await create({ events: ['decision.created'] });
    await decide(7, { task: 'Größe \u2028 1 < 2' });
    await s.call('POST', `/v1/webhooks/${id}/test`);
    await until(() => receiver.received.length === 2);
    const shown = (await s.call('GET', `/v1/webhooks/${id}`)).body;
    expect([shown]).toEqual((await list()).data);
    expect(JSON.stringify(shown)).not.toContain(secret.slice(6, 40));
    for (const { body, event } of receiver.received) {
      const reply = await s.call('GET', `/v1/webhooks/events/${event.id}`);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(reply.text).toBe(body);
    }
    const other = await s.addWorkspace({ plan: 'team' });
    for (const path of [`/v1/webhooks/${id}`, `/v1/webhooks/events/${receiver.received[0]?.event.id}`]) {
      expect(refusal(await s.call('GET', path, { key: other.admin_key }))).toEqual([404, 'not_found']);
    }
    expect(refusal(await s.call('GET', '/v1/webhooks/events/evt_1'))).toEqual([404, 'not_found']);
    await s.call('DELETE', `/v1/webhooks/${id}`);
    expect(refusal(await s.call('GET', `/v1/webhooks/${id}`))).toEqual([404, 'not_found']);
  });

  test('an attempt is told with the headers it was sent with, without the signatures once the secret is another one', async () => {
    const { id, secret } = await create({ events: ['decision.created'] });
    await decide(13, { task: 'Grüße \u2028' });
    await until(async () => (await deliveries(`&endpoint=${id}`)).length === 1);
    const [listed] = await deliveries(`&endpoint=${id}`);
    const path = `/v1/webhooks/deliveries/${listed.id}`;
    const { request_headers, ...attempt } = (await s.call('GET', path)).body;
    expect(attempt).toEqual(listed);
    const [sent] = receiver.received as [Receiver['received'][0]];
    expect(sent.headers).toMatchObject(request_headers);
    expect(verifies({ headers: request_headers, body: sent.body }, secret)).toBe(true);
    expect(JSON.stringify(request_headers)).not.toContain(secret.slice(6, 40));
    await s.call('POST', `/v1/webhooks/${id}/rotate-secret`, { body: { overlap_seconds: 600 } });
    const unsigned = Object.fromEntries(
      Object.entries(request_headers).filter(([name]) => !name.endsWith('-signature')),
    );
    expect(Object.keys(unsigned)).toHaveLength(Object.keys(request_headers).length - 3);
    expect((await s.call('GET', path)).body.request_headers).toEqual(unsigned);
    await s.call('DELETE', `/v1/webhooks/${id}`);
    expect((await s.call('GET', path)).body).toEqual({ ...listed, request_headers: unsigned });
    expect(refusal(await s.call('GET', '/v1/webhooks/deliveries/dlv_1'))).toEqual([404, 'not_found']);
  });

  test('a rotated secret signs alone where one signature goes, beside the old ones where several may', async () => {
    const { id, secret } = await create();
    const rotated = (
      await s.call('POST', `/v1/webhooks/${id}/rotate-secret`, { body: { overlap_seconds: 600 } })
    ).body;
    const left_ms = Date.parse(rotated.previous_secrets_expire_at) - Date.now();
    expect(Math.abs(left_ms - 600_000)).toBeLessThan(60_000);
    await decide();
    await until(() => receiver.received.length === 1);
    const [both] = receiver.received as [Receiver['received'][0]];
    expect([verifies(both, rotated.secret), verifies(both, secret)]).toEqual([true, false]);
    expect(String(both.headers['webhook-signature']).split(' ')).toHaveLength(2);
    const last = (await s.call('POST', `/v1/webhooks/${id}/rotate-secret`, { body: { overlap_seconds: 0 } }))
      .body;
    expect(last.previous_secrets_expire_at).toBe(null);
    await decide();
    await until(() => receiver.received.length === 2);
    const alone = receiver.received[1] as Receiver['received'][0];
    expect(verifies(alone, last.secret)).toBe(true);
    expect(String(alone.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  test('a test event goes to its endpoint alone, whatever events that is subscribed to', async () => {
    const { id, secret } = await create({ events: ['decision.label.recorded'] });
    await create();
    const reply = await s.call('POST', `/v1/webhooks/${id}/test`);
    expect([reply.status, reply.body.endpoint_id]).toEqual([202, id]);
    await until(async () => (await deliveries(`&event=${reply.body.event_id}`)).length === 1);
    expect(receiver.received).toHaveLength(1);
    const [only] = receiver.received as [Receiver['received'][0]];
    expect(only.event).toMatchObject({
      id: reply.body.event_id,
      type: 'webhook.test',
      data: { endpoint_id: id },
    });
    expect(verifies(only, secret)).toBe(true);
    await s.call('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    expect(refusal(await s.call('POST', `/v1/webhooks/${id}/test`))).toEqual([400, 'invalid_request']);
  });

  test('kept events are sent again, by id or by period, in the bytes that they had', async () => {
    const { id } = await create();
    const began = new Date(Date.now() - 60_000).toISOString();
    for (let i = 0; i < 3; i++) await decide(i + 1);
    await until(() => receiver.received.length === 3);
    const first = receiver.received.splice(0);
    const late = await create();
    const replay = (of: string, body: object) => s.call('POST', `/v1/webhooks/${of}/replay`, { body });
    const event_id = first[1]?.event.id;
    expect((await replay(id, { event_id })).body).toEqual({ queued: 1, next_from: null });
    await until(() => receiver.received.length === 1);
    expect(receiver.received[0]?.body).toBe(first[1]?.body);
    receiver.received.length = 0;
    expect((await replay(late.id, { from: began })).body.queued).toBeGreaterThanOrEqual(3);
    await until(() => first.every(({ body }) => receiver.received.some((each) => each.body === body)));
    expect(refusal(await replay(id, { event_id: 'evt_01KAJ5F0V8Z3M2Q9X7T4R6N1BD' }))).toEqual([
      404,
      'not_found',
    ]);
    expect((await replay(id, { event_id, from: began })).body.error?.message).toMatch(/^from:/);
    expect((await replay(id, {})).body.error?.message).toMatch(/^from:/);
    expect((await replay(id, { from: '2026-02-02', to: '2026-01-01' })).body.error?.message).toMatch(/^to:/);
    expect((await replay(id, { from: '2020-01-01', to: '2020-01-02' })).body).toEqual({
      queued: 0,
      next_from: null,
    });
  });
});

test('lists that take long hold up neither decisions nor look-ups', async () => {
  const other = await connectOnce(s.database.connection);
  await other.query('begin');
  await other.query('lock table webhook_attempts in access exclusive mode');
  const lists = Array.from({ length: 12 }, () => s.call('GET', '/v1/webhooks/deliveries?status=FAILED'));
  const found = await Promise.all([
    s.call('GET', '/v1/agents/a'),
    s.call('GET', '/v1/workspace'),
    s.call('POST', '/v1/decisions', { body: spend('a', 100), idempotency_key: freshKey() }),
  ]);
  await other.query('rollback');
  await other.end();
  expect(found.map((reply) => reply.status)).toEqual([200, 200, 201]);
  expect((await Promise.all(lists)).map((reply) => reply.status)).toEqual(lists.map(() => 200));
});
