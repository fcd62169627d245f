import type { ImportMapping } from '@purser/contract/history/imports';
import { type ImportFailureCode, type ImportSource, MAX_LINE_BYTES } from '@purser/contract/values/history';
import { type CostSource, CostSums } from '@purser/rail-events/costs';
import { BrokenJson, JsonSplitter, parseWithExactNumbers } from '@purser/rail-events/json-records';
import { readLithicTransaction } from '@purser/rail-events/lithic';
import { readOwnLine } from '@purser/rail-events/own-lines';
import type { Problem, ReadItem } from '@purser/rail-events/read-line';
import { readStripeCharge } from '@purser/rail-events/stripe-charges';
import { readStripeTransaction } from '@purser/rail-events/stripe-issuing';
import { BrokenXml, Camt053Reader } from './camt053.ts';
import { placesOf, RowReader } from './csv-mapping.ts';
import { CsvReader, type CsvRow } from './csv-reader.ts';

/** A part of a file as it was read, its place in the file and what it said. */
export interface PlacedItem {
  item: ReadItem;
  /** The number of the line; of JSON and XML that of the record. */
  place: number;
  text: string;
}

/** The file cannot be read on. */
export class FailedFile extends Error {
  override name = 'FailedFile';
  readonly code: ImportFailureCode;
  readonly line_number: number | null;

  constructor(code: ImportFailureCode, line_number: number | null, message: string) {
    super(message);
    this.code = code;
    this.line_number = line_number;
  }
}

/** Reads a file that arrives in parts. Both methods throw FailedFile. */
export interface FileReader {
  /** Takes the next part of the text and returns what ends in it. */
  push: (chunk: string) => PlacedItem[];
  end: () => PlacedItem[];
  /** The line with the names of the columns, once it was read. */
  header?: () => string | null;
}

/** How a file is read. */
export interface FileForm {
  source: ImportSource;
  feed: string;
  mapping: ImportMapping | null;
  /** Each line is a record of its own. */
  is_line_by_line: boolean;
  is_csv: boolean;
  now_ms: number;
}

/** A bucket of costs has all costs of a day. */
const MAX_BUCKET_LENGTH = 4 * 1024 * 1024;

const bad = (code: Problem['code'], message: string, column: string | null = null): ReadItem => ({
  problem: { code, column, message },
});
const TOO_LONG = bad('TOO_LONG', `is longer than ${MAX_LINE_BYTES} bytes`);

const isCosts = (source: ImportSource): source is CostSource =>
  source === 'openai_costs' || source === 'anthropic_costs';

/** Makes the reader of one record of JSON. */
function recordReader({ source, feed, now_ms }: FileForm): (value: unknown) => ReadItem[] {
  switch (source) {
    case 'stripe_issuing':
      return (value) => readStripeTransaction(value, now_ms);
    case 'stripe_charges':
      return (value) => readStripeCharge(value, now_ms);
    case 'lithic':
      return (value) => readLithicTransaction(value, now_ms);
    default:
      return (value) => readOwnLine(value, now_ms, feed);
  }
}

const listIn = (value: unknown): unknown[] | null => {
  const data = Array.isArray(value) ? value : (value as { data?: unknown } | null)?.data;
  return Array.isArray(data) ? data : null;
};

/** Makes the reader of a record of JSON; the costs in it are added up instead. */
function makeTakeRecord(form: FileForm, sums: CostSums | null) {
  const read = recordReader(form);
  return (text: string, place: number): PlacedItem[] => {
    let value: unknown;
    try {
      value = sums === null ? JSON.parse(text) : parseWithExactNumbers(text);
    } catch {
      return [{ item: bad('COLUMNS', 'is no JSON'), place, text }];
    }
    const each = (form.is_line_by_line ? listIn(value) : null) ?? [value];
    return each.flatMap((one) =>
      sums === null
        ? read(one).map((item) => ({ item, place, text }))
        : sums.takeBucket(one, place).map((problem) => ({ item: { problem }, place, text })),
    );
  };
}

const sumsOf = ({ source, now_ms }: FileForm): CostSums | null =>
  isCosts(source) ? new CostSums(source, now_ms) : null;

const itemsOf = (sums: CostSums | null): PlacedItem[] =>
  sums?.items().map(({ item, place }) => ({ item, place, text: '' })) ?? [];

function makeJsonReader(form: FileForm): FileReader {
  const sums = sumsOf(form);
  const takeRecord = makeTakeRecord(form, sums);
  const splitter = new JsonSplitter(sums === null ? MAX_LINE_BYTES : MAX_BUCKET_LENGTH);
  const guarded = <T>(step: () => T): T => {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof BrokenJson)) throw error;
      throw new FailedFile('unreadable', null, `The file is no JSON that can be read: it ${error.message}.`);
    }
  };
  return {
    push: (chunk) =>
      guarded(() => splitter.push(chunk)).flatMap(({ text, place }) =>
        text === null ? [{ item: TOO_LONG, place, text: '' }] : takeRecord(text, place),
      ),
    end() {
      guarded(() => splitter.end());
      return itemsOf(sums);
    },
  };
}

