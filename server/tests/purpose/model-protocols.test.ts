import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addressFor, protocolFor } from '../../src/service/model-judge/addresses.ts';
import { type ModelClient, makeModelClient } from '../../src/service/model-judge/model-client.ts';
import { probe, startProbing } from '../../src/service/model-judge/probe.ts';
import { promptFor } from '../../src/service/model-judge/prompt.ts';
import { PROTOCOLS, type ProtocolName, type Question } from '../../src/service/model-judge/protocols.ts';
import { type Behaviour, type ModelServer, sends, startModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';

/** The protocols of the providers, in the shapes that their servers send. */

const SEEN = {
  purpose: { 'purpose.objective': 'Run the staging servers.' },
  spend: { 'action.merchant': 'Nintendo' },
  cut: false,
  marked: [],
};
const EXAMPLES = [{ spend: { 'action.merchant': 'Hetzner' }, label: 'PURPOSE_ALIGNED' as const }];
const PROMPT = promptFor(SEEN, { examples: EXAMPLES, nonce: 'nonce', examples_code: 'code' });
const QUESTION: Question = {
  prompt: PROMPT,
  model: 'judge-1',
  parameters: { temperature: 0, max_tokens: 500, seed: 7 },
  form: { output: 'schema', is_lean: false },
};
const OPINION = { rationale: 'Toys.', evidence: [], assessment: 'PURPOSE_MISALIGNED', confidence: 0.9 };

/** A whole answer of each provider. */
const ANSWERS: Record<ProtocolName, (opinion: object) => unknown> = {
  chat: (opinion) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'judge-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: JSON.stringify(opinion), refusal: null },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 900,
      completion_tokens: 60,
      total_tokens: 960,
      prompt_tokens_details: { cached_tokens: 500 },
    },
  }),
  responses: (opinion) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: JSON.stringify(opinion), annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 900,
      input_tokens_details: { cached_tokens: 500 },
      output_tokens: 60,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 960,
    },
  }),
  anthropic: (opinion) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'judge-1',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'purpose_opinion', input: opinion }],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 100,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 500,
      output_tokens: 60,
    },
  }),
};
const answers = (protocol: ProtocolName, opinion: object = OPINION): Behaviour =>
  sends(JSON.stringify(ANSWERS[protocol](opinion)));

let server: ModelServer;
let client: ModelClient;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.questions.length = 0;
});
afterEach(() => client?.stop());

function clientOf(name: ProtocolName): ModelClient {
  const protocol = protocolFor(server.url, name);
  client = makeModelClient({
    address: addressFor(server.url, protocol),
    protocol,
    api_key: 'sk-model-key',
    connections: 4,
    connect_ms: 30_000,
    clock_ms: () => 0,
  });
  return client;
}

/** A probe that waits for no model. */
const HASTY = { is_patient: false, wait: async () => {} };

describe('the address', () => {
  test.each([
    ['https://models.example', 'chat', 'https://models.example/v1/chat/completions'],
    ['https://models.example/', 'chat', 'https://models.example/v1/chat/completions'],
    ['https://models.example/v1', 'chat', 'https://models.example/v1/chat/completions'],
    ['https://models.example/openai/v1/', 'chat', 'https://models.example/openai/v1/chat/completions'],
    ['https://models.example/v1/chat/completions', 'chat', 'https://models.example/v1/chat/completions'],
    ['https://models.example/v1/chat/completions/', 'chat', 'https://models.example/v1/chat/completions/'],
    [
      'https://models.example/v1?api-version=1#x',
      'chat',
      'https://models.example/v1/chat/completions?api-version=1',
    ],
    ['https://models.example/v1/responses', 'responses', 'https://models.example/v1/responses'],
    ['https://models.example/v1/messages', 'anthropic', 'https://models.example/v1/messages'],
    ['https://api.openai.com', 'responses', 'https://api.openai.com/v1/responses'],
    ['https://api.openai.com/v1/chat/completions', 'chat', 'https://api.openai.com/v1/chat/completions'],
    ['https://api.anthropic.com', 'anthropic', 'https://api.anthropic.com/v1/messages'],
  ])('%s means %s at %s', (url, name, address) => {
    const protocol = protocolFor(url, 'auto');
    expect([protocol.name, addressFor(url, protocol).href]).toEqual([name, address]);
  });

  test('goes by the protocol that is named', () => {
    const protocol = protocolFor('https://gateway.example/claude', 'anthropic');
    expect(addressFor('https://gateway.example/claude', protocol).pathname).toBe('/claude/messages');
  });
});

