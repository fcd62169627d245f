import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { confirmClock } from '../../src/engine/storage/workspaces.ts';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { makeMovedClock } from '../support/clock.ts';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  makeTestCore,
  type RunningService,
  refusal,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { makeClient } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 23, 12);
const AHEAD = NOW + 40 * DAY;

const services: RunningService[] = [];
afterEach(async () => {
  for (const each of services.splice(0).reverse()) await each.stop();
});
async function start(options: Parameters<typeof startTestService>[0]): Promise<RunningService> {
  const service = await startTestService({ plan: 'team', ...options });
  services.push(service);
  return service;
}

const THREE_A_MINUTE = {
  on_purpose_unclear: 'ALLOW',
  on_duplicate: 'DENY',
  duplicate_window_seconds: 60,
  monthly_budget_minor: 100_000,
  review_threshold_minor: 50_000,
  velocity_limits: [
    { name: 'minute', window: 'ROLLING', window_seconds: 60, limit_count: 3 },
    { name: 'day', window: 'DAY', limit_count: 20 },
  ],
};

describe('a history that was written at a time 40 days ahead', () => {
  test('holds no limit, no budget and no expiry back once the clock is right, and verifies', async () => {
    const s = await start({ stopped_at_ms: NOW });
    const { ask, makeAgent, post, get, walk, keyWith } = makeClient(s);
    const agent = await makeAgent(THREE_A_MINUTE, { mode: 'ENFORCE' });
    const before = await ask(agent, 1_000);
    const consumer = await keyWith('consume');
    const consume = ({ capability }: { capability: { token: string } }, amount_minor: number) =>
      post('/v1/capabilities/consume', { token: capability.token, amount_minor, currency: 'EUR' }, consumer);
    // A hold that is under way expires at no time, however far the clock is ahead.
    await consume(before, 1_000);
    await s.setClock(AHEAD);
    for (const amount of [1, 2]) expect((await ask(agent, amount)).decision).toBe('ALLOW');
    const waiting = await ask(agent, 60_000);
    expect((await ask(agent, 4)).reason_code).toBe('VELOCITY_LIMIT_EXCEEDED');

    await s.setClock(NOW + 2_000);
    // Another node knows nothing from the batches before.
    const other = await start({ beside: s });
    const made = [await ask(agent, 1), await makeClient(other).ask(agent, 2)];
    for (const each of made) {
      expect([each.decision, each.reservation.period]).toEqual(['ALLOW', '2026-11']);
      expect(Date.parse(each.created_at) - NOW).toBeLessThan(3_000);
    }
    expect(made.at(-1)?.reservation.budget.held_minor).toBe(1_003);
    // The spend of before and these are three; what was written ahead is none of them.
    expect((await ask(agent, 5)).reason_code).toBe('VELOCITY_LIMIT_EXCEEDED');
    expect((await ask(agent, 2)).reason_codes).toContain('DUPLICATE_SPEND');
    await s.setClock(NOW + 70_000);
    const later = await ask(agent, 2);
    expect(later.decision).toBe('ALLOW');
    expect(Date.parse(later.capability.expires_at) - NOW).toBeLessThan(DAY);
    await consume(later, 2);
    const pending = await ask(agent, 60_001);
    expect(Date.parse(pending.reservation.expires_at) - NOW).toBeLessThan(8 * DAY);
    // It lapses by the clock, at which the one that was asked for ahead has long to go.
    await s.setClock(Date.parse(pending.reservation.expires_at));
    expect((await get(`/v1/decisions/${pending.decision_id}`)).review_state).toBe('EXPIRED');
    expect((await get(`/v1/decisions/${waiting.decision_id}`)).review_state).toBe('PENDING');
    await ask(agent, 7);

    const events = (await walk('/v1/ledger/events', { limit: 200 })).reverse();
    const times = events.map((event: { occurred_at: string }) => event.occurred_at);
    expect(times).toEqual([...times].sort());
    expect(times.at(-1)).toContain(new Date(AHEAD).toISOString().slice(0, 10));
    expect(before.decision_id < later.decision_id).toBe(true);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
    // A limit that is new counts what there was by the same time.
    await post(`/v1/agents/${agent}/authority`, {
      ...AUTHORITY,
      ...THREE_A_MINUTE,
      velocity_limits: [{ name: 'week', window: 'ROLLING', window_seconds: 86_400 * 30, limit_count: 200 }],
    });
    const shown = (await get(`/v1/agents/${agent}/limits`)).data.find(
      (each: { name: string }) => each.name === 'week',
    );
    // Of the nine that count, three have the time ahead and one has expired.
    expect(shown.used_count).toBe(5);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });

  test('counts in the month that it was written for, when that comes', async () => {
    const s = await start({ stopped_at_ms: AHEAD });
    const { ask, makeAgent } = makeClient(s);
    const agent = await makeAgent({ on_purpose_unclear: 'ALLOW', monthly_budget_minor: 1_000 });
    await ask(agent, 900);
    await s.setClock(NOW);
    expect((await ask(agent, 200)).decision).toBe('ALLOW');
    await s.setClock(AHEAD + 60_000);
    expect((await ask(agent, 200)).reason_codes).toEqual(['MONTHLY_BUDGET_EXCEEDED']);
  });
});

