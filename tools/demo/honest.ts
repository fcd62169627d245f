import { type JsonClient, makeJsonClient } from './json-client.ts';
import { percentilesOf } from './totals.ts';

/** Measurements of a workspace that does little: durations in ms, and what was not answered well. */
export class Honest {
  readonly latencies_ms: number[] = [];
  readonly failures = new Map<string, number>();

  note({ status, took_ms }: { status: number; took_ms: number }): void {
    this.latencies_ms.push(took_ms);
    if (status > 299) this.failures.set(String(status), (this.failures.get(String(status)) ?? 0) + 1);
  }

  get p95(): number {
    return percentilesOf(this.latencies_ms).p95;
  }
}

/**
 * A decision, the workspace and a list of ten, one request after another, until a time of `performance.now()`. `name`: no other
 * round has it.
 */
export async function honestWork(
  { base_url, client, agent_key }: { base_url: string; client: JsonClient; agent_key: string },
  until_ms: number,
  name: string,
  measured: Honest,
): Promise<void> {
  const agent = makeJsonClient(base_url, agent_key);
  const action = {
    type: 'purchase',
    merchant: 'Acme',
    amount_minor: 100,
    currency: 'EUR',
    description: 'Screws',
  };
  try {
    for (let n = 0; performance.now() < until_ms; n++) {
      const key = { 'idempotency-key': `honest-${name}-${n}` };
      measured.note(await agent.send('POST', '/v1/decisions', { action }, key));
      measured.note(await client.send('GET', '/v1/workspace'));
      measured.note(await client.send('GET', '/v1/decisions?limit=10'));
    }
  } finally {
    agent.close();
  }
}
