import { exactMajor } from '../prices/money.ts';
import {
  findPrice,
  NO_USAGE,
  type PriceTable,
  type Provider,
  type TokenUsage,
} from '../prices/price-table.ts';

/** A line of the `usage` of an outcome: the calls of one model since the purse's last report. */
export interface UsageRow {
  model: string;
  calls: number;
  uncertain_calls: number;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  amount: string;
  /** Left out if the table has none. */
  price?: { per_million: unknown; source: string; as_of: string };
}

/** A call that was settled. */
export interface SettledCall {
  model: string;
  usage: TokenUsage;
  uncertain: boolean;
  amount: bigint;
}

interface Sum {
  calls: number;
  uncertain_calls: number;
  usage: TokenUsage;
  amount: bigint;
}

/** Purser takes 50 rows and 8 KB; a row takes some 400 bytes. The others wait for the next report. */
const MAX_ROWS = 16;
const MAX_BYTES = 7_500;

/** Adds up settled calls by model, for the next report. */
export class UsageRows {
  readonly #table: PriceTable;
  readonly #provider: Provider;
  readonly #currency: string;
  readonly #sums = new Map<string, Sum>();

  constructor(table: PriceTable, provider: Provider, currency: string) {
    this.#table = table;
    this.#provider = provider;
    this.#currency = currency;
  }

  add({ model, usage, uncertain, amount }: SettledCall): void {
    const sum = this.#sums.get(model) ?? {
      calls: 0,
      uncertain_calls: 0,
      usage: { ...NO_USAGE },
      amount: 0n,
    };
    sum.calls += 1;
    sum.uncertain_calls += uncertain ? 1 : 0;
    for (const field of Object.keys(sum.usage) as (keyof TokenUsage)[]) sum.usage[field] += usage[field];
    sum.amount += amount;
    this.#sums.set(model, sum);
  }

  /** Removes the rows for a report and returns them, the most expensive first; undefined if there are none. */
  take(): UsageRow[] | undefined {
    const dearest = [...this.#sums].sort(([, a], [, b]) => (a.amount < b.amount ? 1 : -1));
    const rows: UsageRow[] = [];
    let bytes = 2;
    for (const [model, sum] of dearest) {
      const row = this.#rowOf(model, sum);
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (rows.length === MAX_ROWS || bytes > MAX_BYTES) break;
      rows.push(row);
      this.#sums.delete(model);
    }
    return rows.length === 0 ? undefined : rows;
  }

  #rowOf(model: string, { calls, uncertain_calls, usage, amount }: Sum): UsageRow {
    const price = findPrice(this.#table, this.#provider, model);
    return {
      // The agent chooses this name, so it may hold any text.
      model: model.slice(0, 128).replaceAll(/[^\x20-\x7e]/g, '?'),
      calls,
      uncertain_calls,
      input_tokens: usage.input,
      cached_input_tokens: usage.cached_input,
      cache_write_tokens: usage.cache_write + usage.cache_write_1h,
      output_tokens: usage.output,
      amount: exactMajor(amount, this.#currency),
      ...(price && {
        price: { per_million: price.entry.per_million, source: price.source, as_of: price.as_of },
      }),
    };
  }
}
