import type { ImportBody, ImportMapping } from '@purser/contract/history/imports';
import { CSV_TYPE } from '@purser/contract/route';
import { routes } from '@purser/contract/routes/history/imports';
import { FIXED_FEEDS, type ImportSource } from '@purser/contract/values/history';
import { ApiError, invalidField } from '@purser/rules/errors';
import { type ImportFailure, type SkipCounts, statusAt } from '@purser/rules/imports/import-rows';
import { csvLine } from '@purser/rules/values/csv';
import type pg from 'pg';
import { createImport } from '../../../engine/commands/history/create-import.ts';
import { deleteImport } from '../../../engine/commands/history/delete-import.ts';
import { NO_SUCH_IMPORT } from '../../../engine/commands/history/start-import.ts';
import {
  type FoundImport,
  findByHeader,
  listImportProblems,
  listImports,
} from '../../../engine/storage/history/imports.ts';
import { readClock } from '../../../engine/storage/workspaces.ts';
import { mappingProblem } from '../../history/reading/csv-mapping.ts';
import { cellsOf } from '../../history/reading/csv-reader.ts';
import { detectFile } from '../../history/reading/detect-file.ts';
import { checkLineLimit, headerHash, type TakeFileOptions, takeFile } from '../../history/take-file.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Handler, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import { attachment, wantsCsv } from '../tables/csv-answers.ts';

export interface ImportRouteOptions extends TakeFileOptions {
  cursors: Cursors;
}

/** The longest sample of a file. */
const MAX_SAMPLE = 65_536;
const PROBLEMS_AT_ONCE = 200;

/** The content types in which each source is read. */
const TYPES_OF: Record<ImportSource, readonly string[]> = {
  stripe_issuing: ['application/json', 'application/x-ndjson'],
  stripe_charges: ['application/json', 'application/x-ndjson'],
  lithic: ['application/json', 'application/x-ndjson'],
  camt053: ['text/xml', 'application/xml'],
  openai_costs: ['application/json', 'application/x-ndjson', 'text/csv'],
  anthropic_costs: ['application/json', 'application/x-ndjson', 'text/csv'],
  csv: ['text/csv'],
  lines: ['application/x-ndjson', 'application/json'],
};

function importBody({ import: row, progress, slug }: FoundImport, now: string): ImportBody {
  const skipped = Object.entries(JSON.parse(progress.skipped) as SkipCounts).map(([reason, count]) => ({
    reason: reason as keyof SkipCounts,
    count: count ?? 0,
  }));
  const left_out = skipped.reduce((sum, { count }) => sum + count, 0);
  const { taken, present, bad } = progress;
  return {
    id: row.import_id,
    file_name: row.file_name,
    source: row.source,
    feed: row.feed,
    agent: row.agent_id === null || slug === null ? null : { id: row.agent_id, slug },
    mapping: row.mapping === null ? null : (JSON.parse(row.mapping) as ImportMapping),
    status: statusAt(progress, now),
    bytes: row.bytes,
    bytes_read: progress.bytes_read,
    lines: { read: taken + present + left_out + bad, taken, present, skipped: left_out, bad },
    skipped,
    failure: progress.failure === null ? null : (JSON.parse(progress.failure) as ImportFailure),
    created_at: row.created_at,
  };
}

async function clockOf(db: pg.Pool): Promise<string> {
  return new Date(await readClock(db)).toISOString();
}

async function findImport(db: pg.Pool, workspace_id: string, only: string): Promise<FoundImport> {
  const [found] = await listImports(db, workspace_id, { after: null, limit: 1, only });
  if (found === undefined) throw new ApiError('not_found', NO_SUCH_IMPORT);
  return found;
}

async function bodyOfImport(db: pg.Pool, workspace_id: string, import_id: string): Promise<ImportBody> {
  return importBody(await findImport(db, workspace_id, import_id), await clockOf(db));
}

