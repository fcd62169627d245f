import { expect, test } from 'vitest';
import { makeWriteHealth } from './write-health.ts';

/** On a clock of its own; each probe takes the next of `results`. */
function makeHealth() {
  let at_ms = 0;
  const results: (Error | null)[] = [];
  let probes = 0;
  const health = makeWriteHealth({
    now_ms: () => at_ms,
    async write() {
      probes += 1;
      const error = results.shift() ?? null;
      if (error !== null) throw error;
    },
  });
  return {
    health,
    results,
    probes: () => probes,
    pass: (ms: number) => {
      at_ms += ms;
    },
  };
}

const FULL = new Error('could not extend file');

test('two failures without a success in between are reported, and the next success ends it', () => {
  const { health } = makeHealth();
  expect(health.check).not.toThrow();
  health.noteFailure(FULL);
  health.noteCommit();
  health.noteFailure(FULL);
  expect(health.check).not.toThrow();
  health.noteFailure(FULL);
  expect(health.check).toThrow(expect.objectContaining({ cause: FULL }));
  health.noteCommit();
  expect(health.check).not.toThrow();
});

test('where nobody writes a probe does, and finds the failure and its end by itself', async () => {
  const { health, results, probes, pass } = makeHealth();
  await health.probe();
  expect(probes()).toBe(0);
  results.push(FULL, FULL);
  pass(30_000);
  await health.probe();
  pass(1_000);
  await health.probe();
  expect([probes(), health.idleSeconds()]).toEqual([1, 31]);
  pass(1_000);
  await health.probe();
  expect(health.check).toThrow();
  pass(2_000);
  await health.probe();
  expect(health.check).not.toThrow();
  expect([probes(), health.idleSeconds()]).toEqual([3, 0]);
});

test('while customers write nothing is probed, however it ends', async () => {
  const { health, probes, pass } = makeHealth();
  for (let second = 0; second < 120; second++) {
    if (second % 2 === 0) health.noteCommit();
    else health.noteFailure(FULL);
    pass(1_000);
    await health.probe();
  }
  expect(probes()).toBe(0);
});
