import { valueIn } from '@purser/rules/values/maps';
import type pg from 'pg';
import { placeOf } from './local-tables.ts';

/**
 * Statements over several workspaces, as Citus takes them. Each has the ids of its workspaces in an array, one for each key
 * or row, and compares every table with them. Citus sends a statement to one shard where each table is compared with a
 * single parameter, so that such a statement is sent for one workspace at a time, in a text that is made from its own.
 */

/** Arrays whose places belong to a workspace each: `unnest($1::text[], $2::text[]) as w(workspace_id, ref)`. */
const KEYS =
  /unnest\(((?:[^()]|\([^()]*\))*)\)(?:\s+with ordinality)?\)?\s+(?:as\s+)?\w+\s*\(\s*workspace_id\b/g;
/** Ids alone. */
const IDS = /\bworkspace_id = any\(\$(\d+)\)/;
/** The comparisons by which a statement finds the rows of a workspace. */
const COMPARED = /(?<=(?<!\bset )\bworkspace_id = )(?:any\(\$\d+\)|\w+\.workspace_id\b)/g;
/** The comparison of a statement of one workspace. */
const ONE = /\bworkspace_id = (\$\d+)/;
const INSERT = /^\s*insert into (\w+)/;
/** An insert of rows that are sent as arrays, as `makeInsert` writes it. */
const OF_ARRAYS =
  /^insert into (\w+(?: as \w+)? \([^)]+\)) select (r\.workspace_id, .+) from unnest\((\$1::text\[\], (?:[^()]|\([^()]*\))*)\) as r\((workspace_id, [^)]+)\)( on conflict .+)?$/;
const TAIL = /\s(?:on conflict|returning)\s/;

/** A statement as Citus takes it. */
interface Rendered {
  text: string;
  /** The numbers of the parameters that belong together, each time those of the ids first. */
  groups: readonly (readonly [number, ...number[]])[];
  /** The number of the parameter that is the id; null if the text names none. */
  id_at: number | null;
  /** The text for one row, with the id in place of the array of ids; null where there is none. */
  one_row: string | null;
}

const numbersIn = (text: string) => [...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n));

/** An insert goes through the head of the workspace, which lies on its shard. */
function throughHead(text: string, one: string): string {
  const end = TAIL.exec(text)?.index ?? text.length;
  const selected = text
    .slice(0, end)
    .replace('select r.workspace_id,', 'select h.workspace_id,')
    .replace('from unnest(', 'from ledger_heads h cross join unnest(');
  return `${selected} where h.workspace_id = ${one}${text.slice(end)}`;
}

/**
 * The values of an insert of one row. Citus plans them in a third of the time that a select through the head takes, and keeps
 * the plan: see decision 224.
 */
function valuesOf(text: string): string | null {
  const [, into, selected = '', arrays = '', names = '', conflict = ''] =
    OF_ARRAYS.exec(text.replaceAll(/\s+/g, ' ')) ?? [];
  if (into === undefined) return null;
  const columns = names.split(', ');
  const sent = arrays.split(/, (?=\$|string_to_array)/);
  const value = (name: string) => (name === 'workspace_id' ? '$1' : `(${sent[columns.indexOf(name)]})[1]`);
  const values = selected.replaceAll(/\br\.(\w+)/g, (_, name: string) => value(name));
  return `insert into ${into} values (${values})${conflict}`;
}

/** Returns the statement as it is sent for one workspace; null if Citus takes it as it is. */
export function forOneWorkspace(text: string): Rendered | null {
  const groups = [...text.matchAll(KEYS)].map(([, keys = '']) => numbersIn(keys) as [number, ...number[]]);
  if (groups.length > 0) {
    const id_at = Math.max(...numbersIn(text)) + 1;
    const compared = text.replaceAll(COMPARED, `$${id_at}`);
    const [, table] = INSERT.exec(text) ?? [];
    const is_distributed = table !== undefined && placeOf(table) === 'distributed';
    const sent = is_distributed ? throughHead(compared, `$${id_at}`) : compared;
    const one_row = is_distributed ? valuesOf(text) : null;
    return { text: sent, groups, id_at: sent === text ? null : id_at, one_row };
  }
  const ids = IDS.exec(text)?.[1];
  if (ids !== undefined)
    return {
      text: text.replaceAll(COMPARED, `$${ids}`),
      groups: [[Number(ids)]],
      id_at: Number(ids),
      one_row: null,
    };
  const one = ONE.exec(text)?.[1];
  const compared = one === undefined ? text : text.replaceAll(COMPARED, one);
  return compared === text ? null : { text: compared, groups: [], id_at: null, one_row: null };
}

const rendered = new Map<string, Rendered | null>();

