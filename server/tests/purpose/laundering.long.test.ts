import { describe, expect } from 'vitest';
import { aggregateFeedback } from '../../src/engine/feedback/aggregate-feedback.ts';
import { followNext } from '../../src/engine/followers/follow-chains.ts';
import { getWatermark } from '../../src/engine/followers/follower-rows.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { freshKey, makeKey, makeTestCore, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const { test, s, post, keyWith } = serviceTest({ plan: 'enterprise' });
let core: Core;
let adapter: string;
test.beforeAll(async () => {
  core = makeTestCore(s.database.connection);
  adapter = await keyWith('consume');
});
test.afterAll(() => core.close());

/** An agent whose merchant and purpose fit, with its key. */
async function makeAgent(slug: string, authority: object = {}, mode = 'ENFORCE') {
  const purpose = { objective: 'Buy office supplies for the Berlin office: paper, toner, pens.' };
  await post('/v1/agents', { slug, mode, authority: { purpose, currency: 'EUR', ...authority } });
  const { key } = await makeKey(s, { agent_id: slug });
  /** Asks a node that has remembered nothing, so that it is judged by all that was learnt. */
  async function ask(amount_minor: number, payee_id: string, more: object = {}) {
    const node = await startTestService({ beside: s });
    const action = {
      type: 'purchase',
      merchant: 'Staples',
      amount_minor,
      currency: 'EUR',
      description: 'printer paper and toner for the office',
      payee_id,
    };
    const reply = await node.call('POST', '/v1/decisions', {
      key,
      body: { action, ...more },
      idempotency_key: freshKey(),
    });
    await node.halt();
    return reply.body;
  }
  const says = async (by: string, id: string, body: object) =>
    (await s.call('POST', `/v1/decisions/${id}/outcomes`, { key: by, body })).body;
  return {
    ask,
    /** The agent's own word. */
    claims: (id: string, amount_minor: number) => says(key, id, { type: 'SPEND_EXECUTED', amount_minor }),
    settles: (id: string, amount_minor: number) =>
      says(adapter, id, { type: 'SPEND_EXECUTED', amount_minor, source: 'PAYMENT_RAIL' }),
    usual: async () =>
      (
        await s.sql(
          `select d.paid, d.usual_minor, d.payee_id from feedback d join agents a using (workspace_id, agent_id)
            where a.slug = $1 and d.word = ''`,
          [slug],
        )
      ).rows,
  };
}

/** Everything is learnt, by whichever node. */
async function learnt(): Promise<void> {
  const { rows } = await core.db.query('select seq from ledger_heads where workspace_id = $1', [
    s.workspace_id,
  ]);
  while ((await getWatermark(core.db, 'learning', s.workspace_id)) < rows[0].seq) {
    await followNext(core.followers_db, aggregateFeedback, s.workspace_id, {
      onSkip: () => expect.unreachable(),
    });
  }
}

describe('an agent that says it paid', () => {
  test('another payee, on the very REVIEW that asked for a person, makes that payee no more trusted', async () => {
    const agent = await makeAgent('payee');
    for (let i = 0; i < 3; i++) {
      const good = await agent.ask(5_000 + i, 'bank:GOOD-1');
      expect(good.decision).toBe('ALLOW');
      await agent.settles(good.decision_id, 5_000 + i);
    }
    await learnt();
    const evil = await agent.ask(5_100, 'bank:EVIL-9');
    expect([evil.decision, evil.purpose.rationale]).toEqual([
      'REVIEW',
      'The money would go to "bank:EVIL-9", which nobody has approved as an account of "Staples".',
    ]);
    const claim = await agent.claims(evil.decision_id, 1);
    expect(claim.flags).toContain('UNAUTHORIZED_EXECUTION');
    await learnt();
    const again = await agent.ask(5_200, 'bank:EVIL-9');
    expect([again.decision, again.capability, again.purpose.rationale]).toEqual([
      'REVIEW',
      null,
      evil.purpose.rationale,
    ]);
    // Nor does the rail's word of a spend that nobody had allowed.
    await agent.settles(evil.decision_id, 5_100);
    await learnt();
    expect((await agent.ask(5_300, 'bank:EVIL-9')).decision).toBe('REVIEW');
    expect(await agent.usual()).toEqual([
      { paid: 3, usual_minor: { EUR: { low: 5_000, high: 5_002 } }, payee_id: 'bank:GOOD-1' },
    ]);
  });

  test('a much higher amount makes that amount no more usual', async () => {
    const agent = await makeAgent('amount');
    for (let i = 0; i < 3; i++) {
      const good = await agent.ask(1_000 + i, 'bank:GOOD-1');
      await agent.settles(good.decision_id, 1_000 + i);
    }
    await learnt();
    const high = await agent.ask(900_000, 'bank:GOOD-1');
    expect(high.purpose.rationale).toMatch(/Nobody has approved more than/);
    await agent.claims(high.decision_id, 1);
    await learnt();
    const again = await agent.ask(900_001, 'bank:GOOD-1');
    expect(again.decision).toBe('REVIEW');
    expect(again.purpose.rationale).toBe(high.purpose.rationale.replace('9,000.00', '9,000.01'));
  });

  test('teaches nothing even where the spend was allowed', async () => {
    const agent = await makeAgent('allowed');
    const good = await agent.ask(1_000, 'bank:GOOD-1');
    await agent.claims(good.decision_id, 1_000);
    await learnt();
    expect(await agent.usual()).toEqual([]);
  });
});

test('of a spend that was capped the amount that was executed is usual, not the one that was asked for', async () => {
  const agent = await makeAgent('capped', { per_transaction_limit_minor: 500 }, 'SHADOW');
  const capped = await agent.ask(90_000_000, 'bank:GOOD-1', { limitable: true });
  expect([capped.decision, capped.authorized_amount_minor]).toEqual(['ALLOW', 500]);
  await agent.settles(capped.decision_id, 480);
  await learnt();
  expect(await agent.usual()).toMatchObject([{ usual_minor: { EUR: { low: 480, high: 480 } } }]);
});

test('all that was learnt is what verification makes again from the history', async () => {
  expect((await s.call('GET', '/v1/ledger/verify')).body.breaks).toEqual([]);
});
