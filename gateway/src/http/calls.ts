import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config, Upstream } from '../config.ts';
import { GatewayError, unreachable } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { exactMajor, roundedMajor } from '../prices/money.ts';
import { NO_USAGE, type TokenUsage } from '../prices/price-table.ts';
import type { Caller, Callers } from '../purses/callers.ts';
import type { Purses } from '../purses/purses.ts';
import { prepareBody } from '../requests/prepare-body.ts';
import { type CallRequest, readCall } from '../requests/read-call.ts';
import type { CallRoute } from '../requests/routes.ts';
import { makeUsageReader, nothingReported, type Reported, type UsageReader } from '../usage/readers.ts';
import { settlementOf } from '../usage/settle.ts';
import { isStream, passStream, readUsage, readWhole } from './answers.ts';
import { headersToClient, headersToUpstream, keyOf } from './headers.ts';
import { currencyOf, type FundedCall, fundCall } from './money.ts';
import { readBody } from './read-body.ts';
import { type UpstreamAnswer, type UpstreamClient, UpstreamError } from './upstream.ts';

export interface CallParts {
  config: Config;
  callers: Callers;
  purses: Purses;
  client: UpstreamClient;
  metrics: Metrics;
  log: Log;
}

const NOTHING: Reported = nothingReported();

/** A call on its way, from its money to its settlement. */
class Flight {
  readonly #parts: CallParts;
  readonly #call: CallRequest;
  readonly #funded: FundedCall;
  #is_settled = false;

  constructor(parts: CallParts, call: CallRequest, funded: FundedCall) {
    this.#parts = parts;
    this.#call = call;
    this.#funded = funded;
  }

  /** Settles a call that the provider did not bill. */
  free(): bigint {
    return this.#settle(0n, NO_USAGE, false);
  }

