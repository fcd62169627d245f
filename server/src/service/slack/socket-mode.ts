import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Logger } from 'pino';
import { Agent, type MessageEvent, ping, WebSocket } from 'undici';
import { isLoopbackName } from '../config/parse.ts';
import type { SlackApi } from './slack-api.ts';

/** Times of a connection, in milliseconds. */
export interface SocketTimes {
  /** A ping is sent this often. A connection on which nothing comes in twice this time is dead. */
  ping_ms: number;
  /** The pause before another try after a failure; it doubles up to `max_pause_ms`. */
  pause_ms: number;
  max_pause_ms: number;
  /** An envelope is acknowledged when it was handled, or after this time: Slack waits for three seconds. */
  ack_ms: number;
  /** How long a connection that Slack is about to close still takes envelopes, beside the next one. */
  overlap_ms: number;
}

/** Slack pings its clients about every ten seconds, and wants an answer within three. */
export const SOCKET_TIMES: SocketTimes = {
  ping_ms: 10_000,
  pause_ms: 1_000,
  max_pause_ms: 60_000,
  ack_ms: 2_000,
  overlap_ms: 10_000,
};

const OPEN_MS = 10_000;
const PING = Buffer.from('purser');
const MAX_MESSAGE_BYTES = 1_048_576;
/** The last envelopes are known, so that one which is sent again is handled once. */
const MAX_KNOWN = 1_000;
/** Clicks in progress. Beyond it an envelope is not acknowledged, and Slack sends it again. */
const MAX_IN_PROGRESS = 64;

export interface SlackSocketOptions {
  api: SlackApi;
  app_token: string;
  /** Handles the payload of an interaction. Must not reject. */
  onInteraction: (payload: unknown) => Promise<void>;
  log: Logger;
  times?: SocketTimes;
}

/** A lasting connection to Slack by Socket Mode. */
export interface SlackSocket {
  /** Returns true while Slack greeted the present connection. */
  isOpen(): boolean;
  /** Closes the connection, and resolves when what was received is handled. */
  stop(): Promise<void>;
}

/** Why a connection ended: Slack wants another one, or it broke. */
type End = { kind: 'refresh' } | { kind: 'broken'; why: string; pause_ms?: number };

/** The URL that Slack answers is used only if it is encrypted, or the API is on this machine too. */
function isAllowed(url: unknown, base_url: string): url is string {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'wss:') return true;
  return protocol === 'ws:' && isLoopbackName(hostname) && isLoopbackName(new URL(base_url).hostname);
}

/** Connects, and connects again whenever the connection ends. */
export function openSlackSocket(options: SlackSocketOptions): SlackSocket {
  return new SocketMode(options);
}

