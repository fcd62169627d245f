// @ts-check
// An agent of the OpenAI Agents SDK that pays two invoices. Purser allows one and denies the other.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… node agent.mjs
//
// A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
import { Agent, Runner, tool, Usage } from '@openai/agents';
import { purserGuardrail } from '@purser/agents/openai';
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

const model = scripted(); // a real model: 'gpt-5.2', with OPENAI_API_KEY

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
  name: 'pay',
  description: 'Pays an invoice',
  parameters: z.object({
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
  inputGuardrails: [
    purserGuardrail(purser, toSpend, {
      onRefusal: ({ status, reason }) => console.log(`${status}: ${reason}`),
    }),
  ],
});

const agent = new Agent({ name: 'buyer', model, tools: [pay] });
const prompt = `Pay these invoices, then say what became of each: ${JSON.stringify(INVOICES)}`;
const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, prompt);
console.log(finalOutput);

/**
 * A model that calls `pay` for one invoice after the other.
 * @returns {any}
 */
function scripted() {
  const left = [...INVOICES];
  return {
    async getResponse() {
      const order = left.shift();
      const content = [{ type: 'output_text', text: 'Done.' }];
      const output =
        order === undefined
          ? { type: 'message', role: 'assistant', status: 'completed', content }
          : { type: 'function_call', callId: order.invoice, name: 'pay', arguments: JSON.stringify(order) };
      return { usage: new Usage(), output: [output] };
    },
    getStreamedResponse() {
      throw new Error('This model does not stream');
    },
  };
}
