import { Server as NetServer } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError, OVERLOADED } from '../errors.ts';
import { makeAccess } from './access.ts';
import { makeAdmission } from './admission.ts';
import { makeAnswers } from './answers.ts';
import { BODY_LIMIT, checkBodyHeaders, hasBody, readBody } from './body.ts';
import { makeCall, runHandler } from './call.ts';
import { makeClientAddress } from './client-address.ts';
import { makeConnections } from './connections.ts';
import { Exchange, makeHolds } from './exchange.ts';
import { checkMessage, keyUnknownYet, tooLate } from './failures.ts';
import { LIMITS } from './limits.ts';
import { parseQueryString } from './query-string.ts';
import { requestId, traceId } from './request-ids.ts';
import type { Call, Route } from './route.ts';
import type { ServerOptions } from './server-options.ts';
import type { Shares } from './shares.ts';
import { compileSchema } from './validation.ts';

const UNKNOWN_ROUTE = 'unknown';

/** How long clients are asked to close their connections before idle ones are closed. */
const DRAIN_NOTICE_MS = 500;
/** How long requests under way may take after that; then their connections are cut. */
const DRAIN_LIMIT_MS = 3_000;

/**
 * The HTTP server: routes as declared, keys, limits, validation, errors in one shape, a log line per request.
 * For a known route the order is: request id, key and limits, scope, body headers (all before the body is read), body,
 * a place among the writes, path, query, idempotency key, the body's content, handler. `close()` stops accepting and
 * waits for what is in flight.
 */
