import type { ServerResponse } from 'node:http';

/** A client that takes nothing of a long answer for this long is given up. */
const STALLED_MS = 30_000;

type Chunks = AsyncGenerator<string, void, void>;

/**
 * Writes a body as fast as the client takes it, and always ends the generator. When that fails the connection is
 * cut, so that nobody takes a part for the whole, and the failure is thrown. A client that goes is no failure.
 */
export async function writeAll(
  raw: ServerResponse,
  first: IteratorResult<string, void>,
  chunks: Chunks,
): Promise<void> {
  try {
    for (let chunk = first; chunk.done !== true; chunk = await chunks.next()) {
      if (raw.destroyed) return;
      if (!raw.write(chunk.value)) await drained(raw);
    }
    raw.end();
  } catch (error) {
    raw.destroy();
    throw error;
  } finally {
    await chunks.return();
  }
}

/** Waits until the client has taken what was sent; one that takes nothing any more is cut off. */
function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(stalled);
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    const stalled = setTimeout(() => raw.destroy(), STALLED_MS);
    raw.once('drain', done);
    raw.once('close', done);
  });
}
