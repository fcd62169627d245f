import { describe, expect } from 'vitest';
import { fieldOf, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { makeTeam, type Team, type TeamMember } from '../support/team.ts';

const BEGIN_MS = Date.UTC(2026, 10, 24, 8);
let now_ms = BEGIN_MS;
const { test, s } = serviceTest({ plan: 'enterprise', stopped_at_ms: BEGIN_MS });
let team: Team;
let bo: TeamMember;
let cy: TeamMember;
let di: TeamMember;
test.beforeAll(async () => {
  team = await makeTeam(s);
  bo = await team.join('bo');
  cy = await team.join('cy');
  di = await team.join('di');
});
const wait = (seconds: number) => {
  now_ms += seconds * 1_000;
  return s.setClock(now_ms);
};
const inSeconds = (seconds: number) => new Date(now_ms + seconds * 1_000).toISOString();
const away = (member: TeamMember, body: object) => member.browser.call('PUT', '/v1/me/away', { body });
const back = (member: TeamMember) => member.browser.call('DELETE', '/v1/me/away');
const tier = (more: object = {}) => ({
  currency: 'EUR',
  from_minor: 1_000,
  approvals: 1,
  approvers: ['user:bo'],
  ...more,
});
async function isIntact() {
  const { valid, breaks } = (await s.call('GET', '/v1/ledger/verify')).body;
  expect([valid, breaks]).toEqual([true, []]);
}

test('the approvers of an escalation count from its time on, and not before', async () => {
  await team.put({ tiers: [tier({ escalation: { after_seconds: 600, approvers: ['user:cy'] } })] });
  const made = await team.request(await team.agent(), 5_000);
  const { review_progress } = await team.get(made.decision_id);
  expect(Date.parse(review_progress.escalates_at) - Date.parse(made.created_at)).toBe(600_000);
  await wait(599);
  expect(refusal(await team.review(cy, made.decision_id))).toEqual([403, 'insufficient_scope']);
  await wait(2);
  expect((await team.review(cy, made.decision_id)).body.effective_decision).toBe('ALLOW');
});

describe('a limit of an approver', () => {
  test('refuses an ALLOW over it, and one in another currency; it refuses no DENY and nobody else', async () => {
    await team.put({ approver_limits: [{ approver: 'user:bo', currency: 'EUR', max_minor: 2_000 }] });
    const agent = await team.agent();
    const small = await team.request(agent, 2_000);
    const large = await team.request(agent, 2_001);
    expect((await team.review(bo, small.decision_id)).status).toBe(201);
    expect(refusal(await team.review(bo, large.decision_id))).toEqual([403, 'approval_limit_exceeded']);
    const of_bo = await team.keyOf(team.ada, { scopes: ['review', 'read'] });
    expect((await team.review(of_bo.key, large.decision_id)).status).toBe(201);
    const denied = await team.request(agent, 3_000);
    expect((await team.review(bo, denied.decision_id, 'DENY')).status).toBe(201);
    await team.put({ approver_limits: [{ approver: 'user:bo', currency: 'USD', max_minor: 9_000 }] });
    const other = await team.request(agent, 10);
    expect(refusal(await team.review(bo, other.decision_id))).toEqual([403, 'approval_limit_exceeded']);
  });

  test('is that of the policy in force when the decision was made', async () => {
    await team.put({});
    const before = await team.request(await team.agent(), 5_000);
    await team.put({ approver_limits: [{ approver: 'user:bo', currency: 'EUR', max_minor: 1 }] });
    expect((await team.review(bo, before.decision_id)).status).toBe(201);
  });
});

describe('a member who is away', () => {
  test('lends the place to the delegate, once, and until they are back', async () => {
    await team.put({ tiers: [tier({ approvals: 2, approvers: ['user:bo', 'user:cy'] })] });
    const agent = await team.agent();
    const [one, two] = [await team.request(agent, 5_000), await team.request(agent, 5_001)];
    expect(refusal(await team.review(di, one.decision_id))).toEqual([403, 'insufficient_scope']);
    const set = await away(bo, { until: inSeconds(3_600), delegate: 'user:di' });
    expect([set.status, set.body]).toEqual([200, { until: inSeconds(3_600), delegate: 'user:di' }]);
    expect((await bo.browser.call('GET', '/v1/me')).body.away).toEqual(set.body);
    const lent = await team.review(di, one.decision_id);
    expect([lent.status, lent.body.on_behalf_of, lent.body.principal_id]).toEqual([
      201,
      'user:bo',
      'user:di',
    ]);
    for (const again of [di, bo])
      expect(refusal(await team.review(again, one.decision_id))).toEqual([409, 'already_reviewed']);
    expect((await team.review(cy, one.decision_id)).body.effective_decision).toBe('ALLOW');
    expect((await back(bo)).status).toBe(204);
    expect((await back(bo)).status).toBe(204);
    expect((await bo.browser.call('GET', '/v1/me')).body.away).toBeNull();
    expect(refusal(await team.review(di, two.decision_id))).toEqual([403, 'insufficient_scope']);
    const audit = (await s.call('GET', '/v1/audit?limit=1')).body.data[0];
    expect(audit).toMatchObject({ action: 'member.away', target: { type: 'member', id: bo.user_id } });
    await isIntact();
  });

  test('lends it under the lower of both limits, and only until the end', async () => {
    await team.put({
      tiers: [tier()],
      approver_limits: [{ approver: 'user:bo', currency: 'EUR', max_minor: 3_000 }],
    });
    const agent = await team.agent();
    const [small, large] = [await team.request(agent, 3_000), await team.request(agent, 3_001)];
    const late = await team.request(agent, 2_999);
    await away(bo, { until: inSeconds(60), delegate: 'user:di' });
    expect(refusal(await team.review(di, large.decision_id))).toEqual([403, 'approval_limit_exceeded']);
    expect((await team.review(di, small.decision_id)).body.on_behalf_of).toBe('user:bo');
    await wait(60);
    expect(refusal(await team.review(di, late.decision_id))).toEqual([403, 'insufficient_scope']);
  });

  test('lends nothing that was lent to them, and nothing for their own requests', async () => {
    await team.put({ tiers: [tier()] });
    await away(bo, { until: inSeconds(600), delegate: 'user:cy' });
    await away(cy, { until: inSeconds(600), delegate: 'user:di' });
    const { slug, key } = await team.agent();
    const made = await team.request({ slug, key }, 5_000);
    expect(refusal(await team.review(di, made.decision_id))).toEqual([403, 'insufficient_scope']);
    await back(bo);
    await back(cy);
    const admin = await team.join('eve', 'admin');
    await team.put({ tiers: [tier({ approvers: ['user:eve'] })] });
    const own = await team.keyOf(admin, { agent_id: slug });
    const of_eve = await team.request({ slug, key: own.key }, 5_000);
    await away(admin, { until: inSeconds(600), delegate: 'user:di' });
    expect(refusal(await team.review(di, of_eve.decision_id))).toEqual([403, 'insufficient_scope']);
  });

  test.each<[string, () => object, string]>([
    ['a past end', () => ({ until: inSeconds(0), delegate: 'user:cy' }), 'until'],
    ['more than 60 days', () => ({ until: inSeconds(60 * 86_400 + 1), delegate: 'user:cy' }), 'until'],
    ['a stranger', () => ({ until: inSeconds(60), delegate: 'user:zed' }), 'delegate'],
    ['themselves', () => ({ until: inSeconds(60), delegate: 'user:bo' }), 'delegate'],
  ])('400 for %s', async (_name, body, field) => {
    const reply = await away(bo, body());
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
  });
});

test('review_ttl_seconds of the authority says when a request expires, from a minute to a week', async () => {
  const made = await team.request(await team.agent({ review_ttl_seconds: 60 }), 5_000);
  expect(Date.parse(made.reservation.expires_at) - Date.parse(made.created_at)).toBe(60_000);
  await team.put({ tiers: [tier({ approvals: 2, approvers: ['user:bo', 'user:cy'] })] });
  const partly = await team.request(await team.agent({ review_ttl_seconds: 60 }), 5_000);
  await team.review(bo, partly.decision_id);
  await wait(61);
  expect(refusal(await team.review(cy, partly.decision_id))).toEqual([409, 'review_final']);
  expect(await team.get(partly.decision_id)).toMatchObject({
    review_state: 'EXPIRED',
    capability: null,
    reservation: { status: 'EXPIRED' },
  });
  const { slug } = await team.agent();
  for (const review_ttl_seconds of [59, 604_801]) {
    const { authority } = (await s.call('GET', `/v1/agents/${slug}/authority`)).body;
    const body = { ...authority, review_ttl_seconds };
    const reply = await s.call('POST', `/v1/agents/${slug}/authority`, { body });
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'review_ttl_seconds']);
  }
});

