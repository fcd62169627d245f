import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

const ACCEPT = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** A call of the Web API that the server took. */
export interface SlackCall {
  method: string;
  token: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape.
  body: any;
}

/** One connection of an app by Socket Mode, as Slack's side sees it. */
export interface AppConnection {
  app_token: string;
  acks: string[];
  is_closed: boolean;
  /** Sends an envelope. Returns its id. */
  send(payload: unknown, envelope_id?: string): string;
  /** Sends any text. */
  sendText(text: string): void;
  /** Tells the app that this connection is about to close. */
  disconnect(reason: string): void;
  /** Ends the TCP connection without a word. */
  cut(): void;
  /** From now on nothing that comes is answered, as behind a network that drops packets. */
  freeze(): void;
}

/** Slack on loopback: the methods of its Web API that Purser calls, and Socket Mode. */
export interface SlackServer {
  /** The value of `SLACK_API_URL`. */
  url: string;
  calls: SlackCall[];
  connections: AppConnection[];
  /** The next answers of a method, one for each call; then it answers `ok` again. */
  answerNext(
    method: string,
    ...answers: { status?: number; headers?: Record<string, string>; body?: object }[]
  ): void;
  /** The posted messages. */
  posted(method: 'chat.postMessage' | 'chat.postEphemeral' | 'chat.update'): SlackCall[];
  stop(): Promise<void>;
}

/** Starts it. A connection greets the app at once. */
export async function startSlack(): Promise<SlackServer> {
  const calls: SlackCall[] = [];
  const connections: AppConnection[] = [];
  const tickets = new Map<string, string>();
  const answers = new Map<string, { status?: number; headers?: Record<string, string>; body?: object }[]>();
  const sockets = new Set<Duplex>();
  let messages = 0;

  const okBody = (method: string, token: string): object => {
    if (method === 'apps.connections.open') {
      const ticket = randomBytes(8).toString('hex');
      tickets.set(ticket, token);
      return { ok: true, url: `ws://127.0.0.1:${port()}/link/?ticket=${ticket}` };
    }
    messages += 1;
    return { ok: true, ts: `1700000000.${String(messages).padStart(6, '0')}`, channel: 'C0123ABCD' };
  };

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const method = (request.url ?? '').replace('/api/', '');
      const token = (request.headers.authorization ?? '').replace('Bearer ', '');
      calls.push({ method, token, body: JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') });
      const given = answers.get(method)?.shift();
      response.writeHead(given?.status ?? 200, { 'content-type': 'application/json', ...given?.headers });
      response.end(JSON.stringify(given?.body ?? okBody(method, token)));
    });
  });
  const port = () => (server.address() as AddressInfo).port;

  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const ticket = new URL(request.url ?? '/', 'http://slack').searchParams.get('ticket') ?? '';
    const app_token = tickets.get(ticket);
    tickets.delete(ticket);
    if (app_token === undefined) {
      socket.destroy();
      return;
    }
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${ACCEPT}`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    sockets.add(socket);
    connections.push(connectionOn(socket, app_token, sockets));
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port()}/api`,
    calls,
    connections,
    answerNext: (method, ...given) => void answers.set(method, [...(answers.get(method) ?? []), ...given]),
    posted: (method) => calls.filter((call) => call.method === method),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function frame(opcode: number, data: Buffer): Buffer {
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (data.length < 126) head[1] = data.length;
  else if (data.length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(data.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(data.length), 2);
  }
  return Buffer.concat([head, data]);
}

/** Takes whole frames of a client from the front of `bytes`; clients send short, masked, unfragmented ones. */
function takeFrame(bytes: Buffer): { opcode: number; data: Buffer; rest: Buffer } | null {
  if (bytes.length < 6) return null;
  const short = (bytes[1] as number) & 0x7f;
  const at = short === 126 ? 4 : 2;
  if (bytes.length < at + 4) return null;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  const end = at + 4 + length;
  if (bytes.length < end) return null;
  const mask = bytes.subarray(at, at + 4);
  const data = Buffer.from(bytes.subarray(at + 4, end).map((byte, i) => byte ^ (mask[i % 4] as number)));
  return { opcode: (bytes[0] as number) & 0x0f, data, rest: bytes.subarray(end) };
}

function connectionOn(socket: Duplex, app_token: string, sockets: Set<Duplex>): AppConnection {
  const acks: string[] = [];
  let is_frozen = false;
  let pending: Buffer = Buffer.alloc(0);
  const write = (opcode: number, data: Buffer) => {
    if (!socket.destroyed) socket.write(frame(opcode, data));
  };
  const connection: AppConnection = {
    app_token,
    acks,
    is_closed: false,
    send(payload, envelope_id = randomBytes(8).toString('hex')) {
      const envelope = { envelope_id, type: 'interactive', accepts_response_payload: false, payload };
      write(TEXT, Buffer.from(JSON.stringify(envelope)));
      return envelope_id;
    },
    sendText: (text) => write(TEXT, Buffer.from(text)),
    disconnect: (reason) => write(TEXT, Buffer.from(JSON.stringify({ type: 'disconnect', reason }))),
    cut: () => void socket.destroy(),
    freeze: () => {
      is_frozen = true;
    },
  };
  socket.on('error', () => {});
  socket.on('close', () => {
    connection.is_closed = true;
    sockets.delete(socket);
  });
  socket.on('data', (bytes: Buffer) => {
    if (is_frozen) return;
    pending = Buffer.concat([pending, bytes]);
    for (let taken = takeFrame(pending); taken !== null; taken = takeFrame(pending)) {
      pending = taken.rest;
      if (taken.opcode === TEXT) acks.push(JSON.parse(taken.data.toString('utf8')).envelope_id);
      else if (taken.opcode === PING) write(PONG, taken.data);
      else if (taken.opcode === CLOSE) {
        write(CLOSE, taken.data);
        socket.end();
      }
    }
  });
  write(TEXT, Buffer.from(JSON.stringify({ type: 'hello', num_connections: 1 })));
  return connection;
}