  /** Settles a call at its reported usage, or at the worst case for what the report lacks; at 0 if it was never sent. Returns the amount. */
  count(reported: Reported): bigint {
    const { priced, open, output_tokens } = this.#funded;
    if (!open.is_sent) return this.free();
    // In SHADOW a model without a price costs nothing, since nobody knows what it costs.
    if (priced === null) return this.#settle(0n, reported.usage ?? NO_USAGE, true);
    const reserved = { ...priced, tier: this.#call.tier, output_tokens, amount: open.amount };
    const { amount, usage, is_uncertain } = settlementOf(reserved, reported);
    return this.#settle(amount, usage, is_uncertain);
  }

  #settle(amount: bigint, usage: TokenUsage, uncertain: boolean): bigint {
    if (this.#is_settled) return amount;
    this.#is_settled = true;
    const { metrics, log } = this.#parts;
    const { open, purse, priced } = this.#funded;
    const { model } = this.#call;
    if (uncertain) metrics.count('purser_gateway_uncertain_total');
    if (amount > open.amount && priced !== null && purse.name.mode === 'ENFORCE') {
      metrics.count('purser_gateway_over_bound_total');
      log('error', 'A call cost more than was set aside for it: the price table or the bound is wrong', {
        purse: purse.id,
        model: priced.price.model,
        usage,
        ...{
          reserved: exactMajor(open.amount, purse.name.currency),
          cost: exactMajor(amount, purse.name.currency),
        },
      });
    }
    open.settle({ model: priced?.price.model ?? model, usage, uncertain, amount });
    return amount;
  }
}

/** A signal that ends with the call's time, and while no money is set aside also when the client leaves. */
function makeSignals(response: ServerResponse, call_ms: number) {
  const timed = new AbortController();
  const left = new AbortController();
  const timer = setTimeout(() => {
    timed.abort(new Error('The call took too long.'));
    left.abort(timed.signal.reason);
  }, call_ms);
  response.once('close', () => left.abort(new Error('The client is gone.')));
  return { timed, left: left.signal, end: () => clearTimeout(timer) };
}

function addedHeaders(
  call: CallRequest,
  funded: FundedCall,
  max_tokens: number | null,
): Record<string, string> {
  const { purse, remaining, would } = funded;
  const { currency, mode } = purse.name;
  const lease = purse.purse.leases.at(-1);
  return {
    ...(lease && { 'x-purser-decision': lease.decision_id }),
    ...(remaining === null
      ? {}
      : { 'x-purser-remaining': `${roundedMajor(remaining, currency)} ${currency}` }),
    'x-purser-mode': mode,
    ...(max_tokens === null || call.route.limits.length === 0
      ? {}
      : { 'x-purser-max-tokens': String(max_tokens) }),
    ...(would === null ? {} : { 'x-purser-would': would() }),
  };
}

/** Passes a call that costs money on to its provider. Rejects with a `GatewayError` before the first byte of an answer. */
export async function serveCall(
  parts: CallParts,
  route: CallRoute,
  upstream: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { config, callers, purses } = parts;
  const caller = await callers.check(keyOf(request.headers));
  const call = readCall(route, await readBody(request));
  const signals = makeSignals(response, config.call_ms);
  try {
    const purse = purses.purseOf(caller, upstream, currencyOf(call, caller, config.prices));
    const funded = await fundCall(call, caller, purse, config, signals.left).catch((error: unknown) => {
      if (error instanceof GatewayError && error.code === 'budget_in_use') purses.settle(purse);
      throw error;
    });
    const flight = new Flight(parts, call, funded);
    // Past this point the money is set aside, and every way out settles it.
    try {
      await fly(parts, { call, caller, funded, flight, upstream, request, response }, signals.timed.signal);
    } catch (error) {
      flight.count(NOTHING);
      throw error;
    }
  } finally {
    signals.end();
  }
}

interface OpenFlight {
  call: CallRequest;
  caller: Caller;
  funded: FundedCall;
  flight: Flight;
  upstream: Upstream;
  request: IncomingMessage;
  response: ServerResponse;
}

async function fly(parts: CallParts, open: OpenFlight, signal: AbortSignal): Promise<void> {
  const { call, funded, upstream, request } = open;
  const { metrics } = parts;
  // In SHADOW nothing is lowered, and a model without a price has no limit to set.
  const is_shadow = funded.purse.name.mode === 'SHADOW';
  const own = call.asked_output ?? funded.output_tokens;
  const prepared = prepareBody(call, is_shadow ? null : funded.output_tokens);
  const { bytes, max_tokens, removes_usage } = prepared;
  if (max_tokens !== null && max_tokens < own) metrics.count('purser_gateway_lowered_total');
  let answer: UpstreamAnswer;
  try {
    const headers = headersToUpstream(request.headers, upstream, true);
    answer = await parts.client.send(upstream, {
      method: 'POST',
      path: request.url ?? '',
      headers,
      body: bytes,
      signal,
      sending: () => funded.open.send(),
    });
  } catch (error) {
    throw error instanceof UpstreamError ? unreachable(upstream.name) : error;
  }
  metrics.count(
    'purser_gateway_calls_total',
    `provider="${upstream.provider}",shape="${call.route.shape}",status="${answer.status}"`,
  );
  const reader = makeUsageReader(call.route.shape);
  const added = addedHeaders(call, funded, max_tokens);
  if (isStream(answer) && answer.status < 400)
    await stream(parts, open, answer, reader, added, removes_usage);
  else await whole(open, answer, reader, added);
}

async function stream(
  { config, metrics }: CallParts,
  { flight, response }: OpenFlight,
  answer: UpstreamAnswer,
  reader: UsageReader,
  added: Record<string, string>,
  removes_usage: boolean,
): Promise<void> {
  const headers = { ...headersToClient(answer.headers), ...added };
  if (removes_usage) delete headers['content-length'];
  response.once('close', () => {
    if (!response.writableFinished) metrics.count('purser_gateway_aborted_total');
  });
  if (!response.destroyed) {
    response.writeHead(answer.status, headers);
    response.flushHeaders();
  }
  await passStream(answer, response, reader, { removes_usage, drains: config.on_client_abort === 'drain' });
  flight.count(reader.reported);
}

async function whole(
  { flight, funded, response }: OpenFlight,
  answer: UpstreamAnswer,
  reader: UsageReader,
  added: Record<string, string>,
): Promise<void> {
  const body = await readWhole(answer, response);
  if (body === undefined) {
    flight.count(NOTHING);
    return;
  }
  const is_error = readUsage(answer.status, body, reader);
  const cost = is_error ? flight.free() : flight.count(reader.reported);
  const { currency } = funded.purse.name;
  response.writeHead(answer.status, {
    ...headersToClient(answer.headers),
    ...added,
    'x-purser-cost': `${exactMajor(cost, currency)} ${currency}`,
    'content-length': String(body.length),
  });
  response.end(body);
}
