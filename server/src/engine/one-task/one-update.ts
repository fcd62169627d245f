import { valueIn } from '@purser/rules/values/maps';
import type pg from 'pg';
import { placeOf } from '../citus/local-tables.ts';
import { eachWorkspace, type WorkspaceStatement } from '../citus/one-workspace.ts';
import { type CountedStatement, checkRowCount, numberedTogether, sendCounted } from '../storage/rows.ts';

/**
 * Citus takes updates and deletions of one workspace in a single task, where a select has them in common table expressions; an
 * insert is a task of its own. So what counts in rows that are mostly there is sent as an update together with the others, and
 * as an insert behind all only where it found too few of them.
 */

const UPSERT =
  /^insert into (\w+)(?: as (\w+))? \(([^)]+)\) select (.+?) from (unnest\((?:[^()]|\([^()]*\))*\)) as (r\([^)]+\)) on conflict \(([^)]+)\) do update set (.+)$/;
const CHANGE = /^(?:update|delete from) \w/;
const WRITES = /^(?:insert into|update|delete from) (\w+)/;
const DOES_UPDATE = /\sdo update set\s[\s\S]+$/;

/** The update that writes what an upsert would where the rows are there. */
function updateOf(text: string): string {
  const found = UPSERT.exec(text.replaceAll(/\s+/g, ' '));
  if (found === null) throw new Error(`no upsert: ${text}`);
  const [, table, alias = table, columns = '', values, rows, names, keys = '', set] = found;
  const same = keys.split(', ').map((key) => `${alias}.${key} = excluded.${key}`);
  return `update ${table} as ${alias} set ${set}
    from (select ${values} from ${rows} as ${names}) as excluded(${columns}) where ${same.join(' and ')}`;
}

type Write = WorkspaceStatement & CountedStatement;

const updates = new Map<string, string>();

/** The update or deletion that a statement is, or may be sent as; null where it is neither. */
function changeOf({ text, mostly_there }: Write): string | null {
  if (CHANGE.test(text)) return text;
  return mostly_there === true ? valueIn(updates, text, () => updateOf(text)) : null;
}

const texts = new Map<string, string>();

function textOf(changing: readonly WorkspaceStatement[]): string {
  const tables = numberedTogether(changing).map((text, i) => `w${i} as (${text} returning 1)`);
  const counts = changing.map((_, i) => `(select count(*) from w${i})::integer as w${i}`);
  return `with ${tables.join(', ')} select ${counts.join(', ')}`;
}

/** Inserts those rows of an upsert that its update did not find. */
async function insertOthers(client: pg.ClientBase, write: Write, updated: number): Promise<void> {
  const { name, text, values } = write;
  const inserting = text.replace(DOES_UPDATE, ' do nothing');
  const answer = await client.query({ name: `${name}_if_new`, text: inserting, values });
  checkRowCount(write, updated + (answer.rowCount ?? 0));
}

async function changeTogether(client: pg.ClientBase, writes: readonly Write[]): Promise<void> {
  const changing = writes.map((write) => eachWorkspace({ ...write, text: changeOf(write) ?? write.text })[0]);
  const text = valueIn(texts, writes.map(({ name }) => name).join(' '), () => textOf(changing));
  const answer = await client.query<Record<string, number>>({
    text,
    values: changing.flatMap(({ values }) => values),
  });
  const [counts] = answer.rows;
  await Promise.all(
    writes.map((write, i) => {
      const updated = counts?.[`w${i}`] as number;
      if (updated !== write.writes && write.mostly_there) return insertOthers(client, write, updated);
      return checkRowCount(write, updated);
    }),
  );
}

/**
 * Sends the writes of a batch of one workspace, those that can be one task as one statement ahead of the others. Returns when each
 * was answered; throws WrongRowCount where one wrote another number of rows than it was sent.
 */
export function writeOnCitus(client: pg.ClientBase, writes: readonly Write[]): Promise<void>[] {
  const written = new Set<string>();
  const together: Write[] = [];
  const apart: Write[] = [];
  for (const write of writes) {
    const [, table = ''] = WRITES.exec(write.text) ?? [];
    // Rows that are written twice are written in the order of the statements.
    const is_first = !written.has(table) && placeOf(table) === 'distributed';
    written.add(table);
    (is_first && changeOf(write) !== null ? together : apart).push(write);
  }
  if (together.length < 2) return writes.map((write) => sendCounted(client, write));
  return [changeTogether(client, together), ...apart.map((write) => sendCounted(client, write))];
}
