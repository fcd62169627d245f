import { PaymentFailed, type Purser, SpendError, type SpendRequest } from '@purser/sdk';

/** What is read of an x402 v2 client (`@x402/core` 2.27). */
interface Requirements {
  network: string;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
}
interface Context {
  paymentRequired: object;
  selectedRequirements: Requirements;
}
interface X402Client {
  onBeforePaymentCreation(
    hook: (context: Context) => Promise<undefined | { abort: true; reason: string }>,
  ): unknown;
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
  /** Of the currency: 2 for USD. */
  exponent: number;
  /** Of the token: 6 for USDC. */
  decimals: number;
}

/** What is known of a payment that was signed and not seen settled. */
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
  /** What one decision lets through in total to one payee, in minor units; a payment over it gets a decision of its own. */
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
   * Ends all top-ups: reports what was paid, rounded up to minor units. A top-up with a payment that may still be settled
   * stays open; gives how many do, and may be called again.
   */
  close(): Promise<number>;
}

interface Payment {
  amount: bigint;
  state: 'reserved' | 'signed' | 'settled';
  settleable_until_ms: number;
  payload: object;
  requirements: Requirements;
}
interface Bucket {
  capacity: bigint;
  payments: Set<Payment>;
  asset: Asset;
  /** While it is looked at for its end, nothing more draws on it. */
  is_closing: boolean;
  /** Reports the sum and ends the spend. */
  finish(amount_minor: number): Promise<void>;
}

/** Atomic units of a token in one minor unit of its currency. */
const unitOf = ({ decimals, exponent }: Asset) => 10n ** BigInt(decimals - exponent);
const spentOf = ({ payments }: Bucket) => [...payments].reduce((sum, { amount }) => sum + amount, 0n);
const roundUp = (atomic: bigint, asset: Asset) => Number((atomic + unitOf(asset) - 1n) / unitOf(asset));

/**
 * Puts Purser before every payment of an x402 client: it signs only what a consumed decision covers. Signing is paying, so
 * what was signed counts until it can be settled no more.
 */
