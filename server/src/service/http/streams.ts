import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Limits } from './admission.ts';
import type { JsonText } from './route.ts';

/** Long answers are written in slices of this many bytes, which shows whether a slow client is receiving them. */
const SLICE_BYTES = 65_536;

type Chunks = AsyncGenerator<string, void, void>;
type DeliveryLimits = Pick<Limits, 'stall_ms' | 'max_delivery_ms'>;

/**
 * Makes the body of an answer of any length: `first`, then the rest of `chunks`, as fast as the client receives it. The
 * connection is closed if the client receives nothing for `stall_ms`, or not everything within `max_delivery_ms`.
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
      // The next slice is asked for once the client has received those before it.
      const stalled = setTimeout(() => raw.destroy(), stall_ms);
      try {
        yield bytes.subarray(at, at + SLICE_BYTES);
      } finally {
        clearTimeout(stalled);
      }
    }
  }
}

/** The length of a whole body in bytes. */
export function bytesOf(body: JsonText): number {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return Buffer.byteLength(body);
  return body.reduce((bytes, slice) => bytes + slice.length, 0);
}

function slicesOf(body: JsonText): readonly Buffer[] {
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return body;
  const bytes = Buffer.from(body);
  const slices: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) slices.push(bytes.subarray(at, at + SLICE_BYTES));
  return slices;
}

/** Sends a complete body within the limits. Returns the number of bytes that the client has not received yet. */
export function writeWhole(raw: ServerResponse, body: JsonText, limits: DeliveryLimits): number {
  // A short body is a single slice, which mostly fits into the socket's buffer.
  if ((typeof body === 'string' || Buffer.isBuffer(body)) && body.length <= SLICE_BYTES) {
    raw.end(body);
  } else {
    const slices = slicesOf(body);
    let next = 0;
    const write = () => {
      while (next < slices.length && !raw.destroyed) {
        const is_taken = raw.write(slices[next]);
        next += 1;
        // What the connection takes at once would otherwise be written as a whole, before anything else is done.
        if (!is_taken && next < slices.length) return onTaken(raw, limits, () => setImmediate(write));
      }
      raw.end();
      if (raw.writableLength > 0) onTaken(raw, limits, () => {});
    };
    write();
    if (next < slices.length) {
      limitDelivery(raw, limits);
      return bytesOf(slices.slice(next)) + raw.writableLength;
    }
  }
  const unsent = raw.writableLength;
  if (unsent > 0) {
    limitDelivery(raw, limits);
    onTaken(raw, limits, () => {});
  }
  return unsent;
}

/**
 * Calls `done` once the client has received what was written or is gone. Closes the connection if it receives nothing.
 */
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
