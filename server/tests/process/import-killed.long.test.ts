import fc from 'fast-check';
import { expect } from 'vitest';
import { CSV_MAPPING } from '../history/sender.ts';
import { test } from '../support/program.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(20);

const KILLS = Number(process.env.IMPORT_KILL_ROUNDS);
const KEY = `sk_${'i'.repeat(24)}`;
// Equal rows are among them: two of each.
const ROWS = Array.from({ length: 3_000 }, (_, i) => {
  const n = i % 1_500;
  return `2026-0${1 + (n % 9)}-1${n % 7},Shop ${n},${10 + (n % 12)}.00`;
});

test('an import whose process is killed in the middle, again and again, gives each line once when its file is sent whole', async ({
  run,
  dataDirectory,
}) => {
  const dir = dataDirectory();
  const start = async () => {
    const service = run(['serve'], { DATA_DIR: dir, BOOTSTRAP_ADMIN_KEY: KEY, LOG_LEVEL: 'warn' });
    const base = await service.url;
    const call = async (
      method: string,
      path: string,
      body?: string,
      type = 'application/json',
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    ): Promise<any> => {
      const headers = { 'x-api-key': KEY, 'content-type': type };
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const answer = await fetch(`${base}${path}`, init);
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    const make = async (): Promise<string> => {
      const made = { file_name: 'bank.csv', source: 'csv', feed: 'bank', mapping: CSV_MAPPING };
      return (await call('POST', '/v1/imports', JSON.stringify(made))).id;
    };
    const send = (id: string, rows: readonly string[]) =>
      call('PUT', `/v1/imports/${id}/content`, `Date,Name,Amount\n${rows.join('\n')}\n`, 'text/csv');
    return { service, call, make, send };
  };

  let cut_off = 0;
  for (const share of fc.sample(fc.integer({ min: 0, max: 90 }), { numRuns: KILLS, seed: 34 })) {
    const { service, call, make, send } = await start();
    const id = await make();
    const sent = send(id, ROWS).catch(() => 'cut off');
    const wanted = Math.floor((ROWS.length * share) / 100);
    const read = () => call('GET', `/v1/imports/${id}`);
    await until(async () => (await read()).lines.read > wanted, 1);
    service.child.kill('SIGKILL');
    await service.ended;
    cut_off += (await sent) === 'cut off' ? 1 : 0;
  }
  expect(cut_off).toBeGreaterThan(0);

  const { service, call, make, send } = await start();
  const done = await send(await make(), ROWS);
  expect(done).toMatchObject({ status: 'DONE', lines: { read: 3_000, bad: 0, skipped: 0 } });
  expect(done.lines.present).toBeGreaterThan(0);
  const again = await send(await make(), [...ROWS].reverse());
  expect(again).toMatchObject({ status: 'DONE', lines: { taken: 0, present: 3_000 } });
  const counts = new Map<string, number>();
  for (let path = '/v1/lines?limit=200'; path !== ''; ) {
    const page = await call('GET', path);
    for (const { merchant } of page.data) counts.set(merchant, (counts.get(merchant) ?? 0) + 1);
    path =
      page.next_cursor === null ? '' : `/v1/lines?limit=200&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  expect([counts.size, ...new Set(counts.values())]).toEqual([1_500, 2]);
  expect((await call('GET', '/v1/ledger/verify')).breaks).toEqual([]);
  service.child.kill('SIGTERM');
  await service.ended;
});
