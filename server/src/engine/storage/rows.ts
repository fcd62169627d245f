import type pg from 'pg';
import { arrayLiteral } from '../array-literal.ts';
import type { Client, Queryable } from './database.ts';

/**
 * SQL of a time as whole milliseconds since 1970 UTC. Cut, not rounded: a rounded clock is ahead by up to half a
 * millisecond, and what ends at a moment would end before it.
 */
export const msOf = (time: string): string => `floor(extract(epoch from ${time}) * 1000)::bigint`;

/**
 * The PostgreSQL type of each column of a row, in the order in which they are written. `words` is a text[] whose
 * elements have no spaces; `integers` is an integer[], which may be null; `document` is JSON text.
 */
export type Columns<Row> = {
  [Column in keyof Row]:
    | 'text'
    | 'bigint'
    | 'integer'
    | 'boolean'
    | 'bytea'
    | 'timestamptz'
    | 'json'
    | 'words'
    | 'texts'
    | 'integers'
    | 'document';
};

/** Rows of one workspace. */
export interface WorkspaceRows<Row> {
  workspace_id: string;
  rows: readonly Row[];
}

export type Write<Row> = (client: Client, parts: readonly WorkspaceRows<Row>[]) => Promise<unknown>;

/** A statement that writes a known number of rows: nothing is committed where it wrote another one. */
export interface CountedStatement extends pg.QueryConfig {
  name: string;
  values: unknown[];
  /** Null where the number follows from what is stored already. */
  writes: number | null;
  /** An upsert whose rows are mostly there already: on Citus it is tried as an update (`engine/one-task/one-update.ts`). */
  mostly_there?: boolean | undefined;
}

