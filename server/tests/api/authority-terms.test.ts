import { createHash } from 'node:crypto';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { describe, expect } from 'vitest';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 20, 12);
const client = serviceTest({
  stopped_at_ms: BEGIN_MS,
  plan: 'enterprise',
  env: { CAPABILITY_TTL_SECONDS: '60' },
});
const { test, s, ask, get, post, keyWith, makeAgent } = client;
const at = (iso: string) => s.setClock(Date.parse(iso));
const setAuthority = (agent: string, body: object) =>
  s.call('POST', `/v1/agents/${agent}/authority`, { body: { ...AUTHORITY, ...body } });
const purposeless = { on_purpose_unclear: 'ALLOW' };

const sha256 = (value: unknown) =>
  `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;

test('an authority with the fields of the contract alone has its hash, and its decisions eight stages', async () => {
  const agent = await makeAgent();
  const authority = { ...AUTHORITY, per_transaction_limit_minor: 5_000, allowed_merchants: [] };
  const { body } = await setAuthority(agent, authority);
  expect(body.hash).toBe(sha256(authority));
  const made = await ask(agent, 1_234);
  expect([made.decision, made.remedies]).toEqual(['ALLOW', []]);
  expect(made.policy_trace.map((finding: { stage: string }) => finding.stage)).toEqual([
    'authority',
    'currency',
    'merchant',
    'per_transaction_limit',
    'monthly_budget',
    'min_amount',
    'purpose',
    'review_threshold',
  ]);
  expect(Object.keys(made.policy_trace[0])).toEqual([
    'stage',
    'outcome',
    'reason_code',
    'observed',
    'limit',
    'detail',
  ]);
});

test('equal moments give equal hashes, and an authority shows them as they are hashed', async () => {
  const agent = await makeAgent();
  const one = await setAuthority(agent, { valid_from: '2026-12-01T01:00:00+01:00' });
  const two = await setAuthority(agent, { valid_from: '2026-12-01T00:00:00.000Z' });
  expect(one.body.hash).toBe(two.body.hash);
  expect(one.body.authority.valid_from).toBe('2026-12-01T00:00:00.000Z');
  expect(two.body.hash).toBe(sha256(two.body.authority));
});

describe('an authority is refused with the name of the field', () => {
  const office = { days: ['MON'], from: '08:00', to: '18:00' };
  test.for<[object, string]>([
    [{ valid_from: 'tomorrow' }, 'valid_from'],
    [{ valid_until: '2026-12-01' }, 'valid_until'],
    [{ valid_from: '2026-12-01T00:00:00Z', valid_until: '2026-12-01T00:00:00Z' }, 'valid_until'],
    [{ time_zone: 'europe/berlin' }, 'time_zone'],
    [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ active_hours: [] }, 'active_hours'],
    [{ active_hours: [{ ...office, days: ['MON', 'MON'] }] }, 'active_hours[0].days'],
    [{ active_hours: [office, { ...office, days: [] }] }, 'active_hours[1].days'],
    [{ active_hours: [{ ...office, days: ['Monday'] }] }, 'active_hours[0].days[0]'],
    [{ active_hours: [{ ...office, from: '24:00' }] }, 'active_hours[0].from'],
    [{ active_hours: [office, { ...office, to: '08:00' }] }, 'active_hours[1].to'],
    [{ active_hours: Array(15).fill(office) }, 'active_hours'],
    [{ on_outside_hours: 'DENY' }, 'on_outside_hours'],
    [{ new_merchant_threshold_minor: 5 }, 'new_merchant_threshold_minor'],
    [{ on_new_merchant: 'MAYBE' }, 'on_new_merchant'],
    [{ active_hours: [office], on_outside_hours: 'ALLOW' }, 'on_outside_hours'],
    [{ allowed_action_types: [] }, 'allowed_action_types'],
    [{ review_action_types: [] }, 'review_action_types'],
    [{ review_action_types: ['a'.repeat(65)] }, 'review_action_types[0]'],
    [{ allowed_action_types: Array(21).fill('purchase') }, 'allowed_action_types'],
    [{ allowed_payees: [{ merchant: 'Hetzner' }] }, 'allowed_payees[0].payee_id'],
    [{ allowed_payees: [{ payee_id: 'iban' }] }, 'allowed_payees[0].payee_id'],
    [{ allowed_payees: [{ payee_id: 'iban:1', name: 'x' }] }, 'allowed_payees[0].name'],
    [{ on_other_merchants: 'BLOCK' }, 'on_other_merchants'],
    [{ on_other_merchants: 'DENY' }, 'on_other_merchants'],
    [{ on_other_merchants: 'REVIEW', allowed_merchants: [], allowed_payees: [] }, 'on_other_merchants'],
  ])('%j: %s', async ([fields, field]) => {
    const agent = await makeAgent();
    const { status, body } = await setAuthority(agent, fields);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message.split(': ')[0]).toBe(field);
    const authority = { ...AUTHORITY, ...fields };
    const made = await s.call('POST', '/v1/agents', { body: { slug: freshKey(), authority } });
    expect(made.body.error.message.split(': ')[0]).toBe(`authority.${field}`);
  });
});

test('what an authority with an end allows ends with it', async () => {
  const adapter = await keyWith('consume');
  const reviewer = await keyWith('review', 'read');
  await at('2026-11-20T12:00:00.000Z');
  const ends = '2026-11-20T12:00:03.000Z';
  const agent = await makeAgent(
    { ...purposeless, valid_until: ends, review_threshold_minor: 1_000 },
    { mode: 'ENFORCE' },
  );
  const allowed = await ask(agent, 901);
  expect(allowed.capability.expires_at).toBe(ends);
  const pay = () =>
    s.call('POST', '/v1/capabilities/consume', {
      key: adapter,
      idempotency_key: freshKey(),
      body: { token: allowed.capability.token, amount_minor: 901, currency: 'EUR' },
    });
  const [early, late, denied] = [await ask(agent, 1_001), await ask(agent, 1_002), await ask(agent, 1_003)];
  const review = (decision: { decision_id: string }, action: string) =>
    s.call('POST', `/v1/decisions/${decision.decision_id}/reviews`, {
      key: reviewer,
      body: { action, reason_code: 'SEEN' },
    });
  const { status, body } = await review(early, 'ALLOW');
  expect([status, body.capability.expires_at]).toEqual([201, ends]);

  await at(ends);
  expect((await ask(agent, 902)).reason_code).toBe('AUTHORITY_EXPIRED');
  const paid = await pay();
  expect([paid.status, paid.body.error.code]).toEqual([409, 'capability_expired']);
  const too_late = await review(late, 'ALLOW');
  expect([too_late.status, too_late.body.error.code]).toEqual([409, 'authority_changed']);
  expect(too_late.body.error.message).toContain('The policy expired at ');
  expect((await review(denied, 'DENY')).status).toBe(201);
  expect((await get(`/v1/decisions/${denied.decision_id}`)).reservation.status).toBe('RELEASED');
});

test('hours and validity are judged by the clock of the decision, and a replay keeps what was answered', async () => {
  await at('2026-11-20T16:59:59.000Z');
  const office = { days: ['FRI'], from: '08:00', to: '18:00' };
  const agent = await makeAgent({
    ...purposeless,
    valid_from: '2026-11-20T16:59:59.000Z',
    time_zone: 'Europe/Berlin',
    active_hours: [office],
  });
  const idempotency_key = freshKey();
  const body = spend(agent, 77);
  const first = await s.call('POST', '/v1/decisions', { body, idempotency_key });
  expect(first.body.decision).toBe('ALLOW');
  await at('2026-11-20T17:00:00.000Z');
  expect(await post('/v1/decisions', spend(agent, 78))).toMatchObject({
    decision: 'DENY',
    reason_codes: ['OUTSIDE_ACTIVE_HOURS'],
    explanation:
      'It is Friday 18:00 in Europe/Berlin, outside the active hours. The agent may spend again from Friday 08:00.',
  });
  const again = await s.call('POST', '/v1/decisions', { body, idempotency_key });
  expect(again.text).toBe(first.text);
});

describe('other merchants than those on a list', () => {
  const at_merchant = (merchant: string, payee_id?: string) => ({
    action: { merchant, ...(payee_id === undefined ? {} : { payee_id }) },
  });

  test('are denied, look-alikes and longer names too, and nobody is told who is on it', async () => {
    const agent = await makeAgent({
      ...purposeless,
      allowed_merchants: ['Acme Paper'],
      allowed_payees: [{ merchant: 'Binder & Co', payee_id: 'iban:DE1' }],
      on_other_merchants: 'DENY',
    });
    expect((await ask(agent, 101, at_merchant('ACME Paper GmbH'))).decision).toBe('ALLOW');
    for (const name of ['Acme Paper Refunds', '\u0391cme Paper']) {
      const made = await ask(agent, 102, at_merchant(name));
      expect([made.decision, made.reason_codes]).toEqual(['DENY', ['MERCHANT_NOT_ALLOWED']]);
      expect(made.explanation).toBe(
        `"${name}" isn't one of your approved merchants. Approve it, or choose another one.`,
      );
      expect(JSON.stringify(made.policy_trace)).not.toContain('Binder');
    }
    expect((await ask(agent, 103, at_merchant('Binder & Co', 'iban:DE1'))).decision).toBe('ALLOW');
    const moved = await ask(agent, 104, at_merchant('Binder & Co', 'iban:DE2'));
    expect([moved.decision, moved.reason_codes]).toEqual(['DENY', ['PAYEE_NOT_ALLOWED']]);
    expect(moved.explanation).toBe(
      '"Binder & Co" has 1 known account, and the request names another payee. Check the account with the merchant.',
    );
  });

  test('are allowed by entries of the merchant directory, with payees at these alone', async () => {
    const agent = await makeAgent(purposeless);
    const refused = await setAuthority(agent, { on_other_merchants: 'DENY' });
    expect(refused.status).toBe(400);
    const path = `/v1/agents/${agent}/merchants`;
    await post(path, {
      entries: [
        { merchant: 'Zinnober Kontor', verdict: 'ALLOWED' },
        { merchant: 'Purpur Kontor', verdict: 'ALLOWED', payee_ids: ['iban:7'] },
      ],
    });
    const taken = await setAuthority(agent, { ...purposeless, on_other_merchants: 'DENY' });
    expect(taken.status).toBe(201);
    const reason = async (amount: number, extra: object) =>
      (await ask(agent, amount, { ...extra })).reason_code;
    expect(await reason(201, at_merchant('Zinnober Kontor', 'iban:1'))).toBe('WITHIN_AUTHORITY');
    expect(await reason(202, at_merchant('Purpur Kontor', 'iban:7'))).toBe('WITHIN_AUTHORITY');
    expect(await reason(203, at_merchant('Purpur Kontor', 'iban:8'))).toBe('PAYEE_NOT_ALLOWED');
    expect(await reason(204, at_merchant('Purpur Kontor'))).toBe('PAYEE_NOT_ALLOWED');
    expect(await reason(205, at_merchant('Indigo Kontor'))).toBe('MERCHANT_NOT_ALLOWED');
  });
});

