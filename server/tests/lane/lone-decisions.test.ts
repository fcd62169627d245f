import { afterAll, beforeAll, expect, test } from 'vitest';
import { ap2Mandate, inAll, mandateKey, REFERENCE, range, withBinding } from '../support/mandates.ts';
import { payingAgent } from '../support/paying-agent.ts';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { makeClient } from '../support/service-test.ts';
import { distributedTables, isOneTask, recordBatches } from '../support/statements.ts';

/** The statements of decisions that are made one by one on Citus: the coordinator plans each of them. */

/** The most that a decision may take whose rows are there. */
const MAX_STATEMENTS = 11;

const recorded = recordBatches();
const s = {} as RunningService;
const beside = {} as RunningService;
const client = makeClient(s);
const { post, makeAgent } = client;
let reviewer: string;
let distributed: Set<string>;
beforeAll(async () => {
  Object.assign(s, await startTestService({ looks_like_citus: true, plan: 'enterprise' }));
  Object.assign(beside, await startTestService({ beside: s }));
  distributed = await distributedTables({ query: s.sql } as never);
  reviewer = (await makeKey(s, { scopes: ['review', 'read', 'admin'], principal_id: 'user:ada' })).key;
});
afterAll(async () => {
  await beside.stop();
  await s.stop();
  recorded.stop();
});

const TERMS = { ...AUTHORITY, monthly_budget_minor: 10_000_000 };
/** A spend that nothing shows to be within the purpose, so that people are asked. */
const UNCLEAR = {
  action: {
    type: 'purchase',
    merchant: 'Cloudfarm',
    amount_minor: 10,
    currency: 'EUR',
    description: 'Two things',
  },
};
const ASKS = { ...TERMS, on_purpose_unclear: 'REVIEW' };
const SHOP = { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_count: 1_000 };
const agentOf = (authority: object) => makeAgent(authority, { mode: 'ENFORCE' });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const budget = async () =>
  (await post('/v1/budgets', { slug: freshKey(), currency: 'EUR', period: 'MONTH', limit_minor: 1_000_000 }))
    .slug;
const allowance = async (agent: string, more: object = {}) =>
  (
    await post(
      '/v1/allowances',
      { agent, currency: 'EUR', amount_minor: 100_000, period: 'MONTH', expires_at: inDays(3), ...more },
      reviewer,
    )
  ).id;

interface Kind {
  agent: string;
  more?: object;
  decision?: string;
  key?: string;
}
/**
 * How each kind of decision is asked for, and its statements: of the very first, which makes the rows that it counts in, and of one
 * whose rows are there, whether the node knows them or not.
 */
