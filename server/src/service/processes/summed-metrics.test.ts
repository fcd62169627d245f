import { Counter, Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { makeCombinedMetrics } from './summed-metrics.ts';

/** A process that counts `count` and holds `held`. */
function makeCounting(count: number, held: number): Registry {
  const registry = new Registry();
  new Counter({ name: 'counted_total', help: 'c', registers: [registry] }).inc(count);
  new Gauge({ name: 'held', help: 'h', registers: [registry] }).set(held);
  return registry;
}

test('counters of an ended process stay in the sums, once; what it held does not; one that is silent counts as it last told', async () => {
  const processes = new Map([
    [1, makeCounting(5, 2)],
    [2, makeCounting(7, 3)],
  ]);
  const silent = new Set<number>();
  const summed = makeCombinedMetrics(
    (of, id) => {
      if (silent.has(of)) return;
      void processes
        .get(of)
        ?.getMetricsAsJSON()
        .then((metrics) => summed.counted(of, id, metrics));
    },
    async () => [],
  );
  const sums = async () => {
    const text = await summed.text([...processes.keys()]);
    return [/^counted_total (\d+)$/m, /^held (\d+)$/m].map((line) => Number(line.exec(text)?.[1]));
  };
  expect(await sums()).toEqual([12, 5]);
  processes.delete(1);
  const meanwhile = summed.ended(1);
  expect((await sums())[0]).toBe(12);
  await meanwhile;
  expect(await sums()).toEqual([12, 3]);
  processes.set(3, makeCounting(1, 1));
  expect(await sums()).toEqual([13, 4]);
  // It ends with the question under way, which is then not waited for.
  silent.add(3);
  const asked = sums();
  processes.delete(3);
  await summed.ended(3);
  expect((await asked)[0]).toBe(13);
  expect(await sums()).toEqual([13, 3]);
});