export function makeServer(options: ServerOptions): FastifyInstance {
  const { logger, metrics, now_ms, newRequestId, isFull } = options;
  const limits = { ...LIMITS, ...options.limits };
  const clientAddress = makeClientAddress(options.trusted_proxies);
  const admission = makeAdmission(limits, (refused) =>
    logger.warn({ refused }, 'overloaded: requests were refused'),
  );
  const { connections: of_addresses, bodies, writes, streams, unsent } = admission;
  for (const { resource, total, inUse } of [of_addresses, bodies, writes, streams, unsent])
    metrics.watchUse(resource, total, inUse);
  let draining = false;
  const holds = makeHolds();
  const { answer, fail } = makeAnswers({
    logger,
    metrics,
    now_ms,
    limits,
    admission,
    isDraining: () => draining,
  });
  const { identify, admit, admitPublic } = makeAccess(options, admission);
  const connections = makeConnections({
    limits,
    shares: of_addresses,
    keep_alive_ms: options.keep_alive_ms,
    newRequestId,
    onDropped: admission.countRefusal,
    onRejected({ socket, request_id, error: { status }, code }) {
      metrics.countRequest('unknown', 'malformed', status, 0);
      const client_address = clientAddress({ socket, headers: {} });
      logger.info({ route: 'malformed', status, request_id, client_address, code }, 'request');
    },
  });

  const server = Fastify({
    logger: false,
    genReqId: (message) => requestId(message.headers, newRequestId),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // A request that arrives on a kept-alive connection during the drain is answered, then the connection closed.
    return503OnClosing: false,
    serverFactory: connections.makeServer,
    // The connections answer those themselves.
    clientErrorHandler: () => {},
    routerOptions: {
      // Path parameters are judged after the key, so that an odd id is a 404 of the resource and not of the route.
      maxParamLength: 16_384,
      querystringParser: (text) => parseQueryString(text) as unknown as Record<string, unknown>,
    },
    frameworkErrors: (_error, request, reply) => {
      // The one kind that can happen here: a path that cannot be decoded, which therefore names nothing.
      begin(request, reply, UNKNOWN_ROUTE);
      void answerUnknownRoute(request, reply);
    },
  });

  function begin(request: FastifyRequest, reply: FastifyReply, route: string): void {
    const exchange = new Exchange({
      request_id: request.id,
      trace_id: traceId(request.headers),
      client_address: clientAddress(request.raw),
      route,
      began_ms: now_ms(),
    });
    request.exchange = exchange;
    // Every answer under way has its connection (connections.ts), so this comes, however it ends.
    reply.raw.once('close', () => exchange.end());
  }

  /**
   * Answers 503 when nothing else has answered in time: a database that says nothing, or a queue before it. What
   * was begun goes on, and a retry with the same idempotency key finds out what became of it.
   */
  function setDeadline(request: FastifyRequest, reply: FastifyReply, route: Route): void {
    const { exchange } = request;
    if (route.takes_long === true && exchange.caller !== null) return;
    exchange.setDeadline(options.deadline_ms, () => {
      // A body that is still coming in is not our delay; the handler's time counts from its end.
      if (exchange.caller !== null && (route.takes_long === true || !request.raw.complete)) return;
      fail(request, reply, exchange.caller === null ? keyUnknownYet() : tooLate());
    });
  }

  /** Takes one of something for a request, until its end or until what this gives is called. */
  function takeShare({ exchange }: FastifyRequest, shares: Shares): () => void {
    const release = shares.tryTake(exchange.holder);
    if (release === null) throw OVERLOADED;
    exchange.hold(release);
    return release;
  }

  async function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      checkMessage(request.raw, limits.max_headers);
      // Without a key there is nothing to count; with one, probing for routes is no way around the limits.
      if (request.headers['x-api-key'] !== undefined) await identify(request);
    } catch (error) {
      if (error instanceof ApiError && error.code !== 'auth_unavailable') return fail(request, reply, error);
    }
    fail(request, reply, new ApiError('not_found', 'No such route.'));
  }

  /** All that comes before the body is read. */
  async function enter(request: FastifyRequest, reply: FastifyReply, route: Route): Promise<void> {
    const { exchange, raw } = request;
    checkMessage(raw, limits.max_headers);
    if (route.scopes !== 'public') {
      if (route.method !== 'GET' && isFull()) throw OVERLOADED;
      setDeadline(request, reply, route);
      await admit(request, route);
    } else if (route.is_probe !== true) await admitPublic(request);
    checkBodyHeaders(raw, route);
    if (hasBody(raw) && !exchange.answered) exchange.body = takeShare(request, bodies);
  }

  function register(route: Route): void {
    const validateQuery = route.query === undefined ? null : compileSchema(route.query, 'query');
    const validateBody = route.body === undefined ? null : compileSchema(route.body, 'body');
    const is_public = route.scopes === 'public';
    server.route({
      // Those who only ask whether it is there use HEAD on public routes: load balancers do.
      method: is_public ? [route.method, 'HEAD'] : route.method,
      url: route.path,
      onRequest: (request, reply, done) => {
        begin(request, reply, route.path);
        enter(request, reply, route).then(
          () => {
            if (!request.exchange.answered) done();
          },
          (error: unknown) => fail(request, reply, error),
        );
      },
      handler: (request, reply) => {
        request.exchange.body?.();
        if (!is_public) setDeadline(request, reply, route);
        const hold = (ms: number) =>
          holds.hold(request.exchange, ms, () => setDeadline(request, reply, route));
        serve(request, hold)
          .then((answered) => answer(request, reply, answered))
          .catch((error: unknown) => fail(request, reply, error));
      },
    });

    async function serve(request: FastifyRequest, hold: Call['hold']) {
      if (!is_public && route.method !== 'GET') takeShare(request, writes);
      return runHandler(route, makeCall(route, request, validateQuery, validateBody, hold));
    }
  }

  server.removeAllContentTypeParsers();
  // The body is only gathered here; it is parsed once its route's path, query and headers have passed.
  server.addContentTypeParser('*', (_request, payload, done) => readBody(payload, done));
  server.setErrorHandler((error, request, reply) => {
    if (request.exchange === undefined) begin(request, reply, UNKNOWN_ROUTE);
    fail(request, reply, error);
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    begin(request, reply, UNKNOWN_ROUTE);
    void answerUnknownRoute(request, reply);
  });
  server.addHook('preClose', (done) => {
    draining = true;
    holds.release();
    // Listening ends first, and by itself: whoever is told to close comes back at once, and would be cut off unheard
    // if that were in the moment when listening ends.
    NetServer.prototype.close.call(server.server);
    // Closing a kept-alive connection at once would cut off a request that is on its way. For a moment every
    // answer asks its client to close instead; what is still open then has been idle all the while.
    setTimeout(
      () => {
        connections.closeIdle();
        done();
      },
      connections.count() === 0 ? 0 : DRAIN_NOTICE_MS,
    );
    // A connection that never finishes its request's body would otherwise hold up the end of the process.
    setTimeout(() => server.server.closeAllConnections(), DRAIN_NOTICE_MS + DRAIN_LIMIT_MS).unref();
  });

  for (const route of options.routes) register(route);
  return server;
}
