import { describe, expect } from 'vitest';
import { followNext } from '../../src/engine/followers/follow-chains.ts';
import { getWatermark } from '../../src/engine/followers/follower-rows.ts';
import { countCoverage } from '../../src/engine/matching/coverage-report.ts';
import { followLines } from '../../src/engine/matching/follow-lines.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeReportUnmatched } from '../../src/service/workers/report-unmatched.ts';
import { freshKey, makeKey, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';
import { makeSender } from './sender.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: lines and reports as the API answers them.
type Shown = any;

const { test, s, get, post, ask, walk, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });
const { importFile } = makeSender(s);
let core: Core;
test.beforeAll(() => {
  core = makeTestCore(s.database.connection);
});
test.afterAll(() => core.close());

/** Compares everything so far. */
async function compared(): Promise<void> {
  const { rows } = await s.sql('select seq from ledger_heads where workspace_id = $1', [s.workspace_id]);
  while ((await getWatermark(core.db, 'coverage', s.workspace_id)) < Number(rows[0].seq))
    await followNext(core.followers_db, followLines, s.workspace_id, {
      onSkip: ({ error }) => expect.fail(String(error)),
    });
}

const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
let feeds = 0;
const newFeed = () => `feed-${++feeds}`;
/** The lines of a file of an agent, in its order, once they were compared. */
async function paid(agent: string | undefined, rows: readonly object[], feed = newFeed()): Promise<Shown[]> {
  const { id } = await importFile({
    source: 'lines',
    content_type: 'application/x-ndjson',
    feed,
    ...(agent === undefined ? {} : { agent }),
    body: ndjson(rows),
  });
  await compared();
  return (await walk(`/v1/lines?import=${id}`, { limit: 200 })).reverse();
}
let references = 0;
/** A payment of now that fits what `ask` asks for. */
const line = (amount_minor: number, more: object = {}) => ({
  merchant: 'Hetzner Online',
  amount_minor,
  currency: 'EUR',
  occurred_at: new Date(Date.now() + 1_000).toISOString(),
  external_reference: `line-${++references}`,
  ...more,
});
const coverageOf = async (line_id: string) => (await get(`/v1/lines/${line_id}`)).coverage;
const settings = async (coverage: object, status = 200) => {
  const reply = await s.call('PATCH', '/v1/workspace', { body: { coverage } });
  expect(reply.status, reply.text).toBe(status);
  return reply.body;
};
const resolve = (line_id: string, body: object, key?: string) =>
  s.call('POST', `/v1/lines/${line_id}/resolutions`, { body, ...(key === undefined ? {} : { key }) });
const isValid = async () => {
  const found = await get('/v1/ledger/verify');
  expect(found.breaks).toEqual([]);
};