const renderedOf = (text: string) => valueIn(rendered, text, () => forOneWorkspace(text));

/** A statement with its parameters, as the loaders and writers issue it. */
export type WorkspaceStatement = pg.QueryConfig & {
  values: unknown[];
  /** Workspaces whose worker does not answer are left out, instead of failing it for all. */
  leaves_out_lost?: boolean;
};

/** The ids in an array, or in the literal of one. */
function idsIn(value: unknown): readonly string[] {
  if (typeof value !== 'string') return value as readonly string[];
  return value === '{}' ? [] : value.slice(1, -1).replaceAll('"', '').split(',');
}

/** The statement for one of its workspaces, with its own keys alone. */
function forOne(
  statement: WorkspaceStatement,
  { text, groups, id_at, one_row }: Rendered,
  workspace_id: string,
): WorkspaceStatement {
  const values = [...statement.values];
  for (const [first, ...others] of groups) {
    const ids = idsIn(statement.values[first - 1]);
    if (ids.every((id) => id === workspace_id)) continue;
    for (const number of [first, ...others]) {
      const all = statement.values[number - 1];
      if (!Array.isArray(all) || all.length !== ids.length)
        throw new Error(`${statement.name}: parameter ${number} cannot be split by workspace`);
      values[number - 1] = all.filter((_, i) => ids[i] === workspace_id);
    }
  }
  if (one_row !== null && idsIn(values[0]).length === 1) {
    values[0] = workspace_id;
    const { name } = statement;
    return { ...statement, ...(name && { name: `${name}_row` }), text: one_row, values };
  }
  if (id_at !== null) values[id_at - 1] = workspace_id;
  return { ...statement, text, values };
}

/** The rows of all answers, as those of one statement. */
function joinAnswers(answers: readonly pg.QueryResult[]): pg.QueryResult {
  const rowCount = answers.reduce((sum, each) => sum + (each.rowCount ?? 0), 0);
  return { ...(answers[0] as pg.QueryResult), rowCount, rows: answers.flatMap((each) => each.rows) };
}

/** The answers of the workspaces; `isLost`: says of an error whether the workspace's worker does not answer. */
async function answersOf(
  { leaves_out_lost = false }: WorkspaceStatement,
  sent: readonly Promise<pg.QueryResult>[],
  isLost: (error: unknown) => boolean,
): Promise<pg.QueryResult> {
  const settled = await Promise.allSettled(sent);
  const answers: pg.QueryResult[] = [];
  for (const each of settled) {
    if (each.status === 'fulfilled') answers.push(each.value);
    else if (!leaves_out_lost || !isLost(each.reason)) throw each.reason;
  }
  return answers.length === 0
    ? ({ rows: [], rowCount: 0 } as unknown as pg.QueryResult)
    : joinAnswers(answers);
}

/** Returns the statements that do for one workspace each what this one does for all of its own; itself if it has none. */
export function eachWorkspace(statement: WorkspaceStatement): [WorkspaceStatement, ...WorkspaceStatement[]] {
  const found = renderedOf(statement.text);
  if (found === null) return [statement];
  const all = new Set(found.groups.flatMap(([first]) => idsIn(statement.values[first - 1])));
  // A statement that names its only workspace itself has no group; one without a key finds nothing, in whatever workspace.
  if (all.size === 0) all.add('');
  return [...all].map((workspace_id) => forOne(statement, found, workspace_id)) as [
    WorkspaceStatement,
    ...WorkspaceStatement[],
  ];
}

type Send = (statement: unknown, ...rest: unknown[]) => unknown;

/**
 * Makes a connection to Citus send a statement over several workspaces as one for each of them. `isLost` says of an error
 * whether a worker does not answer.
 */
export function splitByWorkspace(client: { query: unknown }, isLost: (error: unknown) => boolean): void {
  // Looked up at each call, as on a connection that nobody has changed.
  const send: Send = (...given) =>
    (Object.getPrototypeOf(client) as { query: Send }).query.apply(client, given);
  client.query = (statement: WorkspaceStatement | string, ...rest: unknown[]) => {
    if (typeof statement === 'string' || statement.values === undefined) return send(statement, ...rest);
    const [first, ...others] = eachWorkspace(statement);
    if (others.length === 0 && statement.leaves_out_lost !== true) return send(first, ...rest);
    const sent = [first, ...others].map((each) => send(each) as Promise<pg.QueryResult>);
    const answer = answersOf(statement, sent, isLost);
    const done = rest.at(-1) as ((error: unknown, answer?: pg.QueryResult) => void) | undefined;
    if (typeof done !== 'function') return answer;
    answer.then((all) => done(undefined, all), done);
    return undefined;
  };
}
