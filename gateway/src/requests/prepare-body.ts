import { spliceMembers } from './json-members.ts';
import type { CallRequest } from './read-call.ts';

export interface PreparedBody {
  bytes: Buffer;
  /** The limit on output that was set or lowered; null if the request's own stayed. */
  max_tokens: number | null;
  /** The gateway asked for the usage of a stream, and takes it out of the answer. */
  removes_usage: boolean;
}

/**
 * The body that is sent: the request's bytes, with the limit on output if it differs from what the request says, and with
 * the usage of a streamed chat completion asked for. Null leaves the limits as they are, in SHADOW.
 */
export function prepareBody(call: CallRequest, output_tokens: number | null): PreparedBody {
  const { route, body, bytes, members } = call;
  const values = new Map<string, unknown>();
  const present = route.limits.filter((name) => body[name] !== undefined && body[name] !== null);
  const [first] = route.limits;
  if (output_tokens !== null) {
    if (first !== undefined && present.length === 0) values.set(first, output_tokens);
    for (const name of present) if ((body[name] as number) > output_tokens) values.set(name, output_tokens);
  }
  const max_tokens = values.size > 0 ? output_tokens : null;
  const options = body.stream_options as Record<string, unknown> | null | undefined;
  const removes_usage = route.shape === 'chat' && call.is_streamed && options?.include_usage !== true;
  if (removes_usage) values.set('stream_options', { ...options, include_usage: true });
  return { bytes: spliceMembers(bytes, members, values), max_tokens, removes_usage };
}
