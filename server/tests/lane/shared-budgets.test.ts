import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/**
 * Random spends of agents that share budgets, raced on two nodes, with everything that can become of them. A failure prints
 * its seed and path: run it again with BUDGETS_SEED and BUDGETS_PATH. BUDGETS_RUNS makes a longer run.
 */
const SEED = Number(process.env.BUDGETS_SEED ?? 20_261_123);
const RUNS = Number(process.env.BUDGETS_RUNS);
const PATH = process.env.BUDGETS_PATH;
const MAX_MS = 120_000 + RUNS * 20_000;

let nodes: RunningService[];
beforeAll(async () => {
  const first = await startTestService({ plan: 'team' });
  nodes = [first, await startTestService({ beside: first })];
});
afterAll(async () => {
  for (const node of [...nodes].reverse()) await node.stop();
});

/** By depth: what each budget may hold at first. The third one lies beside the second. */
const LIMITS = [3_000, 1_500, 1_200];
/** Which budgets each agent's authority names. */
const NAMED = [[0], [1], [2], [1, 2]];
/** The budgets that an agent's spends count in: those that are named, and the first, which is above all. */
const COUNTED = NAMED.map((named) => [...new Set([...named, 0])]);

type Step =
  | { type: 'ask'; agent: number; amount: number; limitable: boolean }
  | { type: 'outcome'; nth: number; what: 'SPEND_EXECUTED' | 'SPEND_FAILED' | 'PARTIALLY_REFUNDED' }
  | { type: 'limit'; budget: number; limit_minor: number }
  | { type: 'status'; budget: number; status: 'active' | 'frozen' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('ask' as const),
      agent: fc.nat({ max: NAMED.length - 1 }),
      // Ones show where a limit ends.
      amount: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 900 })),
      limitable: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('outcome' as const),
      nth: fc.nat({ max: 40 }),
      what: fc.constantFrom('SPEND_EXECUTED', 'SPEND_FAILED', 'PARTIALLY_REFUNDED'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('limit' as const),
      budget: fc.nat({ max: 2 }),
      limit_minor: fc.integer({ min: 800, max: 3_500 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('status' as const),
      budget: fc.nat({ max: 2 }),
      status: fc.constantFrom('active', 'active', 'frozen'),
    }),
  },
);

test(
  'no spend takes a shared budget over its limit, and each budget holds exactly what became of the spends in it',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 4, maxLength: 16 }), { minLength: 4, maxLength: 8 }),
        history,
      ),
      { seed: SEED, numRuns: RUNS, ...(PATH === undefined ? {} : { path: PATH }), endOnFailure: true },
    );
  },
  MAX_MS,
);

/** What became of a decision that was no DENY. */
interface Spent {
  decision_id: string;
  agent: number;
  /** Held amount, or spent and not refunded. */
  amount: number;
  state: 'HELD' | 'SPENT' | 'NOTHING';
}

