import net from 'node:net';
import tls from 'node:tls';
import type { DeliveryError } from '@purser/contract/values/webhooks';
import { RESPONSE_LIMIT_BYTES } from '@purser/rules/domain/webhooks';
import { type Dispatcher, Pool } from 'undici';
import type { Resolve } from './addresses.ts';
import { retryAfterMs } from './retry-after.ts';
import type { ReceiverConnections } from './sender.ts';
import { literalAddress, mayConnect, sameAddress } from './urls.ts';

/** The result of one POST. It was received if a 2xx status line came in time. */
export interface PostResult {
  received: boolean;
  http_status: number | null;
  error: DeliveryError | null;
  /** The pause that the answer asks for in `Retry-After`, at most an hour; undefined: none. */
  retry_after_ms?: number;
}

/** The connections to one endpoint. No other endpoint shares them. */
export interface EndpointConnections extends ReceiverConnections {
  /** Posts and waits for the answer within the time limit. Never rejects. */
  post(headers: Record<string, string>, body: string): Promise<PostResult>;
}

export interface WebhookClientOptions {
  resolve: Resolve;
  /** True if connections to loopback and private networks are allowed. */
  allow_private: boolean;
  /** The time limit for name, connection, TLS, headers and body together. */
  timeout_ms: number;
  /** The most concurrent connections to one endpoint. */
  connections: number;
  /** The only certificate authorities that are trusted, for tests. If unset, those that Node trusts. */
  ca?: string;
  /** Opens a TCP connection to an address, for tests. */
  dial?: (address: string, port: number) => net.Socket;
}

/** Idle connections are closed before most servers close them, so that a POST does not meet a closing connection. */
const KEEP_ALIVE_MS = 1_000;
const MAX_HEADERS_BYTES = 16_384;
/** The most addresses of one name that are tried. */
const MAX_ADDRESSES = 4;
/** The fraction of the time limit that a connection to one of several addresses may take. */
const SHARE_OF_AN_ADDRESS = 0.3;

/** A failure whose code the endpoint's owner may see. Its cause is only for debugging. */
class DeliveryFailure extends Error {
  override name = 'DeliveryFailure';
  readonly delivery_error: DeliveryError;
  constructor(delivery_error: DeliveryError, cause?: unknown) {
    super(delivery_error, { cause });
    this.delivery_error = delivery_error;
  }
}

const dialAddress = (address: string, port: number) =>
  net.connect({ host: address, port, autoSelectFamily: false, noDelay: true });

/** Resolves when the socket emits `event`. Rejects with `failure` of its error, or if the time is up. */
function until(
  socket: net.Socket,
  event: 'connect' | 'secureConnect',
  failure: DeliveryError,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      socket.removeListener(event, onEvent);
      socket.removeListener('close', onClose);
      socket.removeListener('error', onError);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        resolve();
        return;
      }
      socket.destroy();
      reject(error);
    };
    const onEvent = () => settle();
    const onError = (error: Error) => settle(new DeliveryFailure(failure, error));
    const onClose = () => settle(new DeliveryFailure(failure));
    const onAbort = () => settle(new DeliveryFailure('timeout'));
    // For a moment the socket has no other error listener, and an error without a listener ends the process.
    socket.on('error', () => {});
    socket.once(event, onEvent);
    socket.once('error', onError);
    socket.once('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function resolveWithin(name: string, resolve: Resolve, signal: AbortSignal): Promise<string[]> {
  return new Promise((onFound, reject) => {
    signal.addEventListener('abort', () => reject(new DeliveryFailure('timeout')), { once: true });
    resolve(name).then(onFound, (error: unknown) => reject(new DeliveryFailure('dns_error', error)));
  });
}

