import { type Purser, SpendError } from '@purser/sdk';
import { type Draw, openPurse, type Purse } from './lease.ts';
import { makeRailLog } from './log.ts';
import { addressKey, differenceOf, type Requirements, requirementsOf, signedOf } from './x402-payments.ts';

/** Argument of the hooks of `@x402/core` 2.27. The requirements are the seller's words. */
interface Context {
  paymentRequired: object;
  selectedRequirements: object;
}
interface Abort {
  abort: true;
  reason: string;
}
interface X402Client {
  onBeforePaymentCreation(hook: (context: Context) => Promise<undefined | Abort>): unknown;
  onAfterPaymentCreation(hook: (context: Context & { paymentPayload: object }) => Promise<void>): unknown;
  onPaymentCreationFailure(hook: (context: Context) => Promise<void>): unknown;
  onPaymentResponse(
    hook: (context: {
      paymentPayload: object;
      settleResponse?: { success: boolean; transaction: string; amount?: string };
    }) => Promise<void>,
  ): unknown;
}

/** A token that may be paid with: what it counts as. */
export interface Asset {
  /** ISO 4217. */
  currency: string;
  /** Decimals of the currency: 2 for USD. */
  exponent: number;
  /** Decimals of the token: 6 for USDC. */
  decimals: number;
}

/** A payment that was signed but not seen settled. */
export interface UnsettledPayment {
  requirements: Requirements;
  payload: object;
}

