import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conversation } from '../drivers/driver.ts';

interface Body {
  stream?: boolean;
  tools?: { name: string }[];
  messages?: { role: string; content: string | { type: string; content?: unknown }[] }[];
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
}

/** A server that answers as the Messages API does: with calls of the tool that the script wants. */
export async function serveScriptedModel(next: Conversation['next']) {
  const home = await mkdtemp(join(tmpdir(), 'purser-claude-'));
  let calls = 0;
  const server = createServer(async (request, reply) => {
    const body = await readJson(request);
    const offers_tool = body.tools?.some(({ name }) => name === 'mcp__shop__buy') === true;
    if (!request.url?.startsWith('/v1/messages') || request.url.includes('count_tokens') || !offers_tool) {
      const content = [{ type: 'text', text: 'ok' }];
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ ...message, id: 'msg_other', content, input_tokens: 1 }));
      return;
    }
    const content = body.messages?.findLast(({ role }) => role === 'user')?.content;
    const results = Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [];
    const order = await next(results.length === 0 ? null : JSON.stringify(results));
    const block =
      order === null
        ? { type: 'text', text: 'done' }
        : { type: 'tool_use', id: `toolu_${++calls}`, name: 'mcp__shop__buy', input: order };
    const stop_reason = order === null ? 'end_turn' : 'tool_use';
    if (body.stream !== true) {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ ...message, id: `msg_${calls}`, content: [block], stop_reason }));
      return;
    }
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (type: string, data: object) =>
      reply.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    event('message_start', { message: { ...message, id: `msg_${calls}`, content: [], stop_reason: null } });
    const opened = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} };
    event('content_block_start', { index: 0, content_block: opened });
    const delta =
      block.type === 'text'
        ? { type: 'text_delta', text: 'done' }
        : { type: 'input_json_delta', partial_json: JSON.stringify(order) };
    event('content_block_delta', { index: 0, delta });
    event('content_block_stop', { index: 0 });
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
    event('message_stop', {});
    reply.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    home,
    // Nothing of the machine's own settings: a home and a key that belong to this run alone.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'sk-ant-of-a-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const message = {
  type: 'message',
  role: 'assistant',
  model: 'scripted',
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
