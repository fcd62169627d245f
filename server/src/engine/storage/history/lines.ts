import type { CoverageRule, LineState } from '@purser/contract/values/coverage';
import type { LineKind } from '@purser/contract/values/history';
import type { LineRow } from '@purser/rules/history/lines';
import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import type { InstrumentAssignment } from '@purser/rules/imports/import-rows';
import type { Queryable } from '../database.ts';
import { containing, Parameters } from '../pages.ts';
import { type InWorkspace, makeInsert } from '../rows.ts';

const COLUMNS = `line_id, seq, import_id, rail_id, line_number, feed, identity, kind, merchant, payee_id, instrument,
  amount_minor, currency, merchant_amount_minor, merchant_currency, occurred_at, precision, external_reference,
  authorization_id, description, category, recorded_at`;
const of = (alias: string) => COLUMNS.replaceAll(/(\w+)/g, `${alias}.$1`);
/** The columns of lines, of the table under the name `l`. */
export const LINE_COLUMNS: string = of('l');

export const insertLines = makeInsert<LineRow>('lines', {
  line_id: 'text',
  seq: 'bigint',
  import_id: 'text',
  rail_id: 'text',
  line_number: 'integer',
  feed: 'text',
  identity: 'text',
  kind: 'text',
  merchant: 'text',
  payee_id: 'text',
  instrument: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  merchant_amount_minor: 'bigint',
  merchant_currency: 'text',
  occurred_at: 'timestamptz',
  precision: 'text',
  external_reference: 'text',
  authorization_id: 'text',
  description: 'text',
  category: 'text',
  recorded_at: 'timestamptz',
});

/** Returns the lines of these identities; those that no feed has are left out. */
export async function loadLinesByIdentity(
  db: Queryable,
  wanted: readonly InWorkspace<{ feed: string; identity: string }>[],
): Promise<InWorkspace<LineRow>[]> {
  const result = await db.query<InWorkspace<LineRow>>({
    name: 'load_lines_by_identity',
    // With the statistics of a new table the primary key seems as good as the index by identity, and a plan that takes it reads all
    // lines of a workspace for each line that is imported. Of several workspaces, as an array may name, it seems worse.
    text: `select l.workspace_id, ${of('l')}
      from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, feed, identity)
      cross join lateral (select * from lines where workspace_id = any($1) and feed = w.feed and identity = w.identity
        and identity <> '' offset 0) as l
      where l.workspace_id = w.workspace_id`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.feed),
      wanted.map((each) => each.identity),
    ],
  });
  return result.rows;
}

/** Returns the lines that these events seal, in the order of their ids. */
export async function loadPages(
  db: Queryable,
  workspace_id: string,
  seqs: readonly number[],
): Promise<LineRow[]> {
  const result = await db.query<LineRow & { workspace_id: string }>({
    name: 'load_pages_of_lines',
    text: `select ${COLUMNS} from lines where workspace_id = $1 and seq = any($2) and seq > 0 order by line_id`,
    values: [workspace_id, seqs],
  });
  return result.rows;
}

/** Returns how many lines a workspace has, counted up to `limit`. */
export async function countLines(db: Queryable, workspace_id: string, limit: number): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_some_lines',
    text: 'select count(*) from (select from lines where workspace_id = $1 limit $2) as l',
    values: [workspace_id, limit],
  });
  return result.rows[0]?.count ?? 0;
}

/** Filters of lines; several of one kind: any of them. */
export interface LineFilters {
  imports?: readonly string[];
  rail?: string;
  feed?: readonly string[];
  /** Ids of agents; empty: lines that are nobody's. */
  agent_ids?: readonly string[];
  kind?: readonly LineKind[];
  /** States at the time of the query. */
  state?: readonly LineState[];
  merchant?: string;
  instrument?: string;
  currency?: readonly string[];
  q?: string;
  min_amount?: number;
  max_amount?: number;
  from?: string;
  to?: string;
}

