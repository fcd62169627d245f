import { afterEach, describe, expect, test, vi } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import {
  AbortedError,
  APIError,
  type Grant,
  PaymentFailed,
  Purser,
  PurserUnavailable,
  SpendDenied,
  SpendFailed,
  SpendPending,
  SpendRefused,
  type SpendRequest,
  SpendUncertain,
  SpendUnfinished,
  type Unreported,
} from '../src/index.ts';
import { type FakePurserOptions, fakePurser } from '../src/testing/index.ts';

let names = 0;
const request = (more: object = {}): SpendRequest => ({
  idempotencyKey: `order-${++names}`,
  action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 5440, currency: 'EUR' },
  ...more,
});

/** A request to the service: lost before it arrives (`before`), its answer lost (`after`), or told as it says. */
type Fault = (method: string, path: string) => 'before' | 'after' | Response | undefined;

/** A fake, a client of it and an adapter; `fault` breaks the way between. */
function stage(options: FakePurserOptions = {}) {
  const fake = fakePurser(options);
  let fault: Fault = () => undefined;
  const fetch = (async (url: string, init: RequestInit) => {
    const broken = fault(init.method as string, new URL(url).pathname);
    if (broken === 'before') throw new TypeError('fetch failed');
    if (broken instanceof Response) return broken;
    const answer = await fake.fetch(url, init);
    if (broken === 'after') throw new TypeError('fetch failed');
    return answer;
  }) as typeof globalThis.fetch;
  const client = (apiKey: string) => new Purser({ apiKey, fetch, maxRetries: 1 });
  const key = `sk_agent_${names}`;
  return {
    fake,
    purser: client(key),
    /** One more client with the same key. */
    another: () => client(key),
    adapter: client('sk_adapter'),
    breakWith: (next: Fault) => {
      fault = next;
    },
  };
}

const paid = (grant: Grant) => Promise.resolve({ external_reference: `pi_${grant.paymentKey}` });
// biome-ignore lint/suspicious/noExplicitAny: results and errors of every shape are looked into.
const caught = (call: Promise<unknown>): Promise<any> =>
  call.then(
    (value) => ({ resolved: value }),
    (error: unknown) => error,
  );
const asking = (method: string, path: string) => method === 'POST' && path === '/v1/decisions';
const reporting = (_: string, path: string) => path.endsWith('/outcomes');
const consuming = (_: string, path: string) => path.endsWith('/consume');
/** Loses so many of what matches. */
const lose = (
  which: (method: string, path: string) => boolean,
  how: 'before' | 'after',
  times = 1,
): Fault => {
  let left = times;
  return (method, path) => (which(method, path) && left-- > 0 ? how : undefined);
};
const ALWAYS = Number.POSITIVE_INFINITY;

afterEach(() => vi.useRealTimers());

describe('authorize', () => {
  test('gives the leave, the capability and the amount, and says when the name was used before', async () => {
    const { fake, purser } = stage();
    fake.decide({ decision: 'ALLOW', authorized_amount_minor: 5000 });
    const order = request({ limitable: true });
    const first = await purser.authorize(order);
    expect([first.amount_minor, first.capability?.status, first.replayed]).toEqual([5000, 'ISSUED', false]);
    expect((await purser.authorize(order)).replayed).toBe(true);
  });

  test('throws on DENY, on a REVIEW that nobody made, and for what was paid before', async () => {
    const { fake, purser } = stage();
    fake.decide({ decision: 'DENY', explanation: 'Evil Corp is blocked.' });
    const denied = await caught(purser.authorize(request()));
    expect(denied).toBeInstanceOf(SpendDenied);
    expect(denied.message).toContain('Evil Corp is blocked.');
    expect(denied.decision.decision).toBe('DENY');
    fake.decide('REVIEW');
    expect(await caught(purser.authorize(request()))).toBeInstanceOf(SpendPending);
    fake.decide('ALLOW');
    const order = request();
    await purser.spend(order, paid);
    expect(await caught(purser.authorize(order))).toBeInstanceOf(SpendUnfinished);
  });

  test('has no leave to give without Purser, whatever onUnavailable says', async () => {
    const { purser, breakWith } = stage();
    breakWith(() => 'before');
    const error = await caught(purser.authorize(request(), { onUnavailable: () => 'pay' }));
    expect(error).toBeInstanceOf(PurserUnavailable);
  });
});

