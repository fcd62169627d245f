import { describe, expect } from 'vitest';
import { makeApiRoutes } from '../../src/service/api/routes.ts';
import { readConfig } from '../../src/service/config/config.ts';
import type { Answer, Route } from '../../src/service/http/route.ts';
import { AUTHORITY, fieldOf, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';

const { test, s: service, makeAgent, ask: decide, keyWith } = serviceTest({ plan: 'enterprise' });

const newAgent = (authority: object | undefined, mode = 'SHADOW') => makeAgent(authority ?? null, { mode });
async function simulate(agent: string, draft: object, query = '') {
  const answer = await service.call('POST', `/v1/agents/${agent}/authority/simulate${query}`, {
    body: draft,
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

describe('a simulation', () => {
  test('a simulation replays decisions in order against the draft’s budgets and lists those that would have been another', async () => {
    const agent = await newAgent({ ...AUTHORITY, monthly_budget_minor: 10_000 });
    const made = [];
    for (const amount of [3_000, 3_000, 3_000, 3_000]) made.push(await decide(agent, amount));
    expect(made.map((each) => each.decision)).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'DENY']);
    const body = await simulate(agent, { ...AUTHORITY, monthly_budget_minor: 6_000 });
    expect(body).toMatchObject({
      saved: false,
      base_version: 1,
      evaluated: 4,
      skipped: [],
      current: { allow: 3, review: 0, deny: 1, authorized_minor: 9_000 },
      draft: { allow: 2, review: 0, deny: 2, authorized_minor: 6_000 },
      transitions: [{ from: 'ALLOW', to: 'DENY', count: 1, amount_minor: 3_000 }],
    });
    expect(body.changed).toEqual([
      {
        decision_id: made[2].decision_id,
        created_at: made[2].created_at,
        merchant: 'Hetzner Online',
        amount_minor: 3_000,
        current: { decision: 'ALLOW', reason_code: 'WITHIN_AUTHORITY' },
        draft: { decision: 'DENY', reason_code: 'MONTHLY_BUDGET_EXCEEDED', authorized_amount_minor: 0 },
        label: null,
        outcome_state: 'NONE',
      },
    ]);
    expect(body.by_reason).toEqual([
      { reason_code: 'WITHIN_AUTHORITY', current: 3, draft: 2 },
      { reason_code: 'MONTHLY_BUDGET_EXCEEDED', current: 1, draft: 2 },
    ]);
    const today = { allow: 3, review: 0, deny: 1 };
    expect(body.by_day).toEqual([
      { day: made[0].created_at.slice(0, 10), current: today, draft: { allow: 2, review: 0, deny: 2 } },
    ]);
    const wider = await simulate(agent, { ...AUTHORITY, monthly_budget_minor: 12_000 });
    expect(wider.transitions).toEqual([{ from: 'DENY', to: 'ALLOW', count: 1, amount_minor: 3_000 }]);
    const newest = await simulate(agent, { ...AUTHORITY, monthly_budget_minor: 6_000 }, '?limit=2');
    // The month was as full as the first of the two really found it.
    expect(newest).toMatchObject({ evaluated: 2, draft: { allow: 0, deny: 2 } });
  });

  test('every change in a simulation shows the label and the outcome of its decision', async () => {
    const agent = await newAgent(AUTHORITY);
    const [labelled, executed] = [await decide(agent, 500), await decide(agent, 600)];
    const reviewer = await keyWith('review');
    const say = async (id: string, what: string, body: object) =>
      (await service.call('POST', `/v1/decisions/${id}/${what}`, { key: reviewer, body })).body;
    const { label_id } = await say(labelled.decision_id, 'labels', { label: 'PURPOSE_ALIGNED' });
    await say(labelled.decision_id, 'labels', { label: 'PURPOSE_MISALIGNED', supersedes: label_id });
    const paid = { type: 'SPEND_EXECUTED', amount_minor: 600 };
    await service.call('POST', `/v1/decisions/${executed.decision_id}/outcomes`, { body: paid });
    const { changed } = await simulate(agent, { ...AUTHORITY, per_transaction_limit_minor: 100 });
    expect(changed).toMatchObject([
      { decision_id: executed.decision_id, label: null, outcome_state: 'EXECUTED' },
      { decision_id: labelled.decision_id, label: 'PURPOSE_MISALIGNED', outcome_state: 'NONE' },
    ]);
  });

  test('a simulation of a span of time begins with the budget as it was then', async () => {
    const agent = await newAgent({ ...AUTHORITY, monthly_budget_minor: 10_000 });
    const made = [];
    for (const amount of [1_000, 2_000, 3_000, 4_000]) made.push(await decide(agent, amount));
    const [, second, third] = made;
    const draft = { ...AUTHORITY, monthly_budget_minor: 5_000 };
    const span = (query: string) => simulate(agent, draft, `?${query}`);
    expect(await span(`from=${second.created_at}`)).toMatchObject({ evaluated: 3, current: { allow: 3 } });
    expect(await span(`to=${third.created_at}`)).toMatchObject({
      evaluated: 2,
      draft: { allow: 2, deny: 0 },
    });
    const both = await span(`from=${second.created_at}&to=${third.created_at}`);
    expect(both).toMatchObject({ evaluated: 1, current: { authorized_minor: 2_000 } });
    const newest = await span(`from=${second.created_at}&limit=1`);
    expect(newest).toMatchObject({ evaluated: 1, current: { authorized_minor: 4_000 }, draft: { deny: 1 } });
    expect(await span('from=2030-01-01')).toMatchObject({
      evaluated: 0,
      changed: [],
      by_reason: [],
      by_day: [],
    });
    for (const [query, field] of [
      ['limit=50001', 'limit'],
      ['from=soon', 'from'],
      ['to=', 'to'],
    ] as const) {
      const wrong = await service.call('POST', `/v1/agents/${agent}/authority/simulate?${query}`, {
        body: draft,
      });
      expect([wrong.status, fieldOf(wrong)]).toEqual([400, field]);
    }
    expect((await span('limit=50000')).evaluated).toBe(4);
  });

  test('a simulation adds and changes no row of any table', async () => {
    const agent = await newAgent(AUTHORITY);
    for (let i = 1; i <= 3; i++) await decide(agent, i * 100);
    // Until the workers have followed the chain to its end and signed it, they write rows of their own.
    await until(async () => {
      const { rowCount } = await service.sql(
        `select 1 from ledger_heads h where not (
           exists (select 1 from report_watermarks w where w.workspace_id = h.workspace_id and w.seq = h.seq)
           and exists (select 1 from feedback_watermarks w where w.workspace_id = h.workspace_id and w.seq = h.seq)
           and exists (select 1 from checkpoints c where c.workspace_id = h.workspace_id and c.seq = h.seq))`,
      );
      return rowCount === 0;
    });
    // When keys were used is noted at any moment, of a simulation's too, by a batch that moves the chain's clock.
    const shown = (table: string) =>
      table === 'ledger_heads'
        ? `(select workspace_id, seq, hash, has_webhooks, has_channels from ${table})`
        : table;
    const tables = (
      await service.sql(
        "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'api_key_uses' order by 1",
      )
    ).rows.map((row) => row.relname as string);
    const fingerprint = async () => {
      const found: Record<string, string> = {};
      for (const table of tables) {
        const { rows } = await service.sql(
          `select count(*)::text || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as mark from ${shown(table)} t`,
        );
        found[table] = rows[0].mark;
      }
      return found;
    };
    const before = await fingerprint();
    await simulate(agent, { ...AUTHORITY, per_transaction_limit_minor: 150 });
    expect(await fingerprint()).toEqual(before);
  });

  test('money of failed, denied and refunded spends is free again in a simulation too', async () => {
    const agent = await newAgent({ ...AUTHORITY, review_threshold_minor: 2_000 });
    const failed = await decide(agent, 1_000);
    const denied = await decide(agent, 3_000);
    const partly = await decide(agent, 1_000);
    const reviewer = await service.call('POST', '/v1/api-keys', {
      body: { name: 'r', scopes: ['review', 'read'], principal_id: 'user:r' },
    });
    const outcome = (id: string, body: object) =>
      service.call('POST', `/v1/decisions/${id}/outcomes`, { body });
    await outcome(failed.decision_id, { type: 'SPEND_FAILED' });
    await outcome(partly.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 800 });
    await service.call('POST', `/v1/decisions/${denied.decision_id}/reviews`, {
      key: reviewer.body.key,
      body: { action: 'DENY', reason_code: 'NO' },
    });
    await decide(agent, 1_000);
    const draft = { ...AUTHORITY, review_threshold_minor: 2_000 };
    // Together they held 5,000 for a moment; 800 and 1,000 are left of it in the end.
    const exactly = await simulate(agent, { ...draft, monthly_budget_minor: 5_000 });
    expect(exactly.draft).toEqual(exactly.current);
    const tighter = await simulate(agent, { ...draft, monthly_budget_minor: 4_999 });
    expect(tighter.changed.map((each: { decision_id: string }) => each.decision_id)).toEqual([
      partly.decision_id,
    ]);
  });

  test('a simulation skips decisions in another currency than the draft, and says so', async () => {
    const agent = await newAgent(AUTHORITY);
    await decide(agent, 100);
    await decide(agent, 100, { action: { currency: 'USD' } });
    const body = await simulate(agent, AUTHORITY);
    expect(body).toMatchObject({ evaluated: 1, skipped: [{ reason: 'CURRENCY_DIFFERS', count: 1 }] });
    const dollars = await simulate(agent, { ...AUTHORITY, currency: 'USD' });
    expect(dollars).toMatchObject({
      evaluated: 1,
      skipped: [{ reason: 'CURRENCY_DIFFERS', count: 1 }],
      transitions: [{ from: 'DENY', to: 'ALLOW', count: 1, amount_minor: 100 }],
    });
  });

  test('a simulation judges purpose anew only where the draft differs in what a judge of purpose reads', async () => {
    const agent = await newAgent(AUTHORITY);
    const made = await decide(agent, 100);
    // What was kept stands out, so that it can be seen whether it is used.
    await service.sql(
      `update decisions set document = replace(document, '"PURPOSE_ALIGNED"', '"PURPOSE_MISALIGNED"') where decision_id = $1`,
      [made.decision_id],
    );
    const limits = await simulate(agent, {
      ...AUTHORITY,
      per_transaction_limit_minor: 5_000,
      blocked_merchants: ['evil.example'],
    });
    expect(limits.changed[0].draft.reason_code).toBe('PURPOSE_MISALIGNED');
    const purpose = await simulate(agent, {
      ...AUTHORITY,
      purpose: { ...AUTHORITY.purpose, context: 'Staging runs in Europe.' },
    });
    expect(purpose.draft).toMatchObject({ allow: 1, review: 0 });
  });

  test('what people said is counted of all that would have been another, however few of them are shown', async () => {
    const agent = await newAgent(AUTHORITY);
    const made: { decision_id: string }[] = [];
    for (let i = 0; i < 105; i++) made.push(await decide(agent, 500 + i));
    const reviewer = await keyWith('review');
    // The first two are older than what the list of changes has place for; the last word on the second one counts.
    for (const [i, label] of [
      [0, 'PURPOSE_ALIGNED'],
      [1, 'PURPOSE_MISALIGNED'],
      [1, 'PURPOSE_ALIGNED'],
      [104, 'PURPOSE_MISALIGNED'],
    ] as const) {
      const path = `/v1/decisions/${made[i]?.decision_id}/labels`;
      expect((await service.call('POST', path, { key: reviewer, body: { label } })).status).toBe(201);
    }
    const { changed, by_label } = await simulate(agent, { ...AUTHORITY, per_transaction_limit_minor: 10 });
    expect(changed).toHaveLength(100);
    expect(by_label).toEqual([
      { label: 'PURPOSE_ALIGNED', from: 'ALLOW', to: 'DENY', count: 2 },
      { label: 'PURPOSE_MISALIGNED', from: 'ALLOW', to: 'DENY', count: 1 },
    ]);
  });

  test('a simulation shows at most the newest 100 changes, and sums beyond the safe integers as the largest of them', async () => {
    const agent = await newAgent(AUTHORITY);
    const largest = Number.MAX_SAFE_INTEGER;
    for (let i = 0; i < 105; i++) await decide(agent, largest);
    const draft = { ...AUTHORITY, per_transaction_limit_minor: 10 };
    const { body, text } = await service.call('POST', `/v1/agents/${agent}/authority/simulate`, {
      body: draft,
    });
    expect(body.changed).toHaveLength(100);
    const ids = body.changed.map((each: { decision_id: string }) => each.decision_id);
    expect(ids).toEqual([...ids].sort().reverse());
    const denied = await newAgent({ ...AUTHORITY, per_transaction_limit_minor: 1 });
    for (let i = 0; i < 3; i++) await decide(denied, largest);
    const { transitions } = await simulate(denied, {
      ...AUTHORITY,
      review_threshold_minor: 1,
      monthly_budget_minor: largest,
    });
    expect(transitions).toEqual([{ from: 'DENY', to: 'REVIEW', count: 1, amount_minor: largest }]);
    expect(text).not.toMatch(/\d{17,}/);
  });

  test('an agent that asked for nothing, or has no authority, is answered with nothing evaluated', async () => {
    const bare = await newAgent(undefined);
    expect(await simulate(bare, AUTHORITY)).toMatchObject({ base_version: null, evaluated: 0, changed: [] });
    await decide(bare, 100);
    expect(await simulate(bare, AUTHORITY)).toMatchObject({
      evaluated: 1,
      transitions: [{ from: 'DENY', to: 'ALLOW', count: 1 }],
    });
  });
});

describe('refusals', () => {
  test('400 names the field of a wrong draft or limit', async () => {
    const agent = await newAgent(AUTHORITY);
    const at = `/v1/agents/${agent}/authority/simulate`;
    for (const [path, body, field] of [
      [at, { currency: 'EUR' }, 'purpose'],
      [at, { ...AUTHORITY, montly_budget_minor: 1 }, 'montly_budget_minor'],
      [`${at}?limit=0`, AUTHORITY, 'limit'],
      [`${at}?limit=50001`, AUTHORITY, 'limit'],
    ] as const) {
      const answer = await service.call('POST', path, { body });
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toContain(field);
    }
  });
  test("404 for another workspace's agent, 403 without the scope admin", async () => {
    const agent = await newAgent(AUTHORITY);
    const other = await service.addWorkspace({ plan: 'team' });
    const path = `/v1/agents/${agent}/authority/simulate`;
    expect((await service.call('POST', path, { body: AUTHORITY, key: other.admin_key })).status).toBe(404);
    const reader = await service.call('POST', '/v1/api-keys', { body: { name: 'r', scopes: ['read'] } });
    expect((await service.call('POST', path, { body: AUTHORITY, key: reader.body.key })).status).toBe(403);
  });
});

describe('a database that fails while a simulation is under way', () => {
  test('a failing database fails that simulation alone, with no unhandled rejection of the page that was read ahead', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const core = makeTestCore(service.database.connection);
    try {
      const agent = await newAgent(AUTHORITY);
      for (let i = 0; i < 205; i++) await decide(agent, 100 + i);
      const query = core.db.query.bind(core.db) as (config: { name?: string }) => Promise<unknown>;
      let pages = 0;
      core.db.query = (async (config: { name?: string }) => {
        if (config.name?.startsWith('load_made_') && ++pages === 2) throw new Error('Connection terminated');
        return query(config);
      }) as typeof core.db.query;
      const routes = makeApiRoutes(core, readConfig({}));
      const route = routes.find(({ operationId }) => operationId === 'simulateAuthority') as Route;
      const simulated = (route.handler as unknown as (call: object) => Promise<Answer>)({
        caller: { workspace_id: service.workspace_id, key_id: 'key_1' },
        params: { id: agent },
        query: {},
        body: { ...AUTHORITY, per_transaction_limit_minor: 150 },
      });
      await expect(simulated).rejects.toThrow('Connection terminated');
      expect(pages).toBe(2);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
      await core.close();
    }
  });
});