test('at given times a test of an authority finds hours, validity and what can be done about them', async () => {
  const decide = { action: { type: 'purchase', merchant: 'Acme Paper', amount_minor: 77, currency: 'EUR' } };
  const tested = (authority: object, moments: string[]) =>
    s.call('POST', '/v1/authority/test', {
      body: {
        authority: { ...AUTHORITY, ...purposeless, ...authority },
        steps: moments.map((moment) => ({ at: moment, decide, purpose: 'PURPOSE_ALIGNED' })),
      },
    });
  const weekdays = [{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '08:00', to: '18:00' }];
  const hours = { time_zone: 'Europe/Berlin', active_hours: weekdays };
  const friday = ['2026-03-27T16:59:59Z', '2026-03-27T17:00:00Z'];
  for (const on_outside_hours of ['DENY', 'REVIEW']) {
    const { body } = await tested({ ...hours, on_outside_hours }, friday);
    const [inside, outside] = body.steps.map(({ verdict }: { verdict: object }) => verdict);
    expect(inside).toMatchObject({ decision: 'ALLOW', remedies: [] });
    expect(outside).toMatchObject({ decision: on_outside_hours, reason_codes: ['OUTSIDE_ACTIVE_HOURS'] });
    expect(outside.remedies.at(-1)).toEqual({
      type: 'RETRY_AT',
      at: '2026-03-30T06:00:00.000Z',
      clears: ['OUTSIDE_ACTIVE_HOURS'],
      then: 'ALLOW',
    });
  }
  const term = { valid_from: '2026-12-01T00:00:00Z', valid_until: '2026-12-02T00:00:00Z' };
  const { body } = await tested(term, [
    '2026-11-30T23:59:59.999Z',
    '2026-12-01T00:00:00Z',
    '2026-12-02T00:00:00Z',
  ]);
  expect(body.steps.map((step: { verdict: { reason_code: string } }) => step.verdict.reason_code)).toEqual([
    'AUTHORITY_NOT_YET_VALID',
    'WITHIN_AUTHORITY',
    'AUTHORITY_EXPIRED',
  ]);
  const unlisted = await tested({ on_other_merchants: 'DENY' }, friday);
  expect([unlisted.status, unlisted.body.error.message.split(': ')[0]]).toEqual([
    400,
    'authority.on_other_merchants',
  ]);
});

