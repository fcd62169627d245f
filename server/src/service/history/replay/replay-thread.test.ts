import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import { expect, test } from 'vitest';
import { makeJobs } from './replay-jobs.ts';
import { type FromThread, ReplayThread } from './replay-thread.ts';

const ANOMALIES = { kind: 'anomalies', threshold_minor: null } as const;

const lineAt = (n: number, more: Partial<ReplayedLine> = {}): ReplayedLine => ({
  line_id: `lin_${n}`,
  kind: 'SPEND',
  merchant: 'Hetzner',
  payee_id: null,
  instrument: 'card:1',
  amount_minor: 1_000 + n,
  currency: 'EUR',
  occurred_at: new Date(1_700_000_000_000 + n * 86_400_000).toISOString(),
  precision: 'SECOND',
  description: null,
  category: null,
  ...more,
});

async function* pagesOf(...pages: readonly (readonly ReplayedLine[])[]) {
  yield* pages;
}

const TWICE = [lineAt(1), lineAt(1, { line_id: 'lin_again' })];

test('jobs get the lines of their pages, sorted, and no others, also where they come at once', async () => {
  const thread = new ReplayThread({ merchants: [] });
  const [none, twice] = await Promise.all([
    thread.run(ANOMALIES, pagesOf([lineAt(3)], [lineAt(2), lineAt(1)])),
    thread.run(ANOMALIES, pagesOf([lineAt(5)], TWICE)),
  ]);
  expect(none).toEqual([]);
  expect(twice).toMatchObject([{ kind: 'DUPLICATE', line_ids: ['lin_1', 'lin_again'] }]);
});

test('a job that fails says why, and the next one works: an error of its lines, of the work, of what cannot be sent', async () => {
  const thread = new ReplayThread({ merchants: [] });
  const broken = (async function* () {
    yield [lineAt(1)];
    throw new Error('the database is gone');
  })();
  await expect(thread.run(ANOMALIES, broken)).rejects.toThrow('the database is gone');
  const unreadable = lineAt(1, { merchant: null as unknown as string });
  await expect(thread.run(ANOMALIES, pagesOf([unreadable, lineAt(2)]))).rejects.toThrow(TypeError);
  const unsent = { ...ANOMALIES, threshold_minor: (() => 1) as unknown as number };
  await expect(thread.run(unsent, pagesOf([lineAt(1)]))).rejects.toThrow('could not be cloned');
  expect(await thread.run(ANOMALIES, pagesOf(TWICE))).toHaveLength(1);
});

test('a thread that runs out of memory fails its jobs and not the process, and the next job starts another', async () => {
  const thread = new ReplayThread({ merchants: [] }, 48);
  const many = (async function* () {
    for (let n = 0; n < 400; n++) {
      yield Array.from({ length: 1_000 }, (_, i) => lineAt(i, { description: `${n} ${i} `.repeat(20) }));
    }
  })();
  await expect(thread.run(ANOMALIES, many)).rejects.toThrow('The thread of replays ended');
  expect(await thread.run(ANOMALIES, pagesOf(TWICE))).toHaveLength(1);
});

test('a job that nobody waits for any more fails with the reason, its lines are not read on, and the next one works', async () => {
  const thread = new ReplayThread({ merchants: [] });
  const left = new AbortController();
  const reason = new Error('the client is gone');
  const read: number[] = [];
  const pages = (async function* () {
    for (let n = 0; n < 5; n++) {
      read.push(n);
      if (n === 2) left.abort(reason);
      yield [lineAt(n)];
    }
  })();
  await expect(thread.run(ANOMALIES, pages, left.signal)).rejects.toBe(reason);
  expect(read).toEqual([0, 1, 2]);
  await expect(thread.run(ANOMALIES, pagesOf(TWICE), left.signal)).rejects.toBe(reason);
  const late = new AbortController();
  const lines = Array.from({ length: 5_000 }, (_, n) => lineAt(n));
  const running = thread.run(ANOMALIES, pagesOf(lines), late.signal);
  late.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(await thread.run(ANOMALIES, pagesOf(TWICE))).toHaveLength(1);
});

test('in the thread a job that is dropped ends at its next turn, and others go on', async () => {
  const answers: FromThread[] = [];
  const endless = makeJobs(
    async (_, lines, goOn) => {
      while (lines.length < 2) await goOn();
      return lines.length;
    },
    nextTurn,
    (answer) => answers.push(answer),
  );
  endless({ id: 1, job: ANOMALIES });
  endless({ id: 1, lines: [lineAt(1)] });
  endless({ id: 1, ends: 'whole' });
  endless({ id: 2, job: ANOMALIES });
  endless({ id: 2, ends: 'dropped' });
  endless({ id: 3, job: ANOMALIES });
  endless({ id: 3, lines: TWICE });
  await nextTurn();
  endless({ id: 1, ends: 'dropped' });
  endless({ id: 3, ends: 'whole' });
  while (answers.length < 2) await nextTurn();
  expect(answers).toEqual(
    expect.arrayContaining([
      { id: 1, error: new Error('The job was dropped.') },
      { id: 3, result: 2 },
    ]),
  );
});
