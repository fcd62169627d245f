import net from 'node:net';
import tls from 'node:tls';
import { type Dispatcher, Pool } from 'undici';
import { type DeliveryError, RESPONSE_LIMIT_BYTES } from '../domain/webhooks.ts';
import type { Resolve } from './addresses.ts';
import { literalAddress, mayConnect, sameAddress } from './urls.ts';

/** What became of one POST. Received: a 2xx status line came in time. */
export interface PostResult {
  received: boolean;
  http_status: number | null;
  error: DeliveryError | null;
}

/** Connections to one endpoint, shared with no other. */
export interface EndpointConnections {
  /** Posts and waits for the answer, as long as the time limit allows. Never rejects. */
  post(headers: Record<string, string>, body: string): Promise<PostResult>;
  /** Takes nothing more and closes when what is under way has ended. */
  retire(): void;
  /** Cuts whatever is under way. */
  close(): void;
}

export interface WebhookClientOptions {
  resolve: Resolve;
  /** Loopback and private networks may be connected to. */
  allow_private: boolean;
  /** For everything: name, connection, TLS, headers and body. */
  timeout_ms: number;
  /** Connections to one endpoint at a time. */
  connections: number;
  /** Trusted beside nothing else; for tests. Unset: the authorities that Node trusts. */
  ca?: string;
  /** Opens a TCP connection to an address; for tests. */
  dial?: (address: string, port: number) => net.Socket;
}

/** Idle connections are closed before most servers would: a POST must not meet a connection that is ending. */
const KEEP_ALIVE_MS = 1_000;
const MAX_HEADERS_BYTES = 16_384;
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 4;
/** A connection to one address of several may take this part of the time limit. */
const SHARE_OF_AN_ADDRESS = 0.3;

/** A failure whose code may be shown to the endpoint's owner; the cause is for nobody but a debugger. */
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

/** Resolves when the socket has emitted `event`; rejects with `failure` of its error, or when time is up. */
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
    // Between two owners nobody else listens, and an error that nobody hears ends the process.
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

/** The addresses that a host may be reached at: all of them public, or none is taken. */
async function findAddresses(
  host: string,
  options: WebhookClientOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const literal = literalAddress(host);
  const addresses = literal !== null ? [literal] : await resolveWithin(host, options.resolve, signal);
  if (addresses.length === 0) throw new DeliveryFailure('dns_error');
  // One private address among public ones is a trap, or a mistake that would show only now and then.
  if (!addresses.every((address) => mayConnect(address, options.allow_private))) {
    throw new DeliveryFailure('blocked_address');
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

/** A TCP connection to exactly this address. No byte is sent before it is certain who is at the other end. */
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

/** The first of the host's addresses that answers. */
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
    // Said aloud, because the environment could switch it off otherwise.
    rejectUnauthorized: true,
  });
  await until(secured, 'secureConnect', 'tls_error', signal);
  return secured;
}

/** Opens a checked connection: name, address, TLS, all within the time limit. */
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
 * Connections to the endpoint of a URL. Each is made to an address that was checked at that moment, whatever the
 * name resolved to before; redirects are not followed, nothing is decompressed, and of an answer's body no more
 * than 4 KiB is read.
 */
export function connectEndpoint(url: string, options: WebhookClientOptions): EndpointConnections {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // One clock for everything, below: undici's own count each phase for itself.
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
        let read_bytes = 0;
        let is_over = false;
        const end = (result: PostResult) => {
          if (is_over) return;
          is_over = true;
          clearTimeout(timer);
          resolve(result);
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
            onResponseStart(_, code) {
              if (code >= 200) status = code;
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
