import { describe, expect, test } from 'vitest';
import { kindsAt, NAMES, spoiledHistory, TABLES, where } from '../support/tamper-matrix.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/**
 * The tamper matrix: every column of every table of the history, and every kind of attack, on a real database with every kind of
 * event. Each is reported at its event, by its kind.
 */
const { history, columnsOf, sql, tamper, seqOf } = spoiledHistory();

/** Edits of each type that no check of the database forbids, small ones among them. */
const EDITS: Record<string, string[]> = {
  text: ["coalesce(COLUMN, '') || 'x'", "' ' || coalesce(COLUMN, '')"],
  bigint: ['coalesce(COLUMN, 0) + 1', 'coalesce(COLUMN, 0) + 1000', '9223372036854775807'],
  integer: ['coalesce(COLUMN, 0) + 1000'],
  boolean: ['not COLUMN'],
  bytea: ['set_byte(COLUMN, 31, get_byte(COLUMN, 31) # 1)', "COLUMN || '\\x00'"],
  'timestamp with time zone': [
    "coalesce(COLUMN, now()) + interval '1 millisecond'",
    "coalesce(COLUMN, now()) + interval '1 microsecond'",
    "'infinity'",
  ],
  json: ['\'{"edited":true}\'::json', "(COLUMN::text || ' ')::json"],
  ARRAY: ["array_append(COLUMN, 'x')", 'COLUMN[2:]', 'array_append(COLUMN, null)'],
  'integer[]': ['array_append(COLUMN, 7)', 'COLUMN[2:]', 'array_append(COLUMN, null)'],
};
/**
 * An edit of an ordinary head, and one of its time within an hour, can be the work of the service itself. A blank
 * behind the JSON of secrets leaves them what they were: their value is sealed, not its spelling.
 */
const ALLOWED: Record<string, string[]> = {
  // Which sums are read where an agent has more than are read at once.
  'feedback.changed_at': EDITS['timestamp with time zone'] as string[],
  // Tells the operator of a rotation which keys still need an old secret key. Nobody is known or refused by it.
  'api_key_digests.secret_id': [...(EDITS.text as string[]), 'null'],
  'webhook_endpoints.secrets': ["(COLUMN::text || ' ')::json"],
  'channels.filter': ["(COLUMN::text || ' ')::json"],
  'channels.quiet_hours': ["(COLUMN::text || ' ')::json"],
  'ledger_heads.time_ms': ['coalesce(COLUMN, 0) + 1', 'coalesce(COLUMN, 0) + 1000'],
};

/** The edits of each column that are tried, `null` apart. */
const MAX_EDITS = Number(process.env.TAMPER_EDITS);