describe('a clock that jumps while the service runs', () => {
  async function watched() {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    const { own, clock } = makeMovedClock({ wall_ms: NOW, log });
    const s = await start({ stopped_at_ms: NOW, clock });
    const { makeAgent } = makeClient(s);
    const agent = await makeAgent({ on_purpose_unclear: 'ALLOW' });
    const decide = () =>
      s.call('POST', '/v1/decisions', { body: spend(agent, 5), idempotency_key: freshKey() });
    const ready = () => s.call('GET', '/readyz', { key: null });
    return {
      s,
      own,
      decide,
      ready,
      lines,
      until: (status: number) => until(async () => (await ready()).status === status),
    };
  }
  const metric = async (s: RunningService, name: string) => {
    const { text } = await s.call('GET', '/metrics', { key: null });
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };

  test.each([
    ['ahead', AHEAD],
    ['back', NOW - 3 * DAY],
  ])('%s refuses writes and readiness, dates nothing, and is over once it is back', async (_name, moved) => {
    const { s, decide, ready, lines, until } = await watched();
    expect((await decide()).status).toBe(201);
    const head = 'select max(time_ms) as time_ms, sum(seq) as seq from ledger_heads';
    const { rows } = await s.sql(head);
    await s.setClock(moved);
    for (let i = 0; i < 2; i++) {
      const refused = await decide();
      expect([refused.status, refused.body.error.code]).toEqual([503, 'unavailable']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await until(503);
    expect((await ready()).body.error.message).toContain(new Date(moved).toISOString());
    expect(await metric(s, 'purser_clock_in_doubt')).toBe(1);
    expect(lines.filter((line) => line.includes('jumped'))).toHaveLength(1);
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({
      clock: new Date(moved).toISOString(),
      expected: expect.stringContaining('2026-11-23T12:00'),
    });
    await s.setClock(NOW);
    await until(200);
    expect((await s.sql(head)).rows).toEqual(rows);
    expect((await decide()).body.created_at).toContain('2026-11-23T12:00');
  });

  test('goes on by itself once it has kept its time for a minute', async () => {
    const { s, own, decide, ready, lines } = await watched();
    let moved = AHEAD;
    await s.setClock(moved);
    expect((await decide()).status).toBe(503);
    await until(async () => {
      own.elapsed_ms += 5_000;
      moved += 5_000;
      await s.setClock(moved);
      return (await ready()).status === 200;
    });
    expect(own.elapsed_ms).toBeGreaterThanOrEqual(60_000);
    expect((await decide()).body.created_at).toContain('2027-01-02');
    expect(lines.at(-1)).toContain('for a minute');
    // Then the clock goes back. The chain is ahead from then on, and the service reports it.
    moved = NOW;
    await s.setClock(moved);
    await until(async () => {
      own.elapsed_ms += 5_000;
      moved += 5_000;
      await s.setClock(moved);
      return (await decide()).status === 201;
    });
    expect((await decide()).body.created_at).toContain('2026-11-23');
    // The figure comes from readings of the database's clock, and the first answer may not have it yet.
    await until(async () => (await ready()).body.detail.clock_ahead_seconds > (39 * DAY) / 1_000);
    await until(async () => (await metric(s, 'purser_clock_ahead_seconds')) > (39 * DAY) / 1_000);
  });

  test('lets nobody in by a time that is wrong', async () => {
    const { s, until } = await watched();
    const ada = await setUp(s);
    const reads = async (browser: Browser) => (await browser.call('GET', '/v1/me')).status;
    const expiring = await makeKey(s, { scopes: ['read'], expires_in_seconds: 3_600 });
    const readsByKey = async () => (await s.call('GET', '/v1/workspace', { key: expiring.key })).status;
    expect([await reads(ada), await readsByKey()]).toEqual([200, 200]);
    // Its hour has passed.
    await s.sql('update api_keys set expires_at = $1 where key_id = $2', [
      new Date(NOW - 3_600_000).toISOString(),
      expiring.id,
    ]);
    expect(await readsByKey()).toBe(401);
    await s.setClock(NOW - 3 * DAY);
    expect(await readsByKey()).toBe(401);
    await until(503);
    const refused = await openBrowser(s).call('POST', '/v1/auth/sign-in', {
      body: { email: 'ada@example.com', password: PASSWORD },
    });
    expect(refusal(refused)).toEqual([503, 'unavailable']);
    expect((await ada.call('POST', '/v1/auth/sign-out')).status).toBe(204);
  });

  test('a session or a proof that was dated ahead is none once the clock is back', async () => {
    const s = await start({ stopped_at_ms: NOW });
    const ada = await setUp(s);
    const invite = () =>
      ada.call('POST', '/v1/invitations', { body: { email: `${freshKey()}@example.com`, role: 'viewer' } });
    expect((await invite()).status).toBe(201);
    await s.sql('update sessions set proved_at = $1', [new Date(AHEAD).toISOString()]);
    expect(refusal(await invite())).toEqual([403, 'reauthentication_required']);
    await s.sql('update sessions set created_at = $1, expires_at = $1', [new Date(AHEAD).toISOString()]);
    expect((await ada.call('GET', '/v1/me')).status).toBe(401);
  });

  test('goes on as soon as an operator confirms it', async () => {
    const { s, decide, until } = await watched();
    await s.sql("insert into installation (secret_check) values ('\\x00')");
    const core = makeTestCore(s.database.connection);
    try {
      await confirmClock(core.db);
      await s.setClock(AHEAD);
      expect((await decide()).status).toBe(503);
      await until(503);
      await confirmClock(core.db);
      await until(200);
      expect((await decide()).body.created_at).toContain('2027-01-02');
    } finally {
      await core.close();
    }
  });
});