describe('spend', () => {
  test.each([
    ['ENFORCE', true, 'PAYMENT_RAIL'],
    ['ENFORCE', false, 'CLIENT_REPORTED'],
    ['SHADOW', true, 'PAYMENT_RAIL'],
    ['SHADOW', false, 'CLIENT_REPORTED'],
  ] as const)(
    'in %s, adapter: %s, pays what was granted and reports it as %s',
    async (mode, with_adapter, source) => {
      const { fake, purser, adapter } = stage({ mode });
      const grants: Grant[] = [];
      const pay = async (grant: Grant) => {
        grants.push(grant);
        return { external_reference: 'pi_1', occurred_at: '2026-11-22T08:00:00Z' };
      };
      const spent = await purser.spend(request(), pay, with_adapter ? { adapter } : {});
      const { decision_id } = spent.decision as { decision_id: string };
      expect(grants).toHaveLength(1);
      expect(grants[0]).toMatchObject({
        amount_minor: 5440,
        currency: 'EUR',
        paymentKey: `purser-${decision_id}`,
      });
      expect(grants[0]?.decision?.decision_id).toBe(decision_id);
      expect(grants[0]?.signal.aborted).toBe(false);
      expect(fake.consumed).toHaveLength(mode === 'ENFORCE' && with_adapter ? 1 : 0);
      expect(fake.outcomes).toMatchObject([
        { type: 'SPEND_EXECUTED', amount_minor: 5440, currency: 'EUR', external_reference: 'pi_1', source },
      ]);
      expect(spent).toMatchObject({
        status: 'paid',
        payment: { external_reference: 'pi_1' },
        outcome: { source },
      });
    },
  );

  test('pays the capped amount, and reports what was really paid', async () => {
    const { fake, purser, adapter } = stage();
    fake.decide({ decision: 'ALLOW', authorized_amount_minor: 5000 });
    const pay = async ({ amount_minor }: Grant) => ({ amount_minor: amount_minor - 1 });
    await purser.spend(request({ limitable: true }), pay, { adapter });
    expect([fake.consumed[0]?.amount_minor, fake.outcomes[0]?.amount_minor]).toEqual([5000, 4999]);
  });

  test.each(['DENY', 'REVIEW'] as const)(
    'in SHADOW a %s stops nothing: the whole amount is paid',
    async (verdict) => {
      const { fake, purser } = stage({ mode: 'SHADOW' });
      fake.decide(verdict);
      const spent = await purser.spend(request(), async ({ amount_minor }) => ({ amount_minor }));
      expect([spent.status, spent.payment]).toEqual(['paid', { amount_minor: 5440 }]);
    },
  );

  test('whatever pay returns counts as paid', async () => {
    const { fake, purser } = stage();
    for (const result of [undefined, null, 'done', { id: 1 }]) {
      expect((await purser.spend(request(), async () => result as never)).status).toBe('paid');
    }
    expect(fake.outcomes).toHaveLength(4);
  });

  test.each(['DENY', 'REVIEW'] as const)('in ENFORCE nothing is paid on %s', async (verdict) => {
    const { fake, purser, adapter } = stage();
    fake.decide(verdict);
    const pay = vi.fn(paid);
    const error = await caught(purser.spend(request(), pay, { adapter }));
    expect(error).toBeInstanceOf(verdict === 'DENY' ? SpendDenied : SpendPending);
    expect(pay).not.toHaveBeenCalled();
  });

  test.each([true, false])('a repeat of what was paid does not pay; adapter: %s', async (with_adapter) => {
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      const { purser, adapter, fake } = stage({ mode });
      const order = request();
      const options = with_adapter ? { adapter } : {};
      const { decision } = await purser.spend(order, paid, options);
      const pay = vi.fn(paid);
      expect((await purser.spend(order, pay, options)).status).toBe('already_paid');
      const id = decision?.decision_id as string;
      await purser.decisions.reportOutcome(id, {
        type: 'REFUNDED',
        ...(with_adapter && { source: 'PAYMENT_RAIL' }),
      });
      expect((await purser.spend(order, pay, options)).status).toBe('already_paid');
      expect([pay.mock.calls.length, fake.decisions.length]).toEqual([0, 1]);
    }
  });

  test.each(['SPEND_FAILED', 'SPEND_CANCELLED'] as const)('after %s the name is used up', async (type) => {
    const { purser } = stage();
    const order = request();
    const { decision } = await purser.authorize(order);
    await purser.decisions.reportOutcome(decision.decision_id, { type });
    const pay = vi.fn(paid);
    expect(await caught(purser.spend(order, pay))).toBeInstanceOf(SpendFailed);
    expect(pay).not.toHaveBeenCalled();
  });

  test('the same name with another request is a conflict, not a payment', async () => {
    const { purser } = stage();
    const order = request();
    await purser.spend(order, paid);
    const error = await caught(purser.spend({ ...order, task: 'another' }, paid));
    expect(APIError.is(error, 'idempotency_conflict')).toBe(true);
  });
});

