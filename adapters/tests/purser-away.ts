import { Purser } from '@purser/sdk';
import { type FakePurser, type FakePurserOptions, fakePurser } from '@purser/sdk/testing';

/** A fault on the way to Purser. */
export type Fault = 'none' | 'request lost' | 'answer lost' | 'hangs';

/** A fake Purser behind a way that loses things, with the clients of an agent and of a payment adapter. */
export function purserBehindFaults(options: FakePurserOptions = {}) {
  const fake: FakePurser = fakePurser(options);
  /** `answer`: what is answered in place of the service's own body. */
  const state = { fault: 'none' as Fault, answer: undefined as unknown };
  /** Decisions whose capability the service consumed, by the idempotency key that did it. */
  const consumed_by = new Map<string, string>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { fault } = state;
    if (fault === 'request lost') throw new TypeError('fetch failed');
    if (fault === 'hangs') {
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason), { once: true });
      });
    }
    const answer = await fake.fetch(input, init);
    const key = new Headers(init?.headers).get('idempotency-key');
    if (answer.ok && key !== null && String(input).endsWith('/consume')) {
      const { decision_id } = (await answer.clone().json()) as { decision_id: string };
      consumed_by.set(key, decision_id);
    }
    if (state.answer !== undefined) return Response.json(state.answer, { status: answer.status });
    if (fault === 'answer lost') throw new TypeError('fetch failed');
    return answer;
  };
  const clientOf = (apiKey: string) => new Purser({ apiKey, fetch, maxRetries: 0 });
  return { fake, state, consumed_by, agent: clientOf('sk_agent'), adapter: clientOf('sk_adapter') };
}

let named = 0;
/** A decision of the fake, allowed. */
export async function decide(agent: Purser, payee_id: string | undefined, amount_minor = 5_440) {
  const payee = payee_id === undefined ? {} : { payee_id };
  return agent.decisions.create(
    { action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor, currency: 'EUR', ...payee } },
    { idempotencyKey: `order-${++named}` },
  );
}
