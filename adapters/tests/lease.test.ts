import { PurserUnavailable, SpendDenied, SpendPending, SpendUnfinished } from '@purser/sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Lease, type LeaseEnd, openPurse, type PurseOptions } from '../src/lease.ts';
import { type Fault, purserBehindFaults } from './purser-away.ts';

const CENT = 1_000_000_000n;

/** A purse over a fake Purser with a journal in memory. */
function open(
  more: Partial<PurseOptions> = {},
  mode: 'SHADOW' | 'ENFORCE' = 'ENFORCE',
  budget_minor?: number,
) {
  const authority = {
    purpose: { objective: 'Ask models' },
    currency: 'USD',
    ...(budget_minor === undefined ? {} : { monthly_budget_minor: budget_minor }),
  };
  const purser = purserBehindFaults({ mode, authority });
  const journal = {
    leases: [] as Lease[],
    ends: [] as LeaseEnd[],
    reported: [] as string[],
    lines: [] as string[],
  };
  const options: PurseOptions = {
    purser: purser.agent,
    adapter: purser.adapter,
    request: {
      action: { type: 'model_usage', merchant: 'OpenAI', payee_id: 'model:openai', currency: 'USD' },
      limitable: true,
    },
    unit: CENT,
    topUp: 20,
    name: 'gw_1',
    journal: {
      lease: async (lease) => void journal.leases.push(lease),
      close: async (end) => void journal.ends.push(end),
      reported: ({ key }) => void journal.reported.push(key),
    },
    log: (line) => journal.lines.push(line),
    ...more,
  };
  const { fake } = purser;
  const outcomes = () => fake.outcomes.map(({ type, amount_minor }) => [type, amount_minor]);
  const asked = () =>
    fake.decisions.map(({ action, min_amount_minor }) => [action.amount_minor, min_amount_minor]);
  return { ...purser, purse: openPurse(options), options, journal, outcomes, asked };
}

test('draws share a lease; the end states what they cost, rounded up, and the paid fraction stays', async () => {
  const { purse, outcomes, fake, journal } = open();
  const draws = await Promise.all([purse.draw(CENT), purse.draw(CENT), purse.draw(1n)]);
  expect(draws.map(({ amount }) => amount)).toEqual([CENT, CENT, 1n]);
  expect(fake.consumed.map(({ amount_minor }) => amount_minor)).toEqual([20]);
  for (const draw of draws) draw.settle(draw.amount / 2n);
  expect(purse.free).toBe(19n * CENT);
  expect(await purse.close()).toBe(true);
  expect(outcomes()).toEqual([['SPEND_EXECUTED', 1]]);
  expect(fake.outcomes[0]?.external_reference).toBe('gw_1-1');
  const again = await purse.draw(CENT / 3n);
  again.settle(CENT / 3n);
  // Exactly one cent is paid for and was spent, so a third of one needs another lease.
  expect(await purse.close()).toBe(true);
  const rest = await purse.draw((CENT * 2n) / 3n);
  rest.settle(rest.amount);
  await purse.close();
  expect(outcomes()).toEqual([
    ['SPEND_EXECUTED', 1],
    ['SPEND_EXECUTED', 1],
  ]);
  expect(journal.reported).toEqual(['gw_1-1', 'gw_1-2']);
});

test('leases are filled in order: whole, then what is left, then nothing', async () => {
  const { purse, outcomes } = open({ topUp: (lacking_minor) => lacking_minor });
  const draws = [await purse.draw(10n * CENT), await purse.draw(10n * CENT), await purse.draw(10n * CENT)];
  for (const [at, cost] of [10n, 3n, 0n].entries()) draws[at]?.settle(cost * CENT);
  expect(await purse.close()).toBe(true);
  expect(outcomes()).toEqual([
    ['SPEND_EXECUTED', 10],
    ['SPEND_EXECUTED', 3],
    ['SPEND_CANCELLED', null],
  ]);
});

test('no lease ends while a draw is not settled, and a draw settles once', async () => {
  const { purse, outcomes } = open();
  const draw = await purse.draw(CENT);
  expect(await purse.close()).toBe(false);
  expect(outcomes()).toEqual([]);
  draw.settle(CENT);
  draw.settle(5n * CENT);
  expect(await purse.close()).toBe(true);
  expect(outcomes()).toEqual([['SPEND_EXECUTED', 1]]);
});

test('a lease is journaled before it is consumed, and its end before it is reported', async () => {
  const order: string[] = [];
  const { purse, fake } = open({
    journal: {
      lease: async () => void order.push(`lease, ${fake.consumed.length} consumed`),
      close: async ({ spent_minor }) =>
        void order.push(`close ${spent_minor}, ${fake.outcomes.length} reported`),
      reported: () => void order.push(`reported, ${fake.outcomes.length}`),
    },
  });
  (await purse.draw(CENT)).settle(CENT);
  await purse.close();
  expect(order).toEqual(['lease, 0 consumed', 'close 1, 0 reported', 'reported, 1']);
});

