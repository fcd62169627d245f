import { createHash } from 'node:crypto';
import type { SpendRequest } from '@purser/rules/domain/spends';
import { LRUCache } from 'lru-cache';
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts';
import type { Attempt, Hedge } from './hedge.ts';
import type { ModelAnswer, ModelClient } from './model-client.ts';
import { mayBeOfForm } from './probe.ts';
import { type LabelledSpend, promptFor, type SeenByModel, seenByModel } from './prompt.ts';
import type { Form, Usage } from './protocols.ts';
import { type Opinion, readOpinion } from './read-opinion.ts';
import type { Asked, Asker, AskModel } from './second-opinion.ts';
import { estimatedUsage, type UsageCounter } from './usage.ts';

/** How a call to the model ended. */
export type CallOutcome = Exclude<ModelAnswer['kind'], 'cancelled'>;

export interface AskModelOptions {
  client: Pick<ModelClient, 'ask'>;
  hedge: Hedge;
  model: string;
  /** Further fields for the body of each request. */
  parameters: Readonly<Record<string, unknown>>;
  /** The form in which the endpoint is asked; what the probe found out. */
  form: () => Form;
  /** Called when a spend got no opinion in a way that another form may mend. */
  onFormRefused: () => void;
  /** An answer that repeats this key is discarded. */
  api_key: string | null;
  /** Time limit of a call, ms. */
  timeout_ms: number;
  /** Waits a bounded time for one of the places that workspaces share; returns its release. Rejects if none is free. */
  takePlace: (asker: Asker) => Promise<() => void>;
  /** Takes a place that is free now. */
  tryPlace: (asker: Asker) => (() => void) | null;
  usage: Pick<UsageCounter, 'begin'>;
  /** Returns a text that was never used before and cannot be guessed. */
  newNonce: () => string;
  /** A text that cannot be guessed, the same for the same authority. */
  codeOf: (authority_hash: string) => string;
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** Resolves after `wait_ms`. */
  wait: (wait_ms: number) => Promise<void>;
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
/** A longer `retry-after` counts as this: a mistaken endpoint must not switch the judge off for a day. */
const MAX_BACK_OFF_MS = 60_000;
/** A shorter key may be a word such as "none", which answers contain legitimately. */
const MIN_SECRET_LENGTH = 8;

/**
 * Statuses by which an endpoint refuses one request for its content. They do not count as failures of the endpoint, so
 * an agent cannot disable the second opinion of its workspace by writing odd texts.
 */
const CONTENT_REFUSED = new Set([400, 413, 422]);

/** An endpoint that asks for patience works. */
function endpointWorks(answer: ModelAnswer): boolean {
  if (answer.kind === 'http_error') return CONTENT_REFUSED.has(answer.status) || answer.status === 429;
  return answer.kind !== 'timeout' && answer.kind !== 'unreachable';
}

type Failure = Exclude<ModelAnswer, { kind: 'answered' } | { kind: 'cancelled' }>;
type Settle = (usage: Usage) => void;

/** The spend that the model assesses. */
interface Judged {
  authority_hash: string;
  seen: SeenByModel;
  examples: readonly LabelledSpend[];
}

const NO_TOKENS: Usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 };

/** Only the hedge cancels, and never what it returns. */
function failureIn(answer: ModelAnswer): Failure {
  if (answer.kind === 'answered') return { kind: 'not_understood', usage: null };
  return answer.kind === 'cancelled' ? { kind: 'stopping' } : answer;
}

/** True if some text speaks of numbers, so that another amount may get another answer. */
const speaksOfNumbers = (texts: Readonly<Record<string, string>>): boolean =>
  Object.entries(texts).some(([field, text]) => field !== 'action.amount' && /\p{N}/u.test(text));
const SUMS =
  /\b(?:amounts?|prices?|costs?|sums?|totals?|cheap\w*|expensive|afford\w*|limit\w*|budget\w*|per|each|double|half|round)\b/i;

/** The amount as far as it can matter: two digits of it where nothing that the model sees speaks of numbers or sums. */
function judgedAmount(seen: SeenByModel, { amount_minor, currency }: SpendRequest['action']): string {
  const is_free =
    !speaksOfNumbers(seen.purpose) &&
    !speaksOfNumbers(seen.spend) &&
    !Object.values(seen.purpose).some((text) => SUMS.test(text));
  return `${currency} ${is_free ? amount_minor.toPrecision(2) : amount_minor}`;
}

