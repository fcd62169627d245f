import { divideUp } from '../prices/money.ts';
import { isTierPriced, type ModelPrice, type Scale, worstPrices } from '../prices/price-table.ts';
import type { CallRequest } from './read-call.ts';
import { Refused } from './routes.ts';

/** The most that a call can cost, by the limit on its output. */
export interface Bound {
  /** Tokens that go in, at most. */
  input_tokens: number;
  /** The limit on output tokens of one answer: the request's, or the default, or the model's own. */
  output_tokens: number;
  /** The lowest limit that is worth sending. */
  least_output_tokens: number;
  /** The highest cost with `output_tokens`, and with `least_output_tokens`. */
  at_most: bigint;
  least: bigint;
  /** The highest limit, up to `output_tokens`, whose cost is at most this amount. */
  outputFor(amount: bigint): number;
  /** All tokens that come out at this limit: of each answer, and those that were sent as a prediction. */
  outOf(output_tokens: number): number;
}

/** Limits of the gateway on outputs. */
export interface OutputOptions {
  default_output_tokens: number;
  min_output_tokens: number;
}

/** Throws `Refused` if the call asks for a tier whose price is not known. */
export function refuseUnpricedTier(call: CallRequest, price: ModelPrice, input_tokens: number): void {
  if (isTierPriced(price, call.tier, input_tokens)) return;
  throw new Refused(
    'unbounded_request',
    `The cost of this call has no bound: ${call.model} has no price with ${call.tier_param} ${JSON.stringify(call.tier)}. Leave out ${call.tier_param}.`,
    call.tier_param,
  );
}

/** The most tokens of input that the provider can bill: a token is at least one byte of what the model reads. */
function maxInputTokens(call: CallRequest, price: ModelPrice): number {
  const all_windows = price.context_window * call.inputs;
  if (call.input_bound === null) return all_windows;
  return Math.min(all_windows, call.input_bound + call.images * price.image_tokens);
}

/** The highest cost of a call, each token at the highest price that it can meet. */
export function boundOf(call: CallRequest, price: ModelPrice, scale: Scale, options: OutputOptions): Bound {
  const input_tokens = maxInputTokens(call, price);
  const worst = worstPrices(price, call.tier, input_tokens);
  const of_model = price.max_output_tokens ?? 0;
  const output_tokens = Math.min(call.asked_output ?? options.default_output_tokens, of_model);
  const worth = Math.max(Math.min(output_tokens, options.min_output_tokens), call.thinking_tokens + 1);
  const least_output_tokens = Math.min(output_tokens, worth);
  const outOf = (tokens: number) => tokens * call.answers + call.predicted_tokens;
  const priced = (tokens: number) =>
    BigInt(input_tokens) * worst.input + BigInt(outOf(tokens)) * worst.output;
  const costOf = (tokens: number) => divideUp(priced(tokens) * scale.numerator, scale.denominator);
  return {
    input_tokens,
    output_tokens,
    least_output_tokens,
    at_most: costOf(output_tokens),
    least: costOf(least_output_tokens),
    outputFor(amount) {
      const left = (amount * scale.denominator) / scale.numerator - priced(0);
      const of_token = worst.output * BigInt(call.answers);
      if (of_token === 0n) return output_tokens;
      const tokens = left < 0n ? 0n : left / of_token;
      return tokens > BigInt(output_tokens) ? output_tokens : Number(tokens);
    },
    outOf,
  };
}