test('a journal that fails stops what it would allow', async () => {
  const broken = async () => Promise.reject(new Error('no space left'));
  const first = open({ journal: { lease: broken, close: broken, reported: broken } });
  await expect(first.purse.draw(CENT)).rejects.toThrow('no space left');
  expect(first.fake.consumed).toEqual([]);
  const second = open({ journal: { lease: async () => {}, close: broken, reported: broken } });
  (await second.purse.draw(CENT)).settle(CENT);
  expect(await second.purse.close()).toBe(false);
  expect(second.outcomes()).toEqual([]);
});

describe('with too little money', () => {
  test('a draw gets what is left if that is at least what it needs', async () => {
    const { purse, asked } = open({}, 'ENFORCE', 15);
    const draw = await purse.draw(30n * CENT, 10n * CENT);
    expect(draw.amount).toBe(15n * CENT);
    expect(asked()).toEqual([
      [30, 10],
      [20, 1],
    ]);
  });

  test('what needs more waits for the others to settle, in order, and is refused at the end of its wait', async () => {
    const { purse } = open({ waitMs: 60_000 }, 'ENFORCE', 10);
    const first = await purse.draw(10n * CENT);
    const waiting = purse.draw(8n * CENT);
    const last = purse.draw(2n * CENT);
    first.settle(0n);
    expect([(await waiting).amount, (await last).amount]).toEqual([8n * CENT, 2n * CENT]);
    const late = open({ waitMs: 1 }, 'ENFORCE', 10);
    await late.purse.draw(10n * CENT);
    await expect(late.purse.draw(8n * CENT)).rejects.toBeInstanceOf(SpendDenied);
  });

  test('nothing in flight: it is refused at once, and again without a request for as long as the purse says', async () => {
    const clock = { ms: 0 };
    const { purse, fake } = open({ refusedMs: 1_000, waitMs: 60_000, now: () => clock.ms }, 'ENFORCE', 10);
    for (let i = 0; i < 3; i++) await expect(purse.draw(12n * CENT)).rejects.toBeInstanceOf(SpendDenied);
    const before = fake.decisions.length;
    clock.ms = 1_000;
    await expect(purse.draw(12n * CENT)).rejects.toBeInstanceOf(SpendDenied);
    expect([before, fake.decisions.length]).toEqual([1, 2]);
  });

  test('a draw that is given up leaves its place', async () => {
    const { purse } = open({ waitMs: 60_000 }, 'ENFORCE', 10);
    const first = await purse.draw(10n * CENT);
    const gone = new AbortController();
    const waiting = purse.draw(9n * CENT, 9n * CENT, { signal: gone.signal });
    const next = purse.draw(2n * CENT);
    gone.abort(new Error('client went away'));
    await expect(waiting).rejects.toThrow('client went away');
    first.settle(7n * CENT);
    expect((await next).amount).toBe(2n * CENT);
  });

  test('a cost above the draw counts in full, and nothing is given until it is covered', async () => {
    const { purse, outcomes } = open({}, 'ENFORCE', 20);
    (await purse.draw(CENT)).settle(25n * CENT);
    await expect(purse.draw(0n)).rejects.toBeInstanceOf(SpendDenied);
    expect(await purse.close()).toBe(true);
    expect(outcomes()).toEqual([['SPEND_EXECUTED', 25]]);
  });
});

test('a pending review refuses, and the same request is looked up until it is allowed', async () => {
  const { purse, fake } = open();
  fake.decide('REVIEW');
  await expect(purse.draw(CENT)).rejects.toBeInstanceOf(SpendPending);
  await expect(purse.draw(CENT)).rejects.toBeInstanceOf(SpendPending);
  fake.review(fake.decisions[0]?.decision_id as string, 'ALLOW');
  expect((await purse.draw(CENT)).amount).toBe(CENT);
  expect(fake.decisions).toHaveLength(1);
});

test.each<Fault>(['request lost', 'answer lost'])(
  '%s on the way: nothing is drawn, and no lease stays open',
  async (fault) => {
    const { purse, state, fake } = open();
    state.fault = fault;
    await expect(purse.draw(CENT)).rejects.toBeInstanceOf(PurserUnavailable);
    expect([await purse.flush(), purse.isOpen]).toEqual([false, true]);
    state.fault = 'none';
    expect(await purse.flush()).toBe(true);
    expect(fake.decisions.map(({ outcome_state }) => outcome_state)).toEqual(['CANCELLED']);
    expect(fake.consumed).toEqual([]);
  },
);

test('a consumption whose answer was lost is cancelled and never drawn on', async () => {
  const { purse, state, fake, options, outcomes } = open({
    journal: {
      lease: async () => {
        state.fault = 'answer lost';
      },
      close: async () => {},
      reported: () => {},
    },
  });
  await expect(purse.draw(CENT)).rejects.toBeInstanceOf(PurserUnavailable);
  expect([fake.consumed.length, purse.free]).toEqual([1, 0n]);
  state.fault = 'none';
  expect(await purse.flush()).toBe(true);
  expect(outcomes()).toEqual([['SPEND_CANCELLED', null]]);
  // The same name in another process: the lease is over.
  await expect(openPurse(options).draw(CENT)).rejects.toThrow('under a new idempotencyKey');
});

