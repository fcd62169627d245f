import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, invalidField } from '../errors.ts';
import type { Limits } from './admission.ts';
import { requestId } from './exchange.ts';
import { malformedRequest, rawErrorAnswer } from './failures.ts';
import type { Shares } from './shares.ts';

/** A request's headers must have come within this time, the whole request within the next. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const CHECK_EVERY_MS = 1_000;
/** How long a client may take to read why its connection ends. */
const LAST_WORD_MS = 2_000;

type Handle = (message: IncomingMessage, response: ServerResponse) => void;

/** What became of bytes that were no request for a route. */
export interface Rejection {
  socket: Socket;
  request_id: string;
  error: ApiError;
  /** Node's code of what was wrong with them, if it has one. */
  code: string | undefined;
}

export interface ConnectionOptions {
  limits: Pick<Limits, 'max_connections' | 'max_pipelined'>;
  shares: Shares;
  keep_alive_ms: number;
  newRequestId: () => string;
  /** Told of each connection that was closed with an error of its own. */
  onRejected: (rejection: Rejection) => void;
  /** Told of each connection that was not taken on. */
  onDropped: () => void;
}

interface Asked {
  message: IncomingMessage;
  response: ServerResponse;
}

/** What a connection is doing. */
interface Line {
  /** The one that is being answered; null: none is. */
  current: Asked | null;
  waiting: Asked[];
  /** Nothing more is taken from it: it ends with this answer once the one under way is complete. */
  last_word: string | null;
}

/**
 * The connections of the service. The requests of one are begun one after another, each when the answer before it is
 * complete. So an answer that is under way always has its connection, and Node tells of its end whatever that is: it
 * tells nothing of answers that wait behind another when the connection goes, and what was taken for those could not
 * be given back. More than `max_pipelined` requests that wait, bytes that are no HTTP, and CONNECT end a connection
 * with an error that says why.
 */
export function makeConnections(options: ConnectionOptions) {
  const { limits, shares, newRequestId, onRejected, onDropped } = options;
  const lines = new Map<Socket, Line>();

  function open(socket: Socket): void {
    const address = socket.remoteAddress ?? 'unknown';
    const release = shares.tryTake({ workspace_id: address, key_id: address });
    if (release === null) {
      onDropped();
      socket.destroy();
      return;
    }
    lines.set(socket, { current: null, waiting: [], last_word: null });
    // Node takes its own listener away from a connection that asked for CONNECT: without one a reset ends the process.
    socket.on('error', () => {});
    socket.once('close', () => {
      lines.delete(socket);
      release();
    });
  }

  function begin(line: Line, asked: Asked, handle: Handle): void {
    const { message, response } = asked;
    line.current = asked;
    response.once('close', () => {
      line.current = null;
      if (line.last_word !== null) sayLastWord(message.socket, line);
      const next = line.waiting.shift();
      // Without its connection it is never answered: the one before it ended that.
      if (next?.response.socket != null) begin(line, next, handle);
    });
    handle(message, response);
  }

  function accept(asked: Asked, handle: Handle): void {
    const { socket } = asked.message;
    const line = lines.get(socket);
    if (line === undefined || line.last_word !== null || !socket.writable) return;
    if (line.current === null) begin(line, asked, handle);
    else if (line.waiting.length < limits.max_pipelined) line.waiting.push(asked);
    else {
      const error = invalidField(
        'connection',
        `must have at most ${limits.max_pipelined} requests waiting for the answer before theirs`,
      );
      reject({ socket, error, request_id: newRequestId(), code: undefined });
    }
  }

  /** Ends a connection with an error, after the answer that is under way. What waits was not begun, and never is. */
  function reject(rejection: Rejection): void {
    const { socket } = rejection;
    const line = lines.get(socket);
    if (line === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (line.last_word !== null) return;
    line.last_word = rawErrorAnswer(rejection.error, rejection.request_id);
    line.waiting = [];
    socket.pause();
    onRejected(rejection);
    const { current } = line;
    // Where the rest of its own body is what is wrong, the error is its answer; bytes of another may be on their way
    // already, as whose part it would be read.
    if (current === null || !current.message.complete) {
      if (current?.response.headersSent === true) socket.destroy();
      else sayLastWord(socket, line);
    }
  }

  function sayLastWord(socket: Socket, { last_word }: Line): void {
    if (last_word === null) return;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const late = setTimeout(() => socket.destroy(), LAST_WORD_MS);
    socket.once('close', () => clearTimeout(late));
    // What the client has sent besides is read and thrown away: closing over unread bytes resets the connection, and
    // the client would not see the answer.
    socket.removeAllListeners('data');
    socket.on('data', () => {});
    socket.resume();
    socket.end(last_word);
  }

  function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET') socket.destroy();
    else
      reject({ socket, error: malformedRequest(error.code), request_id: newRequestId(), code: error.code });
  }

  return {
    /** An HTTP server whose requests come to `handle` one at a time a connection. */
    makeServer(handle: Handle): Server {
      const server = createServer(
        {
          headersTimeout: HEADERS_TIMEOUT_MS,
          requestTimeout: REQUEST_TIMEOUT_MS,
          connectionsCheckingInterval: CHECK_EVERY_MS,
          keepAliveTimeout: options.keep_alive_ms,
          // Node would answer a missing Host with an empty body.
          requireHostHeader: false,
        },
        (message, response) => accept({ message, response }, handle),
      );
      // Node drops headers beyond this number without a word; they are counted, and refused, with the request.
      server.maxHeadersCount = 0;
      server.maxConnections = limits.max_connections;
      server.on('drop', onDropped);
      server.on('connection', open);
      // An expectation we do not know is ignored, as RFC 9110 allows, instead of Node's empty 417.
      server.on('checkExpectation', (message, response) => server.emit('request', message, response));
      server.on('clientError', (error, socket) => onClientError(error, socket as Socket));
      server.on('connect', (message, socket) => {
        const request_id = requestId(message.headers, newRequestId);
        const error = new ApiError('not_found', 'No such route.');
        reject({ socket: socket as Socket, error, request_id, code: 'CONNECT' });
      });
      return server;
    },
    count: (): number => lines.size,
    /** Ends those that are not answering anything. */
    closeIdle(): void {
      for (const [socket, line] of lines) if (line.current === null) socket.destroy();
    },
  };
}