describe('a line', () => {
  test('is matched with the decision that asked for it; one that nobody asked for waits, and then is never asked', async () => {
    const agent = await makeAgent();
    const { decision_id } = await ask(agent, 1_000);
    const [asked, never, refund] = await paid(agent, [
      line(1_010),
      line(7_777),
      line(50, { kind: 'REFUND' }),
    ]);
    expect(asked.coverage).toEqual({ state: 'ASKED', rule: 'MERCHANT', decision_id, resolution_id: null });
    expect(never.coverage.state).toBe('WAITING');
    expect(refund.coverage).toBeNull();
    await settings({ grace_seconds: 0 });
    const [past] = await paid(agent, [line(7_778, { occurred_at: new Date(Date.now() - 10).toISOString() })]);
    expect(past.coverage).toEqual({
      state: 'NEVER_ASKED',
      rule: null,
      decision_id: null,
      resolution_id: null,
    });
    const listed = await walk(`/v1/lines?agent=${agent}&state=ASKED,NEVER_ASKED,WAITING`, { limit: 200 });
    expect(new Set(listed.map(({ line_id }) => line_id))).toEqual(
      new Set([asked.line_id, never.line_id, past.line_id]),
    );
    await isValid();
  });

  test('before its agent counts nowhere, and one of nobody is unassigned until its instrument is assigned', async () => {
    const agent = await makeAgent();
    const [before] = await paid(agent, [line(100, { occurred_at: '2026-01-01T00:00:00Z' })]);
    expect(before.coverage.state).toBe('HISTORY');
    const { decision_id } = await ask(agent, 2_000);
    const [of_nobody] = await paid(undefined, [line(2_000, { instrument: 'card:1' })]);
    expect(of_nobody.coverage.state).toBe('UNASSIGNED');
    await s.call('PUT', '/v1/instruments/card:1', { body: { agent } });
    await compared();
    expect(await coverageOf(of_nobody.line_id)).toMatchObject({ state: 'ASKED', decision_id });
    await s.call('PUT', '/v1/instruments/card:1', { body: { agent: null } });
    await compared();
    expect((await coverageOf(of_nobody.line_id)).state).toBe('UNASSIGNED');
    await isValid();
  });

  test('is REFUSED where a binding decision denied it, and ASKED once a person allowed it', async () => {
    const agent = await makeAgent(
      { per_transaction_limit_minor: 5_000, review_threshold_minor: 4_000 },
      { mode: 'ENFORCE' },
    );
    const denied = await ask(agent, 6_000);
    const pending = await ask(agent, 4_500);
    const [first, second] = await paid(agent, [line(6_000), line(4_500)]);
    expect(first.coverage).toMatchObject({ state: 'REFUSED', decision_id: denied.decision_id });
    expect(second.coverage).toMatchObject({ state: 'REFUSED', decision_id: pending.decision_id });
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:rev' })).key;
    await post(
      `/v1/decisions/${pending.decision_id}/reviews`,
      { action: 'ALLOW', reason_code: 'FINE' },
      reviewer,
    );
    await compared();
    expect((await coverageOf(second.line_id)).state).toBe('ASKED');
    await isValid();
  });

  test('follows what the rail says; the agent’s own reference matches nothing, and its word only lowers what is expected', async () => {
    const agent = await makeAgent();
    const rail = await keyWith('consume');
    const { decision_id } = await ask(agent, 3_000, { action: { merchant: 'Somewhere Else' } });
    const said = await ask(agent, 3_100, { action: { merchant: 'Another One' } });
    await post(`/v1/decisions/${said.decision_id}/outcomes`, {
      type: 'SPEND_EXECUTED',
      amount_minor: 3_100,
      external_reference: 'said-by-agent',
    });
    const [of_agent] = await paid(agent, [line(3_100, { external_reference: 'said-by-agent' })]);
    expect(of_agent.coverage.decision_id).toBeNull();
    const [of_rail] = await paid(agent, [line(9_000, { external_reference: 'said-by-rail' })]);
    expect(of_rail.coverage.decision_id).toBeNull();
    await post(
      `/v1/decisions/${decision_id}/outcomes`,
      {
        type: 'SPEND_EXECUTED',
        amount_minor: 3_000,
        external_reference: 'said-by-rail',
        source: 'PAYMENT_RAIL',
      },
      rail,
    );
    await compared();
    expect(await coverageOf(of_rail.line_id)).toMatchObject({ state: 'ASKED', rule: 'RAIL', decision_id });
    const cancelled = await ask(agent, 3_300);
    const [late] = await paid(agent, [line(3_300)]);
    expect(late.coverage.state).toBe('ASKED');
    await post(`/v1/decisions/${cancelled.decision_id}/outcomes`, { type: 'SPEND_CANCELLED' });
    await compared();
    expect((await coverageOf(late.line_id)).decision_id).toBeNull();
    await isValid();
  });

  test('is gone with its import, and gives its decision to the next', async () => {
    const agent = await makeAgent();
    const { decision_id } = await ask(agent, 1_500);
    const [first] = await paid(agent, [line(1_500)]);
    const [second] = await paid(agent, [
      line(1_500, { occurred_at: new Date(Date.now() + 2_000).toISOString() }),
    ]);
    expect([first.coverage.decision_id, second.coverage.decision_id]).toEqual([decision_id, null]);
    await s.call('DELETE', `/v1/imports/${first.import_id}`);
    await compared();
    expect((await coverageOf(second.line_id)).decision_id).toBe(decision_id);
    expect((await get('/v1/reports/coverage')).deleted_imports).toBe(1);
    await isValid();
  });
});

