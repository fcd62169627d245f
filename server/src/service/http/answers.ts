import type { ServerResponse } from 'node:http';
import type { ApiError } from '@purser/rules/errors';
import { type Coding, codingFor, compress, compressed } from '@purser/rules/values/compression';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission, Limits } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { errorJson, failureBehind, refusalReason, toApiError } from './failures.ts';
import type { Answer, JsonText } from './route.ts';
import type { ServerOptions } from './server-options.ts';
import { bodyOf, bytesOf, writeWhole } from './streams.ts';

const JSON_TYPE = 'application/json';
/** Sent with a 503 whose request may have been carried out. Repeating it is safe only with an idempotency key. */
const OUTCOME_HEADER = 'purser-outcome';
/** A status used in the log alone: the client closed the connection before the answer could be sent. */
const CLIENT_GONE = 499;

type Headers = NonNullable<Answer['headers']>;

type Payload = JsonText | null;

/** A payload in its form for the wire. */
interface Outgoing {
  status: number;
  payload: Payload;
  content_type: string;
  headers: Headers | undefined;
  /** The error that it says, for the log. */
  error?: ApiError;
}

export interface AnswersOptions extends Pick<ServerOptions, 'logger' | 'metrics' | 'now_ms'> {
  limits: Limits;
  admission: Admission;
  /** True if the next answer must ask its client to close the connection. */
  asksToClose: () => boolean;
}

/**
 * Answers requests: each request once, with the headers that all answers have, and with a line in the log. The exchange ends
 * when its answer was handed to the connection. The bytes that the client has not received by then count as unsent until it
 * has received them.
 */