const KINDS: Record<string, [kind: () => Promise<Kind>, first: number, next: number]> = {
  plain: [async () => ({ agent: await agentOf(TERMS) }), 9, 8],
  'in SHADOW': [async () => ({ agent: await makeAgent(TERMS, { mode: 'SHADOW' }) }), 9, 8],
  'denied by the month': [
    async () => ({ agent: await agentOf({ ...TERMS, monthly_budget_minor: 1 }), decision: 'DENY' }),
    8,
    8,
  ],
  'with a task and a purpose of its own': [
    async () => ({ agent: await agentOf(TERMS), more: { task: 'Renew the staging server' } }),
    9,
    8,
  ],
  'over the review threshold': [
    async () => ({ agent: await agentOf({ ...TERMS, review_threshold_minor: 1 }), decision: 'REVIEW' }),
    11,
    10,
  ],
  'that asks a question': [
    async () => ({ agent: await agentOf(ASKS), more: UNCLEAR, decision: 'REVIEW' }),
    13,
    11,
  ],
  'that asks a question, under limits over time': [
    async () => ({
      agent: await agentOf({ ...ASKS, velocity_limits: [SHOP] }),
      more: UNCLEAR,
      decision: 'REVIEW',
    }),
    14,
    11,
  ],
  'under limits over time': [
    async () => ({ agent: await agentOf({ ...TERMS, velocity_limits: [SHOP] }) }),
    10,
    8,
  ],
  'looked up for duplicates': [
    async () => ({ agent: await agentOf({ ...TERMS, duplicate_window_seconds: 600 }) }),
    10,
    9,
  ],
  'in a shared budget': [
    async () => ({ agent: await agentOf({ ...TERMS, budgets: [await budget()] }) }),
    10,
    8,
  ],
  'under an allowance': [
    async () => {
      const agent = await agentOf(TERMS);
      return { agent, more: { allowance: await allowance(agent) } };
    },
    11,
    9,
  ],
  'under a mandate': [
    async () => {
      const agent = await payingAgent(client);
      const provider = mandateKey();
      const issuer = { name: 'P', format: 'AP2', currency: 'USD', max_amount_minor: 1_000_000 };
      await post('/v1/allowance-issuers', { ...issuer, jwk: provider.jwk });
      const { text } = ap2Mandate(provider, agent.own, {
        constraints: [
          range(20_000),
          inAll(1_000),
          { type: 'payment.agent_recurrence', frequency: 'ON_DEMAND' },
          REFERENCE,
        ],
      });
      const signed = withBinding(text, { aud: s.workspace_id, by: agent.own });
      const { id } = await post('/v1/allowances/present', { signed }, agent.key);
      const { action } = spend(undefined, 10);
      return {
        agent: agent.slug,
        key: agent.key,
        more: { allowance: id, action: { ...action, currency: 'USD' } },
      };
    },
    11,
    9,
  ],
  'that a standing approval answers': [
    async () => {
      const agent = await agentOf({ ...TERMS, review_threshold_minor: 1 });
      await allowance(agent, {
        automatic: true,
        answers: ['REVIEW_THRESHOLD_EXCEEDED'],
        merchants: ['Hetzner Online'],
      });
      return { agent };
    },
    11,
    9,
  ],
};

/** Those that need more: each table that a decision adds to is a task of its own. */
const MORE: typeof KINDS = {
  'that asks a question under an allowance': [
    async () => {
      const agent = await agentOf(ASKS);
      return { agent, more: { ...UNCLEAR, allowance: await allowance(agent) }, decision: 'REVIEW' };
    },
    15,
    12,
  ],
};

/** The batch of one decision that a node is asked for. */
async function batchOf(
  on: RunningService,
  { agent, more = {}, decision = 'ALLOW', key = s.admin_key }: Kind,
) {
  asked += 1;
  recorded.decisions.length = 0;
  const made = await on.call('POST', '/v1/decisions', {
    key,
    body: { ...spend(agent, 10 + asked), ...more },
    idempotency_key: freshKey(),
  });
  expect([made.status, made.body.decision], made.text).toEqual([201, decision]);
  expect(recorded.decisions).toHaveLength(1);
  return recorded.decisions[0] as string[];
}
let asked = 0;

/** True if a batch does something besides, or came in between: a node notes the uses of keys every few seconds. */
const isDisturbed = (batches: readonly string[][]) =>
  recorded.others.length > 0 || batches.flat().some((text) => /\bapi_key_uses\b/.test(text));

test.each(Object.entries({ ...KINDS, ...MORE }))(
  'a decision %s takes few statements on any node, each one task',
  async (name, [kindOf, first, next]) => {
    let batches: string[][];
    do {
      const kind = await kindOf();
      recorded.others.length = 0;
      batches = [];
      for (const on of [s, s, s, beside]) batches.push(await batchOf(on, kind));
    } while (isDisturbed(batches));
    expect(batches.map((batch) => batch.length)).toEqual([first, next, next, next]);
    expect(batches.flat().filter((text) => !isOneTask(text, distributed))).toEqual([]);
    if (name in KINDS) expect(next).toBeLessThanOrEqual(MAX_STATEMENTS);
  },
);