/** As many as call at once where a name is raced for. */
const FIFTY = Array.from({ length: 50 }, (_, number) => number);

describe('of fifty callers of one name', () => {
  test.each([
    ['ENFORCE', true, false],
    ['ENFORCE', true, true],
    ['ENFORCE', false, false],
    ['SHADOW', false, false],
    ['SHADOW', true, false],
  ] as const)(
    'one pays, and the others learn of it: %s, adapter: %s, idempotent: %s',
    async (mode, with_adapter, idempotent) => {
      const { adapter, another } = stage({ mode });
      const order = request();
      const keys = new Set<string>();
      const pay = vi.fn(async ({ paymentKey }: Grant) => {
        keys.add(paymentKey);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return {};
      });
      const options = { paymentIsIdempotent: idempotent, ...(with_adapter ? { adapter } : {}) };
      // Every fifth has a client of its own: what a process remembers holds for all of them.
      const clients = FIFTY.slice(0, 10).map(another);
      const calls = FIFTY.map((number) => clients[number % clients.length]?.spend(order, pay, options));
      const results = await Promise.all(calls.map((call) => caught(call as Promise<unknown>)));
      if (idempotent) expect(keys.size).toBe(1);
      else {
        expect(pay).toHaveBeenCalledTimes(1);
        const others = results.filter((result) => result.resolved === undefined);
        expect(others.length).toBeGreaterThan(0);
        expect(others.every((each) => each instanceof SpendUnfinished)).toBe(true);
      }
      expect((await another().spend(order, pay, options)).status).toBe('already_paid');
    },
  );
});

