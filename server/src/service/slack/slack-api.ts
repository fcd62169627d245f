import { Agent, request } from 'undici';
import { retryAfterMs } from '../webhook-delivery/retry-after.ts';

/** The answer of a method of Slack's Web API. `error` is Slack's code, or one for an answer that did not come. */
export type SlackAnswer =
  | { ok: true; body: Record<string, unknown> }
  | { ok: false; error: string; retry_after_ms?: number };

/** Calls methods of Slack's Web API. */
export interface SlackApi {
  /** The base address: `https://slack.com/api`, without a slash at its end. */
  readonly base_url: string;
  /** Makes one call. Never rejects. */
  call(token: string, method: string, body: object, signal?: AbortSignal): Promise<SlackAnswer>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 262_144;
const DEFAULT_RETRY_AFTER_MS = 30_000;

/** Slack's codes are of this form; anything else that a server says is not passed on. */
const codeOf = (error: unknown): string =>
  typeof error === 'string' && /^[a-z0-9_]{1,60}$/.test(error) ? error : 'invalid_response';

async function readObject(stream: AsyncIterable<Uint8Array>): Promise<Record<string, unknown> | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) return null;
    parts.push(part);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Makes it for a base address. Redirects are not followed, and at most 256 kB of an answer are read. */
export function makeSlackApi(base_url: string): SlackApi {
  const dispatcher = new Agent({ connections: 8, keepAliveTimeout: 10_000 });
  return {
    base_url,
    async call(token, method, body, signal) {
      const limit = AbortSignal.timeout(TIMEOUT_MS);
      try {
        const answer = await request(`${base_url}/${method}`, {
          method: 'POST',
          dispatcher,
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json; charset=utf-8',
            accept: 'application/json',
          },
          body: JSON.stringify(body),
        });
        if (answer.statusCode === 429) {
          await answer.body.dump();
          const retry_after_ms = retryAfterMs(answer.headers['retry-after']) ?? DEFAULT_RETRY_AFTER_MS;
          return { ok: false, error: 'rate_limited', retry_after_ms };
        }
        const said = await readObject(answer.body);
        if (answer.statusCode !== 200) return { ok: false, error: 'bad_status' };
        if (said?.ok === true) return { ok: true, body: said };
        return { ok: false, error: codeOf(said?.error) };
      } catch {
        return { ok: false, error: limit.aborted ? 'timeout' : 'connection_closed' };
      }
    },
    close: () => dispatcher.destroy(),
  };
}
