import {
  APIError,
  type Capability,
  ConnectionError,
  type Decision,
  PurserUnavailable,
  SpendPending,
  SpendRefused,
  type SpendRequest,
  SpendUnfinished,
} from '@purser/sdk';
import { Settling } from './lease-settling.ts';
import type { Draw, Lease, LeaseEnd, Purse, PurseOptions, PurseRemains } from './lease-types.ts';

export type * from './lease-types.ts';

/** A draw that waits for money. */
interface Waiter {
  at_most: bigint;
  least: bigint;
  until_ms: number;
  give(amount: bigint): void;
  refuse(error: unknown): void;
}

const roundUp = (units: bigint, unit: bigint) => (units + unit - 1n) / unit;

/**
 * Opens a purse: money in units finer than Purser's, which is leased from Purser in whole minor units. What is set aside and
 * spent never exceeds what the leases hold, unless a draw costs more than it set aside. Requests nothing until it is drawn on.
 */
export function openPurse(options: PurseOptions): Purse {
  if (options.unit < 1n) throw new TypeError('unit must be at least 1n');
  if (typeof options.topUp === 'number' && !(Number.isSafeInteger(options.topUp) && options.topUp >= 1))
    throw new TypeError('topUp must be a whole number of minor units');
  return new LeasedPurse(options);
}

class LeasedPurse implements Purse {
  readonly #options: PurseOptions;
  readonly #now: () => number;
  readonly #settling: Settling;
  #leases: Lease[];
  /** Units that draws cost, less those of all ends. Below 0 by a fraction of a minor unit that is paid for. */
  #owed: bigint;
  #reserved = 0n;
  #draws = 0;
  #waiting: Waiter[] = [];
  #requesting: Promise<void> | null = null;
  /** The last refusal, and until when it is the answer. */
  #refused: { error: unknown; until_ms: number } | null = null;
  /** A lease that waits for its review. */
  #pending: SpendRequest | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #named = 0;
  #decision: Decision | null = null;

