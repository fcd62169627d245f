import { expect, test } from 'vitest';
import { makeBatchLoader, makeWorkspaceBatchLoader } from './batch-loader.ts';

/** A database that answers when told to. */
function fakeLoad() {
  const asked: string[][] = [];
  const open: { answer: (found: Map<string, string>) => void; fail: (error: Error) => void }[] = [];
  return {
    asked,
    open,
    load: (wanted: readonly string[]) => {
      asked.push([...wanted]);
      return new Promise<Map<string, string>>((answer, fail) => open.push({ answer, fail }));
    },
    answerAll() {
      const wanted = asked.at(-1) ?? [];
      open.shift()?.answer(new Map(wanted.filter((id) => id !== 'none').map((id) => [id, `row ${id}`])));
    },
    failAll: (message: string) => open.shift()?.fail(new Error(message)),
  };
}
const keyOf = (id: string) => id;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('the first request loads at once, later ones load together after it, and each gets its own value', async () => {
  const db = fakeLoad();
  const find = makeBatchLoader({ keyOf, load: db.load, max_batch: 10, max_waiting: 10 });
  const first = find('a');
  const later = [find('b'), find('none'), find('b'), find('a')];
  expect(db.asked).toEqual([['a']]);
  db.answerAll();
  expect(await first).toBe('row a');
  await settle();
  // Asked again although it was just read: it may have changed.
  expect(db.asked).toEqual([['a'], ['b', 'none', 'a']]);
  db.answerAll();
  expect(await Promise.all(later)).toEqual(['row b', undefined, 'row b', 'row a']);
});

test('a batch has at most max_batch keys, in the order in which they were requested', async () => {
  const db = fakeLoad();
  const find = makeBatchLoader({ keyOf, load: db.load, max_batch: 2, max_waiting: 10 });
  const all = ['a', 'b', 'c', 'd'].map((id) => find(id));
  for (let i = 0; i < 3; i++) {
    db.answerAll();
    await settle();
  }
  expect(db.asked).toEqual([['a'], ['b', 'c'], ['d']]);
  expect(await Promise.all(all)).toEqual(['row a', 'row b', 'row c', 'row d']);
});

test('a failed batch fails only its own requests, and is reported once', async () => {
  const db = fakeLoad();
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const find = makeBatchLoader({ keyOf, load: db.load, max_batch: 10, max_waiting: 10, onFailure });
  void find('a');
  const failing = Promise.allSettled([find('b'), find('c')]);
  db.answerAll();
  await settle();
  db.failAll('connection timeout');
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(failures).toEqual([new Error('connection timeout')]);
  const next = find('b');
  db.answerAll();
  expect(await next).toBe('row b');
});

test('if one row of a batch cannot be read, the others are still returned', async () => {
  const db = fakeLoad();
  const failures: string[] = [];
  const onFailure = (error: unknown) => failures.push((error as Error).message);
  const find = makeBatchLoader({ keyOf, load: db.load, max_batch: 10, max_waiting: 10, onFailure });
  void find('a');
  const all = Promise.allSettled([find('b'), find('broken'), find('c')]);
  db.answerAll();
  await settle();
  db.failAll('bad row');
  await settle();
  db.answerAll();
  await settle();
  db.failAll('bad row');
  await settle();
  db.answerAll();
  expect(db.asked).toEqual([['a'], ['b', 'broken', 'c'], ['b'], ['broken'], ['c']]);
  expect(await all).toEqual([
    { status: 'fulfilled', value: 'row b' },
    { status: 'rejected', reason: new Error('bad row') },
    { status: 'fulfilled', value: 'row c' },
  ]);
  expect(failures).toEqual(['bad row', 'bad row']);
});

test('up to max_concurrent batches load at a time, so that a batch that hangs does not block the others', async () => {
  const db = fakeLoad();
  const find = makeBatchLoader({ keyOf, load: db.load, max_batch: 10, max_waiting: 10, max_concurrent: 2 });
  void find('hangs');
  const second = find('b');
  void find('c');
  expect(db.asked).toEqual([['hangs'], ['b']]);
  db.open[1]?.answer(new Map([['b', 'row b']]));
  expect(await second).toBe('row b');
  await settle();
  expect(db.asked).toEqual([['hangs'], ['b'], ['c']]);
});

test('requests beyond max_waiting are refused, and those that wait already are still answered', async () => {
  const db = fakeLoad();
  const find = makeBatchLoader({ keyOf, load: db.load, max_batch: 10, max_waiting: 2 });
  const kept = [find('a'), find('b'), find('c')];
  await expect(find('d')).rejects.toMatchObject({ code: 'unavailable', status: 503, retry_after_s: 1 });
  const again = find('b');
  db.answerAll();
  await settle();
  db.answerAll();
  expect(await Promise.all([...kept, again])).toEqual(['row a', 'row b', 'row c', 'row b']);
});

test('a workspace neither waits for another workspace nor sees its values', async () => {
  const dbs = new Map(['ws_1', 'ws_2'].map((id) => [id, fakeLoad()]));
  const of = (id: string) => dbs.get(id) as ReturnType<typeof fakeLoad>;
  const find = makeWorkspaceBatchLoader((workspace_id) => ({
    keyOf,
    load: async (wanted: readonly string[]) => {
      const found = await of(workspace_id).load(wanted);
      return new Map([...found].map(([name, row]) => [name, `${workspace_id} ${row}`]));
    },
    max_batch: 10,
    max_waiting: 10,
  }));
  const slow = find('ws_1', 'a');
  const quick = find('ws_2', 'a');
  expect([of('ws_1').asked, of('ws_2').asked]).toEqual([[['a']], [['a']]]);
  of('ws_2').answerAll();
  expect(await quick).toBe('ws_2 row a');
  const again = find('ws_2', 'b');
  expect(of('ws_2').asked).toEqual([['a'], ['b']]);
  of('ws_2').answerAll();
  of('ws_1').answerAll();
  expect([await slow, await again]).toEqual(['ws_1 row a', 'ws_2 row b']);
});
