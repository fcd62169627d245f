import fc from 'fast-check';
import type pg from 'pg';
import { describe, expect } from 'vitest';
import { checkLineLimit } from '../../src/service/history/take-file.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';
import { makeHistory } from './made-history.ts';
import { CSV_MAPPING, makeSender } from './sender.ts';

takesMinutes(10);

const { test, s, get, post, walk, makeAgent } = serviceTest({
  plan: 'enterprise',
  env: { RATE_LIMIT_PER_MINUTE: '1000000' },
});
const { send, importFile } = makeSender(s);

const NDJSON = 'application/x-ndjson';
const csv = (rows: readonly string[]) => `Date,Name,Amount\n${rows.map((row) => `${row}\n`).join('')}`;
const ofFeed = async (feed: string) =>
  (
    await s.sql('select merchant, amount_minor, count(*) as count from lines where feed = $1 group by 1, 2', [
      feed,
    ])
  ).rows
    .map(({ merchant, amount_minor, count }) => `${merchant} ${amount_minor} ${count}`)
    .sort();

/** Sends the beginning of a file over a connection of its own, and closes the connection. */
async function sendCut(id: string, body: string, length: number): Promise<void> {
  const controller = new AbortController();
  const bytes = Buffer.from(body);
  const stream = new ReadableStream<Uint8Array>({
    async start(sink) {
      sink.enqueue(bytes.subarray(0, length));
      await until(
        async () =>
          Number(
            (await s.sql('select bytes_read from import_progress where import_id = $1', [id])).rows[0]
              .bytes_read,
          ) > 0 || length < 60_000,
        200,
      ).catch(() => {});
      controller.abort();
    },
  });
  const init = { method: 'PUT', body: stream, duplex: 'half', signal: controller.signal } as RequestInit;
  const headers = { 'x-api-key': s.admin_key, 'content-type': 'text/csv' };
  await fetch(`${s.url}/v1/imports/${id}/content`, { ...init, headers }).catch(() => {});
}

describe('imports', () => {
  test('that are repeated, reordered, overlapping and cut twenty times give the union, and the ledger stays valid', async () => {
    // Equal rows are among them, and stay as many as the file that has most of them.
    const rows = Array.from(
      { length: 3_000 },
      (_, i) => `2026-0${1 + (i % 9)}-1${i % 7},Shop ${i % 40},${10 + (i % 12)}.00`,
    );
    const feed = 'union';
    const make = async () =>
      (await post('/v1/imports', { file_name: 'f', source: 'csv', feed, mapping: CSV_MAPPING })).id;
    const files = [
      rows,
      rows.slice(0, 1_800),
      rows.slice(900),
      [...rows].reverse(),
      rows.filter((_, i) => i % 3 > 0),
    ];
    const random = fc.sample(fc.record({ file: fc.nat(files.length - 1), part: fc.nat(99) }), {
      numRuns: 20,
      seed: 7,
    });
    for (const { file, part } of random) {
      const id = await make();
      const body = csv(files[file] as string[]);
      await sendCut(id, body, Math.floor((body.length * (part + 1)) / 101));
      await until(async () => (await get(`/v1/imports/${id}`)).status !== 'READING', 200);
    }
    for (const each of files) {
      const done = await importFile({ feed, mapping: CSV_MAPPING, body: csv(each) });
      expect(done).toMatchObject({ status: 'DONE', lines: { read: each.length, bad: 0 } });
    }
    await importFile({ feed: 'whole', mapping: CSV_MAPPING, body: csv(rows) });
    expect(await ofFeed(feed)).toEqual(await ofFeed('whole'));
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });

  test('name 200 of 200 bad lines among good ones, wherever they are', async () => {
    const breaks: ((row: string[]) => string)[] = [
      ([date, name]) => `${date},${name},abc`,
      ([date, name]) => `${date},${name},1.234`,
      ([, name, amount]) => `2026-02-30,${name},${amount}`,
      ([, name, amount]) => `2126-02-01,${name},${amount}`,
      ([date, , amount]) => `${date},,${amount}`,
      ([date, name]) => `${date},${name}`,
      ([date, name, amount]) => `${date},"${name},${amount}`,
      ([date, name, amount]) => `${date},${name},${amount},more`,
      ([date, , amount]) => `${date},${'x'.repeat(66_000)},${amount}`,
      ([date, name, amount]) => `${date},"${name}"x,${amount}`,
    ];
    const bad = new Set<number>();
    const rows = Array.from({ length: 2_000 }, (_, i) => {
      const row = ['2026-03-02', `Shop ${i}`, `${1 + (i % 50)}.00`];
      if (i % 10 !== 3) return row.join(',');
      bad.add(i + 2);
      return (breaks[((i / 10) % breaks.length) | 0] as (row: string[]) => string)(row);
    });
    expect(bad.size).toBe(200);
    const done = await importFile({ feed: 'bad', mapping: CSV_MAPPING, body: csv(rows) });
    expect(done.lines).toMatchObject({ read: 2_000, taken: 1_800, bad: 200 });
    const found = await walk(`/v1/imports/${done.id}/problems`, { limit: 200 });
    expect(found.map(({ line_number }) => line_number)).toEqual([...bad]);
  });

  test('of more than 200,000 lines fail, and say so; a workspace with 2,000,000 lines takes no more', async () => {
    const rows = Array.from({ length: 200_001 }, () => '2026-03-02,A,0');
    const done = await importFile({ feed: 'many', mapping: CSV_MAPPING, body: csv(rows) });
    expect(done).toMatchObject({
      status: 'FAILED',
      failure: { code: 'too_many_lines', line_number: 200_002 },
      lines: { read: 200_000, taken: 0, skipped: 200_000 },
    });
    const full = { query: async () => ({ rows: [{ count: 2_000_000 }] }) } as unknown as pg.Pool;
    await expect(checkLineLimit(full, 'ws_1')).rejects.toMatchObject({ code: 'line_limit' });
  });

  test('of 50,000 lines are taken whole, and a proposal from them keeps 97 % with at most two reviews a week', async () => {
    const agent = await makeAgent();
    const { lines } = makeHistory({ seed: 3, lines: 50_000 });
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const { id } = await post('/v1/imports', { file_name: 'year', source: 'lines', feed: 'long', agent });
    const before_ms = performance.now();
    const done = await send(id, body, NDJSON);
    const imported_ms = performance.now();
    expect(done.body).toMatchObject({ status: 'DONE', lines: { read: 50_000, taken: 50_000 } });
    const reply = await s.call('POST', '/v1/history/proposal', { body: { agent } });
    const took = {
      import_s: (imported_ms - before_ms) / 1000,
      proposal_s: (performance.now() - imported_ms) / 1000,
    };
    if (process.env.SHOW_TIMES !== undefined) console.log(took, process.memoryUsage().rss / 1_048_576);
    expect(reply.status, reply.text).toBe(200);
    const { replay, check, reached } = reply.body;
    expect(replay.allow_share).toBeGreaterThanOrEqual(0.97);
    expect(replay.reviews_per_week).toBeLessThanOrEqual(2);
    expect(check.allow_share).toBeGreaterThanOrEqual(0.95);
    expect(reached).toBe(true);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });
});
