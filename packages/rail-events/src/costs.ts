import { currencyExponent } from '@purser/rules/values/money';
import { addDecimals, type Decimal, parseDecimal, roundedUp } from './decimals.ts';
import {
  currencyOf,
  isObject,
  type Json,
  lineAmount,
  momentMs,
  noonMs,
  objectAt,
  objectsAt,
  timeOf,
} from './fields.ts';
import { type Problem, type ReadItem, type ReadLine, readItem, refuse, skip } from './read-line.ts';
import { onRail } from './texts.ts';

/** One cost as a model provider reports it. */
interface Cost {
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  /** When the day is over, ms. */
  end_ms: number;
  project: string | null;
  /** In minor units, exactly. */
  minor: Decimal;
  currency: string;
}

/** The costs of one day, project and currency. */
interface Sum extends Cost {
  place: number;
}

/** A provider: its name as a merchant, and the rail of its projects. */
interface Provider {
  merchant: string;
  rail: string;
}

const DAY_MS = 86_400_000;
const PROVIDERS = {
  openai_costs: { merchant: 'OpenAI', rail: 'openai' },
  anthropic_costs: { merchant: 'Anthropic', rail: 'anthropic' },
} as const satisfies Record<string, Provider>;
export type CostSource = keyof typeof PROVIDERS;

/** Moves the point, so that major units become minor ones. */
const inMinor = ({ digits, scale }: Decimal, places: number): Decimal =>
  scale >= places
    ? { digits, scale: scale - places }
    : { digits: digits * 10n ** BigInt(places - scale), scale: 0 };

function decimalOf(value: unknown, column: string): Decimal {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return parseDecimal(text) ?? refuse('AMOUNT', column, 'is no decimal number');
}

function dayOf(value: unknown, column: string): { day: string; begin_ms: number } {
  const date = typeof value === 'string' ? noonMs(value.trim()) : null;
  const time_ms = date ?? momentMs(value);
  if (time_ms === null) return refuse('DATE', column, 'is no day');
  const day = timeOf(time_ms, Number.POSITIVE_INFINITY, column).slice(0, 10);
  return { day, begin_ms: Date.parse(`${day}T00:00:00.000Z`) };
}

const nameOf = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : null);

/**
 * Adds costs up, exactly, by UTC day, project and currency; the sums become lines at the end, rounded up. Days that are not over
 * are left out whole.
 */
export class CostSums {
  readonly #source: CostSource;
  readonly #now_ms: number;
  readonly #sums = new Map<string, Sum>();
  #place = 0;

  constructor(source: CostSource, now_ms: number) {
    this.#source = source;
    this.#now_ms = now_ms;
  }

  /** The number of sums so far. */
  get size(): number {
    return this.#sums.size;
  }

  /** Takes a bucket of the provider's JSON, whose numbers are texts. Returns the problems in it. */
  takeBucket(value: unknown, place: number): Problem[] {
    const bucket = isObject(value) ? value : {};
    this.#place = place;
    return objectsAt(bucket, 'results').flatMap((result) => this.#taken(() => this.#costOf(bucket, result)));
  }

  /** Takes a row of the provider's CSV, by the names of its columns. Returns the problems in it. */
  takeRow(row: Json, place: number): Problem[] {
    this.#place = place;
    const amount = this.#source === 'openai_costs' ? row.amount_value : row.cost_usd;
    // A day without costs.
    if (nameOf(amount) === null) return [];
    return this.#taken(() => this.#costOfRow(row));
  }

  /** The lines, and the reasons where there is none, with the places of their first costs. */
  items(): { item: ReadItem; place: number }[] {
    return [...this.#sums.values()].map((sum) => ({ item: this.#itemOf(sum), place: sum.place }));
  }

  #taken(read: () => Cost): Problem[] {
    let cost: Cost | undefined;
    const item = readItem(() => {
      cost = read();
      return { line: {} as ReadLine, key: null };
    });
    if ('problem' in item) return [item.problem];
    if (cost !== undefined) this.#add(cost);
    return [];
  }

  #add(cost: Cost): void {
    const key = JSON.stringify([cost.day, cost.project, cost.currency]);
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, { ...cost, place: this.#place });
    else {
      sum.minor = addDecimals(sum.minor, cost.minor);
      sum.end_ms = Math.max(sum.end_ms, cost.end_ms);
    }
  }

  #costOf(bucket: Json, result: Json): Cost {
    if (this.#source === 'openai_costs') {
      const amount = objectAt(result, 'amount');
      const { day, begin_ms } = dayOf(bucket.start_time, 'start_time');
      const currency = currencyOf(amount.currency, 'amount.currency');
      const value = decimalOf(amount.value, 'amount.value');
      return {
        day,
        end_ms: momentMs(bucket.end_time) ?? begin_ms + DAY_MS,
        project: nameOf(result.project_id),
        minor: inMinor(value, currencyExponent(currency)),
        currency,
      };
    }
    const { day, begin_ms } = dayOf(bucket.starting_at, 'starting_at');
    return {
      day,
      end_ms: momentMs(bucket.ending_at) ?? begin_ms + DAY_MS,
      project: nameOf(result.workspace_id),
      // Decimal cents: "123.45" is $1.23.
      minor: decimalOf(result.amount, 'amount'),
      currency: currencyOf(result.currency, 'currency'),
    };
  }

  #costOfRow(row: Json): Cost {
    const is_openai = this.#source === 'openai_costs';
    const begins = is_openai ? 'start_time_iso' : 'usage_date_utc';
    const { day, begin_ms } = dayOf(row[begins], begins);
    const currency = is_openai ? currencyOf(row.amount_currency ?? 'usd', 'amount_currency') : 'USD';
    const column = is_openai ? 'amount_value' : 'cost_usd';
    return {
      day,
      end_ms: (is_openai ? momentMs(row.end_time_iso) : null) ?? begin_ms + DAY_MS,
      project: nameOf(is_openai ? row.project_id : row.workspace),
      minor: inMinor(decimalOf(row[column], column), currencyExponent(currency)),
      currency,
    };
  }

  #itemOf({ day, end_ms, project, minor, currency }: Sum): ReadItem {
    const { merchant, rail } = PROVIDERS[this.#source];
    return readItem(() => {
      if (end_ms > this.#now_ms) return skip('INCOMPLETE_DAY');
      const rounded = roundedUp(minor, 0);
      const line: ReadLine = {
        kind: minor.digits < 0n ? 'REFUND' : 'SPEND',
        merchant,
        payee_id: null,
        instrument: project === null ? null : onRail(rail, project),
        amount_minor: lineAmount(rounded, 'amount'),
        currency,
        merchant_amount_minor: null,
        merchant_currency: null,
        occurred_at: `${day}T12:00:00.000Z`,
        precision: 'DAY',
        external_reference: null,
        authorization: null,
        description: null,
        category: null,
      };
      return { line, key: `${day} ${currency} ${project ?? ''}` };
    });
  }
}