class SocketMode implements SlackSocket {
  readonly #options: SlackSocketOptions;
  readonly #times: SocketTimes;
  readonly #stop = new AbortController();
  readonly #dispatcher = new Agent({
    connect: { timeout: OPEN_MS },
    webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES },
  });
  readonly #sockets = new Set<WebSocket>();
  readonly #known = new Map<string, Promise<void>>();
  readonly #in_progress = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #is_open = false;

  constructor(options: SlackSocketOptions) {
    this.#options = options;
    this.#times = options.times ?? SOCKET_TIMES;
    this.#running = this.#run();
  }

  isOpen(): boolean {
    return this.#is_open;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    for (const socket of this.#sockets) socket.close();
    await this.#running;
    await Promise.all(this.#in_progress);
    await this.#dispatcher.destroy();
  }

  async #run(): Promise<void> {
    const { pause_ms, max_pause_ms } = this.#times;
    let pause = pause_ms;
    while (!this.#stop.signal.aborted) {
      const end = await this.#connect(() => {
        pause = pause_ms;
      });
      this.#is_open = false;
      if (this.#stop.signal.aborted || end.kind === 'refresh') continue;
      this.#options.log.warn({ why: end.why }, 'the connection to Slack broke; it is made again');
      await this.#wait(end.pause_ms ?? pause);
      pause = Math.min(max_pause_ms, pause * 2);
    }
  }

  /** Waits, but not beyond a stop. */
  #wait(pause_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pause_ms);
      this.#stop.signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }

  /** Makes one connection and resolves when the next one is wanted. `onOpen`: Slack greeted it. */
  async #connect(onOpen: () => void): Promise<End> {
    const { api, app_token } = this.#options;
    const answer = await api.call(app_token, 'apps.connections.open', {}, this.#stop.signal);
    if (!answer.ok) {
      const { error: why, retry_after_ms } = answer;
      return { kind: 'broken', why, ...(retry_after_ms === undefined ? {} : { pause_ms: retry_after_ms }) };
    }
    const { url } = answer.body;
    if (!isAllowed(url, api.base_url)) return { kind: 'broken', why: 'url_refused' };
    if (this.#stop.signal.aborted) return { kind: 'refresh' };
    return this.#live(url, onOpen);
  }

  #live(url: string, onOpen: () => void): Promise<End> {
    const socket = new WebSocket(url, { dispatcher: this.#dispatcher });
    this.#sockets.add(socket);
    return new Promise((resolve) => {
      const unwatch = this.#watch(socket, () => end({ kind: 'broken', why: 'no_pong' }));
      const end = (how: End) => {
        resolve(how);
        if (how.kind === 'broken') return close();
        // Envelopes that are on their way still come here.
        setTimeout(close, this.#times.overlap_ms).unref();
      };
      const close = () => {
        unwatch();
        this.#sockets.delete(socket);
        socket.close();
      };
      const refresh = () => end({ kind: 'refresh' });
      socket.addEventListener('message', ({ data }: MessageEvent) => {
        const type = this.#take(socket, data);
        if (type === 'hello') {
          this.#is_open = true;
          onOpen();
        } else if (type === 'disconnect') refresh();
      });
      socket.addEventListener('close', () => {
        unwatch();
        this.#sockets.delete(socket);
        resolve({ kind: 'broken', why: 'closed' });
      });
      socket.addEventListener('error', () => end({ kind: 'broken', why: 'error' }));
    });
  }

  /** Pings a connection, and calls `onDead` once nothing came in for two pings. Returns the function that ends this. */
  #watch(socket: WebSocket, onDead: () => void): () => void {
    const { ping_ms } = this.#times;
    let silent = 0;
    const noteLife = () => {
      silent = 0;
    };
    const onPong = (message: unknown) => {
      if ((message as { websocket?: unknown }).websocket === socket) noteLife();
    };
    subscribe('undici:websocket:pong', onPong);
    subscribe('undici:websocket:ping', onPong);
    socket.addEventListener('message', noteLife);
    const timer = setInterval(() => {
      silent += 1;
      if (silent > 2) onDead();
      else if (socket.readyState === WebSocket.OPEN) ping(socket, PING);
    }, ping_ms);
    timer.unref();
    return () => {
      clearInterval(timer);
      unsubscribe('undici:websocket:pong', onPong);
      unsubscribe('undici:websocket:ping', onPong);
    };
  }

  /** Handles one message. Returns its type; null for one that is none of Slack's. */
  #take(socket: WebSocket, data: unknown): string | null {
    const message = parsed(data);
    if (message === null) return null;
    const { type, envelope_id, payload } = message;
    if (typeof envelope_id === 'string' && envelope_id.length <= 200) {
      this.#envelope(socket, envelope_id, type === 'interactive' ? payload : null);
    }
    return typeof type === 'string' ? type : null;
  }

  /** Handles an envelope once, and acknowledges it whenever it comes. */
  #envelope(socket: WebSocket, envelope_id: string, payload: unknown): void {
    let handled = this.#known.get(envelope_id);
    if (handled === undefined) {
      if (this.#in_progress.size >= MAX_IN_PROGRESS) return;
      handled = payload == null ? Promise.resolve() : this.#options.onInteraction(payload);
      this.#known.set(envelope_id, handled);
      const oldest = this.#known.keys().next().value;
      if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
      const progress = handled;
      this.#in_progress.add(progress);
      void progress.finally(() => this.#in_progress.delete(progress));
    }
    const ack = () => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ envelope_id }));
    };
    const late = new Promise<void>((resolve) => setTimeout(resolve, this.#times.ack_ms).unref());
    void Promise.race([handled, late]).then(ack);
  }
}

function parsed(data: unknown): Record<string, unknown> | null {
  if (typeof data !== 'string') return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
