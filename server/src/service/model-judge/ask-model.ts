import { createHash } from 'node:crypto';
import type { SpendRequest } from '@purser/contract/decisions';
import { valueIn } from '@purser/rules/values/maps';
import { LRUCache } from 'lru-cache';
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts';
import type { Attempt, Hedge } from './hedge.ts';
import type { ModelAnswer, ModelClient } from './model-client.ts';
import type { Pace, Terms } from './pace.ts';
import { httpDetails, mayBeOfForm } from './probe.ts';
import { type LabelledSpend, promptFor, type SeenByModel, seenByModel } from './prompt.ts';
import type { Form, Usage } from './protocols.ts';
import { type Opinion, readOpinion } from './read-opinion.ts';
import type { Asked, Asker, AskModel, ModelQuestion } from './second-opinion.ts';
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
  /** The terms on which a spend is shown to the model. */
  termsOf: Pace['termsOf'];
  /** Waits for one of the places that workspaces share, as long as the terms say; returns its release. Rejects if none is free. */
  takePlace: (asker: Asker, terms: Terms) => Promise<() => void>;
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

/** A call to the model that is to be made. */
interface Call {
  asker: Asker;
  judged: Judged;
  /** The key of its opinion in the cache. */
  key: string;
  circuit: CircuitBreaker;
  /** A person sees the spend in any case. */
  is_review_anyway: boolean;
}

/** A refused call costs nothing; an abandoned call may. */
function usedBy(answer: ModelAnswer, expected: Usage): Usage {
  if ('usage' in answer) return answer.usage ?? expected;
  return answer.kind === 'http_error' || answer.kind === 'unreachable' ? NO_TOKENS : expected;
}

/** Returns true if an opinion repeats the key of the endpoint. */
function leaksKey({ rationale, evidence }: Opinion, api_key: string | null): boolean {
  if (api_key === null || api_key.length < MIN_SECRET_LENGTH) return false;
  return [rationale, ...evidence.map(({ text }) => text)].some((text) => text?.includes(api_key));
}

/**
 * Makes `AskModel`. Opinions are cached by workspace, authority and everything that the model sees, of an amount only what
 * can matter; equal questions under way share one call. There is no opinion while no place is free, the workspace's circuit
 * is open, its limit of the day is reached, or the endpoint asked to be left alone. Each workspace has its own circuit, so
 * that texts that make the model slow affect only the workspace they came from.
 */
export function makeAskModel(options: AskModelOptions): AskModel {
  const calls = new ModelCalls(options);
  return (asker, question) => calls.ask(asker, question);
}

class ModelCalls {
  readonly #options: AskModelOptions;
  readonly #opinions: LRUCache<string, Opinion>;
  readonly #under_way = new Map<string, Promise<Asked>>();
  readonly #log_again_ms = new Map<string, number>();
  readonly #circuits = new LRUCache<string, CircuitBreaker>({ max: MAX_CIRCUITS });
  /** Until then the endpoint wants no calls. It counts them by key, so this holds for all workspaces. */
  #resume_ms = 0;