async function history(rounds: Step[][]): Promise<void> {
  const [one] = nodes as [RunningService];
  const { admin_key: key } = await one.addWorkspace({ plan: 'team' });
  const call = async (status: number, method: string, path: string, body?: object, node = one) => {
    const headers = { key, idempotency_key: freshKey() };
    const reply = await node.call(method, path, body === undefined ? { key } : { ...headers, body });
    expect(reply.status, reply.text).toBe(status);
    return reply.body;
  };
  const slugs = LIMITS.map((_, i) => `budget-${i}`);
  const limits = [...LIMITS];
  const frozen = LIMITS.map(() => false);
  for (const [i, limit_minor] of limits.entries()) {
    const body = { slug: slugs[i], currency: 'EUR', period: 'TOTAL', limit_minor };
    await call(201, 'POST', '/v1/budgets', i === 0 ? body : { ...body, parent: slugs[0] });
  }
  for (const [i, named] of NAMED.entries()) {
    const authority = {
      ...AUTHORITY,
      on_purpose_unclear: 'ALLOW',
      monthly_budget_minor: 1_000_000_000,
      per_transaction_limit_minor: 1_000_000,
      budgets: named.map((budget) => slugs[budget]),
    };
    await call(201, 'POST', '/v1/agents', { slug: `agent-${i}`, mode: 'ENFORCE', authority });
  }
  const spends: Spent[] = [];

  for (const [turn, round] of rounds.entries()) {
    // What changes a budget is done between the races, so that each race has limits that are known.
    for (const each of round) {
      if (each.type === 'limit') {
        limits[each.budget] = each.limit_minor;
        await call(200, 'PATCH', `/v1/budgets/${slugs[each.budget]}`, { limit_minor: each.limit_minor });
      } else if (each.type === 'status') {
        frozen[each.budget] = each.status === 'frozen';
        await call(200, 'PATCH', `/v1/budgets/${slugs[each.budget]}`, { status: each.status });
      }
    }
    const known = [...spends];
    const reported = new Set<Spent>();
    await Promise.all(
      round.map(async (each, i) => {
        const node = nodes[(turn + i) % nodes.length] as RunningService;
        if (each.type === 'ask') {
          const { agent, amount, limitable } = each;
          const body = { ...spend(`agent-${agent}`, amount), limitable };
          const decision = await call(201, 'POST', '/v1/decisions', body, node);
          checkDecision(decision, agent);
          if (decision.decision !== 'DENY') {
            const held = decision.reservation.amount_minor;
            spends.push({ decision_id: decision.decision_id, agent, amount: held, state: 'HELD' });
          }
        } else if (each.type === 'outcome') {
          const needed = each.what === 'PARTIALLY_REFUNDED' ? 'SPENT' : 'HELD';
          const open = known.filter((one) => one.state === needed && !reported.has(one));
          const spent = open[each.nth % open.length];
          if (spent === undefined) return;
          reported.add(spent);
          await report(spent, each.what, node);
        }
      }),
    );
    await checkStandings();
  }
  expect(await call(200, 'GET', '/v1/ledger/verify')).toMatchObject({ valid: true });

  // biome-ignore lint/suspicious/noExplicitAny: an answer of the service.
  function checkDecision(decision: any, agent: number): void {
    const counted = COUNTED[agent] as number[];
    const shown = decision.reservation.limits;
    expect(shown.map(({ name }: { name: string }) => name).sort()).toEqual(
      counted.map((budget) => slugs[budget]).sort(),
    );
    const is_frozen = counted.some((budget) => frozen[budget]);
    if (is_frozen) expect(decision.reason_codes).toContain('BUDGET_FROZEN');
    if (decision.decision === 'DENY') return;
    expect(is_frozen).toBe(false);
    for (const { name, used_minor } of shown)
      expect(used_minor).toBeLessThanOrEqual(limits[slugs.indexOf(name)] as number);
  }

  async function report(spent: Spent, what: string, node: RunningService): Promise<void> {
    const path = `/v1/decisions/${spent.decision_id}/outcomes`;
    const half = Math.floor(spent.amount / 2);
    if (what === 'PARTIALLY_REFUNDED') {
      if (half === 0) return;
      await call(201, 'POST', path, { type: what, amount_minor: half }, node);
      spent.amount -= half;
      return;
    }
    // Half of what was held is spent, or nothing.
    const left = spent.amount - half;
    const body = what === 'SPEND_EXECUTED' ? { type: what, amount_minor: left } : { type: what };
    await call(201, 'POST', path, body, node);
    spent.state = what === 'SPEND_EXECUTED' ? 'SPENT' : 'NOTHING';
    spent.amount = left;
  }

  async function checkStandings(): Promise<void> {
    const { data } = await call(200, 'GET', '/v1/budgets');
    for (const [i, slug] of slugs.entries()) {
      const inside = spends.filter(({ agent, state }) => state !== 'NOTHING' && COUNTED[agent]?.includes(i));
      const used_minor = inside.reduce((sum, { amount }) => sum + amount, 0);
      const { standing } = data.find((budget: { slug: string }) => budget.slug === slug);
      expect(standing).toMatchObject({
        limit_minor: limits[i],
        used_minor,
        used_count: inside.length,
        remaining_minor: Math.max(0, (limits[i] as number) - used_minor),
      });
    }
  }
}
