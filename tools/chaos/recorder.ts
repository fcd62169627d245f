import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { makeSpendBody } from '../bench/spend-bodies.ts';
import { percentilesOf } from '../demo/totals.ts';

/** One spend that a client wants decided: it asks with the same idempotency key until it knows. */
export interface Wanted {
  key: string;
  agent_key: string;
  agent: string;
  body: string;
  /** The decision it was told of, by a 201 or 200; null while it does not know. */
  told: { decision_id: string; held_minor: number } | null;
}

export interface RecorderOptions {
  /** Where the service is now: asked before every request. */
  baseUrl: () => string;
  agents: readonly { agent: string; agent_key: string }[];
  /** Makes the keys of this run unlike those of another. */
  run_id: string;
  clients: number;
  /** A request must be answered within this time, or fail, ms. */
  patience_ms: number;
}

/** What clients were told, and what they are still owed. */
export interface Recorder {
  /** Begins to ask, until `stop`. */
  start(): void;
  /** Ends the clients, after their last answers. May be called more than once. */
  stop(): Promise<void>;
  /** How many decisions clients were told of so far. */
  acknowledged(): number;
  /** Resolves with the milliseconds until the next decision is acknowledged; null after `timeout_ms`. */
  nextAcknowledged(timeout_ms: number): Promise<number | null>;
  /** Asks for everything that no client knows, until it does; gives what could not be found out. */
  resolveAll(): Promise<string[]>;
  /** What clients asked for and do not know. */
  owed(): Wanted[];
  /** Every decision that clients were told of, by its idempotency key. */
  told(): { key: string; agent: string; decision_id: string; held_minor: number }[];
  /** Asks again for a sample of what was acknowledged: the answer must be the same decision. */
  askAgain(sample: number, random: () => number): Promise<string[]>;
  figures(): {
    requests: number;
    acknowledged: number;
    unavailable: number;
    /** Without an answer. */
    broken: number;
    /** Attempts to reach a service that did not listen. */
    not_connected: number;
    slowest_ms: number;
    p99_ms: number;
  };
  /** How requests without an answer ended: "UND_ERR_SOCKET 3". */
  breaks(): string;
  /** The `x-request-id` of each request without an answer, by which the service's log tells whether it was received. */
  unanswered(): string[];
  /** That of the first request with an answer. */
  answered(): string;
  problems: string[];
}

/** Clients that behave: each has one request in progress, and retries with the same key until it knows the decision. */
export function makeRecorder(options: RecorderOptions): Recorder {
  return new Clients(options);
}

