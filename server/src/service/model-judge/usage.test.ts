import { beforeEach, describe, expect, test } from 'vitest';
import {
  type DailyLimit,
  type ModelConsumption,
  NOTHING_USED,
  sumConsumption,
  UsageCounter,
  type UsageStore,
} from './usage.ts';

const PRICES = { currency: 'USD', input: 3, cached_input: 0.3, output: 15 };
const tokens = (input_tokens: number, output_tokens = 0, cached_tokens = 0) => ({
  input_tokens,
  cached_tokens,
  output_tokens,
});

let now: string;
let kept: Map<string, ModelConsumption>;
let is_down: boolean;
let warned: string[];
beforeEach(() => {
  now = '2026-11-22T23:59:00.000Z';
  kept = new Map();
  is_down = false;
  warned = [];
});
const store: UsageStore = {
  async add(rows) {
    if (is_down) throw new Error('down');
    return rows.map(({ workspace_id, day, used }) => {
      const sum = sumConsumption(kept.get(`${workspace_id} ${day}`) ?? NOTHING_USED, used);
      kept.set(`${workspace_id} ${day}`, sum);
      return sum;
    });
  },
};
const makeNode = (limit: DailyLimit | null = null) =>
  new UsageCounter({
    prices: PRICES,
    limit,
    store,
    now: () => now,
    onUse: () => {},
    log: { warn: (_, message) => warned.push(message) },
  });

describe('what the model costs', () => {
  test('is kept by workspace and day, cached tokens at their own price', async () => {
    const node = makeNode();
    node.begin('ws_1', tokens(1))?.(tokens(1_000, 100, 400));
    node.begin('ws_2', tokens(1))?.(tokens(10));
    await node.flush();
    now = '2026-11-23T00:00:01.000Z';
    node.begin('ws_1', tokens(1))?.(tokens(10));
    await node.flush();
    await node.flush();
    expect(kept.get('ws_1 2026-11-22')).toEqual({
      calls: 1,
      ...tokens(1_000, 100, 400),
      cost_micros: 600 * 3 + 400 * 0.3 + 100 * 15,
    });
    expect([kept.get('ws_2 2026-11-22')?.cost_micros, kept.get('ws_1 2026-11-23')?.cost_micros]).toEqual([
      30, 30,
    ]);
  });

  test('of a call that began yesterday counts today, and what is not kept yet of yesterday is kept as yesterday', async () => {
    const node = makeNode();
    node.begin('ws_1', tokens(1))?.(tokens(7));
    const settle = node.begin('ws_1', tokens(1));
    now = '2026-11-23T00:00:01.000Z';
    settle?.(tokens(10));
    settle?.(tokens(10));
    await node.flush();
    expect([kept.get('ws_1 2026-11-22')?.input_tokens, kept.get('ws_1 2026-11-23')?.input_tokens]).toEqual([
      7, 10,
    ]);
  });

  test('is kept once, also where the database was down meanwhile', async () => {
    const node = makeNode();
    node.begin('ws_1', tokens(1))?.(tokens(5));
    is_down = true;
    await node.flush();
    expect(warned).toHaveLength(1);
    is_down = false;
    await Promise.all([node.flush(), node.flush()]);
    await node.flush();
    expect(kept.get('ws_1 2026-11-22')?.input_tokens).toBe(5);
  });
});

describe('the limit of a day', () => {
  test.each([
    ['tokens', { tokens: 1_000 }],
    ['money', { cost_micros: 3_000 }],
  ] as [string, DailyLimit][])(
    'in %s counts calls under way, other nodes, and each workspace by itself',
    async (_, limit) => {
      const one = makeNode(limit);
      const other = makeNode(limit);
      const under_way = one.begin('ws_1', tokens(600));
      expect(one.begin('ws_1', tokens(600))).toBe(null);
      expect(one.begin('ws_2', tokens(600))).not.toBe(null);
      under_way?.(tokens(500));
      await one.flush();
      const known = other.begin('ws_1', tokens(1));
      known?.(tokens(1));
      await other.flush();
      expect(other.begin('ws_1', tokens(600))).toBe(null);
      expect(other.begin('ws_1', tokens(400))).not.toBe(null);
    },
  );

  test('begins anew with the day', () => {
    const node = makeNode({ tokens: 100 });
    node.begin('ws_1', tokens(100))?.(tokens(100));
    expect(node.begin('ws_1', tokens(1))).toBe(null);
    now = '2026-11-23T00:00:00.000Z';
    expect(node.begin('ws_1', tokens(1))).not.toBe(null);
  });
});
