import type { ImportProblemRow, ImportProgress, ImportRow } from '@purser/rules/imports/import-rows';
import type { Queryable } from '../database.ts';
import { type InWorkspace, makeInsert, type WorkspaceRows, workspaceIdsOf } from '../rows.ts';

const COLUMNS =
  'import_id, file_name, source, feed, agent_id, mapping, bytes, created_at, key_id, principal_id';
const PROGRESS =
  'import_id, status, run_id, alive_until, bytes_read, pages, taken, present, bad, skipped, failure, header, header_hash, updated_at';
const of = (alias: string, columns: string) => columns.replaceAll(/(\w+)/g, `${alias}.$1`);

/** An import with how far its file was read, and whose its lines are. */
export interface FoundImport {
  import: ImportRow;
  progress: ImportProgress;
  slug: string | null;
}

export const insertImports = makeInsert<ImportRow>('imports', {
  import_id: 'text',
  file_name: 'text',
  source: 'text',
  feed: 'text',
  agent_id: 'text',
  mapping: 'text',
  bytes: 'bigint',
  created_at: 'timestamptz',
  key_id: 'text',
  principal_id: 'text',
});

export const putImportProgress = makeInsert<ImportProgress>(
  'import_progress',
  {
    import_id: 'text',
    status: 'text',
    run_id: 'text',
    alive_until: 'timestamptz',
    bytes_read: 'bigint',
    pages: 'integer',
    taken: 'integer',
    present: 'integer',
    bad: 'integer',
    skipped: 'text',
    failure: 'text',
    header: 'text',
    header_hash: 'text',
    updated_at: 'timestamptz',
  },
  {
    conflict: ['import_id'],
    update: [
      'status',
      'run_id',
      'alive_until',
      'bytes_read',
      'pages',
      'taken',
      'present',
      'bad',
      'skipped',
      'failure',
      'header',
      'header_hash',
      'updated_at',
    ],
  },
);

export const insertImportProblems = makeInsert<ImportProblemRow>('import_problems', {
  import_id: 'text',
  place: 'integer',
  line_number: 'integer',
  column_name: 'text',
  code: 'text',
  message: 'text',
  text: 'text',
});

/** Returns these imports, those that were deleted left out. */
export async function loadImports(
  db: Queryable,
  wanted: readonly InWorkspace<{ import_id: string }>[],
): Promise<InWorkspace<ImportRow>[]> {
  const result = await db.query<InWorkspace<ImportRow>>({
    name: 'load_imports',
    text: `select i.workspace_id, ${of('i', COLUMNS)} from unnest($1::text[], $2::text[]) as w(workspace_id, import_id)
      join imports i on i.workspace_id = w.workspace_id and i.import_id = w.import_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.import_id)],
  });
  return result.rows;
}

/** Returns how far these imports were read. */
export async function loadImportProgress(
  db: Queryable,
  wanted: readonly InWorkspace<{ import_id: string }>[],
): Promise<InWorkspace<ImportProgress>[]> {
  const result = await db.query<InWorkspace<ImportProgress>>({
    name: 'load_import_progress',
    text: `select p.workspace_id, ${of('p', PROGRESS)} from unnest($1::text[], $2::text[]) as w(workspace_id, import_id)
      join import_progress p on p.workspace_id = w.workspace_id and p.import_id = w.import_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.import_id)],
  });
  return result.rows;
}

/** Deletes what was noted of earlier attempts to read these files. */
export function deleteImportProblems(
  db: Queryable,
  parts: readonly WorkspaceRows<{ import_id: string }>[],
): Promise<unknown> {
  return db.query({
    name: 'delete_import_problems',
    text: `delete from import_problems p using unnest($1::text[], $2::text[]) as w(workspace_id, import_id)
      where p.workspace_id = w.workspace_id and p.import_id = w.import_id`,
    values: [workspaceIdsOf(parts), parts.flatMap(({ rows }) => rows.map(({ import_id }) => import_id))],
  });
}

/** Deletes imports that have no lines any more, and how far they were read. */
export function deleteImports(
  db: Queryable,
  parts: readonly WorkspaceRows<{ import_id: string }>[],
): Promise<unknown> {
  const values = [workspaceIdsOf(parts), parts.flatMap(({ rows }) => rows.map(({ import_id }) => import_id))];
  return db.query({
    name: 'delete_imports',
    text: `with w as (select * from unnest($1::text[], $2::text[]) as w(workspace_id, import_id)),
      of_problems as (delete from import_problems p using w
        where p.workspace_id = w.workspace_id and p.import_id = w.import_id),
      of_lines as (delete from lines l using w where l.workspace_id = w.workspace_id and l.import_id = w.import_id),
      of_progress as (delete from import_progress p using w
        where p.workspace_id = w.workspace_id and p.import_id = w.import_id)
      delete from imports i using w where i.workspace_id = w.workspace_id and i.import_id = w.import_id`,
    values,
  });
}

