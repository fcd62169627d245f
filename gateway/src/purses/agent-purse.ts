import { type Draw, openPurse, type Purse, type PurseRemains } from '@purser/adapters/lease';
import type { Purser } from '@purser/sdk';
import type { Upstream } from '../config.ts';
import type { Log } from '../log.ts';
import { UNITS_IN_MINOR } from '../prices/money.ts';
import type { PriceTable } from '../prices/price-table.ts';
import type { Caller } from './callers.ts';
import type { Journal, PurseName } from './journal.ts';
import { type SettledCall, UsageRows } from './usage-rows.ts';

export interface PurseSettings {
  gateway_id: string;
  lease_minor: number;
  lease_ms: number;
  wait_ms: number;
}

/** The parts that all purses of a gateway share. */
export interface PurseParts {
  settings: PurseSettings;
  adapter: Purser;
  journal: Journal;
  prices: PriceTable;
  log: Log;
  /** The key of the next lease. */
  nextLease(): string;
  nextCall(): number;
}

/** A call that has its money. */
export interface OpenCall {
  amount: bigint;
  /** Its money is journaled: after a crash it counts at its worst case. */
  readonly is_sent: boolean;
  /** Journals the money that is set aside, before the first byte goes out. Throws if the journal cannot be written. */
  send(): void;
  /** Counts what the call cost; 0n: it was not made. Counts once. */
  settle(call: SettledCall): void;
}

const MINUTE_MS = 60_000;
const REFUSED_MS = 1_000;

/** The money of one key at one provider, from its leases to its reports. */
export class AgentPurse {
  readonly id: string;
  readonly name: PurseName;
  readonly #parts: PurseParts;
  readonly #purse: Purse;
  readonly #rows: UsageRows;
  /** Costs of the last minute. */
  readonly #spent: { at_ms: number; amount: bigint }[] = [];
  #authority: Caller['agent']['authority'];
  #used_ms = Date.now();
  #calls = 0;

