import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const { test, s, get, post, ask, makeAgent } = serviceTest({
  env: {
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    WEBHOOK_RETRY_FIRST_MS: '20',
    WEBHOOK_RETRY_MAX_MS: '50',
    WEBHOOK_TIMEOUT_MS: '60000',
    PUBLIC_URL: 'https://purser.example',
  },
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const REVIEW_OVER = 1_000;
const receivers: Receiver[] = [];
async function receiver(): Promise<Receiver> {
  const made = await startReceiver();
  receivers.push(made);
  return made;
}
async function channel(type: string, to: Receiver, more: object = {}): Promise<Shown> {
  return post('/v1/channels', { name: `The ${type}`, type, url: to.url, ...more });
}
const enforced = (authority: object = {}) =>
  makeAgent({ review_threshold_minor: REVIEW_OVER, ...authority }, { mode: 'ENFORCE' });
const notices = async (query: string): Promise<Shown[]> => (await get(`/v1/notices?limit=200&${query}`)).data;
const health = async (id: string) => (await get(`/v1/channels/${id}`)).health;

test.afterEach(async () => {
  for (const { id } of (await get('/v1/channels')).data) await s.call('DELETE', `/v1/channels/${id}`);
  for (const each of receivers.splice(0)) await each.close();
});

describe('a request that waits for a review', () => {
  test('is sent to Slack in Block Kit, to Teams as an adaptive card and to a webhook as signed JSON, under one id each', async () => {
    const [slack, teams, hook] = [await receiver(), await receiver(), await receiver()];
    await channel('slack_webhook', slack);
    await channel('teams_webhook', teams);
    const signed = await channel('webhook', hook);
    const agent = await enforced();
    const decision = await ask(agent, 124_000, { action: { merchant: 'Evil <!channel> evil.example' } });
    expect(decision.decision).toBe('REVIEW');
    await until(() => [slack, teams, hook].every(({ received }) => received.length > 0) || null);
    const url = `https://purser.example/console/decisions/${decision.decision_id}`;
    const title = `EUR 1,240.00 requested by ${agent} waits for a review`;

    const sheet = await get(`/v1/decisions/${decision.decision_id}/sheet`);
    expect(sheet.notices.map(({ kind, status }: { kind: string; status: string }) => [kind, status])).toEqual(
      Array.from({ length: 3 }, () => ['REQUESTED', expect.stringMatching(/^(SENT|SCHEDULED)$/)]),
    );

    const message = slack.received[0]?.event;
    expect(message).toMatchObject({ text: title, unfurl_links: false });
    expect(JSON.stringify(message)).not.toContain('mrkdwn');
    expect(JSON.stringify(message)).toContain('Evil <!channel> evil[.]example');
    expect(JSON.stringify(message)).toContain(url);

    const card = teams.received[0]?.event;
    expect(card).toMatchObject({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }],
    });
    expect(card.attachments[0].content.actions).toEqual([
      { type: 'Action.OpenUrl', title: 'Open the request', url },
    ]);
    expect(Buffer.byteLength(teams.received[0]?.body as string)).toBeLessThan(20_000);

    const [told] = hook.received;
    const { 'webhook-id': id, 'webhook-timestamp': t, 'webhook-signature': signature } = told?.headers ?? {};
    const secret = Buffer.from(signed.secret.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', secret).update(`${id}.${t}.${told?.body}`).digest('base64');
    expect(signature).toBe(`v1,${expected}`);
    expect(told?.event).toMatchObject({
      type: 'review.requested',
      data: {
        title,
        decision_id: decision.decision_id,
        url,
        agent,
        amount_minor: 124_000,
        currency: 'EUR',
        reason_code: decision.reason_code,
        expires_at: decision.reservation.expires_at,
      },
    });
    const listed = await until(async () => {
      const found = await notices(`decision=${decision.decision_id}`);
      return found.length === 3 && found.every(({ status }) => status === 'SENT') ? found : null;
    });
    expect(listed).toContainEqual(
      expect.objectContaining({
        id,
        kind: 'REQUESTED',
        channel_id: signed.id,
        recipient: 'The webhook',
        attempts: 1,
      }),
    );
    expect((await health(signed.id)).state).toBe('HEALTHY');
  });

  test('is sent only to channels whose filters match, and without the description where claims are hidden', async () => {
    const [all, other] = [await receiver(), await receiver()];
    await channel('webhook', all, { show_claims: false });
    const agent = await enforced();
    await channel('webhook', other, { filter: { agents: [agent], from_minor: 500_000 } });
    await ask(agent, 2_000, { action: { description: 'A secret story' } });
    const large = await ask(agent, 600_000, { action: { description: 'A secret story' } });
    await until(() => (all.received.length === 2 && other.received.length === 1) || null);
    expect(other.received[0]?.event.data.decision_id).toBe(large.decision_id);
    expect(all.received.map(({ body }) => body).join()).not.toContain('secret story');
    expect(other.received[0]?.event.data.claims.description).toBe('A secret story');
  });

  test('is sent to nobody in SHADOW, where nothing waits, nor is a request that was allowed or denied', async () => {
    const hook = await receiver();
    const { id } = await channel('webhook', hook);
    const shadow = await makeAgent({ review_threshold_minor: REVIEW_OVER }, { mode: 'SHADOW' });
    expect((await ask(shadow, 2_000)).decision).toBe('REVIEW');
    const agent = await enforced();
    expect((await ask(agent, 10)).decision).toBe('ALLOW');
    await ask(agent, 2_000);
    expect((await notices(`channel=${id}`)).length).toBe(1);
  });

  test('is not sent any more once it was decided', async () => {
    const hook = await receiver();
    let answers = 0;
    hook.answer = (_request, response) => {
      answers += 1;
      response.writeHead(500).end();
    };
    const { id } = await channel('webhook', hook);
    const agent = await enforced();
    const quiet = await channel('webhook', hook, { quiet_hours: quietNow() });
    const decision = await ask(agent, 2_000);
    await until(() => answers > 0 || null);
    const reviewer = (await post('/v1/api-keys', { name: 'r', scopes: ['review'], principal_id: 'user:ada' }))
      .key;
    const body = { action: 'DENY', reason_code: 'TOO_EXPENSIVE' };
    await post(`/v1/decisions/${decision.decision_id}/reviews`, body, reviewer);
    const statuses = await until(async () => {
      const found = await notices(`decision=${decision.decision_id}&status=OBSOLETE,FAILED`);
      return found.length === 2 ? found : null;
    });
    expect(statuses.find(({ channel_id }) => channel_id === quiet.id)?.status).toBe('OBSOLETE');
    expect(['OBSOLETE', 'FAILED']).toContain(statuses.find(({ channel_id }) => channel_id === id)?.status);
  });

  test('has a reminder and an escalation when the review policy wants them, OBSOLETE once it has expired', async () => {
    const hook = await receiver();
    const { id } = await channel('webhook', hook);
    const policy = {
      groups: { finance: ['user:ada'], board: ['user:bo'] },
      tiers: [
        {
          currency: 'EUR',
          from_minor: 5_000,
          approvals: 1,
          approvers: ['finance'],
          escalation: { after_seconds: 3_600, approvers: ['board'] },
        },
      ],
      remind_before_seconds: 7_200,
    };
    for (const principal_id of ['user:ada', 'user:bo'])
      await post('/v1/api-keys', { name: principal_id, scopes: ['review'], principal_id });
    const put = await s.call('PUT', '/v1/review-policy', { body: { policy } });
    expect(put.status, put.text).toBe(200);
    const decision = await ask(await enforced(), 6_000);
    await s.call('PUT', '/v1/review-policy', { body: { policy: {} } });
    const made = async () => {
      const found = await notices(`decision=${decision.decision_id}&channel=${id}`);
      return found.map(({ kind, status, due_at }) => [kind, status, Date.parse(due_at)]);
    };
    await until(
      async () => (await made()).some(([kind, status]) => kind === 'REQUESTED' && status === 'SENT') || null,
    );
    const [created_ms, expires_ms] = [decision.created_at, decision.reservation.expires_at].map(
      Date.parse,
    ) as [number, number];
    expect(await made()).toEqual(
      expect.arrayContaining([
        ['REMINDER', 'SCHEDULED', expires_ms - 7_200_000],
        ['ESCALATED', 'SCHEDULED', created_ms + 3_600_000],
      ]),
    );
    await s.sql('update decision_states set expires_at = now() where decision_id = $1', [
      decision.decision_id,
    ]);
    expect((await made()).filter(([, status]) => status === 'OBSOLETE').map(([kind]) => kind)).toEqual(
      expect.arrayContaining(['REMINDER', 'ESCALATED']),
    );
    // When they are due, nothing is sent.
    await s.sql('update webhook_deliveries set due_at = now()::timestamptz(3) where endpoint_id = $1', [id]);
    await s.sql('update webhook_queues set due_at = now() where endpoint_id = $1', [id]);
    await until(
      async () =>
        (await s.sql('select 1 from webhook_deliveries where endpoint_id = $1', [id])).rows.length === 0 ||
        null,
    );
    expect(hook.received).toHaveLength(1);
  });

  test('from the sixth of an agent in a minute on, a channel gets one summary with all of them', async () => {
    const hook = await receiver();
    const { id } = await channel('webhook', hook);
    const agent = await enforced();
    const decisions: string[] = [];
    // The minute may change in between; then the next twelve are all of one.
    const minute = () => Math.floor(Date.now() / 60_000);
    for (let began = minute(); decisions.length < 12; ) {
      decisions.push((await ask(agent, 2_000 + decisions.length)).decision_id);
      if (minute() !== began) {
        began = minute();
        decisions.length = 0;
      }
    }
    const scheduled = await notices(`channel=${id}&status=SCHEDULED`);
    const summary = scheduled.find(({ kind }) => kind === 'SUMMARY');
    expect(scheduled.filter(({ kind }) => kind === 'SUMMARY').length).toBeGreaterThanOrEqual(1);
    const due_ms = Date.parse(summary.due_at);
    expect(due_ms % 60_000).toBe(5_000);
    // The end of the minute comes early.
    await s.sql('update webhook_deliveries set due_at = now()::timestamptz(3) where event_id = $1', [
      summary.id,
    ]);
    await s.sql('update webhook_queues set due_at = now() where endpoint_id = $1', [id]);
    const told = await until(
      () => hook.received.find(({ event }) => event.type === 'review.summary') ?? null,
    );
    const own = hook.received.filter(({ event }) => event.type === 'review.requested');
    const ids = [...own.map(({ event }) => event.data.decision_id), ...told.event.data.decision_ids];
    expect(decisions.filter((each) => !ids.includes(each))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(told.event.data.count).toBe(told.event.data.decision_ids.length);
    expect(told.headers['webhook-id']).toBe(summary.id);
  });
});

/** Quiet hours of now, which end before a request expires. */
function quietNow(): object {
  const clock = (time_ms: number) => `${new Date(time_ms).toISOString().slice(11, 13)}:00`;
  const [hour, now_ms] = [3_600_000, Date.now()];
  return { time_zone: 'UTC', from: clock(now_ms - hour), to: clock(now_ms + 3 * hour) };
}

describe('a channel that does not receive', () => {
  test('a receiver that is gone (410) disables its channel at once, and the notice failed', async () => {
    const hook = await receiver();
    hook.answer = (_request, response) => response.writeHead(410).end('channel_is_archived');
    const { id } = await channel('slack_webhook', hook);
    await ask(await enforced(), 2_000);
    await until(async () => (await health(id)).state === 'DISABLED' || null);
    expect((await get('/v1/reports/overview')).failing_channels).toMatchObject([{ id }]);
    expect(await notices(`channel=${id}`)).toMatchObject([{ status: 'FAILED', attempts: 1, error: 'gone' }]);
    expect(hook.received).toHaveLength(1);
    expect((await get(`/v1/audit?target=${id}`)).data[0]).toMatchObject({
      action: 'channel.updated',
      actor: { type: 'system' },
    });
  });

  test('a 429 with Retry-After is waited for, and no other notice goes there before', async () => {
    const hook = await receiver();
    let is_limited = true;
    const times: number[] = [];
    hook.answer = (_request, response, { at_ms }) => {
      times.push(at_ms);
      response.writeHead(is_limited ? 429 : 200, is_limited ? { 'retry-after': '1' } : {}).end();
      is_limited = false;
    };
    const { id } = await channel('slack_webhook', hook);
    const agent = await enforced();
    await ask(agent, 2_000);
    await until(() => times.length > 0 || null);
    await until(async () => (await notices(`channel=${id}&status=RETRYING`)).length === 1 || null);
    await ask(agent, 3_000);
    await until(async () => (await notices(`channel=${id}&status=SENT`)).length === 2 || null);
    expect(times).toHaveLength(3);
    for (const time of times.slice(1)) expect(time - (times[0] as number)).toBeGreaterThanOrEqual(990);
  });

  test('after three failures the others get one notice, and five attempts under one id end the notice', async () => {
    const [dead, alive] = [await receiver(), await receiver()];
    dead.answer = (_request, response) => response.writeHead(503).end();
    const failing = await channel('teams_webhook', dead);
    const healthy = await channel('webhook', alive);
    const decision = await ask(await enforced(), 2_000);
    const told = await until(
      () => alive.received.find(({ event }) => event.type === 'channel.failing') ?? null,
    );
    expect(told.event.data).toMatchObject({
      channel_id: failing.id,
      name: 'The teams_webhook',
      error: 'bad_status',
    });
    const [ended] = await until(async () => {
      const found = await notices(`channel=${failing.id}&status=FAILED`);
      return found.length > 0 ? found : null;
    });
    expect(ended).toMatchObject({ attempts: 5, error: 'bad_status', decision_id: decision.decision_id });
    expect(dead.received).toHaveLength(5);
    expect(await health(failing.id)).toMatchObject({ state: 'FAILING', last_error: 'bad_status' });
    await until(async () => (await notices(`channel=${healthy.id}&status=SENT`)).length === 2 || null);
    expect(alive.received.filter(({ event }) => event.type === 'channel.failing')).toHaveLength(1);
    expect((await get('/v1/reports/overview')).failing_channels).toMatchObject([
      { id: failing.id, name: 'The teams_webhook', health: { state: 'FAILING' } },
    ]);
    // It works again.
    dead.answer = (_request, response) => response.writeHead(202).end();
    await s.call('POST', `/v1/channels/${failing.id}/test`);
    await until(async () => (await health(failing.id)).state === 'HEALTHY' || null);
  });

  test('one that never answers delays no decision, no other channel and no stop', async () => {
    const [silent, alive] = [await receiver(), await receiver()];
    silent.answer = () => {};
    await channel('slack_webhook', silent);
    await channel('webhook', alive);
    const agent = await enforced();
    for (let i = 0; i < 4; i++) await ask(agent, 2_000 + i);
    await until(() => alive.received.length === 4 || null);
    expect(silent.received.length).toBeGreaterThan(0);
  });

  test('a channel that is deleted ends its notices', async () => {
    const hook = await receiver();
    hook.answer = (_request, response) => response.writeHead(500).end();
    const { id } = await channel('webhook', hook, { quiet_hours: quietNow() });
    const decision = await ask(await enforced(), 2_000);
    expect(await notices(`decision=${decision.decision_id}`)).toHaveLength(1);
    await s.call('DELETE', `/v1/channels/${id}`);
    await until(
      async () => (await notices(`decision=${decision.decision_id}&status=OBSOLETE`)).length === 1 || null,
    );
    const left = await s.sql('select 1 from webhook_deliveries where endpoint_id = $1', [id]);
    expect(left.rows).toEqual([]);
  });
});

test('a limit that is reached is a notice to each channel, once', async () => {
  const hook = await receiver();
  const { id } = await channel('webhook', hook);
  const agent = await makeAgent({ monthly_budget_minor: 1_000, alert_percents: [50] });
  for (const amount of [400, 200, 100]) await ask(agent, amount);
  await until(() => hook.received.length > 0 || null);
  expect(hook.received[0]?.event).toMatchObject({
    type: 'limit.reached',
    data: { title: `Usage reached 50 percent of a limit of ${agent}`, percent: 50, agent },
  });
  expect(await notices(`channel=${id}`)).toHaveLength(1);
});

test('a test notice reaches its channel alone, at once during quiet hours', async () => {
  const [one, other] = [await receiver(), await receiver()];
  const { id } = await channel('webhook', one, { quiet_hours: quietNow() });
  await channel('webhook', other);
  const reply = await s.call('POST', `/v1/channels/${id}/test`);
  expect(reply.status).toBe(202);
  await until(() => one.received.length === 1 || null);
  expect(one.received[0]).toMatchObject({
    headers: { 'webhook-id': reply.body.notice_id },
    event: { type: 'channel.test' },
  });
  expect(other.received).toEqual([]);
});