describe('a payment that throws', () => {
  const modes = [
    ['ENFORCE', true],
    ['ENFORCE', false],
    ['SHADOW', false],
  ] as const;
  test.each(modes)('proves nothing: nothing is reported (%s, adapter: %s)', async (mode, with_adapter) => {
    const { fake, purser, adapter } = stage({ mode });
    const order = request();
    const options = with_adapter ? { adapter } : {};
    const timeout = new Error('no answer from the bank');
    const error = await caught(purser.spend(order, () => Promise.reject(timeout), options));
    expect(error).toBeInstanceOf(SpendUncertain);
    expect([error.cause, error.decision.reservation.status]).toEqual([timeout, 'HELD']);
    expect(fake.outcomes).toEqual([]);
    const pay = vi.fn(paid);
    const again = await caught(purser.spend(order, pay, options));
    expect(again).toBeInstanceOf(SpendUnfinished);
    expect(pay).not.toHaveBeenCalled();
  });

  test.each(['ENFORCE', 'SHADOW'] as const)(
    'without an adapter, in %s a name is paid by the call that made its decision and by no other',
    async (mode) => {
      const { purser } = stage({ mode });
      const order = request();
      const { idempotencyKey, ...body } = order;
      // Another process asked, and may have been killed right after it paid.
      await purser.decisions.create(body, { idempotencyKey });
      const pay = vi.fn(paid);
      expect(await caught(purser.spend(order, pay))).toBeInstanceOf(SpendUnfinished);
      expect(pay).not.toHaveBeenCalled();
      expect((await purser.spend(order, pay, { paymentIsIdempotent: true })).status).toBe('paid');
      const own = request();
      expect((await purser.spend(own, paid)).status).toBe('paid');
    },
  );

  test('without an adapter, a review that ended a call is followed by one payment of this process', async () => {
    const { fake, purser } = stage();
    fake.decide('REVIEW');
    const order = request();
    const pay = vi.fn(paid);
    const ended = await Promise.all([1, 2, 3].map(() => caught(purser.spend(order, pay))));
    expect(ended.map((each) => each.name)).toEqual(Array(3).fill('SpendPending'));
    fake.review(ended[0].decision.decision_id, 'ALLOW');
    const then = await Promise.all([1, 2, 3].map(() => caught(purser.spend(order, pay))));
    expect(pay).toHaveBeenCalledTimes(1);
    expect(then.map((each) => each.resolved?.status ?? each.name)).toEqual(
      expect.arrayContaining(['paid', 'SpendUnfinished']),
    );
    expect((await caught(purser.spend(order, pay))).resolved.status).toBe('already_paid');
  });

  test('PaymentFailed is proof: it is reported, and the name is used up', async () => {
    const { fake, purser, adapter } = stage();
    const order = request();
    const cause = new PaymentFailed('card declined');
    const error = await caught(purser.spend(order, () => Promise.reject(cause), { adapter }));
    expect(error).toBeInstanceOf(SpendFailed);
    expect([error.cause, error.message.includes('card declined')]).toEqual([cause, true]);
    expect(fake.outcomes).toMatchObject([{ type: 'SPEND_FAILED', source: 'PAYMENT_RAIL' }]);
    expect(await caught(purser.spend(order, paid, { adapter }))).toBeInstanceOf(SpendFailed);
  });

  test('isDefiniteFailure decides instead, and proves nothing when it throws itself', async () => {
    const { fake, purser } = stage();
    const declined = Object.assign(new Error('declined'), { code: 'card_declined' });
    const pay = () => Promise.reject(declined);
    const isDeclined = (error: unknown) => (error as { code?: string }).code === 'card_declined';
    expect(await caught(purser.spend(request(), pay, { isDefiniteFailure: isDeclined }))).toBeInstanceOf(
      SpendFailed,
    );
    const no = () => false;
    const failed = () => Promise.reject(new PaymentFailed('no'));
    expect(await caught(purser.spend(request(), failed, { isDefiniteFailure: no }))).toBeInstanceOf(
      SpendUncertain,
    );
    const broken = () => {
      throw new Error('broken');
    };
    expect(await caught(purser.spend(request(), pay, { isDefiniteFailure: broken }))).toBeInstanceOf(
      SpendUncertain,
    );
    expect(fake.outcomes).toHaveLength(1);
  });

  test('a payment that is idempotent is made again by the next call, with the same key', async () => {
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      const { purser, adapter } = stage({ mode });
      const order = request();
      const keys: string[] = [];
      const pay = async ({ paymentKey }: Grant) => {
        keys.push(paymentKey);
        if (keys.length === 1) throw new Error('no answer from the bank');
        return {};
      };
      const options = { adapter, paymentIsIdempotent: true };
      expect(await caught(purser.spend(order, pay, options))).toBeInstanceOf(SpendUncertain);
      expect((await purser.spend(order, pay, options)).status).toBe('paid');
      expect(new Set(keys).size).toBe(1);
    }
  });
});