describe('an edit of any column is reported at its own event', () => {
  test.each(NAMES)('%s', async (table) => {
    const { row } = TABLES[table] as { row: string };
    const at = await seqOf(table);
    const own = columnsOf(table);
    expect(own.length).toBeGreaterThan(1);
    for (const { column, type, nullable } of own) {
      // A row of another workspace is gone from this one; that is the deletion below.
      if (column === 'workspace_id') continue;
      const possible = EDITS[type];
      if (possible === undefined) throw new Error(`no edit for ${type}`);
      const edits = possible.filter(
        (edit) =>
          !ALLOWED[`${table}.${column}`]?.includes(edit) &&
          // That place is taken.
          !(column === 'seq' && edit.endsWith('+ 1') && table !== 'ledger_heads'),
      );
      for (const edit of [...edits.slice(0, MAX_EDITS), ...(nullable && MAX_EDITS > 1 ? ['null'] : [])]) {
        if (ALLOWED[`${table}.${column}`]?.includes(edit)) continue;
        const to = edit.replaceAll('COLUMN', column);
        const same = await sql(
          `select ${column}::text is not distinct from (${to})::text as same from ${table} where ${where(table, row)}`,
        );
        if (same.rows[0].same) continue;
        const found = await tamper(`update ${table} set ${column} = ${to} where ${where(table, row)}`);
        const result = [table, column, edit, found.valid, found.first_break_seq];
        // The head names the place after its last event as cut off.
        const places =
          table !== 'ledger_heads'
            ? [at]
            : column === 'seq'
              ? [at + 1]
              : column === 'stop'
                ? [await seqOf('audit_records', "and action = 'workspace.resumed'")]
                : [at];
        expect(result.slice(0, 4)).toEqual([table, column, edit, false]);
        expect([...result.slice(0, 3), places]).toEqual([table, column, edit, [found.first_break_seq]]);
        const kinds =
          table === 'ledger_heads'
            ? column === 'seq'
              ? ['TRUNCATED']
              : column === 'has_webhooks' || column === 'has_channels' || column === 'stop'
                ? ['ROW_MISMATCH']
                : ['LINK_BROKEN']
            : table !== 'ledger_events'
              ? ['ROW_MISMATCH']
              : column === 'seq'
                ? ['GAP']
                : column === 'prev_hash'
                  ? ['ENTRY_ALTERED', 'LINK_BROKEN']
                  : ['ENTRY_ALTERED'];
        const seen = kindsAt(found, places[0] as number);
        expect([table, column, edit, kinds.filter((kind) => !seen.has(kind as never))]).toEqual([
          table,
          column,
          edit,
          [],
        ]);
      }
    }
  });
});

test('an answer that was turned round, and one that decisions would not see, are reported', async () => {
  const answered = 'answer like \'%"answer":"YES"%\'';
  const [{ last_seq }] = (
    await sql(`select last_seq from questions where workspace_id = W and ${answered} limit 1`)
  ).rows;
  for (const to of [`replace(answer, '"YES"', '"NO"')`, `replace(answer, '100', '900')`, 'null']) {
    const found = await tamper(
      `update questions set answer = ${to} where workspace_id = W and last_seq = ${last_seq} and ${answered}`,
    );
    expect([to, found.valid, found.first_break_seq]).toEqual([to, false, Number(last_seq)]);
  }
  const found = await tamper(
    "update agents set answers_version = 0 where workspace_id = W and slug = 'asking'",
  );
  expect(found.breaks).toMatchObject([{ kind: 'ROW_MISMATCH' }]);
});

test('a person’s other e-mail is reported at the newest event of the membership', async () => {
  const at = await seqOf('members');
  const [{ user_id, email }] = (
    await sql(
      `select user_id, email from users where user_id = (select user_id from members
        where workspace_id = W order by removed_at is null, user_id limit 1)`,
    )
  ).rows;
  const setEmail = (to: string) => sql(`update users set email = '${to}' where user_id = '${user_id}'`);
  try {
    await setEmail('mallory@example.com');
    const found = await history().verify();
    expect([found.first_break_seq, ...kindsAt(found, at)]).toEqual([at, 'ROW_MISMATCH']);
  } finally {
    await setEmail(email);
  }
});

describe('a row that is given to another workspace is reported at its own event', () => {
  test.each(NAMES.filter((name) => name !== 'checkpoints' && name !== 'workspaces'))('%s', async (table) => {
    const at = await seqOf(table);
    const found = await tamper(
      `update ${table} set workspace_id = 'ws_0' where ${where(table, TABLES[table]?.row as string)}`,
    );
    expect([table, found.first_break_seq]).toEqual([table, table === 'ledger_heads' ? at + 1 : at]);
  });
});