test('a draft is tried out under the new terms with the times of the decisions', async () => {
  await at('2026-11-20T20:00:00.000Z');
  const agent = await makeAgent(purposeless);
  await ask(agent, 301);
  await at('2026-11-21T12:00:00.000Z');
  await ask(agent, 302, { action: { type: 'subscription' } });
  const simulate = (draft: object) =>
    s.call('POST', `/v1/agents/${agent}/authority/simulate`, {
      body: { ...AUTHORITY, ...purposeless, ...draft },
    });
  const friday = { active_hours: [{ days: ['FRI'], from: '00:00', to: '24:00' }] };
  const { body } = await simulate(friday);
  expect(body.transitions).toEqual([{ from: 'ALLOW', to: 'DENY', count: 1, amount_minor: 302 }]);
  expect(body.changed[0].draft.reason_code).toBe('OUTSIDE_ACTIVE_HOURS');
  const typed = await simulate({ allowed_action_types: ['Purchase'], review_action_types: ['SUBSCRIPTION'] });
  expect(typed.body.transitions).toEqual([{ from: 'ALLOW', to: 'REVIEW', count: 1, amount_minor: 302 }]);
  expect((await simulate({ on_other_merchants: 'DENY' })).body.error.message).toContain(
    'on_other_merchants: ',
  );
});

