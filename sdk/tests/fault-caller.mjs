// A process that spends: told by its parent what to call, it tells how each call ended. It may be killed at any moment.
import { APIError, PaymentFailed, Purser } from '@purser/sdk';

const { agent_key, adapter_key, base_url, rail_url, variant } = JSON.parse(process.argv[2] ?? '{}');
const settings = { baseURL: base_url, timeout: 60_000 };
const purser = new Purser({ ...settings, apiKey: agent_key });
const adapter = new Purser({ ...settings, apiKey: adapter_key });

/** Asks the payment system to pay, once. @param {string} name @param {string | null} key */
async function payAtRail(name, key) {
  const answer = await fetch(rail_url, { method: 'POST', body: JSON.stringify({ name, key }) });
  const { reference } = /** @type {{ reference: string }} */ (await answer.json());
  if (answer.status === 402) throw new PaymentFailed('declined');
  return { external_reference: reference };
}

/** @param {import('@purser/sdk').SpendRequest} request */
function spend(request) {
  const { adapter: with_adapter = false, idempotent = false, every_failure_is_definite = false } = variant;
  /** @type {(grant: import('@purser/sdk').Grant) => Promise<{ external_reference: string }>} */
  const pay = async ({ capability, amount_minor, currency, paymentKey }) => {
    if (!with_adapter && capability !== null && variant.token_unused !== true) {
      // The adapter behind the token: it consumes before it pays, under a name of this very try.
      const body = { token: capability.token ?? '', amount_minor, currency };
      await adapter.capabilities.consume(body, { idempotencyKey: crypto.randomUUID() });
    }
    return payAtRail(request.idempotencyKey, idempotent ? paymentKey : null);
  };
  return purser.spend(request, pay, {
    paymentIsIdempotent: idempotent,
    ...(with_adapter ? { adapter } : {}),
    ...(every_failure_is_definite ? { isDefiniteFailure: () => true } : {}),
  });
}

process.on('message', async (/** @type {{ job: number, request: any }} */ { job, request }) => {
  const ended = await spend(request).then(
    ({ status }) => status,
    (error) => (APIError.is(error.cause, 'capability_used') ? 'SpendUnfinished' : error.name),
  );
  process.send?.({ job, ended });
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
