import { describe, expect } from 'vitest';
import { AUTHORITY } from '../../server/tests/support/running-service.ts';
import { connectHttp, ERAS, type Era, makeAgent, mcpTest, purchase, refused, use } from './world.ts';

const { test, s, keyWith } = mcpTest();
let reviewer = '';
test.beforeAll(async () => {
  reviewer = await keyWith('review', 'read');
});
const review = (decision_id: unknown, action: string) =>
  s.call('POST', `/v1/decisions/${decision_id}/reviews`, {
    body: { action, reason_code: 'OK' },
    key: reviewer,
  });

const IN_A_DAY = new Date(Date.now() + 86_400_000).toISOString();

describe.each(Object.keys(ERAS) as Era[])('%s', (era) => {
  test('a purchase from the question to the report', async () => {
    const agent = await makeAgent(s);
    const client = await connectHttp(s, agent.key, era);
    expect(client.getInstructions()).toContain('Never split a purchase');
    expect(client.getServerVersion()?.name).toBe('purser');
    const body = { agent: agent.slug, currency: 'EUR', amount_minor: 9_000, expires_at: IN_A_DAY };
    const { id: allowance } = (await s.call('POST', '/v1/allowances', { body })).body;
    const asked = purchase('54.40', {
      allowance,
      payee_id: 'stripe:acct_1',
      task: 'Keep staging running',
      category: 'hosting',
    });
    const spend = await use(client, 'request_spend', asked);
    expect(spend).toMatchObject({
      status: 'ALLOWED',
      mode: 'ENFORCE',
      authorized_amount: '54.40',
      authorized_amount_minor: 5440,
      currency: 'EUR',
      outcome_state: 'NONE',
      next_step: 'You may pay at most EUR 54.40 for this, once. Then call report_outcome.',
    });
    const { decision_id } = spend;
    expect(Date.parse(spend.expires_at as string)).toBeGreaterThan(Date.now());
    const stored = (await s.call('GET', `/v1/decisions/${decision_id}`)).body;
    expect(stored.action).toEqual({
      type: 'purchase',
      merchant: 'Hetzner Online',
      amount_minor: 5440,
      currency: 'EUR',
      description: 'A server for staging',
      payee_id: 'stripe:acct_1',
      category: 'hosting',
    });
    expect([stored.task, stored.requested_by.key_id]).toEqual(['Keep staging running', agent.key_id]);
    expect(stored.allowance.id).toBe(allowance);

    const report = { decision_id, outcome: 'EXECUTED', amount: '54.40', external_reference: 'pi_1' };
    const first = await use(client, 'report_outcome', report);
    expect(first).toEqual({
      outcome_id: expect.stringMatching(/^out_/),
      outcome_state: 'EXECUTED',
      flags: [],
    });
    expect(await use(client, 'report_outcome', report)).toEqual(first);
    expect(await use(client, 'request_spend', asked)).toMatchObject({
      decision_id,
      outcome_state: 'EXECUTED',
      next_step: 'This was already bought and reported: do not buy it again.',
    });
    const resource = await client.readResource({ uri: `purser://spends/${decision_id}` });
    expect(JSON.parse((resource.contents[0] as { text: string }).text)).toEqual(
      await use(client, 'get_spend', { decision_id }),
    );
  });

  test('a purchase that waits is waited for, with progress where the client wants it', async () => {
    const client = await connectHttp(s, (await makeAgent(s)).key, era);
    const { decision_id, next_step, authorized_amount_minor } = await use(
      client,
      'request_spend',
      purchase('250'),
    );
    expect([next_step, authorized_amount_minor]).toEqual([expect.stringContaining('Do not buy yet'), 0]);
    const still = await use(client, 'wait_for_review', { decision_id, timeout_seconds: 1 });
    expect(still.status).toBe('WAITING_FOR_REVIEW');
    const notes: (string | undefined)[] = [];
    const waiting = client.callTool(
      { name: 'wait_for_review', arguments: { decision_id, timeout_seconds: 55 } },
      {
        onprogress: ({ message }) => {
          notes.push(message);
          // The person decides only once the wait is known to go on.
          if (notes.length === 1) void review(decision_id, 'ALLOW');
        },
      },
    );
    expect((await waiting).structuredContent).toMatchObject({
      status: 'ALLOWED',
      explanation: 'A person allowed it.',
    });
    expect(notes[0]).toBe('Waiting for a person to review the purchase.');
  });

  test('what a person denies is denied', async () => {
    const client = await connectHttp(s, (await makeAgent(s)).key, era);
    const { decision_id } = await use(client, 'request_spend', purchase('250.00'));
    await review(decision_id, 'DENY');
    expect(await use(client, 'wait_for_review', { decision_id })).toMatchObject({
      status: 'DENIED',
      explanation: 'A person denied it.',
      next_step: expect.stringContaining('Do not buy this'),
    });
  });
});