describe('a resolution', () => {
  test('holds before everything else, is append-only, and ends with INCLUDE', async () => {
    const agent = await makeAgent();
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:rev' })).key;
    const { decision_id } = await ask(agent, 1_200);
    const [one, other] = await paid(agent, [line(9_999), line(1_200)]);
    const matched = await resolve(one.line_id, { action: 'MATCH', decision_id, comment: 'A tip.' }, reviewer);
    expect(matched.status, matched.text).toBe(201);
    expect(matched.body).toMatchObject({ action: 'MATCH', decision_id, principal_id: 'user:rev' });
    await compared();
    expect(await coverageOf(one.line_id)).toEqual({
      state: 'ASKED',
      rule: null,
      decision_id,
      resolution_id: matched.body.resolution_id,
    });
    expect((await coverageOf(other.line_id)).decision_id).toBeNull();
    expect(
      (await resolve(other.line_id, { action: 'MATCH', decision_id }, reviewer)).body.error,
    ).toMatchObject({
      code: 'line_not_matchable',
      message: expect.stringContaining(one.line_id),
    });
    await resolve(one.line_id, { action: 'UNMATCH' }, reviewer);
    await resolve(other.line_id, { action: 'EXCLUDE' }, reviewer);
    await compared();
    expect((await coverageOf(one.line_id)).decision_id).toBeNull();
    expect(await coverageOf(other.line_id)).toMatchObject({ state: 'EXCLUDED', decision_id: null });
    await resolve(other.line_id, { action: 'INCLUDE' }, reviewer);
    await compared();
    expect(await coverageOf(other.line_id)).toMatchObject({ state: 'ASKED', decision_id });
    const said = (await get(`/v1/lines/${other.line_id}/resolutions`)).data;
    expect(said.map(({ action }: Shown) => action)).toEqual(['EXCLUDE', 'INCLUDE']);
    await isValid();
  });

  test('of refunds, of other agents’ decisions, by the requester or without a decision is refused', async () => {
    const [agent, another] = [await makeAgent(), await makeAgent()];
    const asker = await makeKey(s, { scopes: ['authorize', 'review'], principal_id: 'user:asker' });
    const own = await ask(agent, 1_300, {}, asker.key);
    const foreign = await ask(another, 1_300);
    const [spend, refund] = await paid(agent, [line(1_301), line(5, { kind: 'REFUND' })]);
    const reviewer = await keyWith('review');
    const refused = async (line_id: string, body: object, key = reviewer) => {
      const reply = await resolve(line_id, body, key);
      return [reply.status, reply.body.error.code];
    };
    const match = (decision_id: string) => ({ action: 'MATCH', decision_id });
    expect(await refused(refund.line_id, { action: 'EXCLUDE' })).toEqual([409, 'line_not_matchable']);
    expect(await refused(spend.line_id, match(foreign.decision_id))).toEqual([409, 'line_not_matchable']);
    expect(await refused(spend.line_id, match(own.decision_id), asker.key)).toEqual([
      403,
      'self_review_forbidden',
    ]);
    expect(await refused(spend.line_id, { action: 'MATCH' })).toEqual([400, 'invalid_request']);
    expect(await refused(spend.line_id, { ...match(own.decision_id), action: 'EXCLUDE' })).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await refused('lin_01KAJ5F0V8Z3M2Q9X7T4R6N1BD', { action: 'EXCLUDE' })).toEqual([
      404,
      'not_found',
    ]);
  });
});

