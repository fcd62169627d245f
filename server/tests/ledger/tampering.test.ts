import type { LedgerBreak } from '@purser/rules/domain/ledger';
import { knownMerchantKey } from '@purser/rules/policy/known-merchants';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FullHistory, makeFullHistory } from '../support/full-history.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/**
 * The tamper matrix: every column of every table that history stands on, and every kind of attack, on a real
 * database in which everything happened. Each is reported where it happened, as what it is.
 */
let h: FullHistory;
let columns: { table: string; column: string; type: string; nullable: boolean }[];
beforeAll(async () => {
  h = await makeFullHistory();
  const { rows } = await h.sql(
    `select table_name as table, column_name as column,
       case udt_name when '_int4' then 'integer[]' else data_type end as type, is_nullable = 'YES' as nullable
     from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`,
  );
  columns = rows.filter((row) => !NO_HISTORY.includes(row.table));
  for (const table of tables()) await h.sql(`create table kept_${table} as table ${table}`);
});
afterAll(() => h.stop());

/** What no event speaks of: conveniences, what is counted from the rest, and what waits to be sent. */
const NO_HISTORY = [
  'schema_migrations',
  'installation',
  'states_to_refold',
  'api_key_uses',
  'known_merchants_to_fill',
  'feedback_watermarks',
  'report_counters',
  'report_counted',
  'report_watermarks',
  'search_texts',
  'search_watermarks',
  'coverage_watermarks',
  'model_usage',
  'last_verifications',
  'skipped_events',
  'webhook_events',
  'webhook_deliveries',
  'webhook_queues',
  'webhook_attempts',
  'channel_health',
  'notices',
  'notice_bursts',
  'slack_codes',
  'slack_connections',
  // Of a person the e-mail is sealed with each membership; see below.
  'users',
  'user_identities',
  'user_passkeys',
  'passkey_challenges',
  'used_oidc_states',
  'sessions',
  'sign_ins',
  'setup_codes',
  'emails',
  'notification_settings',
  'digests',
  // How far a file was read: sending it again makes these again.
  'import_progress',
  'import_problems',
  'rail_health',
  // Empty but while a sample is written.
  'sample_clocks',
];
const tables = () => [...new Set(columns.map((each) => each.table))];

/** `W` stands for the workspace. */
const sql = (text: string) => h.sql(text.replaceAll(/\bW\b/g, `'${h.workspace_id}'`));

/** Undoes statements. Of the tables, only those that they name can have changed. */
async function restore(statements: readonly string[]): Promise<void> {
  const named = tables().filter((table) =>
    statements.some((each) => new RegExp(`\\b${table}\\b`).test(each)),
  );
  if (named.length === 0) return;
  // The rows that differ, and not the whole table: emptying a table takes longer than the verification.
  for (const table of named) {
    const kept = `kept_${table}`;
    await sql(`delete from ${table} t where t::text not in (select k::text from ${kept} k)`);
    await sql(
      `insert into ${table} select k.* from ${kept} k where k::text not in (select t::text from ${table} t)`,
    );
  }
}

/** Runs statements behind the service's back, verifies, and undoes them. */
async function tamper(...statements: string[]) {
  try {
    for (const statement of statements) await sql(statement);
    return await h.verify();
  } finally {
    await restore(statements);
  }
}

const eventOf = (id: string) =>
  `(select max(seq) from ledger_events where workspace_id = W and subject_id = ${id})`;
const newestKey = '(select max(seq) from audit_records where workspace_id = W and target_id = t.key_id)';
const newestOf = (id: string) =>
  `(select max(seq) from audit_records where workspace_id = W and state like '%' || ${id} || '%')`;
