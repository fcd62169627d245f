import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { naiveReport, type SeenDecision } from '../support/naive-report.ts';
import { AUTHORITY, type RunningService, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const { test, s: service, post, ask } = serviceTest({ plan: 'enterprise' });
let second: RunningService;

test.beforeAll(async () => {
  second = await startTestService({ beside: service });
});
test.afterAll(() => second.stop());

interface Tenant {
  workspace_id: string;
  admin_key: string;
  reviewer: string;
  rail: string;
}

async function newTenant(plan: 'free' | 'team' | 'enterprise' = 'enterprise'): Promise<Tenant> {
  const { workspace_id, admin_key } = await service.addWorkspace({ plan });
  const key = async (scopes: string[]) =>
    (await service.call('POST', '/v1/api-keys', { key: admin_key, body: { name: 'k', scopes } })).body.key;
  return { workspace_id, admin_key, reviewer: await key(['review', 'read']), rail: await key(['consume']) };
}

const newAgent = (tenant: Tenant, slug: string, authority?: object, mode = 'SHADOW') =>
  post('/v1/agents', { slug, mode, ...(authority && { authority }) }, tenant.admin_key);
const decide = (tenant: Tenant, agent: string, amount: number, extra: Record<string, unknown> = {}) =>
  ask(agent, amount, extra, tenant.admin_key);

const outcome = (tenant: Tenant, id: string, body: object) =>
  service.call('POST', `/v1/decisions/${id}/outcomes`, { key: tenant.admin_key, body });
const review = (tenant: Tenant, id: string, body: object) =>
  service.call('POST', `/v1/decisions/${id}/reviews`, {
    key: tenant.reviewer,
    body: { reason_code: 'X', ...body },
  });
const label = (tenant: Tenant, id: string, name: string) =>
  service.call('POST', `/v1/decisions/${id}/labels`, { key: tenant.reviewer, body: { label: name } });

async function report(tenant: Tenant, query = '', node = service) {
  const answer = await node.call('GET', `/v1/reports/shadow${query}`, { key: tenant.admin_key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Waits until the workers have added everything up. */
async function untilAddedUp(tenant: Tenant): Promise<void> {
  for (;;) {
    const { rows } = await service.sql(
      `select 1 from ledger_heads h join report_watermarks w on w.workspace_id = h.workspace_id and w.seq = h.seq
      where h.workspace_id = $1`,
      [tenant.workspace_id],
    );
    if (rows.length > 0) return;
    await new Promise((wait) => setTimeout(wait, 50));
  }
}

/** Everything that the other routes say of all decisions. */
async function seenOverHttp(tenant: Tenant): Promise<SeenDecision[]> {
  const seen: SeenDecision[] = [];
  let cursor: string | null = null;
  do {
    const path: string = `/v1/decisions?limit=200${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const { body } = await service.call('GET', path, { key: tenant.admin_key });
    for (const each of body.data) {
      const stopped = each.decision !== 'ALLOW' && each.outcome_state !== 'NONE';
      const outcomes = stopped
        ? (await service.call('GET', `/v1/decisions/${each.decision_id}/outcomes`, { key: tenant.admin_key }))
            .body.data
        : [];
      const executed = (source: string) =>
        // Newest first: the rail may have raised the amount.
        outcomes.find(
          (one: { type: string; source: string }) => one.type === 'SPEND_EXECUTED' && one.source === source,
        )?.amount_minor;
      const { rows } = await service.sql('select min(created_at) as at from reviews where decision_id = $1', [
        each.decision_id,
      ]);
      seen.push({
        ...each,
        agent_id: each.agent.id,
        merchant: each.action.merchant,
        amount_minor: each.requested_amount_minor,
        assessment: each.purpose.assessment,
        first_review_at: rows[0].at === null ? null : rows[0].at.toISOString(),
        label: each.label?.label ?? null,
        executed_minor: executed('PAYMENT_RAIL') ?? executed('CLIENT_REPORTED') ?? 0,
      });
    }
    cursor = body.next_cursor;
  } while (cursor !== null);
  return seen;
}

// biome-ignore lint/suspicious/noExplicitAny: the report's own shape is checked against its route.
function sumsOf(body: any) {
  const { totals, by_reason, by_agent, by_merchant, by_day, labels, reviews, outcomes, enforced } = body;
  return {
    totals,
    by_reason: by_reason.map(({ examples, ...rest }: { examples: { decision_id: string }[] }) => ({
      ...rest,
      example_ids: examples.map((each) => each.decision_id),
    })),
    by_agent: by_agent.map(
      ({
        agent,
        mode,
        status,
        authority_version,
        ...rest
      }: { agent: { id: string } } & Record<string, unknown>) => ({
        agent_id: agent.id,
        ...rest,
      }),
    ),
    by_merchant,
    by_day,
    labels,
    reviews,
    outcomes,
    enforced,
  };
}

describe('the shadow report', () => {
  test('the report says what would have been done, what people said of it, and what was spent all the same', async () => {
    const tenant = await newTenant();
    const agent = await newAgent(tenant, 'shopper', {
      ...AUTHORITY,
      per_transaction_limit_minor: 5_000,
      review_threshold_minor: 2_000,
    });
    const allowed = await decide(tenant, 'shopper', 1_000);
    const asked = await decide(tenant, 'shopper', 3_000, { action: { merchant: 'Netcup' } });
    const denied = await decide(tenant, 'shopper', 9_000);
    await outcome(tenant, denied.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 8_500 });
    await outcome(tenant, denied.decision_id, { type: 'PARTIALLY_REFUNDED', amount_minor: 500 });
    await outcome(tenant, allowed.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 1_000 });
    await outcome(tenant, asked.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 2_900 });
    await label(tenant, allowed.decision_id, 'PURPOSE_ALIGNED');

    const body = await report(tenant);
    expect(body.totals).toEqual({
      count: 3,
      allow: 1,
      review: 1,
      deny: 1,
      by_currency: [
        {
          currency: 'EUR',
          count: 3,
          amount_minor: 13_000,
          allow: { count: 1, amount_minor: 1_000 },
          review: { count: 1, amount_minor: 3_000 },
          deny: { count: 1, amount_minor: 9_000 },
        },
      ],
    });
    const limit = body.by_reason.find(
      (each: { reason_code: string }) => each.reason_code === 'PER_TRANSACTION_LIMIT_EXCEEDED',
    );
    expect(limit).toMatchObject({ count: 1, first_count: 1 });
    expect(limit.examples).toEqual([
      {
        decision_id: denied.decision_id,
        agent: { id: agent.id, slug: 'shopper' },
        decision: 'DENY',
        merchant: 'Hetzner Online',
        amount_minor: 9_000,
        currency: 'EUR',
        created_at: denied.created_at,
      },
    ]);
    expect(body.by_agent).toMatchObject([{ agent: { slug: 'shopper' }, mode: 'SHADOW', count: 3 }]);
    expect(body.labels).toMatchObject({ labeled: 1, coverage: 0.3333, precision: null, recall: null });
    expect(body.reviews).toEqual({
      count: 1,
      by_key_maker: 0,
      pending: 1,
      allowed: 0,
      denied: 0,
      median_seconds: null,
    });
    expect(body.outcomes.executed_although_stopped).toEqual({
      count: 2,
      amounts: [{ currency: 'EUR', count: 2, amount_minor: 11_400 }],
      by_stop: [
        { stop: 'DENY', currency: 'EUR', count: 1, amount_minor: 8_500 },
        { stop: 'REVIEW_PENDING', currency: 'EUR', count: 1, amount_minor: 2_900 },
      ],
      by_state: [
        { outcome_state: 'EXECUTED', currency: 'EUR', count: 1, amount_minor: 2_900 },
        { outcome_state: 'PARTIALLY_REFUNDED', currency: 'EUR', count: 1, amount_minor: 8_500 },
      ],
    });
    // A review that allows it later takes it off what was stopped; one that corrects that puts it back.
    const first = await review(tenant, asked.decision_id, { action: 'ALLOW' });
    expect((await report(tenant)).outcomes.executed_although_stopped.count).toBe(1);
    await review(tenant, asked.decision_id, { action: 'DENY', supersedes: first.body.review_id });
    const corrected = await report(tenant);
    expect(corrected.reviews).toMatchObject({ pending: 0, allowed: 0, denied: 1 });
    expect(corrected.outcomes.executed_although_stopped.by_stop[1]).toMatchObject({ stop: 'REVIEW_DENIED' });
  });

  test('the report agrees with the other routes on every node, before and after decisions are added up', async () => {
    const step = fc.record({
      what: fc.constantFrom(
        'spend',
        'spend',
        'spend',
        'executed',
        'failed',
        'refund',
        'deny',
        'allow',
        'label',
      ),
      agent: fc.constantFrom('a', 'b', 'enforced'),
      amount: fc.integer({ min: 1, max: 6_000 }),
      which: fc.nat(2),
      pick: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 60 }), async (steps) => {
        const tenant = await newTenant();
        const authority = { ...AUTHORITY, per_transaction_limit_minor: 4_000, review_threshold_minor: 2_000 };
        const a = await newAgent(tenant, 'a', authority);
        await newAgent(tenant, 'b');
        await newAgent(tenant, 'enforced', authority, 'ENFORCE');
        // biome-ignore lint/suspicious/noExplicitAny: decisions of every state.
        const made: any[] = [];
        for (const { what, agent, amount, which, pick } of steps) {
          const one = made[pick % Math.max(1, made.length)];
          if (what === 'spend' || one === undefined) {
            const action = {
              merchant: ['Hetzner Online', 'Wine & Cheese', 'OVH'][which],
              currency: pick % 4 === 0 ? 'USD' : 'EUR',
            };
            made.push(await decide(tenant, agent, amount, { action }));
          } else if (what === 'label') {
            const names = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'];
            await label(tenant, one.decision_id, names[which] as string);
          } else if (what === 'deny' || what === 'allow') {
            const supersedes = one.review_id === undefined ? {} : { supersedes: one.review_id };
            const answer = await review(tenant, one.decision_id, {
              action: what.toUpperCase(),
              ...supersedes,
            });
            if (answer.status === 201) one.review_id = answer.body.review_id;
          } else {
            const type = { executed: 'SPEND_EXECUTED', failed: 'SPEND_FAILED', refund: 'PARTIALLY_REFUNDED' }[
              what
            ];
            const by_rail = pick % 3 === 0;
            await service.call('POST', `/v1/decisions/${one.decision_id}/outcomes`, {
              key: by_rail ? tenant.rail : tenant.admin_key,
              body: { type, amount_minor: amount, ...(by_rail && { source: 'PAYMENT_RAIL' }) },
            });
          }
        }
        const seen = await seenOverHttp(tenant);
        expect(seen).toHaveLength(made.length);
        const all = await report(tenant);
        const period = { from: all.from, to: all.to };
        const middle = made[Math.floor(made.length / 2)].created_at;
        const check = async (node: RunningService) => {
          expect(sumsOf(await report(tenant, '', node))).toEqual(
            naiveReport(seen, { ...period, agent_id: null }),
          );
          expect(sumsOf(await report(tenant, '?agent=a', node))).toEqual(
            naiveReport(seen, { ...period, agent_id: a.id }),
          );
          expect(sumsOf(await report(tenant, `?to=${middle}`, node))).toEqual(
            naiveReport(seen, { from: period.from, to: middle, agent_id: null }),
          );
        };
        await check(service);
        await untilAddedUp(tenant);
        await check(second);
      }),
      { numRuns: 3, seed: 3, endOnFailure: true },
    );
  });

  test('the report covers the last 30 UTC days where no period is named, and whole days where dates are', async () => {
    const tenant = await newTenant();
    const body = await report(tenant);
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(30 * 86_400_000);
    expect(body.to).toMatch(/T00:00:00\.000Z$/);
    expect(Date.parse(body.to)).toBeGreaterThan(Date.parse(body.generated_at));
    const named = await report(tenant, '?from=2026-02-01&to=2026-02-28');
    expect(named).toMatchObject({ from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' });
    const since = await report(tenant, `?from=${body.from.slice(0, 10)}`);
    expect(since).toMatchObject({ from: body.from, to: body.to });
    const until = await report(tenant, '?to=2026-02-10T12:00:00Z');
    expect(until).toMatchObject({ from: '2026-01-12T00:00:00.000Z', to: '2026-02-10T12:00:00.000Z' });
  });

  test('a sum beyond the safe integers is cut at the largest of them, and says so', async () => {
    const tenant = await newTenant();
    await newAgent(tenant, 'big', { ...AUTHORITY, per_transaction_limit_minor: 1 });
    for (let i = 0; i < 3; i++) await decide(tenant, 'big', Number.MAX_SAFE_INTEGER);
    expect((await report(tenant)).totals.by_currency[0].deny).toEqual({
      count: 3,
      amount_minor: Number.MAX_SAFE_INTEGER,
      amount_cut: true,
    });
    await untilAddedUp(tenant);
    const cut = { amount_minor: Number.MAX_SAFE_INTEGER, amount_cut: true };
    const whole = await report(tenant);
    expect(whole.totals.by_currency[0]).toMatchObject({
      ...cut,
      deny: cut,
      allow: { count: 0, amount_minor: 0 },
    });
    for (const list of ['by_reason', 'by_agent', 'by_merchant', 'by_day'])
      expect(whole[list][0].amounts).toMatchObject([cut]);
    // The largest amount by itself is no sum that was cut.
    await newAgent(tenant, 'one', { ...AUTHORITY, per_transaction_limit_minor: 1 });
    await decide(tenant, 'one', Number.MAX_SAFE_INTEGER);
    const [amount] = (await report(tenant, '?agent=one')).totals.by_currency;
    expect(amount.amount_minor).toBe(Number.MAX_SAFE_INTEGER);
    expect(amount).not.toHaveProperty('amount_cut');
  });
});

describe('readiness', () => {
  // biome-ignore lint/suspicious/noExplicitAny: of a report.
  const codes = (body: any) => body.readiness.blockers.map((each: { code: string }) => each.code);

  test('readiness names what speaks against ENFORCE, with what was found and the bound', async () => {
    const tenant = await newTenant('free');
    await newAgent(tenant, 'bare');
    expect(codes(await report(tenant))).toEqual(['PLAN_CANNOT_ENFORCE', 'NO_DECISIONS']);
    const denied = await decide(tenant, 'bare', 100);
    await outcome(tenant, denied.decision_id, { type: 'SPEND_EXECUTED', amount_minor: 100 });
    const body = await report(tenant);
    expect(body.readiness.ready).toBe(false);
    expect(codes(body)).toEqual([
      'PLAN_CANNOT_ENFORCE',
      'TOO_FEW_DAYS',
      'TOO_FEW_DECISIONS',
      'AGENT_WITHOUT_AUTHORITY',
      'TOO_FEW_LABELS',
      'EXECUTED_ALTHOUGH_DENIED',
    ]);
    expect(body.readiness.blockers[3]).toMatchObject({ observed: 1, bound: 0, agents: ['bare'] });
    expect(body.readiness.blockers[5]).toMatchObject({ observed: 1, bound: 0.01 });
  });
});

describe('refusals', () => {
  test('400 names the field of a wrong period', async () => {
    const tenant = await newTenant();
    for (const [query, field] of [
      ['?from=2026-02-10&to=2026-02-01', 'to'],
      ['?from=2999-01-01', 'from'],
      ['?from=2024-01-01&to=2026-01-01', 'from'],
      ['?from=yesterday', 'from'],
      ['?agents=a', 'agents'],
    ] as const) {
      const answer = await service.call('GET', `/v1/reports/shadow${query}`, { key: tenant.admin_key });
      expect(answer.status, query).toBe(400);
      expect(answer.body.error.message).toMatch(new RegExp(`^${field}`));
    }
  });

  test("403 for an agent's key, 404 for another workspace's agent, and not a byte of another workspace", async () => {
    const tenant = await newTenant();
    const other = await newTenant();
    const agent = await newAgent(tenant, 'secret-agent', AUTHORITY);
    await decide(tenant, 'secret-agent', 100);
    const key = await service.call('POST', '/v1/api-keys', {
      key: tenant.admin_key,
      body: { name: 'a', agent_id: agent.id },
    });
    expect((await service.call('GET', '/v1/reports/shadow', { key: key.body.key })).status).toBe(403);
    for (const ref of [agent.id, 'secret-agent', 'nobody']) {
      const path = `/v1/reports/shadow?agent=${ref}`;
      expect((await service.call('GET', path, { key: other.admin_key })).status).toBe(404);
    }
    const empty = await service.call('GET', '/v1/reports/shadow', { key: other.admin_key });
    expect(empty.body.totals.count).toBe(0);
    expect(empty.text).not.toContain('secret-agent');
  });
});
