import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import type { AgentWithBudgets, AuthorityVersion } from '@purser/sdk';
import { getMyAllowances, requestAllowance } from './allowance-tools.ts';
import { type ApiRequest, getDecision, Refused, send } from './api.ts';
import { type Decision, decisionIn } from './decision.ts';
import { majorUnits, minorUnits } from './money.ts';
import * as schemas from './schemas.ts';
import { spendOf } from './spend.ts';
import { bounded } from './text.ts';
import { answer, type CapabilityMode, given, notDone, type Tool, type ToolContext } from './tool.ts';

/** Where the token of a capability is, for hosts that hand a result's `_meta` to the payment tool. */
export const CAPABILITY_META = 'dev.purser/capability';
const WAIT_STEP_SECONDS = 10;

/**
 * The idempotency key of a purchase's name: the name itself where it can be one, so that it means the same purchase as
 * in the agent's own code, and else its hash.
 */
export function idempotencyKeyOf(name: string): string {
  const spoken = name.normalize('NFC').trim();
  if (/^[!-~]{1,200}$/.test(spoken)) return spoken;
  return `mcp-${createHash('sha256').update(spoken).digest('hex')}`;
}

/** A spend, with the capability's token where the operator chose that. */
function spendAnswer(decision: Decision, mode: CapabilityMode): CallToolResult {
  const spend = spendOf(decision);
  const token = spend.status === 'ALLOWED' ? (decision.capability?.token ?? null) : null;
  if (mode === 'result') return answer({ ...spend, capability_token: token });
  return answer(spend, mode === 'meta' && token !== null ? { [CAPABILITY_META]: { token } } : undefined);
}

/** The tool that asks. `output`: with the token or without. */
const requestSpend = (output: Tool<unknown>['output']): Tool<schemas.RequestSpendInput> => ({
  name: 'request_spend',
  title: 'Request permission for a purchase',
  description:
    'Call this before every purchase, subscription, top-up or other payment, and pay only if the status is ALLOWED. Give each purchase one stable name and use the same name when you ask again about it. Never split a purchase into smaller ones. WAITING_FOR_REVIEW means that a person must allow it first. DENIED means that it must not be made; you may request only the alternatives in remedies and next_step instead. Follow next_step.',
  input: schemas.RequestSpend,
  output,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  async run(input, ctx, { call, capability }) {
    const { name, merchant, currency, type, description, payee_id, category, task, limitable, allowance } =
      input;
    const amount = minorUnits(input.amount, currency);
    if ('problem' in amount) return notDone(`amount ${amount.problem}.`);
    const least = input.min_amount === undefined ? undefined : minorUnits(input.min_amount, currency);
    if (least !== undefined && 'problem' in least) return notDone(`min_amount ${least.problem}.`);
    const action = { type, merchant, amount_minor: amount.amount_minor, currency, description };
    const request: ApiRequest = {
      method: 'POST',
      path: '/v1/decisions',
      idempotency_key: idempotencyKeyOf(name),
      body: {
        action: { ...action, ...given({ payee_id, category }) },
        ...given({ task, limitable, min_amount_minor: least?.amount_minor, allowance }),
      },
      signal: ctx.mcpReq.signal,
    };
    const { status, body } = await send(call, request);
    const made = decisionIn(body);
    // A replay is the first answer; what became of the purchase since then is told by the decision itself.
    const decision = status === 201 ? made : await getDecision(call, made.decision_id);
    return spendAnswer(decision, capability);
  },
});

const getSpend = (output: Tool<unknown>['output']): Tool<schemas.DecisionInput> => ({
  name: 'get_spend',
  title: 'Get the status of a purchase',
  description: 'Shows the status of a purchase: if it may be made, its review, and its reported outcome.',
  input: schemas.GetSpend,
  output,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  run: async ({ decision_id }, ctx, { call, capability }) =>
    spendAnswer(await getDecision(call, decision_id, { signal: ctx.mcpReq.signal }), capability),
});

const waitForReview = (
  output: Tool<unknown>['output'],
): Tool<schemas.DecisionInput & { timeout_seconds?: number }> => ({
  name: 'wait_for_review',
  title: 'Wait for a person to review a purchase',
  description:
    'Waits until a person allows or denies a purchase that is WAITING_FOR_REVIEW, or until the wait times out. Then you may call it again, now or later. Do not make a purchase that is still waiting.',
  input: schemas.WaitForReview,
  output,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  async run({ decision_id, timeout_seconds = schemas.DEFAULT_WAIT_SECONDS }, ctx, { call, capability }) {
    const { signal } = ctx.mcpReq;
    const begun = performance.now();
    const waited_s = () => (performance.now() - begun) / 1000;
    let decision = await getDecision(call, decision_id, { signal });
    while (spendOf(decision).status === 'WAITING_FOR_REVIEW') {
      const left_s = Math.floor(timeout_seconds - waited_s());
      if (left_s < 1) break;
      await tellProgress(ctx, Math.round(waited_s()), timeout_seconds);
      const asked_at = waited_s();
      const wait_seconds = Math.min(WAIT_STEP_SECONDS, left_s);
      decision = await getDecision(call, decision_id, { wait_seconds, signal });
      // The service holds no more requests back than it has room for. Asking at once again would wait in circles.
      if (waited_s() - asked_at < wait_seconds / 2) break;
    }
    return spendAnswer(decision, capability);
  },
});

