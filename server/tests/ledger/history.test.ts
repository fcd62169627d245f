import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FullHistory, makeFullHistory } from '../support/full-history.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

let h: FullHistory;
beforeAll(async () => {
  h = await makeFullHistory();
});
afterAll(() => h.stop());

test('a history with every kind of event is valid, and held against its checkpoints', async () => {
  const found = await h.verify();
  expect(found.breaks).toEqual([]);
  expect(found).toMatchObject({
    valid: true,
    events_checked: h.last_seq,
    first_break_seq: null,
    checkpoint: { seq: h.last_seq },
  });
  expect(found.checkpoint?.checked).toBeGreaterThanOrEqual(2);
  const types = await h.sql('select distinct type from ledger_events where workspace_id = $1', [
    h.workspace_id,
  ]);
  expect(types.rows.length).toBe(60);
});

test('from every event on, the rest of it is valid too', async () => {
  for (let since = 0; since <= h.last_seq; since++) {
    const found = await h.verify({ since });
    expect([since, found.breaks]).toEqual([since, []]);
    expect(found.events_checked).toBe(h.last_seq - since);
  }
});
