import { beforeEach, expect, test } from 'vitest';
import { type LogStream, makeLog } from './log.ts';

let text: string;
/** A reader that takes all, or stands still. */
const makeStream = (waiting_bytes = 0): LogStream => ({
  writableLength: waiting_bytes,
  on: () => makeStream() as never,
  write(lines, done) {
    text += lines;
    done?.();
    return true;
  },
});

beforeEach(() => {
  text = '';
});

const written = () => text;
const lines = () =>
  written()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('every line is written by the end, in order and with its own time', async () => {
  let clock_ms = Date.parse('2026-11-21T08:30:00.000Z');
  const { log, end } = makeLog('info', makeStream(), () => clock_ms);
  for (let n = 0; n < 1_000; n++) {
    if (n % 3 === 0) clock_ms += 7;
    log.info({ n, at_ms: clock_ms, text: 'ü"\n' }, 'request');
  }
  await end();
  const found = lines();
  expect(found.map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  for (const line of found) {
    expect(Date.parse(line.time as string)).toBe(line.at_ms);
    expect(line).toMatchObject({ level: 30, text: 'ü"\n', msg: 'request' });
  }
});

test('nothing is left to wait for at the end', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await makeLog('info', makeStream(), () => 0).end();
  expect(timers()).toBe(before);
});

test('lines are buffered until a flush or until there are many', () => {
  const { log, flush } = makeLog('info', makeStream(), () => 0);
  log.info('one');
  expect(written()).toBe('');
  flush();
  expect(lines()).toHaveLength(1);
  flush();
  expect(lines()).toHaveLength(1);
  for (let n = 0; n < 500; n++) log.info('many');
  expect(lines().length).toBeGreaterThan(400);
});

test('an error is logged without the values of rows, and lines below the level are not logged', async () => {
  const { log, end } = makeLog('warn', makeStream(), () => 0);
  const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (secret)=(hidden)' });
  log.info('below');
  log.error({ err: new Error('outer', { cause }) }, 'failed');
  await end();
  expect(written()).not.toMatch(/hidden|below/);
  expect(lines()).toMatchObject([
    {
      level: 50,
      msg: 'failed',
      err: { message: 'outer', cause: { message: 'duplicate key', code: '23505' } },
    },
  ]);
});

test('lines are dropped, not buffered, while the reader is stalled', () => {
  const { log, flush } = makeLog('info', makeStream(2_000_000), () => 0);
  for (let n = 0; n < 10_000; n++) log.info('dropped');
  flush();
  expect(written()).toBe('');
});
