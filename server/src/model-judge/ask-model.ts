import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import type { ChatAnswer, ChatClient } from './chat-client.ts';
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts';
import { messagesFor, RESPONSE_FORMAT, type SeenByModel, seenByModel } from './prompt.ts';
import { type Asked, type Asker, type AskModel, type Opinion, readOpinion } from './second-opinion.ts';

/** How a call to the model ended. */
export type CallOutcome = ChatAnswer['kind'];

export interface AskModelOptions {
  client: Pick<ChatClient, 'ask'>;
  model: string;
  /** Further fields for the body of each request. */
  parameters: Readonly<Record<string, unknown>>;
  /** An answer that repeats this key is discarded. */
  api_key: string | null;
  /** Waits a bounded time for one of the places that workspaces share; returns its release. Rejects if none is free. */
  takePlace: (asker: Asker) => Promise<() => void>;
  /** Returns a text that was never used before and cannot be guessed. */
  newNonce: () => string;
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  log: { warn(details: object, message: string): void; info(details: object, message: string): void };
  metrics: {
    observeModelCall(outcome: CallOutcome, duration_ms: number): void;
    countModelCacheHit(): void;
  };
}

/** An opinion takes at most about 2 KB. */
const MAX_CACHED_OPINIONS = 5_000;
/** The model behind a name may change, so an opinion is cached for an hour. */
const OPINION_TTL_MS = 3_600_000;

/** A circuit that is evicted starts again closed. */
const MAX_CIRCUITS = 10_000;
const FAILURES_TO_OPEN = 5;
const REST_MS = 10_000;
/** The same failure is logged once in this time. */
const LOG_INTERVAL_MS = 60_000;
/** A shorter key may be a word such as "none", which answers contain legitimately. */
const MIN_SECRET_LENGTH = 8;

/**
 * Statuses by which an endpoint refuses one request for its content. They do not count as failures of the endpoint, so
 * an agent cannot disable the second opinion of its workspace by writing odd texts.
 */
const CONTENT_REFUSED = new Set([400, 413, 422]);

function endpointWorks(answer: ChatAnswer): boolean {
  if (answer.kind === 'http_error') return CONTENT_REFUSED.has(answer.status);
  return answer.kind !== 'timeout' && answer.kind !== 'unreachable';
}

/**
 * Makes `AskModel`. Opinions are cached by workspace, authority and everything that the model sees; equal questions
 * under way share one call. There is no opinion while no place is free or the workspace's circuit is open. Each
 * workspace has its own circuit, so that texts that make the model slow affect only the workspace they came from.
 */
export function makeAskModel(options: AskModelOptions): AskModel {
  const { client, model, api_key, now_ms, log, metrics } = options;
  const opinions = new LRUCache<string, Opinion>({
    max: MAX_CACHED_OPINIONS,
    ttl: OPINION_TTL_MS,
    ttlResolution: 0,
    perf: { now: now_ms },
  });
  const under_way = new Map<string, Promise<Asked>>();
  const log_again_ms = new Map<string, number>();
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

  function logFailure(answer: Exclude<ChatAnswer, { kind: 'answered' | 'stopping' }>): void {
    const status = answer.kind === 'http_error' ? answer.status : undefined;
    const name = `${answer.kind} ${status}`;
    const now = now_ms();
    if (now < (log_again_ms.get(name) ?? now)) return;
    log_again_ms.set(name, now + LOG_INTERVAL_MS);
    log.warn({ outcome: answer.kind, status }, 'the purpose model gave no opinion');
  }

  /** The opinion in an answer, or the failure. */
  function parse(answer: ChatAnswer, seen: SeenByModel): Opinion | Exclude<ChatAnswer, { kind: 'answered' }> {
    if (answer.kind !== 'answered') return answer;
    const opinion = readOpinion(answer.content, seen);
    const leaks_key =
      api_key !== null &&
      api_key.length >= MIN_SECRET_LENGTH &&
      opinion?.rationale.includes(api_key) === true;
    return opinion === null || leaks_key ? { kind: 'not_understood' } : opinion;
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
    circuit.record(endpointWorks(answer));
    const result = parse(answer, seen);
    const failed = 'kind' in result;
    metrics.observeModelCall(failed ? result.kind : 'answered', now_ms() - began_ms);
    if (!failed) {
      opinions.set(key, result);
      return { opinion: result };
    }
    if (result.kind !== 'stopping') logFailure(result);
    return { none: result.kind };
  }

  async function callInTurn(asker: Asker, key: string, seen: SeenByModel): Promise<Asked> {
    const circuit = circuitOf(asker.workspace_id);
    if (circuit.isOpen()) return { none: 'circuit_open' };
    const release = await options.takePlace(asker).catch(() => null);
    if (release === null) return { none: 'busy' };
    try {
      // Calls that failed during the wait may have opened the circuit.
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
    const opinion = opinions.get(key);
    if (opinion !== undefined) {
      metrics.countModelCacheHit();
      return Promise.resolve({ opinion });
    }
    const shared = under_way.get(key);
    if (shared !== undefined) return shared;
    const asked = callInTurn(asker, key, seen).finally(() => under_way.delete(key));
    under_way.set(key, asked);
    return asked;
  };
}
