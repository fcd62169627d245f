import { remedySentence } from '@purser/contract/values/remedies';
import { formatMoney } from '@purser/mcp/money';
import { APIError, type Decision, type DecisionListQuery, type Purser } from '@purser/sdk';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './failure.ts';
import { pause } from './follow.ts';
import { oneLine } from './simulation-text.ts';

const FOLLOW_MS = 2_000;
const PAGE = 200;

/** A decision on one line. */
function decisionLine(decision: Decision): string {
  const { created_at, decision_id, agent, action, requested_amount_minor, currency, mode } = decision;
  const amount = formatMoney(requested_amount_minor, currency);
  const shadow = mode === 'SHADOW' ? ' [SHADOW]' : '';
  return `${created_at}  ${decision.decision.padEnd(6)}  ${amount}  ${oneLine(action.merchant, 60)}  ${agent.slug}  ${decision.reason_code}  ${decision_id}${shadow}`;
}

export interface TailOptions {
  agent?: string;
  decision?: string;
  lines: number;
  follow: boolean;
  json?: boolean;
}

/** Shows the newest decisions, and then each that is made, until Ctrl-C. */
export async function tail(context: Context, options: TailOptions): Promise<number> {
  const client = await context.client();
  const { agent, decision, lines, follow } = options;
  // Of an agent that is not there nothing would ever come.
  if (agent !== undefined) await client.agents.retrieve(agent);
  const filters = { agent, decision } as DecisionListQuery;
  const show = (found: Decision) => (options.json ? context.json(found) : context.say(decisionLine(found)));
  const newest = lines === 0 ? [] : (await client.decisions.list({ ...filters, limit: lines })).data;
  for (const found of newest.toReversed()) show(found);
  if (!follow) return EXIT.ok;
  let last = newest[0] ?? (await client.decisions.list({ ...filters, limit: 1 })).data[0];
  while (await pause(FOLLOW_MS, context.signal)) {
    try {
      last = await showNewer(client, filters, last, show);
    } catch (error) {
      // A service that starts anew is waited for; a refusal is final.
      if (error instanceof APIError && !error.retryable) throw error;
    }
  }
  return EXIT.ok;
}

/** Shows what was decided after `last`, oldest first, and returns the newest of it. */
async function showNewer(
  client: Purser,
  filters: DecisionListQuery,
  last: Decision | undefined,
  show: (found: Decision) => void,
): Promise<Decision | undefined> {
  let newest = last;
  const query = { ...filters, order: 'asc', from: last?.created_at, limit: PAGE } as const;
  for await (const found of client.decisions.list(query)) {
    // Ids ascend as decisions are made, also within one moment.
    if (last !== undefined && found.decision_id <= last.decision_id) continue;
    show(found);
    newest = found;
  }
  return newest;
}

export interface AskOptions {
  agent?: string;
  merchant: string;
  amount: { amount_minor: number };
  currency: string;
  type: string;
  description?: string;
  payee?: string;
  task?: string;
  allowance?: string;
  name?: string;
  forReal?: boolean;
  json?: boolean;
}

/** Asks for one spend, as the agent would. Ends with 2 unless it would be allowed. */
export async function ask(context: Context, options: AskOptions): Promise<number> {
  const client = await context.client();
  const { agent, merchant, amount, currency, type, description, payee, task, allowance, name } = options;
  const key = await client.apiKeys.current();
  const whose = key.agent_id ?? agent;
  if (whose === undefined) throw new CommandError('--agent: is required, the agent that makes the request.');
  if (options.forReal !== true) {
    const { mode, slug } = await client.agents.retrieve(whose);
    if (mode === 'ENFORCE')
      throw new CommandError(
        `${slug} is in ENFORCE, where a request holds money: try a draft with purser simulate, or use --for-real.`,
      );
  }
  const decision = await client.decisions.create(
    {
      ...(key.agent_id === null ? { agent: whose } : {}),
      action: {
        type,
        merchant,
        amount_minor: amount.amount_minor,
        currency,
        ...(description === undefined ? {} : { description }),
        ...(payee === undefined ? {} : { payee_id: payee }),
      },
      ...(task === undefined ? {} : { task }),
      ...(allowance === undefined ? {} : { allowance }),
    },
    { idempotencyKey: name },
  );
  const {
    decision_id,
    authorized_amount_minor,
    explanation,
    reason_codes,
    purpose,
    remedies = [],
  } = decision;
  if (options.json) context.json(decision);
  else {
    const authorized =
      decision.decision === 'ALLOW' ? `, ${formatMoney(authorized_amount_minor, currency)}` : '';
    context.say(
      `${decision.decision}${authorized}  (${reason_codes.join(', ')})`,
      oneLine(explanation, 1_000),
      ...remedies.map((remedy) => `  ${remedySentence(remedy, currency)}`),
      `Purpose: ${purpose.assessment}. ${oneLine(purpose.rationale, 1_000)}`,
      `${decision_id}${decision.mode === 'SHADOW' ? ', in SHADOW: nothing is stopped' : ''}`,
    );
  }
  return decision.decision === 'ALLOW' ? EXIT.ok : EXIT.differs;
}