  constructor(
    id: string,
    name: PurseName,
    parts: PurseParts,
    owner: {
      purser: Purser;
      upstream: Pick<Upstream, 'name' | 'provider'>;
      authority: Caller['agent']['authority'];
    },
    remains?: PurseRemains,
  ) {
    this.id = id;
    this.name = name;
    this.#parts = parts;
    this.#authority = owner.authority;
    this.#rows = new UsageRows(parts.prices, owner.upstream.provider, name.currency);
    const { settings, journal, log } = parts;
    this.#purse = openPurse({
      purser: owner.purser,
      adapter: parts.adapter,
      request: {
        action: {
          type: 'model_usage',
          merchant: owner.upstream.name,
          payee_id: `model:${owner.upstream.provider}`,
          currency: name.currency,
          description: 'Model calls',
        },
        limitable: true,
        context: {
          lease: {
            gateway: settings.gateway_id,
            prices: parts.prices.hash,
            seconds: settings.lease_ms / 1000,
          },
        },
      },
      unit: UNITS_IN_MINOR,
      topUp: (lacking_minor) => this.#topUp(lacking_minor),
      name: () => parts.nextLease(),
      journal: {
        asked: (request) => journal.append({ t: 'ask', key_id: name.key_id, request }),
        refused: (key) => journal.append({ t: 'refused', key }),
        lease: (lease) => journal.appendDurable({ t: 'lease', purse: id, ...lease }),
        close: ({ key, decision_id, currency, spent_minor }) =>
          journal.appendDurable({ t: 'close', purse: id, key, decision_id, currency, spent_minor }),
        reported: ({ key }) => journal.append({ t: 'reported', purse: id, key }),
      },
      ...(remains && { remains }),
      // In SHADOW nothing is delayed.
      waitMs: name.mode === 'SHADOW' ? 0 : settings.wait_ms,
      refusedMs: REFUSED_MS,
      usage: () => this.#rows.take(),
      log: (line) => log('warn', line, { purse: id }),
    });
  }

  get purse(): Purse {
    return this.#purse;
  }
  get calls(): number {
    return this.#calls;
  }
  get used_ms(): number {
    return this.#used_ms;
  }
  /** When the oldest of its open leases was opened; never without one. */
  get opened_ms(): number {
    return this.#purse.leases[0]?.opened_at_ms ?? Number.POSITIVE_INFINITY;
  }

  /** Counts a settled call of an earlier process. */
  addCall(call: SettledCall): void {
    this.#rows.add(call);
  }

  /** Sets money aside for a call. Rejects as `Purse.draw` does. */
  async open(
    model: string,
    at_most: bigint,
    least: bigint,
    tokens: (amount: bigint) => { input: number; output: number },
    signal: AbortSignal,
  ): Promise<OpenCall> {
    this.#calls += 1;
    try {
      const draw = await this.#purse.draw(at_most, least, { signal });
      return this.#callOf(draw, model, tokens(draw.amount));
    } catch (error) {
      this.#calls -= 1;
      throw error;
    }
  }

  /** Sets money aside whether there is any or not, for SHADOW, and requests leases for what is lacking. */
  openUnchecked(model: string, amount: bigint, tokens: { input: number; output: number }): OpenCall {
    const call = this.#callOf(this.#purse.overdraw(amount), model, tokens);
    this.#calls += 1;
    this.#coverOverdraft();
    return call;
  }

  /** Requests a lease for the overdrawn amount, if there is one. Ignores a refusal: closing the purse requests it again. */
  #coverOverdraft(): void {
    if (this.#purse.free >= 0n) return;
    this.#purse.draw(0n).then(
      (draw) => draw.settle(0n),
      () => {},
    );
  }

  #callOf(draw: Draw, model: string, { input, output }: { input: number; output: number }): OpenCall {
    const { journal, log } = this.#parts;
    const call = this.#parts.nextCall();
    let is_sent = false;
    let is_settled = false;
    return {
      amount: draw.amount,
      get is_sent() {
        return is_sent;
      },
      send: () => {
        if (is_sent) return;
        const amount = String(draw.amount);
        journal.append({ t: 'reserve', purse: this.id, call, model, input, output, amount });
        is_sent = true;
      },
      settle: (settled) => {
        if (is_settled) return;
        is_settled = true;
        const { usage, uncertain, amount } = settled;
        try {
          if (is_sent)
            journal.append({
              t: 'settle',
              purse: this.id,
              call,
              model,
              usage,
              uncertain,
              amount: String(amount),
            });
        } catch (error) {
          // After a crash the call counts at its worst case: too much, never too little.
          log('error', 'A settled call could not be journaled', { purse: this.id, error: String(error) });
        }
        this.#calls -= 1;
        this.#used_ms = Date.now();
        this.#spent.push({ at_ms: this.#used_ms, amount });
        if (amount > 0n || uncertain) this.#rows.add(settled);
        draw.settle(amount);
      },
    };
  }

  /** The amount to request if this much is lacking: with headroom, so that a busy agent does not request for each call. */
  #topUp(lacking_minor: number): number {
    const since_ms = Date.now() - MINUTE_MS;
    while (this.#spent[0] !== undefined && this.#spent[0].at_ms < since_ms) this.#spent.shift();
    const spent = this.#spent.reduce((sum, { amount }) => sum + amount, 0n) / UNITS_IN_MINOR;
    const remaining_minor = this.remainingMinor();
    const headroom = Math.min(
      this.#parts.settings.lease_minor,
      Number(spent) * 2,
      remaining_minor === null ? Number.POSITIVE_INFINITY : Math.floor(remaining_minor / 20),
    );
    const at_once = [this.#authority?.per_transaction_limit_minor, this.#authority?.review_threshold_minor]
      .filter((limit) => limit !== null && limit !== undefined)
      .map((limit) => Math.max(1, limit));
    return Math.max(1, Math.min(lacking_minor + headroom, ...at_once));
  }

  /** The least that remained of the limits after the newest lease; null without a limit or a lease. */
  remainingMinor(): number | null {
    const reservation = this.#purse.decision?.reservation;
    if (reservation === undefined) return null;
    const limits = [reservation.budget, ...(reservation.limits ?? [])];
    const remaining = limits.map((limit) => limit.remaining_minor).filter((each) => each !== null);
    return remaining.length === 0 ? null : Math.min(...remaining);
  }
}
