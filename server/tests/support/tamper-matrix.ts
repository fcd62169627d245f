import type { LedgerBreak } from '@purser/rules/domain/ledger';
import { knownMerchantKey } from '@purser/rules/policy/known-merchants';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { type FullHistory, makeFullHistory } from './full-history.ts';
import { breakIn, type Intruder } from './shards.ts';

/** Tables that no event covers: conveniences, sums of other rows, and messages that are still to be sent. */
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
  'search_groups',
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
  // Each membership seals the e-mail of its person; `tampering.long` edits one.
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
const eventOf = (id: string) =>
  `(select max(seq) from ledger_events where workspace_id = W and subject_id = ${id})`;
const newestKey = '(select max(seq) from audit_records where workspace_id = W and target_id = t.key_id)';
const newestOf = (id: string) =>
  `(select max(seq) from audit_records where workspace_id = W and state like '%' || ${id} || '%')`;
/** The key of each table's rows, the row that is spoiled, and the event at which that has to be reported. */
export const TABLES: Record<
  string,
  { key: string[]; row: string; other?: string; seq: string; kind?: string }
> = {
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
    // A counter of duplicates names the newest of them.
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

export const NAMES = Object.keys(TABLES);

interface Column {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
}

/** The places of a verification's breaks of an event, by their kinds. */
export const kindsAt = (found: { breaks: LedgerBreak[] }, seq: number) =>
  new Set(found.breaks.filter((each) => each.seq === seq).map((each) => each.kind));

/** Which row of a table is spoiled. */
export const where = (table: string, row: string) =>
  `ctid = (select ctid from ${table} where workspace_id = W ${row})`;

/** A database in which everything happened, for the tests of a file to spoil, verify and restore. */
export function spoiledHistory() {
  let h: FullHistory;
  let intruder: Intruder;
  let columns: Column[];
  const tables = () => [...new Set(columns.map((each) => each.table))];
  beforeAll(async () => {
    h = await makeFullHistory();
    const { rows } = await h.sql(
      `select table_name as table, column_name as column,
         case udt_name when '_int4' then 'integer[]' else data_type end as type, is_nullable = 'YES' as nullable
       from information_schema.columns
       where table_schema = 'public' and table_name !~ '^citus_|_[0-9]{6}' order by table_name, ordinal_position`,
    );
    columns = rows.filter((row) => !NO_HISTORY.includes(row.table));
    intruder = await breakIn(h.connection, h.workspace_id, h.sql);
    for (const table of tables()) await intruder.sql(`create table kept_${table} as table ${table}`);
  });
  afterAll(async () => {
    await intruder?.close();
    await h.stop();
  });

  /** `W` stands for the workspace. */
  const sql = (text: string) => intruder.sql(text.replaceAll(/\bW\b/g, `'${h.workspace_id}'`));

  /** Undoes statements. Of the tables, only those that they name can have changed. */
  async function restore(statements: readonly string[]): Promise<void> {
    const named = tables().filter((table) =>
      statements.some((each) => new RegExp(`\\b${table}\\b`).test(each)),
    );
    // The rows that differ, and not the whole table: emptying a table takes longer than the verification.
    for (const table of named) {
      const kept = `kept_${table}`;
      await sql(`delete from ${table} t where t::text not in (select k::text from ${kept} k)`);
      await sql(
        `insert into ${table} select k.* from ${kept} k where k::text not in (select t::text from ${table} t)`,
      );
    }
  }

  return {
    history: () => h,
    tables,
    columnsOf: (table: string) => columns.filter((each) => each.table === table),
    sql,
    /** Runs statements behind the service's back, verifies, and undoes them. */
    async tamper(...statements: string[]) {
      try {
        for (const statement of statements) await sql(statement);
        return await h.verify();
      } finally {
        await restore(statements);
      }
    },
    /** The event at which a spoiled row of a table has to be reported. */
    async seqOf(table: string, row = TABLES[table]?.row as string): Promise<number> {
      // Two statements: on Citus the row may lie on another node than the events.
      const found = await sql(`select to_json(t)::text as row from ${table} t where ${where(table, row)}`);
      const { rows } = await sql(
        `select ${TABLES[table]?.seq} as seq
         from json_populate_record(null::${table}, ${pg.escapeLiteral(found.rows[0].row)}) t`,
      );
      return Number(rows[0].seq);
    },
  };
}