/** The routes of imports. */
export function makeImportRoutes(options: ImportRouteOptions): Route[] {
  return [
    serve(routes.detectImport, { shares: 'imports', takes_long: true })(handleDetect(options)),
    serve(routes.createImport)(handleCreate(options)),
    serve(routes.listImports, { shares: 'reads' })(handleList(options)),
    serve(routes.getImport, { shares: 'reads' })(async ({ caller, params }) => ({
      status: 200,
      body: await bodyOfImport(options.db, caller.workspace_id, params.id),
    })),
    serve(routes.putImportContent, { shares: 'imports', takes_long: true })(handleContent(options)),
    serve(routes.listImportProblems, { shares: 'lists' })(handleProblems(options)),
    serve(routes.deleteImport)(handleDelete(options)),
  ];
}

function handleDetect({ db }: ImportRouteOptions): Handler<typeof routes.detectImport> {
  return async ({ caller: { workspace_id }, content }) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of content.chunks) {
      length += chunk.length;
      if (length > MAX_SAMPLE)
        throw invalidField('body', `must be at most ${MAX_SAMPLE} bytes: the first of the file`);
      parts.push(chunk);
    }
    const head = Buffer.concat(parts);
    // What ends with a line, or is short, is taken as whole lines.
    const is_whole = head.length < MAX_SAMPLE || head.at(-1) === 0x0a;
    const { header, ...detected } = detectFile(head, is_whole, await readClock(db));
    const known = header === null ? undefined : await findByHeader(db, workspace_id, headerHash(header));
    if (known === undefined) return { status: 200, body: { ...detected, found_in: null } };
    const mapping = JSON.parse(known.mapping as string) as ImportMapping;
    const fieldOf = new Map(Object.entries(mapping.columns).map(([field, column]) => [column, field]));
    const columns = detected.columns.map((column) => ({
      ...column,
      field: (fieldOf.get(column.name) ?? null) as typeof column.field,
    }));
    const body = { ...detected, feed: known.feed, mapping, columns, needs: [], found_in: known.import_id };
    return { status: 200, body };
  };
}

/** The feed of a new import; only of sources that have no own one it can be chosen. */
function feedOf(source: ImportSource, given: string | null | undefined): string {
  const fixed = FIXED_FEEDS[source];
  if (fixed !== undefined) {
    if (given != null && given !== fixed) throw invalidField('feed', `is always ${fixed} for ${source}`);
    return fixed;
  }
  if (given != null && Object.values(FIXED_FEEDS).includes(given))
    throw invalidField('feed', 'is the feed of another source; choose another name');
  return given ?? source;
}

function handleCreate({ db, lane, max_bytes }: ImportRouteOptions): Handler<typeof routes.createImport> {
  return async (call) => {
    const { workspace_id } = call.caller;
    const { file_name, source, feed, agent = null, mapping_from = null, bytes = null } = call.body;
    let { mapping = null } = call.body;
    if (bytes !== null && bytes > max_bytes) throw invalidField('bytes', `must be at most ${max_bytes}`);
    const named_feed = feedOf(source, feed);
    if (source !== 'csv' && (mapping !== null || mapping_from !== null))
      throw invalidField(mapping === null ? 'mapping_from' : 'mapping', 'is for csv alone');
    if (mapping !== null && mapping_from !== null)
      throw invalidField('mapping_from', 'cannot be given together with mapping');
    if (mapping_from !== null) {
      const [from] = await listImports(db, workspace_id, { after: null, limit: 1, only: mapping_from });
      if (from?.import.mapping == null) throw invalidField('mapping_from', 'names no import with a mapping');
      mapping = JSON.parse(from.import.mapping) as ImportMapping;
    }
    if (source === 'csv') {
      if (mapping === null) throw invalidField('mapping', 'is required for csv; see /v1/imports/detect');
      const wrong = mappingProblem(mapping);
      if (wrong !== null) throw invalidField(wrong.field, wrong.problem);
    }
    await checkLineLimit(db, workspace_id);
    const input = { file_name, source, feed: named_feed, agent, mapping, bytes };
    const { import_id } = await lane.submit(workspace_id, createImport, input, originOf(call));
    return { status: 201, body: await bodyOfImport(db, workspace_id, import_id) };
  };
}

