import { beforeAll, expect, test } from 'vitest';
import { AUTHORITY, freshKey, makeKey, type RunningService, spend } from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';

/** Two nodes of one installation. */
const { s, beside } = twoNodes({ plan: 'team' });
let reviewer: string;
let adapter: string;
beforeAll(async () => {
  const authority = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', review_threshold_minor: 5_000 };
  await post('/v1/agents', { slug: 'buyer', mode: 'ENFORCE', authority });
  reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:grace' })).key;
  adapter = (await makeKey(s, { scopes: ['consume'] })).key;
});

const post = (path: string, body: unknown, key?: string) =>
  s.call('POST', path, { body, ...(key === undefined ? {} : { key }) });
const ask = (on: RunningService, idempotency_key = freshKey(), amount_minor = 500) =>
  on.call('POST', '/v1/decisions', {
    body: spend('buyer', amount_minor),
    idempotency_key,
  });
const consume = (on: RunningService, token: string) =>
  on.call('POST', '/v1/capabilities/consume', {
    body: { token, amount_minor: 500, currency: 'EUR' },
    key: adapter,
    idempotency_key: freshKey(),
  });
const shown = (reply: { status: number; body: { error?: { code: string; message: string } } }) => [
  reply.status,
  reply.body.error?.code,
  reply.body.error?.message,
];
const REASON = 'A key was leaked.';
const REFUSED = [403, 'agent_not_active', `All agents of this workspace are stopped: ${REASON}`];
const seq = async () => (await s.call('GET', '/v1/ledger/events?limit=1')).body.data[0].seq;

test('while a workspace is stopped no node decides, replays or pays for any agent, and all else goes on', async () => {
  const key = freshKey();
  const allowed = (await ask(s, key)).body;
  const waiting = (await ask(s, freshKey(), 6_000)).body;
  const failed = (await ask(s, freshKey(), 501)).body;
  expect([allowed.decision, waiting.decision]).toEqual(['ALLOW', 'REVIEW']);

  const stopped = await post('/v1/workspace/stop', { reason: REASON }, reviewer);
  expect(stopped.status).toBe(200);
  expect(stopped.body.stopped).toMatchObject({ reason: REASON, by: { principal_id: 'user:grace' } });
  expect((await beside.call('GET', '/v1/workspace')).body.stopped).toEqual(stopped.body.stopped);
  const at = await seq();
  const again = await post('/v1/workspace/stop', { reason: 'Another.' });
  expect([again.body.stopped, await seq()]).toEqual([stopped.body.stopped, at]);

  for (const node of [s, beside]) {
    expect(shown(await ask(node))).toEqual(REFUSED);
    expect(shown(await ask(node, key))).toEqual(REFUSED);
    expect(shown(await consume(node, allowed.capability.token))).toEqual(REFUSED);
  }
  const reviewed = await post(
    `/v1/decisions/${waiting.decision_id}/reviews`,
    { action: 'DENY', reason_code: 'OTHER', comment: 'Not now.' },
    reviewer,
  );
  const labelled = await post(
    `/v1/decisions/${allowed.decision_id}/labels`,
    { label: 'PURPOSE_ALIGNED' },
    reviewer,
  );
  const reported = await post(`/v1/decisions/${failed.decision_id}/outcomes`, { type: 'SPEND_FAILED' });
  const got = await s.call('GET', `/v1/decisions/${allowed.decision_id}`);
  expect([reviewed, labelled, reported, got].map(({ status }) => status)).toEqual([201, 201, 201, 200]);

  expect((await post('/v1/workspace/resume', undefined, reviewer)).status).toBe(403);
  const resumed = await post('/v1/workspace/resume', undefined);
  expect([resumed.status, resumed.body.stopped]).toEqual([200, null]);
  const after = await seq();
  expect((await post('/v1/workspace/resume', undefined)).status).toBe(200);
  expect(await seq()).toBe(after);
  expect((await ask(beside, key)).body.decision_id).toBe(allowed.decision_id);
  expect((await consume(beside, allowed.capability.token)).status).toBe(201);

  const audit = (await s.call('GET', '/v1/audit?action=workspace.stopped,workspace.resumed')).body.data;
  expect(audit.map((each: { action: string; changes: object }) => [each.action, each.changes])).toEqual([
    ['workspace.resumed', { stopped: { from: stopped.body.stopped, to: null } }],
    ['workspace.stopped', { stopped: { from: null, to: stopped.body.stopped } }],
  ]);
  expect((await s.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
});

test('of spends that race with a stop none is decided after it', async () => {
  const [stop, ...asked] = await Promise.all([
    post('/v1/workspace/stop', { reason: REASON }),
    ...Array.from({ length: 40 }, (_, i) => ask(i % 2 === 0 ? s : beside)),
  ]);
  const stopped_at = stop?.body.stopped.at as string;
  for (const reply of asked) {
    if (reply.status === 201) expect(reply.body.created_at <= stopped_at).toBe(true);
    else expect(shown(reply)).toEqual(REFUSED);
  }
  await post('/v1/workspace/resume', undefined);
});

test('a stop that was made or undone behind the back of the service is found', async () => {
  const verify = async () => (await s.call('GET', '/v1/ledger/verify')).body;
  const set = (stop: string) =>
    s.sql(`update ledger_heads set stop = ${stop} where workspace_id = '${s.workspace_id}'`);
  await post('/v1/workspace/stop', { reason: REASON });
  const { stop } = (await s.sql(`select stop from ledger_heads where workspace_id = '${s.workspace_id}'`))
    .rows[0];
  await set('null');
  expect(await verify()).toMatchObject({ valid: false, breaks: [{ kind: 'ROW_MISMATCH' }] });
  await set(`'${stop}'`);
  expect((await verify()).valid).toBe(true);
  await post('/v1/workspace/resume', undefined);
  await set(`'${stop}'`);
  expect(await verify()).toMatchObject({ valid: false, breaks: [{ kind: 'ROW_MISMATCH' }] });
  await set('null');
});

test.each([{}, { reason: '' }, { reason: 'x'.repeat(5_000) }, { reason: 1 }])(
  'a stop says why: %j is refused',
  async (body) => {
    const reply = await post('/v1/workspace/stop', body);
    expect([reply.status, reply.body.error.message.split(':')[0]]).toEqual([400, 'reason']);
  },
);
