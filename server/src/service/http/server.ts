import { ApiError, authUnavailable, overloaded } from '@purser/rules/errors';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify';
import type { TSchema } from 'typebox';
import { makeAccess } from './access.ts';
import { LIMITS, makeAdmission } from './admission.ts';
import { makeAnswers } from './answers.ts';
import { BODY_LIMIT, callHandler, checkBodyHeaders, hasBody, makeChecks, readBody } from './call.ts';
import { makeClientAddress } from './client-address.ts';
import { makeConnections, stopListening } from './connections.ts';
import { makeDispatch } from './dispatch.ts';
import { Exchange, makeHolds, requestId, traceId } from './exchange.ts';
import { checkMessage, DEADLINE_EXCEEDED } from './failures.ts';
import { parseQueryString } from './query-string.ts';
import type { Route } from './route.ts';
import type { ServerOptions } from './server-options.ts';
import { compileSchema } from './validation.ts';

/** Makes a Fastify hook of a synchronous step. If the step throws, the request is refused with that error. */
const hook =
  (step: (request: FastifyRequest, reply: FastifyReply) => void): onRequestHookHandler =>
  (request, reply, done) => {
    step(request, reply);
    done();
  };

/** True if a request changes something itself. */
const isWrite = ({ route }: Exchange) => route?.method !== 'GET' && route?.is_entrance !== true;

/**
 * Makes the HTTP server. The hooks below run in the order in which they are added: those of `onRequest` before the body
 * is read, those of `preValidation` after it. `closeServer` ends it.
 */
