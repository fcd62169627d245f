import { describe, expect } from 'vitest';
import { fieldOf, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { makeTeam, type Team, type TeamMember } from '../support/team.ts';

const { test, s } = serviceTest({ plan: 'enterprise' });
let team: Team;
let bo: TeamMember;
let cy: TeamMember;
let ada: string;
test.beforeAll(async () => {
  team = await makeTeam(s);
  ada = team.ada.principal_id;
  bo = await team.join('bo');
  cy = await team.join('cy');
  await team.join('vic', 'viewer');
});

const policy = () => s.call('GET', '/v1/review-policy');
const tier = (more: object = {}) => ({ currency: 'EUR', from_minor: 1_000, approvals: 2, ...more });

test('until a policy is put, it is version 0 and empty', async () => {
  const tenant = await s.addWorkspace({ plan: 'team' });
  const { status, body } = await s.call('GET', '/v1/review-policy', { key: tenant.admin_key });
  expect([status, body]).toEqual([
    200,
    {
      version: 0,
      hash: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
      policy: {},
      created_at: null,
      created_by: null,
      note: null,
    },
  ]);
});

describe('PUT /v1/review-policy', () => {
  test('adds a version, with its author and note, which is sealed; earlier ones stay', async () => {
    const before = (await policy()).body;
    const given = { groups: { finance: ['user:bo', 'user:cy'] }, tiers: [tier({ approvers: ['finance'] })] };
    const put = await team.put(given, { note: 'Two for large spends.' });
    expect(put.status, put.text).toBe(200);
    expect(put.body).toMatchObject({
      version: before.version + 1,
      policy: given,
      created_by: { key_id: null, principal_id: ada },
      note: 'Two for large spends.',
    });
    expect((await policy()).body).toEqual(put.body);
    expect((await s.call('GET', `/v1/review-policy?version=${before.version}`)).body).toEqual(before);
    expect(refusal(await s.call('GET', '/v1/review-policy?version=999'))).toEqual([404, 'not_found']);
    const { data } = (await s.call('GET', '/v1/review-policy/versions?limit=1')).body;
    expect(data).toEqual([put.body]);
    const audit = (await s.call('GET', '/v1/audit?limit=1')).body.data[0];
    expect(audit).toMatchObject({
      action: 'review_policy.updated',
      target: { type: 'review_policy' },
      changes: { version: { from: before.version, to: before.version + 1 } },
    });
    const { valid, breaks } = (await s.call('GET', '/v1/ledger/verify')).body;
    expect([valid, breaks]).toEqual([true, []]);
  });

  test('succeeds only for the version that if-match names', async () => {
    const { hash, version } = (await policy()).body;
    const other = `sha256:${'0'.repeat(64)}`;
    expect(refusal(await team.put({}, { hash: other }))).toEqual([409, 'review_policy_changed']);
    expect((await policy()).body.version).toBe(version);
    const put = await team.put({ remind_before_seconds: 60 }, { hash });
    expect(put.body.version).toBe(version + 1);
    expect(refusal(await team.put({}, { hash }))).toEqual([409, 'review_policy_changed']);
  });

  test('needs admin, and reading needs read; an agent key gets 403', async () => {
    const reader = await makeKey(s, { scopes: ['read'] });
    const { key } = await team.agent();
    expect(refusal(await bo.browser.call('PUT', '/v1/review-policy', { body: { policy: {} } }))).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect(refusal(await s.call('GET', '/v1/review-policy', { key }))).toEqual([403, 'insufficient_scope']);
    expect((await s.call('GET', '/v1/review-policy', { key: reader.key })).status).toBe(200);
  });

  test.each<[string, object, string]>([
    ['an unknown field', { reviewers: [] }, 'reviewers'],
    ['6 approvals', { tiers: [tier({ approvals: 6 })] }, 'tiers[0].approvals'],
    ['no approvals', { tiers: [tier({ approvals: 0 })] }, 'tiers[0].approvals'],
    ['an unknown currency', { tiers: [tier({ currency: 'XXL' })] }, 'tiers[0].currency'],
    ['a negative amount', { tiers: [tier({ from_minor: -1 })] }, 'tiers[0].from_minor'],
    ['an unknown group', { tiers: [tier({ approvers: ['legal'] })] }, 'tiers[0].approvers[0]'],
    ['no approvers', { tiers: [tier({ approvers: [] })] }, 'tiers[0].approvers'],
    ['a name twice', { tiers: [tier({ approvers: ['user:bo', 'user:bo'] })] }, 'tiers[0].approvers[1]'],
    ['a tier twice', { tiers: [tier(), tier()] }, 'tiers[1].from_minor'],
    [
      'too few approvers',
      { tiers: [tier({ from_minor: 1 }), tier({ approvers: ['user:bo'] })] },
      'tiers[1].approvals',
    ],
    ['a group with nobody', { groups: { finance: [] } }, 'groups.finance'],
    ['a group that names a member twice', { groups: { a: ['user:bo', 'user:bo'] } }, 'groups.a[1]'],
    [
      'an escalation after no time',
      { tiers: [tier({ escalation: { after_seconds: 0, approvers: ['user:bo'] } })] },
      'tiers[0].escalation.after_seconds',
    ],
    [
      'a limit twice',
      {
        approver_limits: [
          { approver: 'user:bo', currency: 'EUR', max_minor: 1 },
          { approver: 'user:bo', currency: 'EUR', max_minor: 2 },
        ],
      },
      'approver_limits[1].currency',
    ],
    ['a reminder after 8 days', { remind_before_seconds: 604_801 }, 'remind_before_seconds'],
    ['21 groups', { groups: groups(21, 1) }, 'groups'],
    ['a group of 51', { groups: groups(1, 51) }, 'groups.g0'],
    ['31 tiers', { tiers: Array.from({ length: 31 }, (_, i) => tier({ from_minor: i })) }, 'tiers'],
  ])('400 for %s names the field', async (_name, given, field) => {
    const { version } = (await policy()).body;
    const reply = await team.put(given);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
    expect((await policy()).body.version).toBe(version);
  });

  test.each<[string, object, string]>([
    ['a stranger in a group', { groups: { finance: ['user:bo', 'user:zed'] } }, 'groups.finance[1]'],
    [
      'a stranger as approver',
      { tiers: [tier({ approvers: ['user:bo', 'user:zed'] })] },
      'tiers[0].approvers[1]',
    ],
    [
      'a viewer as approver',
      { tiers: [tier({ approvers: ['user:bo', 'user:vic'] })] },
      'tiers[0].approvers[1]',
    ],
    [
      'a stranger in an escalation',
      { tiers: [tier({ escalation: { after_seconds: 60, approvers: ['user:zed'] } })] },
      'tiers[0].escalation.approvers[0]',
    ],
    [
      'a stranger with a limit',
      { approver_limits: [{ approver: 'user:zed', currency: 'EUR', max_minor: 1 }] },
      'approver_limits[0].approver',
    ],
    ['signatures without signing keys', { tiers: [tier({ signed: true })] }, 'tiers[0].signed'],
  ])('400 for %s names the field too', async (_name, given, field) => {
    const reply = await team.put(given);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
  });

  test('a key that may review can be an approver, and counts as the person who made it', async () => {
    await team.keyOf(team.ada, { scopes: ['review', 'read'], principal_id: 'user:robot' });
    const approvers = ['user:robot', 'user:bo'];
    expect((await team.put({ tiers: [tier({ approvers })] })).status).toBe(200);
    const same = await team.put({ tiers: [tier({ approvers: ['user:robot', ada] })] });
    expect([...refusal(same), fieldOf(same)]).toEqual([400, 'invalid_request', 'tiers[0].approvals']);
  });
});

describe('the tier of a REVIEW in ENFORCE', () => {
  test('is its currency’s highest one that begins at or below the held amount, with its groups resolved', async () => {
    await team.put({
      groups: { finance: ['user:bo', 'user:cy'] },
      tiers: [
        tier({ from_minor: 2_000, approvers: ['finance', ada], approvals: 2 }),
        tier({ from_minor: 500, approvals: 1 }),
        tier({ currency: 'USD', from_minor: 0, approvals: 3 }),
      ],
    });
    const agent = await team.agent();
    const { version } = (await policy()).body;
    const tiers = [];
    for (const amount of [499, 500, 1_999, 2_000])
      tiers.push((await team.request(agent, amount)).review_tier ?? null);
    expect(tiers).toEqual([
      null,
      { from_minor: 500, approvals: 1 },
      { from_minor: 500, approvals: 1 },
      { from_minor: 2_000, approvals: 2, approvers: ['user:bo', 'user:cy', ada] },
    ]);
    expect((await team.request(agent, 100)).review_policy_version).toBe(version);
  });

  test('stays that of the policy in force when the decision was made', async () => {
    await team.put({ tiers: [tier({ approvers: ['user:bo', 'user:cy'] })] });
    const made = await team.request(await team.agent(), 5_000);
    await team.put({});
    expect((await team.review(bo, made.decision_id)).body.effective_decision).toBe('REVIEW');
    expect((await team.review(cy, made.decision_id)).body.effective_decision).toBe('ALLOW');
  });

  test('applies to no decision in SHADOW, where one approval is enough', async () => {
    await team.put({ tiers: [tier({ from_minor: 0, approvers: ['user:bo', 'user:cy'] })] });
    const made = await team.request(await team.agent({}, 'SHADOW'), 5_000);
    expect(made).not.toHaveProperty('review_tier');
    expect((await team.review(team.ada, made.decision_id)).status).toBe(201);
    expect(await team.get(made.decision_id)).toMatchObject({
      review_state: 'ALLOWED',
      review_progress: { required: 1, given: [{ principal_id: ada, signed: false }], escalates_at: null },
    });
  });
});

describe('a request whose tier needs several approvals', () => {
  test('stays pending and issues nothing until the last one; its money and limits stay as they are', async () => {
    await team.put({ tiers: [tier({ approvers: ['user:bo', 'user:cy'] })] });
    const made = await team.request(await team.agent(), 5_000);
    const before = await team.get(made.decision_id);
    const first = await team.review(bo, made.decision_id);
    expect([first.status, first.body.effective_decision, first.body.capability]).toEqual([
      201,
      'REVIEW',
      undefined,
    ]);
    const now = await team.get(made.decision_id);
    expect(now).toEqual({
      ...before,
      review_progress: {
        required: 2,
        given: [{ review_id: first.body.review_id, principal_id: 'user:bo', signed: false }],
        escalates_at: null,
      },
    });
    const last = await team.review(cy, made.decision_id);
    expect(last.body).toMatchObject({ effective_decision: 'ALLOW', capability: { status: 'ISSUED' } });
    expect(await team.get(made.decision_id)).toMatchObject({
      review_state: 'ALLOWED',
      review: { review_id: last.body.review_id },
      review_progress: { given: [{ principal_id: 'user:bo' }, { principal_id: 'user:cy' }] },
    });
  });

  test('is denied by a single DENY of anyone who may review, also after approvals', async () => {
    await team.put({ tiers: [tier({ approvers: ['user:bo', 'user:cy'] })] });
    const made = await team.request(await team.agent(), 5_000);
    await team.review(bo, made.decision_id);
    expect((await team.review(team.ada, made.decision_id, 'DENY')).body.effective_decision).toBe('DENY');
    expect(refusal(await team.review(cy, made.decision_id))).toEqual([409, 'review_final']);
    expect(await team.get(made.decision_id)).toMatchObject({
      review_state: 'DENIED',
      reservation: { status: 'RELEASED' },
    });
  });

  test('counts nobody twice, and nobody who is no approver', async () => {
    await team.put({ tiers: [tier({ approvers: ['user:bo', 'user:cy'] })] });
    const made = await team.request(await team.agent(), 5_000);
    const of_bo = await team.keyOf(team.ada, { scopes: ['review', 'read'] });
    expect(refusal(await team.review(team.ada, made.decision_id))).toEqual([403, 'insufficient_scope']);
    expect(refusal(await team.review(of_bo.key, made.decision_id))).toEqual([403, 'insufficient_scope']);
    await team.review(bo, made.decision_id);
    expect(refusal(await team.review(bo, made.decision_id))).toEqual([409, 'already_reviewed']);
    expect((await team.get(made.decision_id)).review_progress.given).toHaveLength(1);
  });

  test('never counts the person behind the request, whatever the separation of duties', async () => {
    await team.put({ tiers: [tier({ approvers: [ada, 'user:bo'] })] });
    await team.ada.browser.call('PATCH', '/v1/workspace', { body: { separation_of_duties: 'REQUESTER' } });
    const { slug } = await team.agent();
    const { key } = await team.keyOf(team.ada, { agent_id: slug });
    const made = await team.request({ slug, key }, 5_000);
    for (const action of ['ALLOW', 'DENY']) {
      expect(refusal(await team.review(team.ada, made.decision_id, action))).toEqual([
        403,
        'self_review_forbidden',
      ]);
    }
    const small = await team.request({ slug, key }, 100);
    expect((await team.review(team.ada, small.decision_id)).status).toBe(201);
    await team.ada.browser.call('PATCH', '/v1/workspace', { body: { separation_of_duties: 'AUTO' } });
  });

  test('counts two keys of one person, or of one topmost key, as one voice', async () => {
    await team.put({ tiers: [tier()] });
    const made = await team.request(await team.agent(), 5_000);
    const root = await makeKey(s, { scopes: ['admin', 'review', 'read'] });
    const roots_own = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:x' }, root.key);
    const same = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:y' }, root.key);
    // The operator's first key made both the agent's key and this one.
    expect(refusal(await team.review(roots_own.key, made.decision_id))).toEqual([
      403,
      'self_review_forbidden',
    ]);
    const by_person = { scopes: ['review', 'read'] };
    const one = await team.keyOf(team.ada, { ...by_person, principal_id: 'user:one' });
    const two = await team.keyOf(team.ada, { ...by_person, principal_id: 'user:two' });
    expect((await team.review(one.key, made.decision_id)).status).toBe(201);
    for (const again of [two.key, team.ada])
      expect(refusal(await team.review(again, made.decision_id))).toEqual([409, 'already_reviewed']);
    expect(refusal(await team.review(same.key, made.decision_id))).toEqual([403, 'self_review_forbidden']);
    expect((await team.review(cy, made.decision_id)).body.effective_decision).toBe('ALLOW');
  });
});
function groups(count: number, members: number) {
  const names = Array.from({ length: members }, (_, i) => `user:${i}`);
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`g${i}`, names]));
}
