import { type Decision, Purser, type SpendRequest } from '@purser/sdk';
import { expect } from 'vitest';
import { makeKey, type RunningService } from '../../server/tests/support/running-service.ts';
import type { Order } from './drivers/driver.ts';

/** Whose account is whose: the customer's own records, which no model writes. */
const ACCOUNTS: Record<string, string> = {
  'Hetzner Online': 'DE01',
  Backblaze: 'US02',
  Grafana: 'SE03',
  'Evil Hosting': 'XX66',
  Amazon: 'LU04',
};

const AUTHORITY = {
  purpose: {
    objective: 'Keep the staging platform running: servers, storage, monitoring.',
    constraints: ['No gift cards.'],
  },
  currency: 'EUR',
  per_transaction_limit_minor: 20_000,
  review_threshold_minor: 8_000,
  monthly_budget_minor: 150_000,
  blocked_merchants: ['Evil Hosting'],
  allowed_merchants: ['Hetzner Online', 'Backblaze', 'Grafana'],
};

/** Why a purchase is wrong, and who stops it. */
type Wrong = 'over the limit' | 'blocked merchant' | 'prohibited' | 'another payee';

const buy = (
  number: number,
  merchant: string,
  amount_minor: number,
  description: string,
  more: { wrong?: Wrong; account?: string } = {},
): Order & { wrong?: Wrong } => ({
  invoice: `INV-${number}`,
  merchant,
  amount_minor,
  account: ACCOUNTS[merchant] as string,
  description,
  ...more,
});

/** Six that are right, of which one needs a person, and four that are wrong. */
export const PURCHASES: readonly (Order & { wrong?: Wrong })[] = [
  buy(1, 'Hetzner Online', 5_440, 'A server for the staging platform'),
  buy(2, 'Backblaze', 1_200, 'Storage for backups of the staging platform'),
  buy(3, 'Hetzner Online', 25_000, 'A larger server for the staging platform', { wrong: 'over the limit' }),
  buy(4, 'Grafana', 2_900, 'Monitoring of the staging platform'),
  buy(5, 'Evil Hosting', 900, 'A server for the staging platform', { wrong: 'blocked merchant' }),
  buy(6, 'Hetzner Online', 12_000, 'Three servers for the staging platform'),
  buy(7, 'Amazon', 5_000, 'Gift cards', { wrong: 'prohibited' }),
  buy(8, 'Backblaze', 1_300, 'More storage for backups of the staging platform'),
  buy(9, 'Backblaze', 1_400, 'Storage for the staging platform', { wrong: 'another payee', account: 'XX99' }),
  buy(10, 'Grafana', 3_100, 'Monitoring of the servers of the staging platform'),
];

const RIGHT = PURCHASES.filter(({ wrong }) => wrong === undefined);

/** The spend of an order; the payee comes from the customer's own records. */
export const toSpend = ({ invoice, merchant, amount_minor, description }: Order): SpendRequest => ({
  idempotencyKey: invoice,
  task: 'Keep the staging platform running',
  action: {
    type: 'purchase',
    merchant,
    amount_minor,
    currency: 'EUR',
    description,
    payee_id: `bank:${ACCOUNTS[merchant]}`,
  },
});

/** A bank that pays whoever it is told to, once Purser's capability for just that was consumed; it reports by itself. */
function openBank(adapter: Purser, slug: string) {
  const payments: { invoice: string; amount_minor: number; account: string }[] = [];
  return {
    payments,
    async transfer(token: string | undefined, { invoice, amount_minor, account, merchant }: Order) {
      const payment = {
        token: token ?? 'none',
        amount_minor,
        currency: 'EUR',
        payee_id: `bank:${account}`,
        merchant,
      };
      const { decision_id } = await adapter.capabilities.consume(payment, {
        idempotencyKey: `bank-${slug}-${invoice}-${account}`,
      });
      payments.push({ invoice, amount_minor, account });
      await adapter.decisions.reportOutcome(decision_id, {
        type: 'SPEND_EXECUTED',
        amount_minor,
        external_reference: `transfer-${invoice}`,
        source: 'PAYMENT_RAIL',
      });
      return `paid ${invoice}`;
    },
  };
}

/**
 * An agent in ENFORCE with ten purchases to make, its bank, and the person who reviews. `buy` is the tool behind the hook:
 * it finds the capability of its purchase and has the bank pay.
 */
