// @ts-check
// An agent pays an invoice: it asks, waits for a review if necessary, pays once and reports.
//
//   PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… PURSER_CONSUME_KEY=sk_… node examples/guarded-payment.mjs
//
// PURSER_AGENT_KEY is an agent's key, PURSER_CONSUME_KEY a key with the scope `consume`. Run it twice: the second run
// finds that the invoice is paid.
import { PaymentFailed, Purser, SpendDenied, SpendPending } from '@purser/sdk';

const purser = new Purser({ apiKey: process.env.PURSER_AGENT_KEY });
const adapter = new Purser({ apiKey: process.env.PURSER_CONSUME_KEY });

const invoice = {
  number: process.env.INVOICE ?? 'invoice-1001',
  merchant: 'Hetzner Online',
  payee_id: 'stripe:acct_1032D8',
  amount_minor: 5440,
  currency: 'EUR',
};

/**
 * A stand-in for your payment system, which refuses to pay twice with one key.
 * @param {{ amount_minor: number, currency: string, key: string }} payment
 */
async function payAtTheBank({ amount_minor, currency, key }) {
  return { status: 'succeeded', id: `pi_${key}`, amount_minor, currency };
}

try {
  const spent = await purser.spend(
    {
      idempotencyKey: invoice.number,
      task: 'Keep the staging servers running',
      action: {
        type: 'purchase',
        merchant: invoice.merchant,
        payee_id: invoice.payee_id,
        amount_minor: invoice.amount_minor,
        currency: invoice.currency,
        description: 'A server for staging',
      },
    },
    async ({ amount_minor, currency, paymentKey }) => {
      const payment = await payAtTheBank({ amount_minor, currency, key: paymentKey });
      if (payment.status !== 'succeeded') throw new PaymentFailed(payment.status);
      return { external_reference: payment.id };
    },
    { adapter, paymentIsIdempotent: true, waitForReview: Number(process.env.WAIT_MS ?? 10 * 60_000) },
  );
  console.log(`${invoice.number}: ${spent.status} (${spent.decision?.decision_id})`);
} catch (error) {
  if (!(error instanceof SpendDenied || error instanceof SpendPending)) throw error;
  console.log(`${invoice.number}: not paid (${error.decision.decision_id}). ${error.decision.explanation}`);
}