/** A note that the wait goes on, for clients that asked for such notes. */
async function tellProgress({ mcpReq }: ServerContext, progress: number, total: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken, progress, total, message: 'Waiting for a person to review the purchase.' },
  });
}

const TYPES: Readonly<Record<schemas.ReportOutcomeInput['outcome'], string>> = {
  EXECUTED: 'SPEND_EXECUTED',
  FAILED: 'SPEND_FAILED',
  CANCELLED: 'SPEND_CANCELLED',
  REFUNDED: 'REFUNDED',
  PARTIALLY_REFUNDED: 'PARTIALLY_REFUNDED',
};

const reportOutcome: Tool<schemas.ReportOutcomeInput> = {
  name: 'report_outcome',
  title: 'Report the outcome of a purchase',
  description:
    'Reports what happened after a purchase was allowed: paid, failed, cancelled, or refunded. Report each purchase. Report FAILED only if it is certain that no money moved.',
  input: schemas.ReportOutcome,
  output: schemas.OutcomeOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  async run({ decision_id, outcome, amount, external_reference }, ctx, { call }) {
    const { signal } = ctx.mcpReq;
    if (amount === undefined && (outcome === 'EXECUTED' || outcome === 'PARTIALLY_REFUNDED'))
      return notDone(`amount is required with ${outcome}: give the amount paid, in major units.`);
    let amount_minor: number | undefined;
    if (amount !== undefined) {
      const { currency } = await getDecision(call, decision_id, { signal });
      const read = minorUnits(amount, currency);
      if ('problem' in read) return notDone(`amount ${read.problem}.`);
      ({ amount_minor } = read);
    }
    const { body } = await send(call, {
      method: 'POST',
      path: `/v1/decisions/${decision_id}/outcomes`,
      body: { type: TYPES[outcome], ...given({ amount_minor, external_reference }) },
      signal,
    });
    const { outcome_id, flags } = body as { outcome_id: string; flags: string[] };
    const { outcome_state } = await getDecision(call, decision_id, { signal });
    return answer({ outcome_id, outcome_state, flags });
  },
};

const getMyAuthority: Tool<Record<string, never>> = {
  name: 'get_my_authority',
  title: 'See what you may spend, and for what',
  description:
    'Shows the purpose you may spend for, the currency, the limit for a single purchase and the rest of the monthly budget. It grants nothing: call request_spend before each purchase.',
  input: schemas.Nothing,
  output: schemas.AuthorityOutput,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  run: async (_input, ctx, context) => answer(await readAuthority(context, ctx.mcpReq.signal)),
};

/**
 * The authority as a model may see it. It omits the review threshold and the blocklist, because a model that knows
 * them can evade them.
 */
export async function readAuthority(
  { call, agent_id }: ToolContext,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const path = `/v1/agents/${agent_id}` as const;
  const [agent, version] = await Promise.all([
    send(call, { method: 'GET', path, signal }),
    send(call, { method: 'GET', path: `${path}/authority`, signal }).catch((error: unknown) => {
      if (error instanceof Refused && error.code === 'not_found') return null;
      throw error;
    }),
  ]);
  const { slug, mode, status, budgets } = agent.body as AgentWithBudgets;
  if (version === null)
    throw new Refused(404, 'not_found', 'No authority is set for this agent, so it may buy nothing.');
  const { authority } = version.body as AuthorityVersion;
  const { currency, purpose, per_transaction_limit_minor: limit } = authority;
  const left = budgets.find((budget) => budget.currency === currency)?.remaining_minor ?? null;
  const { objective, success_criteria, constraints, context } = purpose;
  return {
    agent: slug,
    mode,
    status,
    purpose: {
      objective: bounded(objective, 2_000),
      ...given({
        success_criteria: success_criteria?.map((each) => bounded(each)),
        constraints: constraints?.map((each) => bounded(each)),
        context: context === undefined ? undefined : bounded(context, 4_000),
      }),
    },
    currency,
    per_transaction_limit: limit === undefined ? null : majorUnits(limit, currency),
    remaining_this_month: left === null ? null : majorUnits(left, currency),
  };
}

const outputOf = (capability: CapabilityMode) =>
  capability === 'result' ? schemas.SpendWithTokenOutput : schemas.SpendOutput;

/** The tool for whoever may look at single spends. */
export const readingTool = (capability: CapabilityMode) => getSpend(outputOf(capability));

/** The tools of an agent, besides the one that looks at a spend. */
export function agentTools(capability: CapabilityMode) {
  const output = outputOf(capability);
  return {
    requestSpend: requestSpend(output),
    waitForReview: waitForReview(output),
    reportOutcome,
    getMyAuthority,
    getMyAllowances,
    requestAllowance,
  };
}