test('settings change how lines are compared, within their bounds', async () => {
  const agent = await makeAgent();
  const { decision_id } = await ask(agent, 1_000);
  const [tenth] = await paid(agent, [line(1_100)]);
  expect(tenth.coverage.decision_id).toBeNull();
  expect((await settings({ tolerance_percent: 10 })).coverage).toMatchObject({
    window_days: 7,
    tolerance_percent: 10,
  });
  await compared();
  expect((await coverageOf(tenth.line_id)).decision_id).toBe(decision_id);
  await isValid();
  await settings({ tolerance_percent: 2 });
  await compared();
  expect((await coverageOf(tenth.line_id)).decision_id).toBeNull();
  await settings({ window_days: 0 }, 400);
  await settings({ window_days: 32 }, 400);
  await settings({ tolerance_percent: 21 }, 400);
  await settings({ tolerance_minor: -1 }, 400);
  await isValid();
});

test('the report adds up what was asked for, by currency, day, agent and feed, and names the largest that was not', async () => {
  const agent = await makeAgent();
  await ask(agent, 1_000);
  const feed = newFeed();
  // After the agent was made: what came before it is history.
  const at = new Date().toISOString();
  await settings({ grace_seconds: 0 });
  const rows = [
    line(1_000),
    line(3_000, { merchant: 'Casino', occurred_at: at }),
    line(500, { merchant: 'Kiosk', occurred_at: at }),
    line(200, { currency: 'USD', occurred_at: at }),
  ];
  const [, casino] = await paid(agent, rows, feed);
  await paid(undefined, [line(1)], feed);
  const report = await get(`/v1/reports/coverage?feed=${feed}`);
  const eur = {
    currency: 'EUR',
    asked: { lines: 1, amount_minor: 1_000 },
    late: { lines: 0, amount_minor: 0 },
    refused: { lines: 0, amount_minor: 0 },
    never_asked: { lines: 2, amount_minor: 3_500 },
    waiting: { lines: 0, amount_minor: 0 },
    excluded: { lines: 0, amount_minor: 0 },
    asked_share: 1_000 / 4_500,
    asked_share_lines: 1 / 3,
  };
  expect(report.totals.find(({ currency }: Shown) => currency === 'EUR')).toEqual(eur);
  expect(report.by_agent.map((each: Shown) => [each.agent.slug, each.currency])).toEqual([
    [agent, 'EUR'],
    [agent, 'USD'],
  ]);
  expect(report.by_feed[0]).toMatchObject({ ...eur, feed });
  expect(report.never_asked[0].line_id).toBe(casino.line_id);
  expect(report.unassigned).toBe(1);
  expect((await get(`/v1/reports/coverage?feed=${feed}&currency=USD`)).totals).toHaveLength(1);
  expect((await get(`/v1/reports/coverage?feed=${feed}&to=2020-01-01`)).totals).toEqual([]);
  const csv = await s.call('GET', `/v1/reports/coverage?feed=${feed}`, { headers: { accept: 'text/csv' } });
  expect(csv.text.split(/\r?\n/)[0]).toBe(
    'day,currency,asked_lines,asked_minor,late_lines,late_minor,refused_lines,refused_minor,never_asked_lines,never_asked_minor,waiting_lines,waiting_minor,excluded_lines,excluded_minor,asked_share,asked_share_lines',
  );
  expect(csv.text).toContain(',EUR,1,1000,0,0,0,0,2,3500,0,0,0,0,');
});

