import {
  type Asked,
  AUTHORIZE_OPTIONS,
  type AuthorizeOptions,
  ask,
  asResumableCall,
  asUnavailable,
  checkSpendRequest,
  isPaid,
  payableOf,
  remember,
  untilAllowed,
  wasInShadow,
} from './authorize.ts';
import type { Client } from './client.ts';
import {
  APIError,
  ConnectionError,
  PaymentFailed,
  type PurserUnavailable,
  SpendFailed,
  SpendRefused,
  SpendUncertain,
  SpendUnfinished,
} from './errors.ts';
import { callback, checkOptions, flag } from './options.ts';
import { isAmount, isCurrency } from './shapes.ts';
import { aborted, type Transport } from './transport.ts';
import type { Capability, Decision, Outcome, OutcomeRequest, SpendRequest } from './types.ts';

export interface SpendOptions extends AuthorizeOptions {
  /** A client with the `consume` scope: the capability is consumed here, and outcomes are PAYMENT_RAIL's word. Without it the token goes to `pay`. */
  adapter?: Client | undefined;
  /** True when the payment system itself refuses a second payment with `grant.paymentKey`. Then a repeat of an unfinished spend pays again. Default false. */
  paymentIsIdempotent?: boolean | undefined;
  /** Tells that this failure proves that no money moved. Default: `error instanceof PaymentFailed`. */
  isDefiniteFailure?: ((error: unknown) => boolean) | undefined;
  /** Called when `pay` settled it and the report could not be made: keep it and report again. What it throws is ignored. */
  onUnreported?: ((report: Unreported) => void) | undefined;
}

/** A report that the service does not have. */
export interface Unreported {
  decision_id: string;
  outcome: OutcomeRequest;
  error: unknown;
}

/** The input of `pay`. */
export interface Grant {
  /** Null only when paying unguarded (`onUnavailable`). */
  decision: Decision | null;
  /** In ENFORCE. Without `adapter` its token is what the payment point consumes. */
  capability: Capability | null;
  amount_minor: number;
  currency: string;
  /** For the payment system's idempotency key: `purser-<decision_id>`. */
  paymentKey: string;
  signal: AbortSignal;
}

/** The result of `pay`; `amount_minor` defaults to the granted amount. */
export interface PaymentResult {
  amount_minor?: number | undefined;
  external_reference?: string | undefined;
  /** RFC 3339. */
  occurred_at?: string | undefined;
}

export interface Spent<T> {
  /** 'paid': now; 'already_paid': an earlier call paid, `pay` did not run; 'unguarded': paid while Purser was away. */
  status: 'paid' | 'already_paid' | 'unguarded';
  decision: Decision | null;
  /** The result of `pay`; null if it did not run. */
  payment: T | null;
  /** The outcome as recorded; null when there is no report of this call. */
  outcome: Outcome | null;
}

const SPEND_OPTIONS = {
  ...AUTHORIZE_OPTIONS,
  adapter: {
    must: 'a Purser client whose key has the scope consume',
    holds: (value: Client) =>
      typeof value?.capabilities?.consume === 'function' &&
      typeof value.decisions?.reportOutcome === 'function',
  },
  paymentIsIdempotent: flag,
  isDefiniteFailure: callback,
  onUnreported: callback,
};

const REPORT_RETRIES = 5;

/** Names under which this process began to pay, and whether Purser had been asked: none is ever paid unguarded again. */
const begun = new Map<string, 'guarded' | 'unguarded'>();