/** Reads a file whose lines are records, by the reader of lines that CSV has too. */
function makeLineReader(form: FileForm): FileReader {
  const sums = sumsOf(form);
  const takeRecord = makeTakeRecord(form, sums);
  // JSON has no such character outside of strings, and only escaped in them, so no line is split by it.
  const lines = new CsvReader('\u0000', sums === null ? MAX_LINE_BYTES : MAX_BUCKET_LENGTH);
  const take = (rows: CsvRow[]) =>
    rows.flatMap((row) =>
      'problem' in row && row.problem === 'TOO_LONG'
        ? [{ item: TOO_LONG, place: row.place, text: row.text }]
        : takeRecord(row.text, row.place),
    );
  return { push: (chunk) => take(lines.push(chunk)), end: () => [...take(lines.end()), ...itemsOf(sums)] };
}

const headerMissing = (line: number, column: string) =>
  new FailedFile('header_not_found', line, `Line ${line} has no column “${column}”.`);

const headerRepeated = (line: number, column: string) =>
  new FailedFile(
    'column_repeated',
    line,
    `Line ${line} has more than one column “${column}”; rename those that are not meant.`,
  );

/** The columns that each file of costs has. */
const COST_COLUMNS: Record<CostSource, readonly string[]> = {
  openai_costs: ['start_time_iso', 'amount_value', 'project_id'],
  anthropic_costs: ['usage_date_utc', 'workspace', 'cost_usd'],
};

type TakeRow = (cells: string[], place: number, text: string) => PlacedItem[];

/** Finds out by the header how rows are read. */
function rowTaker(form: FileForm, header: string[], line: number, sums: CostSums | null): TakeRow {
  const { source, mapping, feed, now_ms } = form;
  const names = header.map((name) => name.trim());
  if (isCosts(source)) {
    const missing = COST_COLUMNS[source].find((column) => !names.includes(column));
    if (missing !== undefined) throw headerMissing(line, missing);
    const repeated = COST_COLUMNS[source].find(
      (column) => names.indexOf(column) !== names.lastIndexOf(column),
    );
    if (repeated !== undefined) throw headerRepeated(line, repeated);
    return (cells, place, text) => {
      if (cells.length !== names.length) {
        const message = `has ${cells.length} cells where the header has ${names.length}`;
        return [{ item: bad('COLUMNS', message), place, text }];
      }
      const row = Object.fromEntries(names.map((name, i) => [name, cells[i]]));
      return (sums as CostSums).takeRow(row, place).map((problem) => ({ item: { problem }, place, text }));
    };
  }
  if (mapping === null) throw new Error('a CSV file needs a mapping');
  const found = placesOf(mapping, header);
  if ('missing' in found) throw headerMissing(line, found.missing);
  if ('repeated' in found) throw headerRepeated(line, found.repeated);
  const reader = new RowReader(mapping, { places: found.places, width: header.length }, feed);
  return (cells, place, text) => [{ item: reader.read(cells, now_ms), place, text }];
}

function makeCsvFileReader(form: FileForm): FileReader {
  const sums = sumsOf(form);
  const header_line = form.mapping?.header_line ?? 1;
  const rows = new CsvReader(form.mapping?.delimiter ?? ',', MAX_LINE_BYTES);
  let header: string | null = null;
  let takeRow: TakeRow | null = null;
  const take = (row: CsvRow): PlacedItem[] => {
    const { place, text } = row;
    if (place < header_line) return [];
    if (takeRow === null) {
      if ('problem' in row || place > header_line)
        throw new FailedFile('header_not_found', header_line, `Line ${header_line} has no names of columns.`);
      takeRow = rowTaker(form, row.cells, place, sums);
      header = text;
      return [];
    }
    if (!('problem' in row)) return takeRow(row.cells, place, text);
    const item = row.problem === 'TOO_LONG' ? TOO_LONG : bad('QUOTE', 'has a quote that stays open');
    return [{ item, place, text }];
  };
  return {
    push: (chunk) => rows.push(chunk).flatMap(take),
    end() {
      const items = rows.end().flatMap(take);
      if (takeRow === null)
        throw new FailedFile('header_not_found', header_line, `Line ${header_line} has no names of columns.`);
      return [...items, ...itemsOf(sums)];
    },
    header: () => header,
  };
}

function makeXmlReader({ now_ms }: FileForm): FileReader {
  const reader = new Camt053Reader(now_ms);
  const guarded = (step: () => ReturnType<Camt053Reader['push']>): PlacedItem[] => {
    try {
      return step().map(({ item, place }) => ({ item, place, text: '' }));
    } catch (error) {
      if (error instanceof BrokenXml) throw new FailedFile(error.code, error.line_number, error.message);
      throw error;
    }
  };
  return { push: (chunk) => guarded(() => reader.push(chunk)), end: () => guarded(() => reader.end()) };
}

/** Makes the reader of a file. */
export function makeFileReader(form: FileForm): FileReader {
  if (form.source === 'camt053') return makeXmlReader(form);
  if (form.source === 'csv' || form.is_csv) return makeCsvFileReader(form);
  return form.is_line_by_line ? makeLineReader(form) : makeJsonReader(form);
}
