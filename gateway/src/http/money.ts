import { GatewayError, notActive } from '../errors.ts';
import { UNITS_IN_MINOR } from '../prices/money.ts';
import {
  findPrice,
  highestPrice,
  type ModelPrice,
  type PriceTable,
  type Scale,
  scaleTo,
} from '../prices/price-table.ts';
import type { AgentPurse, OpenCall } from '../purses/agent-purse.ts';
import type { Caller, ModelUsage } from '../purses/callers.ts';
import { refusalOf } from '../purses/refusals.ts';
import { type Bound, boundOf, type OutputOptions, refuseUnpricedTier } from '../requests/bound.ts';
import type { CallRequest } from '../requests/read-call.ts';
import { Refused } from '../requests/routes.ts';

/** A call that may be sent: its price, its bound, and the money that is set aside for it. */
export interface FundedCall {
  purse: AgentPurse;
  open: OpenCall;
  /** Null in SHADOW for a model without a price. */
  priced: { price: ModelPrice; scale: Scale; bound: Bound } | null;
  output_tokens: number;
  /** In SHADOW: what would have been done. */
  would: (() => string) | null;
  /** The rest of the limits and of the purse as the call starts; null without a limit. */
  remaining: bigint | null;
}

export interface FundingOptions extends OutputOptions {
  prices: PriceTable;
}

const isAllowed = (model: string, { models }: ModelUsage): boolean =>
  models === undefined ||
  models.some((each) => (each.endsWith('*') ? model.startsWith(each.slice(0, -1)) : model === each));

/** The price of a call in the purse's currency. Throws `Refused` if the table has none. */
function priceOf(
  call: CallRequest,
  caller: Caller,
  currency: string,
  prices: PriceTable,
): { price: ModelPrice; scale: Scale } {
  const { provider } = call.route;
  const found = findPrice(prices, provider, call.model);
  const takes_highest = caller.agent.authority?.model_usage?.on_unknown_price === 'HIGHEST_PRICE';
  const price = found ?? (takes_highest ? highestPrice(prices, provider, call.model) : undefined);
  if (price === undefined)
    throw new Refused(
      'price_unknown',
      `This gateway has no price for the model ${JSON.stringify(call.model)}.`,
      'model',
    );
  const scale = scaleTo(prices, price.currency, currency);
  if (scale === null)
    throw new Refused(
      'price_unknown',
      `This gateway has no rate from ${price.currency} to ${currency}.`,
      'model',
    );
  return { price, scale };
}

/** The currency of a call's purse: the authority's, else that of the price. */
export function currencyOf(call: CallRequest, caller: Caller, prices: PriceTable): string {
  const { authority } = caller.agent;
  return authority?.currency ?? findPrice(prices, call.route.provider, call.model)?.currency ?? 'USD';
}

/** Throws a `GatewayError` if the agent may make no such call, whatever it costs. */
function checkAgent({ agent }: Caller, model: string): void {
  if (!agent.may_spend) throw notActive();
  if (agent.authority === null)
    throw new GatewayError('model_not_allowed', 'This agent has no authority to spend.', {
      reason: 'NO_AUTHORITY',
    });
  if (!isAllowed(model, agent.authority.model_usage ?? {}))
    throw new GatewayError(
      'model_not_allowed',
      `This agent may not call the model ${JSON.stringify(model)}.`,
      {
        param: 'model',
      },
    );
}

/** Sets money aside for a call. Rejects with a `GatewayError` that says why none is to be had. */
export async function fundCall(
  call: CallRequest,
  caller: Caller,
  purse: AgentPurse,
  options: FundingOptions,
  signal: AbortSignal,
): Promise<FundedCall> {
  if (caller.agent.mode === 'SHADOW') return fundInShadow(call, caller, purse, options);
  try {
    checkAgent(caller, call.model);
    if (call.unbounded !== null) throw call.unbounded;
    const { price, scale } = priceOf(call, caller, purse.name.currency, options.prices);
    const bound = boundOf(call, price, scale, options);
    refuseUnpricedTier(call, price, bound.input_tokens);
    const lowers = caller.agent.authority?.model_usage?.on_low_budget !== 'REFUSE';
    const least = lowers ? bound.least : bound.at_most;
    const tokens = (amount: bigint) => ({
      input: bound.input_tokens,
      output: bound.outOf(bound.outputFor(amount)),
    });
    const open = await purse.open(call.model, bound.at_most, least, tokens, signal);
    return {
      purse,
      open,
      priced: { price, scale, bound },
      output_tokens: bound.outputFor(open.amount),
      would: null,
      remaining: remainingOf(purse),
    };
  } catch (error) {
    throw refusalOf(error);
  }
}

function remainingOf(purse: AgentPurse): bigint | null {
  const remaining_minor = purse.remainingMinor();
  if (remaining_minor === null) return null;
  const free = purse.purse.free > 0n ? purse.purse.free : 0n;
  return BigInt(remaining_minor) * UNITS_IN_MINOR + free;
}

/** In SHADOW the call passes whatever is against it; the answer says what would have been done. */
function fundInShadow(
  call: CallRequest,
  caller: Caller,
  purse: AgentPurse,
  options: FundingOptions,
): FundedCall {
  let refusal: GatewayError | null = null;
  const noting = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal ??= error;
      return null;
    }
  };
  noting(() => checkAgent(caller, call.model));
  noting(() => {
    if (call.unbounded !== null) throw call.unbounded;
  });
  const found = noting(() => priceOf(call, caller, purse.name.currency, options.prices));
  const priced =
    found === null ? null : { ...found, bound: boundOf(call, found.price, found.scale, options) };
  if (priced !== null) noting(() => refuseUnpricedTier(call, priced.price, priced.bound.input_tokens));
  const output_tokens = priced?.bound.output_tokens ?? 0;
  const tokens = { input: priced?.bound.input_tokens ?? 0, output: priced?.bound.outOf(output_tokens) ?? 0 };
  const open = purse.openUnchecked(call.model, priced?.bound.at_most ?? 0n, tokens);
  return {
    purse,
    open,
    priced,
    output_tokens,
    would: () =>
      refusal === null ? wouldOf(purse, caller, priced?.bound ?? null) : `REFUSE ${refusal.reason}`,
    remaining: remainingOf(purse),
  };
}

/** The meaning that the newest decision on a lease would have had for a call. */
function wouldOf(purse: AgentPurse, caller: Caller, bound: Bound | null): string {
  const decision = purse.purse.decision;
  if (decision === null || bound === null) return 'ALLOW';
  if (decision.decision !== 'ALLOW') return `REFUSE ${decision.reason_code}`;
  const allowed = BigInt(decision.authorized_amount_minor) * UNITS_IN_MINOR;
  if (decision.authorized_amount_minor >= decision.requested_amount_minor || allowed >= bound.at_most)
    return 'ALLOW';
  const lowers = caller.agent.authority?.model_usage?.on_low_budget !== 'REFUSE';
  return lowers && allowed >= bound.least
    ? `LOWER ${bound.outputFor(allowed)}`
    : `REFUSE ${decision.reason_code}`;
}
