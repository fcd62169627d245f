import pg from 'pg';
import { engineOf, lostNodesOf } from './engine.ts';
import { placeOf } from './local-tables.ts';

/** Sends statements, and has an engine: a pool. */
interface Finding {
  query<R extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<R>>;
}

/** A statement that finds rows in all workspaces, and what its rows need where they do not come from one statement. */
export interface FindEverywhere<Row extends pg.QueryResultRow> {
  name: string;
  /** A select whose tables each have a name of their own after `from` or `join`. */
  text: string;
  values: readonly (string | number | readonly string[])[];
  /** The most rows. */
  limit: number;
  /** The order in which the statement has its rows. */
  order: (a: Row, b: Row) => number;
  /** Makes a row of its JSON, in which times and bytes are text. */
  read: (json: Row) => Row;
}

const literal = (value: string | number | readonly string[]): string => {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return pg.escapeLiteral(value);
  return value.length === 0 ? "'{}'" : `array[${value.map(pg.escapeLiteral).join(', ')}]`;
};

/** The names after `from` and `join`: of tables, and of what else a select reads. */
export const TABLES = /(?<=\b(?:from|join)\s+)\w+/g;

/** Returns the tables of the workers that a statement names. */
export function tablesOf(text: string): string[] {
  const names = [...text.matchAll(TABLES)].map(([name]) => name);
  return [...new Set(names)].filter((name) => placeOf(name) === 'distributed');
}

/** Returns the statement on one shard, with its values in its text; `shards` has the name of each table's shard. */
export function onShard(
  { text, values }: Pick<FindEverywhere<pg.QueryResultRow>, 'text' | 'values'>,
  shards: ReadonlyMap<string, string>,
): string {
  const named = text.replace(TABLES, (name) => shards.get(name) ?? name);
  return named.replace(/\$(\d+)/g, (_, n: string) => literal(values[Number(n) - 1] as string));
}

/** Each shard of these tables on the nodes that are not lost: those of one range of workspaces together. */
async function listShards(
  db: Finding,
  tables: readonly string[],
  lost: readonly string[],
): Promise<{ host: string; port: number; shards: Map<string, string> }[]> {
  const found = await db.query<{ host: string; port: number; range: string; table: string; shard: string }>({
    text: `select n.nodename as host, n.nodeport as port, s.shardminvalue as range, s.logicalrelid::text as table,
        s.logicalrelid::text || '_' || s.shardid as shard
      from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
      join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
      where s.logicalrelid::text = any($1) and n.nodename || ':' || n.nodeport <> all($2)`,
    values: [tables, lost],
  });
  const ranges = new Map<string, { host: string; port: number; shards: Map<string, string> }>();
  for (const { host, port, range, table, shard } of found.rows) {
    const together = ranges.get(range) ?? { host, port, shards: new Map() };
    ranges.set(range, together);
    together.shards.set(table, shard);
  }
  return [...ranges.values()];
}

/** Asks each node that is not lost for what it has, in one command; one that does not answer is left out. */
async function askNodes<Row extends pg.QueryResultRow>(
  db: Finding,
  statement: FindEverywhere<Row>,
  lost: readonly string[],
): Promise<Row[]> {
  const commands = new Map<string, { host: string; port: number; parts: string[] }>();
  for (const { host, port, shards } of await listShards(db, tablesOf(statement.text), lost)) {
    const node = `${host}:${port}`;
    const command = commands.get(node) ?? { host, port, parts: [] };
    commands.set(node, command);
    command.parts.push(`(${onShard(statement, shards)})`);
  }
  const nodes = [...commands.values()];
  if (nodes.length === 0) return [];
  const found = await db.query<{ success: boolean; result: string }>({
    text: 'select success, result from master_run_on_worker($1::text[], $2::integer[], $3::text[], true)',
    values: [
      nodes.map(({ host }) => host),
      nodes.map(({ port }) => port),
      nodes.map(({ parts }) => `select json_agg(r)::text from (${parts.join(' union all ')}) r`),
    ],
  });
  return found.rows
    .flatMap(({ success, result }) => (success && result !== '' ? (JSON.parse(result) as Row[]) : []))
    .map(statement.read)
    .sort(statement.order)
    .slice(0, statement.limit);
}

/**
 * Returns rows of all workspaces. While a worker of Citus is lost, no statement over all shards works: then those of the other
 * workers, so that work for their workspaces goes on.
 */
export async function findEverywhere<Row extends pg.QueryResultRow>(
  db: Finding,
  statement: FindEverywhere<Row>,
): Promise<Row[]> {
  const lost = engineOf(db) === 'citus' ? lostNodesOf(db) : [];
  if (lost.length > 0) return askNodes(db, statement, lost);
  const { name, text, values } = statement;
  return (await db.query<Row>({ name, text, values: [...values] })).rows;
}