describe.each(PROTOCOLS)('%s', (name) => {
  test('gives the opinion and what it cost', async () => {
    server.behave(answers(name));
    const found = await clientOf(name).ask(QUESTION, 30_000);
    expect(found).toMatchObject({
      kind: 'answered',
      usage: { input_tokens: 900, cached_tokens: 500, output_tokens: 60 },
    });
    const { content } = found as { content: string | object };
    expect(typeof content === 'string' ? JSON.parse(content) : content).toEqual(OPINION);
  });

  test("is asked with the operator's words as the system's part, and the spend as the end of the user's", async () => {
    server.behave(answers(name));
    await clientOf(name).ask(QUESTION, 30_000);
    const [question] = server.questions;
    const { system, instructions, messages } = question?.body ?? {};
    const of_system = instructions ?? system?.[0]?.text ?? messages?.[0]?.content;
    expect(of_system).toBe(PROMPT.system);
    expect(question?.spend).toEqual(SEEN.spend);
    expect(question?.body).toMatchObject({ model: 'judge-1', seed: 7, temperature: 0, stream: false });
  });

  test.each([
    ['a refusal', { choices: [{ message: { refusal: 'no', content: null } }] }],
    ['an error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['nothing', {}],
    ['empty lists', { choices: [], output: [], content: [] }],
    ['other things', { choices: 1, output: 'x', content: [null, { type: 'image' }], usage: 7 }],
    [
      'an answer cut short',
      {
        status: 'incomplete',
        output: [{ type: 'message', content: [{ type: 'output_text', text: '{"ration' }] }],
        choices: null,
      },
    ],
    ['a refusal in parts', { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'no' }] }] }],
  ])('is not understood where it sends %s', async (_, body) => {
    server.behave(sends(JSON.stringify(body)));
    expect((await clientOf(name).ask(QUESTION, 30_000)).kind).toBe('not_understood');
  });
});

describe('the form', () => {
  const bodyOf = async (name: ProtocolName, change: Partial<Question> = {}) => {
    server.behave(answers(name));
    await clientOf(name).ask({ ...QUESTION, ...change }, 30_000);
    return server.questions.at(-1)?.body;
  };

  test('of chat is a schema, and leaner for models that refuse the rest', async () => {
    expect(await bodyOf('chat')).toMatchObject({
      max_tokens: 500,
      response_format: { type: 'json_schema', json_schema: { strict: true } },
    });
    const lean = await bodyOf('chat', { form: { output: 'object', is_lean: true } });
    expect(lean).toMatchObject({ max_completion_tokens: 500, response_format: { type: 'json_object' } });
    expect(lean).not.toHaveProperty('temperature');
    expect(lean).not.toHaveProperty('max_tokens');
    expect(await bodyOf('chat', { form: { output: 'words', is_lean: false } })).not.toHaveProperty(
      'response_format',
    );
  });

  test('of responses is a schema too, and nothing is kept there', async () => {
    const body = await bodyOf('responses');
    expect(body).toMatchObject({
      max_output_tokens: 500,
      store: false,
      text: { format: { type: 'json_schema' } },
    });
    expect(server.questions[0]?.headers.authorization).toBe('Bearer sk-model-key');
  });

  test('of anthropic is a tool that must be used, with a prefix that is cached', async () => {
    const body = await bodyOf('anthropic');
    expect(body.tool_choice).toMatchObject({ type: 'tool', name: body.tools[0].name });
    expect(body.system[0].cache_control).toEqual({ type: 'ephemeral' });
    expect(body.messages[0].content.map((part: object) => 'cache_control' in part)).toEqual([true, false]);
    expect(server.questions[0]?.headers).toMatchObject({
      'x-api-key': 'sk-model-key',
      'anthropic-version': '2023-06-01',
    });
    expect(server.questions[0]?.headers.authorization).toBeUndefined();
    expect(await bodyOf('anthropic', { parameters: {} })).toHaveProperty('max_tokens');
  });
});

