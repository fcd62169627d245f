import { connect, type Socket } from 'node:net';

/** What a load sends. */
export interface Requests {
  /** The n-th request, from 0 on, as the bytes on the wire; ASCII. */
  make: (n: number) => string;
  good_status: number;
  /** True if any other answer refused the request instead of reporting a failure. Defaults to true for each of them. */
  isRefusal?: (body: Buffer) => boolean;
  /** Told of every good answer: which request it belongs to, and the body. */
  onGood?: (n: number, body: Buffer) => void;
}

export interface LoadOptions {
  base_url: string;
  /** Connections, each with one request under way at the most. */
  clients: number;
  requests: Requests;
  warm_up_ms: number;
  /**
   * Called when each client has had an answer, however long that takes, from where on the warm-up counts: of thousands of
   * connections a process accepts one a turn of its event loop. Without it, the warm-up counts from the beginning. Not with
   * `per_second`.
   */
  onAllAnswered?: () => void;
  /** Infinity: until `max_requests`. */
  measured_ms: number;
  max_requests?: number;
  /**
   * Requests begin at this rate, evenly, however slowly they are answered, and their time counts from when they
   * were due. Without it every client sends as soon as it was answered.
   */
  per_second?: number;
  /** How long a client that was refused waits before it asks again, ms; by default hardly at all. */
  pause_after_refusal_ms?: number;
  signal: AbortSignal;
}

export interface LoadResult {
  /** Good answers of the whole load, warm-up and the last ones under way included. */
  good: number;
  /** Good answers within the measured time, and how long that was. */
  measured: number;
  measured_ms: number;
  /** Milliseconds from sending (or being due) to the whole answer, of the measured ones. */
  latencies_ms: number[];
  /** The same of refusals. */
  refusals_ms: number[];
  /** What else came back, and how often. */
  errors: Map<string, number>;
}

const ANSWER_TIMEOUT_MS = 60_000;
/** A server that refuses is not asked again at once. */
const PAUSE_AFTER_ERROR_MS = 50;
const PACE_TICK_MS = 1;
const HEAD_END = Buffer.from('\r\n\r\n');

interface Received {
  status: number;
  body: Buffer;
  rest: Buffer;
}

/**
 * The first whole answer in the bytes; null when more are needed. Knows only answers with a content-length, which
 * is what the service sends. Throws for others.
 */