  constructor(options: PurseOptions) {
    const { remains = NOTHING, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#leases = [...remains.leases];
    this.#owed = remains.owed;
    this.#settling = new Settling(options, remains);
  }

  get free(): bigint {
    return this.#leased() - this.#owed - this.#reserved;
  }
  get reserved(): bigint {
    return this.#reserved;
  }
  get leases(): readonly Lease[] {
    return this.#leases;
  }
  get decision(): Decision | null {
    return this.#decision;
  }
  get isOpen(): boolean {
    return this.#leases.length > 0 || this.#owed > 0n || this.#settling.isOpen;
  }

  draw(
    at_most: bigint,
    least = at_most,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Draw> {
    if (at_most < 0n || least < 0n || least > at_most)
      throw new TypeError('atMost and least must be amounts, and least at most atMost');
    signal?.throwIfAborted();
    if (this.#waiting.length === 0 && this.free >= at_most) return Promise.resolve(this.#reserve(at_most));
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        waiter.refuse(signal?.reason);
        this.#serve();
      };
      const waiter: Waiter = {
        at_most,
        least,
        until_ms: this.#now() + (this.#options.waitMs ?? 0),
        give: (amount) => {
          signal?.removeEventListener('abort', leave);
          resolve(this.#reserve(amount));
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
      this.#serve();
    });
  }

  overdraw(amount: bigint): Draw {
    if (amount < 0n) throw new TypeError('amount must not be below 0');
    return this.#reserve(amount);
  }

  async close(): Promise<boolean> {
    await this.#requesting;
    if (this.#draws > 0 || this.#waiting.length > 0) return false;
    if (this.#leases.length === 0 && this.#owed > 0n) {
      // An overdrawn amount can be reported only as part of a lease.
      await this.#request(1n);
      if (this.#refused !== null || this.#draws > 0 || this.#waiting.length > 0) return false;
    }
    this.#settling.add(this.#takeEnds());
    return this.#settling.flush();
  }

  flush(): Promise<boolean> {
    return this.#settling.flush();
  }

  #leased(): bigint {
    return (
      this.#leases.reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n) * this.#options.unit
    );
  }

  #reserve(amount: bigint): Draw {
    this.#reserved += amount;
    this.#draws += 1;
    let is_settled = false;
    const settle = (actual: bigint) => {
      if (actual < 0n) throw new TypeError('A cost must not be below 0');
      if (is_settled) return;
      is_settled = true;
      this.#draws -= 1;
      this.#reserved -= amount;
      this.#owed += actual;
      this.#serve();
    };
    return { amount, settle };
  }

  /** Empties the purse: all leases with what was spent of each, in order; the last has the rest, rounded up. */
  #takeEnds(): LeaseEnd[] {
    const { unit, usage } = this.#options;
    let left = Number(this.#owed > 0n ? roundUp(this.#owed, unit) : 0n);
    const ends = this.#leases.map(({ key, decision_id, currency, amount_minor }, place): LeaseEnd => {
      const spent_minor = place === this.#leases.length - 1 ? left : Math.min(left, amount_minor);
      left -= spent_minor;
      this.#owed -= BigInt(spent_minor) * unit;
      return { key, decision_id, currency, spent_minor };
    });
    this.#leases = [];
    const [first] = ends;
    const used = first === undefined ? undefined : usage?.();
    if (first !== undefined && used !== undefined) first.usage = used;
    return ends;
  }

  /** Gives what there is, in order, and requests what is lacking, as long as nobody refuses. */
  #serve(refusal: unknown = this.#standingRefusal()): void {
    clearTimeout(this.#timer);
    while (this.#waiting[0] !== undefined) {
      const [{ at_most, least, until_ms, give, refuse }] = this.#waiting as [Waiter];
      const { free } = this;
      if (free >= at_most) give(at_most);
      else if (this.#requesting !== null) return;
      else if (refusal === undefined) {
        void this.#request(least - free);
        return;
      } else if (free >= least && free > 0n) give(free);
      else if (this.#draws > 0 && this.#now() < until_ms) {
        this.#serveLater();
        return;
      } else refuse(refusal);
      this.#waiting.shift();
    }
  }

  #standingRefusal(): unknown {
    return this.#refused !== null && this.#now() < this.#refused.until_ms ? this.#refused.error : undefined;
  }

  /** Looks again when the first of those that wait may wait no longer, or when money may be requested again. */
  #serveLater(): void {
    const now_ms = this.#now();
    const ends_ms = this.#waiting.map(({ until_ms }) => until_ms);
    const retry_ms = this.#refused?.until_ms ?? now_ms;
    if (retry_ms > now_ms) ends_ms.push(retry_ms);
    this.#timer = setTimeout(() => this.#serve(), Math.max(1, Math.min(...ends_ms) - now_ms));
  }