type Row = ImportRow & Omit<ImportProgress, 'import_id'> & { slug: string | null; workspace_id: string };

const found = (row: Row): FoundImport => {
  const { import_id, file_name, source, feed, agent_id, mapping, bytes, created_at, key_id, principal_id } =
    row;
  return {
    import: {
      import_id,
      file_name,
      source,
      feed,
      agent_id,
      mapping,
      bytes,
      created_at,
      key_id,
      principal_id,
    },
    progress: row,
    slug: row.slug,
  };
};

const FOUND = `select i.workspace_id, ${of('i', COLUMNS)}, ${of('p', PROGRESS.replace('import_id, ', ''))}, a.slug
  from imports i join import_progress p on p.workspace_id = i.workspace_id and p.import_id = i.import_id
  left join agents a on a.workspace_id = i.workspace_id and a.agent_id = i.agent_id`;

/** Returns a page of imports, newest first, before `after`; `only`: this one. */
export async function listImports(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number; only?: string },
): Promise<FoundImport[]> {
  const result = await db.query<Row>({
    name: 'list_imports',
    text: `${FOUND} where i.workspace_id = $1 and ($2::text is null or i.import_id < $2)
      and ($4::text is null or i.import_id = $4) order by i.import_id desc limit $3`,
    values: [workspace_id, page.after, page.limit, page.only ?? null],
  });
  return result.rows.map(found);
}

/** Returns which of some ids are imports of the workspace. */
export async function listImportIds(
  db: Queryable,
  workspace_id: string,
  import_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const result = await db.query<{ import_id: string }>({
    name: 'list_import_ids',
    text: 'select import_id from imports where workspace_id = $1 and import_id = any($2::text[])',
    values: [workspace_id, import_ids],
  });
  return new Set(result.rows.map(({ import_id }) => import_id));
}

/** Returns a page of all imports after `after`, in the order of their ids, for verification. */
export async function listAllImports(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<ImportRow[]> {
  const result = await db.query<ImportRow & { workspace_id: string }>({
    name: 'list_all_imports',
    text: `select ${COLUMNS} from imports where workspace_id = $1 and import_id > $2 order by import_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns the newest import of CSV whose file had this header, by its hash. */
export async function findByHeader(
  db: Queryable,
  workspace_id: string,
  header_hash: string,
): Promise<ImportRow | undefined> {
  const result = await db.query<ImportRow & { workspace_id: string }>({
    name: 'find_import_by_header',
    text: `select ${of('i', COLUMNS)} from import_progress p
      join imports i on i.workspace_id = p.workspace_id and i.import_id = p.import_id
      where p.workspace_id = $1 and p.header_hash = $2 and p.header_hash is not null and i.mapping is not null
      order by p.import_id desc limit 1`,
    values: [workspace_id, header_hash],
  });
  return result.rows[0];
}

/** Returns a page of the bad lines of a file, in its order, after the place `after`. */
export async function listImportProblems(
  db: Queryable,
  workspace_id: string,
  import_id: string,
  page: { after: number; limit: number },
): Promise<ImportProblemRow[]> {
  const result = await db.query<ImportProblemRow & { workspace_id: string }>({
    name: 'list_import_problems',
    text: `select import_id, place, line_number, column_name, code, message, text from import_problems
      where workspace_id = $1 and import_id = $2 and place > $3 order by place limit $4`,
    values: [workspace_id, import_id, page.after, page.limit],
  });
  return result.rows;
}

/** Notes that an attempt to read a file is at work, unless another one has taken over. */
export async function keepAlive(
  db: Queryable,
  workspace_id: string,
  run: { import_id: string; run_id: string; seconds: number },
): Promise<void> {
  await db.query({
    name: 'keep_import_alive',
    // Citus takes no clock in an update, but in a select.
    text: `update import_progress set alive_until = c.now + make_interval(secs => $4)
      from (select clock_timestamp() as now) as c
      where workspace_id = $1 and import_id = $2 and run_id = $3 and status = 'READING'`,
    values: [workspace_id, run.import_id, run.run_id, run.seconds],
  });
}

/** Returns the ids of the imports that were deleted, as the audit records name them. */
export async function listDeletedImports(db: Queryable, workspace_id: string): Promise<Set<string>> {
  const result = await db.query<{ target_id: string }>({
    name: 'list_deleted_imports',
    text: `select target_id from audit_records where workspace_id = $1 and action = 'import.deleted'`,
    values: [workspace_id],
  });
  return new Set(result.rows.map(({ target_id }) => target_id));
}
