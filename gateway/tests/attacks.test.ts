import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ask, calling } from './support/gateway.ts';
import { gatewayTest } from './support/gateway-test.ts';

/** Attempts to make a call cost more than what is set aside for it. The guide lists them. */

const t = gatewayTest({ monthly_budget_minor: 10_000 });
const WINDOW = 200_000;
const reserved = () => t.records('reserve');
const settled = () => t.records('settle');

/** Sends the request target and the headers as they are. */
function raw(method: string, path: string, headers: Record<string, string> = {}, body: string | Buffer = '') {
  const { port } = new URL(t.gateway.url);
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: { authorization: 'Bearer sk_agent', 'content-length': Buffer.byteLength(body), ...headers },
    });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end(body);
  });
}

/** Sends a call whose output is limited in every spelling. */
const limited = (path: string, body: object) =>
  ask(t.gateway.url, path, { model: 'test-model', max_tokens: 9, max_output_tokens: 9, ...body });

describe('input that is not in the body', () => {
  test.each<[string, string, object]>([
    [
      'a URL',
      '/v1/chat/completions',
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x/y.png' } }] }],
      },
    ],
    [
      'a part outside of a list',
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: { type: 'image_url', image_url: { url: 'https://x/y.png' } } }] },
    ],
    [
      'a sound',
      '/v1/chat/completions',
      {
        messages: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] },
        ],
      },
    ],
    [
      'a file',
      '/v1/responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    ],
    [
      'an item outside of a list',
      '/v1/responses',
      { input: { role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] } },
    ],
    [
      'instructions with a file',
      '/v1/responses',
      { input: 'a', instructions: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    ],
    ['an earlier answer', '/v1/responses', { input: 'a', previous_response_id: 'resp_1' }],
    ['a stored conversation', '/v1/responses', { input: 'a', conversation: 'conv_1' }],
    ['a stored prompt', '/v1/responses', { input: 'a', prompt: { id: 'pmpt_1' } }],
    ['stored reasoning', '/v1/responses', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }],
    ['a stored item', '/v1/responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    [
      'a PDF',
      '/v1/messages',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
            ],
          },
        ],
      },
    ],
    [
      'a PDF in the system prompt',
      '/v1/messages',
      { system: [{ type: 'document', source: { type: 'url', url: 'https://x' } }], messages: [] },
    ],
    [
      'a document in a result of a tool',
      '/v1/messages',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }],
              },
            ],
          },
        ],
      },
    ],
    [
      'an image that is none',
      '/v1/messages',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/svg+xml', data: 'AA' } }],
          },
        ],
      },
    ],
  ])('%s counts as the whole context window', async (_, path, body) => {
    const answer = await limited(path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(reserved()[0].input).toBe(WINDOW);
  });

  test.each<[string, string, object]>([
    ['messages that are lists', '/v1/chat/completions', { messages: [[{ role: 'user', content: 'a' }]] }],
    [
      'a part of an unknown type',
      '/v1/messages',
      { messages: [{ role: 'user', content: [{ type: 'new_thing' }] }] },
    ],
    ['an item of an unknown type', '/v1/responses', { input: [{ type: 'new_thing' }] }],
    ['several candidates', '/v1/chat/completions', calling({}, { best_of: 9 })],
    ['other models', '/v1/chat/completions', calling({}, { models: ['dearer'] })],
    ['plugins', '/v1/chat/completions', calling({}, { plugins: [{ id: 'web' }] })],
    [
      'code that the provider runs',
      '/v1/messages',
      calling({}, { tools: [{ type: 'code_execution_20250825', name: 'c' }] }),
    ],
    [
      'a fetch by the provider',
      '/v1/messages',
      calling({}, { tools: [{ type: 'web_fetch_20250910', name: 'f' }] }),
    ],
    [
      'a shell of the provider',
      '/v1/responses',
      { input: 'a', tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
    ],
    ['a tool of MCP', '/v1/responses', { input: 'a', tools: [{ type: 'mcp', server_label: 'x' }] }],
    ['fast answers without a price', '/v1/messages', calling({}, { speed: 'faster' })],
    ['a place without a price', '/v1/messages', calling({}, { inference_geo: 'us' })],
  ])('%s are refused', async (_, path, body) => {
    const answer = await limited(path, body);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.headers.get('x-purser-reason')).toBe('unbounded_request');
    expect([t.provider.calls, reserved()]).toEqual([[], []]);
  });
});

describe('limits on output', () => {
  test.each<[string, unknown]>([
    ['a text', '9'],
    ['a fraction', 9.5],
    ['nothing', 0],
    ['less', -1],
    ['a list', [9]],
    ['an object', {}],
    ['true', true],
  ])('%s is no limit', async (_, limit) => {
    for (const [path, name] of [
      ['/v1/chat/completions', 'max_tokens'],
      ['/v1/chat/completions', 'max_completion_tokens'],
      ['/v1/chat/completions', 'n'],
      ['/v1/responses', 'max_output_tokens'],
      ['/v1/messages', 'max_tokens'],
    ] as const) {
      const answer = await ask(t.gateway.url, path, { ...calling({}), input: 'a', [name]: limit });
      expect([answer.status, answer.headers.get('x-purser-reason')]).toEqual([400, 'invalid_request']);
    }
    expect(t.provider.calls).toEqual([]);
  });

  test('a number that is infinite for one reader is refused, and of two limits the higher one counts', async () => {
    const text = JSON.stringify(calling({ output: 9_000 })).replace('{', '{"max_tokens":1e999,');
    expect((await raw('POST', '/v1/chat/completions', {}, text)).status).toBe(400);
    const both = calling({ output: 9 }, { max_tokens: 50, max_completion_tokens: 4_000, n: 2 });
    expect((await ask(t.gateway.url, '/v1/chat/completions', both)).status).toBe(200);
    expect(reserved()[0].output).toBe(8_000);
  });
});

