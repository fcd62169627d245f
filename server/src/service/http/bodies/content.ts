import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** The sender of a file went away, or was silent for too long. */
export class ContentInterrupted extends Error {
  override name = 'ContentInterrupted';
}

/** A file as it arrives. */
export interface Content {
  /** Its content type, in small letters and without parameters. */
  type: string;
  /** The bytes, as fast as the caller takes them. Throws ContentInterrupted. */
  chunks: AsyncIterable<Uint8Array>;
}

/** A sender that is silent for this long is given up. */
const SILENCE_MS = 30_000;
/** The bytes that are read and dropped of a file that nobody wants, so that its sender gets to read the answer. */
const MAX_DISCARDED = 4 * 1024 * 1024;

/** Requests whose body may take as long as its sender needs. */
const unhurried = new WeakSet<IncomingMessage>();

/** Lets the body of a request arrive without a time limit; its reader watches for silence. */
export function allowLongBody(message: IncomingMessage): void {
  unhurried.add(message);
}

/** True if the body of a request has no time limit. */
export function mayBeLong(message: IncomingMessage): boolean {
  return unhurried.has(message);
}

/** Reads and drops the rest of a body; a sender of more than is dropped is cut off. */
function discard(stream: Readable): void {
  let dropped = 0;
  stream.on('error', () => {});
  stream.on('data', (chunk: Uint8Array) => {
    dropped += chunk.length;
    if (dropped > MAX_DISCARDED) stream.destroy();
  });
  stream.resume();
}

/** Yields the bytes of a body as they arrive. Throws ContentInterrupted where its sender goes away or falls silent. */
export async function* chunksOf(
  stream: Readable,
  silence_ms = SILENCE_MS,
): AsyncGenerator<Uint8Array, void, void> {
  // The connection stays open when the reader stops early, because the answer goes back on it.
  const iterator = stream.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let is_over = false;
  try {
    for (;;) {
      let silence: NodeJS.Timeout | undefined;
      const silent = new Promise<never>((_, reject) => {
        silence = setTimeout(() => reject(new ContentInterrupted('the sender was silent')), silence_ms);
      });
      let next: IteratorResult<Uint8Array>;
      try {
        next = await Promise.race([iterator.next(), silent]);
      } catch (cause) {
        is_over = !(cause instanceof ContentInterrupted);
        throw cause instanceof ContentInterrupted
          ? cause
          : new ContentInterrupted('the connection ended', { cause });
      } finally {
        clearTimeout(silence);
      }
      if (next.done === true) {
        is_over = true;
        return;
      }
      yield next.value;
    }
  } finally {
    if (!is_over) discard(stream);
  }
}

/** A content type in small letters, without its parameters. */
export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
