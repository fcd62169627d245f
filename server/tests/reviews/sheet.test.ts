import { describe, expect } from 'vitest';
import { makeKey } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, get, post, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });

/** A reviewer's key of its own principal. */
let ada: string;
test.beforeAll(async () => {
  ada = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
});

const PURPOSE = {
  objective: 'Keep the staging platform running: servers, storage, monitoring.',
  constraints: ['No gift cards.', 'No hardware.'],
  context: 'Regular suppliers: Hetzner Online.',
};
const enforced = (authority: object = {}) =>
  makeAgent(
    { purpose: PURPOSE, review_threshold_minor: 8_000, monthly_budget_minor: 100_000, ...authority },
    { mode: 'ENFORCE' },
  );
const sheetOf = (decision: { decision_id: string }, key = ada) =>
  get(`/v1/decisions/${decision.decision_id}/sheet`, key);

describe('GET /v1/decisions/:id/sheet', () => {
  test('shows the purpose that decided, the cause in fixed words, and the limits then and now', async () => {
    const slug = await enforced({
      velocity_limits: [{ name: 'day', window: 'DAY', limit_amount_minor: 50_000 }],
    });
    const decision = await ask(slug, 12_000);
    await ask(slug, 3_000);
    await s.call('PUT', `/v1/agents/${slug}/authority`, { body: {} });
    const sheet = await sheetOf(decision);
    expect(sheet).toMatchObject({
      decision_id: decision.decision_id,
      mode: 'ENFORCE',
      agent: decision.agent,
      merchant: decision.action.merchant,
      payee_id: null,
      amount_minor: 12_000,
      currency: 'EUR',
      requested_at: decision.created_at,
      expires_at: decision.reservation.expires_at,
      cause: {
        reason_code: 'REVIEW_THRESHOLD_EXCEEDED',
        sentence: 'EUR 120.00 is over the review threshold of EUR 80.00.',
      },
      purpose: { ...PURPOSE, success_criteria: [], assessment: 'PURPOSE_ALIGNED', fires: [] },
      listed: null,
      approval: { required: 1, given: 0, signed: false, may_allow: true, may_deny: true },
      reasons: { default_allow: 'AMOUNT_OK', default_deny: 'TOO_EXPENSIVE', bulk: true },
    });
    expect(sheet.url).toMatch(new RegExp(`^http://.*/console/decisions/${decision.decision_id}$`));
    expect(
      sheet.limits.map((limit: Record<string, unknown>) => [
        limit.kind,
        limit.limit_minor,
        limit.used_then_minor,
        limit.used_now_minor,
      ]),
    ).toEqual([
      ['review_threshold', 8_000, null, null],
      ['monthly_budget', 100_000, 12_000, 15_000],
      ['velocity', 50_000, 12_000, 15_000],
    ]);
  });

  test('counts what was decided about the merchant before, of the agent and of all', async () => {
    const slug = await enforced();
    const other = await enforced();
    const merchant = 'Hetzner Online GmbH & Co';
    const first = await ask(slug, 100, { action: { merchant } });
    await ask(other, 200, { action: { merchant } });
    const denied = await ask(slug, 9_000, { action: { merchant } });
    await post(
      `/v1/decisions/${denied.decision_id}/reviews`,
      { action: 'DENY', reason_code: 'NOT_NOW' },
      ada,
    );
    const sheet = await sheetOf(await ask(slug, 9_001, { action: { merchant } }));
    expect(sheet.merchant_past.with_agent).toMatchObject({
      decisions: 2,
      denied: 1,
      executed: 0,
      first_at: first.created_at,
      last_at: denied.created_at,
    });
    expect(sheet.merchant_past.in_workspace).toMatchObject({ decisions: 3, denied: 1 });
  });

  test('an agent key cannot read it, and neither can it read the inbox', async () => {
    const slug = await enforced();
    const decision = await ask(slug, 9_000);
    const { key } = await makeKey(s, { agent_id: slug });
    for (const path of [`/v1/decisions/${decision.decision_id}/sheet`, '/v1/inbox'])
      expect((await s.call('GET', path, { key })).status).toBe(403);
  });

  test('who requested the spend may not decide', async () => {
    const slug = await enforced();
    const scopes = ['authorize', 'review', 'read'];
    const asker = (await makeKey(s, { scopes, principal_id: 'user:asker' })).key;
    const decision = await ask(slug, 9_000, {}, asker);
    expect((await sheetOf(decision, asker)).approval).toMatchObject({ may_allow: false, may_deny: false });
    expect((await sheetOf(decision, await keyWith('read'))).approval).toMatchObject({ may_allow: false });
  });

  test('what the agent says is cut and cleaned, and its whole length is shown', async () => {
    const slug = await enforced();
    const description = `Server\u202e\u200b for\n\nstaging ${'\u{1f600}'.repeat(400)}`;
    const { claims } = await sheetOf(await ask(slug, 9_000, { action: { description } }));
    expect(claims.description.clamped).toBe(true);
    expect(claims.description.length).toBe([...description].length);
    expect([...claims.description.text]).toHaveLength(280);
    expect(claims.description.text).toMatch(/^Server for staging \u{1f600}+$/u);
    expect(claims.task).toBeNull();
  });
});
