import type { Authority } from '@purser/contract/authority';
import { slotAt } from '@purser/rules/counters/windows';
import type { Agent } from '@purser/rules/domain/agents';
import { OPERATOR } from '@purser/rules/domain/audit';
import { countersOfAgent, type SpendCounter } from '@purser/rules/policy/counters';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAuthorityVersion } from '../../src/engine/commands/create-authority.ts';
import { type Command, done } from '../../src/engine/lane/command.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeReservationSweep } from '../../src/service/workers/expire-reservations.ts';
import {
  AUTHORITY,
  makeKey,
  makeTestCore,
  type RunningService,
  startTestService,
} from '../support/running-service.ts';
import { type Client, makeClient } from '../support/service-test.ts';

/**
 * A limit that joins while money is held counts the outcome of that money, as if the limit had been there from the
 * beginning. Each story runs with two agents on two nodes: one has the limits from the beginning, one gets them after the
 * spends.
 */
const BEGIN_MS = Date.UTC(2026, 10, 24, 12);
const TTL_S = 600;
const env = { REVIEW_TTL_SECONDS: String(TTL_S), CAPABILITY_TTL_SECONDS: String(TTL_S) };

let nodes: RunningService[];
let one: Client;
let other: Client;
let rail: string;
let core: Core;
let reviewer: string;
let month = 0;

beforeAll(async () => {
  const first = await startTestService({ plan: 'enterprise', stopped_at_ms: BEGIN_MS, env });
  nodes = [first, await startTestService({ beside: first, env })];
  [one, other] = nodes.map(makeClient) as [Client, Client];
  core = makeTestCore(first.database.connection);
  rail = (await makeKey(first, { scopes: ['consume'] })).key;
  reviewer = (await makeKey(first, { scopes: ['review', 'read'], principal_id: 'user:ann' })).key;
});
afterAll(async () => {
  await core.close();
  for (const node of [...nodes].reverse()) await node.stop();
});

const BARE = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', review_threshold_minor: 7_000 };
const LIMITED = {
  ...BARE,
  velocity_limits: [
    { name: 'month', window: 'MONTH', limit_amount_minor: 8_000 },
    { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_count: 3 },
    { name: 'payee', window: 'ROLLING', window_seconds: 86_400, per: 'PAYEE', limit_amount_minor: 9_000 },
    // It lets spends through that name no payee, and counts them.
    { name: 'asks', window: 'DAY', per: 'PAYEE', limit_amount_minor: 6_000, on_exceeded: 'REVIEW' },
  ],
  duplicate_window_seconds: 86_400,
  on_duplicate: 'DENY',
};
const DENYING = {
  ...LIMITED,
  velocity_limits: LIMITED.velocity_limits.map(({ on_exceeded, ...limit }) => limit),
};

const sweep = () => makeReservationSweep({ db: core.db, lane: core.lane, log: pino({ level: 'silent' }) })();

// biome-ignore lint/suspicious/noExplicitAny: an answer of the service.
type Shown = any;

const setAuthority = (agent: string, authority: object) =>
  other.post(`/v1/agents/${agent}/authority`, authority);
const report = (made: Shown, type: string, amount_minor?: number, key = rail) =>
  one.post(
    `/v1/decisions/${made.decision_id}/outcomes`,
    {
      type,
      ...(amount_minor === undefined ? {} : { amount_minor }),
      ...(key === rail ? { source: 'PAYMENT_RAIL' } : {}),
    },
    key,
  );
const PAYEE = { action: { payee_id: 'sepa:DE1' } };
const consume = (made: Shown, amount_minor: number) =>
  other.post(
    '/v1/capabilities/consume',
    { token: made.capability.token, amount_minor, currency: 'EUR', ...PAYEE.action },
    rail,
  );
const review = (made: Shown, action: string) =>
  other.post(`/v1/decisions/${made.decision_id}/reviews`, { action, reason_code: 'CHECKED' }, reviewer);