describe('ways out of a denial', () => {
  const remediesOf = (spend: Record<string, unknown>) => spend.remedies as { type: string; at?: string }[];

  test('are told as data and in words, and lead where they say', async () => {
    const client = await connectHttp(s, (await makeAgent(s)).key);
    const denied = await use(client, 'request_spend', purchase('600'));
    expect(denied).toMatchObject({
      status: 'DENIED',
      remedies: [{ type: 'REDUCE_AMOUNT', max_amount: '500.00', then: 'WAITING_FOR_REVIEW' }],
      next_step:
        'Do not buy this as it is. If your task allows it, make a new request under a new name in one of these ways only: Request EUR 500.00 or less. A reviewer would then decide. Otherwise tell your principal.',
    });
    const asked = await use(client, 'request_spend', purchase('500'));
    expect(asked).toMatchObject({
      status: 'WAITING_FOR_REVIEW',
      remedies: [{ type: 'WAIT_FOR_REVIEW', at: asked.expires_at, then: 'ALLOWED' }],
    });
    const dollars = await use(client, 'request_spend', purchase('20', { currency: 'USD' }));
    expect(dollars).toMatchObject({
      remedies: [{ type: 'USE_CURRENCY', currency: 'EUR', then: 'ALLOWED' }],
      next_step: expect.stringContaining('Request the same number in EUR.'),
    });
    expect(await use(client, 'request_spend', purchase('21'))).toMatchObject({
      status: 'ALLOWED',
      remedies: [],
    });
    const evil = await use(client, 'request_spend', purchase('22', { merchant: 'Evil Corporation' }));
    expect(evil).toMatchObject({
      remedies: [{ type: 'CHOOSE_OTHER_MERCHANT' }],
      next_step: expect.stringContaining('Choose another merchant.'),
    });
    await review(asked.decision_id, 'DENY');
    const { decision_id } = asked;
    expect(await use(client, 'get_spend', { decision_id })).toMatchObject({
      remedies: [],
      next_step: expect.stringContaining('do not try another way'),
    });
  });

  test('are moments where a limit over time has room again, and nothing where only an operator can help', async () => {
    const velocity_limits = [{ name: 'day', window: 'DAY', limit_count: 1 }];
    const agent = await makeAgent(s, { authority: { ...AUTHORITY, velocity_limits } });
    const client = await connectHttp(s, agent.key);
    await use(client, 'request_spend', purchase('31'));
    const denied = await use(client, 'request_spend', purchase('32'));
    const [retry] = remediesOf(denied);
    expect(retry).toMatchObject({ type: 'RETRY_AT', then: 'ALLOWED' });
    expect(retry?.at).toMatch(/T00:00:00\.000Z$/);
    expect(denied.next_step).toContain(`Request it again from ${retry?.at} on`);
    const none = await makeAgent(s, { authority: null });
    expect(await use(await connectHttp(s, none.key), 'request_spend', purchase('33'))).toMatchObject({
      status: 'DENIED',
      remedies: [{ type: 'ASK_OPERATOR', then: 'WAITING_FOR_REVIEW' }],
      next_step: expect.stringContaining('do not try another way'),
    });
  });
});