/** Returns the addresses of a host. Throws unless all of them are allowed. */
async function findAddresses(
  host: string,
  options: WebhookClientOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const literal = literalAddress(host);
  const addresses = literal !== null ? [literal] : await resolveWithin(host, options.resolve, signal);
  if (addresses.length === 0) throw new DeliveryFailure('dns_error');
  // One private address among public ones is an attack, or a mistake that would show only now and then.
  if (!addresses.every((address) => mayConnect(address, options.allow_private))) {
    throw new DeliveryFailure('blocked_address');
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

/** Opens a TCP connection to exactly this address. The remote address is checked before any byte is sent. */
async function connectTo(
  address: string,
  port: number,
  options: WebhookClientOptions,
  signal: AbortSignal,
): Promise<net.Socket> {
  const socket = (options.dial ?? dialAddress)(address, port);
  await until(socket, 'connect', 'connect_error', signal);
  const remote = socket.remoteAddress ?? '';
  if (!sameAddress(remote, address) || !mayConnect(remote, options.allow_private)) {
    socket.destroy();
    throw new DeliveryFailure('blocked_address');
  }
  return socket;
}

/** Connects to the first of the host's addresses that answers. */
async function connectToFirst(
  host: string,
  port: number,
  options: WebhookClientOptions,
  signal: AbortSignal,
): Promise<net.Socket> {
  const addresses = await findAddresses(host, options, signal);
  let failure: unknown;
  for (const [i, address] of addresses.entries()) {
    const is_last = i === addresses.length - 1;
    const share_ms = Math.ceil(options.timeout_ms * SHARE_OF_AN_ADDRESS);
    const limit = is_last ? signal : AbortSignal.any([signal, AbortSignal.timeout(share_ms)]);
    try {
      return await connectTo(address, port, options, limit);
    } catch (error) {
      failure = error;
      const is_blocked = error instanceof DeliveryFailure && error.delivery_error === 'blocked_address';
      if (signal.aborted || is_blocked) break;
    }
  }
  throw failure;
}

async function secure(
  socket: net.Socket,
  host: string,
  options: WebhookClientOptions,
  signal: AbortSignal,
): Promise<tls.TLSSocket> {
  const is_address = literalAddress(host) !== null;
  const secured = tls.connect({
    socket,
    host,
    ...(is_address ? {} : { servername: host }),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ALPNProtocols: ['http/1.1'],
    // This is set explicitly because the environment could switch it off.
    rejectUnauthorized: true,
  });
  await until(secured, 'secureConnect', 'tls_error', signal);
  return secured;
}

/** Opens a connection whose name, address and certificate are checked, within the time limit. */
async function open(
  target: { hostname: string; protocol: string; port: string },
  options: WebhookClientOptions,
): Promise<net.Socket> {
  const host = literalAddress(target.hostname) ?? target.hostname;
  const is_secure = target.protocol === 'https:';
  const port = Number(target.port || (is_secure ? 443 : 80));
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), options.timeout_ms);
  try {
    const socket = await connectToFirst(host, port, options, controller.signal);
    return is_secure ? await secure(socket, host, options, controller.signal) : socket;
  } finally {
    clearTimeout(timer);
  }
}

function judgeStatus(status: number): PostResult {
  if (status >= 200 && status <= 299) return { received: true, http_status: status, error: null };
  const error = status >= 300 && status <= 399 ? 'redirect' : 'bad_status';
  return { received: false, http_status: status, error };
}

function judgeError(error: unknown): DeliveryError {
  if (error instanceof DeliveryFailure) return error.delivery_error;
  const { code, name } = error as { code?: string; name?: string };
  if (name === 'HTTPParserError' || /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_))/.test(code ?? '')) {
    return 'invalid_response';
  }
  return 'connection_closed';
}

/**
 * Opens the connections to the endpoint of a URL. The address of each connection is checked when it is made, whatever
 * the name resolved to before. Redirects are not followed, answers are not decompressed, and at most 4 KiB of an
 * answer's body are read.
 */
export function connectEndpoint(url: string, options: WebhookClientOptions): EndpointConnections {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // One time limit below covers all phases. The time limits of undici count each phase separately.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADERS_BYTES,
    allowH2: false,
    connect: (target, callback) => {
      open(target, options).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
  return {
    post: (headers, body) =>
      new Promise((resolve) => {
        let controller: Dispatcher.DispatchController | undefined;
        let status: number | null = null;
        let pause: { retry_after_ms?: number } = {};
        let read_bytes = 0;
        let is_over = false;
        const end = (result: PostResult) => {
          if (is_over) return;
          is_over = true;
          clearTimeout(timer);
          resolve({ ...result, ...pause });
        };
        const fail = (error: DeliveryError) =>
          end(status === null ? { received: false, http_status: null, error } : judgeStatus(status));
        const timer = setTimeout(() => {
          fail('timeout');
          controller?.abort(new DeliveryFailure('timeout'));
        }, options.timeout_ms);
        pool.dispatch(
          { path: pathname + search, method: 'POST', headers, body },
          {
            onRequestStart(given) {
              controller = given;
              if (is_over) given.abort(new DeliveryFailure('timeout'));
            },
            onResponseStart(_, code, headers) {
              if (code < 200) return;
              status = code;
              const retry_after_ms = retryAfterMs(headers['retry-after']);
              pause = retry_after_ms === undefined ? {} : { retry_after_ms };
            },
            onResponseData(given, chunk) {
              read_bytes += chunk.length;
              if (read_bytes <= RESPONSE_LIMIT_BYTES || status === null) return;
              end(judgeStatus(status));
              given.abort(new DeliveryFailure('connection_closed'));
            },
            onResponseEnd: () => fail('invalid_response'),
            onResponseError: (_, error) => fail(judgeError(error)),
          },
        );
      }),
    retire() {
      pool.close().catch(() => {});
    },
    close() {
      pool.destroy(new DeliveryFailure('connection_closed')).catch(() => {});
    },
  };
}
