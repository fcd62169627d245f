import type { DetectedFile, ImportMapping } from '@purser/contract/history/imports';
import { type ColumnField, FIXED_FEEDS, type ImportSource } from '@purser/contract/values/history';
import { isObject, objectsAt } from '@purser/rail-events/fields';
import { BrokenJson, JsonSplitter } from '@purser/rail-events/json-records';
import { maskCardNumbers } from '@purser/rail-events/texts';
import { type Encoding, isUtf8, makeDecoder, markedEncoding, xmlEncoding } from './decoding.ts';
import { FailedFile, type FileForm, makeFileReader } from './file-reader.ts';
import { guessMapping, type SampledRows, sampleRows } from './guess-columns.ts';

/** How many lines, and examples of a column, are shown. */
const SHOWN_LINES = 5;
const SHOWN_EXAMPLES = 3;
const MAX_RECORD = 4 * 1024 * 1024;

/** Findings in the beginning of a file. `header`: the line by which its mapping is found again. */
export interface Detected extends Omit<DetectedFile, 'found_in'> {
  header: string | null;
}

const NOTHING: Detected = {
  source: null,
  feed: null,
  mapping: null,
  columns: [],
  needs: ['source'],
  sample: [],
  header: null,
};

/** The form of a record of JSON. */
function sourceOfRecord(value: unknown): ImportSource | null {
  if (!isObject(value)) return null;
  const of = isObject(value.data) && isObject(value.data.object) ? value.data.object : value;
  if (of.object === 'issuing.transaction' || isObject(of.merchant_data)) return 'stripe_issuing';
  if (of.object === 'charge') return 'stripe_charges';
  if (typeof of.card_token === 'string' && Array.isArray(of.events)) return 'lithic';
  if ('starting_at' in of && Array.isArray(of.results)) return 'anthropic_costs';
  if ('start_time' in of && Array.isArray(of.results)) return 'openai_costs';
  if ('amount_minor' in of && 'merchant' in of) return 'lines';
  const [first] = objectsAt(of, 'data');
  return first === undefined ? null : sourceOfRecord(first);
}

/** The source of a beginning of JSON. */
function sourceOfJson(text: string): ImportSource | null {
  const splitter = new JsonSplitter(MAX_RECORD);
  try {
    for (const { text: record } of splitter.push(text)) {
      const source = record === null ? null : sourceOfRecord(JSON.parse(record));
      if (source !== null) return source;
    }
  } catch (error) {
    if (!(error instanceof BrokenJson || error instanceof SyntaxError)) throw error;
  }
  // A first record that is longer than the sample, or a bucket of a day without costs.
  if (/"starting_at"/.test(text)) return 'anthropic_costs';
  return /"issuing\.transaction"/.test(text) ? 'stripe_issuing' : null;
}

function sampleOf(form: FileForm, text: string): DetectedFile['sample'] {
  const reader = makeFileReader(form);
  const items = [];
  try {
    items.push(...reader.push(text));
    // Costs are added up at the end of the file alone.
    if (items.length === 0) items.push(...reader.end());
  } catch (error) {
    // The beginning of a file is cut off.
    if (!(error instanceof FailedFile)) throw error;
  }
  return items
    .slice(0, 500)
    .flatMap(({ item, place }) => {
      if (!('line' in item)) return [];
      const { kind, merchant, amount_minor, currency, occurred_at } = item.line;
      return [{ line_number: place, kind, merchant, amount_minor, currency, occurred_at }];
    })
    .slice(0, SHOWN_LINES);
}

function fixed(
  source: ImportSource,
  text: string,
  is: { is_csv: boolean; is_line_by_line: boolean },
  now_ms: number,
): Detected {
  const feed = FIXED_FEEDS[source] ?? null;
  const form = { source, feed: feed ?? 'lines', mapping: null, ...is, now_ms };
  return { ...NOTHING, source, feed, needs: [], sample: sampleOf(form, text) };
}

/** The columns with the fields that the mapping reads them as. */
function columnsOf({ header, rows }: SampledRows, mapping: ImportMapping): DetectedFile['columns'] {
  const fields = new Map(
    Object.entries(mapping.columns).map(([field, column]) => [column, field as ColumnField]),
  );
  return header.map((name, i) => ({
    name: maskCardNumbers(name),
    field: fields.get(name) ?? null,
    examples: [...new Set(rows.map((cells) => (cells[i] ?? '').trim()))]
      .filter((cell) => cell !== '')
      .slice(0, SHOWN_EXAMPLES)
      .map((cell) => maskCardNumbers(cell).slice(0, 100)),
  }));
}

function detectCsv(text: string, encoding: Encoding, is_whole: boolean, now_ms: number): Detected {
  const sample = sampleRows(text, is_whole);
  if (sample === null) return NOTHING;
  const { header } = sample;
  const is = { is_csv: true, is_line_by_line: false };
  if (header.includes('start_time_iso') && header.includes('amount_value'))
    return fixed('openai_costs', text, is, now_ms);
  if (header.includes('usage_date_utc') && header.includes('cost_usd'))
    return fixed('anthropic_costs', text, is, now_ms);
  const { mapping, needs } = guessMapping(sample, encoding);
  const form = { source: 'csv' as const, feed: 'csv', mapping, ...is, now_ms };
  return {
    source: 'csv',
    feed: null,
    mapping,
    columns: columnsOf(sample, mapping),
    needs,
    sample: needs.length === 0 ? sampleOf(form, text) : [],
    header: sample.header_text,
  };
}

/** Reads what the beginning of a file says of it. `is_whole`: it is the whole file. */
export function detectFile(head: Uint8Array, is_whole: boolean, now_ms: number): Detected {
  const encoding = markedEncoding(head) ?? (isUtf8(head) ? 'utf-8' : 'windows-1252');
  const decoder = makeDecoder(encoding);
  const text = decoder.push(head) + (is_whole ? decoder.end() : '');
  const start = text.trimStart();
  if (start.startsWith('<')) {
    const declared = xmlEncoding(head);
    const is_statement = /camt\.053|<(\w+:)?BkToCstmrStmt/.test(text);
    if (declared === null || !is_statement) return NOTHING;
    return fixed(
      'camt053',
      makeDecoder(declared).push(head),
      { is_csv: false, is_line_by_line: false },
      now_ms,
    );
  }
  if (start.startsWith('{') || start.startsWith('[')) {
    const source = sourceOfJson(start);
    if (source === null) return NOTHING;
    return fixed(source, text, { is_csv: false, is_line_by_line: false }, now_ms);
  }
  return detectCsv(text, encoding, is_whole, now_ms);
}