describe('an inserted row without an event is reported at the end of the chain', () => {
  const fresh: Record<string, string> = {
    // Another last character may be that of the next id, since ids of one moment ascend.
    text: "COLUMN || 'Y'",
    bigint: 'COLUMN + 1000',
    integer: 'COLUMN + 1000',
    bytea: 'set_byte(COLUMN, 0, get_byte(COLUMN, 0) # 255)',
    'timestamp with time zone': "COLUMN + interval '1 second'",
  };
  test.each(
    NAMES.filter((name) => !['checkpoints', 'ledger_heads', 'workspaces', 'ledger_events'].includes(name)),
  )('%s', async (table) => {
    const { key, row } = TABLES[table] as { key: string[]; row: string };
    const own = columnsOf(table);
    const values = own.map(({ column, type }) =>
      key.includes(column) ? (fresh[type] as string).replaceAll('COLUMN', column) : column,
    );
    const found = await tamper(
      `insert into ${table} select ${values.join(', ')} from ${table} where ${where(table, row)}`,
    );
    expect([table, found.first_break_seq, ...kindsAt(found, history().last_seq)]).toEqual([
      table,
      history().last_seq,
      'ROW_MISMATCH',
    ]);
    expect(found.breaks.some((each) => /in no event|belong to no event/.test(each.detail))).toBe(true);
  });
  test('an event behind the last one, one before the first, and a copy in between', async () => {
    const copy = (seq: string) =>
      `insert into ledger_events select workspace_id, ${seq}, id, type, subject_type, subject_id, occurred_at, data_hash,
         hash, hash from ledger_events where workspace_id = W and seq = ${history().last_seq}`;
    const behind = await tamper(copy('seq + 1'));
    expect([behind.first_break_seq, ...kindsAt(behind, history().last_seq + 1)]).toContain('ENTRY_ALTERED');
    expect(behind.first_break_seq).toBe(history().last_seq + 1);
    const before = await tamper(copy('0'));
    expect([before.first_break_seq, ...kindsAt(before, 1)]).toEqual([1, 'GAP']);
  });
});

describe('a row without an id, where no walk begins, is found as well', () => {
  test.each(['decisions', 'reviews', 'labels', 'notes', 'outcomes'])('%s', async (table) => {
    const id = TABLES[table]?.key[0];
    const values = columnsOf(table).map(({ column }) =>
      column === id ? "''" : column === 'decision_id' ? "'dec_none'" : column,
    );
    const found = await tamper(
      `insert into ${table} select ${values.join(', ')} from ${table} where workspace_id = W limit 1`,
    );
    expect([found.valid, found.first_break_seq, ...kindsAt(found, history().last_seq)]).toEqual([
      false,
      history().last_seq,
      'ROW_MISMATCH',
    ]);
  });
});

describe('two rows that changed places are reported at the earlier one', () => {
  const pairs = [
    'decisions',
    'reviews',
    'labels',
    'notes',
    'outcomes',
    'consumptions',
    'expired_reservations',
    'decision_states',
  ];
  test.each(pairs)('%s', async (table) => {
    const { key } = TABLES[table] as { key: string[] };
    const rest = columnsOf(table)
      .filter((each) => ![...key, 'workspace_id'].includes(each.column))
      .map((each) => each.column);
    const row = (n: number) => `order by ${key[0]} offset ${n} limit 1`;
    const [one, two] = [await seqOf(table, row(0)), await seqOf(table, row(1))];
    const found = await tamper(
      `update ${table} a set ${rest.map((column) => `${column} = b.${column}`).join(', ')}
       from ${table} b where a.workspace_id = W and b.workspace_id = W and a.ctid <> b.ctid
         and a.${key[0]} in (select ${key[0]} from ${table} where workspace_id = W order by 1 limit 2)
         and b.${key[0]} in (select ${key[0]} from ${table} where workspace_id = W order by 1 limit 2)`,
    );
    expect([table, found.first_break_seq]).toEqual([table, Math.min(one, two)]);
    expect([...kindsAt(found, Math.min(one, two))]).toEqual(['ROW_MISMATCH']);
  });
  test('ledger_events', async () => {
    const found = await tamper(
      'update ledger_events set seq = -1 where workspace_id = W and seq = 4',
      'update ledger_events set seq = 4 where workspace_id = W and seq = 5',
      'update ledger_events set seq = 5 where workspace_id = W and seq = -1',
    );
    expect(found.first_break_seq).toBe(4);
    expect([...kindsAt(found, 4)]).toContain('ENTRY_ALTERED');
  });
});