export function makeServer(options: ServerOptions): FastifyInstance {
  const { logger, metrics, now_ms, newRequestId, isFull } = options;
  const limits = { ...LIMITS, ...options.limits };
  const clientAddress = makeClientAddress(options.trusted_proxies);
  const admission = makeAdmission(limits, (refused) =>
    logger.warn({ refused }, 'overloaded: requests were refused'),
  );
  const holds = makeHolds();
  const { connections: of_addresses, bodies, writes, streams, unsent } = admission;
  for (const { resource, total, inUse } of [of_addresses, bodies, writes, streams, unsent, holds.places])
    metrics.watchUse(resource, total, inUse);
  let draining = false;
  const full = overloaded('lane');
  const entrances = new Set(options.routes.filter((route) => route.is_entrance).map((route) => route.path));
  const { answer, fail } = makeAnswers({
    logger,
    metrics,
    now_ms,
    limits,
    admission,
    asksToClose: () => draining || options.balance?.sheds() === true,
  });
  const { identify, admit, limitPublicRate } = makeAccess(options, admission);
  const connections = makeConnections({
    limits,
    shares: of_addresses,
    balance: options.balance,
    keep_alive_ms: options.keep_alive_ms,
    newRequestId,
    onDropped() {
      admission.countRefusal();
      metrics.countRefusal('connections');
    },
    onRejected({ socket, request_id, error: { status, code }, code: parse_error }) {
      metrics.countRequest('unknown', 'malformed', status, 0);
      const client_address = clientAddress({ socket, headers: {} });
      logger.info({ route: 'malformed', status, code, parse_error, request_id, client_address }, 'request');
    },
  });

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    const { id: request_id, headers, method, routeOptions } = request;
    const route = routeOptions.config?.route ?? null;
    const span =
      options.tracing?.beginRequest({ headers, method, request_id, route: route?.path ?? 'unknown' }) ?? null;
    const exchange = new Exchange({
      request_id,
      trace_id: span?.trace_id ?? traceId(headers),
      span,
      client_address: clientAddress(request.raw),
      route,
      began_ms: now_ms(),
    });
    request.exchange = exchange;
    // An answer in progress always has its connection (connections.ts), so `close` is always emitted, and once.
    reply.raw.on('close', () => exchange.end());
    checkMessage(request.raw, limits.max_headers);
  }

  async function refuseUnknownRoute(request: FastifyRequest): Promise<void> {
    // A request with a key is counted here too. Otherwise probing for routes would be a way around the limits.
    if (request.headers['x-api-key'] !== undefined) {
      try {
        await identify(request);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'rate_limited') throw error;
      }
    }
    if (entrances.has(request.url.split('?', 1)[0] as string))
      throw new ApiError('method_not_allowed', 'This route accepts only POST.');
    throw new ApiError('not_found', 'No such route.');
  }

  function checkEntrance({ exchange, raw }: FastifyRequest): void {
    exchange.route?.checkEntrance?.(raw);
  }

  /** Refuses writes while the lane is full, before anything is done for them. */
  function refuseWhenFull({ exchange }: FastifyRequest): void {
    if (isWrite(exchange) && isFull()) throw full;
  }

  /**
   * Answers 503 if the request is not answered in time, for instance because the database does not respond. The work
   * that was begun goes on. A retry with the same idempotency key finds its result.
   */
  function setDeadline({ exchange, raw }: FastifyRequest, reply: FastifyReply): void {
    const has_none = () => exchange.caller !== null && exchange.route?.takes_long === true;
    if (has_none()) return;
    exchange.setDeadline(options.deadline_ms, () => {
      // While the body is being received the delay is the client's. A new deadline is set when it is complete.
      if (has_none() || (exchange.caller !== null && raw.complete === false)) return;
      reply.send(exchange.caller === null ? authUnavailable(undefined, 'deadline') : DEADLINE_EXCEEDED);
    });
  }

  function admitBody({ exchange, raw }: FastifyRequest): void {
    checkBodyHeaders(raw, exchange.route ?? {});
    if (hasBody(raw)) exchange.body = exchange.take(bodies);
  }

  function admitWrite({ exchange }: FastifyRequest): void {
    if (isWrite(exchange)) exchange.take(writes);
  }

  const server = Fastify({
    logger: false,
    genReqId: (message) => requestId(message.headers, newRequestId),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // A request that arrives on an open connection during the drain is answered; then the connection is closed.
    return503OnClosing: false,
    serverFactory: connections.makeServer,
    // connections.ts answers them.
    clientErrorHandler: () => {},
    routerOptions: {
      // A long path parameter is refused after the key, like any id that cannot exist, and not as an unknown route.
      maxParamLength: 16_384,
      querystringParser: (text) => parseQueryString(text) as unknown as Record<string, unknown>,
    },
    // The only error that can happen here is a path that cannot be decoded, so it names no route. Fastify runs no hooks
    // for it.
    frameworkErrors: async (_error, request, reply) => {
      try {
        begin(request, reply);
        await refuseUnknownRoute(request);
      } catch (error) {
        fail(request, reply, error);
      }
    },
  });

  const dispatcher = makeDispatch(server);
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
  // This only reads the bytes of the body. They are parsed once path, query and headers have been checked.
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
    keyed.addHook('onRequest', hook(checkEntrance));
    keyed.addHook('onRequest', hook(refuseWhenFull));
    keyed.addHook('onRequest', hook(setDeadline));
    keyed.addHook('onRequest', admit);
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
      // Load balancers send HEAD to public routes.
      method: route.scopes === 'public' && route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
      url: route.path,
      config: { route },
      ...(route.body === undefined ? {} : { schema: { body: route.body } }),
      preValidation: makeChecks(route).map(hook),
      async handler(request, reply) {
        const { exchange } = request;
        const hold = (ms: number) => holds.hold(exchange, ms, () => setDeadline(request, reply));
        try {
          const dispatch = dispatcher(request, () => setDeadline(request, reply));
          await answer(request, reply, await callHandler(route, request, { hold, dispatch }));
        } catch (error) {
          // Fastify would ignore an error that is thrown after the deadline has answered the request.
          if (reply.sent) fail(request, reply, error);
          else throw error;
        }
      },
    });
  }

  server.addHook('preClose', (done) => {
    draining = true;
    holds.release();
    connections.drain(server.server, done);
  });
  return server;
}

/** Lets in whoever waits to be, stops listening, and resolves when the requests in progress are answered. */
export async function closeServer(server: FastifyInstance): Promise<void> {
  if (server.server.listening) await stopListening(server.server);
  await server.close();
}
