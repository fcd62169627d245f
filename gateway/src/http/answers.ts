import type { ServerResponse } from 'node:http';
import type { UsageReader } from '../usage/readers.ts';
import { EventCutter } from '../usage/sse.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** How an answer ended for the gateway. */
export interface Delivery {
  /** The provider's answer was read to its end. */
  is_whole: boolean;
  /** It is a JSON error. */
  is_error: boolean;
}

const MAX_WHOLE_BYTES = 64 * 1024 * 1024;

export const isStream = (answer: UpstreamAnswer): boolean =>
  /^text\/event-stream\b/i.test(String(answer.headers['content-type'] ?? ''));

/** Writes, and waits while the client reads slower than the provider writes. Returns false once the client is gone. */
export async function write(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  if (response.destroyed || response.writableEnded) return false;
  if (bytes.length === 0 || response.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
  return !response.destroyed;
}

/**
 * Passes a stream on as it comes, and reads its usage. Takes out the event of the usage alone if the gateway asked for it.
 * Reads on when the client is gone, unless `drains` is false. Never rejects.
 */
export async function passStream(
  answer: UpstreamAnswer,
  response: ServerResponse,
  reader: UsageReader,
  options: { removes_usage: boolean; drains: boolean },
): Promise<Delivery> {
  const cutter = new EventCutter();
  let is_there = true;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      const kept: Buffer[] = [];
      for (const { bytes, data } of cutter.push(chunk)) {
        const is_usage_alone = reader.event(data);
        if (!(options.removes_usage && is_usage_alone)) kept.push(bytes);
      }
      if (is_there) is_there = await write(response, options.removes_usage ? Buffer.concat(kept) : chunk);
      if (!is_there && !options.drains) return { is_whole: false, is_error: false };
    }
    if (options.removes_usage && is_there) await write(response, cutter.end());
    response.end();
    return { is_whole: true, is_error: false };
  } catch {
    // The provider or the time limit cut it off, so the client's answer is cut off, too.
    response.destroy();
    return { is_whole: false, is_error: false };
  }
}

/** Reads an answer that is not streamed. Undefined if it was cut off; then `response` is, too. */
export async function readWhole(
  answer: UpstreamAnswer,
  response: ServerResponse,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_WHOLE_BYTES) throw new Error('The answer is too large.');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    response.destroy();
    return undefined;
  }
}

/** Reads the usage of a whole answer. Returns true if it is the provider's error, in JSON. */
export function readUsage(status: number, body: Buffer, reader: UsageReader): boolean {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return false;
  }
  if (status >= 400) return typeof parsed === 'object' && parsed !== null && 'error' in parsed;
  reader.whole(parsed);
  return false;
}
