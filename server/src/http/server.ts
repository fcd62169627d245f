import { Server as NetServer } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify';
import type { TSchema } from 'typebox';
import { ApiError, OVERLOADED } from '../errors.ts';
import { authorize, makeAccess } from './access.ts';
import { LIMITS, makeAdmission } from './admission.ts';
import { makeAnswers } from './answers.ts';
import { BODY_LIMIT, callHandler, checkBodyHeaders, hasBody, makeChecks, readBody } from './call.ts';
import { makeClientAddress } from './client-address.ts';
import { makeConnections } from './connections.ts';
import { Exchange, makeHolds, requestId, traceId } from './exchange.ts';
import { checkMessage, KEY_UNKNOWN_YET, TOO_LATE } from './failures.ts';
import { parseQueryString } from './query-string.ts';
import type { Route } from './route.ts';
import type { ServerOptions } from './server-options.ts';
import type { Shares } from './shares.ts';
import { compileSchema } from './validation.ts';

/** How long clients are asked to close their connections before idle ones are closed. */
const DRAIN_NOTICE_MS = 500;
/** How long requests under way may take after that; then their connections are cut. */
const DRAIN_LIMIT_MS = 3_000;

/** A hook of Fastify that is done when `step` is, and refuses the request with what that throws. */
const hook =
  (step: (request: FastifyRequest, reply: FastifyReply) => void): onRequestHookHandler =>
  (request, reply, done) => {
    step(request, reply);
    done();
  };

/**
 * The HTTP server: routes as declared, keys, limits, validation, errors in one shape, a log line per request. The hooks
 * below run in the order in which they are added: all of `onRequest` comes before the body is read, `preValidation`
 * after it. `close()` stops accepting and waits for what is in flight.
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
  const { authenticate, checkSite, limitRate, limitPublicRate } = makeAccess(options, admission);
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

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    const exchange = new Exchange({
      request_id: request.id,
      trace_id: traceId(request.headers),
      client_address: clientAddress(request.raw),
      route: request.routeOptions.config?.route ?? null,
      began_ms: now_ms(),
    });
    request.exchange = exchange;
    // Every answer under way has its connection (connections.ts), so this comes, however it ends.
    reply.raw.once('close', () => exchange.end());
    checkMessage(request.raw, limits.max_headers);
  }

  async function refuseUnknownRoute(request: FastifyRequest): Promise<void> {
    // Without a key there is nothing to count; with one, probing for routes is no way around the limits.
    if (request.headers['x-api-key'] !== undefined) {
      try {
        await authenticate(request);
        await limitRate(request);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'rate_limited') throw error;
      }
    }
    throw new ApiError('not_found', 'No such route.');
  }

  /** While the lane is full a write is refused before anything is done for it. */
  function refuseWhenFull({ exchange }: FastifyRequest): void {
    if (exchange.route?.method !== 'GET' && isFull()) throw OVERLOADED;
  }

  /**
   * Answers 503 when nothing else has answered in time: a database that says nothing, or a queue before it. What
   * was begun goes on, and a retry with the same idempotency key finds out what became of it.
   */
  function setDeadline({ exchange, raw }: FastifyRequest, reply: FastifyReply): void {
    const has_none = () => exchange.caller !== null && exchange.route?.takes_long === true;
    if (has_none()) return;
    exchange.setDeadline(options.deadline_ms, () => {
      // A body that is still coming in is not our delay; the handler's time counts from its end.
      if (has_none() || (exchange.caller !== null && !raw.complete)) return;
      reply.send(exchange.caller === null ? KEY_UNKNOWN_YET : TOO_LATE);
    });
  }

  function admitBody({ exchange, raw }: FastifyRequest): void {
    checkBodyHeaders(raw, exchange.route ?? {});
    if (hasBody(raw)) exchange.body = takeShare(exchange, bodies);
  }

  function admitWrite({ exchange }: FastifyRequest): void {
    if (exchange.route?.method !== 'GET') takeShare(exchange, writes);
  }

  /** Takes one of something for a request, until its end or until what this gives is called. */
  function takeShare(exchange: Exchange, shares: Shares): () => void {
    const release = shares.tryTake(exchange.holder);
    if (release === null) throw OVERLOADED;
    exchange.hold(release);
    return release;
  }

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
    // The one kind that can happen here is a path that cannot be decoded, which therefore names nothing. Fastify runs no
    // hooks for it.
    frameworkErrors: async (_error, request, reply) => {
      try {
        begin(request, reply);
        await refuseUnknownRoute(request);
      } catch (error) {
        fail(request, reply, error);
      }
    },
  });

  server.decorateRequest('exchange');
  server.setErrorHandler((error, request, reply) => fail(request, reply, error));
  server.setValidatorCompiler(({ schema }) => {
    const validate = compileSchema(schema as TSchema, 'body');
    return (value) => {
      validate(value);
      return true;
    };
  });
  server.removeAllContentTypeParsers();
  // The body is only gathered here; it is parsed once its route's path, query and headers have passed.
  server.addContentTypeParser('*', ({ exchange }, payload, done) =>
    readBody(payload, (error, body) => {
      exchange.body?.();
      done(error, body);
    }),
  );

  server.addHook('onRequest', hook(begin));
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.exchange.route !== null) done();
    else refuseUnknownRoute(request).catch(done);
  });

  server.register(async (keyed) => {
    keyed.addHook('onRequest', hook(refuseWhenFull));
    keyed.addHook('onRequest', hook(setDeadline));
    keyed.addHook('onRequest', authenticate);
    keyed.addHook('onRequest', limitRate);
    keyed.addHook('onRequest', hook(checkSite));
    keyed.addHook('onRequest', hook(authorize));
    keyed.addHook('onRequest', hook(admitBody));
    keyed.addHook('preValidation', hook(setDeadline));
    keyed.addHook('preValidation', hook(admitWrite));
    for (const route of options.routes) if (route.scopes !== 'public') register(keyed, route);
  });
  server.register(async (open) => {
    open.addHook('onRequest', limitPublicRate);
    open.addHook('onRequest', hook(admitBody));
    for (const route of options.routes) if (route.scopes === 'public') register(open, route);
  });

  function register(scope: FastifyInstance, route: Route): void {
    scope.route({
      // Those who only ask whether it is there use HEAD on public routes: load balancers do.
      method: route.scopes === 'public' && route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
      url: route.path,
      config: { route },
      ...(route.body === undefined ? {} : { schema: { body: route.body } }),
      preValidation: makeChecks(route).map(hook),
      async handler(request, reply) {
        const { exchange } = request;
        const hold = (ms: number) => holds.hold(exchange, ms, () => setDeadline(request, reply));
        try {
          await answer(request, reply, await callHandler(route, request, hold));
        } catch (error) {
          // What fails after the deadline has answered would be dropped by Fastify unseen.
          if (reply.sent) fail(request, reply, error);
          else throw error;
        }
      },
    });
  }

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
  return server;
}