describe('an answer of another shape', () => {
  const looking = (method: string, path: string) => method === 'GET' && path.startsWith('/v1/decisions/');
  const lists = () => Response.json([]);

  test.each<[string, (method: string, path: string) => boolean]>([
    ['to the question', asking],
    ['to a look at a replay', looking],
    ['to the consumption', consuming],
  ])('%s pays nothing, and the next call goes on', async (_, which) => {
    for (const answer of [lists, () => Response.json({}), () => new Response(null, { status: 204 })]) {
      const { purser, adapter, breakWith, fake } = stage();
      const order = request();
      if (which === looking) {
        const { idempotencyKey, ...body } = order;
        await purser.decisions.create(body, { idempotencyKey });
      }
      breakWith((method, path) => (which(method, path) ? answer() : undefined));
      const pay = vi.fn(paid);
      expect(await caught(purser.spend(order, pay, { adapter }))).toBeInstanceOf(PurserUnavailable);
      expect(pay).not.toHaveBeenCalled();
      breakWith(() => undefined);
      expect((await purser.spend(order, pay, { adapter })).status).toBe('paid');
      expect([pay.mock.calls.length, fake.outcomes.length]).toEqual([1, 1]);
    }
  });

  test('while a person is waited for is no answer: it goes on waiting', async () => {
    const { purser, adapter, breakWith, fake } = stage();
    fake.decide('REVIEW');
    const order = request();
    breakWith((method, path) => (looking(method, path) ? lists() : undefined));
    const error = await caught(purser.spend(order, paid, { adapter, waitForReview: 50 }));
    expect(error).toBeInstanceOf(SpendPending);
    // Also where it is another decision, which is allowed.
    const allowed = { ...error.decision, decision_id: 'dec_other', effective_decision: 'ALLOW' };
    breakWith((method, path) => (looking(method, path) ? Response.json(allowed) : undefined));
    const other = await caught(purser.spend(order, paid, { adapter, waitForReview: 50 }));
    expect([other.name, fake.consumed]).toEqual(['PurserUnavailable', []]);
  });

  test('to the report is a report that was not made', async () => {
    const { purser, adapter, breakWith } = stage();
    breakWith((method, path) => (reporting(method, path) ? lists() : undefined));
    const unreported: Unreported[] = [];
    const onUnreported = (report: Unreported) => unreported.push(report);
    vi.useFakeTimers();
    const ended = purser.spend(request(), paid, { adapter, onUnreported });
    await vi.runAllTimersAsync();
    expect(await ended).toMatchObject({ status: 'paid', outcome: null });
    expect(unreported).toHaveLength(1);
  });
});

describe('what is lost on the way', () => {
  test.each(['SHADOW', 'ENFORCE'] as const)(
    'the answer to the question, in %s: the repeat finds its own',
    async (mode) => {
      const { purser, adapter, breakWith } = stage({ mode });
      breakWith(lose(asking, 'after'));
      expect((await purser.spend(request(), paid, { adapter })).status).toBe('paid');
    },
  );

  test('who made it, in SHADOW by an older service: nothing is paid on a guess', async () => {
    const { fake } = stage({ mode: 'SHADOW' });
    let lost = false;
    const fetch = (async (url: string, init: RequestInit) => {
      const answer = await fake.fetch(url, init);
      answer.headers.delete('idempotent-replay-of');
      if (lost) return answer;
      lost = true;
      throw new TypeError('fetch failed');
    }) as typeof globalThis.fetch;
    const pay = vi.fn(paid);
    const error = await caught(new Purser({ apiKey: 'sk_a', fetch }).spend(request(), pay));
    expect([error instanceof SpendUnfinished, pay.mock.calls.length]).toEqual([true, 0]);
  });

  test.each([
    ['the question', asking],
    ['the consumption', consuming],
  ])('%s, for good: nothing is paid, and the next call of this process goes on', async (_, which) => {
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      if (mode === 'SHADOW' && which === consuming) continue;
      for (const how of ['before', 'after'] as const) {
        const { purser, adapter, breakWith } = stage({ mode });
        const order = request();
        const pay = vi.fn(paid);
        breakWith(lose(which, how, ALWAYS));
        expect(await caught(purser.spend(order, pay, { adapter }))).toBeInstanceOf(PurserUnavailable);
        expect(pay).not.toHaveBeenCalled();
        breakWith(() => undefined);
        expect((await purser.spend(order, pay, { adapter })).status).toBe('paid');
        expect(pay).toHaveBeenCalledTimes(1);
      }
    }
  });

  test('the report, for a while: it is made all the same', async () => {
    vi.useFakeTimers();
    const { fake, purser, breakWith } = stage();
    breakWith(lose(reporting, 'after', 5));
    const spending = purser.spend(request(), paid);
    await vi.runAllTimersAsync();
    expect((await spending).outcome?.outcome_id).toBe(fake.outcomes[0]?.outcome_id);
    expect(fake.outcomes).toHaveLength(1);
  });

  test('the report, for good: nothing is thrown, and onUnreported is told what to report', async () => {
    vi.useFakeTimers();
    const { fake, purser, adapter, breakWith } = stage();
    breakWith(lose(reporting, 'before', ALWAYS));
    const unreported: Unreported[] = [];
    const keep = (report: Unreported) => {
      unreported.push(report);
      throw new Error('the disk is full');
    };
    const rejecting = async () => {
      throw new Error('the disk is full');
    };
    for (const onUnreported of [keep, rejecting, undefined]) {
      const spending = purser.spend(request(), paid, { adapter, onUnreported });
      await vi.runAllTimersAsync();
      expect(await spending).toMatchObject({ status: 'paid', outcome: null });
    }
    breakWith(() => undefined);
    const [{ decision_id, outcome }] = unreported as [Unreported];
    await adapter.decisions.reportOutcome(decision_id, outcome);
    expect(fake.outcomes).toMatchObject([{ type: 'SPEND_EXECUTED', decision_id, source: 'PAYMENT_RAIL' }]);
  });

  test('the report of a failure: it failed all the same, and onUnreported is told', async () => {
    vi.useFakeTimers();
    const { purser, breakWith } = stage();
    breakWith(lose(reporting, 'before', ALWAYS));
    const onUnreported = vi.fn();
    const failed = () => Promise.reject(new PaymentFailed('declined'));
    const spending = caught(purser.spend(request(), failed, { onUnreported }));
    await vi.runAllTimersAsync();
    expect(await spending).toBeInstanceOf(SpendFailed);
    expect(onUnreported.mock.calls[0]?.[0].outcome.type).toBe('SPEND_FAILED');
  });

  test('the service refuses the report: nothing is thrown', async () => {
    const { purser } = stage();
    const onUnreported = vi.fn();
    const pay = async ({ decision }: Grant) => {
      await purser.decisions.reportOutcome(decision?.decision_id as string, { type: 'SPEND_CANCELLED' });
      return {};
    };
    expect(await purser.spend(request(), pay, { onUnreported })).toMatchObject({
      status: 'paid',
      outcome: null,
    });
    expect(APIError.is(onUnreported.mock.calls[0]?.[0].error, 'outcome_conflict')).toBe(true);
  });
});