export class Answers {
  readonly #options: AnswersOptions;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Sends the answer of a handler. It rejects only if nothing has been sent yet. */
  async answer(request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<void> {
    const { status, headers, text, json, body, stream } = answer;
    if (stream !== undefined) return this.#sendStream(request, reply, { ...answer, stream });
    request.exchange.span?.noteDecision(request.params, typeof json === 'string' ? json : undefined);
    const payload = text?.content ?? json ?? (body === undefined ? null : JSON.stringify(body));
    const coding = payload === null ? null : codingOf(request, answer);
    const short = coding === null || payload === null ? null : await compress(payload, coding);
    this.#send(request, reply, {
      status,
      payload: short ?? payload,
      content_type: text?.content_type ?? JSON_TYPE,
      headers: varied(request, headers, short === null ? null : coding),
    });
  }

  /** Sends the error that belongs to whatever was thrown. */
  fail(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const error = toApiError(thrown);
    const { exchange } = request;
    // Reading a body fails if the client closes the connection. That is not a failure of the service.
    if (error.is_overload) this.#options.admission.countRefusal();
    else if (error.status >= 500 && !reply.raw.destroyed) {
      const failure = failureBehind(error);
      if (failure !== null) this.#logFailure(exchange, failure, error.code);
    }
    const headers: Headers = {};
    if (error.retry_after_s !== undefined) headers['retry-after'] = String(error.retry_after_s);
    if (error.code === 'method_not_allowed') headers.allow = 'POST';
    if (error.is_outcome_unknown && request.method !== 'GET') headers[OUTCOME_HEADER] = 'unknown';
    const payload = errorJson(error, exchange.request_id);
    this.#send(request, reply, { status: error.status, payload, content_type: JSON_TYPE, headers, error });
  }

  #send(request: FastifyRequest, reply: FastifyReply, outgoing: Outgoing): void {
    const { exchange } = request;
    if (exchange.answered) return;
    const { payload, content_type } = outgoing;
    const body: Record<string, string | number> =
      payload === null ? {} : { 'content-type': content_type, 'content-length': bytesOf(payload) };
    const headers = this.#headersOf(exchange, body, outgoing.headers);
    const { raw } = reply;
    const gone = raw.destroyed || raw.headersSent;
    // This comes first because it throws if a header cannot be sent; Fastify's error handler then answers instead.
    if (!gone) raw.writeHead(outgoing.status, headers);
    // `reply.send` would write header names in lower case, add a charset to the content type, and pass a long body to
    // the socket as a whole, which hides how much of it a slow client has received.
    if (!reply.sent) reply.hijack();
    if (!gone) this.#write(exchange, raw, payload ?? '');
    exchange.answered = true;
    exchange.end();
    this.#record(request.method, exchange, gone ? CLIENT_GONE : outgoing.status, outgoing.error);
  }

  /** Writes a whole body. Unsent bytes count against the workspace. If it has too many of them, the connection is closed. */
  #write(exchange: Exchange, raw: ServerResponse, payload: JsonText): void {
    const { limits, admission, metrics } = this.#options;
    const unsent = writeWhole(raw, payload, limits);
    const release = unsent === 0 ? undefined : admission.unsent.tryTake(exchange.holder, unsent);
    if (release === null) {
      admission.countRefusal();
      metrics.countRefusal(admission.unsent.resource);
      raw.destroy();
    } else if (release !== undefined) raw.once('close', release);
  }

  async #sendStream(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, headers, stream }: Answer & { stream: NonNullable<Answer['stream']> },
  ): Promise<void> {
    const { exchange } = request;
    const { limits, admission } = this.#options;
    const { chunks, content_type, is_live = false } = stream;
    const coding = is_live ? null : codingOf(request, { status });
    // The generator is ended with the exchange, even if it was never started, so that it releases what it holds.
    exchange.hold(() => void chunks.return().catch((error: unknown) => this.#logFailure(exchange, error)));
    if (!is_live) exchange.hold(await admission.streams.take(exchange.holder));
    if (exchange.answered) return;
    const first = await chunks.next();
    if (exchange.answered) return;
    exchange.is_export = !is_live;
    const { raw } = reply;
    if (raw.destroyed) return this.#send(request, reply, { status, payload: null, content_type, headers });
    raw.statusCode = status;
    const extra = varied(request, headers, coding);
    const all = this.#headersOf(exchange, { 'content-type': content_type }, extra);
    raw.setHeaders(new Map(Object.entries(all)));
    exchange.answered = true;
    exchange.clearDeadline();
    const plain = bodyOf(raw, first, chunks, limits);
    const body = coding === null ? plain : compressed(plain, coding);
    body.once('error', (error) => this.#logFailure(exchange, error));
    body.once('close', () => {
      exchange.end();
      this.#record(request.method, exchange, raw.writableEnded ? status : CLIENT_GONE);
    });
    await reply.send(body);
  }

  #headersOf(exchange: Exchange, body: Record<string, string | number>, extra: Headers | undefined) {
    const headers: Record<string, string | number | string[]> = { 'x-request-id': exchange.request_id };
    for (const name in body) headers[name] = body[name] as string;
    headers['cache-control'] = 'no-store';
    headers['x-content-type-options'] = 'nosniff';
    if (exchange.count !== null) {
      headers['RateLimit-Policy'] = exchange.count.policy;
      headers.RateLimit = exchange.count.state;
    }
    if (this.#options.asksToClose()) headers.connection = 'close';
    if (extra !== undefined) for (const name in extra) headers[name] = extra[name] as string | string[];
    return headers;
  }

  #record(method: string, exchange: Exchange, status: number, error?: ApiError): void {
    const { logger, metrics, now_ms } = this.#options;
    const duration_ms = Math.round((now_ms() - exchange.began_ms) * 1000) / 1000;
    metrics.countRequest(method, exchange.route_name, status, duration_ms);
    exchange.span?.end(status, exchange.caller?.workspace_id);
    const line = {
      method,
      route: exchange.route_name,
      status,
      ...this.#whyOf(error),
      duration_ms,
      request_id: exchange.request_id,
      client_address: exchange.client_address,
      workspace_id: exchange.caller?.workspace_id,
      key_id: exchange.caller?.key_id,
      session_id: exchange.caller?.session?.session_id,
      trace_id: exchange.trace_id,
    };
    const kind = exchange.securityEvent(status);
    if (kind !== null) logger.warn({ ...line, event: 'security', kind }, 'request');
    else if (status >= 500) logger.warn(line, 'request');
    else logger.info(line, 'request');
  }

  /** The code of an error and, where the service turned the request away, the reason, which is counted. */
  #whyOf(error: ApiError | undefined): { code?: string; reason?: string } {
    if (error === undefined) return {};
    const reason = refusalReason(error);
    if (reason === null) return { code: error.code };
    this.#options.metrics.countRefusal(reason);
    return { code: error.code, reason };
  }

  #logFailure({ request_id, route_name: route }: Exchange, err: unknown, code?: string): void {
    this.#options.logger.error({ err, code, request_id, route }, 'request failed');
  }
}

/**
 * The coding of an answer's body. Only reads are compressed: what changes something is answered with keys, secrets and
 * capabilities, and a decision should not pay for it.
 */
function codingOf({ exchange: { route }, headers }: FastifyRequest, { status }: Answer): Coding | null {
  if (status !== 200 || route === null || route.method !== 'GET') return null;
  // Files of the console are compressed when they are built.
  if (route.shows_secret === true || route.serves_files === true) return null;
  return codingFor(headers['accept-encoding']);
}

/** Cache headers of a read, for each of its forms. */
function varied(
  { exchange: { route } }: FastifyRequest,
  headers: Headers | undefined,
  coding: Coding | null,
) {
  return route?.method !== 'GET' || route.serves_files === true || route.shows_secret === true
    ? headers
    : { ...headers, vary: 'accept-encoding', ...(coding === null ? {} : { 'content-encoding': coding }) };
}