  /** Requests a lease for all that is lacking, at least `least` of it, and serves those that wait. Never rejects. */
  #request(least: bigint): Promise<void> {
    this.#requesting = this.#add(least).then((refusal) => {
      this.#requesting = null;
      this.#serve(refusal);
    });
    return this.#requesting;
  }

  /** Adds a lease to the purse, or gives the error that says why there is none. */
  async #add(least: bigint): Promise<unknown> {
    const { refusedMs = 0 } = this.#options;
    try {
      // A lease that nobody draws on would be in the way of the next one.
      if (this.#settling.isDoubtful) await this.#settling.flush();
      this.#leases.push(await this.#open(this.#pending ?? this.#leaseRequest(least)));
      this.#refused = null;
      if (this.#settling.isOpen) void this.#settling.flush();
      return undefined;
    } catch (error) {
      this.#refused = { error, until_ms: this.#now() + refusedMs };
      return error;
    }
  }

  #leaseRequest(least: bigint): SpendRequest {
    const { unit, topUp, request, name } = this.#options;
    const lacking = this.#waiting.reduce((sum, { at_most }) => sum + at_most, 0n) - this.free;
    const lacking_minor = Number(roundUp(lacking, unit));
    const amount_minor =
      typeof topUp === 'number' ? Math.max(topUp, lacking_minor) : Math.max(1, topUp(lacking_minor));
    if (!Number.isSafeInteger(amount_minor))
      throw new RangeError(`${amount_minor} minor units is no amount that can be leased`);
    const least_minor = Math.min(amount_minor, Math.max(1, Number(roundUp(least, unit))));
    this.#named += 1;
    return {
      ...request,
      idempotencyKey: typeof name === 'string' ? `${name}-${this.#named}` : name(),
      action: { ...request.action, amount_minor },
      ...(request.limitable === true ? { min_amount_minor: least_minor } : {}),
    };
  }

  /** Requests and consumes one lease. */
  async #open(request: SpendRequest): Promise<Lease> {
    const { purser, waitForReview = 0, journal } = this.#options;
    const was_pending = this.#pending === request;
    this.#pending = null;
    if (!was_pending) await journal?.asked?.(request);
    const authorization = await purser.authorize(request, { waitForReview }).catch(async (error: unknown) => {
      const is_unavailable = error instanceof PurserUnavailable;
      if (error instanceof SpendPending || (is_unavailable && was_pending)) this.#pending = request;
      else if (is_unavailable) this.#settling.addDoubtful(request);
      else await journal?.refused?.(request.idempotencyKey);
      throw error;
    });
    const { decision, capability, amount_minor, mine } = authorization;
    const { decision_id, currency, mode } = decision;
    if (mode === 'SHADOW' && !mine)
      throw new SpendUnfinished('Another purse with this name may draw on it', decision);
    const key = request.idempotencyKey;
    const lease: Lease = { key, decision_id, amount_minor, currency, mode, opened_at_ms: this.#now() };
    await journal?.lease(lease).catch((error: unknown) => {
      this.#settling.add([{ key, decision_id, currency, spent_minor: 0 }]);
      throw error;
    });
    if (mode === 'ENFORCE') await this.#consume(lease, decision, capability);
    this.#decision = decision;
    return lease;
  }

  /** Consumes a lease. One that cannot be drawn on is cancelled, unless somebody else does. */
  async #consume(lease: Lease, decision: Decision, capability: Capability | null): Promise<void> {
    const { adapter } = this.#options;
    const { key, decision_id, amount_minor, currency } = lease;
    const end: LeaseEnd = { key, decision_id, currency, spent_minor: 0 };
    if (capability?.token === undefined) {
      await this.#settling.leave(end);
      throw new SpendUnfinished(`The capability is ${capability?.status ?? 'not there'}`, decision);
    }
    const payee = capability.payee_id === null ? {} : { payee_id: capability.payee_id };
    // Two purses may have the same name. If both sent the same key, the second would take the first one's answer for its own.
    const idempotencyKey = `purser-${decision_id}-${crypto.randomUUID()}`;
    try {
      const body = { token: capability.token, amount_minor, currency, ...payee };
      const consumption = await adapter.capabilities.consume(body, { idempotencyKey });
      const { decision_id: of, amount_minor: covers } = consumption;
      if (of === decision_id && covers === amount_minor && consumption.currency === currency) return;
      throw new ConnectionError('The response is not a consumption of this capability', { idempotencyKey });
    } catch (error) {
      if (APIError.is(error, 'capability_used')) {
        await this.#settling.leave(end);
        throw new SpendUnfinished('Another purse with this name draws on it', decision, { cause: error });
      }
      this.#settling.add([end]);
      if (error instanceof APIError && error.status < 500)
        throw new SpendRefused(`The capability was refused: ${error.message}`, decision, { cause: error });
      throw new PurserUnavailable(`Purser cannot be reached, so nothing was leased: ${String(error)}`, {
        idempotencyKey,
        cause: error,
      });
    }
  }
}

const NOTHING: PurseRemains = { leases: [], unreported: [], owed: 0n };
