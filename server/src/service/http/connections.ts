import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, Socket } from 'node:net';
import { ApiError, invalidField } from '@purser/rules/errors';
import type { Places } from '../scheduling/places.ts';
import type { Limits } from './admission.ts';
import type { Balance, ConnectionHandle } from './balance.ts';
import { hasBody } from './bodies/body-headers.ts';
import { mayBeLong } from './bodies/content.ts';
import { requestId } from './exchange.ts';
import { malformedRequest, rawErrorAnswer } from './failures.ts';

/** The headers of a request must have been received within the first time, the whole request within the second. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const CHECK_EVERY_MS = 1_000;
/** The time that a client has to read the error with which its connection ends. */
const LAST_WORD_MS = 2_000;
/** For so long those who wait to be accepted are, when the service stops, before it stops listening all the same. */
const ACCEPT_LIMIT_MS = 3_000;
/** The time in which answers ask clients to close their connections, before idle connections are closed. */
const DRAIN_NOTICE_MS = 500;
/** The time that requests in progress have after that, before their connections are closed. */
const DRAIN_LIMIT_MS = 3_000;

type Handle = (message: IncomingMessage, response: ServerResponse) => void;

/** A connection that was ended because of what it sent, before that became a request for a route. */
export interface Rejection {
  socket: Socket;
  request_id: string;
  error: ApiError;
  /** Node's code for the error, if there is one. */
  code: string | undefined;
}

export interface ConnectionOptions {
  limits: Pick<Limits, 'max_connections' | 'max_pipelined'>;
  places: Places;
  /** Null where this process is the only one on its port. */
  balance: Balance | null;
  keep_alive_ms: number;
  newRequestId: () => string;
  /** Called for each connection that was ended with an error of its own. */
  onRejected: (rejection: Rejection) => void;
  /** Called for each connection that was not accepted. */
  onDropped: () => void;
}

interface Asked {
  message: IncomingMessage;
  response: ServerResponse;
}

/** The state of one connection. */
interface Line {
  /** The request that is being answered, or null. */
  current: Asked | null;
  waiting: Asked[];
  /** The request whose body arrives, or has arrived, and how often, once a second, it was found not to be there. */
  arriving: IncomingMessage | null;
  times_found: number;
  /** If set, no more requests are accepted: the connection ends with this answer after the one in progress. */
  last_word: string | null;
}

