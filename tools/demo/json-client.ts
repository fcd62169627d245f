import { Agent, request } from 'node:http';

/** One answer. `body` is the parsed JSON, or the text where it is none. */
export interface Answer {
  status: number;
  body: unknown;
  /** From the first byte sent to the last one read. */
  took_ms: number;
}

export interface JsonClient {
  /** Sends one request; rejects only when no whole answer came. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): void;
}

const TIMEOUT_MS = 120_000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A client of the service's API on one connection that is kept. */
export function makeJsonClient(base_url: string, api_key: string): JsonClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send: JsonClient['send'] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const begun_at_ms = performance.now();
      const sent = request(
        new URL(path, base_url),
        {
          method,
          agent,
          timeout: TIMEOUT_MS,
          headers: {
            'x-api-key': api_key,
            ...(text === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...headers,
          },
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const took_ms = performance.now() - begun_at_ms;
            const received = Buffer.concat(chunks).toString('utf8');
            resolve({ status: answer.statusCode ?? 0, body: parsed(received), took_ms });
          });
        },
      );
      sent.on('timeout', () => sent.destroy(new Error(`no answer to ${method} ${path} in ${TIMEOUT_MS} ms`)));
      sent.on('error', reject);
      sent.end(text);
    });
  return { send, close: () => agent.destroy() };
}

/** What an error answer says, in one line: `400 invalid_request: action.currency: …`. */
export function describeError(answer: Answer): string {
  const { error } = (answer.body ?? {}) as { error?: { code?: unknown; message?: unknown } };
  if (typeof error?.code === 'string') return `${answer.status} ${error.code}: ${String(error.message)}`;
  const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  return `${answer.status} ${(text ?? '').slice(0, 200)}`;
}