function handleList({ db, cursors }: ImportRouteOptions): Handler<typeof routes.listImports> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listImports', workspace_id];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listImports(db, workspace_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.import.import_id));
    const now = await clockOf(db);
    return { status: 200, body: { data: rows.map((row) => importBody(row, now)), next_cursor } };
  };
}

function handleContent(options: ImportRouteOptions): Handler<typeof routes.putImportContent> {
  const { db } = options;
  return async (call) => {
    const { workspace_id } = call.caller;
    const import_id = call.params.id;
    const { content } = call;
    const { import: row } = await findImport(db, workspace_id, import_id);
    const types = TYPES_OF[row.source];
    if (!types.includes(content.type))
      throw invalidField('content-type', `must be ${types.join(' or ')} for ${row.source}`);
    const length = Number(call.headers['content-length'] ?? 0);
    if (length > options.max_bytes) throw invalidField('body', `must be at most ${options.max_bytes} bytes`);
    await takeFile(options, { workspace_id, import_id, content, origin: originOf(call) });
    return { status: 200, body: await bodyOfImport(db, workspace_id, import_id) };
  };
}

function handleProblems({ db, cursors }: ImportRouteOptions): Handler<typeof routes.listImportProblems> {
  return async ({ caller: { workspace_id }, params, query: { limit = 50, cursor }, headers }) => {
    const import_id = params.id;
    const found_import = await findImport(db, workspace_id, import_id);
    if (wantsCsv(headers)) {
      const chunks = badLines(db, workspace_id, found_import);
      const stream = { chunks, content_type: CSV_TYPE };
      return { status: 200, headers: attachment(`${import_id}-problems.csv`), stream };
    }
    const list = ['listImportProblems', workspace_id, import_id];
    const after = (cursors.open(list, cursor) as number | null) ?? 0;
    const found = await listImportProblems(db, workspace_id, import_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.place));
    const data = rows.map(({ line_number, column_name, code, message, text }) => ({
      line_number,
      column: column_name,
      code,
      message,
      text,
    }));
    return { status: 200, body: { data, next_cursor } };
  };
}

/** The bad lines of a file as a table: of a CSV file under its own header, to be mended and sent again. */
async function* badLines(
  db: pg.Pool,
  workspace_id: string,
  { import: row, progress }: FoundImport,
): AsyncGenerator<string, void, void> {
  const mapping = row.mapping === null ? null : (JSON.parse(row.mapping) as ImportMapping);
  const { header } = progress;
  const delimiter = mapping?.delimiter ?? ',';
  // A line whose quotes do not close is parted all the same, so that it can be mended.
  const cells = (text: string) => cellsOf(text, delimiter) ?? text.split(delimiter);
  yield header === null
    ? csvLine(['line_number', 'column', 'code', 'message', 'text'])
    : csvLine(cells(header), delimiter);
  for (let after = 0; ; ) {
    const page = { after, limit: PROBLEMS_AT_ONCE };
    const rows = await listImportProblems(db, workspace_id, row.import_id, page);
    const lines = rows.map(({ line_number, column_name, code, message, text }) =>
      header === null
        ? csvLine([line_number, column_name, code, message, text])
        : csvLine(cells(text), delimiter),
    );
    if (lines.length > 0) yield lines.join('');
    if (rows.length < PROBLEMS_AT_ONCE) return;
    after = rows.at(-1)?.place ?? after;
  }
}

function handleDelete({ lane }: ImportRouteOptions): Handler<typeof routes.deleteImport> {
  return async (call) => {
    const input = { import_id: call.params.id };
    await lane.submit(call.caller.workspace_id, deleteImport, input, originOf(call));
    return { status: 204 };
  };
}
