// @ts-check
// An agent buys forecasts for a quarter of a cent each: one decision covers a euro's worth.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… PURSER_CONSUME_KEY=sk_… node examples/x402/run.mjs
//
// The agent must be in ENFORCE, with an authority in EUR. The shop and its facilitator are local (shop.mjs).
import { guardX402 } from '@purser/adapters/x402';
import { Purser } from '@purser/sdk';
import { x402Client } from '@x402/core/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { NETWORK, openShop, PAY_TO } from './shop.mjs';

const { shop, scheme, till, close } = await openShop('2500', { facilitator_at_address: true });
// A currency without a known chain: x402's own cap in USD does not apply to it.
const client = new x402Client().register(NETWORK, scheme).setSpendControls(false);
const rail = guardX402(client, {
  purser: new Purser({ apiKey: process.env.PURSER_AGENT_KEY }),
  adapter: new Purser({ apiKey: process.env.PURSER_CONSUME_KEY }),
  assets: { [`${NETWORK}:EURC`]: { currency: 'EUR', exponent: 2, decimals: 6 } },
  topUp: 100,
  name: process.env.RUN ?? 'forecasts-1',
  merchantOf: (payTo) => (payTo === PAY_TO ? 'Weather Shop' : payTo),
  task: 'Buy forecasts',
});
const paying = wrapFetchWithPayment(shop, client);

for (let i = 1; i <= 5; i++) {
  try {
    const answer = await paying('http://weather.example/forecast');
    console.log(`forecast ${i}: ${await answer.text()}`);
  } catch (error) {
    console.log(`forecast ${i}: not bought. ${error instanceof Error ? error.message : error}`);
  }
}
console.log(`${till.settled.length} payments, ${await rail.close()} top-ups left open`);
close();