/** The text of a statement with its parameters numbered after those of others. */
export const numberedAfter = (before: number, text: string): string =>
  text.replaceAll(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`);

/** The texts of statements whose parameters are sent together. */
export function numberedTogether(
  statements: readonly { text: string; values: readonly unknown[] }[],
): string[] {
  let before = 0;
  return statements.map(({ text, values }) => {
    const numbered = numberedAfter(before, text);
    before += values.length;
    return numbered;
  });
}

/** A statement wrote another number of rows than it was sent. */
export class WrongRowCount extends Error {
  override name = 'WrongRowCount';
}

/** Throws WrongRowCount where a statement wrote another number of rows than it was sent. */
export function checkRowCount(
  { name, writes }: Pick<CountedStatement, 'name' | 'writes'>,
  written: number | null,
): void {
  if (writes !== null && written !== writes)
    throw new WrongRowCount(`${name} wrote ${written} of ${writes} rows`);
}

/** Sends a statement. Throws WrongRowCount where the answer has another number of rows than it writes. */
export async function sendCounted(db: Queryable, statement: CountedStatement): Promise<void> {
  const answer = (await db.query(statement)) as pg.QueryResult | undefined;
  // The lane collects statements and sends them later: see `sendWide`.
  if (answer !== undefined) checkRowCount(statement, answer.rowCount);
}

/** The workspace of each row, in the order of the rows. */
export function workspaceIdsOf(parts: readonly WorkspaceRows<unknown>[]): string[] {
  return parts.flatMap(({ workspace_id, rows }) => rows.map(() => workspace_id));
}

/** The record separator of ASCII, which no JSON text contains, since JSON escapes control characters. */
const BETWEEN_DOCUMENTS = 0x1e;

/**
 * Concatenates all documents in UTF-8. As one string they would be too large for V8's young generation and live until
 * the next full garbage collection, which the strings of all batches would then trigger more often.
 */
function joinDocuments(documents: readonly string[]): Buffer {
  let length = Math.max(0, documents.length - 1);
  for (const document of documents) length += Buffer.byteLength(document);
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [i, document] of documents.entries()) {
    if (i > 0) joined[at++] = BETWEEN_DOCUMENTS;
    at += joined.write(document, at);
  }
  return joined;
}

/** How a column is sent: the expressions for it in the statement, and the value of its parameter. */
interface Transport {
  array: (parameter: string) => string;
  value: (column: string) => string;
  send: (values: readonly unknown[]) => unknown;
}

function transportOf(type: Columns<Record<string, unknown>>[string]): Transport {
  const asItIs = (column: string) => `r.${column}`;
  switch (type) {
    case 'words':
      return {
        array: (parameter) => `${parameter}::text[]`,
        value: (column) => `string_to_array(r.${column}, ' ')`,
        send: (values) => arrayLiteral(values.map((words) => (words as readonly string[]).join(' '))),
      };
    case 'texts':
      return {
        array: (parameter) => `${parameter}::text[]`,
        value: (column) => `r.${column}::text[]`,
        send: (values) => arrayLiteral(values.map((texts) => arrayLiteral(texts as readonly string[]))),
      };
    case 'integers':
      return {
        array: (parameter) => `${parameter}::text[]`,
        value: (column) => `r.${column}::integer[]`,
        send: (values) =>
          arrayLiteral(values.map((numbers) => numbers && `{${(numbers as readonly number[]).join()}}`)),
      };
    case 'document':
      // In an array literal every quote of the JSON would have to be escaped here and unescaped by PostgreSQL; one
      // joined text avoids both (measured: 6 % of the process's busy time).
      return {
        array: (parameter) => `string_to_array(${parameter}::text, E'\\x1e')`,
        value: asItIs,
        send: (values) => joinDocuments(values as readonly string[]),
      };
    default:
      return { array: (parameter) => `${parameter}::${type}[]`, value: asItIs, send: arrayLiteral };
  }
}

/** The update of an existing row. */
function updating({ update, where }: { update: readonly string[]; where?: string }): string {
  if (update.length === 0) return 'nothing';
  const set = update.map((name) => `${name} = excluded.${name}`).join(', ');
  return `update set ${set}${where === undefined ? '' : ` where ${where}`}`;
}

/**
 * Makes a function that inserts any number of rows of any number of workspaces with one statement. Each column is sent
 * as one parameter, so the statement is the same, and stays prepared, however many rows there are. With `upsert`, a row
 * whose `conflict` columns exist already has its `update` columns updated, where the condition `where` holds; without any it
 * stays as it is. Throws WrongRowCount where another number of rows was written, unless that depends on what is stored.
 */
export function makeInsert<Row extends object>(
  table: string,
  columns: Columns<Row>,
  upsert?: {
    conflict: readonly (keyof Row & string)[];
    update: readonly (keyof Row & string)[];
    where?: string;
    mostly_there?: boolean;
  },
): (db: Queryable, parts: readonly WorkspaceRows<Row>[]) => Promise<void> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const transports = names.map((name) => transportOf(columns[name]));
  const arrays = ['$1::text[]', ...transports.map((transport, i) => transport.array(`$${i + 2}`))];
  const values = names.map((name, i) => (transports[i] as Transport).value(name));
  const all = ['workspace_id', ...names];
  const conflict =
    upsert === undefined
      ? ''
      : ` on conflict (${['workspace_id', ...upsert.conflict].join(', ')}) do ${updating(upsert)}`;
  const text =
    `insert into ${table} (${all.join(', ')}) ` +
    `select ${['r.workspace_id', ...values].join(', ')} from unnest(${arrays.join(', ')}) as r(${all.join(', ')})${conflict}`;
  const name = upsert?.where === undefined ? `write_${table}` : `write_${table}_where`;
  const is_counted = upsert === undefined || (upsert.update.length > 0 && upsert.where === undefined);
  return (db, parts) => {
    const rows =
      parts.length === 1 ? (parts[0] as WorkspaceRows<Row>).rows : parts.flatMap((part) => part.rows);
    const parameters: unknown[] = [workspaceIdsOf(parts)];
    for (const [i, column] of names.entries()) {
      parameters.push((transports[i] as Transport).send(rows.map((row) => row[column])));
    }
    const writes = is_counted ? rows.length : null;
    return sendCounted(db, { name, text, values: parameters, writes, mostly_there: upsert?.mostly_there });
  };
}

/** Maps the rows of each workspace. */
export function mapParts<Row, Other>(
  parts: readonly WorkspaceRows<Row>[],
  map: (row: Row) => Other,
): WorkspaceRows<Other>[] {
  return parts.map(({ workspace_id, rows }) => ({ workspace_id, rows: rows.map(map) }));
}

/** A key or a row together with its workspace, for statements over several workspaces. */
export type InWorkspace<T> = T & { workspace_id: string };

/** Returns the row without its workspace, as the domain uses it. */
export function withoutWorkspace<T>(found: InWorkspace<T>): T {
  const { workspace_id, ...row } = found;
  return row as T;
}