/** A line with whose it is, and whether it was asked for as of now; null: it was not compared. */
export interface FoundLine extends LineRow {
  agent_id: string | null;
  slug: string | null;
  state: LineState | null;
  rule: CoverageRule | null;
  decision_id: string | null;
  resolution_id: string | null;
  /** The decision that was made of its authorization, for an agent in SHADOW that had not asked. */
  observed_decision_id: string | null;
}

/** How many lines one page looks at, so that no filter reads all. */
const MAX_LINES_LOOKED_AT = 20_000;

/** Whose a line is: of the newest assignment of its instrument whose time has come, or else of its import. */
export const AGENT_OF = `coalesce(
  (select n.agent_id from instrument_assignments n where n.workspace_id = l.workspace_id
    and n.instrument = l.instrument and n.from_at <= l.occurred_at order by n.version desc limit 1),
  (select i.agent_id from imports i where i.workspace_id = l.workspace_id and i.import_id = l.import_id))`;

/** SQL: the decision that was made of a line's authorization; a capture without one is one by itself. */
const OBSERVED = `(select o.decision_id from rail_authorizations o where o.workspace_id = l.workspace_id and o.kind = l.feed
  and o.authorization_id = coalesce(l.authorization_id, l.external_reference) and o.fact = 'DECISION' and o.is_observed)
  as observed_decision_id`;

/** SQL: the state of a row `m` of line_matches as of now; `grace`: the parameter with the seconds of grace. */
export const stateNow = (grace: string) =>
  `case when m.state = 'NEVER_ASKED' and m.ends_at + make_interval(secs => ${grace}) > (select clock_timestamp())
    then 'WAITING' else m.state end`;

function conditionsOf(filters: LineFilters, parameters: Parameters, grace: string): string[] {
  const { agent_ids, q } = filters;
  const when = (value: unknown, condition: (name: string) => string) =>
    value === undefined ? [] : [condition(parameters.add(value))];
  return [
    ...when(filters.rail, (name) => `l.rail_id = ${name}`),
    ...when(filters.feed, (name) => `l.feed = any(${name})`),
    ...when(filters.kind, (name) => `l.kind = any(${name})`),
    ...when(
      filters.state,
      (
        name,
      ) => `exists (select from line_matches m where m.workspace_id = l.workspace_id and m.line_id = l.line_id
        and ${stateNow(grace)} = any(${name}))`,
    ),
    ...when(filters.merchant, (name) => `l.merchant = ${name}`),
    ...when(filters.instrument, (name) => `l.instrument = ${name}`),
    ...when(filters.currency, (name) => `l.currency = any(${name})`),
    ...when(filters.min_amount, (name) => `l.amount_minor >= ${name}`),
    ...when(filters.max_amount, (name) => `l.amount_minor <= ${name}`),
    ...when(filters.from, (name) => `l.occurred_at >= ${name}`),
    ...when(filters.to, (name) => `l.occurred_at < ${name}`),
    ...when(q === undefined ? undefined : containing(q), (name) => `l.merchant ilike ${name}`),
    ...(agent_ids?.length === 0
      ? ['l.agent_id is null']
      : when(agent_ids, (name) => `l.agent_id = any(${name})`)),
  ];
}

/** SQL: the next lines that a page looks at, whether they pass the other filters or not. */
function lookedAt(
  parameters: Parameters,
  workspace_id: string,
  { imports }: LineFilters,
  { after, limit }: { after: string | null; limit: number },
): string {
  return `select * from lines where workspace_id = ${parameters.add(workspace_id)}
    ${after === null ? '' : `and line_id < ${parameters.add(after)}`}
    ${imports === undefined ? '' : `and import_id = any(${parameters.add(imports)})`}
    order by line_id desc limit ${limit}`;
}

/**
 * Returns a page of lines that pass all filters, newest first, before the line `after`. A page examines a limited number of lines.
 * `next`: where the next page begins; null: there is none.
 */
