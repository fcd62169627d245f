import { createHash } from 'node:crypto';
import { APIError, Purser } from '@purser/sdk';
import { GatewayError } from '../errors.ts';

/** The rules of an authority for model calls. */
export interface ModelUsage {
  models?: readonly string[] | undefined;
  on_low_budget?: 'LOWER' | 'REFUSE' | undefined;
  on_unknown_price?: 'REFUSE' | 'HIGHEST_PRICE' | undefined;
}

/** The agent whose key a call came with, as Purser last described it. */
export interface Caller {
  key_id: string;
  agent: {
    id: string;
    slug: string;
    mode: 'SHADOW' | 'ENFORCE';
    may_spend: boolean;
    authority: {
      hash: string;
      currency: string;
      per_transaction_limit_minor: number | null;
      review_threshold_minor: number | null;
      model_usage: ModelUsage | null;
    } | null;
  };
  /** A client with the agent's key. */
  purser: Purser;
  /** Purser cannot be reached right now, so this is from its previous answer. */
  is_stale: boolean;
}

interface Known {
  caller: Caller | null;
  /** When Purser was asked for what is known. */
  at_ms: number;
  refusal: GatewayError | null;
  asking: Promise<void> | null;
  purser: Purser;
}

export interface CallerOptions {
  purser_url: string;
  check_ms: number;
  fetch?: typeof fetch | undefined;
}

/** The most keys to remember. One more, and the least recently used one is forgotten. */
const MAX_KNOWN = 10_000;
const TIMEOUT_MS = 5_000;
const VISIBLE = /^[\x21-\x7e]{1,500}$/;

/** Purser is away, and the agent was last seen in SHADOW. */
const isPassing = (caller: Caller | null) => caller?.is_stale === true && caller.agent.mode === 'SHADOW';

const wrongKey = () =>
  new GatewayError('invalid_api_key', 'The API key is not valid. Send the key of an agent in Purser.');

function shownAgent(answer: unknown): Caller['agent'] | null {
  const agent = (answer as { agent?: Caller['agent'] | null }).agent;
  const is_agent = typeof agent?.id === 'string' && /^(?:SHADOW|ENFORCE)$/.test(agent.mode);
  return is_agent ? agent : null;
}

/** Finds the agent of a key, from an answer of Purser that is at most `check_ms` old. Keeps keys only as hashes and in their clients. */
export class Callers {
  readonly #options: CallerOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /**
   * The agent of a key. Rejects with a `GatewayError` if the key is no agent's, or if Purser cannot be asked, unless the agent was
   * last seen in SHADOW.
   */
  async check(key: string | undefined): Promise<Caller> {
    if (key === undefined || !VISIBLE.test(key)) throw wrongKey();
    const known = this.#knownOf(key);
    if (Date.now() - known.at_ms >= this.#options.check_ms) {
      known.asking ??= this.#ask(known).finally(() => {
        known.asking = null;
      });
      // In SHADOW nothing is delayed: once Purser is known to be away, no call waits for it.
      if (!isPassing(known.caller)) await known.asking;
    }
    if (known.refusal !== null) throw known.refusal;
    if (known.caller === null) throw wrongKey();
    if (known.caller.is_stale && !isPassing(known.caller)) throw away();
    return known.caller;
  }

  #knownOf(key: string): Known {
    const digest = createHash('sha256').update(key).digest('base64');
    const known = this.#known.get(digest) ?? {
      caller: null,
      at_ms: Number.NEGATIVE_INFINITY,
      refusal: null,
      asking: null,
      purser: new Purser({
        apiKey: key,
        baseURL: this.#options.purser_url,
        ...(this.#options.fetch && { fetch: this.#options.fetch }),
      }),
    };
    this.#known.delete(digest);
    this.#known.set(digest, known);
    if (this.#known.size > MAX_KNOWN) {
      const oldest = this.#known.keys().next().value as string;
      this.#known.delete(oldest);
    }
    return known;
  }

  async #ask(known: Known): Promise<void> {
    // An answer is as old as the question.
    const at_ms = Date.now();
    try {
      const answer = await known.purser.apiKeys.current({ timeout: TIMEOUT_MS, maxRetries: 1 });
      const agent = shownAgent(answer);
      known.at_ms = at_ms;
      known.caller =
        agent === null ? null : { key_id: answer.id, agent, purser: known.purser, is_stale: false };
      known.refusal =
        agent !== null
          ? null
          : new GatewayError(
              'agent_key_required',
              'This key belongs to no agent. Send the key of an agent in Purser.',
            );
    } catch (error) {
      if (error instanceof APIError && (error.status === 401 || error.status === 403)) {
        known.at_ms = at_ms;
        known.caller = null;
        known.refusal = wrongKey();
        return;
      }
      if (known.caller === null) throw away();
      known.caller = { ...known.caller, is_stale: true };
    }
  }
}

/** Purser gives no answer. */
export const away = (): GatewayError =>
  new GatewayError(
    'purser_unavailable',
    'Purser cannot be asked right now, so the call was not made. Try again.',
  );
