import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeLog } from './log.ts';

let dir: string;
let file: string;
let fd: number;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'purser-log-'));
  file = join(dir, 'log');
  fd = openSync(file, 'a');
});

afterEach(() => {
  closeSync(fd);
  rmSync(dir, { recursive: true });
});

const written = () => readFileSync(file, 'utf8');
const lines = () =>
  written()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('every line is there after close, in order and with its own moment', () => {
  let clock_ms = Date.parse('2026-11-21T08:30:00.000Z');
  const { log, close } = makeLog('info', fd, () => clock_ms);
  for (let n = 0; n < 1_000; n++) {
    if (n % 3 === 0) clock_ms += 7;
    log.info({ n, at_ms: clock_ms, text: 'ü"\n' }, 'request');
  }
  close();
  const found = lines();
  expect(found.map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  for (const line of found) {
    expect(Date.parse(line.time as string)).toBe(line.at_ms);
    expect(line).toMatchObject({ level: 30, text: 'ü"\n', msg: 'request' });
  }
});

test('lines wait for a flush, unless many wait', () => {
  const { log, flush } = makeLog('info', fd, () => 0);
  log.info('one');
  expect(written()).toBe('');
  flush();
  expect(lines()).toHaveLength(1);
  flush();
  expect(lines()).toHaveLength(1);
  for (let n = 0; n < 500; n++) log.info('many');
  expect(lines().length).toBeGreaterThan(400);
});

test('an error is kept without the values of rows, and what is below the level is not', () => {
  const { log, close } = makeLog('warn', fd, () => 0);
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (secret)=(hidden)' });
  log.info('below');
  log.error({ err: new Error('outer', { cause }) }, 'failed');
  close();
  expect(written()).not.toMatch(/hidden|below/);
  expect(lines()).toMatchObject([
    {
      level: 50,
      msg: 'failed',
      err: { message: 'outer', cause: { message: 'duplicate key', code: '23505' } },
    },
  ]);
});
