import { Purser } from '@purser/sdk';
import { fakePurser } from '@purser/sdk/testing';
import { expect, test } from 'vitest';
import { decisionIn, decisionsIn } from './decision.ts';

test('only a whole decision is read as one, and only the one that was asked for', async () => {
  const purser = new Purser({ apiKey: 'sk_test', fetch: fakePurser().fetch });
  const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 5440, currency: 'EUR' };
  const decision = await purser.decisions.create({ action });
  const page = { data: [decision], next_cursor: null };
  expect([decisionIn(decision), decisionIn(decision, decision.decision_id)]).toEqual([decision, decision]);
  expect(decisionsIn(page)).toEqual(page);
  const others = [
    [],
    [decision],
    {},
    null,
    'ALLOW',
    page,
    { ...decision, effective_decision: 'MAYBE' },
    { ...decision, authorized_amount_minor: '5440' },
    { ...decision, capability: [] },
  ];
  for (const other of others) expect(() => decisionIn(other)).toThrow('not a decision');
  expect(() => decisionIn(decision, 'dec_other')).toThrow('not a decision');
  for (const other of [[], decision, null, { data: {}, next_cursor: null }, { data: [] }]) {
    expect(() => decisionsIn(other)).toThrow('not a page');
  }
  expect(() => decisionsIn({ data: [{}], next_cursor: null })).toThrow('not a decision');
});
