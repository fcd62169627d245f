import type { Client } from './database.ts';

/** The PostgreSQL type of each column of a row, in the order in which they are written. */
export type Columns<Row> = {
  [Column in keyof Row]:
    | 'text'
    | 'bigint'
    | 'integer'
    | 'boolean'
    | 'bytea'
    | 'timestamptz'
    | 'json'
    | 'text[]';
};

type Write<Row> = (client: Client, workspace_id: string, rows: readonly Row[]) => Promise<unknown>;

/**
 * One statement that inserts any number of rows of one workspace: each column travels as one array, so the
 * statement is the same, and stays prepared, however many rows there are. A row whose `conflict` columns exist
 * already is updated where `update` names columns. `text[]` columns carry words without spaces.
 */
export function makeInsert<Row extends object>(
  table: string,
  columns: Columns<Row>,
  upsert?: { conflict: readonly (keyof Row & string)[]; update: readonly (keyof Row & string)[] },
): Write<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const arrays = names.map(
    (name, i) => `$${i + 2}::${columns[name] === 'text[]' ? 'text' : columns[name]}[]`,
  );
  const values = names.map((name) =>
    columns[name] === 'text[]' ? `string_to_array(r.${name}, ' ')` : `r.${name}`,
  );
  const conflict =
    upsert === undefined
      ? ''
      : ` on conflict (${['workspace_id', ...upsert.conflict].join(', ')}) do update set ${upsert.update
          .map((name) => `${name} = excluded.${name}`)
          .join(', ')}`;
  const text =
    `insert into ${table} (workspace_id, ${names.join(', ')}) ` +
    `select $1, ${values.join(', ')} from unnest(${arrays.join(', ')}) as r(${names.join(', ')})${conflict}`;
  const name = `write_${table}`;
  return (client, workspace_id, rows) => {
    const parameters: unknown[] = [workspace_id];
    for (const column of names) {
      const joined = columns[column] === 'text[]';
      parameters.push(
        rows.map((row) => (joined ? (row[column] as readonly string[]).join(' ') : row[column])),
      );
    }
    return client.query({ name, text, values: parameters });
  };
}