  constructor(options: AskModelOptions) {
    this.#options = options;
    this.#opinions = new LRUCache({
      max: MAX_CACHED_OPINIONS,
      ttl: OPINION_TTL_MS,
      ttlResolution: 0,
      perf: { now: options.now_ms },
    });
  }

  ask(
    asker: Asker,
    { authority_hash, authority, request, allowances, suspicious, examples, is_review_anyway }: ModelQuestion,
  ): Promise<Asked> {
    const seen = seenByModel(authority, request, { suspicious, allowances });
    const { 'action.amount': _, ...words } = seen.spend;
    const shown = { ...seen, spend: words, amount: judgedAmount(seen, request.action) };
    const key = createHash('sha256')
      .update(JSON.stringify([asker.workspace_id, authority_hash, shown, examples]))
      .digest('base64');
    const opinion = this.#opinions.get(key);
    if (opinion !== undefined) {
      this.#options.metrics.countModelCacheHit();
      return Promise.resolve({ opinion });
    }
    return valueIn(this.#under_way, key, () => {
      const judged = { authority_hash, seen, examples };
      const circuit = this.#circuitOf(asker.workspace_id);
      const call = { asker, judged, key, circuit, is_review_anyway };
      return this.#callInTurn(call).finally(() => this.#under_way.delete(key));
    });
  }

  async #callInTurn(call: Call): Promise<Asked> {
    if (call.circuit.isOpen()) return { none: 'circuit_open' };
    const terms = await this.#options.termsOf(call.is_review_anyway);
    const release = await this.#options.takePlace(call.asker, terms).catch(() => null);
    if (release === null) return { none: 'busy' };
    try {
      // Calls that failed during the wait may have opened the circuit.
      return call.circuit.mayTry() ? await this.#call(call, terms) : { none: 'circuit_open' };
    } finally {
      release();
    }
  }

  async #call(call: Call, { timeout_ms, may_repeat }: Terms): Promise<Asked> {
    const { now_ms, wait, metrics } = this.#options;
    const began_ms = now_ms();
    const pause_ms = Math.max(0, this.#resume_ms - began_ms);
    if (pause_ms >= timeout_ms) return { none: 'rate_limited' };
    if (pause_ms > 0) await wait(pause_ms);
    const asked = this.#send(call, timeout_ms - pause_ms, may_repeat);
    if (asked === null) return { none: 'daily_limit' };
    const answer = await asked;
    call.circuit.record(endpointWorks(answer));
    const opinion = this.#opinionIn(answer, call.judged.seen);
    if (opinion !== null) {
      metrics.observeModelCall('answered', now_ms() - began_ms);
      this.#opinions.set(call.key, opinion);
      return { opinion };
    }
    const failed = failureIn(answer);
    metrics.observeModelCall(failed.kind, now_ms() - began_ms);
    return this.#noOpinion(failed);
  }

  /** Sends a question to the model, and repeats it where the hedge sees fit. Null if the limit of the day is reached. */
  #send({ asker, judged }: Call, left_ms: number, may_repeat: boolean): Promise<ModelAnswer> | null {
    const { newNonce, codeOf, usage, client, model, parameters, form, tryPlace, hedge } = this.#options;
    const { authority_hash, seen, examples } = judged;
    const prompt = promptFor(seen, { examples, nonce: newNonce(), examples_code: codeOf(authority_hash) });
    const expected = estimatedUsage(prompt);
    const begin = () => usage.begin(asker.workspace_id, expected);
    let settle = begin();
    if (settle === null) return null;
    const attempt: Attempt = async (timeout_ms, signal) => {
      const settleThis = settle as Settle;
      const answer = await client.ask({ prompt, model, parameters, form: form() }, timeout_ms, signal);
      settleThis(usedBy(answer, expected));
      this.#notePatience(answer);
      return answer;
    };
    const mayRepeat = () => {
      const release = may_repeat ? tryPlace(asker) : null;
      if (release === null) return null;
      settle = begin();
      if (settle !== null) return release;
      release();
      return null;
    };
    return hedge.ask(attempt, mayRepeat, left_ms);
  }

  /** Notes until when the endpoint asked to be left alone. */
  #notePatience(answer: ModelAnswer): void {
    if (answer.kind !== 'http_error' || answer.status !== 429) return;
    const pause_ms = Math.min(MAX_BACK_OFF_MS, answer.retry_after_ms ?? 0);
    this.#resume_ms = Math.max(this.#resume_ms, this.#options.now_ms() + pause_ms);
  }

  /** The opinion in an answer; null if it has none. */
  #opinionIn(answer: ModelAnswer, seen: SeenByModel): Opinion | null {
    if (answer.kind !== 'answered') return null;
    const opinion = readOpinion(answer.content, seen);
    return opinion === null || leaksKey(opinion, this.#options.api_key) ? null : opinion;
  }

  #noOpinion(failed: Failure): Asked {
    if (failed.kind !== 'stopping') this.#logFailure(failed);
    if (mayBeOfForm(failed)) this.#options.onFormRefused();
    if (failed.kind === 'http_error' && failed.status === 429) return { none: 'rate_limited' };
    return { none: failed.kind };
  }

  #logFailure(answer: Failure): void {
    const details = httpDetails(answer);
    const name = `${answer.kind} ${details.status}`;
    const now = this.#options.now_ms();
    if (now < (this.#log_again_ms.get(name) ?? now)) return;
    this.#log_again_ms.set(name, now + LOG_INTERVAL_MS);
    this.#options.log.warn({ outcome: answer.kind, ...details }, 'the purpose model gave no opinion');
  }

  #circuitOf(workspace_id: string): CircuitBreaker {
    const { now_ms, log } = this.#options;
    const onChange = (state: 'open' | 'closed') => {
      if (state === 'closed') log.info({ workspace_id }, 'the purpose model responds again');
      else {
        const details = { workspace_id, rest_ms: REST_MS };
        log.warn(details, 'the purpose model is failing; calls pause for a while');
      }
    };
    return valueIn<string, CircuitBreaker>(this.#circuits, workspace_id, () =>
      makeCircuitBreaker({ now_ms, failures: FAILURES_TO_OPEN, rest_ms: REST_MS, onChange }),
    );
  }
}
