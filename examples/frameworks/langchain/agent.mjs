// @ts-check
// An agent of LangChain that pays two invoices. Purser allows one and denies the other.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… node agent.mjs
//
// A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
import { purserMiddleware } from '@purser/agents/langchain';
import { Purser } from '@purser/sdk';
import { AIMessage, createAgent, fakeModel, tool } from 'langchain';
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

const model = scripted(); // a real model: 'openai:gpt-5.2', after npm install @langchain/openai

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

const pay = tool(
  ({ invoice, merchant }) => {
    // Your payment system belongs here.
    console.log(`${invoice}: paid to ${merchant}`);
    return 'paid';
  },
  {
    name: 'pay',
    description: 'Pays an invoice',
    schema: z.object({
      invoice: z.string(),
      merchant: z.string(),
      amount_minor: z.number().describe('in cents'),
      description: z.string(),
    }),
  },
);

const agent = createAgent({
  model,
  tools: [pay],
  middleware: [
    purserMiddleware(
      purser,
      { pay: toSpend },
      { onRefusal: ({ status, reason }) => console.log(`${status}: ${reason}`) },
    ),
  ],
});
const content = `Pay these invoices, then say what became of each: ${JSON.stringify(INVOICES)}`;
const { messages } = await agent.invoke({ messages: [{ role: 'user', content }] });
console.log(messages.at(-1)?.text);

/** A model that calls `pay` for one invoice after the other. */
function scripted() {
  return INVOICES.reduce(
    (fake, args) => fake.respondWithTools([{ name: 'pay', args, id: args.invoice }]),
    fakeModel(),
  ).respond(new AIMessage('Done.'));
}