export function readAnswer(bytes: Buffer): Received | null {
  const head_end = bytes.indexOf(HEAD_END);
  if (head_end === -1) return null;
  const head = bytes.toString('latin1', 0, head_end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error('an answer without a content-length');
  const body_start = head_end + HEAD_END.length;
  const body_end = body_start + Number(length);
  if (bytes.length < body_end) return null;
  return {
    status: Number(head.slice(9, 12)),
    body: bytes.subarray(body_start, body_end),
    rest: bytes.subarray(body_end),
  };
}

function errorCode({ status, body }: Received): string {
  const code = /"code":"([a-z_]+)"/.exec(body.toString('latin1', 0, 500))?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** One connection. `send` may be called when it is open and nothing is under way. */
interface Client {
  send(due_ms: number): void;
  end(): void;
}

/**
 * Puts the service under load. As little work as possible is done for a request, since the machine is shared with
 * what is measured. Never rejects because of an answer; what goes wrong is counted. Rejects with the signal's
 * reason when that is aborted.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { clients, requests, signal, per_second, max_requests = Number.POSITIVE_INFINITY } = options;
  const { hostname, port } = new URL(options.base_url);
  const result: LoadResult = {
    good: 0,
    measured: 0,
    measured_ms: 0,
    latencies_ms: [],
    refusals_ms: [],
    errors: new Map(),
  };
  const begun_at_ms = performance.now();
  let measured_from_ms = begun_at_ms + options.warm_up_ms;
  let measured_to_ms = measured_from_ms + options.measured_ms;
  let unanswered = options.onAllAnswered === undefined ? 0 : clients;
  let next = 0;
  let last_answer_ms = measured_from_ms;
  /** With a pace: connections without work, and moments at which requests were due and found none. */
  const idle: Client[] = [];
  const due: number[] = [];

  const countError = (what: string) => result.errors.set(what, (result.errors.get(what) ?? 0) + 1);
  const isOver = () => signal.aborted || next >= max_requests || performance.now() >= measured_to_ms;
  const noteAnswered = () => {
    unanswered -= 1;
    if (unanswered !== 0) return;
    measured_from_ms = performance.now() + options.warm_up_ms;
    measured_to_ms = measured_from_ms + options.measured_ms;
    last_answer_ms = measured_from_ms;
    options.onAllAnswered?.();
  };
  if (unanswered > 0) measured_from_ms = measured_to_ms = Number.POSITIVE_INFINITY;
  const bookTime = (since_ms: number, now_ms: number) => {
    if (now_ms < measured_from_ms || now_ms >= measured_to_ms) return;
    result.measured += 1;
    result.latencies_ms.push(now_ms - since_ms);
    last_answer_ms = now_ms;
  };

  /** What a connection does that is open and has nothing under way. */
  const goOn = (client: Client) => {
    if (isOver()) return client.end();
    if (per_second === undefined) return client.send(performance.now());
    const waiting_since_ms = due.shift();
    if (waiting_since_ms === undefined) idle.push(client);
    else client.send(waiting_since_ms);
  };

  const runClient = (): Promise<void> =>
    new Promise((resolve) => {
      const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let number = 0;
      let since_ms = 0;
      let received: Buffer = Buffer.alloc(0);
      let is_over = false;
      let was_answered = false;
      const noteAnswer = () => {
        if (!was_answered) noteAnswered();
        was_answered = true;
      };
      const finish = (what: string | null) => {
        if (is_over) return;
        is_over = true;
        noteAnswer();
        if (what !== null) countError(what);
        socket.destroy();
        resolve();
      };
      const client: Client = {
        send(due_ms) {
          if (is_over) return;
          number = next;
          next += 1;
          since_ms = due_ms;
          socket.write(requests.make(number), 'latin1');
        },
        end: () => finish(null),
      };
      socket.setTimeout(ANSWER_TIMEOUT_MS, () => finish(`no answer in ${ANSWER_TIMEOUT_MS} ms`));
      socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
      socket.on('close', () => finish('the connection was closed'));
      socket.on('connect', () => goOn(client));
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        try {
          const answer = readAnswer(received);
          if (answer === null) return;
          received = answer.rest;
          noteAnswer();
          if (answer.status === requests.good_status) {
            result.good += 1;
            bookTime(since_ms, performance.now());
            requests.onGood?.(number, answer.body);
            goOn(client);
          } else {
            countError(errorCode(answer));
            const now_ms = performance.now();
            const is_measured = now_ms >= measured_from_ms && now_ms < measured_to_ms;
            if (is_measured && requests.isRefusal?.(answer.body) !== false)
              result.refusals_ms.push(now_ms - since_ms);
            setTimeout(() => goOn(client), options.pause_after_refusal_ms ?? PAUSE_AFTER_ERROR_MS);
          }
        } catch (error) {
          finish((error as Error).message);
        }
      });
    });

  let paced = 0;
  const keepPace = (): void => {
    const now_ms = performance.now();
    const rate = per_second as number;
    for (;;) {
      const due_ms = begun_at_ms + (paced * 1000) / rate;
      if (due_ms > now_ms || due_ms >= measured_to_ms) break;
      paced += 1;
      const client = idle.pop();
      if (client === undefined) due.push(due_ms);
      else client.send(due_ms);
    }
    if (isOver()) for (const client of idle.splice(0)) client.end();
    else setTimeout(keepPace, PACE_TICK_MS);
  };
  if (per_second !== undefined) keepPace();

  await Promise.all(Array.from({ length: clients }, runClient));
  signal.throwIfAborted();
  // Requests that were due and never sent have waited until now, or longer.
  for (const due_ms of due) if (due_ms >= measured_from_ms) result.latencies_ms.push(measured_to_ms - due_ms);
  result.measured_ms = Number.isFinite(options.measured_ms)
    ? options.measured_ms
    : last_answer_ms - measured_from_ms;
  return result;
}
