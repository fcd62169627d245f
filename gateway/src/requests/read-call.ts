import { type Fields, isFields } from '../fields.ts';
import { type Content, readContent } from './content.ts';
import { BodyError, type Members, readMembers } from './json-members.ts';
import { describedTools, refuseUnbounded, tierOf } from './refusals.ts';
import { type CallRoute, Refused } from './routes.ts';

/** A call as its body says it, before prices. */
export interface CallRequest {
  route: CallRoute;
  bytes: Buffer;
  members: Members;
  body: Fields;
  model: string;
  is_streamed: boolean;
  /** Answers for one prompt: each may use the whole limit. */
  answers: number;
  /** The lowest limit on output tokens that the request itself sets; null without one. */
  asked_output: number | null;
  /** An output of this many tokens or fewer is worth nothing: it would not hold the thinking that is asked for. */
  thinking_tokens: number;
  tier: string | null;
  tier_param: string;
  /** Tokens of the input at most, unless the context window is less. Null: only the context window bounds it. */
  input_bound: number | null;
  /** Inputs that each have a context window of their own. */
  inputs: number;
  images: number;
  /** Tokens that are billed as output though they come with the request. */
  predicted_tokens: number;
  /** Why the cost of the call has no bound; null if it has one. */
  unbounded: Refused | null;
}

const TOKENS_AROUND_ENTRY = 16;
const TOKENS_AROUND_CALL = 1024;
/** A provider's own description of a tool that it runs nothing of, and of its use. The longest known has about 1,700. */
const TOKENS_OF_DESCRIBED_TOOL = 4096;
/** A sealed text may be compressed. Assume at most to a quarter of its length. */
const TIMES_SEALED = 4;

const decoder = new TextDecoder('utf-8', { fatal: true });

function parseBody(bytes: Buffer): Fields {
  let body: unknown;
  try {
    body = JSON.parse(decoder.decode(bytes));
  } catch {
    throw new BodyError('The body must be JSON in UTF-8.');
  }
  if (!isFields(body)) throw new BodyError('The body must be a JSON object.');
  return body;
}

/** Bytes of the text as a model may read it: escapes decoded, and in the longest of the forms that providers bring it to. */
function bytesRead(bytes: Buffer, body: Fields): number {
  const text = JSON.stringify(body);
  const length = Math.max(bytes.length, Buffer.byteLength(text));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII, which no form makes longer.
  if (/^[\x00-\x7f]*$/.test(text)) return length;
  return Math.max(length, Buffer.byteLength(text.normalize('NFKC')));
}

function countOf(body: Fields, name: string): number | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw new Refused('invalid_request', `${name} must be a whole number above 0.`, name);
  return value as number;
}

function inputBound(bytes: Buffer, body: Fields, content: Content): number | null {
  if (content.has_unseen) return null;
  return (
    bytesRead(bytes, body) -
    content.image_bytes +
    content.sealed_bytes * (TIMES_SEALED - 1) +
    content.entries * TOKENS_AROUND_ENTRY +
    describedTools(body) * TOKENS_OF_DESCRIBED_TOOL +
    TOKENS_AROUND_CALL
  );
}

const NO_CONTENT: Content = { entries: 0, images: 0, image_bytes: 0, sealed_bytes: 0, has_unseen: true };

/**
 * Reads what a call may cost from its body. Throws `Refused` (`invalid_request`) for a body that is no such call. A call
 * without a bound is read all the same, with `unbounded`, since SHADOW lets it pass.
 */
export function readCall(route: CallRoute, bytes: Buffer): CallRequest {
  let body: Fields;
  let members: Members;
  try {
    body = parseBody(bytes);
    members = readMembers(bytes);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw new Refused('invalid_request', error.message, error.param);
  }
  const { model } = body;
  if (typeof model !== 'string' || model === '' || model.length > 200)
    throw new Refused('invalid_request', 'model must be a text of 1 to 200 characters.', 'model');
  const { shape } = route;
  let content = NO_CONTENT;
  let unbounded: Refused | null = null;
  try {
    refuseUnbounded(shape, body);
    content = readContent(shape, body);
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'unbounded_request') throw error;
    unbounded = error;
  }
  const limits = route.limits.map((name) => countOf(body, name)).filter((each) => each !== null);
  const thinking = (body.thinking as Fields | null | undefined)?.budget_tokens;
  const { tier, param } = tierOf(shape, body);
  const is_predicted = shape === 'chat' && body.prediction != null;
  return {
    route,
    bytes,
    members,
    body,
    model,
    is_streamed: body.stream === true,
    answers: shape === 'chat' ? (countOf(body, 'n') ?? 1) : 1,
    // If the request has two limits, the provider may apply either.
    asked_output: limits.length === 0 ? null : Math.max(...limits),
    thinking_tokens: shape === 'messages' && Number.isSafeInteger(thinking) ? (thinking as number) : 0,
    tier,
    tier_param: param,
    input_bound: inputBound(bytes, body, content),
    inputs: shape === 'embeddings' ? content.entries : 1,
    images: content.images,
    predicted_tokens: is_predicted ? bytes.length : 0,
    unbounded,
  };
}
