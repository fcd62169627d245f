import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher, request } from 'undici';
import type { Upstream } from '../config.ts';

export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Dispatcher.ResponseData['body'];
}

/** No answer came. */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  /** False only if no byte of the call can have arrived. */
  readonly may_have_arrived: boolean;

  constructor(cause: unknown, may_have_arrived: boolean) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.may_have_arrived = may_have_arrived;
  }
}

const CONNECT_MS = 10_000;
/** Errors before there is a connection, and so before anything is sent. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|ERR_TLS_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/;

/** Sends calls to the providers. Nothing is sent twice. */
export class UpstreamClient {
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_MS },
    // A call has one time limit of its own, from its first byte to its last.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });

  /** Rejects with an `UpstreamError` if no answer began. */
  async send(
    upstream: Upstream,
    call: {
      method: string;
      path: string;
      headers: Record<string, string | string[]>;
      body: Buffer | null;
      signal: AbortSignal;
    },
  ): Promise<UpstreamAnswer> {
    const { method, path, headers, body, signal } = call;
    try {
      const answer = await request(`${upstream.url}${path}`, {
        dispatcher: this.#agent,
        method: method as Dispatcher.HttpMethod,
        headers,
        body,
        signal,
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      const code = String((error as NodeJS.ErrnoException).code ?? '');
      throw new UpstreamError(error, !NOT_CONNECTED.test(code));
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