/** The spends before the limits join, and the events after: at once, and when everything has expired. */
interface Story {
  before: (ask: (amount_minor: number, extra?: object) => Promise<Shown>) => Promise<Shown>;
  after?: (made: Shown, agent: string) => Promise<unknown>;
  late?: (made: Shown, agent: string) => Promise<unknown>;
}

const nothing = async () => {};

const spendOf =
  (amount_minor: number, extra = {}): Story['before'] =>
  (ask) =>
    ask(amount_minor, extra);
const STORIES: Record<string, Story> = {
  'nothing more': { before: spendOf(5_000) },
  'it fails': { before: spendOf(5_000), after: (made) => report(made, 'SPEND_FAILED') },
  'it is cancelled': { before: spendOf(5_000, PAYEE), after: (made) => report(made, 'SPEND_CANCELLED') },
  'more is executed than was held': {
    before: spendOf(5_000),
    after: (made) => report(made, 'SPEND_EXECUTED', 9_000),
  },
  'less is executed than was held': {
    before: spendOf(5_000, PAYEE),
    after: (made) => report(made, 'SPEND_EXECUTED', 1_000),
  },
  'it is executed and refunded': {
    before: spendOf(5_000),
    after: async (made) => {
      await report(made, 'SPEND_EXECUTED', 4_000);
      await report(made, 'PARTIALLY_REFUNDED', 1_500);
      await report(made, 'REFUNDED');
    },
  },
  'it was executed, and is refunded': {
    before: async (ask) => {
      const made = await ask(5_000);
      await report(made, 'SPEND_EXECUTED', 4_000);
      await report(made, 'PARTIALLY_REFUNDED', 1_000);
      return made;
    },
    after: (made) => report(made, 'REFUNDED'),
  },
  'it was released, and is executed all the same': {
    before: async (ask) => {
      const made = await ask(5_000);
      await report(made, 'SPEND_FAILED', undefined, nodes[0]?.admin_key);
      return made;
    },
    after: (made) => report(made, 'SPEND_EXECUTED', 5_000),
  },
  'it was denied, and is executed all the same': {
    before: async (ask) => {
      return ask(5_000, { action: { currency: 'EUR', merchant: 'Blocked Shop' } });
    },
    after: (made) => report(made, 'SPEND_EXECUTED', 5_000),
  },
  'its hold expires': { before: spendOf(5_000, PAYEE), late: nothing },
  'its hold expires, and it is executed late': {
    before: spendOf(5_000, PAYEE),
    late: (made) => report(made, 'SPEND_EXECUTED', 5_000),
  },
  'its capability was consumed, and the rail reports more': {
    before: async (ask) => {
      const made = await ask(5_000, PAYEE);
      await consume(made, 4_000);
      return made;
    },
    after: (made) => report(made, 'SPEND_EXECUTED', 6_000),
  },
  'a person denies it': { before: spendOf(7_500, PAYEE), after: (made) => review(made, 'DENY') },
  'a person allows it, and its hold expires': {
    before: async (ask) => {
      const made = await ask(7_500, PAYEE);
      await review(made, 'ALLOW');
      return made;
    },
    late: nothing,
  },
  'nobody reviews it': { before: spendOf(7_500), late: nothing },
  'the limits leave and come back meanwhile': {
    before: spendOf(5_000),
    after: async (made, agent) => {
      await setAuthority(agent, { ...BARE, blocked_merchants: ['Blocked Shop'] });
      await one.ask(agent, 300, { action: { merchant: 'Birke' } });
      await report(made, 'SPEND_EXECUTED', 4_500);
      await setAuthority(agent, { ...LIMITED, blocked_merchants: ['Blocked Shop'] });
      await report(made, 'PARTIALLY_REFUNDED', 500);
    },
  },
};

/** A subject without counted spends is shown until the sweep removes it. */
const shownLimit = ({ window, ...limit }: Shown) =>
  limit.subject !== null && limit.used_count === 0 ? [] : [limit];