/**
 * The connections of the service. The requests of one connection are begun one after another, each when the answer before it
 * is complete. So an answer in progress always has its connection, and Node always emits its `close`. Node emits nothing for
 * answers that wait behind another when the connection is lost, so resources taken for them could never be released. A
 * connection is ended with an error if more than `max_pipelined` requests wait, if its bytes are not HTTP, and on CONNECT.
 */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #lines = new Map<Socket, Line>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Makes an HTTP server that passes requests to `handle`, one at a time for each connection. */
  makeServer(handle: Handle): Server {
    const { limits, balance, onDropped, keep_alive_ms } = this.#options;
    const server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        // Node knows one limit for all requests, and files may take longer: `#endLate` looks at the bodies.
        requestTimeout: 0,
        connectionsCheckingInterval: CHECK_EVERY_MS,
        keepAliveTimeout: keep_alive_ms,
        // Otherwise Node answers a request without Host by itself, with an empty body.
        requireHostHeader: false,
      },
      (message, response) => this.#accept({ message, response }, handle),
    );
    // Node drops headers beyond this number silently. The request checks their number itself.
    server.maxHeadersCount = 0;
    server.maxConnections = limits.max_connections;
    // One timer for all connections, since one for each request would be made and cleared for nothing.
    const checking = setInterval(() => this.#endLate(), CHECK_EVERY_MS).unref();
    server.on('close', () => clearInterval(checking));
    server.on('drop', onDropped);
    server.on('connection', (socket) => this.#open(socket));
    if (balance !== null) spread(server, balance);
    // An unknown expectation is ignored, as RFC 9110 allows. Node would answer 417 with an empty body.
    server.on('checkExpectation', (message, response) => server.emit('request', message, response));
    server.on('clientError', (error, socket) => this.#onClientError(error, socket as Socket));
    server.on('connect', (message, socket) => this.#onConnect(message, socket as Socket));
    return server;
  }

  /** Calls `done` once the connections that have no answer in progress are closed. */
  drain(server: Server, done: () => void): void {
    const closeIdle = () => {
      for (const [socket, line] of this.#lines) if (line.current === null) socket.destroy();
      done();
    };
    // Closing an idle connection at once could cut off a request that is already on its way. So for a moment every
    // answer asks its client to close the connection. Those that are still open after that have been idle all the
    // time: what has arrived in the meantime is read first, which a timer alone would come before.
    setTimeout(() => setImmediate(closeIdle), this.#lines.size === 0 ? 0 : DRAIN_NOTICE_MS);
    // A client that never completes the body of its request would otherwise delay the end of the process.
    setTimeout(() => server.closeAllConnections(), DRAIN_NOTICE_MS + DRAIN_LIMIT_MS).unref();
  }

  #open(socket: Socket): void {
    const { places, balance, onDropped } = this.#options;
    const address = socket.remoteAddress ?? 'unknown';
    const release = places.tryTake({ workspace_id: address, key_id: address });
    if (release === null) {
      onDropped();
      socket.destroy();
      return;
    }
    this.#lines.set(socket, {
      current: null,
      waiting: [],
      arriving: null,
      times_found: 0,
      last_word: null,
    });
    balance?.opened(this.#lines.size);
    // Node removes its own error listener after CONNECT. Without any listener a reset connection would end the process.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#lines.delete(socket);
      balance?.opened(this.#lines.size);
      release();
    });
  }

  /** Ends the connections whose request is not received in time. */
  #endLate(): void {
    for (const [socket, line] of this.#lines) {
      const { arriving, last_word } = line;
      if (arriving === null || arriving.complete || last_word !== null || mayBeLong(arriving)) continue;
      line.times_found += 1;
      if (line.times_found <= REQUEST_TIMEOUT_MS / CHECK_EVERY_MS) continue;
      const error: NodeJS.ErrnoException = new Error('the body did not arrive in time');
      error.code = 'ERR_HTTP_REQUEST_TIMEOUT';
      this.#onClientError(error, socket);
    }
  }

  #accept(asked: Asked, handle: Handle): void {
    const { limits, newRequestId } = this.#options;
    const { socket } = asked.message;
    const line = this.#lines.get(socket);
    if (line === undefined || line.last_word !== null || !socket.writable) return;
    if (hasBody(asked.message)) {
      line.arriving = asked.message;
      line.times_found = 0;
    }
    if (line.current === null) begin(line, asked, handle);
    else if (line.waiting.length < limits.max_pipelined) line.waiting.push(asked);
    else {
      const error = invalidField(
        'connection',
        `must have at most ${limits.max_pipelined} requests waiting for a response`,
      );
      this.#reject({ socket, error, request_id: newRequestId(), code: undefined });
    }
  }

  #onClientError({ code }: NodeJS.ErrnoException, socket: Socket): void {
    if (code === 'ECONNRESET') socket.destroy();
    else {
      const request_id = this.#options.newRequestId();
      this.#reject({ socket, error: malformedRequest(code), request_id, code });
    }
  }

  #onConnect({ headers }: IncomingMessage, socket: Socket): void {
    const request_id = requestId(headers, this.#options.newRequestId);
    const error = new ApiError('not_found', 'No such route.');
    this.#reject({ socket, error, request_id, code: 'CONNECT' });
  }

  /** Ends a connection with an error after the answer in progress. Waiting requests were not begun and are dropped. */
  #reject(rejection: Rejection): void {
    const { socket } = rejection;
    const line = this.#lines.get(socket);
    if (line === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (line.last_word !== null) return;
    line.last_word = rawErrorAnswer(rejection.error, rejection.request_id);
    line.waiting = [];
    socket.pause();
    this.#options.onRejected(rejection);
    const { current } = line;
    // If the error is in the body of the request in progress, the error is its answer. If a part of its answer was sent
    // already, the client would take the error for the rest of it, so the connection is cut instead.
    if (current === null || !current.message.complete) {
      if (current?.response.headersSent === true) socket.destroy();
      else sendFinalError(socket, line);
    }
  }
}

