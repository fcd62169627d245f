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
import { Answers } from './answers.ts';
import { checkBodyHeaders, hasBody } from './bodies/body-headers.ts';
import { allowLongBody } from './bodies/content.ts';
import { BODY_LIMIT, callHandler, makeChecks, readBody } from './call.ts';
import { makeClientAddress } from './client-address.ts';
import { Connections, stopListening } from './connections.ts';
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

/** Everything that the steps of a request use, and whether the server is closing. */
function makeParts(options: ServerOptions) {
  const { logger, metrics } = options;
  const limits = { ...LIMITS, ...options.limits };
  const admission = makeAdmission(limits, (refused) =>
    logger.warn({ refused }, 'overloaded: requests were refused'),
  );
  const holds = makeHolds();
  const { connections, bodies, writes, streams, unsent } = admission;
  for (const { resource, total, inUse } of [connections, bodies, writes, streams, unsent, holds.places])
    metrics.watchUse(resource, total, inUse);
  const state = { is_draining: false };
  const answers = new Answers({
    ...options,
    limits,
    admission,
    asksToClose: () => state.is_draining || options.balance?.sheds() === true,
  });
  return {
    limits,
    admission,
    holds,
    state,
    answers,
    clientAddress: makeClientAddress(options.trusted_proxies),
    access: makeAccess(options, admission),
  };
}

type Parts = ReturnType<typeof makeParts>;

