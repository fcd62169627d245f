import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import type { ChatAnswer, ChatClient } from './chat-client.ts';
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts';
import { messagesFor, RESPONSE_FORMAT, type SeenByModel, seenByModel } from './prompt.ts';
import { type Asked, type Asker, type AskModel, type Opinion, readOpinion } from './second-opinion.ts';

/** What a call to the model came to. */
export type CallOutcome = ChatAnswer['kind'];

export interface AskModelOptions {
  client: Pick<ChatClient, 'ask'>;
  model: string;
  /** Further fields of the request's body. */
  parameters: Readonly<Record<string, unknown>>;
  /** An answer that repeats it is not taken. */
  api_key: string | null;
  /** Waits for a place to ask from, in a fair turn and for a bounded time; gives what gives it back. Rejects: none. */
  takePlace: (asker: Asker) => Promise<() => void>;
  /** A text that was never used before and cannot be guessed. */
  newNonce: () => string;
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  log: { warn(details: object, message: string): void; info(details: object, message: string): void };
  metrics: {
    observeModelCall(outcome: CallOutcome, duration_ms: number): void;
    countModelCacheHit(): void;
  };
}

/** Kept opinions: about 2 KB each at the most. */
const MAX_KEPT = 5_000;
/** The model behind a name changes at times. */
const KEPT_MS = 3_600_000;

/** Workspaces whose circuit is remembered; one that is forgotten is closed. */
const MAX_CIRCUITS = 10_000;
const FAILURES_TO_OPEN = 5;
const REST_MS = 10_000;
/** The same trouble is logged once in this time. */
const QUIET_MS = 60_000;
/** Below this length the key may be a word such as "none", which an answer may well hold. */
const SECRET_LENGTH = 8;

/**
 * Statuses by which an endpoint refuses what one spend made the request look like. They say nothing about others, so
 * an agent cannot take the second opinion from its workspace by writing odd texts.
 */
const REFUSES_ONE = new Set([400, 413, 422]);

function worked(answer: ChatAnswer): boolean {
  if (answer.kind === 'http_error') return REFUSES_ONE.has(answer.status);
  return answer.kind !== 'timeout' && answer.kind !== 'unreachable';
}

/**
 * Makes the asking: opinions are kept by workspace, authority and everything the model is shown; equal questions that
 * come at once share a call; without a place to ask from, and while the model does not answer a workspace, there is no
 * opinion. Each workspace has a circuit of its own: texts that make the model slow are slow for who wrote them.
 */
export function makeAskModel(options: AskModelOptions): AskModel {
  const { client, model, api_key, now_ms, log, metrics } = options;
  const kept = new LRUCache<string, Opinion>({
    max: MAX_KEPT,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now: now_ms },
  });
  const under_way = new Map<string, Promise<Asked>>();
  const quiet_until_ms = new Map<string, number>();
  const circuits = new LRUCache<string, CircuitBreaker>({ max: MAX_CIRCUITS });

  function circuitOf(workspace_id: string): CircuitBreaker {
    const known = circuits.get(workspace_id);
    if (known !== undefined) return known;
    const circuit = makeCircuitBreaker({
      now_ms,
      failures: FAILURES_TO_OPEN,
      rest_ms: REST_MS,
      onChange(state) {
        if (state === 'closed') log.info({ workspace_id }, 'the purpose model answers again');
        else
          log.warn(
            { workspace_id, rest_ms: REST_MS },
            'the purpose model fails and is left alone for a while',
          );
      },
    });
    circuits.set(workspace_id, circuit);
    return circuit;
  }

  function complain(answer: Exclude<ChatAnswer, { kind: 'answered' | 'stopping' }>): void {
    const status = answer.kind === 'http_error' ? answer.status : undefined;
    const name = `${answer.kind} ${status}`;
    const now = now_ms();
    if (now < (quiet_until_ms.get(name) ?? now)) return;
    quiet_until_ms.set(name, now + QUIET_MS);
    log.warn({ outcome: answer.kind, status }, 'the purpose model gave no opinion');
  }

  /** An answer in the form asked for, or what it is instead. */
  function judge(answer: ChatAnswer, seen: SeenByModel): Opinion | Exclude<ChatAnswer, { kind: 'answered' }> {
    if (answer.kind !== 'answered') return answer;
    const opinion = readOpinion(answer.content, seen);
    const tells_key =
      api_key !== null && api_key.length >= SECRET_LENGTH && opinion?.rationale.includes(api_key) === true;
    return opinion === null || tells_key ? { kind: 'not_understood' } : opinion;
  }

  async function call(key: string, seen: SeenByModel, circuit: CircuitBreaker): Promise<Asked> {
    const began_ms = now_ms();
    const answer = await client.ask({
      ...options.parameters,
      model,
      messages: messagesFor(seen, options.newNonce()),
      response_format: RESPONSE_FORMAT,
      stream: false,
    });
    circuit.note(worked(answer));
    const judged = judge(answer, seen);
    const failed = 'kind' in judged;
    metrics.observeModelCall(failed ? judged.kind : 'answered', now_ms() - began_ms);
    if (!failed) {
      kept.set(key, judged);
      return { opinion: judged };
    }
    if (judged.kind !== 'stopping') complain(judged);
    return { none: judged.kind };
  }

  async function callInTurn(asker: Asker, key: string, seen: SeenByModel): Promise<Asked> {
    const circuit = circuitOf(asker.workspace_id);
    if (circuit.isOpen()) return { none: 'circuit_open' };
    const release = await options.takePlace(asker).catch(() => null);
    if (release === null) return { none: 'busy' };
    try {
      // What failed while it waited may have opened the circuit.
      return circuit.mayTry() ? await call(key, seen, circuit) : { none: 'circuit_open' };
    } finally {
      release();
    }
  }

  return (asker: Asker, authority_hash: string, authority: Authority, request: SpendRequest) => {
    const seen = seenByModel(authority, request);
    const key = createHash('sha256')
      .update(JSON.stringify([asker.workspace_id, authority_hash, seen]))
      .digest('base64');
    const opinion = kept.get(key);
    if (opinion !== undefined) {
      metrics.countModelCacheHit();
      return Promise.resolve({ opinion });
    }
    const asked = under_way.get(key);
    if (asked !== undefined) return asked;
    const answered = callInTurn(asker, key, seen).finally(() => under_way.delete(key));
    under_way.set(key, answered);
    return answered;
  };
}