export async function findLines(
  db: Queryable,
  workspace_id: string,
  filters: LineFilters,
  page: { after: string | null; limit: number },
  grace_seconds = 0,
): Promise<{ rows: FoundLine[]; next: string | null }> {
  const parameters = new Parameters();
  const grace = parameters.add(grace_seconds);
  const looked_at = lookedAt(parameters, workspace_id, filters, {
    after: page.after,
    limit: MAX_LINES_LOOKED_AT,
  });
  const agents = filters.agent_ids === undefined ? 'l.*' : `l.*, ${AGENT_OF} as agent_id`;
  const conditions = conditionsOf(filters, parameters, grace);
  const result = await db.query<
    FoundLine & { workspace_id: string; last_looked_at: string; looked_at: number }
  >({
    text: `with looked_at as (${looked_at}),
      ends as (select min(line_id) as last_looked_at, count(*) as looked_at from looked_at),
      found as (select * from (select ${agents} from looked_at l) as l
        ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
        order by line_id desc limit ${page.limit + 1})
      select l.*, e.*, ${filters.agent_ids === undefined ? `${AGENT_OF} as agent_id,` : ''} g.slug,
        ${stateNow(grace)} as state, m.rule, m.decision_id, m.resolution_id, ${OBSERVED}
      from ends e left join found l on true
      left join line_matches m on m.workspace_id = l.workspace_id and m.line_id = l.line_id
      left join agents g on g.workspace_id = l.workspace_id
        and g.agent_id = ${filters.agent_ids === undefined ? AGENT_OF : 'l.agent_id'}
      order by l.line_id desc`,
    values: parameters.values,
  });
  const [first] = result.rows;
  const rows = result.rows.filter(({ line_id }) => line_id !== null);
  const has_more = rows.length > page.limit;
  const shown = has_more ? rows.slice(0, page.limit) : rows;
  const is_cut = (first?.looked_at ?? 0) >= MAX_LINES_LOOKED_AT;
  const next = has_more ? shown.at(-1)?.line_id : is_cut ? first?.last_looked_at : undefined;
  return { rows: shown, next: next ?? null };
}

/** Everything of a line that a replay looks at. */
const REPLAYED = `l.line_id, l.kind, l.merchant, l.payee_id, l.instrument, l.amount_minor, l.currency, l.occurred_at, l.precision,
  l.description, l.category`;

/**
 * Returns those of the next `looks_at` lines that pass all filters, those recorded last first, before the line `after`. `next`: where
 * the next page begins; null: there is none.
 */
export async function loadReplayedLines(
  db: Queryable,
  workspace_id: string,
  filters: LineFilters,
  page: { after: string | null; looks_at: number },
): Promise<{ lines: ReplayedLine[]; next: string | null }> {
  const parameters = new Parameters();
  const looked_at = lookedAt(parameters, workspace_id, filters, { ...page, limit: page.looks_at });
  const conditions = conditionsOf(filters, parameters, '0');
  const agents = filters.agent_ids === undefined ? 'l.*' : `l.*, ${AGENT_OF} as agent_id`;
  const result = await db.query<ReplayedLine & { last_looked_at: string | null; looked_at: number }>({
    text: `with looked_at as (${looked_at}),
      ends as (select min(line_id) as last_looked_at, count(*) as looked_at from looked_at)
      select ${REPLAYED}, e.* from ends e left join (select ${agents} from looked_at l) as l
        on ${conditions.length === 0 ? 'true' : conditions.join(' and ')}
      order by l.line_id desc`,
    values: parameters.values,
  });
  const [first] = result.rows;
  const is_last = first === undefined || first.looked_at < page.looks_at;
  const lines = result.rows.flatMap(({ last_looked_at: _, looked_at: __, ...line }) =>
    line.line_id === null ? [] : [line],
  );
  return { lines, next: is_last ? null : first.last_looked_at };
}

/** Returns these lines with whose they are, and whether they were asked for, in the order of their ids. */
export async function getLines(
  db: Queryable,
  workspace_id: string,
  line_ids: readonly string[],
  grace_seconds: number,
): Promise<FoundLine[]> {
  const result = await db.query<FoundLine & { workspace_id: string }>({
    name: 'get_lines',
    text: `select l.*, g.slug, ${stateNow('$3')} as state, m.rule, m.decision_id, m.resolution_id, ${OBSERVED}
      from (select l.*, ${AGENT_OF} as agent_id from lines l where workspace_id = $1 and line_id = any($2)) as l
      left join line_matches m on m.workspace_id = l.workspace_id and m.line_id = l.line_id
      left join agents g on g.workspace_id = l.workspace_id and g.agent_id = l.agent_id order by l.line_id`,
    values: [workspace_id, line_ids, grace_seconds],
  });
  return result.rows;
}

