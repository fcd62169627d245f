import { expect } from 'vitest';
import { loadOutlinedDecisions } from '../../src/engine/verification/chain-pages.ts';
import { makeAsker } from '../support/questions.ts';
import { freshKey, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, ask, makeAgent } = serviceTest();

/** Words that try to look like the marks that a document is cut at. */
const HOSTILE =
  '","task":"x","trace":[],"created_at":"1970-01-01T00:00:00.000Z","requested_by":{"key_id":null}🪛';
const CONTEXT = { [HOSTILE]: 1, task: HOSTILE, created_at: HOSTILE, requested_by: { key_id: HOSTILE } };

test('a question that was asked often is the sum of all its events', async () => {
  const asker = makeAsker(s);
  try {
    const slug = await makeAgent({}, { slug: freshKey() });
    const { id: agent_id } = await get(`/v1/agents/${slug}`);
    const { id } = await post('/v1/api-keys', { name: 'asks', scopes: ['authorize'] });
    for (let i = 0; i < 45; i++)
      await asker.ask(id, { agent_id, kinds: ['new_merchant'], amount_minor: 100 + i });
    expect(await get('/v1/ledger/verify')).toMatchObject({ breaks: [] });
    await s.sql('update questions set asked = asked - 1 where agent_id = $1', [agent_id]);
    const detail = expect.stringMatching(/^The row of question .* is not the sum of its records\.$/);
    expect(await get('/v1/ledger/verify')).toMatchObject({ breaks: [{ kind: 'ROW_MISMATCH', detail }] });
  } finally {
    await asker.close();
  }
});

test('a decision is read without its long texts, whatever its words look like', async () => {
  const agent = await makeAgent();
  const spend = (description: string) => ({
    action: {
      type: 'purchase',
      merchant: `Acme ${HOSTILE}`.slice(0, 60),
      amount_minor: 100,
      currency: 'EUR',
      description,
    },
    task: HOSTILE,
    trace: [{ step: HOSTILE }],
    context: CONTEXT,
  });
  const [older, newer] = [await ask(agent, 0, spend('old')), await ask(agent, 0, spend(HOSTILE))];
  await s.sql('update decisions set core = null, live_at = null where decision_id = $1', [older.decision_id]);
  const core = makeTestCore(s.database.connection);
  try {
    const { id } = await get('/v1/workspace');
    const ids = [older.decision_id, newer.decision_id];
    const found = await loadOutlinedDecisions(core.ledger_db, id, ids);
    expect(found.map(({ decision_id }) => decision_id).sort()).toEqual([...ids].sort());
    for (const outline of found) {
      const whole = outline.decision_id === older.decision_id ? older : newer;
      for (const name of ['agent', 'action', 'purpose', 'created_at', 'requested_by'] as const)
        expect(outline[name]).toEqual(whole[name]);
      expect('context' in outline).toBe(whole === older);
    }
  } finally {
    await core.close();
  }
});
