import { inspect } from 'node:util';
import { afterAll, vi } from 'vitest';

/** As they are before a test puts its own clock in their place. */
const { setTimeout: later } = globalThis;
const now = performance.now.bind(performance);

/** A bound for what hangs, below that of a test, so that a failure says what was waited for. */
const HANGS_MS = 50_000;
let hangs_ms = HANGS_MS;

/**
 * Gives the tests and hooks of the file this long in place of a minute, and `until` a little less. For files whose work
 * takes over 5 s on a quiet machine: on a busy one everything takes ten times as long. Call it before the first test.
 */
export function takesMinutes(minutes: number): void {
  const timeout_ms = minutes * 60_000;
  vi.setConfig({ testTimeout: timeout_ms, hookTimeout: timeout_ms });
  hangs_ms = timeout_ms - 10_000;
  afterAll(() => {
    hangs_ms = HANGS_MS;
  });
}

/**
 * Resolves with what `look` gives as soon as that is something. Anything may take its time on a busy machine: only
 * what does not come about within the bound of the file is given up, with what was looked for and what was seen last.
 */
export async function until<T>(look: () => T | Promise<T>, every_ms = 10): Promise<NonNullable<T>> {
  const began_ms = now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (now() - began_ms > hangs_ms)
      throw new Error(`never came about: ${look}\nseen last: ${inspect(found)}`);
    await new Promise((wait) => later(wait, every_ms));
  }
}
