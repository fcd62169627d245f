import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Upstream } from '../config.ts';
import { errorAnswer, GatewayError, notActive, unreachable } from '../errors.ts';
import type { Provider } from '../prices/price-table.ts';
import { shownPrices } from '../prices/read-prices.ts';
import { CALL_ROUTES, type CallRoute } from '../requests/routes.ts';
import { write } from './answers.ts';
import { type CallParts, serveCall } from './calls.ts';
import { headersToClient, headersToUpstream, keyOf } from './headers.ts';
import { readBody } from './read-body.ts';
import { UpstreamError } from './upstream.ts';

export interface ServerParts extends CallParts {
  /** Asks whether Purser accepts the adapter key. */
  isReady(): Promise<boolean>;
}

/**
 * Routes that cost nothing are passed on as they are. The name of a model has no character by which the address would lead to
 * another route: `..`, also encoded, and the backslash, which addresses take for a slash.
 */
const FREE = /^(?:GET \/v1\/models(?:\/(?!\.+$)[\w.:@-]+)?|POST \/v1\/messages\/count_tokens)$/;

interface Matched {
  provider: Provider;
  route: CallRoute | null;
}

function match(request: IncomingMessage, path: string): Matched | null {
  const named = `${request.method} ${path}`;
  const route = request.method === 'POST' ? CALL_ROUTES.find((each) => each.path === path) : undefined;
  if (route !== undefined) return { provider: route.provider, route };
  if (!FREE.test(named)) return null;
  const is_anthropic = request.method === 'POST' || request.headers['anthropic-version'] !== undefined;
  return { provider: is_anthropic ? 'anthropic' : 'openai', route: null };
}

/** The provider whose shape an error has if it occurs before the route is known. */
const shapeOf = (request: IncomingMessage, path: string): Provider =>
  request.headers['anthropic-version'] !== undefined || path.startsWith('/v1/messages')
    ? 'anthropic'
    : 'openai';

const notFound = () => new GatewayError('not_found', 'This gateway has no such route.');

async function passFree(
  parts: ServerParts,
  upstream: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const caller = await parts.callers.check(keyOf(request.headers));
  if (!caller.agent.may_spend && caller.agent.mode !== 'SHADOW') throw notActive();
  const body = request.method === 'POST' ? await readBody(request) : null;
  const left = new AbortController();
  response.once('close', () => left.abort(new Error('The client is gone.')));
  try {
    const {
      status,
      headers,
      body: answer,
    } = await parts.client.send(upstream, {
      method: request.method ?? 'GET',
      path: request.url ?? '',
      body,
      signal: left.signal,
      headers: headersToUpstream(request.headers, upstream, body !== null),
    });
    response.writeHead(status, { ...headersToClient(headers), 'x-purser-mode': caller.agent.mode });
    for await (const chunk of answer) if (!(await write(response, chunk))) return;
    response.end();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw unreachable(upstream.name);
  }
}

function answer(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

/** Routes about the gateway itself. Returns false for every other. */
async function serveOwn(
  parts: ServerParts,
  open_calls: number,
  path: string,
  response: ServerResponse,
): Promise<boolean> {
  switch (path) {
    case '/healthz':
      answer(response, 200, '{"status":"ok"}');
      return true;
    case '/readyz': {
      const is_ready = await parts.isReady();
      answer(
        response,
        is_ready ? 200 : 503,
        JSON.stringify({ status: is_ready ? 'ready' : 'not_ready', purser: is_ready }),
      );
      return true;
    }
    case '/metrics': {
      const { open_leases } = parts.purses;
      const gauges = { purser_gateway_open_leases: open_leases, purser_gateway_calls_open: open_calls };
      answer(response, 200, parts.metrics.text(gauges), 'text/plain; version=0.0.4; charset=utf-8');
      return true;
    }
    case '/gateway/prices':
      answer(response, 200, JSON.stringify(shownPrices(parts.config.prices)));
      return true;
    default:
      return false;
  }
}

/** The server of a gateway, and the calls that it has open. */
export class GatewayServer {
  readonly http: Server;
  readonly #parts: ServerParts;
  readonly #open = new Map<ServerResponse, Promise<void>>();
  #is_draining = false;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.http = createServer({ requestTimeout: 0 }, (request, response) => this.#accept(request, response));
  }

  /**
   * Takes no more connections, and resolves once no call is open, at the latest at this time. A call that comes on an open
   * connection meanwhile is the last one on it.
   */
  async drain(until_ms: number): Promise<void> {
    this.#is_draining = true;
    this.http.close();
    for (const response of this.#open.keys()) response.shouldKeepAlive = false;
    this.http.closeIdleConnections();
    await this.settled(until_ms);
    this.http.closeAllConnections();
  }

  /** Resolves once every call has ended and is counted, at the latest at this time. */
  async settled(until_ms: number): Promise<void> {
    const timeout = new Promise((resolve) => setTimeout(resolve, Math.max(0, until_ms - Date.now())).unref());
    await Promise.race([this.#noneOpen(), timeout]);
  }

  async #noneOpen(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open.values());
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    if (this.#is_draining) response.shouldKeepAlive = false;
    const work = this.#serve(request, response);
    this.#open.set(response, work);
    void work.finally(() => this.#open.delete(response));
    // A client that goes away is noticed where its answer is written.
    response.on('error', () => {});
    request.on('error', () => {});
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] as string;
    let shape = shapeOf(request, path);
    try {
      if (request.method === 'GET' && (await serveOwn(this.#parts, this.#open.size, path, response))) return;
      const matched = match(request, path);
      if (matched === null) throw notFound();
      shape = matched.provider;
      const upstream = this.#parts.config.upstreams[matched.provider];
      if (upstream === undefined) throw notFound();
      if (matched.route === null) await passFree(this.#parts, upstream, request, response);
      else await serveCall(this.#parts, matched.route, upstream, request, response);
    } catch (error) {
      this.#fail(error, shape, request, response);
    }
  }

  #fail(error: unknown, provider: Provider, request: IncomingMessage, response: ServerResponse): void {
    const { metrics, log } = this.#parts;
    const is_known = error instanceof GatewayError;
    const known = is_known
      ? error
      : new GatewayError('purser_unavailable', 'The gateway failed, and did not make this call. Try again.');
    if (!is_known && !response.destroyed)
      log('error', 'A call failed in the gateway', { error: String(error) });
    metrics.count('purser_gateway_refused_total', `code="${known.code}"`);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const { status, headers, body } = errorAnswer(known, provider);
    // On an open connection the unread rest of this body would be parsed as the next request.
    const ends = request.complete ? {} : { connection: 'close' };
    response.writeHead(status, { ...headers, ...ends, 'content-length': Buffer.byteLength(body) }).end(body);
  }
}
