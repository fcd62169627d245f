import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const FOLDER = new URL('../../../docs/decisions/', import.meta.url);
const RECORDS = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
const number = (name: string) => Number(name.slice(0, 4));

const STATUS = /^Status: (?:accepted|(?:partly )?superseded by (\d+(?:, \d+)*(?: and \d+)?))$/;
const SUPERSEDES = /^Supersedes: (?:[–-]|((?:[a-z ]+ of )?\d+(?:(?:, | and )(?:[a-z ]+ of )?\d+)*))$/;
const numbersOf = (text = '') => (text.match(/\d+/g) ?? []).map(Number);

const heads = new Map(
  RECORDS.map((name) => {
    const [title = '', blank, date = '', status = '', supersedes = ''] = read(name).split('\n');
    return [number(name), { name, title, blank, date, status, supersedes }] as const;
  }),
);

describe('every decision record', () => {
  test.each([...heads])('%i has a title and a head of date, status and superseded records', (n, head) => {
    expect(head.name).toMatch(/^\d{4}-[a-z0-9-]+\.md$/);
    expect(head.title).toMatch(new RegExp(`^# ${n}\\. \\S`));
    expect(head.blank).toBe('');
    expect(head.date).toMatch(/^Date: \d{4}-\d\d-\d\d$/);
    expect(head.status).toMatch(STATUS);
    expect(head.supersedes).toMatch(SUPERSEDES);
  });

  test('is the only one with its number', () => expect(heads.size).toBe(RECORDS.length));

  test('is in the index once, by its title, and the index has no other', () => {
    const lines = [
      ...read('README.md').matchAll(/^- \[(\d+)\]\(([^)]+)\): (.+?)(?: \((?:partly )?superseded .+\))?$/gm),
    ];
    const listed = lines.map(([, n, name, title]) => `${name} # ${n}. ${title}`).sort();
    expect(listed).toEqual([...heads.values()].map(({ name, title }) => `${name} ${title}`).sort());
  });

  test('is named as the successor by each record that it supersedes, and the other way round', () => {
    const pairs = (line: 'status' | 'supersedes', pattern: RegExp) =>
      [...heads].flatMap(([n, head]) => numbersOf(pattern.exec(head[line])?.[1]).map((other) => [n, other]));
    const replaced = pairs('status', STATUS).map(([old, by]) => `${by} supersedes ${old}`);
    const replacing = pairs('supersedes', SUPERSEDES).map(([by, old]) => `${by} supersedes ${old}`);
    expect(replaced.sort()).toEqual(replacing.sort());
  });
});