/**
 * Makes `AskModel`. Opinions are cached by workspace, authority and everything that the model sees, of an amount only what
 * can matter; equal questions under way share one call. There is no opinion while no place is free, the workspace's circuit
 * is open, its limit of the day is reached, or the endpoint asked to be left alone. Each workspace has its own circuit, so
 * that texts that make the model slow affect only the workspace they came from.
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
        if (state === 'closed') log.info({ workspace_id }, 'the purpose model responds again');
        else
          log.warn(
            { workspace_id, rest_ms: REST_MS },
            'the purpose model is failing; calls pause for a while',
          );
      },
    });
    circuits.set(workspace_id, circuit);
    return circuit;
  }

  function logFailure(answer: Failure): void {
    const status = answer.kind === 'http_error' ? answer.status : undefined;
    const name = `${answer.kind} ${status}`;
    const now = now_ms();
    if (now < (log_again_ms.get(name) ?? now)) return;
    log_again_ms.set(name, now + LOG_INTERVAL_MS);
    log.warn({ outcome: answer.kind, status }, 'the purpose model gave no opinion');
  }

  /** The opinion in an answer; null if it has none. */
  function parse(content: string | object, seen: SeenByModel): Opinion | null {
    const opinion = readOpinion(content, seen);
    const leaks_key =
      api_key !== null &&
      api_key.length >= MIN_SECRET_LENGTH &&
      [opinion?.rationale, ...(opinion?.evidence ?? []).map(({ text }) => text)].some((text) =>
        text?.includes(api_key),
      );
    return leaks_key ? null : opinion;
  }

  /** Until then the endpoint wants no calls. It counts them by key, so this holds for all workspaces. */
  let resume_ms = 0;

  /** A refused call costs nothing; an abandoned call may. */
  function usedBy(answer: ModelAnswer, expected: Usage): Usage {
    if ('usage' in answer) return answer.usage ?? expected;
    return answer.kind === 'http_error' || answer.kind === 'unreachable' ? NO_TOKENS : expected;
  }

  function askFor(
    asker: Asker,
    { authority_hash, seen, examples }: Judged,
    left_ms: number,
  ): Promise<ModelAnswer> | null {
    const codes = { nonce: options.newNonce(), examples_code: options.codeOf(authority_hash) };
    const prompt = promptFor(seen, { examples, ...codes });
    const expected = estimatedUsage(prompt);
    const begin = () => options.usage.begin(asker.workspace_id, expected);
    let settle = begin();
    if (settle === null) return null;
    const attempt: Attempt = async (timeout_ms, signal) => {
      const settleThis = settle as Settle;
      const question = { prompt, model, parameters: options.parameters, form: options.form() };
      const answer = await client.ask(question, timeout_ms, signal);
      settleThis(usedBy(answer, expected));
      if (answer.kind === 'http_error' && answer.status === 429) {
        const pause_ms = Math.min(MAX_BACK_OFF_MS, answer.retry_after_ms ?? 0);
        resume_ms = Math.max(resume_ms, now_ms() + pause_ms);
      }
      return answer;
    };
    const mayRepeat = () => {
      const release = options.tryPlace(asker);
      if (release === null) return null;
      settle = begin();
      if (settle !== null) return release;
      release();
      return null;
    };
    return options.hedge.ask(attempt, mayRepeat, left_ms);
  }

  async function call(asker: Asker, key: string, judged: Judged, circuit: CircuitBreaker): Promise<Asked> {
    const began_ms = now_ms();
    const pause_ms = resume_ms - began_ms;
    if (pause_ms >= options.timeout_ms) return { none: 'rate_limited' };
    if (pause_ms > 0) await options.wait(pause_ms);
    const asked = askFor(asker, judged, options.timeout_ms - Math.max(0, pause_ms));
    if (asked === null) return { none: 'daily_limit' };
    const answer = await asked;
    circuit.record(endpointWorks(answer));
    const opinion = answer.kind === 'answered' ? parse(answer.content, judged.seen) : null;
    const failed = opinion !== null ? null : failureIn(answer);
    metrics.observeModelCall(failed?.kind ?? 'answered', now_ms() - began_ms);
    if (failed === null) {
      opinions.set(key, opinion as Opinion);
      return { opinion: opinion as Opinion };
    }
    if (failed.kind !== 'stopping') logFailure(failed);
    if (mayBeOfForm(failed)) options.onFormRefused();
    if (failed.kind === 'http_error' && failed.status === 429) return { none: 'rate_limited' };
    return { none: failed.kind };
  }

  async function callInTurn(asker: Asker, key: string, judged: Judged): Promise<Asked> {
    const circuit = circuitOf(asker.workspace_id);
    if (circuit.isOpen()) return { none: 'circuit_open' };
    const release = await options.takePlace(asker).catch(() => null);
    if (release === null) return { none: 'busy' };
    try {
      // Calls that failed during the wait may have opened the circuit.
      return circuit.mayTry() ? await call(asker, key, judged, circuit) : { none: 'circuit_open' };
    } finally {
      release();
    }
  }

  return (asker, { authority_hash, authority, request, suspicious, examples }) => {
    const seen = seenByModel(authority, request, suspicious);
    const { 'action.amount': _, ...words } = seen.spend;
    const shown = { ...seen, spend: words, amount: judgedAmount(seen, request.action) };
    const key = createHash('sha256')
      .update(JSON.stringify([asker.workspace_id, authority_hash, shown, examples]))
      .digest('base64');
    const opinion = opinions.get(key);
    if (opinion !== undefined) {
      metrics.countModelCacheHit();
      return Promise.resolve({ opinion });
    }
    const shared = under_way.get(key);
    if (shared !== undefined) return shared;
    const asked = callInTurn(asker, key, { authority_hash, seen, examples }).finally(() =>
      under_way.delete(key),
    );
    under_way.set(key, asked);
    return asked;
  };
}
