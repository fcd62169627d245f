// @ts-check
// An agent of the Claude Agent SDK that pays two invoices. Purser allows one and denies the other.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… node agent.mjs
//
// A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
import { createServer } from 'node:http';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { purserHook } from '@purser/agents/claude';
import { Purser } from '@purser/sdk';
import { z } from 'zod';

const number = process.argv[2] ?? '1001';
const INVOICES = [
  {
    invoice: `INV-${number}-A`,
    merchant: 'Hetzner Online',
    amount_minor: 5_440,
    description: 'A server for staging',
  },
  { invoice: `INV-${number}-B`, merchant: 'Amazon', amount_minor: 200_000, description: 'Gift cards' },
];

const model = await scripted(); // a real model: {}, with ANTHROPIC_API_KEY

const purser = new Purser({ apiKey: process.env.PURSER_AGENT_KEY });

/** Where your records say that a merchant is paid. No model writes this. */
const ACCOUNTS = new Map([
  ['Hetzner Online', 'bank:DE01'],
  ['Amazon', 'bank:LU04'],
]);

/** @param {typeof INVOICES[number]} order */
const toSpend = ({ invoice, merchant, amount_minor, description }) => ({
  idempotencyKey: invoice,
  task: 'Pay the invoices',
  action: {
    type: 'purchase',
    merchant,
    amount_minor,
    currency: 'EUR',
    description,
    payee_id: ACCOUNTS.get(merchant),
  },
});

const order = {
  invoice: z.string(),
  merchant: z.string(),
  amount_minor: z.number().describe('in cents'),
  description: z.string(),
};
const pay = tool('pay', 'Pays an invoice', order, async ({ invoice, merchant }) => {
  // Your payment system belongs here.
  console.log(`${invoice}: paid to ${merchant}`);
  return { content: [{ type: 'text', text: 'paid' }] };
});

const conversation = query({
  prompt: `Pay these invoices, then say what became of each: ${JSON.stringify(INVOICES)}`,
  options: {
    ...model,
    mcpServers: { shop: createSdkMcpServer({ name: 'shop', tools: [pay] }) },
    allowedTools: ['mcp__shop__pay'],
    settingSources: [],
    hooks: {
      PreToolUse: [
        purserHook(
          purser,
          { mcp__shop__pay: toSpend },
          { onRefusal: ({ status, reason }) => console.log(`${status}: ${reason}`) },
        ),
      ],
    },
  },
});
for await (const message of conversation) {
  if (message.type === 'result') console.log(message.subtype === 'success' ? message.result : message.errors);
}

/** A server that answers as the Messages API does: it calls `pay` for one invoice after the other. */
async function scripted() {
  const left = [...INVOICES];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const server = createServer(async (request, reply) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const has_tool = Buffer.concat(parts).includes('"mcp__shop__pay"');
    const input = has_tool ? left.shift() : undefined;
    const block =
      input === undefined
        ? { type: 'text', text: 'Done.' }
        : { type: 'tool_use', id: `toolu_${input.invoice}`, name: 'mcp__shop__pay', input };
    const delta =
      input === undefined
        ? { type: 'text_delta', text: 'Done.' }
        : { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      usage,
    };
    const stop_reason = input === undefined ? 'end_turn' : 'tool_use';
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { ...block, text: '', input: {} } },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]) {
      reply.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    reply.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const env = {
    ...process.env,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ENABLE_TOOL_SEARCH: 'false',
  };
  return { env };
}
