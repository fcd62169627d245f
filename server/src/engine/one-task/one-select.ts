import { valueIn } from '@purser/rules/values/maps';
import type pg from 'pg';
import { TABLES } from '../citus/find-everywhere.ts';
import { placeOf } from '../citus/local-tables.ts';
import { eachWorkspace, type WorkspaceStatement } from '../citus/one-workspace.ts';
import { numberedTogether } from '../storage/rows.ts';

/** A select as it was issued, and what settles its answer. */
interface Issued {
  statement: WorkspaceStatement;
  resolve: (answer: pg.QueryResult) => void;
  reject: (error: unknown) => void;
}

/** Begins the columns of each select: true where a row is one of it, so that a row of nulls differs from none. */
const MARK = '|';
const CLOCK = /\bclock_timestamp\(\)/g;

const texts = new Map<string, string>();

/**
 * The text of one select that returns the rows of several, each in columns of its own. All of them read the same clock: what
 * has expired for one of them has for the others.
 */
function textOf(statements: readonly WorkspaceStatement[]): string {
  const parts = numberedTogether(statements).map((text, i) => {
    const read = text.replaceAll(CLOCK, '(select at from clock)');
    return `left join lateral (select true as "${MARK}", t.* from (${read}) as t where p.part = ${i}) as t${i} on true`;
  });
  const columns = statements.map((_, i) => `t${i}.*`);
  return `with clock as materialized (select clock_timestamp() as at)
    select ${columns.join(', ')} from (values ${statements.map((_, i) => `(${i})`).join(', ')}) as p(part)
    ${parts.join(' ')}`;
}

/** The rows of each select in the answer to the one of all. */
function rowsOf({ fields, rows }: pg.QueryArrayResult<unknown[]>): object[][] {
  const marks = fields.flatMap(({ name }, at) => (name === MARK ? [at] : []));
  return marks.map((mark, i) => {
    const end = marks[i + 1] ?? fields.length;
    const names = fields.slice(mark + 1, end).map(({ name }) => name);
    return rows
      .filter((row) => row[mark] === true)
      .map((row) => Object.fromEntries(names.map((name, k) => [name, row[mark + 1 + k]])));
  });
}

async function answerTogether(
  client: Pick<pg.ClientBase, 'query'>,
  issued: readonly Issued[],
): Promise<void> {
  const statements = issued.map(({ statement }) => statement);
  const key = statements.map(({ name, text }) => name ?? text).join(' ');
  const sql = valueIn(texts, key, () => textOf(statements));
  try {
    const answer = await client.query<unknown[]>({
      text: sql,
      values: statements.flatMap(({ values }) => values),
      rowMode: 'array',
    });
    const found = rowsOf(answer);
    for (const [i, { resolve }] of issued.entries()) {
      const rows = found[i] as object[];
      resolve({ command: 'SELECT', oid: 0, fields: [], rowCount: rows.length, rows });
    }
  } catch (error) {
    for (const { reject } of issued) reject(error);
  }
}

/** True where all tables of a select lie on the shard of its workspace. */
const isOnShard = ({ text }: WorkspaceStatement) =>
  [...text.matchAll(TABLES)].every(([name]) => placeOf(name) === 'distributed');

/**
 * Sends the selects of one workspace that `issue` issues on the client it is given as one statement, so that the coordinator
 * plans once and asks the worker once. Those of tables that lie elsewhere are sent by themselves, and so is what is issued later.
 */
export function selectTogether<T>(client: pg.PoolClient, issue: (client: pg.PoolClient) => T): T {
  const together: Issued[] = [];
  let is_open = true;
  const query = (given: WorkspaceStatement) => {
    if (!is_open) return client.query(given);
    const [statement, ...others] = eachWorkspace(given);
    if (others.length > 0 || !isOnShard(statement)) return client.query(given);
    return new Promise<pg.QueryResult>((resolve, reject) => {
      together.push({ statement, resolve, reject });
    });
  };
  const result = issue({ query } as unknown as pg.PoolClient);
  is_open = false;
  if (together.length > 0) void answerTogether(client, together);
  return result;
}
