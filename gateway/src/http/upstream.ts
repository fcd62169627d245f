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

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

const CONNECT_MS = 10_000;

/** Calls `sending` when a request is about to be written to its connection. What it throws keeps the request from being sent. */
const beforeSending =
  (sending: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        sending();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });

/** Sends calls to the providers. Nothing is sent twice. */
export class UpstreamClient {
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_MS },
    // A call has one time limit of its own, from its first byte to its last.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });

  /**
   * Calls `sending` before the first byte goes out, and sends nothing if that throws. Rejects with its error, or with an
   * `UpstreamError` if no answer began.
   */
  async send(
    upstream: Upstream,
    call: {
      method: string;
      path: string;
      headers: Record<string, string | string[]>;
      body: Buffer | null;
      signal: AbortSignal;
      sending?: () => void;
    },
  ): Promise<UpstreamAnswer> {
    const { method, path, headers, body, signal, sending = () => {} } = call;
    let failure: { error: unknown } | undefined;
    const notice = () => {
      try {
        sending();
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    try {
      const answer = await request(`${upstream.url}${path}`, {
        dispatcher: this.#agent.compose(beforeSending(notice)),
        method: method as Dispatcher.HttpMethod,
        headers,
        body,
        signal,
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      throw failure === undefined ? new UpstreamError(error) : failure.error;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
