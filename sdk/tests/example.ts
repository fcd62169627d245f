// What the README shows first, as a program: type-checked with TypeScript 5 and 7 from the packed package, and run.
import { PaymentFailed, Purser, SpendDenied, SpendPending } from '@purser/sdk';

// biome-ignore lint/suspicious/noExplicitAny: stands for a payment system's own client.
declare const stripe: any, order: { id: string };
const purser = new Purser({ apiKey: process.env.PURSER_AGENT_KEY, baseURL: 'https://purser.internal' });
const adapter = new Purser({ apiKey: process.env.PURSER_CONSUME_KEY, baseURL: 'https://purser.internal' });
try {
  const spent = await purser.spend(
    {
      idempotencyKey: order.id,
      task: 'Keep staging running',
      action: {
        type: 'purchase',
        merchant: 'Hetzner Online',
        amount_minor: 5440,
        currency: 'EUR',
        payee_id: 'stripe:acct_1032D8',
      },
    },
    async ({ amount_minor, currency, paymentKey }) => {
      const p = await stripe.paymentIntents.create(
        { amount: amount_minor, currency, confirm: true },
        { idempotencyKey: paymentKey },
      );
      if (p.status !== 'succeeded') throw new PaymentFailed(p.status);
      return { external_reference: p.id as string };
    },
    { adapter, paymentIsIdempotent: true, waitForReview: 10 * 60_000, onUnavailable: async () => 'refuse' },
  );
  console.log(spent.status, spent.decision?.decision_id);
} catch (e) {
  if (e instanceof SpendDenied || e instanceof SpendPending) console.log(e.decision.explanation);
  else throw e;
}
