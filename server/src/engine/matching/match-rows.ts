import type { CoverageLine, LineMatchRow } from '@purser/rules/matching/lines';
import type { MatchStep } from '@purser/rules/matching/spends';
import type { Queryable } from '../storage/database.ts';
import { AGENT_OF } from '../storage/history/lines.ts';
import { makeInsert } from '../storage/rows.ts';
import type { TimeSpan } from './asked-rows.ts';

const COLUMNS = `line_id, import_id, feed, agent_id, spend_key, starts_at, occurred_at, ends_at, currency, amount_minor,
  state, rule, decision_id, step, resolution_id`;

/** The fields of a line that are compared. */
const LINE = `l.line_id, l.import_id, l.feed, l.identity, l.merchant, l.payee_id, l.instrument, l.amount_minor, l.currency,
  l.merchant_amount_minor, l.merchant_currency, l.occurred_at, l.precision, l.external_reference, l.authorization_id`;

export const putLineMatches = makeInsert<LineMatchRow>(
  'line_matches',
  {
    line_id: 'text',
    import_id: 'text',
    feed: 'text',
    agent_id: 'text',
    spend_key: 'text',
    starts_at: 'timestamptz',
    occurred_at: 'timestamptz',
    ends_at: 'timestamptz',
    currency: 'text',
    amount_minor: 'bigint',
    state: 'text',
    rule: 'text',
    decision_id: 'text',
    step: 'text',
    resolution_id: 'text',
  },
  {
    conflict: ['line_id'],
    update: ['agent_id', 'spend_key', 'starts_at', 'state', 'rule', 'decision_id', 'step', 'resolution_id'],
  },
);

type FoundLine = Omit<CoverageLine, 'resolution'> & {
  resolution_id: string | null;
  action: NonNullable<CoverageLine['resolution']>['action'] | null;
  resolved_as: string | null;
  workspace_id: string;
};

function coverageLine({
  resolution_id,
  action,
  resolved_as,
  workspace_id: _,
  ...line
}: FoundLine): CoverageLine {
  if (resolution_id === null || action === null) return { ...line, resolution: null };
  return { ...line, resolution: { resolution_id, action, decision_id: resolved_as } };
}

/** Up to which event of a chain things are taken: its number, and its place among ids. */
export interface Upto {
  seq: number;
  place: string;
}

/** SQL: lines with whose they are, as `rows` selects them, and what a person said of each last, up to the place `$2`. */
const withFacts = (rows: string) => `select f.*, g.created_at as agent_created_at, r.resolution_id, r.action,
    r.decision_id as resolved_as
  from (${rows}) as f
  left join agents g on g.workspace_id = $1 and g.agent_id = f.agent_id
  left join lateral (
    select resolution_id, action, decision_id from line_resolutions r where r.workspace_id = $1 and r.line_id = f.line_id
      and r.line_id <> '' and r.resolution_id <= 'rsl_' || $2 order by r.resolution_id desc limit 1) as r on true`;

/** Returns the spends of these lines: the lines themselves, and all others of their authorizations. Refunds are left out. */
export async function loadSpendsOfLines(
  db: Queryable,
  workspace_id: string,
  line_ids: readonly string[],
  { seq, place }: Upto,
): Promise<CoverageLine[]> {
  const result = await db.query<FoundLine>({
    name: 'load_spends_of_lines',
    // Behind the limit, the condition on authorizations lets the planner look up by id alone.
    text: `with wanted as (
        select l.* from unnest($4::text[]) as w(line_id)
        cross join lateral (select * from lines where workspace_id = $1 and line_id = w.line_id limit 1) as l
        where l.kind = 'SPEND')
      ${withFacts(`select ${LINE}, ${AGENT_OF} as agent_id from (
      select * from wanted where seq <= $3
      union
      select o.* from (select distinct feed, authorization_id from wanted where authorization_id is not null) as a
        join lines o on o.workspace_id = $1 and o.feed = a.feed and o.authorization_id = a.authorization_id
        where o.kind = 'SPEND' and o.seq <= $3) as l`)}`,
    values: [workspace_id, place, seq, line_ids],
  });
  return result.rows.map(coverageLine);
}

/** Returns the lines of the spends of an agent that began within a time and are compared with decisions. */
export async function loadSpendsOfAgent(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  { from, to }: TimeSpan,
  { seq, place }: Upto,
): Promise<CoverageLine[]> {
  const result = await db.query<FoundLine>({
    name: 'load_spends_of_agent',
    // Whose the first line of a spend is, all its lines are.
    text: withFacts(`select ${LINE}, m.agent_id from line_matches m
      join lines l on l.workspace_id = $1 and l.line_id = m.line_id
      where m.workspace_id = $1 and m.agent_id = $4 and m.starts_at between $5 and $6
        and (m.state <> 'HISTORY' or m.resolution_id is not null) and l.seq <= $3`),
    values: [workspace_id, place, seq, agent_id, from, to],
  });
  return result.rows.map(coverageLine);
}

/** Returns the stored rows of these lines. */
export async function loadLineMatches(
  db: Queryable,
  workspace_id: string,
  line_ids: readonly string[],
): Promise<Map<string, LineMatchRow>> {
  const result = await db.query<LineMatchRow & { workspace_id: string }>({
    name: 'load_line_matches',
    text: `select ${COLUMNS} from line_matches where workspace_id = $1 and line_id = any($2)`,
    values: [workspace_id, line_ids],
  });
  return new Map(result.rows.map((row) => [row.line_id, row]));
}