test('two last approvals at once issue one capability', async () => {
  await team.put({ tiers: [tier({ approvals: 2, approvers: ['user:bo', 'user:cy', 'user:di'] })] });
  const agent = await team.agent({ monthly_budget_minor: 10_000_000 });
  for (let round = 0; round < 10; round++) {
    const made = await team.request(agent, 5_000 + round);
    await team.review(bo, made.decision_id);
    const replies = await Promise.all([cy, di].map((member) => team.review(member, made.decision_id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(replies.filter(({ body }) => body.capability !== undefined)).toHaveLength(1);
  }
  await isIntact();
});

test('a decision without its tier is reported by verification', async () => {
  await team.put({ tiers: [tier()] });
  const made = await team.request(await team.agent(), 5_000);
  const { version } = (await s.call('GET', '/v1/review-policy')).body;
  const policy = '{"tiers":[]}';
  const { rows } = await s.sql('select policy from review_policies where version = $1', [version]);
  await s.sql('update review_policies set policy = $1 where version = $2', [policy, version]);
  const { breaks } = (await s.call('GET', '/v1/ledger/verify')).body;
  expect(breaks.map(({ detail }: { detail: string }) => detail)).toContain(
    `Decision ${made.decision_id} does not have the tier of version ${version} of the review policy.`,
  );
  await s.sql('update review_policies set policy = $1 where version = $2', [rows[0].policy, version]);
  await isIntact();
  expect((await makeKey(s, { scopes: ['read'] })).id).toMatch(/^key_/);
});
