import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { ImportMapping } from '@purser/contract/history/imports';
import {
  type LineResult,
  MAX_FILE_LINES,
  MAX_PROBLEMS,
  MAX_WORKSPACE_LINES,
} from '@purser/contract/values/history';
import { maskCardNumbers } from '@purser/rail-events/texts';
import type { Origin } from '@purser/rules/domain/audit';
import { sha256 } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { identityOfContent, identityOfKey, type NewLine } from '@purser/rules/history/lines';
import type { ImportFailure, ImportRow } from '@purser/rules/imports/import-rows';
import type { Pause } from '@purser/rules/values/slices';
import type pg from 'pg';
import { finishImport } from '../../engine/commands/history/finish-import.ts';
import { type RecordLinesInput, recordLines } from '../../engine/commands/history/record-lines.ts';
import { startImport } from '../../engine/commands/history/start-import.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { keepAlive } from '../../engine/storage/history/imports.ts';
import { countLines } from '../../engine/storage/history/lines.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { type Content, ContentInterrupted } from '../http/bodies/content.ts';
import { type Encoding, makeDecoder, markedEncoding, xmlEncoding } from './reading/decoding.ts';
import { FailedFile, type FileReader, makeFileReader, type PlacedItem } from './reading/file-reader.ts';

/** The lease of an attempt to read a file, and how often it is renewed. */
const ALIVE_SECONDS = 10;
const ALIVE_EVERY_MS = 3_000;
/** Attempts to record a page, and the time between them, which grows. */
const MAX_ATTEMPTS = 6;
const RETRY_MS = 400;
/** How much of a bad line is kept. */
const MAX_SHOWN = 4_096;
/**
 * The lines of a page. Decisions of others wait for the statements of a page, and for its work at the event loop: some 6 ms of each.
 * Five times as many lines make an import alone a quarter faster.
 */
const PAGE_LINES = 100;
/** A page is recorded at the latest with this many parts of a file that give no line. */
const MAX_OTHERS = 2_000;
/** Characters that are read as one turn of the event loop: some 100 lines. */
const PART_LENGTH = 16_384;

export interface TakeFileOptions {
  db: pg.Pool;
  lane: Lane;
  max_bytes: number;
  /** Names an attempt to read a file, unlike any other. */
  newRunId: () => string;
  /** Lets requests that somebody waits for come in before the next slice of work: see `Turns`. */
  pause: Pause;
  countLineResult: (result: LineResult, count: number) => void;
}

/** The file to be taken, and for whom. */
export interface FileToTake {
  workspace_id: string;
  import_id: string;
  content: Content;
  origin: Origin;
}

type Page = Pick<RecordLinesInput, 'lines' | 'problems' | 'skipped'>;
interface OpenPage {
  lines: Page['lines'][number][];
  problems: Page['problems'][number][];
  skipped: Page['skipped'][number][];
}

const emptyPage = (): OpenPage => ({ lines: [], problems: [], skipped: [] });

/** Throws `line_limit` where a workspace has as many lines as it may have. Returns how many it has. */
export async function checkLineLimit(db: pg.Pool, workspace_id: string): Promise<number> {
  const count = await countLines(db, workspace_id, MAX_WORKSPACE_LINES);
  if (count < MAX_WORKSPACE_LINES) return count;
  throw new ApiError(
    'line_limit',
    `The workspace has ${MAX_WORKSPACE_LINES} lines, which is the limit; delete an import.`,
  );
}

/** Submits a page again where the database could not write just now. A page counts once, also where its answer was lost. */
async function patiently<T>(submit: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await submit();
    } catch (error) {
      const is_busy = error instanceof ApiError && error.code === 'unavailable';
      if (!is_busy || attempt >= MAX_ATTEMPTS) throw error;
      await wait(attempt * RETRY_MS);
    }
  }
}

const failedLimit = () =>
  new FailedFile('line_limit', null, `The workspace has reached its limit of ${MAX_WORKSPACE_LINES} lines.`);