for (const [name, { before, after = nothing, late }] of Object.entries(STORIES)) {
  for (const mode of ['SHADOW', 'ENFORCE']) {
    test.skipIf(mode === 'SHADOW' && /capability/.test(name))(`${mode}: ${name}`, async () => {
      // A month of its own.
      const began_ms = Date.UTC(2026, 10 + ++month, 24, 12);
      await nodes[0]?.setClock(began_ms);
      const agents: string[] = [];
      const told: Shown[] = [];
      for (const from_the_beginning of [true, false]) {
        const blocked = { blocked_merchants: ['Blocked Shop'] };
        const first = { ...(from_the_beginning ? LIMITED : BARE), ...blocked };
        agents.push(await one.makeAgent(first, { mode }));
      }
      const made: Shown[] = [];
      for (const agent of agents)
        made.push(await before((amount, extra) => one.ask(agent, amount, { ...extra })));
      // The same version for both, so that what was issued may be consumed by neither.
      for (const agent of agents)
        await setAuthority(agent, { ...LIMITED, blocked_merchants: ['Blocked Shop'] });
      for (const [i, agent] of agents.entries()) await after(made[i], agent);
      if (late !== undefined) {
        await nodes[0]?.setClock(began_ms + (TTL_S + 60) * 1000);
        await sweep();
      }
      for (const [i, agent] of agents.entries()) {
        const expired = (await other.get(`/v1/agents/${agent}/limits`)).data;
        await late?.(made[i], agent);
        const limits = (await other.get(`/v1/agents/${agent}/limits`)).data;
        const next = await other.ask(agent, 1_000, { action: { merchant: 'Anker' } });
        await setAuthority(agent, { ...DENYING, blocked_merchants: ['Blocked Shop'] });
        const again = await one.ask(agent, 5_500, PAYEE);
        const unnamed = await one.ask(agent, 2_000, { action: { merchant: 'Cello' } });
        told.push([
          ...[expired, limits].map((all) => all.flatMap(shownLimit)),
          ...[next, again, unnamed].map(({ decision, reason_codes, policy_trace }) => [
            decision,
            reason_codes,
            policy_trace.filter(({ stage }: Shown) => stage === 'velocity'),
          ]),
        ]);
      }
      expect(told[1]).toEqual(told[0]);
      expect((await one.get('/v1/ledger/verify')).breaks).toEqual([]);
    });
  }
}

test('a history of an earlier build, whose limits only took over a sum, verifies, and the sum stays', async () => {
  const began_ms = Date.UTC(2026, 10 + ++month, 24, 12);
  await nodes[0]?.setClock(began_ms);
  const agent = await one.makeAgent(BARE, { mode: 'ENFORCE' });
  const made = await one.ask(agent, 5_000);
  const authority = { ...BARE, velocity_limits: LIMITED.velocity_limits.slice(0, 1) } as Authority;
  const { counter_id, window } = [...countersOfAgent(authority, made.agent.id).values()][0] as SpendCounter;
  const { starts_ms, ends_ms } = slotAt(window, began_ms);
  const [slot, until] = [starts_ms, ends_ms].map((ms) => new Date(ms).toISOString()) as [string, string];
  const sum = { counter_id, subject: '', slot, until, count: 1, held_minor: 0, committed_minor: 5_000 };
  const primed = {
    counter_ids: [counter_id],
    counters: [{ ...sum, decision_id: null }],
    counted_since: null,
  };
  const asBefore: Command<null, unknown> = {
    name: 'createAuthority',
    needs: () => ({ agents: [agent] }),
    apply: (set, _input, origin) =>
      done(addAuthorityVersion(set, set.agent(agent) as Agent, { authority, note: null, primed }, origin)),
  };
  const origin = { actor: OPERATOR, request_id: null, client_address: null };
  await core.lane.submit(nodes[0]?.workspace_id as string, asBefore, null, origin);
  const used = async () =>
    (await other.get(`/v1/agents/${agent}/limits`)).data.find(({ name }: Shown) => name === 'month')
      .used_minor;
  expect(await used()).toBe(5_000);
  await report(made, 'SPEND_FAILED');
  expect(await used()).toBe(5_000);
  expect((await one.get('/v1/ledger/verify')).breaks).toEqual([]);
});
