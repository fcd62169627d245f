import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { type FakeProvider, startFakeProvider } from './support/fake-provider.ts';
import { type ServedPurser, serveFakePurser } from './support/fake-purser.ts';
import { ask, calling, startTestGateway, type TestGateway } from './support/gateway.ts';
import { STREAM_KINDS, type StreamKind } from './support/provider-answers.ts';

const ANSWERS = Number(process.env.GATEWAY_RUNS);

let provider: FakeProvider;
let purser: ServedPurser;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startFakeProvider();
  purser = await serveFakePurser();
  gateway = await startTestGateway(purser.url, provider);
});
afterAll(async () => {
  await gateway.remove();
  await purser.stop();
  await provider.stop();
});

/** Numbers below 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}

const pathOf = (kind: StreamKind) =>
  kind.startsWith('chat')
    ? '/v1/chat/completions'
    : kind.startsWith('responses')
      ? '/v1/responses'
      : '/v1/messages';

function bodyOf(
  kind: StreamKind,
  wish: object,
  stream: boolean,
  asks_usage: boolean,
): Record<string, unknown> {
  const said = JSON.stringify({ ...wish, kind });
  const more = { model: 'test-model', ...(stream && { stream }) };
  if (kind.startsWith('responses')) return { ...more, input: said, max_output_tokens: 500 };
  const options = asks_usage && kind.startsWith('chat') ? { stream_options: { include_usage: true } } : {};
  return { ...more, messages: [{ role: 'user', content: said }], max_tokens: 500, ...options };
}

/** The event of a chat completion that has the usage and nothing else. */
const USAGE_EVENT = /data: \{[^\n]*"choices":\[\],"usage":[^\n]*?(?:\r\n\r\n|\n\n)/;

test('answers of seven kinds, cut at random bytes, arrive byte for byte, with every usage counted', async () => {
  const random = numbers(35);
  const count = (name: string) => gateway.journal().split(`"t":"${name}"`).length - 1;
  const settled_before = count('settle');
  for (let n = 0; n < ANSWERS; n++) {
    const kind = STREAM_KINDS[n % STREAM_KINDS.length] as StreamKind;
    const cuts = Array.from({ length: Math.floor(random() * 12) }, () => Math.floor(random() * 3000));
    const stream = random() < 0.85;
    const asks_usage = random() < 0.5;
    const wish = { output: Math.floor(random() * 60), cuts, text: 'Ä 🙂 \\ " \u2028' };
    const answer = await ask(gateway.url, pathOf(kind), bodyOf(kind, wish, stream, asks_usage));
    const [call] = provider.calls.splice(0);
    const sent = call?.answer ?? 'nothing';
    const is_removed = stream && kind.startsWith('chat') && !asks_usage;
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(is_removed ? sent.replace(USAGE_EVENT, '') : sent);
    if (is_removed) expect(sent).toMatch(USAGE_EVENT);
    expect(answer.headers.has('x-purser-cost')).toBe(!stream);
    expect(answer.headers.has('x-purser-max-tokens')).toBe(false);
  }
  await until(() => count('settle') - settled_before === ANSWERS);
  expect(gateway.journal()).not.toContain('"uncertain":true');
});

test('the client of OpenAI works unchanged', async () => {
  const client = new OpenAI({ apiKey: 'sk_agent', baseURL: `${gateway.url}/v1` });
  const messages = calling({ output: 5 }).messages as { role: 'user'; content: string }[];
  const whole = await client.chat.completions.create({ model: 'test-model', messages });
  expect(whole.choices[0]?.message.content).toContain('word');
  expect(whole.usage?.completion_tokens).toBe(5);

  const stream = await client.chat.completions.create({ model: 'test-model', messages, stream: true });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  // The usage that the gateway asked for is its own.
  expect(chunks.every(({ choices, usage }) => choices.length > 0 && (usage ?? null) === null)).toBe(true);
  const asked = await client.chat.completions.create({
    model: 'test-model',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of asked) usage = chunk.usage ?? usage;
  expect(usage?.completion_tokens).toBe(5);

  const response = await client.responses.create({
    model: 'test-model',
    input: JSON.stringify({ output: 5 }),
  });
  expect(response.output_text).toContain('word');
  const events = [];
  for await (const event of await client.responses.create({ model: 'test-model', input: '{}', stream: true }))
    events.push(event.type);
  expect(events.at(-1)).toBe('response.completed');
  const embedded = await client.embeddings.create({
    model: 'test-model',
    input: 'a',
    encoding_format: 'float',
  });
  expect(embedded.data[0]?.embedding).toEqual([0.5]);
  const refused = client.chat.completions.create({ model: 'other', messages });
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'price_unknown', param: 'model' });
});

