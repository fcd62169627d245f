import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ContentInterrupted, chunksOf } from './content.ts';

/** Reads a body to its end. Returns what came, and why it ended early. */
async function read(stream: PassThrough, silence_ms?: number): Promise<{ text: string; error?: unknown }> {
  let text = '';
  try {
    for await (const chunk of chunksOf(stream, silence_ms)) text += Buffer.from(chunk).toString();
    return { text };
  } catch (error) {
    return { text, error };
  }
}

test('a body arrives whole, in however many pieces', async () => {
  const stream = new PassThrough();
  stream.write('one,');
  stream.end('two');
  expect(await read(stream)).toEqual({ text: 'one,two' });
});

test('a sender that falls silent is given up, and what came before counts', async () => {
  const stream = new PassThrough();
  stream.write('one,');
  const { text, error } = await read(stream, 20);
  expect([text, error]).toEqual(['one,', new ContentInterrupted('the sender was silent')]);
});

test('a sender that goes away has not sent all', async () => {
  const stream = new PassThrough();
  stream.write('one,');
  setImmediate(() => stream.destroy(new Error('ECONNRESET')));
  const { text, error } = await read(stream);
  expect(text).toBe('one,');
  expect(error).toBeInstanceOf(ContentInterrupted);
});