/** One attempt to read a file: its parts become pages, one after the other. */
class Attempt {
  readonly #options: TakeFileOptions;
  readonly #file: FileToTake;
  readonly #row: ImportRow;
  readonly #run_id: string;
  readonly #seen = new Set<string>();
  readonly #ordinals = new Map<string, number>();
  #room: number;
  #page = emptyPage();
  #read = 0;
  #pages = 0;
  #bytes_read = 0;
  #decoder: ReturnType<typeof makeDecoder> | null = null;
  #reader: FileReader;

  constructor(
    options: TakeFileOptions,
    file: FileToTake,
    run: { row: ImportRow; run_id: string; known_lines: number; now_ms: number },
  ) {
    const { row, run_id, known_lines, now_ms } = run;
    this.#options = options;
    this.#file = file;
    this.#row = row;
    this.#run_id = run_id;
    this.#room = MAX_WORKSPACE_LINES - known_lines;
    const { type } = file.content;
    this.#reader = makeFileReader({
      source: row.source,
      feed: row.feed,
      mapping: row.mapping === null ? null : (JSON.parse(row.mapping) as ImportMapping),
      is_line_by_line: type === 'application/x-ndjson',
      is_csv: type === 'text/csv',
      now_ms,
    });
  }

  /** Reads the file to its end. Throws FailedFile, ContentInterrupted and what the lane throws. */
  async read(): Promise<void> {
    for await (const chunk of this.#file.content.chunks) {
      this.#bytes_read += chunk.length;
      if (this.#bytes_read > this.#options.max_bytes) {
        const mib = Math.floor(this.#options.max_bytes / 1_048_576);
        throw new FailedFile('too_large', null, `The file is longer than ${mib} MiB.`);
      }
      this.#decoder ??= makeDecoder(this.#encoding(chunk));
      await this.#takeText(this.#decoder.push(chunk));
    }
    const { bytes } = this.#row;
    if (bytes !== null && bytes !== this.#bytes_read)
      throw new ContentInterrupted(`the file has ${bytes} bytes, and ${this.#bytes_read} came`);
    await this.#takeText(this.#decoder?.end() ?? '');
    await this.#takeItems(this.#reader.end());
    await this.flush();
  }

  /** Records what was read and is not recorded yet. */
  async flush(): Promise<void> {
    const page = this.#page;
    this.#page = emptyPage();
    const { lane, countLineResult } = this.#options;
    const header = this.#row.source === 'csv' ? (this.#reader.header?.() ?? null) : null;
    const { workspace_id, import_id, origin } = this.#file;
    this.#pages += 1;
    const input = {
      import_id,
      run_id: this.#run_id,
      page: this.#pages,
      ...page,
      bytes_read: this.#bytes_read,
      header: header === null ? null : storableText(header),
      header_hash: header === null ? null : headerHash(header),
      seconds: ALIVE_SECONDS,
    };
    const recorded = await patiently(() => lane.submit(workspace_id, recordLines, input, origin));
    for (const result of ['taken', 'present', 'bad'] as const) countLineResult(result, recorded[result]);
    countLineResult('skipped', page.skipped.length);
    this.#room -= recorded.added;
    if (recorded.too_many_problems)
      throw new FailedFile('too_many_problems', null, `The file has over ${MAX_PROBLEMS} bad lines.`);
  }

  #encoding(head: Uint8Array): Encoding {
    const { source, mapping } = this.#row;
    if (source === 'camt053') {
      const found = xmlEncoding(head);
      if (found === null)
        throw new FailedFile('unreadable', 1, 'The file declares an encoding that is not read.');
      return found;
    }
    const marked = markedEncoding(head);
    if (marked !== null || mapping === null) return marked ?? 'utf-8';
    return (JSON.parse(mapping) as ImportMapping).encoding;
  }

  async #takeText(text: string): Promise<void> {
    for (let at = 0; at < text.length; at += PART_LENGTH) {
      const recorded = this.#pages;
      await this.#takeItems(this.#reader.push(text.slice(at, at + PART_LENGTH)));
      // Other requests run in between; before a page they have run.
      if (this.#pages === recorded) await nextTurn();
    }
  }

  async #takeItems(items: readonly PlacedItem[]): Promise<void> {
    for (const placed of items) {
      this.#read += 1;
      if (this.#read > MAX_FILE_LINES)
        throw new FailedFile('too_many_lines', placed.place, `The file has over ${MAX_FILE_LINES} lines.`);
      this.#takeItem(placed);
      const { lines, problems, skipped } = this.#page;
      if (lines.length > this.#room) throw failedLimit();
      if (lines.length < PAGE_LINES && problems.length + skipped.length < MAX_OTHERS) continue;
      await this.#options.pause();
      await this.flush();
    }
  }

  #takeItem({ item, place, text }: PlacedItem): void {
    if ('skipped' in item) this.#page.skipped.push(item.skipped);
    else if ('problem' in item) {
      const { code, column, message } = item.problem;
      const shown = shownText(text);
      this.#page.problems.push({ line_number: place, column_name: column, code, message, text: shown });
    } else {
      const { authorization, ...content } = item.line;
      const said = { ...content, authorization_id: authorization };
      const identity = item.key === null ? this.#identityOf(said) : identityOfKey(item.key);
      const line: NewLine = { ...said, feed: this.#row.feed, identity, line_number: place };
      const short = identity.slice(0, 32);
      this.#page.lines.push({ line, was_seen: this.#seen.has(short), text: shownText(text) });
      this.#seen.add(short);
    }
  }

  #identityOf(line: Omit<NewLine, 'feed' | 'identity' | 'line_number'>): string {
    const first = identityOfContent(line, 1);
    const ordinal = (this.#ordinals.get(first) ?? 0) + 1;
    this.#ordinals.set(first, ordinal);
    return ordinal === 1 ? first : identityOfContent(line, ordinal);
  }
}

const storableText = (text: string) =>
  text.replaceAll('\u0000', '\ufffd').replace(/\p{Surrogate}/gu, '\ufffd');
const shownText = (text: string) => maskCardNumbers(storableText(text.slice(0, MAX_SHOWN)));

/** The hash by which the mapping of a header is found again. */
export function headerHash(header: string): string {
  return sha256(header.trim().normalize('NFC')).toString('hex');
}

/**
 * Reads a file as it arrives and records its lines, page by page. Resolves also where the file cannot be read, or its sender went
 * away: the import says so. Lines that were taken stay. Throws what the lane refuses: another attempt is at work, the import is
 * gone.
 */
export async function takeFile(options: TakeFileOptions, file: FileToTake): Promise<void> {
  const { db, lane } = options;
  const { workspace_id, import_id, origin } = file;
  const known_lines = await checkLineLimit(db, workspace_id);
  const now_ms = await readClock(db);
  const run_id = options.newRunId();
  const run = { import_id, run_id, seconds: ALIVE_SECONDS };
  const row = await lane.submit(workspace_id, startImport, run, origin);
  // A sender may be slow for longer than the attempt may be silent.
  const alive = setInterval(() => void keepAlive(db, workspace_id, run).catch(() => {}), ALIVE_EVERY_MS);
  const finish = (status: 'DONE' | 'FAILED' | 'INTERRUPTED', failure: ImportFailure | null = null) =>
    lane.submit(workspace_id, finishImport, { import_id, run_id, status, failure }, origin);
  try {
    const attempt = new Attempt(options, file, { row, run_id, known_lines, now_ms });
    try {
      await attempt.read();
      await finish('DONE');
    } catch (error) {
      if (error instanceof FailedFile) {
        const { code, line_number, message } = error;
        if (code !== 'too_many_problems') await attempt.flush().catch(() => {});
        await finish('FAILED', { code, line_number, message });
      } else if (error instanceof ContentInterrupted) {
        await attempt.flush().catch(() => {});
        await finish('INTERRUPTED');
      } else throw error;
    }
  } finally {
    clearInterval(alive);
  }
}