test('of two purses with one name, one draws on the lease, and the other reports nothing of it', async () => {
  for (const mode of ['ENFORCE', 'SHADOW'] as const) {
    const { purse, options, outcomes } = open({}, mode);
    const other = openPurse(options);
    const draw = await purse.draw(CENT);
    await expect(other.draw(CENT)).rejects.toBeInstanceOf(SpendUnfinished);
    expect([await other.close(), outcomes()]).toEqual([true, []]);
    draw.settle(CENT);
    expect(await purse.close()).toBe(true);
  }
});

test('a lease that somebody settled by hand is said to be, and is done with', async () => {
  const { purse, adapter, journal, outcomes } = open();
  (await purse.draw(CENT)).settle(CENT);
  const { decision_id } = purse.leases[0] as Lease;
  await adapter.decisions.reportOutcome(decision_id, {
    type: 'SPEND_EXECUTED',
    amount_minor: 9,
    source: 'PAYMENT_RAIL',
  });
  expect(await purse.close()).toBe(true);
  expect(outcomes()).toEqual([['SPEND_EXECUTED', 9]]);
  expect(journal.lines.join()).toContain('settled by somebody else');
});

test('in SHADOW a draw is never refused: what was overdrawn is leased and reported later', async () => {
  const { purse, outcomes, fake } = open({ topUp: (lacking_minor) => lacking_minor }, 'SHADOW', 1);
  purse.overdraw(50n * CENT).settle(3n * CENT);
  expect(purse.free).toBe(-3n * CENT);
  expect((await purse.draw(5n * CENT)).amount).toBe(5n * CENT);
  expect(fake.decisions.map(({ decision, action }) => [decision, action.amount_minor])).toEqual([
    ['DENY', 8],
  ]);
  expect(await purse.close()).toBe(false);
  const other = open({}, 'SHADOW');
  other.purse.overdraw(50n * CENT).settle(3n * CENT);
  expect(await other.purse.close()).toBe(true);
  expect(other.outcomes()).toEqual([['SPEND_EXECUTED', 3]]);
  expect(outcomes()).toEqual([]);
});

test('what an earlier process left is reported with the amounts that its journal has', async () => {
  const first = open({ topUp: (lacking_minor) => lacking_minor });
  (await first.purse.draw(10n * CENT)).settle(10n * CENT);
  (await first.purse.draw(10n * CENT)).settle(CENT / 2n);
  first.state.fault = 'answer lost';
  expect(await first.purse.close()).toBe(false);
  first.state.fault = 'none';
  const { ends } = first.journal;
  const next = openPurse({
    ...first.options,
    name: 'gw_1b',
    remains: { leases: [], unreported: ends, owed: -CENT / 2n },
  });
  expect(await next.flush()).toBe(true);
  expect(first.outcomes()).toEqual([
    ['SPEND_EXECUTED', 10],
    ['SPEND_EXECUTED', 1],
  ]);
  // The paid half of a cent is drawn on before anything is leased.
  expect((await next.draw(CENT / 2n)).amount).toBe(CENT / 2n);
  expect(first.fake.decisions).toHaveLength(2);
});

test('whatever is drawn, costs and fails: what was set aside is covered, and in the end exactly what it cost counts', async () => {
  const step = fc.record({
    draws: fc.array(
      fc.record({ most: fc.integer({ min: 1, max: 40 }), part: fc.integer({ min: 0, max: 100 }) }),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
    fault: fc.constantFrom<Fault>('none', 'none', 'request lost', 'answer lost'),
    close: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      const { purse, state, fake } = open({ topUp: (lacking_minor) => lacking_minor + 3 }, 'ENFORCE', 200);
      let cost = 0n;
      for (const { draws, fault, close } of steps) {
        state.fault = fault;
        await Promise.all(
          draws.map(async ({ most, part }) => {
            const at_most = (BigInt(most) * CENT) / 7n;
            const draw = await purse.draw(at_most, at_most / 2n).catch(() => null);
            if (draw === null) return;
            const held = fake.consumed.reduce((sum, { amount_minor }) => sum + amount_minor, 0);
            expect(cost + purse.reserved <= BigInt(held) * CENT).toBe(true);
            await Promise.resolve();
            const actual = (draw.amount * BigInt(part)) / 100n;
            cost += actual;
            draw.settle(actual);
          }),
        );
        if (close) await purse.close();
      }
      state.fault = 'none';
      expect(await purse.close()).toBe(true);
      const counted =
        fake.outcomes.reduce((sum, { amount_minor }) => sum + BigInt(amount_minor ?? 0), 0n) * CENT;
      expect(counted >= cost && counted - cost < CENT).toBe(true);
      expect(counted <= 200n * CENT).toBe(true);
      expect(fake.outcomes.length).toBe(fake.decisions.filter(({ decision }) => decision !== 'DENY').length);
    }),
    { numRuns: Number(process.env.LEASE_RUNS ?? 60) },
  );
});
