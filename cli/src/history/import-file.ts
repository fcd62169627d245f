import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import type { CreateImportRequest, DetectedFile, FileContent, Import, ImportMapping } from '@purser/sdk';
import { type Context, readJson } from '../context.ts';
import { CommandError, EXIT } from '../failure.ts';
import { oneLine } from '../simulation-text.ts';

export interface ImportOptions {
  feed?: string;
  agent?: string;
  /** A file with the mapping, as JSON. */
  mapping?: string;
  yes?: boolean;
  json?: boolean;
}

const SAMPLE_BYTES = 65_536;
const SHOWN_PROBLEMS = 10;
const TYPES: Readonly<Record<string, FileContent['type']>> = {
  '.csv': 'text/csv',
  '.tsv': 'text/csv',
  '.txt': 'text/csv',
  '.xml': 'application/xml',
  '.json': 'application/json',
  '.ndjson': 'application/x-ndjson',
  '.jsonl': 'application/x-ndjson',
};

/** The content type of a file, by its name or else by its first character. */
function typeOf(file: string, head: Uint8Array): FileContent['type'] {
  const named = TYPES[extname(file).toLowerCase()];
  if (named !== undefined) return named;
  const first = Buffer.from(head).toString('latin1').trimStart().at(0);
  if (first === '<') return 'application/xml';
  return first === '{' || first === '[' ? 'application/json' : 'text/csv';
}

async function headOf(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code}).`);
  });
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Prints which column is read as what, by the mapping at hand or else as found, and what is open. */
function tellDetected(
  context: Context,
  { source, columns, needs, sample, found_in }: DetectedFile,
  feed: string | null,
  given: ImportMapping | null,
): void {
  context.say(`Source: ${source ?? 'unknown'}${feed === null ? '' : `, feed ${feed}`}`);
  if (found_in !== null && given === null) context.say(`The columns are read as in ${found_in}.`);
  const fields = new Map(Object.entries(given?.columns ?? {}).map(([field, name]) => [name, field]));
  for (const { name, field, examples } of columns) {
    const read_as = given === null ? field : fields.get(name);
    const shown = examples.map((each) => oneLine(each, 30)).join(' | ');
    context.say(`  ${(read_as ?? '-').padEnd(18)} ${oneLine(name, 30).padEnd(30)} ${shown}`);
  }
  if (given !== null) return;
  for (const { kind, merchant, amount_minor, currency, occurred_at } of sample)
    context.say(
      `  ${occurred_at.slice(0, 10)}  ${kind}  ${currency} ${amount_minor} minor  ${oneLine(merchant, 60)}`,
    );
  if (needs.length > 0) context.say(`Open: ${needs.join(', ')}`);
}

async function isAgreed({ stdin, stderr }: Context): Promise<boolean> {
  if (!stdin.isTTY) return false;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await lines.question('Import this? [y/N] ')).trim());
  } finally {
    lines.close();
  }
}

/** The mapping that was found, where a file needs one. Throws `CommandError` if it is open. */
function foundMapping({ mapping, needs, source }: DetectedFile): ImportMapping | null {
  if (source !== 'csv') return null;
  if (needs.length > 0)
    throw new CommandError(
      `Not imported: ${needs.join(', ')} ${needs.length === 1 ? 'is' : 'are'} open. Write the mapping into a file and give it with --mapping; \`purser import --json\` prints what was found.`,
    );
  return mapping;
}

async function tellImport(context: Context, made: Import, json: boolean): Promise<number> {
  const { lines, status, failure, skipped } = made;
  if (json) context.json(made);
  else {
    const left_out = skipped.map(({ reason, count }) => `${count} ${reason}`).join(', ');
    context.say(
      `${made.id}: ${status}`,
      `${lines.read} lines: ${lines.taken} taken, ${lines.present} known already, ${lines.skipped} left out${left_out === '' ? '' : ` (${left_out})`}, ${lines.bad} bad`,
    );
    if (failure !== null) context.say(failure.message);
    if (lines.bad > 0) {
      const client = await context.client();
      const { data } = await client.imports.listProblems(made.id, { limit: SHOWN_PROBLEMS });
      for (const { line_number, column, code, message } of data)
        context.say(`  line ${line_number}: ${code}: ${column === null ? '' : `${column} `}${message}`);
    }
  }
  if (status !== 'DONE') return EXIT.failed;
  return lines.bad > 0 ? EXIT.differs : EXIT.ok;
}

/**
 * Imports a file: shows how its columns are read, asks, sends it. Exits with 2 if lines are bad, with 1 if it was not read to its
 * end or nobody agreed.
 */
export async function importFile(context: Context, file: string, options: ImportOptions): Promise<number> {
  const { agent, json = false, yes = false } = options;
  const given = options.mapping === undefined ? null : await readJson<ImportMapping>(options.mapping);
  const head = await headOf(file);
  const type = typeOf(file, head);
  const client = await context.client();
  const detected = await client.imports.detect({ data: new Blob([head]), type });
  const { source } = detected;
  const feed = options.feed ?? (source === 'csv' ? detected.feed : null);
  if (!json) tellDetected(context, detected, feed, given);
  if (source === null) throw new CommandError(`${file} is no file that can be read; see the guide.`);
  if (json && !yes && given === null && detected.needs.length > 0) context.json(detected);
  const mapping = given ?? foundMapping(detected);
  if (!yes && !(await isAgreed(context))) {
    context.stderr.write('Nothing was imported; use --yes to import without a prompt.\n');
    return EXIT.failed;
  }
  const body: CreateImportRequest = {
    file_name: basename(file).slice(0, 200),
    source,
    bytes: (await stat(file)).size,
    ...(feed === null ? {} : { feed }),
    ...(agent === undefined ? {} : { agent }),
    ...(mapping === null ? {} : { mapping }),
  };
  const { id } = await client.imports.create(body);
  const data = Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>;
  const made = await client.imports.putContent(id, { data, type }, { signal: context.signal });
  return tellImport(context, made, json);
}
