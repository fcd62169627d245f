import type { Authority } from '@purser/contract/authority';
import type { Agent } from '@purser/rules/domain/agents';
import { expect } from 'vitest';
import { createAuthority } from '../../src/engine/commands/create-authority.ts';
import { getAgent } from '../../src/engine/storage/agents.ts';
import { readPastSpends } from '../../src/service/decisions/read-past-spends.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { AUTHORITY, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

/** What a new limit is told of the spends before it, where there are more than are read. */
const BEGIN_MS = Date.UTC(2026, 10, 24, 12);
const { test, s, get, ask, makeAgent } = serviceTest({ plan: 'team', stopped_at_ms: BEGIN_MS });

let core: Core;
test.beforeAll(() => {
  core = makeTestCore(s.database.connection, s.checkpoint_dir);
});
test.afterAll(() => core.close());

const LIMITED = {
  ...AUTHORITY,
  on_purpose_unclear: 'ALLOW',
  velocity_limits: [
    { name: 'day', window: 'DAY', limit_count: 9 },
    { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_count: 9 },
  ],
} as Authority;
const ALL = { decisions: 100, slots: 100, at_once: 2 };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Each test has a week of its own, since time never goes back. */
let now_ms = BEGIN_MS;

/** An agent that spent at four merchants, a minute apart, and was then given limits. */
async function limited(bounds: typeof ALL) {
  now_ms += 7 * DAY_MS;
  await s.setClock(now_ms);
  const slug = await makeAgent({ on_purpose_unclear: 'ALLOW' });
  const made: { created_at: string }[] = [];
  for (const [i, merchant] of ['Anker', 'Birke', 'Cello', 'Distel'].entries()) {
    await s.setClock(now_ms + i * MINUTE_MS);
    made.push(await ask(slug, 10 + i, { action: { merchant } }));
  }
  const agent = await getAgent(core.db, s.workspace_id, slug);
  const past = await readPastSpends(core.db, s.workspace_id, agent as Agent, LIMITED, bounds);
  const actor = { type: 'system' as const, key_id: null, session_id: null, principal_id: null };
  const set = await core.lane.submit(
    s.workspace_id,
    createAuthority,
    { agent: slug, authority: LIMITED, note: null, expected_hash: null, past },
    { actor, request_id: null, client_address: null },
  );
  expect(set).toMatchObject({ version: 2 });
  const limits = async () =>
    (await get(`/v1/agents/${slug}/limits`)).data
      .filter(({ kind }: { kind: string }) => kind === 'velocity')
      .map((each: { used_count: number; counted_since: string | null }) => [
        each.used_count,
        each.counted_since,
      ]);
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  return { slug, made, limits };
}

test('all is counted where all is read', async () => {
  const { limits } = await limited(ALL);
  expect(await limits()).toEqual([[4, null], ...Array(4).fill([1, null])]);
});

test.each([
  ['more decisions than are looked at', { ...ALL, decisions: 2 }],
  ['more slots than are written', { ...ALL, slots: 2 }],
])('the newest are counted where there are %s, and each limit says since when', async (_name, bounds) => {
  const { slug, made, limits } = await limited(bounds);
  const since = made[2]?.created_at;
  expect(await limits()).toEqual([
    [2, since],
    [1, since],
    [1, since],
  ]);
  // From then on it counts everything: a window that began later knows all of itself.
  await s.setClock(now_ms + DAY_MS);
  await ask(slug, 50, { action: { merchant: 'Anker' } });
  const [day, ...shops] = await limits();
  expect(day).toEqual([1, null]);
  expect(shops.map(([, counted_since]: [number, string]) => counted_since)).toEqual(Array(3).fill(since));
});