/** What each table's rows are known by, which row is spoiled, and at which event that has to be reported. */
const TABLES: Record<string, { key: string[]; row: string; other?: string; seq: string; kind?: string }> = {
  decisions: {
    key: ['decision_id'],
    row: 'order by decision_id offset 2 limit 1',
    seq: eventOf('t.decision_id'),
  },
  idempotency_keys: {
    key: ['agent_id', 'idempotency_key'],
    row: 'order by decision_id offset 2 limit 1',
    seq: eventOf('t.decision_id'),
  },
  reviews: { key: ['review_id'], row: 'order by review_id offset 1 limit 1', seq: eventOf('t.review_id') },
  labels: { key: ['label_id'], row: 'order by label_id offset 1 limit 1', seq: eventOf('t.label_id') },
  notes: { key: ['note_id'], row: 'order by note_id offset 1 limit 1', seq: eventOf('t.note_id') },
  outcomes: {
    key: ['outcome_id'],
    row: 'order by outcome_id offset 1 limit 1',
    seq: eventOf('t.outcome_id'),
  },
  consumptions: {
    key: ['capability_id'],
    row: 'order by capability_id limit 1',
    seq: eventOf('t.capability_id'),
  },
  consumption_keys: {
    key: ['idempotency_key'],
    row: 'order by capability_id limit 1',
    seq: eventOf('t.capability_id'),
  },
  expired_reservations: {
    key: ['reservation_id'],
    row: 'order by reservation_id limit 1',
    seq: eventOf('t.reservation_id'),
  },
  audit_records: { key: ['seq'], row: 'order by seq offset 3 limit 1', seq: 't.seq' },
  workspaces: { key: ['workspace_id'], row: 'limit 1', seq: newestOf("'enterprise'") },
  agents: {
    key: ['agent_id', 'slug'],
    row: "order by slug = 'shadow' desc limit 1",
    seq: newestOf(`'"agent":{"agent_id":"' || t.agent_id`),
  },
  authorities: {
    key: ['agent_id', 'version'],
    // One with which limits joined.
    row: 'order by joined is null, version limit 1',
    seq: "(select seq from audit_records where workspace_id = W and target_id = t.agent_id and action = 'authority.created' order by seq offset t.version - 1 limit 1)",
  },
  api_keys: { key: ['key_id'], row: "order by kind = 'read_only' desc limit 1", seq: newestKey },
  api_key_digests: { key: ['digest'], row: 'order by key_id limit 1', seq: newestKey },
  decision_states: {
    key: ['decision_id'],
    row: 'order by review_id is null, label_id is null, capability_status is null limit 1',
    seq: eventOf('t.decision_id'),
  },
  expiring_holds: {
    key: ['agent_id', 'expires_at', 'decision_id'],
    row: 'order by decision_id limit 1',
    seq: eventOf('t.decision_id'),
  },
  budgets: {
    key: ['agent_id', 'period', 'currency'],
    row: 'order by agent_id limit 1',
    seq: `(select max(e.seq) from decisions d join ledger_events e on e.workspace_id = d.workspace_id
      and e.subject_id = d.decision_id where d.workspace_id = W and d.agent_id = t.agent_id)`,
  },
  counters: {
    key: ['counter_id', 'subject', 'slot'],
    // What duplicates are counted in names the newest of them.
    row: 'and count > 0 order by decision_id is null, decision_id desc limit 1',
    seq: eventOf('t.decision_id'),
  },
  webhook_endpoints: {
    key: ['endpoint_id'],
    row: 'order by endpoint_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.endpoint_id)',
  },
  channels: {
    key: ['channel_id'],
    row: 'order by channel_id limit 1',
    seq: newestOf('t.channel_id'),
  },
  members: {
    key: ['user_id', 'principal_id'],
    row: 'order by removed_at is null, user_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.user_id)',
  },
  invitations: {
    key: ['invitation_id'],
    row: 'order by accepted_at is null, invitation_id limit 1',
    seq: newestOf('t.invitation_id'),
  },
  merchant_entries: {
    key: ['entry_id'],
    row: 'order by unlisted_in is null, entry_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.entry_id)',
  },
  review_policies: {
    key: ['version'],
    row: 'order by version limit 1',
    seq: "(select min(seq) from audit_records where workspace_id = W and action = 'review_policy.updated')",
  },
  shared_budgets: {
    key: ['budget_id', 'slug'],
    row: "order by status = 'frozen' desc, budget_id limit 1",
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.budget_id)',
  },
  allowances: {
    key: ['allowance_id', 'external_id'],
    row: 'order by external_id is null, allowance_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.allowance_id)',
  },
  allowance_labels: {
    key: ['key', 'value', 'allowance_id'],
    row: 'order by allowance_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.allowance_id)',
  },
  allowance_decisions: {
    key: ['allowance_id', 'decision_id'],
    row: 'order by allowance_id limit 1',
    seq: eventOf('t.decision_id'),
  },
  allowance_issuers: {
    key: ['issuer_id'],
    row: 'order by revoked_at is null, issuer_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.issuer_id)',
  },
  limit_alerts: {
    key: ['agent_id', 'limit_id', 'subject', 'percent'],
    row: 'order by agent_id limit 1',
    seq: "(select max(seq) from audit_records where workspace_id = W and action = 'limit.threshold.reached')",
  },
  decision_links: {
    key: ['link_id'],
    row: 'order by revoked_at is null, link_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.link_id)',
  },
  slack_links: {
    key: ['user_id', 'slack_account'],
    row: 'order by slack_account is null, user_id limit 1',
    seq: "(select max(seq) from audit_records where workspace_id = W and action like 'member.slack%' and target_id = t.user_id)",
  },
  signing_keys: {
    key: ['signing_key_id'],
    row: 'order by endorsed_by is null, signing_key_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.signing_key_id)',
  },
  feedback: {
    key: ['agent_id', 'purpose_hash', 'merchant', 'payee_id', 'word'],
    row: "order by word = '' desc, merchant, payee_id limit 1",
    seq: '(select max(seq) from ledger_events where workspace_id = W)',
  },
  decision_lessons: {
    key: ['decision_id'],
    // A row that says nothing, such as is left of what was said and taken back, may as well be missing.
    row: 'order by (allowed or denied or aligned or misaligned or paid) desc, decision_id limit 1',
    seq: eventOf('t.decision_id'),
  },
  known_merchants: {
    key: ['agent_id', 'key'],
    // One that a single decision made known; where several did, each of them says that the row is gone.
    row: `order by key = '${knownMerchantKey({ merchant: '', payee_id: 'sepa:DE2' })}' desc limit 1`,
    seq: eventOf('t.decision_id'),
  },
  questions: {
    key: ['agent_id', 'question_id'],
    // One that a single decision asked, and nobody answered.
    row: "order by kind = 'model' desc limit 1",
    seq: 't.last_seq',
  },
  question_events: {
    key: ['seq', 'question_id'],
    row: "order by what = 'NO' desc, seq limit 1",
    seq: 't.seq',
  },
  imports: {
    key: ['import_id'],
    row: 'order by mapping is null, import_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.import_id)',
  },
  lines: {
    // A row within a known page is reported at the event of the page.
    key: ['line_id', 'identity', 'seq'],
    row: 'order by line_id offset 1 limit 1',
    seq: 't.seq',
  },
  rail_authorizations: {
    key: ['rail_authorization_id', 'fact', 'decision_id'],
    row: 'order by rail_authorization_id limit 1',
    seq: eventOf('t.rail_authorization_id'),
  },
  rails: {
    key: ['rail_id'],
    row: 'order by rail_id limit 1',
    seq: '(select max(seq) from audit_records where workspace_id = W and target_id = t.rail_id)',
  },
  instrument_assignments: {
    key: ['version'],
    row: 'order by instrument, version limit 1',
    seq: "(select min(seq) from audit_records where workspace_id = W and action = 'instrument.assigned')",
  },
  line_resolutions: {
    key: ['resolution_id'],
    row: 'order by resolution_id limit 1',
    seq: "(select seq from ledger_events where workspace_id = W and type = 'line.resolution.recorded' and subject_id = t.resolution_id)",
  },
  unmatched_lines: {
    key: ['line_id'],
    row: 'order by line_id limit 1',
    seq: "(select seq from ledger_events where workspace_id = W and type = 'line.unmatched' and subject_id = t.line_id)",
  },
  asked_spends: {
    key: ['decision_id'],
    row: 'order by decision_id limit 1',
    seq: '(select max(seq) from ledger_events where workspace_id = W)',
  },
  line_matches: {
    key: ['line_id'],
    row: 'order by decision_id is null, line_id limit 1',
    seq: '(select max(seq) from ledger_events where workspace_id = W)',
  },
  checkpoints: { key: ['seq'], row: 'order by seq limit 1', seq: 't.seq' },
  ledger_heads: { key: ['workspace_id'], row: 'limit 1', seq: 't.seq' },
  ledger_events: { key: ['seq'], row: 'order by seq offset 8 limit 1', seq: 't.seq' },
};

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

