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

/**
 * Puts the service under load. As little work as possible is done for a request, since the machine is shared with
 * what is measured. Never rejects because of an answer; what goes wrong is counted. Rejects with the signal's
 * reason when that is aborted.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const load = new Load(options);
  await load.run();
  options.signal.throwIfAborted();
  return load.result();
}

class Load {
  readonly options: LoadOptions;
  readonly #result: LoadResult = {
    good: 0,
    measured: 0,
    measured_ms: 0,
    latencies_ms: [],
    refusals_ms: [],
    errors: new Map(),
  };
  readonly #max_requests: number;
  readonly #begun_at_ms = performance.now();
  #measured_from_ms: number;
  #measured_to_ms: number;
  #last_answer_ms: number;
  #unanswered: number;
  #next = 0;
  #paced = 0;
  /** With a pace: connections without work, and moments at which requests were due and found none. */
  readonly #idle: Client[] = [];
  readonly #due: number[] = [];

  constructor(options: LoadOptions) {
    this.options = options;
    this.#max_requests = options.max_requests ?? Number.POSITIVE_INFINITY;
    const waits_for_all = options.onAllAnswered !== undefined && options.clients > 0;
    this.#unanswered = options.onAllAnswered === undefined ? 0 : options.clients;
    this.#measured_from_ms = this.#begun_at_ms + options.warm_up_ms;
    this.#measured_to_ms = this.#measured_from_ms + options.measured_ms;
    this.#last_answer_ms = this.#measured_from_ms;
    if (waits_for_all) this.#measured_from_ms = this.#measured_to_ms = Number.POSITIVE_INFINITY;
  }

  async run(): Promise<void> {
    const { clients, per_second } = this.options;
    if (per_second !== undefined) this.#keepPace(per_second);
    await Promise.all(
      Array.from({ length: clients }, () => new Promise<void>((ended) => new Client(this, ended))),
    );
  }

  result(): LoadResult {
    const { measured_ms } = this.options;
    // Requests that were due and never sent have waited until now, or longer.
    for (const due_ms of this.#due) {
      if (due_ms >= this.#measured_from_ms) this.#result.latencies_ms.push(this.#measured_to_ms - due_ms);
    }
    this.#result.measured_ms = Number.isFinite(measured_ms)
      ? measured_ms
      : this.#last_answer_ms - this.#measured_from_ms;
    return this.#result;
  }

  /** Gives a connection its next request, which is open and has nothing in progress. */
  goOn(client: Client): void {
    const is_paced = this.options.per_second !== undefined;
    if (this.#isOver()) client.end(null);
    else if (!is_paced) client.send(performance.now());
    else {
      const waiting_since_ms = this.#due.shift();
      if (waiting_since_ms === undefined) this.#idle.push(client);
      else client.send(waiting_since_ms);
    }
  }

  /** The number of the next request. */
  takeNumber(): number {
    return this.#next++;
  }

  noteFirstAnswer(): void {
    this.#unanswered -= 1;
    if (this.#unanswered !== 0) return;
    this.#measured_from_ms = performance.now() + this.options.warm_up_ms;
    this.#measured_to_ms = this.#measured_from_ms + this.options.measured_ms;
    this.#last_answer_ms = this.#measured_from_ms;
    this.options.onAllAnswered?.();
  }

  noteGood(since_ms: number): void {
    this.#result.good += 1;
    const now_ms = performance.now();
    if (!this.#isMeasured(now_ms)) return;
    this.#result.measured += 1;
    this.#result.latencies_ms.push(now_ms - since_ms);
    this.#last_answer_ms = now_ms;
  }

  noteRefusal(answer: Received, since_ms: number): void {
    this.countError(errorCode(answer));
    const now_ms = performance.now();
    if (this.#isMeasured(now_ms) && this.options.requests.isRefusal?.(answer.body) !== false)
      this.#result.refusals_ms.push(now_ms - since_ms);
  }

  countError(what: string): void {
    const { errors } = this.#result;
    errors.set(what, (errors.get(what) ?? 0) + 1);
  }

  #isOver(): boolean {
    const { signal } = this.options;
    return signal.aborted || this.#next >= this.#max_requests || performance.now() >= this.#measured_to_ms;
  }

  #isMeasured(now_ms: number): boolean {
    return now_ms >= this.#measured_from_ms && now_ms < this.#measured_to_ms;
  }

  #keepPace(per_second: number): void {
    const now_ms = performance.now();
    for (;;) {
      const due_ms = this.#begun_at_ms + (this.#paced * 1000) / per_second;
      if (due_ms > now_ms || due_ms >= this.#measured_to_ms) break;
      this.#paced += 1;
      const client = this.#idle.pop();
      if (client === undefined) this.#due.push(due_ms);
      else client.send(due_ms);
    }
    if (this.#isOver()) for (const client of this.#idle.splice(0)) client.end(null);
    else setTimeout(() => this.#keepPace(per_second), PACE_TICK_MS);
  }
}

/** One connection. `send` may be called when it is open and has nothing in progress. */
class Client {
  readonly #load: Load;
  readonly #ended: () => void;
  readonly #socket: Socket;
  #number = 0;
  #since_ms = 0;
  #received: Buffer = Buffer.alloc(0);
  #is_over = false;
  #was_answered = false;

  constructor(load: Load, ended: () => void) {
    this.#load = load;
    this.#ended = ended;
    const { hostname, port } = new URL(load.options.base_url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.setTimeout(ANSWER_TIMEOUT_MS, () => this.end(`no answer in ${ANSWER_TIMEOUT_MS} ms`));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.end(error.code ?? error.message));
    this.#socket.on('close', () => this.end('the connection was closed'));
    this.#socket.on('connect', () => load.goOn(this));
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  send(due_ms: number): void {
    if (this.#is_over) return;
    this.#number = this.#load.takeNumber();
    this.#since_ms = due_ms;
    this.#socket.write(this.#load.options.requests.make(this.#number), 'latin1');
  }

  /** `problem`: what went wrong; null where nothing did. */
  end(problem: string | null): void {
    if (this.#is_over) return;
    this.#is_over = true;
    this.#noteAnswer();
    if (problem !== null) this.#load.countError(problem);
    this.#socket.destroy();
    this.#ended();
  }

  #noteAnswer(): void {
    if (!this.#was_answered) this.#load.noteFirstAnswer();
    this.#was_answered = true;
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      const answer = readAnswer(this.#received);
      if (answer === null) return;
      this.#received = answer.rest;
      this.#noteAnswer();
      const { requests, pause_after_refusal_ms = PAUSE_AFTER_ERROR_MS } = this.#load.options;
      if (answer.status === requests.good_status) {
        this.#load.noteGood(this.#since_ms);
        requests.onGood?.(this.#number, answer.body);
        this.#load.goOn(this);
      } else {
        this.#load.noteRefusal(answer, this.#since_ms);
        setTimeout(() => this.#load.goOn(this), pause_after_refusal_ms);
      }
    } catch (error) {
      this.end((error as Error).message);
    }
  }
}
