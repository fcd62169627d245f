// What must work in every run time there is, with nothing but the packed package: run by each of them against a started service.
import { APIError, Purser, VERSION, webhooks } from '@purser/sdk';

/** @typedef {{ url: string, agent_key: string, consume_key: string, name: string }} Settings */

/** Verifies a delivery, is refused, spends, and finds it spent. @param {Settings} settings */
export async function smoke({ url, agent_key, consume_key, name }) {
  /** @param {string} apiKey */
  const client = (apiKey) => new Purser({ apiKey, baseURL: url });
  const delivery = JSON.stringify({ id: 'evt_1', type: 'webhook.test', data: {} });
  const secret = `whsec_${btoa('a secret of 24 bytes or more')}`;
  const { id } = await webhooks.unwrap(delivery, await webhooks.sign(delivery, secret), secret);
  const forged = await webhooks
    .unwrap(`${delivery} `, await webhooks.sign(delivery, secret), secret)
    .catch((/** @type {Error} */ error) => error.name);
  const refused = await client('sk_unknown')
    .decisions.list()
    .catch((/** @type {unknown} */ error) => error);
  if (!APIError.is(refused, 'unauthenticated')) throw refused;

  const asking = client(agent_key);
  const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 500, currency: 'EUR' };
  const spend = () =>
    asking.spend(
      { idempotencyKey: name, action },
      async ({ paymentKey }) => ({ external_reference: paymentKey }),
      { adapter: client(consume_key) },
    );
  const [first, second] = [await spend(), await spend()];
  const states = [];
  for await (const { decision_id, outcome_state } of asking.decisions.list({ limit: 1 })) {
    if (decision_id === first.decision?.decision_id) states.push(outcome_state);
  }
  const told = [id, forged, refused.status, first.status, first.outcome?.source, second.status, ...states];
  return `${told.join(' ')} by ${VERSION}`;
}
