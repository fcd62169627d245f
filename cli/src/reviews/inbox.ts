import { formatMoney } from '@purser/mcp/money';
import type { GetInboxQuery, InboxGroup, InboxRow } from '@purser/sdk';
import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';
import { oneLine } from '../simulation-text.ts';

const PAGE = 200;

export interface InboxOptions {
  agent?: string;
  search?: string;
  currency?: string;
  reason?: string;
  sort?: 'expires' | 'newest' | 'oldest' | 'amount';
  group?: 'agent' | 'merchant' | 'reason' | 'alike';
  mine?: boolean;
  json?: boolean;
}

/** A pending review on one line. */
function rowLine(row: InboxRow): string {
  const { decision_id, agent, merchant, amount_minor, currency, reason_code, expires_at } = row;
  const { required, given, assigned_to } = row;
  const more = [
    ...(required === 1 ? [] : [`${given} of ${required} approvals`]),
    ...(assigned_to === null ? [] : [`assigned to ${assigned_to}`]),
  ];
  const until = expires_at ?? 'does not expire'.padEnd(24);
  return [
    until,
    formatMoney(amount_minor, currency),
    oneLine(merchant, 60),
    agent.slug,
    reason_code,
    decision_id,
    ...more,
  ].join('  ');
}

function groupLine({ filter, count, amounts }: InboxGroup): string {
  const { agent, merchant, currency, reason } = filter;
  const name = [agent, merchant, currency, reason]
    .filter((each) => each !== undefined)
    .map((each) => oneLine(each, 60));
  const sums = amounts.map((sum) => formatMoney(sum.amount_minor, sum.currency));
  return `${count} pending  ${name.join(' · ')}  ${sums.join(', ')}`;
}

/** Lists the pending reviews, those that expire soonest first, or counts them in groups. */
export async function inbox(
  context: Context,
  { json, group, mine, ...filters }: InboxOptions,
): Promise<number> {
  const client = await context.client();
  const query = { ...filters, ...(mine ? { mine: true } : {}) } as GetInboxQuery;
  if (group !== undefined) {
    const { groups, total } = await client.inbox.retrieve({ ...query, group, limit: 1 });
    if (json) for (const each of groups) context.json(each);
    else context.say(...groups.map(groupLine), `${total} pending.`);
    return EXIT.ok;
  }
  let count = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.inbox.retrieve({
      ...query,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const row of page.data) {
      count += 1;
      if (json) context.json(row);
      else context.say(rowLine(row));
    }
    cursor = page.next_cursor;
  }
  if (count === 0 && !json) context.say('No pending reviews.');
  return EXIT.ok;
}