class Clients implements Recorder {
  readonly problems: string[] = [];
  readonly #options: RecorderOptions;
  readonly #dispatcher: Agent;
  readonly #wanted: Wanted[] = [];
  readonly #latencies_ms: number[] = [];
  readonly #breaks = new Map<string, number>();
  readonly #unanswered: string[] = [];
  readonly #counts = { requests: 0, acknowledged: 0, unavailable: 0, broken: 0, not_connected: 0 };
  #answered: string | null = null;
  #running: Promise<unknown> | null = null;
  #stopping = false;
  #onTold: (() => void) | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#dispatcher = new Agent({
      connections: options.clients,
      pipelining: 1,
      connect: { timeout: 2_000 },
    });
  }

  start(): void {
    this.#stopping = false;
    const clients = Array.from({ length: this.#options.clients }, (_, number) => number);
    this.#running ??= Promise.all(clients.map((number) => this.#runClient(number)));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  acknowledged(): number {
    return this.#counts.acknowledged;
  }

  nextAcknowledged(timeout_ms: number): Promise<number | null> {
    const began_ms = performance.now();
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#onTold = null;
        resolve(null);
      }, timeout_ms);
      this.#onTold = () => {
        this.#onTold = null;
        clearTimeout(late);
        resolve(performance.now() - began_ms);
      };
    });
  }

  owed(): Wanted[] {
    return this.#wanted.filter((spend) => spend.told === null);
  }

  async resolveAll(): Promise<string[]> {
    const asked = this.owed();
    for (const spend of asked) {
      for (let attempt = 0; attempt < 100 && spend.told === null; attempt++) {
        if ((await this.#ask(spend)) === 'refused') break;
        if (spend.told === null) await wait(100);
      }
    }
    return asked
      .filter((spend) => spend.told === null)
      .map((spend) => `${spend.key} could not be found out.`);
  }

  told() {
    return this.#wanted.flatMap(({ key, agent, told }) => (told === null ? [] : [{ key, agent, ...told }]));
  }

  async askAgain(sample: number, random: () => number): Promise<string[]> {
    const before = this.problems.length;
    const known = this.#wanted.filter((spend) => spend.told !== null);
    for (let i = 0; i < sample && known.length > 0; i++) {
      const spend = known[Math.floor(random() * known.length)] as Wanted;
      if ((await this.#ask(spend)) !== 'known')
        this.problems.push(`${spend.key} was known and is so no longer.`);
    }
    return this.problems.slice(before);
  }

  breaks(): string {
    return [...this.#breaks].map(([what, count]) => `${what} ${count}`).join(', ');
  }

  unanswered(): string[] {
    return this.#unanswered;
  }

  answered(): string {
    return this.#answered ?? '';
  }

  figures() {
    const { p99, max } = percentilesOf(this.#latencies_ms);
    return { ...this.#counts, slowest_ms: max, p99_ms: p99 };
  }

  async #runClient(number: number): Promise<void> {
    const { agents, run_id } = this.#options;
    for (let n = 0; !this.#stopping; n++) {
      const { agent, agent_key } = agents[(number + n) % agents.length] as (typeof agents)[number];
      const spend: Wanted = {
        key: `${run_id}-${number}-${n}`,
        agent,
        agent_key,
        body: makeSpendBody(number * 1_000_003 + n),
        told: null,
      };
      this.#wanted.push(spend);
      while (!this.#stopping) {
        const known = await this.#ask(spend);
        if (known !== 'unknown') break;
        await wait(20);
      }
    }
  }

  async #ask(spend: Wanted): Promise<'known' | 'unknown' | 'refused'> {
    const { baseUrl, patience_ms } = this.#options;
    this.#counts.requests += 1;
    const request_id = randomUUID();
    const began_ms = performance.now();
    try {
      const answer = await request(`${baseUrl()}/v1/decisions`, {
        method: 'POST',
        dispatcher: this.#dispatcher,
        headersTimeout: patience_ms,
        bodyTimeout: patience_ms,
        headers: {
          'x-api-key': spend.agent_key,
          'x-request-id': request_id,
          'idempotency-key': spend.key,
          'content-type': 'application/json',
        },
        body: spend.body,
      });
      const text = await answer.body.text();
      this.#answered ??= request_id;
      this.#latencies_ms.push(performance.now() - began_ms);
      return this.#noteAnswer(spend, answer.statusCode, text);
    } catch (error) {
      this.#noteBreak(spend, request_id, performance.now() - began_ms, error as Error & { code?: string });
      return 'unknown';
    }
  }

  #noteAnswer(spend: Wanted, status: number, text: string): 'known' | 'unknown' | 'refused' {
    if (status === 503 || status === 429) {
      this.#counts.unavailable += 1;
      return 'unknown';
    }
    if (status !== 201 && status !== 200) {
      this.problems.push(`${spend.key} was answered ${status}: ${text.slice(0, 200)}`);
      return 'refused';
    }
    const { decision_id, reservation } = JSON.parse(text) as {
      decision_id: string;
      reservation: { status: string; amount_minor: number };
    };
    const held_minor = reservation.status === 'HELD' ? reservation.amount_minor : 0;
    if (spend.told !== null && spend.told.decision_id !== decision_id) {
      this.problems.push(`${spend.key} was ${spend.told.decision_id} and then ${decision_id}.`);
    }
    if (spend.told === null) {
      spend.told = { decision_id, held_minor };
      this.#counts.acknowledged += 1;
      this.#onTold?.();
    }
    return 'known';
  }

  #noteBreak(
    { key }: Wanted,
    request_id: string,
    took_ms: number,
    { code, message }: Error & { code?: string },
  ): void {
    // Nobody listened, so nothing was asked: no request failed.
    if (code === 'ECONNREFUSED') {
      this.#counts.not_connected += 1;
      return;
    }
    this.#counts.broken += 1;
    this.#unanswered.push(request_id);
    const what = code ?? message;
    this.#breaks.set(what, (this.#breaks.get(what) ?? 0) + 1);
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      this.problems.push(`${key} was not answered within ${this.#options.patience_ms} ms.`);
      this.#latencies_ms.push(took_ms);
    }
  }
}