export interface X402Options {
  /** A client with the agent's key. */
  purser: Purser;
  /** A client with the scope `consume`. */
  adapter: Purser;
  /** By `<network>:<asset>`; any other asset is refused. Addresses count alike in both cases. */
  assets: Record<string, Asset>;
  /** Total amount that one decision covers for one payee, in minor units; a larger payment gets its own decision. */
  topUp: number;
  /** Names the top-ups of this run: the same name never pays twice. */
  name: string;
  /** Whom a payee's address belongs to, as the authority knows it. Default: the address. */
  merchantOf?: ((payTo: string) => string) | undefined;
  task?: string | undefined;
  /** Milliseconds. Default 0: what has to be reviewed is refused for now. */
  waitForReview?: number | undefined;
  /** Whether the chain shows a payment that nobody confirmed, once it can be settled no more. Without it such a payment counts as made. */
  wasSettled?: ((payment: UnsettledPayment) => Promise<boolean>) | undefined;
  /** One line for each refusal and each top-up. Default: `console.log`. */
  log?: ((line: string) => void) | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

export interface X402Rail {
  /**
   * Ends all top-ups: reports what was paid, rounded up to minor units. A top-up with a payment that may still be settled, or
   * with a report that Purser does not have, stays open; gives how many do, and may be called again.
   */
  close(): Promise<number>;
}

interface Payment {
  draw: Draw;
  state: 'reserved' | 'signed' | 'settled';
  settleable_until_ms: number;
  payload: object;
  requirements: Requirements;
}
interface Bucket {
  purse: Purse;
  payments: Set<Payment>;
  /** False for good once it could not be topped up, or everything in it is settled. */
  takes_payments: boolean;
  /** While it is looked at for its end, nothing more draws on it. */
  is_ending: boolean;
}

/** How long after its last moment a payment may still turn up in a block: blocks are seen late, and clocks differ. */
const LATE_BLOCK_MS = 30_000;

/** Atomic units of a token in one minor unit of its currency. */
const unitOf = ({ decimals, exponent }: Asset) => 10n ** BigInt(decimals - exponent);

function remove(buckets: Bucket[], bucket: Bucket): void {
  const place = buckets.indexOf(bucket);
  if (place >= 0) buckets.splice(place, 1);
}

/** Drops a payment that was not and cannot be made. */
function drop({ payments }: Bucket, payment: Payment): void {
  payments.delete(payment);
  payment.draw.settle(0n);
}

/**
 * Puts Purser before every payment of an x402 client: it signs only what a consumed decision covers. Signing is paying, so
 * a signed payment counts until it can no longer be settled.
 */
export function guardX402(client: X402Client, options: X402Options): X402Rail {
  const guard = new X402Guard(options);
  client.onBeforePaymentCreation((context) => guard.beforeCreation(context));
  client.onAfterPaymentCreation((context) => guard.afterCreation(context));
  client.onPaymentCreationFailure((context) => guard.creationFailed(context));
  client.onPaymentResponse(({ paymentPayload, settleResponse }) =>
    guard.answered(paymentPayload, settleResponse?.success === true),
  );
  return { close: () => guard.close() };
}

/** Returns the assets by lower-case id. Throws a TypeError for an option that cannot be right. */
function checkedAssets({ topUp, assets }: X402Options): Map<string, Asset> {
  if (!Number.isSafeInteger(topUp) || topUp < 1)
    throw new TypeError('topUp must be a whole number of minor units');
  const checked = new Map(Object.entries(assets).map(([id, asset]) => [id.toLowerCase(), asset]));
  for (const [id, { decimals, exponent }] of checked) {
    if (!(decimals >= exponent)) throw new TypeError(`assets: ${id} has fewer decimals than its currency`);
  }
  return checked;
}

class X402Guard {
  readonly #options: X402Options;
  readonly #now: () => number;
  readonly #tell: (line: string) => void;
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly #buckets = new Map<string, Bucket[]>();
  /** A caller may reuse one request object, so one request may have several payments. */
  readonly #by_request = new WeakMap<object, [Bucket, Payment][]>();
  readonly #by_payload = new Map<string, Payment>();
  /** One after the other for each payee, or two payments at once would both top up. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #topped_up = 0;

  constructor(options: X402Options) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#tell = makeRailLog('x402', options.log);
    this.#assets = checkedAssets(options);
  }

  async beforeCreation({ paymentRequired, selectedRequirements }: Context): Promise<undefined | Abort> {
    let what = 'a payment';
    try {
      const asked = requirementsOf(selectedRequirements);
      what = `${asked.amount} to ${asked.payTo}`;
      const payee = addressKey(asked.payTo);
      const turn = (this.#turns.get(payee) ?? Promise.resolve()).then(() =>
        this.#reserve(paymentRequired, asked),
      );
      this.#turns.set(
        payee,
        turn.catch(() => {}),
      );
      await turn;
      return undefined;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#tell(`refused ${what}: ${failure.message}`);
      // A model may read this, and it should know no threshold: the explanation is for the log.
      const reason =
        failure instanceof SpendError ? `${failure.name}, ${failure.decision.reason_code}` : failure.message;
      return { abort: true, reason: `Purser refused this payment: ${reason}` };
    }
  }

  async afterCreation(context: Context & { paymentPayload: object }): Promise<void> {
    const payment = this.#reservedFor(context)?.[1];
    // Throwing here keeps the signature inside this process.
    if (payment === undefined) throw new Error('This payment was not requested, or was signed too late');
    const { paymentPayload } = context;
    const signed = signedOf(paymentPayload);
    const is_known = signed.payTo !== null && signed.amount !== null && signed.valid_before !== null;
    payment.state = 'signed';
    payment.payload = paymentPayload;
    payment.settleable_until_ms = is_known
      ? Math.max(this.#lastMoment(payment.requirements), Number(signed.valid_before) * 1000 + LATE_BLOCK_MS)
      : Number.POSITIVE_INFINITY;
    this.#by_payload.set(JSON.stringify(paymentPayload), payment);
    const difference = differenceOf(signed, payment.requirements);
    if (difference === null) return;
    const { payTo } = payment.requirements;
    this.#tell(`signed for ${difference} than allowed, and withheld; the payee was ${payTo}`);
    throw new Error(`Purser withholds this payment: it was signed for ${difference} than allowed`);
  }

  /** Nothing was signed, unless the failure came after it. */
  async creationFailed(context: Context): Promise<void> {
    const [bucket, payment] = this.#reservedFor(context) ?? [];
    if (bucket !== undefined && payment !== undefined) drop(bucket, payment);
  }

  /** Only a settlement proves anything: a seller that has a signature and says no may settle it all the same. */
  async answered(paymentPayload: object, is_settled: boolean): Promise<void> {
    const payment = this.#by_payload.get(JSON.stringify(paymentPayload));
    if (payment === undefined || !is_settled) return;
    payment.state = 'settled';
    this.#by_payload.delete(JSON.stringify(paymentPayload));
  }

