import { Agent, request } from 'undici';
import type { Protocol, Question, Usage } from './protocols.ts';

/** The result of one question to the model. `usage` is null where the endpoint told none. */
export type ModelAnswer =
  | { kind: 'answered'; content: string | object; usage: Usage | null }
  | { kind: 'not_understood'; usage: Usage | null }
  | {
      kind: 'http_error';
      status: number;
      retry_after_ms: number | null;
      /** The endpoint's own words, at most `MAX_MESSAGE_LENGTH`; left out where it sent none. */
      message?: string;
    }
  | { kind: 'timeout' | 'unreachable' | 'too_large' | 'stopping' }
  | { kind: 'cancelled' };

/** A client of one endpoint, in its protocol. */
export interface ModelClient {
  protocol: Protocol;
  /** Sends one question. Never rejects, and resolves within the time; `signal` ends it as `cancelled`. */
  ask(question: Question, timeout_ms: number, signal?: AbortSignal): Promise<ModelAnswer>;
  /** Aborts the questions under way, which resolve as `stopping`, and closes the connections. */
  stop(): Promise<void>;
}

export interface ModelClientOptions {
  address: URL;
  protocol: Protocol;
  /** Null: none is sent. */
  api_key: string | null;
  /** Maximum number of open connections. */
  connections: number;
  /** Time limit for connecting. */
  connect_ms: number;
  /** The date, ms since 1970, against which a `retry-after` that names one is read. */
  clock_ms: () => number;
}

/** An opinion takes about 1 KB; endpoints add fields of their own around it. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** An error's body is read up to about this length, in UTF-16 code units. */
const MAX_ERROR_LENGTH = 4_096;
/** An error is known by its status; its words are waited for this long. */
const ERROR_READ_MS = 250;
const MAX_MESSAGE_LENGTH = 200;

/**
 * Makes the client. It follows no redirects, ignores proxies of the environment, decompresses nothing, and reads at
 * most `MAX_ANSWER_BYTES` of an answer.
 */
export function makeModelClient(options: ModelClientOptions): ModelClient {
  const { address, protocol } = options;
  const dispatcher = new Agent({
    connections: options.connections,
    connect: { timeout: options.connect_ms },
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'purser',
    ...protocol.headers(options.api_key),
  };
  const under_way = new Set<AbortController>();
  let stopped = false;

  async function exchange(question: Question, signal: AbortSignal): Promise<ModelAnswer> {
    const answer = await request(address, {
      dispatcher,
      method: 'POST',
      headers,
      body: JSON.stringify(protocol.body(question)),
      signal,
    });
    const status = answer.statusCode;
    if (status < 200 || status > 299) {
      const retry_after_ms = retryAfterMs(answer.headers, options.clock_ms());
      const message = messageIn(await readStart(answer.body), options.api_key);
      return { kind: 'http_error', status, retry_after_ms, ...(message === null ? {} : { message }) };
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body) {
      length += (chunk as Buffer).length;
      // Leaving the loop closes the connection.
      if (length > MAX_ANSWER_BYTES) return { kind: 'too_large' };
      chunks.push(chunk as Buffer);
    }
    const { content, usage } = protocol.read(parsed(Buffer.concat(chunks).toString('utf8')));
    return content === null ? { kind: 'not_understood', usage } : { kind: 'answered', content, usage };
  }

  return {
    protocol,
    async ask(question, timeout_ms, signal) {
      if (stopped) return { kind: 'stopping' };
      const controller = new AbortController();
      under_way.add(controller);
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        controller.abort();
      }, timeout_ms);
      const cancel = () => controller.abort();
      signal?.addEventListener('abort', cancel);
      if (signal?.aborted) cancel();
      try {
        return await exchange(question, controller.signal);
      } catch {
        // The error is dropped because it may quote the question.
        if (stopped) return { kind: 'stopping' };
        return { kind: signal?.aborted ? 'cancelled' : late ? 'timeout' : 'unreachable' };
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        under_way.delete(controller);
      }
    },
    async stop() {
      stopped = true;
      for (const controller of under_way) controller.abort();
      await dispatcher.destroy();
    },
  };
}

/** Reads the beginning of an error's body; the rest is of no use, and would keep the connection busy. */
async function readStart(body: AsyncIterable<unknown> & { destroy(): unknown }): Promise<string> {
  let text = '';
  const enough = setTimeout(() => body.destroy(), ERROR_READ_MS);
  try {
    for await (const chunk of body) {
      text += (chunk as Buffer).toString('utf8');
      if (text.length >= MAX_ERROR_LENGTH) break;
    }
  } catch {
    // The status is enough.
  }
  clearTimeout(enough);
  body.destroy();
  return text;
}

/** The message in an error's body, on one line, without the key; null where there is none. */
function messageIn(text: string, api_key: string | null): string | null {
  const body = parsed(text) as { error?: { message?: unknown } | string; message?: unknown } | null;
  const error = body?.error;
  const said = body === null ? text : ((typeof error === 'object' ? error?.message : error) ?? body.message);
  if (typeof said !== 'string') return null;
  const line = (api_key === null ? said : said.replaceAll(api_key, '…')).replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line === '' ? null : line.slice(0, MAX_MESSAGE_LENGTH);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** When to ask again at the earliest, by `retry-after` in seconds or as a date, or by `retry-after-ms`; null: not told. */
function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  clock_ms: number,
): number | null {
  const textOf = (name: string) => {
    const value = headers[name];
    return (Array.isArray(value) ? (value[0] ?? '') : (value ?? '')).trim();
  };
  const ms = textOf('retry-after-ms');
  if (/^\d{1,9}(\.\d+)?$/.test(ms)) return Math.ceil(Number(ms));
  const after = textOf('retry-after');
  if (/^\d{1,9}(\.\d+)?$/.test(after)) return Math.ceil(Number(after) * 1000);
  const date_ms = /^[A-Z][a-z]{2},/.test(after) ? Date.parse(after) : Number.NaN;
  return Number.isNaN(date_ms) ? null : Math.max(0, date_ms - clock_ms);
}
