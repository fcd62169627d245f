import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Limits } from './admission.ts';

/** Long answers are handed over in slices of this many bytes, so that a slow client is seen to take them. */
export const SLICE_BYTES = 65_536;

type Chunks = AsyncGenerator<string, void, void>;
type DeliveryLimits = Pick<Limits, 'stall_ms' | 'max_delivery_ms'>;

/**
 * A body of any length, to be sent with `raw` as fast as the client takes it: `first`, then the rest of `chunks`. A
 * client that takes nothing for `stall_ms` or has not all of it after `max_delivery_ms` is cut off.
 */
export function bodyOf(
  raw: ServerResponse,
  first: IteratorResult<string, void>,
  chunks: Chunks,
  limits: DeliveryLimits,
): Readable {
  limitDelivery(raw, limits);
  const body = Readable.from(slices(raw, first, chunks, limits));
  body.once('close', () => {
    if (raw.writableLength > 0 && !raw.destroyed) onTaken(raw, limits, () => {});
  });
  return body;
}

async function* slices(
  raw: ServerResponse,
  first: IteratorResult<string, void>,
  chunks: Chunks,
  { stall_ms }: DeliveryLimits,
): AsyncGenerator<Buffer, void, void> {
  for (let chunk = first; chunk.done !== true; chunk = await chunks.next()) {
    const bytes = Buffer.from(chunk.value);
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      // The next slice is asked for when the client has taken those before it.
      const stalled = setTimeout(() => raw.destroy(), stall_ms);
      try {
        yield bytes.subarray(at, at + SLICE_BYTES);
      } finally {
        clearTimeout(stalled);
      }
    }
  }
}

/** Sends a body that is there as a whole. Gives how many bytes of it the client has still to take; within the limits. */
export function writeWhole(raw: ServerResponse, body: string | Buffer, limits: DeliveryLimits): number {
  // What is short is one slice, and mostly taken at once.
  if (body.length <= SLICE_BYTES) {
    raw.end(body);
  } else {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    let at = 0;
    const write = () => {
      while (at < bytes.length && !raw.destroyed) {
        const is_taken = raw.write(bytes.subarray(at, at + SLICE_BYTES));
        at += SLICE_BYTES;
        if (!is_taken && at < bytes.length) return onTaken(raw, limits, write);
      }
      raw.end();
      if (raw.writableLength > 0) onTaken(raw, limits, () => {});
    };
    write();
    if (at < bytes.length) {
      limitDelivery(raw, limits);
      return bytes.length - at + raw.writableLength;
    }
  }
  const unsent = raw.writableLength;
  if (unsent > 0) {
    limitDelivery(raw, limits);
    onTaken(raw, limits, () => {});
  }
  return unsent;
}

/** Calls `done` once the client has taken what was sent or is gone, and cuts it off when it takes nothing. */
function onTaken(raw: ServerResponse, { stall_ms }: DeliveryLimits, done: () => void): void {
  const settle = () => {
    clearTimeout(stalled);
    raw.off('drain', settle);
    raw.off('close', settle);
    done();
  };
  const stalled = setTimeout(() => raw.destroy(), stall_ms);
  raw.on('drain', settle);
  raw.on('close', settle);
}

function limitDelivery(raw: ServerResponse, { max_delivery_ms }: DeliveryLimits): void {
  const late = setTimeout(() => raw.destroy(), max_delivery_ms);
  raw.once('close', () => clearTimeout(late));
}
