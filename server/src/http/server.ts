import { Server as NetServer, type Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError, invalidField, OVERLOADED } from '../errors.ts';
import { BODY_LIMIT, checkBodyHeaders, readBody } from './body.ts';
import { makeCall, runHandler } from './call.ts';
import { type ClientAddress, makeClientAddress } from './client-address.ts';
import type { Exchange } from './exchange.ts';
import {
  errorJson,
  keyUnknownYet,
  malformedRequest,
  rawErrorAnswer,
  toApiError,
  tooLate,
} from './failures.ts';
import { makeOverload } from './overload.ts';
import { parseQueryString } from './query-string.ts';
import { makeKeyLimit, makeUnknownKeyLimit, RETRY_AFTER_S } from './rate-limit.ts';
import { requestId, traceId } from './request-ids.ts';
import type { Answer, Route } from './route.ts';
import type { AuthResult, ServerOptions } from './server-options.ts';
import { writeAll } from './streams.ts';
import { compileSchema } from './validation.ts';

const UNKNOWN_ROUTE = 'unknown';
const JSON_TYPE = 'application/json';
/** In the log only: the client had gone before it could be answered. */
const CLIENT_GONE = 499;

/** A request's headers must have come within this time, the whole request within the next. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** How long clients are asked to close their connections before idle ones are closed. */
const DRAIN_NOTICE_MS = 500;
/** How long requests under way may take after that; then their connections are cut. */
const DRAIN_LIMIT_MS = 3_000;

/**
 * The HTTP server: routes as declared, keys, limits, validation, errors in one shape, a log line per request.
 * For a known route the order is: request id, key and limits, scope, body headers (all before the body is
 * read), path, query, idempotency key, body, handler. `close()` stops accepting and waits for what is in
 * flight.
 */