function makeServerConnections(options: ServerOptions, { limits, admission, clientAddress }: Parts) {
  const { balance, keep_alive_ms, logger, metrics, newRequestId } = options;
  return new Connections({
    limits,
    places: admission.connections,
    balance,
    keep_alive_ms,
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
}

/** The steps through which requests go before their handlers. Each throws what refuses the request. */
class Steps {
  readonly #options: ServerOptions;
  readonly #parts: Parts;
  readonly #entrances: ReadonlySet<string>;
  readonly #full = overloaded('lane');

  constructor(options: ServerOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#entrances = new Set(options.routes.filter((route) => route.is_entrance).map(({ path }) => path));
  }

  begin(request: FastifyRequest, reply: FastifyReply): void {
    const { id: request_id, headers, method, routeOptions } = request;
    const route = routeOptions.config?.route ?? null;
    const named = { headers, method, request_id, route: route?.path ?? 'unknown' };
    const span = this.#options.tracing?.beginRequest(named) ?? null;
    const exchange = new Exchange({
      request_id,
      trace_id: span?.trace_id ?? traceId(headers),
      span,
      client_address: this.#parts.clientAddress(request.raw),
      route,
      began_ms: this.#options.now_ms(),
    });
    request.exchange = exchange;
    // An answer in progress always has its connection (connections.ts), so `close` is always emitted, and once.
    reply.raw.on('close', () => exchange.end());
    checkMessage(request.raw, this.#parts.limits.max_headers);
  }

  async refuseUnknownRoute(request: FastifyRequest): Promise<void> {
    // A request with a key is counted here too. Otherwise probing for routes would be a way around the limits.
    if (request.headers['x-api-key'] !== undefined) {
      try {
        await this.#parts.access.identify(request);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'rate_limited') throw error;
      }
    }
    if (this.#entrances.has(request.url.split('?', 1)[0] as string))
      throw new ApiError('method_not_allowed', 'This route accepts only POST.');
    throw new ApiError('not_found', 'No such route.');
  }

  checkEntrance({ exchange, raw }: FastifyRequest): void {
    exchange.route?.checkEntrance?.(raw);
  }

  /** Refuses writes while the lane is full, before anything is done for them. */
  refuseWhenFull({ exchange }: FastifyRequest): void {
    if (isWrite(exchange) && this.#options.isFull()) throw this.#full;
  }

  /**
   * Answers 503 if the request is not answered in time, for instance because the database does not respond. The work
   * that was begun goes on. A retry with the same idempotency key finds its result.
   */
  setDeadline({ exchange, raw }: FastifyRequest, reply: FastifyReply): void {
    const has_none = () => exchange.caller !== null && exchange.route?.takes_long === true;
    if (has_none()) return;
    exchange.setDeadline(this.#options.deadline_ms, () => {
      // While the body is being received the delay is the client's. A new deadline is set when it is complete.
      if (has_none() || (exchange.caller !== null && raw.complete === false)) return;
      reply.send(exchange.caller === null ? authUnavailable(undefined, 'deadline') : DEADLINE_EXCEEDED);
    });
  }

  admitBody({ exchange, raw }: FastifyRequest): void {
    checkBodyHeaders(raw, exchange.route ?? {});
    if (hasBody(raw)) exchange.body = exchange.take(this.#parts.admission.bodies);
  }

  admitWrite({ exchange }: FastifyRequest): void {
    if (isWrite(exchange)) exchange.take(this.#parts.admission.writes);
  }
}

function makeFastify(connections: Connections, steps: Steps, options: ServerOptions, { answers }: Parts) {
  return Fastify({
    logger: false,
    genReqId: (message) => requestId(message.headers, options.newRequestId),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // A request that arrives on an open connection during the drain is answered; then the connection is closed.
    return503OnClosing: false,
    serverFactory: (handle) => connections.makeServer(handle),
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
        steps.begin(request, reply);
        await steps.refuseUnknownRoute(request);
      } catch (error) {
        answers.fail(request, reply, error);
      }
    },
  });
}

function setUpBodies(server: FastifyInstance): void {
  server.setValidatorCompiler(({ schema }) => {
    const validate = compileSchema(schema as TSchema, 'body');
    return (value) => {
      validate(value);
      return true;
    };
  });
  server.removeAllContentTypeParsers();
  // This only reads the bytes of the body. They are parsed once path, query and headers have been checked.
  server.addContentTypeParser('*', ({ exchange, raw }, payload, done) => {
    if (exchange.route?.content !== undefined) {
      // The handler reads a file itself, as it arrives.
      allowLongBody(raw);
      done(null, payload);
      return;
    }
    readBody(
      payload,
      (error, body) => {
        exchange.body?.();
        done(error, body);
      },
      exchange.route?.takes_bytes,
    );
  });
}

/** Adds the routes. The hooks run in the order in which they are added. */
function addRoutes(server: FastifyInstance, steps: Steps, options: ServerOptions, parts: Parts): void {
  const { admit, limitPublicRate } = parts.access;
  const register = makeRegister(server, steps, parts);
  const checkEntrance = hook((request) => steps.checkEntrance(request));
  const setDeadline = hook((request, reply) => steps.setDeadline(request, reply));
  const admitBody = hook((request) => steps.admitBody(request));
  server.addHook(
    'onRequest',
    hook((request, reply) => steps.begin(request, reply)),
  );
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.exchange.route !== null) done();
    else steps.refuseUnknownRoute(request).catch(done);
  });
  server.register(async (keyed) => {
    keyed.addHook('onRequest', checkEntrance);
    keyed.addHook(
      'onRequest',
      hook((request) => steps.refuseWhenFull(request)),
    );
    keyed.addHook('onRequest', setDeadline);
    keyed.addHook('onRequest', admit);
    keyed.addHook('onRequest', admitBody);
    keyed.addHook('preValidation', setDeadline);
    keyed.addHook(
      'preValidation',
      hook((request) => steps.admitWrite(request)),
    );
    for (const route of options.routes) if (route.scopes !== 'public') register(keyed, route);
  });
  server.register(async (open) => {
    open.addHook('onRequest', limitPublicRate);
    open.addHook('onRequest', admitBody);
    for (const route of options.routes) if (route.scopes === 'public') register(open, route);
  });
}

/** Makes the function that registers a route with its handler. */
function makeRegister(server: FastifyInstance, steps: Steps, { answers, holds }: Parts) {
  const dispatcher = makeDispatch(server);
  return (scope: FastifyInstance, route: Route): void => {
    scope.route({
      // Load balancers send HEAD to public routes.
      method: route.scopes === 'public' && route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
      url: route.path,
      config: { route },
      ...(route.body === undefined || route.takes_bytes !== undefined
        ? {}
        : { schema: { body: route.body } }),
      preValidation: makeChecks(route).map(hook),
      async handler(request, reply) {
        const resume = () => steps.setDeadline(request, reply);
        const hold = (ms: number) => holds.hold(request.exchange, ms, resume);
        try {
          const dispatch = dispatcher(request, resume);
          await answers.answer(request, reply, await callHandler(route, request, { hold, dispatch }));
        } catch (error) {
          // Fastify would ignore an error that is thrown after the deadline has answered the request.
          if (reply.sent) answers.fail(request, reply, error);
          else throw error;
        }
      },
    });
  };
}

/**
 * Makes the HTTP server. The hooks of `onRequest` run before the body is read, those of `preValidation` after it.
 * `closeServer` ends it.
 */
export function makeServer(options: ServerOptions): FastifyInstance {
  const parts = makeParts(options);
  const { answers, holds, state } = parts;
  const connections = makeServerConnections(options, parts);
  const steps = new Steps(options, parts);
  const server = makeFastify(connections, steps, options, parts);
  server.decorateRequest('exchange');
  server.setErrorHandler((error, request, reply) => answers.fail(request, reply, error));
  setUpBodies(server);
  addRoutes(server, steps, options, parts);
  server.addHook('preClose', (done) => {
    state.is_draining = true;
    holds.release();
    connections.drain(server.server, done);
  });
  return server;
}

/** Accepts the connections that wait for it, stops listening, and resolves when the requests in progress are answered. */
export async function closeServer(server: FastifyInstance): Promise<void> {
  if (server.server.listening) await stopListening(server.server);
  await server.close();
}