function begin(line: Line, asked: Asked, handle: Handle): void {
  const { message, response } = asked;
  line.current = asked;
  // Node emits it once.
  response.on('close', () => {
    line.current = null;
    if (line.arriving?.complete === true) line.arriving = null;
    if (line.last_word !== null) sendFinalError(message.socket, line);
    const next = line.waiting.shift();
    // If the answer before it ended the connection, the next request has no socket and is not begun.
    if (next?.response.socket != null) begin(line, next, handle);
  });
  handle(message, response);
}

function sendFinalError(socket: Socket, { last_word }: Line): void {
  if (last_word === null) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const late = setTimeout(() => socket.destroy(), LAST_WORD_MS);
  socket.once('close', () => clearTimeout(late));
  // The remaining input is read and discarded. Closing a socket with unread input resets the connection, and the
  // client would not see the answer.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  socket.end(last_word);
}

/** The parts of Node's sockets and servers that it keeps to itself, and that passing on a connection needs. */
interface Inner {
  _handle: ConnectionHandle | null;
  _server: unknown;
  _connections: number;
  pauseOnConnect: boolean;
}

/**
 * Makes a server keep its own share of new connections, pass on the others before it reads from them, and take those that
 * other processes pass on. Node has no public way to pass a connection on twice, as happens through the primary.
 */
function spread(server: Server, balance: Balance): void {
  const inner = server as unknown as Inner;
  const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  const begin = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
    socket.resume();
  };
  inner.pauseOnConnect = true;
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const of_socket = socket as unknown as Inner;
    const handle = of_socket._handle;
    if (handle === null || balance.keeps()) return begin(socket);
    // Without its handle the socket ends without closing the connection.
    of_socket._handle = null;
    socket.destroy();
    balance.passOn(handle);
  });
  balance.onTake((handle) => {
    const options = { handle, pauseOnCreate: true, readable: true, writable: true, allowHalfOpen: true };
    const socket = new Socket(options as object);
    socket.setNoDelay(true);
    // The server waits for the end of its connections when it closes.
    inner._connections += 1;
    (socket as unknown as Inner)._server = server;
    begin(socket);
  });
}

/**
 * Stops listening once nobody waits to be accepted: the kernel completes connections before the process knows of them,
 * and resets those that are left when the listener is closed. Node accepts one a turn of the event loop, so a turn with
 * none has come to the end of them. Until then no answer may ask a client to close its connection: it would open a new
 * one at once.
 */
export function stopListening(server: Server): Promise<void> {
  // From here on the kernel lets no more than two wait, so that a flood of new connections has an end. Clients
  // beyond these two try again by themselves and find nobody listening. Node has no public way to set this.
  (server as { _handle?: { listen(backlog: number): number } })._handle?.listen(1);
  return new Promise((resolve) => {
    let has_accepted = true;
    let is_over = false;
    const limit = setTimeout(() => {
      is_over = true;
    }, ACCEPT_LIMIT_MS);
    const note = () => {
      has_accepted = true;
    };
    server.on('connection', note).on('drop', note);
    const endTurn = () => {
      if (has_accepted && !is_over) {
        has_accepted = false;
        setImmediate(endTurn);
        return;
      }
      clearTimeout(limit);
      server.off('connection', note).off('drop', note);
      // Not the HTTP server's own, which would cut off idle connections too.
      NetServer.prototype.close.call(server);
      resolve();
    };
    setImmediate(endTurn);
  });
}