describe('the capability', () => {
  test('refused: nothing is paid, and the reason is told', async () => {
    const { purser, adapter, breakWith } = stage();
    const told = {
      error: { code: 'capability_expired', message: 'The capability expired.', request_id: 'req_1' },
    };
    breakWith((method, path) => (consuming(method, path) ? Response.json(told, { status: 409 }) : undefined));
    const pay = vi.fn(paid);
    const error = await caught(purser.spend(request(), pay, { adapter }));
    expect(error).toBeInstanceOf(SpendRefused);
    expect([APIError.is(error.cause, 'capability_expired'), pay.mock.calls.length]).toEqual([true, 0]);
  });

  test('consumed elsewhere: who has no adapter does not pay', async () => {
    const { purser, adapter } = stage();
    const order = request();
    const { capability } = await purser.authorize(order);
    const body = { token: capability?.token as string, amount_minor: 5440, currency: 'EUR' };
    await adapter.capabilities.consume(body, { idempotencyKey: 'elsewhere' });
    expect(await caught(purser.spend(order, paid))).toBeInstanceOf(SpendUnfinished);
    expect(await caught(purser.spend(order, paid, { adapter }))).toBeInstanceOf(SpendUnfinished);
  });

  test('bound to a payee: that one is named', async () => {
    const { fake, purser, adapter } = stage();
    const order = request();
    const payee_id = 'stripe:acct_1032D8';
    await purser.spend({ ...order, action: { ...order.action, payee_id } }, paid, { adapter });
    expect(fake.consumed[0]?.payee_id).toBe(payee_id);
  });
});

