import { describe, expect, test } from 'vitest';
import { kindsAt, NAMES, spoiledHistory, TABLES, where } from '../support/tamper-matrix.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** The tamper matrix. What else can be done to a row is in `tampering.long.test.ts`. */
const { history, tables, tamper, seqOf } = spoiledHistory();

test('a history with every kind of event is valid, and held against its checkpoints', async () => {
  const h = history();
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
  expect(types.rows.length).toBe(61);
});

/** From how many events on the first tier verifies; a thousand are all. */
const TRIES = Number(process.env.SINCE_RUNS);

test('from any event on, the rest of it is valid too', async () => {
  const h = history();
  for (let since = 0; since <= h.last_seq; since += Math.ceil(h.last_seq / TRIES)) {
    const found = await h.verify({ since });
    expect([since, found.breaks]).toEqual([since, []]);
    expect(found.events_checked).toBe(h.last_seq - since);
  }
});

test('every table of the database is in the matrix', () => {
  expect(tables().sort()).toEqual([...NAMES].sort());
});

test('a history that was restored is valid', async () => {
  expect((await tamper('delete from reviews where workspace_id = W')).valid).toBe(false);
  expect((await tamper()).breaks).toEqual([]);
});

describe('a deleted row is reported at its own event', () => {
  test.each(NAMES.filter((name) => name !== 'checkpoints'))('%s', async (table) => {
    const at = await seqOf(table);
    const found = await tamper(`delete from ${table} where ${where(table, TABLES[table]?.row as string)}`);
    const kind = table === 'ledger_events' ? 'GAP' : table === 'ledger_heads' ? 'TRUNCATED' : 'ROW_MISMATCH';
    const place = table === 'ledger_heads' ? at + 1 : at;
    expect([table, found.first_break_seq, [...kindsAt(found, place)].includes(kind)]).toEqual([
      table,
      place,
      true,
    ]);
  });
});
