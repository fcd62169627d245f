// @ts-check
// Receives Purser's webhooks: verifies the raw body, answers at once, handles each event once.
//
//   PURSER_WEBHOOK_SECRET=whsec_… PORT=3000 node examples/webhook-receiver.mjs
//
// During a rotation, give both secrets, separated by a comma.
import { createServer } from 'node:http';
import { webhooks } from '@purser/sdk/webhooks';

const secrets = (process.env.PURSER_WEBHOOK_SECRET ?? '').split(',');
/** Deliveries come at least once; in production this is a table with a unique key. @type {Set<string>} */
const seen = new Set();

/** @param {import('@purser/sdk/types').WebhookEvent} event */
function take(event) {
  switch (event.type) {
    case 'decision.created':
      console.log(`${event.type} ${event.data.decision_id} ${event.data.decision} ${event.data.explanation}`);
      break;
    case 'decision.review.recorded':
      console.log(`${event.type} ${event.data.decision_id} ${event.data.action}`);
      break;
    default:
      console.log(`${event.type} ${event.id}`);
  }
}

const server = createServer(async (request, reply) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = await webhooks.unwrap(Buffer.concat(chunks), request.headers, secrets);
    reply.writeHead(204).end();
    if (seen.has(event.id)) return;
    seen.add(event.id);
    take(event);
  } catch (error) {
    console.error(`refused: ${error instanceof Error ? error.message : error}`);
    reply.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`listening on http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => server.close(() => process.exit(0)));