describe('a review', () => {
  const pending = async () => {
    const { fake, purser, adapter, breakWith } = stage();
    fake.decide('REVIEW');
    const order = request();
    const spend = (options: object = {}) => caught(purser.spend(order, paid, { adapter, ...options }));
    const id = () => fake.decisions[0]?.decision_id as string;
    return { fake, purser, spend, id, breakWith };
  };

  test('is waited for, and then it is paid', async () => {
    const { fake, spend, id } = await pending();
    const spending = spend({ waitForReview: 20_000 });
    await until(id);
    fake.review(id(), 'ALLOW');
    expect((await spending).resolved.status).toBe('paid');
  });

  test('that says no ends it', async () => {
    const { fake, spend, id } = await pending();
    const spending = spend({ waitForReview: 20_000 });
    await until(id);
    fake.review(id(), 'DENY');
    expect(await spending).toBeInstanceOf(SpendDenied);
  });

  test('is not waited for longer than said, and the next call goes on from there', async () => {
    const { fake, spend, id } = await pending();
    expect(await spend({ waitForReview: 30 })).toBeInstanceOf(SpendPending);
    expect(await spend()).toBeInstanceOf(SpendPending);
    fake.review(id(), 'ALLOW');
    expect((await spend()).resolved.status).toBe('paid');
  });

  test('is noticed at once when notify tells of it, also by a service that holds nothing back', async () => {
    const { fake, purser, spend, id, breakWith } = await pending();
    const unknown = {
      error: {
        code: 'invalid_request',
        message: 'wait_seconds: is not a known query parameter',
        request_id: 'r',
      },
    };
    let looks = 0;
    breakWith((method, path) => {
      if (method !== 'GET' || !path.includes('/dec_')) return undefined;
      // As if it were an older service: the first look asks to be held back.
      return looks++ === 0 ? Response.json(unknown, { status: 400 }) : undefined;
    });
    // No pause of the client ever ends, so only what it is told can make it look again.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const spending = spend({ waitForReview: 60_000 });
    await until(() => looks > 0);
    fake.review(id(), 'ALLOW');
    purser.notify({
      type: 'decision.review.recorded',
      id: 'evt_1',
      created_at: '',
      data: { decision_id: id() },
    } as never);
    expect((await spending).resolved.status).toBe('paid');
    expect(() => purser.notify({} as never)).toThrow(TypeError);
  });

  test('is waited for through failures of the service, to the end', async () => {
    vi.useFakeTimers();
    const { spend, breakWith } = await pending();
    let looks = 0;
    breakWith((method) => (method === 'GET' && ++looks > 0 ? Response.json({}, { status: 503 }) : undefined));
    const spending = spend({ waitForReview: 60_000 });
    await vi.runAllTimersAsync();
    expect(await spending).toBeInstanceOf(SpendPending);
    // 1, 2, 4, 8, 15, 15 … seconds, a quarter more or less, and one at the end.
    expect(looks).toBeGreaterThanOrEqual(6);
    expect(looks).toBeLessThanOrEqual(10);
  });

  test('that ran out is a denial', async () => {
    const { spend, breakWith, fake, id } = await pending();
    expect(await spend()).toBeInstanceOf(SpendPending);
    breakWith((method) =>
      method === 'GET' ? Response.json({ ...fake.decisions[0], review_state: 'EXPIRED' }) : undefined,
    );
    expect(await spend({ waitForReview: 1_000 })).toBeInstanceOf(SpendDenied);
    expect(id()).toMatch(/^dec_/);
  });

  test('a signal ends the waiting, and nothing is paid', async () => {
    const { spend } = await pending();
    const controller = new AbortController();
    const spending = spend({ waitForReview: 60_000, signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 20);
    const error = await spending;
    expect([error instanceof AbortedError, error.cause]).toEqual([true, 'enough']);
  });
});

describe('an aborted signal', () => {
  test('before the payment: nothing is paid, and the next call of this process goes on', async () => {
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      const { purser, adapter, breakWith } = stage({ mode });
      const order = request();
      const controller = new AbortController();
      breakWith((method, path) => {
        if (mode === 'ENFORCE' ? consuming(method, path) : asking(method, path))
          queueMicrotask(() => controller.abort());
        return undefined;
      });
      const pay = vi.fn(paid);
      const error = await caught(purser.spend(order, pay, { adapter, signal: controller.signal }));
      expect([error.constructor, pay.mock.calls.length]).toEqual([AbortedError, 0]);
      breakWith(() => undefined);
      expect((await purser.spend(order, pay, { adapter })).status).toBe('paid');
    }
  });

  test('after the payment: it is reported all the same', async () => {
    const { fake, purser } = stage();
    const controller = new AbortController();
    const pay = async ({ signal }: Grant) => {
      controller.abort();
      return { external_reference: String(signal.aborted) };
    };
    const spent = await purser.spend(request(), pay, { signal: controller.signal });
    expect([spent.status, fake.outcomes[0]?.external_reference]).toEqual(['paid', 'true']);
  });
});
