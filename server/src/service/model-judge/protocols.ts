import type { Prompt } from './prompt.ts';

/** How a model may be talked to. */
export const PROTOCOLS = ['chat', 'responses', 'anthropic'] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

/** How an answer is asked for. Endpoints differ in which of these they take; the probe finds out. */
export interface Form {
  /** By a schema that the provider enforces, as any JSON object, or by the words of the prompt alone. */
  output: 'schema' | 'object' | 'words';
  /** Without sampling parameters, and with the newer name of the limit of tokens: some models refuse the others. */
  is_lean: boolean;
}

/** Tokens of one call. `input_tokens` holds the cached ones too. */
export interface Usage {
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
}

export interface Question {
  prompt: Prompt;
  model: string;
  /** Further fields for the body, as the operator set them, by the names of the chat protocol. */
  parameters: Readonly<Record<string, unknown>>;
  form: Form;
}

/** The contents of a response: the model's text, or the object given to the tool. Null if there is none. */
export interface ModelReply {
  content: string | object | null;
  /** Null where the endpoint does not tell. */
  usage: Usage | null;
}

/** One provider's way of asking and answering. Pure. */
export interface Protocol {
  name: ProtocolName;
  /** The end of the address's path. */
  path: string;
  /** `api_key` null: the endpoint wants none. */
  headers(api_key: string | null): Record<string, string>;
  body(question: Question): object;
  /** Reads the parsed body of an answer with a status of 2xx. Never throws. */
  read(answer: unknown): ModelReply;
  /** The forms to try, the best first. */
  forms: readonly Form[];
}

/** Parameters of sampling, which reasoning models refuse. */
const SAMPLING = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty'];
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** The operator's parameters with the limit of tokens under the protocol's name, and no sampling where the form is lean. */
export function parametersFor(
  { parameters, form }: Question,
  limit: (typeof LIMITS)[number],
): Record<string, unknown> {
  const kept = Object.entries(parameters).flatMap(([name, value]) => {
    if (form.is_lean && SAMPLING.includes(name)) return [];
    return [[LIMITS.includes(name) ? limit : name, value]];
  });
  return Object.fromEntries(kept);
}

/** Each output with and without what some models refuse. */
export function formsOf(outputs: readonly Form['output'][]): Form[] {
  return outputs.flatMap((output) => [
    { output, is_lean: false },
    { output, is_lean: true },
  ]);
}

/** A field of something that may not be an object. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The members of something that may not be a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A count of tokens; 0 where it is none. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** The header of OpenAI and its like. */
export function bearer(api_key: string | null): Record<string, string> {
  return api_key === null ? {} : { authorization: `Bearer ${api_key}` };
}
