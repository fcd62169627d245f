import { inspect } from 'node:util';

/** As they are before a test puts its own clock in their place. */
const { setTimeout: later } = globalThis;
const now = performance.now.bind(performance);

/** A bound for what hangs, below that of a test, so that a failure tells what was waited for. */
const HANGS_MS = 300_000;

/**
 * Resolves with what `look` gives as soon as that is something. Anything may take its time on a busy machine: only
 * what does not come about in five minutes is given up, with what was looked for and what was seen last.
 */
export async function until<T>(look: () => T | Promise<T>, every_ms = 10): Promise<NonNullable<T>> {
  const began_ms = now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (now() - began_ms > HANGS_MS)
      throw new Error(`never came about: ${look}\nseen last: ${inspect(found)}`);
    await new Promise((wait) => later(wait, every_ms));
  }
}