const NAMES = Object.keys(TABLES);
const where = (table: string, row: string) =>
  `ctid = (select ctid from ${table} where workspace_id = W ${row})`;

async function seqOf(table: string, row = TABLES[table]?.row as string): Promise<number> {
  const { rows } = await sql(
    `select ${TABLES[table]?.seq} as seq from ${table} t where ${where(table, row).replace('ctid', 't.ctid')}`,
  );
  return Number(rows[0].seq);
}
const kindsAt = (found: { breaks: LedgerBreak[] }, seq: number) =>
  new Set(found.breaks.filter((each) => each.seq === seq).map((each) => each.kind));

test('the untouched history is valid, before and after', async () => {
  expect((await h.verify()).breaks).toEqual([]);
  expect((await tamper()).breaks).toEqual([]);
});

test('every table of the database is in the matrix', () => {
  expect(tables().sort()).toEqual([...NAMES].sort());
});

describe('an edit of any column is reported at its own event', () => {
  test.each(NAMES)('%s', async (table) => {
    const { row } = TABLES[table] as { row: string };
    const at = await seqOf(table);
    const own = columns.filter((each) => each.table === table);
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
        const told = [table, column, edit, found.valid, found.first_break_seq];
        // The head names the place after its last event as cut off.
        const places =
          table !== 'ledger_heads'
            ? [at]
            : column === 'seq'
              ? [at + 1]
              : column === 'stop'
                ? [await seqOf('audit_records', "and action = 'workspace.resumed'")]
                : [at];
        expect(told.slice(0, 4)).toEqual([table, column, edit, false]);
        expect([...told.slice(0, 3), places]).toEqual([table, column, edit, [found.first_break_seq]]);
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
  try {
    await sql(
      "update users set email = 'mallory@example.com' where user_id = (select user_id from members where workspace_id = W order by removed_at is null, user_id limit 1)",
    );
    const found = await h.verify();
    expect([found.first_break_seq, ...kindsAt(found, at)]).toEqual([at, 'ROW_MISMATCH']);
  } finally {
    await sql(
      "update users u set email = (select state::json->'member'->>'email' from audit_records a where a.target_id = u.user_id limit 1) where email = 'mallory@example.com'",
    );
  }
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
  test.each(NAMES.filter((name) => name !== 'checkpoints' && name !== 'workspaces'))(
    '%s, by giving it to another workspace',
    async (table) => {
      const at = await seqOf(table);
      const found = await tamper(
        `update ${table} set workspace_id = 'ws_0' where ${where(table, TABLES[table]?.row as string)}`,
      );
      expect([table, found.first_break_seq]).toEqual([table, table === 'ledger_heads' ? at + 1 : at]);
    },
  );
});

describe('an inserted row, of which no event speaks, is reported at the end of the chain', () => {
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
    const own = columns.filter((each) => each.table === table);
    const values = own.map(({ column, type }) =>
      key.includes(column) ? (fresh[type] as string).replaceAll('COLUMN', column) : column,
    );
    const found = await tamper(
      `insert into ${table} select ${values.join(', ')} from ${table} where ${where(table, row)}`,
    );
    expect([table, found.first_break_seq, ...kindsAt(found, h.last_seq)]).toEqual([
      table,
      h.last_seq,
      'ROW_MISMATCH',
    ]);
    expect(found.breaks.some((each) => /in no event|belong to no event/.test(each.detail))).toBe(true);
  });
  test('an event behind the last one, one before the first, and a copy in between', async () => {
    const copy = (seq: string) =>
      `insert into ledger_events select workspace_id, ${seq}, id, type, subject_type, subject_id, occurred_at, data_hash,
         hash, hash from ledger_events where workspace_id = W and seq = ${h.last_seq}`;
    const behind = await tamper(copy('seq + 1'));
    expect([behind.first_break_seq, ...kindsAt(behind, h.last_seq + 1)]).toContain('ENTRY_ALTERED');
    expect(behind.first_break_seq).toBe(h.last_seq + 1);
    const before = await tamper(copy('0'));
    expect([before.first_break_seq, ...kindsAt(before, 1)]).toEqual([1, 'GAP']);
  });
});

describe('a row without an id, where no walk begins, is found as well', () => {
  test.each(['decisions', 'reviews', 'labels', 'notes', 'outcomes'])('%s', async (table) => {
    const id = TABLES[table]?.key[0];
    const values = columns
      .filter((each) => each.table === table)
      .map(({ column }) => (column === id ? "''" : column === 'decision_id' ? "'dec_none'" : column));
    const found = await tamper(
      `insert into ${table} select ${values.join(', ')} from ${table} where workspace_id = W limit 1`,
    );
    expect([found.valid, found.first_break_seq, ...kindsAt(found, h.last_seq)]).toEqual([
      false,
      h.last_seq,
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
    const rest = columns
      .filter((each) => each.table === table && ![...key, 'workspace_id'].includes(each.column))
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
