import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  type Reply,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';

let nodes: RunningService[];
beforeAll(async () => {
  const first = await startTestService();
  nodes = [first];
  for (let i = 0; i < 3; i++) nodes.push(await startTestService({ beside: first }));
});
afterAll(async () => {
  for (const node of [...nodes].reverse()) await node.stop();
});

const node = (i: number) => nodes[i % nodes.length] as RunningService;
const agent = async (slug: string, authority: object = {}) =>
  node(0).call('POST', '/v1/agents', { body: { slug, authority: { ...AUTHORITY, ...authority } } });
const decisionOf = (reply: Reply) => reply.body.decision as string;

describe('one budget, any number of clients and nodes', () => {
  test.each([
    ['one node', 1],
    ['four nodes', 4],
  ])(
    '200 spends at once over %s never overspend, and exactly floor(budget / amount) are allowed',
    async (name, count) => {
      const slug = `storm-${count}`;
      await agent(slug, { monthly_budget_minor: 100_000 });
      const replies = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          node(i % count).call('POST', '/v1/decisions', {
            body: spend(slug, 777),
            idempotency_key: `${name.replace(' ', '-')}-${i}`,
          }),
        ),
      );
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]));
      expect(replies.filter((reply) => decisionOf(reply) === 'ALLOW')).toHaveLength(
        Math.floor(100_000 / 777),
      );
      const { rows } = await node(0).sql(
        'select b.held_minor from budgets b join agents a using (workspace_id, agent_id) where a.slug = $1',
        [slug],
      );
      expect(rows).toEqual([{ held_minor: String(Math.floor(100_000 / 777) * 777) }]);
    },
  );

  test.each([
    ['one node', 1],
    ['four nodes', 4],
  ])(
    '100 duplicates of one request over %s make one decision, and all answers are the same bytes',
    async (name, count) => {
      const slug = `duplicates-${count}`;
      await agent(slug);
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          node(i % count).call('POST', '/v1/decisions', {
            body: spend(slug, 5),
            idempotency_key: name.replace(' ', '-'),
          }),
        ),
      );
      expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
      expect(replies.filter((reply) => reply.headers.get('idempotent-replay') === 'true')).toHaveLength(99);
      expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
      const { rows } = await node(0).sql(
        "select count(*)::int as n from ledger_events where type = 'decision.created' and subject_id = $1",
        [replies[0]?.body.decision_id],
      );
      expect(rows).toEqual([{ n: 1 }]);
    },
  );

  test('the chain of four writing nodes has no gap and no fork, ids follow it, and it verifies', async () => {
    await agent('chain');
    await Promise.all(
      Array.from({ length: 120 }, (_, i) =>
        node(i).call('POST', '/v1/decisions', { body: spend('chain', 1), idempotency_key: freshKey() }),
      ),
    );
    const { rows } = await node(0).sql(
      `select count(*)::int as n, max(seq)::int as last, count(distinct prev_hash)::int as links from ledger_events where workspace_id = $1`,
      [node(0).workspace_id],
    );
    expect([rows[0].n, rows[0].links]).toEqual([rows[0].last, rows[0].last]);
    const order = await node(0).sql(
      "select subject_id from ledger_events where workspace_id = $1 and type = 'decision.created' order by seq",
      [node(0).workspace_id],
    );
    const ids = order.rows.map((row) => row.subject_id);
    expect(ids).toEqual([...ids].sort());
    expect((await node(3).call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
  });
});

describe('what one node changes holds on the next request at every other', () => {
  test('a pause, a new authority and a revoked key', async () => {
    const made = (await agent('everywhere')).body;
    const key = (await node(0).call('POST', '/v1/api-keys', { body: { name: 'k', agent_id: made.id } })).body;
    for (let i = 0; i < 20; i++) {
      const [here, there] = [node(i), node(i + 1)];
      const ask = () =>
        there.call('POST', '/v1/decisions', {
          key: key.key,
          body: spend(undefined, 5),
          idempotency_key: freshKey(),
        });
      expect((await ask()).status).toBe(201);
      await here.call('PATCH', '/v1/agents/everywhere', { body: { status: 'paused' } });
      expect((await ask()).status).toBe(403);
      await here.call('PATCH', '/v1/agents/everywhere', { body: { status: 'active' } });
      const limit = i % 2 === 0 ? 1 : 10;
      await here.call('POST', '/v1/agents/everywhere/authority', {
        body: { ...AUTHORITY, per_transaction_limit_minor: limit },
      });
      expect(decisionOf(await ask())).toBe(limit === 1 ? 'DENY' : 'ALLOW');
    }
    await node(2).call('DELETE', `/v1/api-keys/${key.id}`);
    const refused = await node(1).call('GET', '/v1/decisions', { key: key.key });
    expect(refused.status).toBe(401);
  });
});

describe('time is the database’s', () => {
  test.each([
    ['by less than a minute, time stops until then', 30_000, true],
    ['by more, the chain goes on in its order and decisions have the time of the clock', 3_600_000, false],
  ])('where a chain is ahead of the clock %s', async (name, ahead_ms, stands_still) => {
    await agent(`clock-${ahead_ms}`);
    const ahead = Date.now() + ahead_ms;
    await node(0).sql('update ledger_heads set time_ms = $1 where workspace_id = $2', [
      ahead,
      node(0).workspace_id,
    ]);
    const made = (
      await node(1).call('POST', '/v1/decisions', {
        body: spend(`clock-${ahead_ms}`, 5),
        idempotency_key: freshKey(),
      })
    ).body;
    expect(Date.parse(made.created_at) > ahead, name).toBe(stands_still);
    const { rows } = await node(0).sql('select occurred_at from ledger_events where subject_id = $1', [
      made.decision_id,
    ]);
    expect(rows[0].occurred_at.getTime()).toBeGreaterThan(ahead);
    await node(0).sql('update ledger_heads set time_ms = 0 where workspace_id = $1', [node(0).workspace_id]);
  });
});
