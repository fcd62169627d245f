import { type MandateKey, mandateKey } from './mandates.ts';
import { freshKey } from './running-service.ts';
import type { Client } from './service-test.ts';

/** An agent with its key for the service, and the one by which it is known to payers. */
export interface PayingAgent {
  slug: string;
  key: string;
  own: MandateKey;
}

/** Makes an agent in ENFORCE that nobody is asked about, and that limits of its own do not stop. */
export async function payingAgent({ makeAgent, post }: Client): Promise<PayingAgent> {
  const authority = {
    currency: 'USD',
    on_purpose_unclear: 'ALLOW',
    monthly_budget_minor: 100_000_000,
    per_transaction_limit_minor: 1_000_000,
  };
  const slug = await makeAgent(authority, { mode: 'ENFORCE' });
  const { key } = await post('/v1/api-keys', { name: freshKey(), agent_id: slug });
  return { slug, key, own: mandateKey() };
}