export function guardX402(client: X402Client, options: X402Options): X402Rail {
  const { purser, adapter, topUp, name, merchantOf = (payTo) => payTo, waitForReview = 0 } = options;
  const { log = console.log, now = Date.now } = options;
  if (!Number.isSafeInteger(topUp) || topUp < 1)
    throw new TypeError('topUp must be a whole number of minor units');
  const assets = new Map(Object.entries(options.assets).map(([id, asset]) => [id.toLowerCase(), asset]));
  for (const [id, { decimals, exponent }] of assets) {
    if (!(decimals >= exponent)) throw new TypeError(`assets: ${id} has fewer decimals than its currency`);
  }
  const buckets = new Map<string, Bucket[]>();
  const by_request = new WeakMap<object, [Bucket, Payment]>();
  const by_payload = new Map<string, Payment>();
  /** One after the other for each payee, or two payments at once would both top up. */
  const turns = new Map<string, Promise<unknown>>();
  let topped_up = 0;

  /** A decision, asked for and consumed. Its spend goes on until `finish`. */
  function open(payTo: string, asset: Asset, capacity_minor: number): Promise<Bucket> {
    const request: SpendRequest = {
      idempotencyKey: `x402-${name}-${++topped_up}`,
      ...(options.task === undefined ? {} : { task: options.task }),
      action: {
        type: 'top_up',
        merchant: merchantOf(payTo),
        payee_id: `x402:${payTo}`,
        amount_minor: capacity_minor,
        currency: asset.currency,
      },
    };
    return new Promise((resolve, reject) => {
      let ended: Promise<unknown> = Promise.resolve();
      const pay = ({ amount_minor }: { amount_minor: number }) =>
        new Promise<{ amount_minor: number }>((settle, fail) => {
          const finish = async (spent_minor: number) => {
            if (spent_minor > 0) settle({ amount_minor: spent_minor });
            else fail(new PaymentFailed('nothing was paid'));
            await ended.catch(() => {});
          };
          resolve({
            capacity: BigInt(amount_minor) * unitOf(asset),
            payments: new Set(),
            asset,
            is_closing: false,
            finish,
          });
        });
      ended = purser.spend(request, pay, { adapter, waitForReview });
      ended.catch(reject);
    });
  }

  async function reserve({ paymentRequired, selectedRequirements: asked }: Context): Promise<void> {
    const { network, asset: token, payTo } = asked;
    const asset = assets.get(`${network}:${token}`.toLowerCase());
    if (asset === undefined) throw new Error(`the asset ${network}:${token} is not listed`);
    if (!/^[1-9]\d{0,30}$/.test(asked.amount)) throw new Error(`the amount ${asked.amount} is no amount`);
    const amount = BigInt(asked.amount);
    const key = `${payTo} ${asset.currency} ${asset.decimals}`;
    const open_ones = buckets.get(key) ?? [];
    buckets.set(key, open_ones);
    let bucket = open_ones.find((each) => !each.is_closing && spentOf(each) + amount <= each.capacity);
    if (bucket === undefined) {
      const needed = roundUp(amount, asset);
      if (!Number.isSafeInteger(needed)) throw new Error(`the amount ${asked.amount} is too large`);
      bucket = await open(payTo, asset, Math.max(topUp, needed));
      if (amount > bucket.capacity) {
        await bucket.finish(0);
        throw new Error('less was allowed than is asked for');
      }
      open_ones.push(bucket);
      log(
        `purser x402: topped up ${payTo} with ${bucket.capacity / unitOf(asset)} ${asset.currency} (minor units)`,
      );
    }
    const settleable_until_ms = now() + asked.maxTimeoutSeconds * 1000;
    const payment: Payment = {
      amount,
      state: 'reserved',
      settleable_until_ms,
      payload: {},
      requirements: asked,
    };
    bucket.payments.add(payment);
    by_request.set(paymentRequired, [bucket, payment]);
  }

  client.onBeforePaymentCreation(async (context) => {
    const { payTo } = context.selectedRequirements;
    const turn = (turns.get(payTo) ?? Promise.resolve()).then(() => reserve(context));
    turns.set(
      payTo,
      turn.catch(() => {}),
    );
    try {
      await turn;
      return undefined;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      log(`purser x402: refused ${context.selectedRequirements.amount} to ${payTo}: ${failure.message}`);
      // Who asks may be a model, which should know no threshold: the explanation is for the log.
      const reason =
        failure instanceof SpendError ? `${failure.name}, ${failure.decision.reason_code}` : failure.message;
      return { abort: true, reason: `Purser refused this payment: ${reason}` };
    }
  });
  client.onAfterPaymentCreation(async ({ paymentRequired, paymentPayload, selectedRequirements }) => {
    const payment = by_request.get(paymentRequired)?.[1];
    if (payment === undefined) throw new Error('This payment was not asked for');
    payment.state = 'signed';
    payment.payload = paymentPayload;
    payment.settleable_until_ms = now() + selectedRequirements.maxTimeoutSeconds * 1000;
    by_payload.set(JSON.stringify(paymentPayload), payment);
  });
  client.onPaymentCreationFailure(async ({ paymentRequired }) => {
    const [bucket, payment] = by_request.get(paymentRequired) ?? [];
    // Nothing was signed, unless the failure came after it.
    if (payment?.state === 'reserved') bucket?.payments.delete(payment);
  });
  client.onPaymentResponse(async ({ paymentPayload, settleResponse }) => {
    // Only a settlement proves anything: whoever was given a signature and says no may settle it all the same.
    const payment = by_payload.get(JSON.stringify(paymentPayload));
    if (payment === undefined || settleResponse?.success !== true) return;
    payment.state = 'settled';
    by_payload.delete(JSON.stringify(paymentPayload));
  });

  /** Whether nothing of it is uncertain any more; what proved to be unpaid is dropped. */
  async function isSettled({ payments }: Bucket): Promise<boolean> {
    for (const payment of payments) {
      if (payment.state === 'settled') continue;
      if (now() <= payment.settleable_until_ms) return false;
      const { payload, requirements } = payment;
      const was_paid = await (options.wasSettled?.({ payload, requirements }) ?? true);
      if (was_paid !== false) payment.state = 'settled';
      else payments.delete(payment);
      by_payload.delete(JSON.stringify(payload));
    }
    return true;
  }

  return {
    async close() {
      let left = 0;
      for (const open_ones of buckets.values()) {
        for (const bucket of [...open_ones]) {
          if (bucket.is_closing) continue;
          bucket.is_closing = true;
          if (await isSettled(bucket)) {
            open_ones.splice(open_ones.indexOf(bucket), 1);
            await bucket.finish(roundUp(spentOf(bucket), bucket.asset));
          } else {
            bucket.is_closing = false;
            left += 1;
          }
        }
      }
      return left;
    },
  };
}
