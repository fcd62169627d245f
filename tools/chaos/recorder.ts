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

/** Clients that behave: each has one request under way, and retries what it does not know with the same key. */
export function makeRecorder(options: RecorderOptions): Recorder {
  const { agents, run_id, clients, patience_ms } = options;
  const wanted: Wanted[] = [];
  const problems: string[] = [];
  const latencies_ms: number[] = [];
  const dispatcher = new Agent({ connections: clients, pipelining: 1, connect: { timeout: 2_000 } });
  let running: Promise<unknown> | null = null;
  let stopping = false;
  let requests = 0;
  let unavailable = 0;
  let broken = 0;
  const breaks = new Map<string, number>();
  const unanswered: string[] = [];
  let answered: string | null = null;
  let not_connected = 0;
  let told_count = 0;
  let onTold: (() => void) | null = null;

  async function ask(spend: Wanted): Promise<'known' | 'unknown' | 'refused'> {
    requests += 1;
    const request_id = randomUUID();
    const began_ms = performance.now();
    try {
      const answer = await request(`${options.baseUrl()}/v1/decisions`, {
        method: 'POST',
        dispatcher,
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
      answered ??= request_id;
      latencies_ms.push(performance.now() - began_ms);
      if (answer.statusCode === 503 || answer.statusCode === 429) {
        unavailable += 1;
        return 'unknown';
      }
      if (answer.statusCode !== 201 && answer.statusCode !== 200) {
        problems.push(`${spend.key} was answered ${answer.statusCode}: ${text.slice(0, 200)}`);
        return 'refused';
      }
      const { decision_id, reservation } = JSON.parse(text) as {
        decision_id: string;
        reservation: { status: string; amount_minor: number };
      };
      const held_minor = reservation.status === 'HELD' ? reservation.amount_minor : 0;
      if (spend.told !== null && spend.told.decision_id !== decision_id) {
        problems.push(`${spend.key} was ${spend.told.decision_id} and then ${decision_id}.`);
      }
      if (spend.told === null) {
        spend.told = { decision_id, held_minor };
        told_count += 1;
        onTold?.();
      }
      return 'known';
    } catch (error) {
      const took_ms = performance.now() - began_ms;
      const { code } = error as { code?: string };
      // Nobody listened, so nothing was asked: no request failed.
      if (code === 'ECONNREFUSED') {
        not_connected += 1;
        return 'unknown';
      }
      broken += 1;
      unanswered.push(request_id);
      const what = code ?? (error as Error).message;
      breaks.set(what, (breaks.get(what) ?? 0) + 1);
      if (code === 'UND_ERR_HEADERS_TIMEOUT') {
        problems.push(`${spend.key} was not answered within ${patience_ms} ms.`);
        latencies_ms.push(took_ms);
      }
      return 'unknown';
    }
  }

  async function runClient(number: number): Promise<void> {
    for (let n = 0; !stopping; n++) {
      const { agent, agent_key } = agents[(number + n) % agents.length] as (typeof agents)[number];
      const spend: Wanted = {
        key: `${run_id}-${number}-${n}`,
        agent,
        agent_key,
        body: makeSpendBody(number * 1_000_003 + n),
        told: null,
      };
      wanted.push(spend);
      while (!stopping) {
        const known = await ask(spend);
        if (known !== 'unknown') break;
        await wait(20);
      }
    }
  }

  const owed = () => wanted.filter((spend) => spend.told === null);

  return {
    problems,
    start() {
      stopping = false;
      running ??= Promise.all(Array.from({ length: clients }, (_, number) => runClient(number)));
    },
    async stop() {
      stopping = true;
      await running;
    },
    acknowledged: () => told_count,
    nextAcknowledged(timeout_ms) {
      const began_ms = performance.now();
      return new Promise((resolve) => {
        const late = setTimeout(() => {
          onTold = null;
          resolve(null);
        }, timeout_ms);
        onTold = () => {
          onTold = null;
          clearTimeout(late);
          resolve(performance.now() - began_ms);
        };
      });
    },
    owed,
    async resolveAll() {
      const asked = owed();
      for (const spend of asked) {
        for (let attempt = 0; attempt < 100 && spend.told === null; attempt++) {
          if ((await ask(spend)) === 'refused') break;
          if (spend.told === null) await wait(100);
        }
      }
      return asked
        .filter((spend) => spend.told === null)
        .map((spend) => `${spend.key} could not be found out.`);
    },
    told: () => wanted.flatMap(({ key, agent, told }) => (told === null ? [] : [{ key, agent, ...told }])),
    async askAgain(sample, random) {
      const before = problems.length;
      const known = wanted.filter((spend) => spend.told !== null);
      for (let i = 0; i < sample && known.length > 0; i++) {
        const spend = known[Math.floor(random() * known.length)] as Wanted;
        if ((await ask(spend)) !== 'known') problems.push(`${spend.key} was known and is so no longer.`);
      }
      return problems.slice(before);
    },
    breaks: () => [...breaks].map(([what, count]) => `${what} ${count}`).join(', '),
    unanswered: () => unanswered,
    answered: () => answered ?? '',
    figures: () => {
      const { p99, max } = percentilesOf(latencies_ms);
      return {
        requests,
        acknowledged: told_count,
        unavailable,
        broken,
        not_connected,
        slowest_ms: max,
        p99_ms: p99,
      };
    },
  };
}
