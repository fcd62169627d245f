// @ts-check
// A Stripe Issuing card that pays only what Purser allowed: an agent asks, the card is armed, and Stripe's events arrive.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… PURSER_CONSUME_KEY=sk_… node examples/stripe-issuing/run.mjs
//
// The agent must be in ENFORCE. Stripe is not called: this program signs the events of events.json as Stripe does, and
// sends them to the endpoint that you would register there. docs/guides/rails.md has Stripe's settings.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { memoryStore } from '@purser/adapters/cards';
import { stripeIssuing } from '@purser/adapters/stripe-issuing';
import { Purser } from '@purser/sdk';
import Stripe from 'stripe';

const stripe = new Stripe(process.env.STRIPE_KEY ?? 'sk_test_of_the_example');
const webhookSecret = process.env.STRIPE_WEBHOOK_SECRET ?? 'whsec_of_the_example';
const agent = new Purser({ apiKey: process.env.PURSER_AGENT_KEY });
const rail = stripeIssuing({
  stripe,
  webhookSecret,
  apiVersion: '2026-10-28.endive',
  adapter: new Purser({ apiKey: process.env.PURSER_CONSUME_KEY }),
  agent,
  store: memoryStore(),
  secret: process.env.CARD_SECRET ?? 'only for this example, 32 characters',
});

const server = createServer(async (request, reply) => {
  const signature = request.headers['stripe-signature'];
  const { status, headers, body } = await rail.handle(await buffer(request), String(signature));
  reply.writeHead(status, headers).end(body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
const address = /** @type {import('node:net').AddressInfo} */ (server.address());

const card = 'ic_1PurserExample';
const decision = await agent.decisions.create(
  {
    task: 'Keep the staging servers running',
    action: {
      type: 'purchase',
      merchant: 'Hetzner Online',
      amount_minor: 5440,
      currency: 'EUR',
      description: 'A server for staging',
      payee_id: `stripe_issuing:${card}`,
    },
  },
  { idempotencyKey: process.env.ORDER ?? 'card-order-1' },
);
console.log(`${decision.decision_id}: ${decision.effective_decision}`);
await rail.arm({ card, decision_id: decision.decision_id });

const events = JSON.parse(await readFile(new URL('events.json', import.meta.url), 'utf8'));
for (const { title, event, secret = webhookSecret } of events) {
  const payload = JSON.stringify(event);
  const response = await fetch(`http://127.0.0.1:${address.port}`, {
    method: 'POST',
    body: payload,
    headers: { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret }) },
  });
  console.log(`${title}: ${response.status} ${await response.text()}`);
}
const { outcome_state, verified } = await agent.decisions.retrieve(decision.decision_id);
console.log(`${decision.decision_id}: ${outcome_state}, ${verified ? 'by the rail’s word' : 'unverified'}`);
server.close();