describe('remedies', () => {
  test('are none on ALLOW, and say until when a REVIEW is waited for', async () => {
    const agent = await makeAgent({ ...purposeless, review_threshold_minor: 100 }, { mode: 'ENFORCE' });
    expect((await ask(agent, 91)).remedies).toEqual([]);
    const pending = await ask(agent, 191);
    const wait = { type: 'WAIT_FOR_REVIEW', expires_at: pending.reservation.expires_at };
    expect(pending.remedies).toEqual([{ ...wait, clears: ['REVIEW_THRESHOLD_EXCEEDED'], then: 'ALLOW' }]);
    expect(pending.remedies[0].expires_at).not.toBeNull();
    expect((await get(`/v1/decisions/${pending.decision_id}`)).remedies).toEqual(pending.remedies);
  });

  test('give what they tell where they are done, each alone', async () => {
    await at('2026-11-30T22:00:00.000Z');
    const agent = await makeAgent({
      ...purposeless,
      monthly_budget_minor: 1_000,
      review_threshold_minor: 650,
      blocked_merchants: ['Evil'],
    });
    expect((await ask(agent, 400)).decision).toBe('ALLOW');
    const denied = await ask(agent, 700);
    expect(denied.remedies).toEqual([
      {
        type: 'REDUCE_AMOUNT',
        max_amount_minor: 600,
        clears: ['MONTHLY_BUDGET_EXCEEDED', 'REVIEW_THRESHOLD_EXCEEDED'],
        then: 'ALLOW',
      },
      {
        type: 'RETRY_AT',
        at: '2026-12-01T00:00:00.000Z',
        clears: ['MONTHLY_BUDGET_EXCEEDED'],
        then: 'REVIEW',
      },
    ]);
    const dollars = await ask(agent, 599, { action: { currency: 'USD' } });
    expect(dollars.remedies).toEqual([
      { type: 'USE_CURRENCY', currency: 'EUR', clears: ['CURRENCY_NOT_AUTHORIZED'], then: 'ALLOW' },
    ]);
    const too_many = await ask(agent, 601, { action: { currency: 'USD' } });
    expect(too_many.remedies.map(({ type }: { type: string }) => type)).toEqual(['ASK_OPERATOR']);
    const evil = await ask(agent, 50, { action: { merchant: 'Evil Shop' } });
    expect(evil.remedies).toEqual([
      { type: 'CHOOSE_OTHER_MERCHANT', clears: ['MERCHANT_BLOCKED'], then: 'ALLOW' },
    ]);
    expect((await ask(agent, 601)).decision).toBe('DENY');
    expect((await ask(agent, 600)).decision).toBe('ALLOW');
    await at('2026-12-01T00:00:00.000Z');
    expect((await ask(agent, 700)).decision).toBe('REVIEW');
  });

  test('know limits over time and duplicates, and lead past them at their moment and not before', async () => {
    await at('2026-12-10T09:59:30.000Z');
    const agent = await makeAgent({
      ...purposeless,
      velocity_limits: [
        { name: 'burst', window: 'ROLLING', window_seconds: 3_600, limit_count: 2 },
        { name: 'day', window: 'DAY', limit_amount_minor: 1_000 },
      ],
      duplicate_window_seconds: 600,
      on_duplicate: 'DENY',
    });
    expect((await ask(agent, 300)).decision).toBe('ALLOW');
    const again = await ask(agent, 300);
    expect(again.reason_codes).toEqual(['DUPLICATE_SPEND']);
    expect(again.remedies).toMatchObject([
      { type: 'RETRY_AT', at: '2026-12-10T10:09:40.000Z', clears: ['DUPLICATE_SPEND'], then: 'ALLOW' },
    ]);
    const large = await ask(agent, 800);
    expect(large.remedies).toMatchObject([
      { type: 'REDUCE_AMOUNT', max_amount_minor: 700, then: 'ALLOW' },
      { type: 'RETRY_AT', at: '2026-12-11T00:00:00.000Z', then: 'ALLOW' },
    ]);
    expect((await ask(agent, 699)).decision).toBe('ALLOW');
    const third = await ask(agent, 1, { limitable: true });
    expect([third.authorized_amount_minor, third.reason_codes]).toEqual([0, ['VELOCITY_LIMIT_EXCEEDED']]);
    expect(third.remedies).toMatchObject([{ type: 'RETRY_AT', then: 'ALLOW' }]);
    const dollars = await ask(agent, 1, { action: { currency: 'USD' } });
    expect(dollars.remedies.map(({ type }: { type: string }) => type)).toEqual(['ASK_OPERATOR']);
    const room_ms = Date.parse(third.remedies[0].at);
    await s.setClock(room_ms - 1);
    expect((await ask(agent, 1)).decision).toBe('DENY');
    await s.setClock(room_ms);
    expect((await ask(agent, 1)).decision).toBe('ALLOW');
    await at('2026-12-11T00:00:00.000Z');
    expect((await ask(agent, 3)).decision).toBe('ALLOW');
  });
});