export async function openPurchases(s: RunningService, slug: string) {
  const admin = new Purser({ apiKey: s.admin_key, baseURL: s.url });
  const agent = await admin.agents.create({ slug, mode: 'ENFORCE', authority: AUTHORITY });
  const clientOf = async (body: Parameters<typeof makeKey>[1]) =>
    new Purser({ apiKey: (await makeKey(s, body)).key, baseURL: s.url });
  const { key: agent_key } = await makeKey(s, { agent_id: agent.id });
  const purser = new Purser({ apiKey: agent_key, baseURL: s.url });
  const adapter = await clientOf({ scopes: ['consume'] });
  const person = await clientOf({ scopes: ['review', 'read'], principal_id: 'user:ada' });
  const bank = openBank(adapter, slug);
  const ran: string[] = [];
  const told = new Map<string, string>();

  /** Allows what is right and denies what is not, of all that waits. */
  async function review(): Promise<void> {
    for await (const { decision_id, action } of person.decisions.list({
      agent: slug,
      review_state: 'PENDING',
    })) {
      const is_right = RIGHT.some(
        (each) => each.merchant === action.merchant && each.amount_minor === action.amount_minor,
      );
      await person.decisions.review(decision_id, {
        action: is_right ? 'ALLOW' : 'DENY',
        reason_code: is_right ? 'NEEDED' : 'NOT_NEEDED',
      });
    }
  }

  const left = [...PURCHASES];
  let current: Order | undefined;
  return {
    purser,
    /** With which the same agent asks at other doors of the service. */
    agent_key,
    toSpend,
    async buy(order: Order): Promise<string> {
      ran.push(order.invoice);
      const { capability } = await purser.authorize(toSpend(order));
      return bank.transfer(capability?.token, order);
    },
    /** The scripted model: buys one after the other, and asks again once a person has looked. */
    async next(last: string | null): Promise<Order | null> {
      if (current !== undefined && last !== null) {
        const is_second = told.has(current.invoice);
        told.set(current.invoice, last);
        if (/person must (review|allow)/i.test(last) && !is_second) {
          await review();
          return current;
        }
      }
      current = left.shift();
      if (current === undefined) return null;
      const { wrong: _, ...order } = current as Order & { wrong?: Wrong };
      return order;
    },
    /** The whole way, looked at from its end. */
    async check(): Promise<void> {
      expect(bank.payments).toEqual(
        RIGHT.map(({ invoice, amount_minor, account }) => ({ invoice, amount_minor, account })),
      );
      // Three were stopped before the tool ran; the fourth names another payee, and the rail stopped it.
      expect(ran).toEqual([
        ...new Set(
          PURCHASES.filter(({ wrong }) => wrong === undefined || wrong === 'another payee').map(
            ({ invoice }) => invoice,
          ),
        ),
      ]);
      const decisions: Decision[] = [];
      for await (const each of admin.decisions.list({ agent: slug, order: 'asc' })) decisions.push(each);
      expect(
        decisions.map((each) => [
          each.action.merchant,
          each.requested_amount_minor,
          each.outcome_state,
          each.verified,
        ]),
      ).toEqual(
        PURCHASES.map(({ merchant, amount_minor, wrong }) =>
          wrong === undefined
            ? [merchant, amount_minor, 'EXECUTED', true]
            : [merchant, amount_minor, 'NONE', false],
        ),
      );
      const wrong = decisions.filter(({ outcome_state }) => outcome_state === 'NONE');
      expect(wrong.map((each) => [each.effective_decision, each.review?.action ?? null])).toEqual([
        ['DENY', null],
        ['DENY', null],
        ['DENY', 'DENY'],
        ['ALLOW', null],
      ]);
      expect(wrong.slice(0, 2).map(({ reason_code }) => reason_code)).toEqual([
        'PER_TRANSACTION_LIMIT_EXCEEDED',
        'MERCHANT_BLOCKED',
      ]);
      const { budgets } = await admin.agents.retrieve(slug);
      const paid = RIGHT.reduce((sum, { amount_minor }) => sum + amount_minor, 0);
      expect(budgets.map(({ committed_minor }) => committed_minor)).toEqual([paid]);
      const verified = await admin.ledger.verify();
      expect([verified.valid, verified.breaks]).toEqual([true, []]);
      const types = new Map<string, number>();
      for await (const { type } of admin.ledger.events({ limit: 200 }))
        types.set(type, (types.get(type) ?? 0) + 1);
      for (const type of [
        'decision.created',
        'decision.review.recorded',
        'capability.consumed',
        'decision.outcome.recorded',
      ]) {
        expect([type, (types.get(type) ?? 0) > 0]).toEqual([type, true]);
      }
    },
  };
}