export function makeServer(options: ServerOptions): FastifyInstance {
  const { logger, metrics, now_ms, newRequestId } = options;
  const client_address: ClientAddress = makeClientAddress(options.trusted_proxies);
  const countKey = makeKeyLimit(options.rate_limit_per_minute, options.redis);
  const countUnknownKey = makeUnknownKeyLimit(options.unknown_key_limit_per_minute, now_ms, options.redis);
  let draining = false;
  const { most_writes, isFull } = options;
  const overload = makeOverload({
    most_writes,
    isFull,
    onRefused: (refused) => logger.warn({ refused }, 'overloaded: writes were refused'),
  });

  const server = Fastify({
    logger: false,
    genReqId: (message) => requestId(message.headers, newRequestId),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // A request that arrives on a kept-alive connection during the drain is answered, then the connection closed.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      // Node would answer a missing Host with an empty body; `begin` below refuses it in our own shape.
      requireHostHeader: false,
    },
    routerOptions: {
      // Path parameters are judged after the key, so that an odd id is a 404 of the resource and not of the route.
      maxParamLength: 16_384,
      querystringParser: (text) => parseQueryString(text) as unknown as Record<string, unknown>,
    },
    frameworkErrors: (_error, request, reply) => {
      // The one kind that can happen here: a path that cannot be decoded, which therefore names nothing.
      begin(request, UNKNOWN_ROUTE);
      void answerUnknownRoute(request, reply);
    },
    clientErrorHandler: (error, socket) => answerMalformed(error.code, socket as Socket),
  });

  function begin(request: FastifyRequest, route: string): void {
    request.exchange = {
      request_id: request.id,
      trace_id: traceId(request.headers),
      client_address: client_address(request.raw),
      route,
      began_ms: now_ms(),
      caller: null,
      count: null,
      deadline: null,
      answered: false,
    };
  }

  /**
   * Answers 503 when nothing else has answered in time: a database that says nothing, or a queue before it. What
   * was begun goes on, and a retry with the same idempotency key finds out what became of it.
   */
  function setDeadline(request: FastifyRequest, reply: FastifyReply, route: Route): void {
    const { exchange } = request;
    if (route.takes_long === true && exchange.caller !== null) return;
    exchange.deadline ??= setTimeout(() => {
      exchange.deadline = null;
      // A body that is still coming in is not our delay; the handler's time counts from its end.
      if (exchange.caller !== null && (route.takes_long === true || !request.raw.complete)) return;
      fail(request, reply, exchange.caller === null ? keyUnknownYet() : tooLate());
    }, options.deadline_ms);
  }

  /** Whether it is still to be answered: the deadline may have done it. */
  function isDue({ exchange }: FastifyRequest): boolean {
    if (exchange.deadline !== null) clearTimeout(exchange.deadline);
    return !exchange.answered;
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    payload: string | null,
    content_type: string,
    extra: Record<string, string> | undefined,
  ): void {
    if (!isDue(request)) return;
    const { exchange } = request;
    const body: Record<string, string | number> =
      payload === null ? {} : { 'content-type': content_type, 'content-length': Buffer.byteLength(payload) };
    const headers = headersOf(exchange, body, extra);
    const { raw } = reply;
    if (!reply.sent) reply.hijack();
    const gone = raw.destroyed || raw.headersSent;
    if (!gone) raw.writeHead(status, headers).end(payload ?? undefined);
    exchange.answered = true;
    record(request.method, exchange, gone ? CLIENT_GONE : status);
  }

  function headersOf(
    exchange: Exchange,
    body: Record<string, string | number>,
    extra: Record<string, string> | undefined,
  ): Record<string, string | number> {
    const headers: Record<string, string | number> = { 'x-request-id': exchange.request_id };
    for (const name in body) headers[name] = body[name] as string;
    headers['cache-control'] = 'no-store';
    headers['x-content-type-options'] = 'nosniff';
    if (exchange.count !== null) {
      headers['RateLimit-Policy'] = exchange.count.policy;
      headers.RateLimit = exchange.count.state;
    }
    if (draining) headers.connection = 'close';
    if (extra !== undefined) for (const name in extra) headers[name] = extra[name] as string;
    return headers;
  }

  /** Sends a body of any length. Rejects only before the first byte of it has gone out. */
  async function sendStream(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, headers, stream }: Answer & { stream: NonNullable<Answer['stream']> },
  ): Promise<void> {
    const { exchange } = request;
    const first = await stream.chunks.next();
    if (!isDue(request)) return;
    const { raw } = reply;
    if (!reply.sent) reply.hijack();
    if (!raw.destroyed) {
      raw.writeHead(status, headersOf(exchange, { 'content-type': stream.content_type }, headers));
    }
    exchange.answered = true;
    try {
      await writeAll(raw, first, stream.chunks);
    } catch (error) {
      logger.error({ err: error, request_id: exchange.request_id, route: exchange.route }, 'request failed');
    }
    record(request.method, exchange, raw.destroyed ? CLIENT_GONE : status);
  }

  function record(method: string, exchange: Exchange, status: number): void {
    const duration_ms = Math.round((now_ms() - exchange.began_ms) * 1000) / 1000;
    metrics.countRequest(method, exchange.route, status, duration_ms);
    logger.info(
      {
        method,
        route: exchange.route,
        status,
        duration_ms,
        request_id: exchange.request_id,
        workspace_id: exchange.caller?.workspace_id,
        key_id: exchange.caller?.key_id,
        trace_id: exchange.trace_id,
      },
      'request',
    );
  }

  function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): void {
    const { status, headers, text } = answer;
    if (text !== undefined) send(request, reply, status, text.content, text.content_type, headers);
    else if (answer.json !== undefined) send(request, reply, status, answer.json, JSON_TYPE, headers);
    else if (answer.body === undefined) send(request, reply, status, null, JSON_TYPE, headers);
    else send(request, reply, status, JSON.stringify(answer.body), JSON_TYPE, headers);
  }

  /** Answers with an error of which the log need not tell more than that the request had it. */
  function refuse(request: FastifyRequest, reply: FastifyReply, error: ApiError): void {
    const headers =
      error.retry_after_s === undefined ? undefined : { 'retry-after': String(error.retry_after_s) };
    send(request, reply, error.status, errorJson(error, request.exchange.request_id), JSON_TYPE, headers);
  }

  function fail(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const error = toApiError(thrown);
    const { exchange } = request;
    // A client that hangs up makes reading its body fail; that is no failure of the service.
    if (error.status >= 500 && !reply.raw.destroyed)
      logger.error(
        {
          err: error.cause ?? error,
          code: error.code,
          request_id: exchange.request_id,
          route: exchange.route,
        },
        'request failed',
      );
    refuse(request, reply, error);
  }

  function answerMalformed(code: string | undefined, socket: Socket): void {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const request_id = newRequestId();
    const error = malformedRequest(code);
    metrics.countRequest('unknown', 'malformed', error.status, 0);
    logger.info({ route: 'malformed', status: error.status, request_id, code }, 'request');
    // Bytes of another answer may be on their way already; a second one in between would be read as its part.
    if (pendingAnswer(socket)?.headersSent === true) socket.destroy();
    else socket.end(rawErrorAnswer(error, request_id), () => socket.destroy());
  }

  /** Counts a request against its key or, where the key is not good, against the client's address. */
  async function identify(request: FastifyRequest): Promise<AuthResult> {
    const { exchange } = request;
    const result = await options.authenticate(request.headers['x-api-key'] as string | undefined);
    if (result.ok) {
      exchange.caller = result.caller;
      exchange.count = await countKey(result.caller.key_id);
    } else {
      exchange.count = await countUnknownKey(exchange.client_address);
    }
    if (!exchange.count.within) {
      if (!result.ok) await overload.holdBack();
      const whose = result.ok ? 'this key' : 'this address without a valid key';
      throw new ApiError('rate_limited', `Too many requests with ${whose}; retry after ${RETRY_AFTER_S} s.`, {
        retry_after_s: RETRY_AFTER_S,
      });
    }
    return result;
  }

  async function admit(request: FastifyRequest, route: Route, scopes: readonly string[]): Promise<void> {
    const result = await identify(request);
    if (!result.ok) throw new ApiError('unauthenticated', result.message);
    const { caller } = result;
    const in_scope =
      caller.scopes.some((scope) => scopes.includes(scope)) ||
      (route.agentKey === 'own' && caller.agent_id !== null);
    if (!in_scope) {
      const held = caller.scopes.join(', ') || 'none';
      const whose = caller.agent_id === null ? 'This key' : 'This agent key';
      throw new ApiError(
        'insufficient_scope',
        `This needs the scope ${scopes.join(' or ')}. ${whose} has ${held}.`,
      );
    }
    checkBodyHeaders(request.raw, route);
  }

  async function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      // Without a key there is nothing to count; with one, probing for routes is no way around the limits.
      if (request.headers['x-api-key'] !== undefined) await identify(request);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'rate_limited') return fail(request, reply, error);
    }
    fail(request, reply, new ApiError('not_found', 'No such route.'));
  }

  function register(route: Route): void {
    const { scopes } = route;
    const validateQuery = route.query === undefined ? null : compileSchema(route.query, 'query');
    const validateBody = route.body === undefined ? null : compileSchema(route.body, 'body');
    server.route({
      method: route.method,
      url: route.path,
      onRequest: (request, reply, done) => {
        begin(request, route.path);
        if (request.headers.host === undefined && request.raw.httpVersionMinor === 1) {
          fail(request, reply, invalidField('host', 'is required'));
        } else if (scopes !== 'public') {
          if (route.method !== 'GET' && !overload.takeWrite(reply.raw)) {
            refuse(request, reply, OVERLOADED);
            return;
          }
          setDeadline(request, reply, route);
          admit(request, route, scopes).then(
            () => {
              if (!request.exchange.answered) done();
            },
            (error: unknown) => fail(request, reply, error),
          );
        } else {
          checkBodyHeaders(request.raw, route);
          done();
        }
      },
      handler: (request, reply) => {
        if (scopes !== 'public') setDeadline(request, reply, route);
        runHandler(route, makeCall(route, request, validateQuery, validateBody))
          .then((answer) => {
            const { stream } = answer;
            return stream === undefined
              ? sendAnswer(request, reply, answer)
              : sendStream(request, reply, { ...answer, stream });
          })
          .catch((error: unknown) => fail(request, reply, error));
      },
    });
  }

  server.removeAllContentTypeParsers();
  // The body is only gathered here; it is parsed once its route's path, query and headers have passed.
  server.addContentTypeParser('*', (_request, payload, done) => readBody(payload, done));
  server.setErrorHandler((error, request, reply) => {
    if (request.exchange === undefined) begin(request, UNKNOWN_ROUTE);
    fail(request, reply, error);
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    begin(request, UNKNOWN_ROUTE);
    void answerUnknownRoute(request, reply);
  });
  server.addHook('preClose', (done) => {
    draining = true;
    // Listening ends first, and by itself: whoever is told to close comes back at once, and would be cut off unheard
    // if that were in the moment when listening ends.
    NetServer.prototype.close.call(server.server);
    // Closing a kept-alive connection at once would cut off a request that is on its way. For a moment every
    // answer asks its client to close instead; what is still open then has been idle all the while.
    setTimeout(
      () => {
        for (const socket of sockets) if (pendingAnswer(socket) === null) socket.destroy();
        done();
      },
      sockets.size === 0 ? 0 : DRAIN_NOTICE_MS,
    );
    // A connection that never finishes its request's body would otherwise hold up the end of the process.
    setTimeout(() => server.server.closeAllConnections(), DRAIN_NOTICE_MS + DRAIN_LIMIT_MS).unref();
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // An expectation we do not know is ignored, as RFC 9110 allows, instead of Node's empty 417.
  server.server.on('checkExpectation', (message, response) =>
    server.server.emit('request', message, response),
  );
  server.server.on('connect', (message, socket) => {
    const request_id = requestId(message.headers, newRequestId);
    socket.end(rawErrorAnswer(new ApiError('not_found', 'No such route.'), request_id));
  });

  for (const route of options.routes) register(route);
  return server;
}

/** The answer that a connection is owed; null while it has sent no request, or only a part of its headers. */
function pendingAnswer(socket: Socket): { headersSent: boolean } | null {
  return (socket as Socket & { _httpMessage?: { headersSent: boolean } | null })._httpMessage ?? null;
}
