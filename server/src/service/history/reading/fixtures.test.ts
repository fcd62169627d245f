import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { detectFile } from './detect-file.ts';
import { makeFileReader, type PlacedItem } from './file-reader.ts';

/** Each vendor's whole file is read to the cent, in parts of any length, and recognised by its beginning. */
const FOLDER = new URL('../../../../tests/history/fixtures/', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: expectations of every shape.
const EXPECTED = JSON.parse(readFileSync(new URL('expected.json', FOLDER), 'utf8')) as Record<string, any>;
const NOW_MS = Date.parse('2026-11-22T00:00:00Z');
const FEEDS: Record<string, string> = { csv: 'ramp', lines: 'lines' };

const textOf = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');

function read(name: string, part_length: number, text = textOf(name)): PlacedItem[] {
  const { source, content_type, mapping = null } = EXPECTED[name];
  const reader = makeFileReader({
    source,
    feed: FEEDS[source] ?? source,
    mapping,
    is_line_by_line: content_type === 'application/x-ndjson',
    is_csv: content_type === 'text/csv',
    now_ms: NOW_MS,
  });
  const items: PlacedItem[] = [];
  for (let at = 0; at < text.length; at += part_length)
    items.push(...reader.push(text.slice(at, at + part_length)));
  return [...items, ...reader.end()];
}

test('every fixture has an expectation', () => {
  const files = readdirSync(FOLDER).filter((file) => file !== 'expected.json');
  expect(files.sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(Object.keys(EXPECTED))('%s', (name) => {
  test.each([1, 7, 100_000])('is read in parts of %i characters', (part_length) => {
    const items = read(name, part_length);
    const lines = items.flatMap(({ item }) => ('line' in item ? [item.line] : []));
    expect(items.filter(({ item }) => 'problem' in item)).toEqual([]);
    expect(lines).toHaveLength(EXPECTED[name].lines.length);
    for (const [i, line] of lines.entries()) expect(line).toMatchObject(EXPECTED[name].lines[i]);
    const skipped = new Set(items.flatMap(({ item }) => ('skipped' in item ? [item.skipped] : [])));
    expect([...skipped].sort()).toEqual([...EXPECTED[name].skipped].sort());
  });
  test('is recognised', () => {
    const { source, mapping } = EXPECTED[name];
    const found = detectFile(readFileSync(new URL(name, FOLDER)), true, NOW_MS);
    expect(found.source).toBe(source);
    if (mapping === undefined) return;
    const { currency, ...rest } = mapping;
    expect(found.needs).toEqual(['currency']);
    expect(found.mapping).toMatchObject(rest);
  });
});

test('an amount below 0 of a statement is a bad line: its indicator says which way the money went', () => {
  const name = 'camt053-08.xml';
  const negative = textOf(name).replaceAll(/(<Amt Ccy="[A-Z]{3}">)/g, '$1-');
  const items = read(name, 100_000, negative).filter(({ item }) => !('skipped' in item));
  expect(items).toHaveLength(EXPECTED[name].lines.length);
  for (const { item } of items) expect(item).toMatchObject({ problem: { code: 'AMOUNT', column: 'Amt' } });
});