  async close(): Promise<number> {
    let left = 0;
    for (const open_ones of this.#buckets.values()) {
      for (const bucket of [...open_ones]) {
        if (bucket.is_ending || !(await this.#end(bucket))) left += 1;
        else remove(open_ones, bucket);
      }
    }
    return left;
  }

  async #reserve(paymentRequired: object, asked: Requirements): Promise<void> {
    const { network, asset: token, payTo } = asked;
    const asset = this.#assets.get(`${network}:${token}`.toLowerCase());
    if (asset === undefined) throw new Error(`the asset ${network}:${token} is not listed`);
    const amount = BigInt(asked.amount);
    if (amount / unitOf(asset) >= BigInt(Number.MAX_SAFE_INTEGER))
      throw new Error(`the amount ${asked.amount} is too large`);
    const key = `${addressKey(payTo)} ${asset.currency} ${asset.decimals}`;
    const open_ones = this.#buckets.get(key) ?? [];
    this.#buckets.set(key, open_ones);
    let bucket = open_ones.find(
      ({ takes_payments, is_ending, purse }) => takes_payments && !is_ending && purse.free >= amount,
    );
    if (bucket === undefined) {
      const purse = this.#openPurse(payTo, asset);
      bucket = { purse, payments: new Set(), takes_payments: true, is_ending: false };
      open_ones.push(bucket);
    }
    const payment: Payment = {
      draw: await this.#draw(bucket, amount, asked, asset).catch((error: unknown) => {
        // What may still stand under its name is given back with the next `close`.
        if (bucket.purse.isOpen) bucket.takes_payments = false;
        else remove(open_ones, bucket);
        throw error;
      }),
      state: 'reserved',
      settleable_until_ms: this.#lastMoment(asked),
      payload: {},
      requirements: asked,
    };
    bucket.payments.add(payment);
    const reserved = this.#by_request.get(paymentRequired) ?? [];
    this.#by_request.set(paymentRequired, [...reserved, [bucket, payment]]);
  }

  /** Sets a payment aside in a bucket; tops a new one up with at least the requested amount. */
  async #draw(
    { purse }: Bucket,
    amount: bigint,
    { payTo }: Requirements,
    { currency }: Asset,
  ): Promise<Draw> {
    const is_new = purse.leases.length === 0;
    const draw = await purse.draw(amount);
    const [lease] = purse.leases;
    if (is_new) this.#tell(`topped up ${payTo} with ${lease?.amount_minor} ${currency} (minor units)`);
    return draw;
  }

  /** A purse for payments to one payee, with one top-up. */
  #openPurse(payTo: string, asset: Asset): Purse {
    const {
      purser,
      adapter,
      topUp,
      name,
      task,
      merchantOf = (payee) => payee,
      waitForReview,
    } = this.#options;
    return openPurse({
      purser,
      adapter,
      request: {
        ...(task === undefined ? {} : { task }),
        action: {
          type: 'top_up',
          merchant: merchantOf(payTo),
          payee_id: `x402:${payTo}`,
          currency: asset.currency,
        },
      },
      unit: unitOf(asset),
      topUp,
      name: () => `x402-${name}-${++this.#topped_up}`,
      waitForReview,
      unspent: 'SPEND_FAILED',
      now: this.#now,
      log: this.#tell,
    });
  }

  /** The last moment at which a payment may be settled that is signed right now as the seller asks for it. */
  #lastMoment({ maxTimeoutSeconds }: Requirements): number {
    return this.#now() + maxTimeoutSeconds * 1000 + LATE_BLOCK_MS;
  }

  /** A payment that was reserved for this request, is not signed yet and was not released since. */
  #reservedFor({ paymentRequired, selectedRequirements }: Context): [Bucket, Payment] | undefined {
    const asked = JSON.stringify(requirementsOf(selectedRequirements));
    return this.#by_request
      .get(paymentRequired)
      ?.find(
        ([bucket, payment]) =>
          payment.state === 'reserved' &&
          bucket.payments.has(payment) &&
          JSON.stringify(payment.requirements) === asked,
      );
  }

  /** Ends a top-up if every payment in it is settled and Purser knows it. Returns false if not, or if a check fails. */
  async #end(bucket: Bucket): Promise<boolean> {
    bucket.is_ending = true;
    try {
      if (!(await this.#isSettled(bucket))) return false;
    } catch (error) {
      this.#tell(`a top-up stays open because wasSettled failed: ${String(error)}`);
      return false;
    } finally {
      bucket.is_ending = false;
    }
    bucket.takes_payments = false;
    for (const { draw } of bucket.payments) draw.settle(draw.amount);
    return bucket.purse.close();
  }

  /** Returns true if nothing in it is uncertain any more. Drops payments that proved to be unpaid. */
  async #isSettled(bucket: Bucket): Promise<boolean> {
    for (const payment of bucket.payments) {
      if (payment.state === 'settled') continue;
      if (!(this.#now() > payment.settleable_until_ms)) return false;
      const { payload, requirements, state } = payment;
      // It was never signed, and its signature would now come too late.
      if (state === 'reserved') {
        drop(bucket, payment);
        continue;
      }
      const was_paid = await (this.#options.wasSettled?.({ payload, requirements }) ?? true);
      if (was_paid !== false) payment.state = 'settled';
      else drop(bucket, payment);
      this.#by_payload.delete(JSON.stringify(payload));
    }
    return true;
  }
}
