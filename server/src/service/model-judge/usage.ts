import type { Prompt } from './prompt.ts';
import type { Usage } from './protocols.ts';

/** Prices of a provider, in units of the currency per million tokens. */
export interface Prices {
  currency: string;
  input: number;
  cached_input: number;
  output: number;
}

/** The daily limit (UTC) of one workspace: tokens, or money in millionths of the prices' currency. */
export type DailyLimit = { tokens: number } | { cost_micros: number };

/** Usage of calls. */
export interface ModelConsumption {
  calls: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  /** Millionths of the prices' currency; 0 without prices. */
  cost_micros: number;
}

export const NOTHING_USED: ModelConsumption = {
  calls: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  cost_micros: 0,
};

/** The sum of two. */
export function sumConsumption(a: ModelConsumption, b: ModelConsumption): ModelConsumption {
  return {
    calls: a.calls + b.calls,
    input_tokens: a.input_tokens + b.input_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cost_micros: a.cost_micros + b.cost_micros,
  };
}

/** A million tokens at a price of 1 cost 1, so a token costs the price in millionths. */
function consumptionOf(usage: Usage, prices: Prices | null): ModelConsumption {
  const fresh = Math.max(0, usage.input_tokens - usage.cached_tokens);
  const cost =
    prices === null
      ? 0
      : fresh * prices.input +
        usage.cached_tokens * prices.cached_input +
        usage.output_tokens * prices.output;
  return { calls: 1, ...usage, cost_micros: Math.ceil(cost) };
}

/** English has about four characters to a token, other scripts fewer. */
const CHARACTERS_PER_TOKEN = 4;
const ESTIMATED_OUTPUT_TOKENS = 150;

/** The estimated usage of a call, until the provider reports it, and for abandoned calls. */
export function estimatedUsage({ system, examples, spend }: Prompt): Usage {
  const characters = system.length + (examples?.length ?? 0) + spend.length;
  const input_tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  return { input_tokens, cached_tokens: 0, output_tokens: ESTIMATED_OUTPUT_TOKENS };
}

/** The place where the nodes of a service keep together what was used. */
export interface UsageStore {
  /** Adds what this node counted and returns what all nodes have of it by now, in the same order. */
  add(rows: readonly DayUsage[]): Promise<(ModelConsumption | undefined)[]>;
}

/** The usage of one workspace in one day. */
export interface DayUsage {
  workspace_id: string;
  /** `2026-11-22` */
  day: string;
  used: ModelConsumption;
}

interface Day {
  day: string;
  /** False until this node knows what others kept. */
  is_known: boolean;
  /** The stored usage of all nodes at the last flush. */
  kept: ModelConsumption;
  /** Counted here since. */
  fresh: ModelConsumption;
  /** Calls under way, by their estimates. */
  expected: ModelConsumption;
}

const MAX_WORKSPACES = 100_000;

const negative = (one: ModelConsumption): ModelConsumption => ({
  calls: -one.calls,
  input_tokens: -one.input_tokens,
  cached_tokens: -one.cached_tokens,
  output_tokens: -one.output_tokens,
  cost_micros: -one.cost_micros,
});

export interface UsageCounterOptions {
  prices: Prices | null;
  limit: DailyLimit | null;
  store: UsageStore;
  /** The time as an ISO text (UTC). */
  now: () => string;
  onUse: (workspace_id: string, used: ModelConsumption) => void;
  log: { warn(details: object, message: string): void };
}

/**
 * Counts what each workspace uses of the model, on one node, and says when its day's limit is reached. A limit is exceeded at
 * most by what the calls that were under way came to beyond their estimates, and by what other nodes used since the last flush.
 */
export class UsageCounter {
  readonly #options: UsageCounterOptions;
  readonly #days = new Map<string, Day>();
  /** Usage of past days that is not stored yet. */
  readonly #left: DayUsage[] = [];
  #last_flush = Promise.resolve();

  constructor(options: UsageCounterOptions) {
    this.#options = options;
  }

  /** Begins a call that will come to about `expected`. Null: the limit of the day does not allow it. */
  begin(workspace_id: string, expected: Usage): ((usage: Usage) => void) | null {
    const { prices, onUse } = this.#options;
    const day = this.#dayOf(workspace_id);
    const estimate = consumptionOf(expected, prices);
    if (!this.#isWithin(day, estimate)) return null;
    day.expected = sumConsumption(day.expected, estimate);
    let is_settled = false;
    return (usage) => {
      if (is_settled) return;
      is_settled = true;
      day.expected = sumConsumption(day.expected, negative(estimate));
      const used = consumptionOf(usage, prices);
      const today = this.#dayOf(workspace_id);
      today.fresh = sumConsumption(today.fresh, used);
      onUse(workspace_id, used);
    };
  }

  /**
   * Keeps what was counted, and learns what other nodes did. Never rejects. One flush runs at a time, so that nothing is
   * counted twice.
   */
  flush(): Promise<void> {
    this.#last_flush = this.#last_flush.then(() => this.#flush());
    return this.#last_flush;
  }

  #dayOf(workspace_id: string): Day {
    const day = this.#options.now().slice(0, 10);
    const known = this.#days.get(workspace_id);
    if (known?.day === day) return known;
    // What is left of yesterday was used yesterday, and its limit no longer matters.
    if (known !== undefined && known.fresh.calls > 0)
      this.#left.push({ workspace_id, day: known.day, used: known.fresh });
    if (known === undefined && this.#days.size >= MAX_WORKSPACES) this.#forgetOne();
    const today: Day = {
      day,
      is_known: false,
      kept: NOTHING_USED,
      fresh: NOTHING_USED,
      expected: NOTHING_USED,
    };
    this.#days.set(workspace_id, today);
    if (this.#options.limit !== null) void this.flush();
    return today;
  }

  #forgetOne(): void {
    for (const [workspace_id, { fresh, expected }] of this.#days) {
      if (fresh.calls > 0 || expected.calls > 0) continue;
      this.#days.delete(workspace_id);
      return;
    }
  }

  #isWithin(day: Day, next: ModelConsumption): boolean {
    const { limit } = this.#options;
    if (limit === null) return true;
    const total = sumConsumption(sumConsumption(day.kept, day.fresh), day.expected);
    if ('tokens' in limit) {
      const asked = total.input_tokens + total.output_tokens + next.input_tokens + next.output_tokens;
      return asked <= limit.tokens;
    }
    return total.cost_micros + next.cost_micros <= limit.cost_micros;
  }

  async #flush(): Promise<void> {
    const { limit, store, log } = this.#options;
    const due: (DayUsage & { of: Day | null })[] = this.#left.splice(0).map((row) => ({ ...row, of: null }));
    for (const [workspace_id, of] of this.#days) {
      if (of.fresh.calls > 0 || (limit !== null && !of.is_known))
        due.push({ workspace_id, day: of.day, used: of.fresh, of });
    }
    if (due.length === 0) return;
    try {
      const kept = await store.add(due.map(({ workspace_id, day, used }) => ({ workspace_id, day, used })));
      for (const [i, { of, used }] of due.entries()) {
        if (of === null) continue;
        of.kept = kept[i] ?? of.kept;
        of.fresh = sumConsumption(of.fresh, negative(used));
        of.is_known = true;
      }
    } catch (error) {
      this.#left.push(...due.filter(({ of }) => of === null));
      log.warn({ err: error }, 'the costs of the purpose model could not be recorded');
    }
  }
}
