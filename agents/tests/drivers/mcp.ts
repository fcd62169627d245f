import { connectHttp, type RunningService, use } from '../../../mcp/tests/world.ts';
import type { Conversation, Order } from './driver.ts';

const major = (amount_minor: number) => (amount_minor / 100).toFixed(2);

/**
 * A model with the tools of `/mcp` and one that pays, which no hook guards: it asks first, waits where a person has to
 * look, pays what is allowed alone, and reports it.
 */
export async function driveMcp(
  s: Pick<RunningService, 'url'>,
  agent_key: string,
  { toSpend, buy, next }: Pick<Conversation, 'toSpend' | 'buy' | 'next'>,
): Promise<void> {
  const client = await connectHttp(s, agent_key);
  const waiting = new Map<string, unknown>();

  async function purchase(order: Order): Promise<string> {
    const { invoice, amount_minor } = order;
    const { task, action } = await toSpend(order);
    const { amount_minor: _, ...what } = action;
    const decision_id = waiting.get(invoice);
    const spend =
      decision_id === undefined
        ? await use(client, 'request_spend', { ...what, name: invoice, task, amount: major(amount_minor) })
        : await use(client, 'wait_for_review', { decision_id, timeout_seconds: 1 });
    if (spend.status === 'WAITING_FOR_REVIEW') waiting.set(invoice, spend.decision_id);
    if (spend.status !== 'ALLOWED') return String(spend.next_step);
    const told = await buy(order).catch((error: Error) => error);
    if (told instanceof Error) return told.message;
    const outcome = { decision_id: spend.decision_id, outcome: 'EXECUTED', amount: major(amount_minor) };
    await use(client, 'report_outcome', { ...outcome, external_reference: `transfer-${invoice}` });
    return told;
  }

  try {
    let order = await next(null);
    while (order !== null) order = await next(await purchase(order));
  } finally {
    await client.close();
  }
}