/** A decision that a spend holds, with the time of its first line. */
export interface HeldRow {
  spend_key: string;
  starts_at: string;
  decision_id: string;
  step: MatchStep;
}

/** Returns which spends hold these decisions. */
export async function loadHolders(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<HeldRow[]> {
  const result = await db.query<HeldRow>({
    name: 'load_holders',
    text: `select distinct spend_key, starts_at, decision_id, step from line_matches
      where workspace_id = $1 and decision_id = any($2) and decision_id is not null`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** Returns whether an agent has compared lines of spends that began at a time or later. */
export async function hasSpendsFrom(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  from: string,
): Promise<boolean> {
  const result = await db.query({
    name: 'has_spends_from',
    text: `select from line_matches where workspace_id = $1 and agent_id = $2 and starts_at >= $3
      and (state <> 'HISTORY' or resolution_id is not null) limit 1`,
    values: [workspace_id, agent_id, from],
  });
  return result.rowCount === 1;
}

/** A row with what tells where a change reaches. */
export type PlacedMatch = Pick<
  LineMatchRow,
  'line_id' | 'agent_id' | 'starts_at' | 'spend_key' | 'decision_id'
>;

/** Deletes the rows of an import's lines and returns them. */
export async function deleteMatchesOfImports(
  db: Queryable,
  workspace_id: string,
  import_ids: readonly string[],
): Promise<PlacedMatch[]> {
  const result = await db.query<PlacedMatch & { workspace_id: string }>({
    name: 'delete_matches_of_imports',
    text: `delete from line_matches where workspace_id = $1 and import_id = any($2) and import_id is not null
      returning line_id, agent_id, starts_at, spend_key, decision_id`,
    values: [workspace_id, import_ids],
  });
  return result.rows;
}

/** Returns lines that remain of these authorizations, by the keys of their spends. */
export async function findLinesOfSpends(
  db: Queryable,
  workspace_id: string,
  spend_keys: readonly string[],
): Promise<string[]> {
  if (spend_keys.length === 0) return [];
  const parts = spend_keys.flatMap((key) => {
    const at = key.indexOf(' of ');
    return at < 0 ? [] : [{ feed: key.slice(0, at), authorization_id: key.slice(at + 4) }];
  });
  const result = await db.query<{ line_id: string }>({
    name: 'find_lines_of_spends',
    text: `select l.line_id from unnest($2::text[], $3::text[]) as w(feed, authorization_id)
      join lines l on l.workspace_id = $1 and l.feed = w.feed and l.authorization_id = w.authorization_id
      where l.authorization_id is not null`,
    values: [
      workspace_id,
      parts.map(({ feed }) => feed),
      parts.map(({ authorization_id }) => authorization_id),
    ],
  });
  return result.rows.map(({ line_id }) => line_id);
}

/** Returns a page of the lines of kind SPEND after `after`, in the order of their ids, up to an event. */
export async function listSpendLines(
  db: Queryable,
  workspace_id: string,
  page: { after: string; upto_seq: number; limit: number; instruments?: readonly string[] },
): Promise<string[]> {
  const of_instrument =
    page.instruments === undefined ? '' : 'and instrument = any($4) and instrument is not null';
  const result = await db.query<{ line_id: string }>({
    text: `select line_id from lines where workspace_id = $1 and line_id > $2 and kind = 'SPEND' and seq <= $3
      ${of_instrument} order by line_id limit ${page.limit}`,
    values: [
      workspace_id,
      page.after,
      page.upto_seq,
      ...(page.instruments === undefined ? [] : [page.instruments]),
    ],
  });
  return result.rows.map(({ line_id }) => line_id);
}

/** Returns rows of lines that there are not, at most `limit`. */
export async function findMatchesWithoutLine(
  db: Queryable,
  workspace_id: string,
  limit: number,
): Promise<string[]> {
  const result = await db.query<{ line_id: string }>({
    name: 'find_matches_without_line',
    // Not as a join: without statistics, as after a first import, its plan compared each match with each line.
    text: `select m.line_id from line_matches m where m.workspace_id = $1 and (select l.kind from lines l
        where l.workspace_id = m.workspace_id and l.line_id = m.line_id) is distinct from 'SPEND'
      order by m.line_id limit $2`,
    values: [workspace_id, limit],
  });
  return result.rows.map(({ line_id }) => line_id);
}

/** Returns the agents that have compared lines, with the time of the first. */
export async function listComparedAgents(
  db: Queryable,
  workspace_id: string,
): Promise<{ agent_id: string; from: string; to: string }[]> {
  const result = await db.query<{ agent_id: string; from: string; to: string }>({
    name: 'list_compared_agents',
    text: `select agent_id, min(starts_at) as from, max(starts_at) as to from line_matches
      where workspace_id = $1 and agent_id is not null and (state <> 'HISTORY' or resolution_id is not null)
      group by agent_id order by agent_id`,
    values: [workspace_id],
  });
  return result.rows;
}

/** Returns the time of the last of the next `count` spends of an agent that begin at a time or later. */
export async function endOfNextSpends(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  from: string,
  count: number,
): Promise<string | null> {
  const result = await db.query<{ starts_at: string }>({
    name: 'end_of_next_spends',
    text: `select max(starts_at) as starts_at from (select starts_at from line_matches
      where workspace_id = $1 and agent_id = $2 and starts_at >= $3
        and (state <> 'HISTORY' or resolution_id is not null) order by starts_at limit $4) as m`,
    values: [workspace_id, agent_id, from, count],
  });
  return result.rows[0]?.starts_at ?? null;
}
