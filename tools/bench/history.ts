import type pg from 'pg';

const AT_ONCE = 50_000;

/** What was written. */
export interface FilledHistory {
  decisions: number;
  events: number;
}

/** The first 10 characters of an id (ULID): its time. Plain expressions, since it is made a million times. */
export const TIME_FUNCTION = `create or replace function pg_temp.ulid_time(ms bigint) returns text language sql immutable as $$
  select ${Array.from({ length: 10 }, (_, i) => `substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> ${45 - 5 * i}) & 31)::int + 1, 1)`).join(' || ')}
$$`;

/**
 * Fills a workspace with `count` decisions of the last `days` days, evenly spread, by copying the decisions that it
 * has: half of them with an outcome, half of the reviews made, one in fifty labelled. Merchants: 5,000, some much
 * more frequent than others. The chain's hashes are not real, so the workspace is for reading only. The head moves at the
 * very end: until then nothing of it is added up for the report.
 */
export async function fillHistory(
  client: pg.Client,
  workspace_id: string,
  options: { count: number; days: number; signal: AbortSignal },
): Promise<FilledHistory> {
  const { count, days, signal } = options;
  const found = await prepareTemplates(client, workspace_id);
  const begin_ms = Number(found.now_ms) - days * 86_400_000;
  const step_ms = (days * 86_400_000) / (count + 1);
  let seq = Number(found.seq);
  for (let from = 0; from < count && !signal.aborted; from += AT_ONCE) {
    const upto = Math.min(count, from + AT_ONCE);
    await client.query('begin');
    await copyChunk(client, { from, upto, begin_ms, step_ms, templates: found.templates });
    seq += await appendEvents(client, workspace_id, seq);
    await client.query('commit');
  }
  await client.query('analyze');
  await client.query('update ledger_heads set seq = $2 where workspace_id = $1', [workspace_id, seq]);
  return { decisions: count, events: seq - Number(found.seq) };
}

/** Copies the decisions of a workspace into a table for this connection, and reads where its chain is. */
async function prepareTemplates(client: pg.Client, workspace_id: string) {
  await client.query('set synchronous_commit = off');
  await client.query(TIME_FUNCTION);
  await client.query(
    `create temp table templates as select row_number() over (order by decision_id) - 1 as n, d.*,
      to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as iso
    from decisions d where workspace_id = $1`,
    [workspace_id],
  );
  const { rows } = await client.query<{ templates: string; seq: string; now_ms: string }>(
    `select (select count(*) from templates) as templates, seq,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
    from ledger_heads where workspace_id = $1`,
    [workspace_id],
  );
  const [found] = rows;
  if (found === undefined || Number(found.templates) === 0) throw new Error('There is nothing to copy.');
  return found;
}

/** Some of the decisions to be written. Each is a template at a moment of its own. */
interface Chunk {
  from: number;
  upto: number;
  begin_ms: number;
  step_ms: number;
  templates: string;
}

/** Writes a chunk of decisions with their states and records. */
async function copyChunk(
  client: pg.Client,
  { from, upto, begin_ms, step_ms, templates }: Chunk,
): Promise<void> {
  await client.query(
    `create temp table chunk on commit drop as
    select i, pg_temp.ulid_time(ms) || upper(lpad(to_hex(i), 16, '0')) as u, to_timestamp(ms / 1000.0) as at,
      to_char(to_timestamp(ms / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as new_iso, t.*
    from (select i, (${begin_ms} + i * ${step_ms}::float8)::bigint as ms
      from generate_series(${from}::bigint, ${upto - 1}::bigint) i) as g
    join templates t on t.n = i % ${templates}`,
  );
  await client.query(
    `insert into decisions select workspace_id, 'dec_' || u, agent_id, 'fill-' || i, decision, mode, reason_codes,
      merchant || ' ' || floor(power((i * 7919 % 10007) / 10007.0, 3) * 625)::int, requested_amount_minor, currency, at,
      replace(replace(document, substr(decision_id, 5), u), iso, new_iso),
      replace(replace(core, substr(decision_id, 5), u), iso, new_iso), live_at
    from chunk order by i`,
  );
  const states = `from chunk where i % 2 = 0 or i % 50 = 1 or decision = 'REVIEW'`;
  await client.query(
    `insert into decision_states (workspace_id, decision_id, agent_id, reservation_status, period, currency,
      amount_minor, outcome_state, verified, review_state, review_id, label_id)
    select workspace_id, 'dec_' || u, agent_id, 'HELD', to_char(at, 'YYYY-MM'), currency, requested_amount_minor,
      case when i % 2 = 0 then 'EXECUTED' else 'NONE' end, false,
      case when decision = 'REVIEW' then case when i % 4 < 2 then 'ALLOWED' else 'PENDING' end end,
      case when decision = 'REVIEW' and i % 4 < 2 then 'rev_' || u end,
      case when i % 50 = 1 then 'lbl_' || u end ${states}`,
  );
  await client.query(
    `insert into outcomes select workspace_id, 'out_' || u, 'dec_' || u, 'SPEND_EXECUTED', requested_amount_minor,
      currency, null, at, 'CLIENT_REPORTED', 'key_bench', null, at, '{}' from chunk where i % 2 = 0`,
  );
  await client.query(
    `insert into reviews select workspace_id, 'rev_' || u, 'dec_' || u, 'ALLOW', 'BENCH', null, null, null, 'key_bench',
      at + make_interval(secs => i % 7200) from chunk where decision = 'REVIEW' and i % 4 < 2`,
  );
  await client.query(
    `insert into labels select workspace_id, 'lbl_' || u, 'dec_' || u,
      case when i % 3 = 0 then 'PURPOSE_MISALIGNED' else 'PURPOSE_ALIGNED' end, null, null, null, 'key_bench', at
    from chunk where i % 50 = 1`,
  );
}

/** Adds the events of the chunk to the chain. Returns how many there are. */
async function appendEvents(client: pg.Client, workspace_id: string, seq: number): Promise<number> {
  const { rowCount } = await client.query(
    `with subjects as (
      select 0 as part, i, 'decision.created' as type, 'decision' as kind, 'dec_' || u as id, at from chunk
      union all select 1, i, 'decision.outcome.recorded', 'outcome', 'out_' || u, at from chunk where i % 2 = 0
      union all select 1, i, 'decision.review.recorded', 'review', 'rev_' || u, at from chunk
        where decision = 'REVIEW' and i % 4 < 2
      union all select 1, i, 'decision.label.recorded', 'label', 'lbl_' || u, at from chunk where i % 50 = 1)
    insert into ledger_events select $1, $2::bigint + row_number() over (order by i, part), 'evt_' || id, type, kind, id, at,
      '\\x00', '\\x00', '\\x00' from subjects`,
    [workspace_id, seq],
  );
  return rowCount ?? 0;
}