const ASSIGNMENT = 'instrument, version, from_at, agent_id, created_at, key_id, principal_id';

export const insertAssignments = makeInsert<InstrumentAssignment>('instrument_assignments', {
  instrument: 'text',
  version: 'integer',
  from_at: 'timestamptz',
  agent_id: 'text',
  created_at: 'timestamptz',
  key_id: 'text',
  principal_id: 'text',
});

/** Returns the newest assignment of each of these instruments. */
export async function loadAssignments(
  db: Queryable,
  wanted: readonly InWorkspace<{ instrument: string }>[],
): Promise<InWorkspace<InstrumentAssignment>[]> {
  const result = await db.query<InWorkspace<InstrumentAssignment>>({
    name: 'load_assignments',
    text: `select n.* from unnest($1::text[], $2::text[]) as w(workspace_id, instrument)
      cross join lateral (select workspace_id, ${ASSIGNMENT} from instrument_assignments
        where workspace_id = w.workspace_id and instrument = w.instrument order by version desc limit 1) as n`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.instrument)],
  });
  return result.rows;
}

/** Returns a page of all assignments, for verification. */
export async function listAllAssignments(
  db: Queryable,
  workspace_id: string,
  page: { after: { instrument: string; version: number }; limit: number },
): Promise<InstrumentAssignment[]> {
  const result = await db.query<InstrumentAssignment & { workspace_id: string }>({
    name: 'list_all_assignments',
    text: `select ${ASSIGNMENT} from instrument_assignments
      where workspace_id = $1 and (instrument, version) > ($2, $3) order by instrument, version limit $4`,
    values: [workspace_id, page.after.instrument, page.after.version, page.limit],
  });
  return result.rows;
}

/** An instrument with its newest assignment and the number of its lines. */
export interface FoundInstrument {
  instrument: string;
  lines: number;
  agent_id: string | null;
  slug: string | null;
  from_at: string | null;
}

/** Returns a page of the instruments that have lines or an assignment, in their order, after `after`. */
export async function listInstruments(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<FoundInstrument[]> {
  const result = await db.query<FoundInstrument & { workspace_id: string }>({
    name: 'list_instruments',
    text: `select n.instrument, n.lines, a.agent_id, g.slug, a.from_at from (
        select instrument, max(lines) as lines from (
          (select instrument, count(*) as lines from lines
            where workspace_id = $1 and instrument > $2 and instrument is not null
            group by instrument order by instrument limit $3)
          union all
          (select distinct instrument, 0::bigint as lines from instrument_assignments
            where workspace_id = $1 and instrument > $2 order by instrument limit $3)) as each
        group by instrument order by instrument limit $3) as n
      left join lateral (select * from instrument_assignments
        where workspace_id = $1 and instrument = n.instrument order by version desc limit 1) as a on true
      left join agents g on g.workspace_id = $1 and g.agent_id = a.agent_id
      order by n.instrument`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns an instrument; without lines and assignment where nothing is known of it. */
export async function getInstrument(
  db: Queryable,
  workspace_id: string,
  instrument: string,
): Promise<FoundInstrument> {
  const result = await db.query<FoundInstrument & { workspace_id: string }>({
    name: 'get_instrument',
    text: `select $2::text as instrument, a.agent_id, g.slug, a.from_at,
        (select count(*) from lines where workspace_id = $1 and instrument = $2 and instrument is not null) as lines
      from (select 1) as one
      left join lateral (select * from instrument_assignments
        where workspace_id = $1 and instrument = $2 order by version desc limit 1) as a on true
      left join agents g on g.workspace_id = $1 and g.agent_id = a.agent_id`,
    values: [workspace_id, instrument],
  });
  return result.rows[0] as FoundInstrument;
}