describe('names and amounts', () => {
  test('one name is one purchase: asked twice at once or with other details, nothing is bought twice', async () => {
    const agent = await makeAgent(s);
    const client = await connectHttp(s, agent.key);
    for (const name of ['order-4711', 'Rechnung Nr. 17 für März']) {
      const asked = { ...purchase('12.30'), name };
      const [one, two] = await Promise.all([
        use(client, 'request_spend', asked),
        use(client, 'request_spend', asked),
      ]);
      expect(one.decision_id).toBe(two.decision_id);
      expect(await refused(client, 'request_spend', { ...asked, amount: '12.31' })).toMatch(
        /^Not allowed: .*idempotency_conflict.*otherwise use another name/,
      );
    }
    // The same name means the same purchase in the agent's own code.
    const of_code = await s.call('POST', '/v1/decisions', {
      key: agent.key,
      idempotency_key: 'order-4711',
      body: {
        action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 99_999, currency: 'EUR' },
      },
    });
    expect(of_code.body.error.code).toBe('idempotency_conflict');
  });

  test.each([
    ['54.40', 'EUR', 5440],
    ['54.4', 'EUR', 5440],
    ['1200', 'JPY', 1200],
    ['1200.00', 'JPY', 1200],
    ['1.250', 'KWD', 1250],
  ])('%s %s is %i minor units', async (amount, currency, minor) => {
    const { key } = await makeAgent(s, { mode: 'SHADOW' });
    const { decision_id } = await use(
      await connectHttp(s, key),
      'request_spend',
      purchase(amount, { currency }),
    );
    expect((await s.call('GET', `/v1/decisions/${decision_id}`)).body.requested_amount_minor).toBe(minor);
  });

  test.each([
    ['54.405', 'EUR', 'at most 2 digits'],
    ['12.5', 'JPY', 'at most 0 digits'],
    ['0', 'EUR', 'amount_minor'],
    ['-5', 'EUR', 'amount'],
    ['1e3', 'EUR', 'amount'],
    ['9999999999999999', 'EUR', 'must be smaller'],
    ['10', 'XXX', 'currency'],
    ['10', 'eur', 'currency'],
    [5440, 'EUR', 'amount'],
  ])('%s %s is refused in words, and nothing is asked', async (amount, currency, words) => {
    const { key, slug } = await makeAgent(s);
    const client = await connectHttp(s, key);
    expect(await refused(client, 'request_spend', { ...purchase('1'), amount, currency })).toContain(words);
    expect((await s.call('GET', `/v1/decisions?agent=${slug}`)).body.data).toEqual([]);
  });

  test('a smaller amount than asked for is told in the same units', async () => {
    const client = await connectHttp(s, (await makeAgent(s, { authority: { ...LIMITED } })).key);
    expect(
      await use(client, 'request_spend', purchase('80.00', { limitable: true, min_amount: '20' })),
    ).toMatchObject({ status: 'ALLOWED', authorized_amount: '50.00', reason_code: 'AMOUNT_LIMITED' });
    expect(
      await use(client, 'request_spend', purchase('80.00', { limitable: true, min_amount: '60' })),
    ).toMatchObject({ status: 'DENIED', authorized_amount: '0.00' });
  });
});
const LIMITED = {
  purpose: { objective: 'Keep the staging servers running: cloud servers and hosting.' },
  currency: 'EUR',
  per_transaction_limit_minor: 5_000,
};

test('reports need an amount where money moved, never speak for the rail, and refuse what contradicts', async () => {
  const client = await connectHttp(s, (await makeAgent(s)).key);
  const { decision_id } = await use(client, 'request_spend', purchase('10'));
  expect(await refused(client, 'report_outcome', { decision_id, outcome: 'EXECUTED' })).toContain(
    'amount is required',
  );
  const odd = { decision_id, outcome: 'EXECUTED', amount: '10', source: 'PAYMENT_RAIL' };
  expect(await refused(client, 'report_outcome', odd)).toContain('source');
  await use(client, 'report_outcome', { decision_id, outcome: 'EXECUTED', amount: '10' });
  const outcomes = (await s.call('GET', `/v1/decisions/${decision_id}/outcomes`)).body.data;
  expect(outcomes.map((each: { source: string }) => each.source)).toEqual(['CLIENT_REPORTED']);
  expect(await refused(client, 'report_outcome', { decision_id, outcome: 'FAILED' })).toContain(
    'outcome_conflict',
  );
  expect(await use(client, 'report_outcome', { decision_id, outcome: 'REFUNDED' })).toMatchObject({
    outcome_state: 'REFUNDED',
  });
});

test('every failure is a refusal: a paused agent, no authority, a purchase that is over', async () => {
  const paused = await makeAgent(s);
  const client = await connectHttp(s, paused.key);
  const { decision_id } = await use(client, 'request_spend', purchase('10'));
  await use(client, 'report_outcome', { decision_id, outcome: 'CANCELLED' });
  expect((await use(client, 'get_spend', { decision_id })).next_step).toContain('under a new name');
  await s.call('PATCH', `/v1/agents/${paused.slug}`, { body: { status: 'paused' } });
  expect(await refused(client, 'request_spend', purchase('10'))).toMatch(/^Not allowed: .*agent_not_active/);
  const bare = await connectHttp(s, (await makeAgent(s, { authority: null })).key);
  expect(await refused(bare, 'get_my_authority', {})).toContain('it may buy nothing');
  expect((await use(bare, 'request_spend', purchase('10'))).status).toBe('DENIED');
});