describe('the probe', () => {
  const options = (name: ProtocolName) => ({
    client: clientOf(name),
    model: 'judge-1',
    parameters: QUESTION.parameters,
    timeout_ms: 30_000,
    newNonce: () => 'nonce',
    now_ms: () => 0,
  });

  test.each(PROTOCOLS)('asks %s once where it works', async (name) => {
    server.behave(answers(name));
    expect(await probe(options(name))).toMatchObject({
      kind: 'works',
      is_right: true,
      form: { output: 'schema', is_lean: false },
    });
    expect(server.questions).toHaveLength(1);
  });

  test('finds the form of an endpoint that takes no schema, no temperature and no max_tokens', async () => {
    server.behave((response, question) => {
      const { temperature, max_tokens, response_format } = question.body;
      const is_refused = temperature !== undefined || max_tokens !== undefined;
      if (is_refused || response_format?.type === 'json_schema') response.writeHead(400).end('{}');
      else answers('chat')(response, question);
    });
    expect(await probe(options('chat'))).toMatchObject({
      kind: 'works',
      form: { output: 'object', is_lean: true },
    });
  });

  test('finds the form of an endpoint that answers a schema with prose', async () => {
    server.behave((response, question) => {
      if (question.body.tools !== undefined)
        sends(JSON.stringify({ content: [{ type: 'text', text: 'Sure!' }] }))(response, question);
      else {
        const text = `\`\`\`json\n${JSON.stringify(OPINION)}\n\`\`\``;
        sends(JSON.stringify({ content: [{ type: 'text', text }] }))(response, question);
      }
    });
    expect(await probe(options('anthropic'))).toMatchObject({ kind: 'works', form: { output: 'words' } });
  });

  test('tells a model that is wrong about what nobody doubts', async () => {
    server.behave(answers('chat', { ...OPINION, assessment: 'PURPOSE_ALIGNED' }));
    expect(await probe(options('chat'))).toMatchObject({ kind: 'works', is_right: false });
  });

  test.each([401, 404, 429, 500])('ends at a %i, which no other form mends', async (status) => {
    server.behave((response) => response.writeHead(status).end());
    expect(await probe(options('chat'))).toMatchObject({
      kind: 'fails',
      answer: { kind: 'http_error', status },
    });
    expect(server.questions).toHaveLength(1);
  });

  test('is made again only where a spend was refused, half a minute later, and until a form is known', async () => {
    let now_ms = 0;
    const log = { info() {}, warn() {} };
    server.behave((response) => response.writeHead(503).end());
    const probing = startProbing({ ...options('chat'), now_ms: () => now_ms, log, ...HASTY });
    await probing.first;
    probing.noteRefused();
    expect(server.questions).toHaveLength(1);
    now_ms += 30_000;
    server.behave((response, question) => {
      if (question.body.temperature === undefined) answers('chat')(response, question);
      else response.writeHead(400).end();
    });
    probing.noteRefused();
    probing.noteRefused();
    await until(() => probing.form().is_lean);
    now_ms += 30_000;
    probing.noteRefused();
    expect(server.questions).toHaveLength(3);
  });

  test('says in one line what it found, and never the key or the question', async () => {
    const lines: string[] = [];
    const note = (level: string) => (details: object, message: string) =>
      lines.push(`${level} ${message} ${JSON.stringify(details)}`);
    const log = { info: note('info'), warn: note('warn') };
    const found = async (behaviour: Behaviour) => {
      server.behave(behaviour);
      const probing = startProbing({ ...options('chat'), log, ...HASTY });
      await probing.first;
      await client.stop();
    };
    await found(answers('chat'));
    await found(answers('chat', { ...OPINION, assessment: 'PURPOSE_ALIGNED' }));
    await found((response) => response.writeHead(401).end());
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^info the purpose model works.*"protocol":"chat","output":"schema"/);
    expect(lines[1]).toMatch(/^warn .*wrong about a clearly misaligned spend/);
    expect(lines[2]).toMatch(/^warn the purpose model does not work.*"status":401/);
    expect(lines.join()).not.toMatch(/sk-model-key|Toy World/);
  });
});
