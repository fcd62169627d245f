import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';

/** A proxy that only passes on: what a gateway costs at the least. A process of its own; it sends its port to its parent. */
const upstream = process.argv[2] as string;
const dispatcher = new Agent({ pipelining: 1 });

const server = createServer(async (message, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const answer = await request(`${upstream}${message.url}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat(chunks),
    dispatcher,
  });
  response.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) });
  response.flushHeaders();
  await pipeline(answer.body, response);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
