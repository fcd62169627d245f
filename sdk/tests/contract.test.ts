import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  APIError,
  type Decision,
  type DecisionListQuery,
  type DecisionRequest,
  Purser,
} from '../src/index.ts';
import { fakePurser, type Rule } from '../src/testing/index.ts';
import { AUTHORITY, makeKey, type RunningService, startTestService } from './service.ts';

/** The suite's requirements for a service: the clients of three keys, and agents with a given answer. */
interface Stage {
  /** A client that asks for an agent in this mode, whose every request meets this verdict. */
  asking(mode: 'SHADOW' | 'ENFORCE', verdict: 'ALLOW' | 'REVIEW' | 'DENY'): Promise<Purser>;
  adapter: Purser;
  reviewer: Purser;
  stop(): Promise<void>;
}

async function realStage(): Promise<Stage> {
  const s: RunningService = await startTestService();
  const client = (apiKey: string) => new Purser({ apiKey, baseURL: s.url });
  const admin = client(s.admin_key);
  let count = 0;
  return {
    async asking(mode, verdict) {
      const limits = {
        ALLOW: {},
        REVIEW: { review_threshold_minor: 1 },
        DENY: { per_transaction_limit_minor: 1 },
      };
      const authority = { ...AUTHORITY, ...limits[verdict] };
      const agent = await admin.agents.create({ slug: `contract-${++count}`, mode, authority });
      return client((await makeKey(s, { agent_id: agent.id })).key);
    },
    adapter: client((await makeKey(s, { scopes: ['consume'] })).key),
    reviewer: client((await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key),
    stop: () => s.stop(),
  };
}

async function fakeStage(): Promise<Stage> {
  const verdicts = new Map<string, Rule>();
  const fake = fakePurser({ agent: 'none' });
  fake.decide(({ agent = '' }) => verdicts.get(agent) as never);
  const client = (fetch: typeof globalThis.fetch) => new Purser({ apiKey: 'sk_test', fetch });
  let count = 0;
  return {
    async asking(mode, decision) {
      const agent = `contract-${++count}`;
      verdicts.set(agent, { decision, mode });
      // As the key of an agent would, the client names it without a word.
      return client(async (input, init) => {
        const { method, body, ...rest } = init ?? {};
        const asks = method === 'POST' && String(input).endsWith('/v1/decisions');
        const named = asks ? JSON.stringify({ agent, ...JSON.parse(String(body)) }) : body;
        return fake.fetch(input, { ...rest, method: method as string, ...(named ? { body: named } : {}) });
      });
    },
    adapter: client(fake.fetch),
    reviewer: client(fake.fetch),
    stop: async () => {},
  };
}

const REQUEST: DecisionRequest = {
  action: {
    type: 'purchase',
    merchant: 'Hetzner Online',
    amount_minor: 5440,
    currency: 'EUR',
    description: 'A server for staging',
    payee_id: 'stripe:acct_1',
  },
};

describe.each([
  ['the service', realStage],
  ['the fake', fakeStage],
])('%s', (_, makeStage) => {
  let stage: Stage;
  let names = 0;
  const name = () => `contract-${process.pid}-${++names}`;
  beforeAll(async () => {
    stage = await makeStage();
  });
  afterAll(() => stage.stop());

  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'no refusal',
      (error: unknown) => (error instanceof APIError ? `${error.status} ${error.code}` : String(error)),
    );

  /** A fresh allowed decision in ENFORCE, and the body that consumes it. */
  async function allowed() {
    const asking = await stage.asking('ENFORCE', 'ALLOW');
    const decision = await asking.decisions.create(REQUEST);
    const token = decision.capability?.token as string;
    const consumption = { token, amount_minor: 5440, currency: 'EUR', payee_id: 'stripe:acct_1' };
    return { asking, decision, consumption };
  }

  test('makes one decision of one name, and tells whose it was', async () => {
    const asking = await stage.asking('SHADOW', 'ALLOW');
    const options = { idempotencyKey: name(), requestId: 'lost-answer' };
    const first = await asking.decisions.create(REQUEST, options).withResponse();
    expect([first.response.status, first.replayed]).toEqual([201, false]);
    expect(first.response.headers.get('idempotent-replay-of')).toBeNull();
    const again = await asking.decisions.create(REQUEST, { ...options, requestId: 'other' }).withResponse();
    expect([again.response.status, again.replayed, again.requestId]).toEqual([200, true, 'other']);
    expect(again.response.headers.get('idempotent-replay-of')).toBe('lost-answer');
    expect(again.data).toEqual(first.data);
    const other = { action: { ...REQUEST.action, amount_minor: 1 } };
    expect(await codeOf(asking.decisions.create(other, options))).toBe('409 idempotency_conflict');
  });

  test.each([
    ['SHADOW', 'ALLOW', 'ALLOW', null],
    ['SHADOW', 'REVIEW', 'ALLOW', 'PENDING'],
    ['SHADOW', 'DENY', 'ALLOW', null],
    ['ENFORCE', 'ALLOW', 'ALLOW', null],
    ['ENFORCE', 'REVIEW', 'REVIEW', 'PENDING'],
    ['ENFORCE', 'DENY', 'DENY', null],
  ] as const)('in %s a verdict of %s is in force as %s', async (mode, verdict, effective, review_state) => {
    const asking = await stage.asking(mode, verdict);
    const made = await asking.decisions.create(REQUEST);
    expect([made.decision, made.effective_decision, made.mode]).toEqual([verdict, effective, mode]);
    expect([made.review_state, made.outcome_state]).toEqual([review_state, 'NONE']);
    expect(made.authorized_amount_minor).toBe(verdict === 'ALLOW' ? 5440 : 0);
    expect(made.requested_amount_minor).toBe(5440);
    expect(made.capability?.status).toBe(mode === 'ENFORCE' && verdict === 'ALLOW' ? 'ISSUED' : undefined);
    const { review_progress, ...read } = await asking.decisions.retrieve(made.decision_id);
    const { review_progress: _of_answer, ...answered } = made;
    expect(Object.keys(read).sort()).toEqual(Object.keys(answered).sort());
    const waiting = { required: 1, given: [], escalates_at: null };
    expect(review_progress).toEqual(verdict === 'REVIEW' ? waiting : undefined);
  });

  test.each([
    ['action', {}],
    ['action.amount_minor', { action: { ...REQUEST.action, amount_minor: 0 } }],
    ['action.amount_minor', { action: { ...REQUEST.action, amount_minor: 1.5 } }],
    ['action.currency', { action: { ...REQUEST.action, currency: 'eur' } }],
    ['action.merchant', { action: { ...REQUEST.action, merchant: ' ' } }],
    ['limit', { ...REQUEST, limit: 1 }],
  ])('names %s where that is wrong', async (field, body) => {
    const asking = await stage.asking('ENFORCE', 'ALLOW');
    const error = await asking.decisions.create(body as never).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'invalid_request', field });
  });

  describe('a list of decisions', () => {
    /** By name: three that are allowed and of which one is paid, three that wait for a person and of which two are reviewed, one that is denied. */
    const made: Record<string, Decision> = {};
    let reviewed_by: string | undefined;
    beforeAll(async () => {
      for (const [letter, mode, verdict, count] of [
        ['a', 'ENFORCE', 'ALLOW', 3],
        ['r', 'ENFORCE', 'REVIEW', 3],
        ['d', 'SHADOW', 'DENY', 1],
      ] as const) {
        const asking = await stage.asking(mode, verdict);
        for (let n = 1; n <= count; n++) {
          const action = { ...REQUEST.action, amount_minor: n * 10 };
          made[`${letter}${n}`] = await asking.decisions.create({ action });
        }
      }
      const idOf = (each: string) => made[each]?.decision_id as string;
      const paid = { type: 'SPEND_EXECUTED', amount_minor: 10 } as const;
      await stage.adapter.decisions.reportOutcome(idOf('a1'), paid);
      for (const [each, action] of [
        ['r1', 'ALLOW'],
        ['r2', 'DENY'],
      ] as const) {
        const review = await stage.reviewer.decisions.review(idOf(each), { action, reason_code: 'OK' });
        reviewed_by = review.principal_id ?? undefined;
      }
    });

    async function listed(query: DecisionListQuery): Promise<string> {
      const names = new Map(Object.entries(made).map(([each, { decision_id }]) => [decision_id, each]));
      const found: string[] = [];
      for await (const { decision_id } of stage.reviewer.decisions.list(query)) {
        found.push(names.get(decision_id) ?? '');
      }
      return found.filter((each) => each !== '').join(' ');
    }

    test.each<[string, DecisionListQuery | (() => DecisionListQuery)]>([
      ['d1 r3 r2 r1 a3 a2 a1', {}],
      ['a1 a2 a3 r1 r2 r3 d1', { order: 'asc' }],
      ['a3 a2 a1', () => ({ agent: made.a1?.agent.slug })],
      ['r3 r2 r1', () => ({ agent: made.r1?.agent.id })],
      ['', { agent: 'nobody' }],
      ['r3 r2 r1', { decision: 'REVIEW' }],
      ['d1 r3 r2 r1', { decision: ['REVIEW', 'DENY'] }],
      ['r2', { effective_decision: 'DENY' }],
      ['d1', { mode: 'SHADOW' }],
      ['a3 a2 a1', { reason: 'WITHIN_AUTHORITY' }],
      ['r3 r1', { review_state: ['PENDING', 'ALLOWED'] }],
      ['a1', { outcome_state: 'EXECUTED' }],
      ['', { label: 'PURPOSE_ALIGNED' }],
      ['', { currency: ['USD', 'JPY'] }],
      ['a1 r1', { merchant: 'Hetzner Online', max_amount: 10, order: 'asc', mode: 'ENFORCE' }],
      ['', { merchant: 'hetzner online' }],
      ['r2 a2', { q: 'HETZ', min_amount: 11, max_amount: 29 }],
      ['r2 r1', { reviewed: true }],
      ['d1 r3 a3 a2 a1', { reviewed: false }],
      ['r2 r1', () => ({ reviewed_by })],
      ['', { reviewed_by: 'user:nobody' }],
      ['', { labeled: true }],
      ['d1 r3 r2 r1 a3 a2 a1', { labeled: false, from: '2026-01-01', to: '2126-01-01' }],
      ['', { from: '2126-01-01' }],
      ['', { to: '2026-01-01T00:00:00Z' }],
      ['r3', { order: 'expires' }],
    ])('shows %s for %o', async (expected, query) => {
      expect(await listed(typeof query === 'function' ? query() : query)).toBe(expected);
    });

    test('comes in pages of the length that is asked for', async () => {
      const list = stage.reviewer.decisions.list({ agent: made.a1?.agent.slug, limit: 2, order: 'asc' });
      const first = await list;
      const second = await first.getNextPage();
      expect([first.data.length, second.data.length, second.hasNextPage()]).toEqual([2, 1, false]);
      expect(await listed({ agent: made.a1?.agent.slug, limit: 2, order: 'asc' })).toBe('a1 a2 a3');
    });

    test.each([
      ['merchants', { merchants: 'x' }],
      ['limit', { limit: 0 }],
      ['limit', { limit: 201 }],
    ])('names %s where there is no such filter, or it is out of bounds', async (field, query) => {
      const list = stage.reviewer.decisions.list(query as DecisionListQuery);
      const error = await list.catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'invalid_request', field });
    });
  });

  test('a review settles what waits, once', async () => {
    const asking = await stage.asking('ENFORCE', 'REVIEW');
    const { decision_id } = await asking.decisions.create(REQUEST);
    const body = { action: 'ALLOW', reason_code: 'VENDOR_CONFIRMED' } as const;
    const review = await stage.reviewer.decisions.review(decision_id, body);
    expect([review.action, review.effective_decision]).toEqual(['ALLOW', 'ALLOW']);
    expect(await codeOf(stage.reviewer.decisions.review(decision_id, body))).toBe('409 review_final');
    const now = await asking.decisions.retrieve(decision_id);
    expect([now.effective_decision, now.review_state, now.authorized_amount_minor]).toEqual([
      'ALLOW',
      'ALLOWED',
      5440,
    ]);
    expect([now.capability?.status, typeof now.capability?.token]).toEqual(['ISSUED', 'string']);

    const denied = await asking.decisions.create(REQUEST);
    await stage.reviewer.decisions.review(denied.decision_id, { ...body, action: 'DENY' });
    const after = await asking.decisions.retrieve(denied.decision_id);
    expect([after.effective_decision, after.review_state, after.capability]).toEqual([
      'DENY',
      'DENIED',
      null,
    ]);
  });

  test('only what waits can be reviewed', async () => {
    const { decision } = await allowed();
    const body = { action: 'DENY', reason_code: 'NO' } as const;
    expect(await codeOf(stage.reviewer.decisions.review(decision.decision_id, body))).toBe(
      '409 not_reviewable',
    );
  });

  test('a look at a decision can wait for the review', async () => {
    const asking = await stage.asking('ENFORCE', 'REVIEW');
    const { decision_id } = await asking.decisions.create(REQUEST);
    const changed = asking.decisions.retrieveChanged(decision_id, 20);
    await stage.reviewer.decisions.review(decision_id, { action: 'ALLOW', reason_code: 'OK' });
    expect((await changed).review_state).toBe('ALLOWED');
  });

  test('a capability is consumed once, by whoever names the same payment', async () => {
    const { asking, decision, consumption } = await allowed();
    const first = await stage.adapter.capabilities
      .consume(consumption, { idempotencyKey: `a${name()}` })
      .withResponse();
    expect([first.response.status, first.data.status, first.data.decision_id]).toEqual([
      201,
      'CONSUMED',
      decision.decision_id,
    ]);
    expect((await asking.decisions.retrieve(decision.decision_id)).capability?.status).toBe('CONSUMED');
    const idempotencyKey = name();
    expect(await codeOf(stage.adapter.capabilities.consume(consumption, { idempotencyKey }))).toBe(
      '409 capability_used',
    );
  });

  test('a repeated consumption is a replay, and another body under its name a conflict', async () => {
    const { consumption } = await allowed();
    const options = { idempotencyKey: name() };
    const first = await stage.adapter.capabilities.consume(consumption, options);
    const again = await stage.adapter.capabilities.consume(consumption, options).withResponse();
    expect([again.response.status, again.replayed, again.data]).toEqual([200, true, first]);
    const less = { ...consumption, amount_minor: 1 };
    expect(await codeOf(stage.adapter.capabilities.consume(less, options))).toBe('409 idempotency_conflict');
  });

  test.each([
    ['404 not_found', { token: 'cap_forged' }],
    ['422 payee_mismatch', { payee_id: 'stripe:acct_2' }],
    ['422 payee_mismatch', { payee_id: undefined }],
    ['422 merchant_mismatch', { merchant: 'Evil Corp' }],
    ['422 currency_mismatch', { currency: 'USD' }],
    ['422 amount_exceeds_authorized', { amount_minor: 5441 }],
    ['422 merchant_mismatch', { merchant: 'Hetzner Online Refunds' }],
    ['no refusal', { merchant: 'HETZNER ONLINE', amount_minor: 1 }],
    ['no refusal', { merchant: 'HETZNER ONLINE GMBH 0123' }],
    ['no refusal', { merchant: 'PAYPAL *HETZNER ONLINE 4029357733' }],
  ])('a consumption is answered with %s for %o', async (told, other) => {
    const { consumption } = await allowed();
    const body = { ...consumption, ...other } as typeof consumption;
    expect(await codeOf(stage.adapter.capabilities.consume(body, { idempotencyKey: name() }))).toBe(told);
  });

  test.each([
    ['SPEND_EXECUTED', 'EXECUTED'],
    ['SPEND_FAILED', 'FAILED'],
    ['SPEND_CANCELLED', 'CANCELLED'],
  ] as const)('%s is recorded once, shows as %s and ends the capability', async (type, state) => {
    const { asking, decision, consumption } = await allowed();
    const body = { type, amount_minor: 5440, external_reference: 'pi_1' };
    const first = await asking.decisions.reportOutcome(decision.decision_id, body).withResponse();
    const again = await asking.decisions.reportOutcome(decision.decision_id, body).withResponse();
    expect([first.response.status, again.response.status]).toEqual([201, 200]);
    expect(again.data).toEqual(first.data);
    const now = await asking.decisions.retrieve(decision.decision_id);
    expect([now.outcome_state, now.capability?.status]).toEqual([state, 'REVOKED']);
    const consume = stage.adapter.capabilities.consume(consumption, { idempotencyKey: name() });
    expect(await codeOf(consume)).toBe('409 capability_revoked');
    const other = type === 'SPEND_FAILED' ? 'SPEND_EXECUTED' : 'SPEND_FAILED';
    const contrary = asking.decisions.reportOutcome(decision.decision_id, { ...body, type: other });
    expect(await codeOf(contrary)).toBe('409 outcome_conflict');
    const listed = await asking.decisions.listOutcomes(decision.decision_id);
    expect(listed.data.map((outcome) => outcome.outcome_id)).toEqual([first.data.outcome_id]);
  });

  test('refunds need a payment and give back no more than it', async () => {
    const { asking, decision } = await allowed();
    const report = (body: Parameters<typeof asking.decisions.reportOutcome>[1]) =>
      asking.decisions.reportOutcome(decision.decision_id, body);
    expect(await codeOf(report({ type: 'REFUNDED' }))).toBe('409 outcome_conflict');
    expect(await codeOf(report({ type: 'SPEND_EXECUTED' }))).toBe('400 invalid_request');
    expect(await codeOf(report({ type: 'SPEND_EXECUTED', amount_minor: 1, currency: 'USD' }))).toBe(
      '422 currency_mismatch',
    );
    await report({ type: 'SPEND_EXECUTED', amount_minor: 5000 });
    await report({ type: 'PARTIALLY_REFUNDED', amount_minor: 1000, external_reference: 're_1' });
    const states = [(await asking.decisions.retrieve(decision.decision_id)).outcome_state];
    expect(await codeOf(report({ type: 'PARTIALLY_REFUNDED', amount_minor: 4001 }))).toBe(
      '409 outcome_conflict',
    );
    expect((await report({ type: 'REFUNDED' })).amount_minor).toBe(4000);
    const listed = await asking.decisions.listOutcomes(decision.decision_id);
    expect(listed.data.map(({ type }) => type)).toEqual(['REFUNDED', 'PARTIALLY_REFUNDED', 'SPEND_EXECUTED']);
    states.push((await asking.decisions.retrieve(decision.decision_id)).outcome_state);
    expect(states).toEqual(['PARTIALLY_REFUNDED', 'REFUNDED']);
  });

  test('the payment rail may raise what it captured, also after a refund', async () => {
    const { asking, decision } = await allowed();
    const report = (amount_minor: number, external_reference?: string) =>
      stage.adapter.decisions.reportOutcome(decision.decision_id, {
        type: 'SPEND_EXECUTED',
        source: 'PAYMENT_RAIL',
        amount_minor,
        ...(external_reference === undefined ? {} : { external_reference }),
      });
    const reports = [await report(100), await report(100, 'ch_2'), await report(150)];
    expect(reports.map(({ flags }) => flags)).toEqual([[], [], ['ADJUSTED']]);
    expect(await codeOf(report(149))).toBe('409 outcome_conflict');
    expect((await report(100)).outcome_id).toBe(reports[0]?.outcome_id);
    const refund = { type: 'PARTIALLY_REFUNDED', amount_minor: 150, source: 'PAYMENT_RAIL' } as const;
    await stage.adapter.decisions.reportOutcome(decision.decision_id, refund);
    expect((await asking.decisions.retrieve(decision.decision_id)).outcome_state).toBe('REFUNDED');
    expect((await report(200)).flags).toEqual(['ADJUSTED']);
    expect((await asking.decisions.retrieve(decision.decision_id)).outcome_state).toBe('PARTIALLY_REFUNDED');
  });

  test('what is not there is 404, and a name is required', async () => {
    const { asking } = await allowed();
    expect(await codeOf(asking.decisions.retrieve('dec_00000000000000000000000000'))).toBe('404 not_found');
    const outcome = asking.decisions.reportOutcome('dec_00000000000000000000000000', {
      type: 'SPEND_FAILED',
    });
    expect(await codeOf(outcome)).toBe('404 not_found');
  });

  test('spends: asks, consumes, pays, reports; a second call finds it paid', async () => {
    const asking = await stage.asking('ENFORCE', 'ALLOW');
    const request = { ...REQUEST, idempotencyKey: name() };
    const options = { adapter: stage.adapter };
    const paid = await asking.spend(
      request,
      async ({ paymentKey }) => ({ external_reference: paymentKey }),
      options,
    );
    expect([paid.status, paid.outcome?.source, paid.outcome?.external_reference]).toEqual([
      'paid',
      'PAYMENT_RAIL',
      `purser-${paid.decision?.decision_id}`,
    ]);
    const again = await asking.spend(request, () => Promise.reject(new Error('paid twice')), options);
    expect([again.status, again.payment]).toEqual(['already_paid', null]);
    expect(again.decision?.decision_id).toBe(paid.decision?.decision_id);
  });
});