test('the client of Anthropic works unchanged', async () => {
  const client = new Anthropic({ apiKey: 'sk_agent', baseURL: gateway.url });
  const messages = calling({ output: 5 }).messages as { role: 'user'; content: string }[];
  const whole = await client.messages.create({ model: 'test-model', max_tokens: 100, messages });
  expect(whole.usage.output_tokens).toBe(5);
  const final = await client.messages
    .stream({ model: 'test-model', max_tokens: 100, messages })
    .finalMessage();
  expect(final.content[0]).toMatchObject({ type: 'text' });
  expect(final.usage.output_tokens).toBe(5);
  const counted = await client.messages.countTokens({ model: 'test-model', messages });
  expect(counted.input_tokens).toBe(42);
  const refused = client.messages.create({
    model: 'test-model',
    max_tokens: 100,
    messages,
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  });
  await expect(refused).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
});

test('a client of OpenAI gives up at once when the budget is used up, and comes back when it is in use', async () => {
  const poor = await serveFakePurser({ monthly_budget_minor: 1 });
  const other = await startTestGateway(poor.url, provider, { LEASE_IDLE_SECONDS: '1' });
  try {
    const client = new OpenAI({ apiKey: 'sk_agent', baseURL: `${other.url}/v1`, maxRetries: 8 });
    const wish = { output: 900 };
    const call = () =>
      client.chat.completions.create({
        ...{
          model: 'test-model',
          max_tokens: 950,
          messages: calling(wish).messages as { role: 'user'; content: string }[],
        },
      });
    await call();
    const asked_before = poor.asked.filter((path) => path === '/v1/decisions').length;
    await expect(call()).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    expect(poor.asked.filter((path) => path === '/v1/decisions').length).toBeGreaterThan(asked_before);
    expect(poor.counted()).toBe(1);
  } finally {
    await other.remove();
    await poor.stop();
  }
});

test('a slow reader slows the provider down', async () => {
  const body = bodyOf('chat', { output: 40, text: 'x'.repeat(24 * 1024 * 1024) }, true, true);
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_agent' },
    body: JSON.stringify(body),
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
  expect(bytes).toBe(Buffer.byteLength(provider.calls.at(-1)?.answer ?? ''));
});

test('a client that leaves a long answer of a free route unread leaves no call open', async () => {
  const part = Buffer.alloc(256 * 1024, ' ');
  let sent = 0;
  const endless = createServer((_, response) => {
    const more = () => {
      do sent += 1;
      while (response.write(part));
    };
    response.on('drain', more);
    more();
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  const slow = await startTestGateway(purser.url, { url });
  onTestFinished(async () => {
    endless.closeAllConnections();
    endless.close();
    await slow.remove();
  });
  const leaving = new AbortController();
  const headers = { authorization: 'Bearer sk_agent' };
  await fetch(`${slow.url}/v1/models`, { headers, signal: leaving.signal });
  // Once the provider can send no more, the gateway waits for the client.
  let before = 0;
  await until(() => {
    const is_full = sent === before;
    before = sent;
    return is_full;
  }, 200);
  leaving.abort();
  await until(async () =>
    (await (await fetch(`${slow.url}/metrics`)).text()).includes('purser_gateway_calls_open 0\n'),
  );
});