/** See `Purser.spend`. */
export async function spend<T extends PaymentResult>(
  client: Client,
  transport: Transport,
  request: SpendRequest,
  pay: (grant: Grant) => Promise<T>,
  options: SpendOptions,
): Promise<Spent<T>> {
  checkSpendRequest(request);
  if (typeof pay !== 'function') throw new TypeError('pay must be a function that makes the payment');
  checkOptions(options, SPEND_OPTIONS, 'The options of spend');
  const name = transport.nameOf(request.agent ?? '', request.idempotencyKey);
  let has_begun = false;
  const begin = (how: 'guarded' | 'unguarded') => {
    if (options.signal?.aborted) throw aborted(options.signal);
    has_begun = true;
    remember(begun, name, how);
  };
  return asResumableCall(
    name,
    () => has_begun,
    async (call) => {
      let asked: Asked;
      try {
        asked = await ask(client, transport, call.id, request, options.signal);
        call.made_decision = asked.mine;
      } catch (error) {
        const down = asUnavailable(error, 'nothing was paid');
        const may_pay = await mayPayUnguarded(down, transport, request, options);
        // Looked up after all waiting, and set at once: of several calls of this process one pays.
        if (!may_pay || begun.has(name)) throw down;
        begin('unguarded');
        return payUnguarded(name, request, pay, options);
      }
      const decision = await untilAllowed(client, asked, request, options);
      if (isPaid(decision)) return { status: 'already_paid', decision, payment: null, outcome: null };
      refuseAfterUnguarded(name, decision);
      await passGate(decision, asked, call.id, options);
      // Looked up again: another call of this process may have paid unguarded meanwhile.
      refuseAfterUnguarded(name, decision);
      begin('guarded');
      return payAndReport(client, name, decision, pay, options);
    },
  );
}

function refuseAfterUnguarded(name: string, decision: Decision): void {
  if (begun.get(name) !== 'unguarded') return;
  throw new SpendUnfinished('It may have been paid while Purser was unreachable', decision);
}

/** Resolves for one caller of a name at most, unless the payment system itself recognizes repeats. */
async function passGate(
  decision: Decision,
  asked: Asked,
  call_id: string,
  options: SpendOptions,
): Promise<void> {
  const { adapter, paymentIsIdempotent = false, signal } = options;
  const unfinished = (why: string, cause?: unknown) =>
    new SpendUnfinished(`${why}: check the payment system first`, decision, { cause });
  const { capability, mode } = decision;
  if (mode === 'SHADOW' || adapter === undefined) {
    // Nothing is consumed here: of all callers only the one that made the decision knows that no other has paid.
    if (!asked.mine && !paymentIsIdempotent) throw unfinished('Another call with this name may have paid');
    if (mode === 'SHADOW' || capability?.status === 'ISSUED') return;
    throw unfinished(`The capability is ${capability?.status ?? 'not there'}`);
  }
  if (capability?.token === undefined) {
    throw unfinished('Another key made the request under this name, and only that key can see the token');
  }
  const { decision_id, currency } = decision;
  const idempotencyKey = `purser-${decision_id}${paymentIsIdempotent ? '' : `-${call_id}`}`;
  const amount_minor = payableOf(decision);
  const payee = capability.payee_id === null ? {} : { payee_id: capability.payee_id };
  try {
    const body = { token: capability.token, amount_minor, currency, ...payee };
    const consumption = await adapter.capabilities.consume(body, { idempotencyKey, signal });
    const of_decision = consumption.decision_id === decision_id && consumption.currency === currency;
    if (of_decision && consumption.amount_minor === amount_minor) return;
    throw new ConnectionError('The response is not a consumption of this capability', { idempotencyKey });
  } catch (error) {
    if (APIError.is(error, 'capability_used'))
      throw unfinished('Another call with this name started to pay', error);
    if (error instanceof APIError && error.status < 500) {
      throw new SpendRefused(`The capability was refused: ${error.message}`, decision, {
        requestId: error.requestId,
        idempotencyKey,
        cause: error,
      });
    }
    throw asUnavailable(error, 'nothing was paid');
  }
}