describe('the request as HTTP', () => {
  test.each([
    ['GET', '/v1/models/..\\files'],
    ['GET', '/v1/models/..\\responses\\resp_1'],
    ['GET', '/v1/models/..'],
    ['GET', '/v1/models/%2e%2e'],
    ['GET', '/v1/models/.%2E'],
    ['GET', '/v1/models/a/../../files'],
    ['GET', '//v1/models'],
    ['GET', '/v1/responses'],
    ['GET', '/v1/files'],
    ['POST', '/v1/batches'],
    ['POST', '/v1/messages/batches'],
    ['POST', '/v1/completions'],
    ['POST', '/v1/images/generations'],
    ['POST', '/v1/responses/compact'],
    ['POST', '/v1/../v1/chat/completions'],
    ['POST', '/V1/chat/completions'],
    ['POST', '/v1/chat/completions/'],
    ['POST', 'http://127.0.0.1/v1/chat/completions'],
    ['PUT', '/v1/chat/completions'],
  ])('%s %s has no route', async (method, path) => {
    const answer = await raw(method, path, {}, method === 'GET' ? '' : JSON.stringify(calling({})));
    expect(answer.status, answer.text).toBe(404);
    expect(t.provider.calls).toEqual([]);
  });

  test('models whose names have colons, dots and dashes are looked up', async () => {
    expect((await raw('GET', '/v1/models/ft:gpt-4.1:acme::a1_b')).status).toBe(200);
  });

  test('the body goes on as JSON in UTF-8, the way it was read', async () => {
    const body = JSON.stringify(calling({ output: 3 }, { max_tokens: 9 }));
    for (const type of [
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'multipart/form-data',
    ]) {
      const answer = await raw(
        'POST',
        '/v1/chat/completions?max_tokens=9999',
        {
          'content-type': type,
          'x-http-method-override': 'GET',
          upgrade: 'websocket',
          connection: 'content-type',
        },
        body,
      );
      expect(answer.status, answer.text).toBe(200);
      expect(t.provider.calls.at(-1)?.headers['content-type']).toBe('application/json');
    }
  });

  test.each<[string, Buffer, Record<string, string>]>([
    ['compressed', Buffer.from('x'), { 'content-encoding': 'gzip' }],
    ['compressed twice', Buffer.from('x'), { 'content-encoding': 'identity, br' }],
    ['UTF-16', Buffer.from(JSON.stringify(calling({})), 'utf16le'), {}],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}],
    ['a list', Buffer.from('[]'), {}],
    ['followed by another', Buffer.from('{"model":"test-model"}{"model":"dearer"}'), {}],
    ['twice the limit', Buffer.from('{"model":"test-model","max_tokens":1,"max_tokens":8000}'), {}],
    [
      'twice the limit by an escape',
      Buffer.from(String.raw`{"model":"test-model","max_tokens":1,"max\u005ftokens":8000}`),
      {},
    ],
  ])('a body that is %s is refused', async (_, body, headers) => {
    const answer = await raw('POST', '/v1/chat/completions', headers, body);
    expect(answer.status, answer.text).toBe(400);
    expect(t.provider.calls).toEqual([]);
  });
});

describe('what the provider reports', () => {
  test('a call in a dearer tier counts in it if the provider names no tier', async () => {
    const body = calling({ output: 100 }, { max_tokens: 100, speed: 'fast' });
    const answer = await ask(t.gateway.url, '/v1/messages', body);
    expect(answer.status, answer.text).toBe(200);
    const output = t.provider.calls[0]?.output ?? 0;
    const cost = Number(answer.headers.get('x-purser-cost')?.split(' ')[0]);
    expect(cost).toBeGreaterThanOrEqual((output * 20) / 1e6);
    const standard = await ask(
      t.gateway.url,
      '/v1/messages',
      calling(
        { output: 100, lies: { speed: 'standard', inference_geo: 'global' } },
        { max_tokens: 100, speed: 'fast' },
      ),
    );
    expect(Number(standard.headers.get('x-purser-cost')?.split(' ')[0])).toBeLessThan(cost);
  });

  test.each<[string, object]>([
    ['less than nothing', { output_tokens: -1 }],
    ['a fraction', { output_tokens: 0.5 }],
    ['a text', { output_tokens: '1' }],
    ['no number', { output_tokens: [] }],
    ['too much to be true', { output_tokens: 1e15 }],
    ['more read from a cache than went in', { cache_read_input_tokens: -9 }],
  ])('%s counts as the worst case', async (_, lies) => {
    for (const stream of [true, false])
      await ask(t.gateway.url, '/v1/messages', calling({ output: 5, lies }, { max_tokens: 50, stream }));
    expect(settled().map(({ uncertain }) => uncertain)).toEqual([true, true]);
  });

  test('of a usage that is reported twice the last one counts, and bytes after the end change nothing', async () => {
    const answer = await ask(
      t.gateway.url,
      '/v1/messages',
      calling({ output: 60, kind: 'messages-thinking' }, { max_tokens: 90, stream: true }),
    );
    expect(answer.status).toBe(200);
    expect(settled()[0]).toMatchObject({ uncertain: false, usage: { output: 60 } });
  });
});