test('spend.unmatched is sent once for a line, after its grace, with the nearest decisions', async () => {
  const agent = await makeAgent();
  await settings({ grace_seconds: 0 });
  await s.call('POST', '/v1/webhooks', {
    body: { url: 'https://example.com/hook', events: ['spend.unmatched'] },
  });
  const asked = await ask(agent, 2_500, { action: { merchant: 'Casino' } });
  const at = new Date().toISOString();
  const [never] = await paid(agent, [line(2_500, { occurred_at: at })]);
  const round = makeReportUnmatched(core);
  await round();
  await round();
  const events = (await s.call('GET', '/v1/events?limit=200')).body.data.filter(
    ({ type }: Shown) => type === 'spend.unmatched',
  );
  const of_line = events.filter(({ data }: Shown) => data.line.line_id === never.line_id);
  expect(of_line).toHaveLength(1);
  expect(of_line[0].data).toMatchObject({
    state: 'NEVER_ASKED',
    nearest: [{ decision_id: asked.decision_id, why: 'It is for “Casino”.' }],
  });
  const { data } = await get('/v1/ledger/events?type=line.unmatched&limit=200');
  expect(data.map(({ id }: Shown) => id)).toContain(of_line[0].id);
  await isValid();
});

test('agents’ keys see and say nothing of it', async () => {
  const agent = await makeAgent();
  const { id } = await get(`/v1/agents/${agent}`);
  const { key } = await post('/v1/api-keys', { name: 'own', agent_id: id });
  const [one] = await paid(agent, [line(10)]);
  expect((await s.call('GET', '/v1/reports/coverage', { key })).status).toBe(403);
  expect((await s.call('GET', `/v1/lines/${one.line_id}/resolutions`, { key })).status).toBe(403);
  expect((await resolve(one.line_id, { action: 'EXCLUDE' }, key)).status).toBe(403);
  expect(freshKey()).not.toBe('');
});

/** The same lines and decisions in several orders of their arrival. */
test('the order in which files, decisions and reports arrive changes nothing', async () => {
  let seed = 11;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const now_ms = Date.now();
  const lines = Array.from({ length: 24 }, (_, i) => ({
    merchant: ['Hetzner Online', 'Acme'][i % 2],
    amount_minor: 1_000 + (i % 4) * 10,
    currency: 'EUR',
    occurred_at: new Date(now_ms + (10 + (i % 7)) * 1_000).toISOString(),
    external_reference: `r${i}`,
    ...(i % 6 === 0 ? { authorization: `a${i % 12}` } : {}),
  }));
  const results = new Set<string>();
  for (let order = 0; order < 4; order++) {
    const agent = await makeAgent();
    const feed = newFeed();
    const shuffled = lines
      .map((each) => ({ each, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ each }) => each);
    const decisions: string[] = [];
    const files = [shuffled.slice(0, 9), shuffled.slice(9, 15), shuffled.slice(15)];
    // In one order all decisions come before the files, in one after the first file.
    const ask_at = order % 3;
    for (const [i, file] of files.entries()) {
      if (i === ask_at)
        for (let n = 0; n < 8; n++)
          decisions.push(
            (
              await ask(agent, 1_000 + (n % 3) * 10, {
                action: { merchant: ['Hetzner Online', 'Acme'][n % 2] },
              })
            ).decision_id,
          );
      await paid(agent, file, feed);
    }
    await compared();
    const found = await walk(`/v1/lines?feed=${feed}`, { limit: 200 });
    const rows = found.map(({ external_reference, coverage }: Shown) => [
      external_reference,
      coverage.state,
      coverage.rule,
      decisions.indexOf(coverage.decision_id),
    ]);
    results.add(
      JSON.stringify(rows.sort((a: string[], b: string[]) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1))),
    );
  }
  expect(results.size).toBe(1);
  await isValid();
});

test('the metric counts the lines of each state', async () => {
  await makeAgent({}, { slug: 'counted' });
  await ask('counted', 4_200);
  await paid('counted', [line(4_200), line(9_900)]);
  await compared();
  const states = (await walk('/v1/lines', { limit: 200 })).map(({ coverage }: Shown) => coverage?.state);
  const counted = await countCoverage(core.db);
  expect(counted.length).toBeGreaterThan(2);
  for (const { state, lines } of counted)
    expect([state, Number(lines)]).toEqual([state, states.filter((each: string) => each === state).length]);
});