async function payAndReport<T extends PaymentResult>(
  client: Client,
  name: string,
  decision: Decision,
  pay: (grant: Grant) => Promise<T>,
  options: SpendOptions,
): Promise<Spent<T>> {
  const { decision_id, capability, currency } = decision;
  const { adapter, signal = new AbortController().signal } = options;
  const amount_minor = payableOf(decision);
  const source = adapter === undefined ? 'CLIENT_REPORTED' : 'PAYMENT_RAIL';
  const report = (outcome: OutcomeRequest) =>
    reportSafely(adapter ?? client, decision_id, { ...outcome, currency, source }, options.onUnreported);
  let payment: T;
  try {
    const paymentKey = `purser-${decision_id}`;
    payment = await pay({ decision, capability, amount_minor, currency, paymentKey, signal });
  } catch (cause) {
    const told = { cause, idempotencyKey: undefined };
    if (!provesFailure(cause, options)) {
      throw new SpendUncertain('`pay` threw, so the result is unknown and was not reported', decision, told);
    }
    begun.delete(name);
    await report({ type: 'SPEND_FAILED' });
    throw new SpendFailed(`The payment failed: ${messageOf(cause)}`, decision, told);
  }
  // The payment is made: nothing below may throw, or the caller would pay again.
  const { external_reference, occurred_at, amount_minor: paid = amount_minor }: PaymentResult = payment ?? {};
  const outcome = await report({
    type: 'SPEND_EXECUTED',
    amount_minor: paid,
    external_reference,
    occurred_at,
  });
  return { status: 'paid', decision, payment, outcome };
}

/** The outcome as recorded; null when it could not be reported, which `onUnreported` is told. Never rejects. */
async function reportSafely(
  reporter: Client,
  decision_id: string,
  outcome: OutcomeRequest,
  onUnreported: SpendOptions['onUnreported'],
): Promise<Outcome | null> {
  try {
    const recorded = await reporter.decisions.reportOutcome(decision_id, outcome, {
      maxRetries: REPORT_RETRIES,
    });
    if (recorded.decision_id === decision_id && recorded.type === outcome.type) return recorded;
    throw new ConnectionError('The response is not an outcome of this decision: the server is not Purser');
  } catch (error) {
    try {
      // An async one that fails would otherwise end the process.
      Promise.resolve(onUnreported?.({ decision_id, outcome, error })).catch(() => {});
    } catch {
      // The money has moved: that is what the caller has to hear.
    }
    return null;
  }
}

async function mayPayUnguarded(
  down: PurserUnavailable,
  transport: Transport,
  request: SpendRequest,
  { onUnavailable = 'refuse' }: SpendOptions,
): Promise<boolean> {
  // With Purser away nobody else looks at what a model may have written.
  const { amount_minor, currency } = request.action;
  if (!isAmount(amount_minor) || amount_minor === 0 || !isCurrency(currency)) return false;
  if (onUnavailable === 'pay_if_shadow') return wasInShadow(transport, request);
  return onUnavailable !== 'refuse' && (await onUnavailable(down, request)) === 'pay';
}

/** Pays without Purser. What `pay` throws is thrown as it is: there is no decision to speak of. */
async function payUnguarded<T extends PaymentResult>(
  name: string,
  { action, idempotencyKey }: SpendRequest,
  pay: (grant: Grant) => Promise<T>,
  options: SpendOptions,
): Promise<Spent<T>> {
  const { signal = new AbortController().signal } = options;
  const { amount_minor, currency } = action;
  const paymentKey = `purser-${idempotencyKey}`;
  try {
    const payment = await pay({
      decision: null,
      capability: null,
      amount_minor,
      currency,
      paymentKey,
      signal,
    });
    return { status: 'unguarded', decision: null, payment, outcome: null };
  } catch (error) {
    if (provesFailure(error, options)) begun.delete(name);
    throw error;
  }
}

/** A judge that fails has proved nothing. */
function provesFailure(error: unknown, { isDefiniteFailure }: SpendOptions): boolean {
  if (isDefiniteFailure === undefined) return error instanceof PaymentFailed;
  try {
    return isDefiniteFailure(error) === true;
  } catch {
    return false;
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
