// @ts-check
// An agent of the AI SDK that pays two invoices. Purser allows one and denies the other.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… node agent.mjs
//
// A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
import { purserApproval } from '@purser/agents/ai-sdk';
import { Purser } from '@purser/sdk';
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
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

const model = scripted(); // a real model: openai('gpt-5.2'), with import { openai } from '@ai-sdk/openai'

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

const pay = tool({
  description: 'Pays an invoice',
  inputSchema: z.object({
    invoice: z.string(),
    merchant: z.string(),
    amount_minor: z.number().describe('in cents'),
    description: z.string(),
  }),
  execute: async ({ invoice, merchant }) => {
    // Your payment system belongs here.
    console.log(`${invoice}: paid to ${merchant}`);
    return 'paid';
  },
});

const { text } = await generateText({
  model,
  prompt: `Pay these invoices, then say what became of each: ${JSON.stringify(INVOICES)}`,
  tools: { pay },
  stopWhen: isStepCount(10),
  toolApproval: purserApproval(
    purser,
    { pay: toSpend },
    { onRefusal: ({ status, reason }) => console.log(`${status}: ${reason}`) },
  ),
});
console.log(text);

/** A model that calls `pay` for one invoice after the other. */
function scripted() {
  const usage = {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  };
  const left = [...INVOICES];
  return new MockLanguageModelV4({
    /** @returns {Promise<any>} */
    doGenerate: async () => {
      const order = left.shift();
      if (order === undefined) {
        const finishReason = { unified: 'stop', raw: undefined };
        return { content: [{ type: 'text', text: 'Done.' }], finishReason, usage, warnings: [] };
      }
      const call = { toolCallId: order.invoice, toolName: 'pay', input: JSON.stringify(order) };
      const finishReason = { unified: 'tool-calls', raw: undefined };
      return { content: [{ type: 'tool-call', ...call }], finishReason, usage, warnings: [] };
    },
  });
}
