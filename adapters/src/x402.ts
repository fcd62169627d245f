import { PaymentFailed, type Purser, SpendError, type SpendRequest } from '@purser/sdk';
import { Foreign, Unreadable } from './foreign.ts';
import { makeRailLog } from './log.ts';

/** A seller's payment requirements (x402 v2), with every field's type checked. */
interface Requirements {
  network: string;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
}
/** Argument of the hooks of `@x402/core` 2.27. The requirements are the seller's words. */
interface Context {
  paymentRequired: object;
  selectedRequirements: object;
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

/** The longest time that a seller may have to settle a payment: until then it counts. */
const MAX_TIMEOUT_SECONDS = 86_400;
/** How long after its last moment a payment may still turn up in a block: blocks are seen late, and clocks differ. */
const LATE_BLOCK_MS = 30_000;

/** Throws an `Unreadable` that names the first field that is not what its type says. */
function requirementsOf(given: object): Requirements {
  const asked = new Foreign(given, 'requirements');
  return {
    network: asked.id('network'),
    asset: asked.id('asset'),
    amount: asked.matching('amount', /^[1-9]\d{0,30}$/, 'a string of digits, above 0'),
    payTo: asked.id('payTo'),
    maxTimeoutSeconds: asked.integer('maxTimeoutSeconds', 1, MAX_TIMEOUT_SECONDS),
  };
}

/** An address as it is compared: a hexadecimal one is the same account in both cases. */
const addressKey = (address: string) => (/^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address);

/** The signed payment. A field that cannot be read is null. */
interface Signed {
  payTo: string | null;
  amount: bigint | null;
  /** Null also where the form names no asset. */
  asset: string | null;
  /** Unix seconds. */
  valid_before: bigint | null;
}

/** Reads the two forms of `@x402/evm`: a transfer with authorization (EIP-3009), and a Permit2 authorization. */
function signedOf(paymentPayload: object): Signed {
  const read = <T>(field: () => T): T | null => {
    try {
      return field();
    } catch (error) {
      if (error instanceof Unreadable) return null;
      throw error;
    }
  };
  const payload = read(() => new Foreign(paymentPayload, 'paymentPayload').object('payload'));
  const transfer = read(() => payload?.object('authorization') ?? null);
  const permit = read(() => payload?.object('permit2Authorization') ?? null);
  if ((transfer === null) === (permit === null)) {
    return { payTo: null, amount: null, asset: null, valid_before: null };
  }
  return {
    payTo: read(() => (transfer ?? permit?.object('witness'))?.id('to') ?? null),
    amount: read(() => transfer?.digits('value') ?? permit?.object('permitted').digits('amount') ?? null),
    asset: read(() => permit?.object('permitted').id('token') ?? null),
    valid_before: read(() => transfer?.digits('validBefore') ?? permit?.digits('deadline') ?? null),
  };
}

/** Names the first field of a signed payment that differs from what was allowed; null if no readable field does. */
function differenceOf(signed: Signed, allowed: Requirements): string | null {
  const { payTo, amount, asset } = signed;
  if (payTo !== null && addressKey(payTo) !== addressKey(allowed.payTo)) return 'another payee';
  if (amount !== null && amount !== BigInt(allowed.amount)) return 'another amount';
  if (asset !== null && addressKey(asset) !== addressKey(allowed.asset)) return 'another asset';
  return null;
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
  const { now = Date.now } = options;
  const tell = makeRailLog('x402', options.log);
  if (!Number.isSafeInteger(topUp) || topUp < 1)
    throw new TypeError('topUp must be a whole number of minor units');
  const assets = new Map(Object.entries(options.assets).map(([id, asset]) => [id.toLowerCase(), asset]));
  for (const [id, { decimals, exponent }] of assets) {
    if (!(decimals >= exponent)) throw new TypeError(`assets: ${id} has fewer decimals than its currency`);
  }
  const buckets = new Map<string, Bucket[]>();
  /** A caller may reuse one request object, so one request may have several payments. */
  const by_request = new WeakMap<object, [Bucket, Payment][]>();
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
      ended = purser.spend(request, pay, {
        adapter,
        waitForReview,
        onUnreported: ({ decision_id, outcome, error }) =>
          tell(
            `${outcome.type} of ${outcome.amount_minor ?? 0} could not be reported (${decision_id}); report it: ${String(error)}`,
          ),
      });
      ended.catch(reject);
    });
  }

  async function reserve(paymentRequired: object, asked: Requirements): Promise<void> {
    const { network, asset: token, payTo } = asked;
    const asset = assets.get(`${network}:${token}`.toLowerCase());
    if (asset === undefined) throw new Error(`the asset ${network}:${token} is not listed`);
    const amount = BigInt(asked.amount);
    const key = `${addressKey(payTo)} ${asset.currency} ${asset.decimals}`;
    const open_ones = buckets.get(key) ?? [];
    buckets.set(key, open_ones);
    let bucket = open_ones.find((each) => !each.is_closing && spentOf(each) + amount <= each.capacity);
    if (bucket === undefined) {
      const needed = roundUp(amount, asset);
      if (!Number.isSafeInteger(needed)) throw new Error(`the amount ${asked.amount} is too large`);
      bucket = await open(payTo, asset, Math.max(topUp, needed));
      if (amount > bucket.capacity) {
        await bucket.finish(0);
        throw new Error('the allowed amount is less than requested');
      }
      open_ones.push(bucket);
      tell(`topped up ${payTo} with ${bucket.capacity / unitOf(asset)} ${asset.currency} (minor units)`);
    }
    const payment: Payment = {
      amount,
      state: 'reserved',
      settleable_until_ms: lastMoment(asked),
      payload: {},
      requirements: asked,
    };
    bucket.payments.add(payment);
    const reserved = by_request.get(paymentRequired) ?? [];
    by_request.set(paymentRequired, [...reserved, [bucket, payment]]);
  }

  /** Until when a payment may be settled that is signed right now as the seller asks for it. */
  const lastMoment = ({ maxTimeoutSeconds }: Requirements) =>
    now() + maxTimeoutSeconds * 1000 + LATE_BLOCK_MS;

  /** A payment that was reserved for this request and is not signed yet. One that was let go since is none. */
  function reservedFor({ paymentRequired, selectedRequirements }: Context): [Bucket, Payment] | undefined {
    const asked = JSON.stringify(requirementsOf(selectedRequirements));
    return by_request
      .get(paymentRequired)
      ?.find(
        ([bucket, payment]) =>
          payment.state === 'reserved' &&
          bucket.payments.has(payment) &&
          JSON.stringify(payment.requirements) === asked,
      );
  }

  client.onBeforePaymentCreation(async ({ paymentRequired, selectedRequirements }) => {
    let what = 'a payment';
    try {
      const asked = requirementsOf(selectedRequirements);
      what = `${asked.amount} to ${asked.payTo}`;
      const payee = addressKey(asked.payTo);
      const turn = (turns.get(payee) ?? Promise.resolve()).then(() => reserve(paymentRequired, asked));
      turns.set(
        payee,
        turn.catch(() => {}),
      );
      await turn;
      return undefined;
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      tell(`refused ${what}: ${failure.message}`);
      // A model may read this, and it should know no threshold: the explanation is for the log.
      const reason =
        failure instanceof SpendError ? `${failure.name}, ${failure.decision.reason_code}` : failure.message;
      return { abort: true, reason: `Purser refused this payment: ${reason}` };
    }
  });
  client.onAfterPaymentCreation(async (context) => {
    const payment = reservedFor(context)?.[1];
    // Throwing here keeps the signature inside this process.
    if (payment === undefined) throw new Error('This payment was not requested, or was signed too late');
    const { paymentPayload } = context;
    const signed = signedOf(paymentPayload);
    const is_known = signed.payTo !== null && signed.amount !== null && signed.valid_before !== null;
    payment.state = 'signed';
    payment.payload = paymentPayload;
    payment.settleable_until_ms = is_known
      ? Math.max(lastMoment(payment.requirements), Number(signed.valid_before) * 1000 + LATE_BLOCK_MS)
      : Number.POSITIVE_INFINITY;
    by_payload.set(JSON.stringify(paymentPayload), payment);
    const difference = differenceOf(signed, payment.requirements);
    if (difference === null) return;
    tell(`signed for ${difference} than allowed, and withheld; the payee was ${payment.requirements.payTo}`);
    throw new Error(`Purser withholds this payment: it was signed for ${difference} than allowed`);
  });
  client.onPaymentCreationFailure(async (context) => {
    // Nothing was signed, unless the failure came after it.
    const [bucket, payment] = reservedFor(context) ?? [];
    if (payment !== undefined) bucket?.payments.delete(payment);
  });
  client.onPaymentResponse(async ({ paymentPayload, settleResponse }) => {
    // Only a settlement proves anything: a seller that has a signature and says no may settle it all the same.
    const payment = by_payload.get(JSON.stringify(paymentPayload));
    if (payment === undefined || settleResponse?.success !== true) return;
    payment.state = 'settled';
    by_payload.delete(JSON.stringify(paymentPayload));
  });

  /** Returns true if nothing of it is uncertain any more; what proved to be unpaid is dropped. */
  async function isSettled({ payments }: Bucket): Promise<boolean> {
    for (const payment of payments) {
      if (payment.state === 'settled') continue;
      if (!(now() > payment.settleable_until_ms)) return false;
      const { payload, requirements, state } = payment;
      // It was never signed, and its signature would now come too late.
      if (state === 'reserved') {
        payments.delete(payment);
        continue;
      }
      const was_paid = await (options.wasSettled?.({ payload, requirements }) ?? true);
      if (was_paid !== false) payment.state = 'settled';
      else payments.delete(payment);
      by_payload.delete(JSON.stringify(payload));
    }
    return true;
  }

  /** Ends a top-up if every payment in it is settled. Returns false if one is uncertain or the check fails. */
  async function end(bucket: Bucket): Promise<boolean> {
    bucket.is_closing = true;
    const is_settled = await isSettled(bucket).catch((error: unknown) => {
      tell(`a top-up stays open because wasSettled failed: ${String(error)}`);
      return false;
    });
    bucket.is_closing = is_settled;
    if (is_settled) await bucket.finish(roundUp(spentOf(bucket), bucket.asset));
    return is_settled;
  }

  return {
    async close() {
      let left = 0;
      for (const open_ones of buckets.values()) {
        for (const bucket of [...open_ones]) {
          if (bucket.is_closing || !(await end(bucket))) left += 1;
          else open_ones.splice(open_ones.indexOf(bucket), 1);
        }
      }
      return left;
    },
  };
}
