import { type Fields, isFields } from '../fields.ts';
import type { TokenUsage } from '../prices/price-table.ts';
import type { Shape } from '../requests/routes.ts';

/** A provider's report of a call. */
export interface Reported {
  /** Final, or null. */
  usage: TokenUsage | null;
  /** The input, where it was reported before the answer was complete; null if it was not. */
  input: Omit<TokenUsage, 'output'> | null;
  /** The tier that served the call; null for the standard one, undefined if the provider named none. */
  tier: string | null | undefined;
}

/** Reads the usage of one answer. Ignores a report that cannot be true. */
export interface UsageReader {
  readonly reported: Reported;
  /** The data of an event. Returns true if the event has the usage of a chat completion and nothing else. */
  event(data: string): boolean;
  /** The body of an answer that is not streamed. */
  whole(body: unknown): void;
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** More tokens than any call has are a mistake or a lie. */
const MAX_TOKENS = 1_000_000_000;

/** A number of tokens: 0 if the value is missing, NaN if it cannot be one. */
function tokens(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS
    ? (value as number)
    : Number.NaN;
}

function checked<T extends object>(usage: T): T | null {
  return Object.values(usage).every((value) => value >= 0) ? usage : null;
}

/** The usage as OpenAI reports it: the input holds what was read from a cache and written to one. */
function openAiUsage(value: unknown, names: { input: string; output: string | null }): TokenUsage | null {
  if (!isFields(value)) return null;
  if (value[names.input] === undefined || (names.output !== null && value[names.output] === undefined))
    return null;
  const details = fieldsOf(value[`${names.input}_details`]);
  const written = tokens(details.cache_write_tokens);
  const long = tokens(fieldsOf(details.cache_write_tokens_details).ttl_12h_tokens);
  const cached_input = tokens(details.cached_tokens);
  return checked({
    input: tokens(value[names.input]) - cached_input - written,
    cached_input,
    cache_write: written - long,
    cache_write_1h: long,
    output: names.output === null ? 0 : tokens(value[names.output]),
  });
}

function openAiTier(value: unknown): string | null | undefined {
  if (value === undefined) return undefined;
  return typeof value !== 'string' || value === 'default' || value === 'auto' ? null : value;
}

function parsed(data: string): Fields | null {
  try {
    const value: unknown = JSON.parse(data);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

/** The report of an answer that has named no usage yet. */
export const nothingReported = (): Reported => ({ usage: null, input: null, tier: undefined });

class ChatReader implements UsageReader {
  readonly reported = nothingReported();
  static readonly NAMES = { input: 'prompt_tokens', output: 'completion_tokens' };
  /** Some servers report along the way; only what comes last counts. */
  #latest: TokenUsage | null = null;

  event(data: string): boolean {
    if (data === '[DONE]') {
      this.reported.usage ??= this.#latest;
      return false;
    }
    const chunk = parsed(data);
    if (chunk === null) return false;
    this.#tier(chunk);
    if (!isFields(chunk.usage)) return false;
    this.#latest = openAiUsage(chunk.usage, ChatReader.NAMES);
    const is_alone = Array.isArray(chunk.choices) && chunk.choices.length === 0;
    if (is_alone) this.reported.usage = this.#latest;
    return is_alone;
  }

  whole(body: unknown): void {
    const fields = fieldsOf(body);
    this.#tier(fields);
    this.reported.usage = openAiUsage(fields.usage, ChatReader.NAMES);
  }

  #tier(fields: Fields): void {
    const tier = openAiTier(fields.service_tier);
    if (tier !== undefined) this.reported.tier = tier;
  }
}

class ResponsesReader implements UsageReader {
  readonly reported = nothingReported();

  event(data: string): boolean {
    const event = parsed(data);
    if (event === null || !isFields(event.response)) return false;
    if (/^response\.(?:completed|incomplete|failed)$/.test(String(event.type))) this.whole(event.response);
    return false;
  }

  whole(body: unknown): void {
    const fields = fieldsOf(body);
    this.reported.tier = openAiTier(fields.service_tier);
    this.reported.usage = openAiUsage(fields.usage, { input: 'input_tokens', output: 'output_tokens' });
  }
}

class EmbeddingsReader implements UsageReader {
  readonly reported = nothingReported();

  event(): boolean {
    return false;
  }

  whole(body: unknown): void {
    this.reported.usage = openAiUsage(fieldsOf(body).usage, { input: 'prompt_tokens', output: null });
  }
}

class MessagesReader implements UsageReader {
  readonly reported = nothingReported();
  #usage: Fields = {};

  event(data: string): boolean {
    const event = parsed(data);
    if (event === null) return false;
    if (event.type === 'message_start') this.#add(fieldsOf(event.message).usage);
    else if (event.type === 'message_delta') this.#add(event.usage);
    else if (event.type === 'message_stop' && this.#usage.output_tokens !== undefined) this.#finish();
    return false;
  }

  whole(body: unknown): void {
    this.#add(fieldsOf(body).usage);
    if (this.#usage.output_tokens !== undefined) this.#finish();
  }

  /** Each report holds all tokens so far, but may leave out what it repeats. */
  #add(usage: unknown): void {
    const given = Object.entries(fieldsOf(usage)).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    this.#usage = { ...this.#usage, ...Object.fromEntries(given) };
    this.reported.tier = this.#tier();
    this.reported.input = this.#input();
  }

  #input(): Omit<TokenUsage, 'output'> | null {
    if (this.#usage.input_tokens === undefined) return null;
    const long = tokens(fieldsOf(this.#usage.cache_creation).ephemeral_1h_input_tokens);
    return checked({
      input: tokens(this.#usage.input_tokens),
      cached_input: tokens(this.#usage.cache_read_input_tokens),
      cache_write: tokens(this.#usage.cache_creation_input_tokens) - long,
      cache_write_1h: long,
    });
  }

  #finish(): void {
    const { input } = this.reported;
    this.reported.usage =
      input === null ? null : checked({ ...input, output: tokens(this.#usage.output_tokens) });
  }

  /** A tier that is not named is the one that was asked for. */
  #tier(): string | null | undefined {
    const { speed, inference_geo } = this.#usage;
    const parts = [
      typeof speed === 'string' && speed !== 'standard' ? speed : null,
      typeof inference_geo === 'string' && !/^(?:global|not_available)$/.test(inference_geo)
        ? inference_geo
        : null,
    ].filter((each) => each !== null);
    if (parts.length > 0) return parts.join('+');
    return speed === undefined || inference_geo === undefined ? undefined : null;
  }
}

/** A reader for one answer of a call of this shape. */
export function makeUsageReader(shape: Shape): UsageReader {
  switch (shape) {
    case 'chat':
      return new ChatReader();
    case 'responses':
      return new ResponsesReader();
    case 'embeddings':
      return new EmbeddingsReader();
    case 'messages':
      return new MessagesReader();
  }
}
