import type { Client } from './client.ts';
import {
  AbortedError,
  APIError,
  ConnectionError,
  type PurserError,
  PurserUnavailable,
  SpendDenied,
  SpendFailed,
  SpendPending,
  SpendUnfinished,
} from './errors.ts';
import { abortSignal, checkOptions, isObject, MAX_TIMER_MS, visible } from './options.ts';
import { Allowances } from './resources.ts';
import { isPending, waitForReview } from './review.ts';
import { freshId, type Transport } from './transport.ts';
import type { Capability, Decision, DecisionRequest, SpendRequest } from './types.ts';

export interface AuthorizeOptions {
  /** How long to wait for a review, ms; 0: throw `SpendPending` at once (default). Polls 1 s → 15 s and listens to `notify`. */
  waitForReview?: number | undefined;
  signal?: AbortSignal | undefined;
  /**
   * When Purser cannot be asked. Default 'refuse'. 'pay_if_shadow': pay when this process has seen the agent in SHADOW
   * within the last hour. A function pays when it gives 'pay', and nothing else (a promise of a plain string, because that
   * is what TypeScript makes of `async () => 'refuse'`). Of use to `spend` alone: without Purser there is no decision that `authorize` could give.
   */
  onUnavailable?:
    | 'refuse'
    | 'pay_if_shadow'
    | ((error: PurserError, request: SpendRequest) => 'refuse' | 'pay' | PromiseLike<string>)
    | undefined;
}

/** Leave to make a spend. */
export interface Authorization {
  decision: Decision;
  /** In ENFORCE: what the payment adapter consumes. */
  capability: Capability | null;
  /** The amount that may be paid: less than requested if the request was `limitable`. */
  amount_minor: number;
  /** True if this name was asked for before. In SHADOW somebody may have paid then. */
  replayed: boolean;
  /** True if this call made the decision, also where its first answer was lost. Of all calls under one name, one did. */
  mine: boolean;
}

/** Every option of `authorize` and what it must be. */
export const AUTHORIZE_OPTIONS = {
  waitForReview: {
    must: `a number of milliseconds from 0 to ${MAX_TIMER_MS}`,
    holds: (value: number) => typeof value === 'number' && value >= 0 && value <= MAX_TIMER_MS,
  },
  signal: abortSignal,
  onUnavailable: {
    must: "'refuse', 'pay_if_shadow' or a function",
    holds: (value: unknown) => value === 'refuse' || value === 'pay_if_shadow' || typeof value === 'function',
  },
};

/** The result of a request. */
export interface Asked {
  decision: Decision;
  /** True if the decision was made by this call: of all calls under one name, exactly one made it. */
  mine: boolean;
  replayed: boolean;
}

/** How many names of spends this process remembers something of; the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;

/** Sets an entry and forgets the oldest when there are too many. */
export function remember<V>(map: Map<string, V>, name: string, value: V): void {
  map.delete(name);
  map.set(name, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value as string);
}

/** One call of `spend`: the id that its requests carry, and whether the decision is known to be its own. */
export interface SpendCall {
  readonly id: string;
  made_decision: boolean;
}

/** Calls that ended before anything was paid and that the next call with the same name continues. */
const resumable = new Map<string, SpendCall>();

/**
 * Runs `work` as a call that no other has the id of. When it ends with the spend still open, and has paid nothing
 * (`hasBegun`), the next call with that name in this process continues it: whatever was granted to the ended call is
 * granted to that one. Of several that ended, the one that made the decision is continued.
 */
export async function asResumableCall<T>(
  name: string,
  hasBegun: () => boolean,
  work: (call: SpendCall) => Promise<T>,
): Promise<T> {
  const call = resumable.get(name) ?? { id: freshId(), made_decision: false };
  resumable.delete(name);
  try {
    return await work(call);
  } catch (error) {
    const is_open = [PurserUnavailable, AbortedError, SpendPending].some((each) => error instanceof each);
    const keeps = resumable.get(name)?.made_decision !== true;
    if (is_open && !hasBegun() && keeps) remember(resumable, name, call);
    throw error;
  }
}

/** Throws a `TypeError` for what no service has to be asked about. */
export function checkSpendRequest(request: SpendRequest): void {
  if (!isObject(request)) throw new TypeError('The request must be an object with idempotencyKey and action');
  if (!visible.holds(request.idempotencyKey as never)) {
    throw new TypeError(
      `idempotencyKey must be ${visible.must}: the name of this spend, such as its order number number`,
    );
  }
  if (!isObject(request.action))
    throw new TypeError('action must be an object with the payment and its merchant');
}

/** Returns true if the service could not be asked, and nothing else is known. */
export function isUnavailable(error: unknown): error is PurserError {
  return error instanceof ConnectionError || (error instanceof APIError && error.status >= 500);
}

/** As `PurserUnavailable` where the service could not be asked; any other error is thrown as it is. */
export function asUnavailable(error: unknown, meanwhile: string): PurserUnavailable {
  if (!isUnavailable(error)) throw error;
  const { requestId, idempotencyKey } = error;
  return new PurserUnavailable(`Purser cannot be reached, so ${meanwhile}: ${error.message}`, {
    requestId,
    idempotencyKey,
    cause: error,
  });
}

/** Agents as they were last seen by this process, by service, key and agent: in SHADOW, and when. */
const seen = new Map<string, { in_shadow: boolean; at_ms: number }>();
const MAX_AGE_OF_SHADOW_MS = 3_600_000;

/** Returns true if this process saw the agent of the request in SHADOW within the hour. */
export function wasInShadow(transport: Transport, request: SpendRequest): boolean {
  const last = seen.get(transport.nameOf(request.agent ?? ''));
  return last?.in_shadow === true && performance.now() - last.at_ms <= MAX_AGE_OF_SHADOW_MS;
}

/** The request under the id of its allowance: a signed one is presented, and the same JWT always gives the same id. */
async function underAllowance(
  transport: Transport,
  asked: DecisionRequest,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<DecisionRequest> {
  const { allowance } = asked;
  if (allowance === undefined || !allowance.includes('.')) return asked;
  const allowances = new Allowances(transport);
  const { id } = await allowances.present({ signed: allowance }, { requestId, signal });
  return { ...asked, allowance: id };
}

/** Asks for a decision, once: rejects as `decisions.create` does, and when the answer is no decision of this request. */
export async function ask(
  client: Client,
  transport: Transport,
  call_id: string,
  request: SpendRequest,
  signal: AbortSignal | undefined,
): Promise<Asked> {
  const { idempotencyKey, ...asked } = request;
  const body = await underAllowance(transport, asked, call_id, signal);
  const options = { idempotencyKey, requestId: call_id, signal };
  const { data: decision, response } = await client.decisions.create(body, options).withResponse();
  if (!isDecisionOf(decision, request)) {
    throw new ConnectionError('The response is not a decision of this request: the server is not Purser', {
      requestId: call_id,
      idempotencyKey,
    });
  }
  for (const agent of [request.agent ?? '', decision.agent?.id, decision.agent?.slug]) {
    if (agent === undefined) continue;
    const last = { in_shadow: decision.mode === 'SHADOW', at_ms: performance.now() };
    remember(seen, transport.nameOf(agent), last);
  }
  const replayed = response.status !== 201;
  return {
    decision,
    mine: !replayed || response.headers.get('idempotent-replay-of') === call_id,
    replayed,
  };
}

/** Returns true if the decision answers this request and allows no more than it asks for. */
function isDecisionOf(decision: Decision, { action }: SpendRequest): boolean {
  const { requested_amount_minor, authorized_amount_minor, currency } = decision;
  return (
    currency === action.currency &&
    requested_amount_minor === action.amount_minor &&
    authorized_amount_minor <= action.amount_minor
  );
}

/**
 * The decision as it stands now, allowed or paid already; waits for its review. Rejects with the `SpendError` that
 * says why not, and with `PurserUnavailable`.
 */
export async function untilAllowed(
  client: Client,
  { decision, replayed }: Asked,
  request: SpendRequest,
  options: AuthorizeOptions,
): Promise<Decision> {
  const { signal, waitForReview: wait_ms = 0 } = options;
  let current = decision;
  if (replayed) {
    // A replay is what was answered at first.
    current = await client.decisions.retrieve(decision.decision_id, { signal }).catch((error: unknown) => {
      throw asUnavailable(error, 'nothing was paid');
    });
  }
  if (isPending(current)) current = await waitForReview(client, current, wait_ms, signal);
  if (current.decision_id !== decision.decision_id || !isDecisionOf(current, request)) {
    const cause = new ConnectionError('The response is not a decision of this request');
    throw asUnavailable(cause, 'nothing was paid');
  }
  if (isPaid(current)) return current;
  if (current.outcome_state !== 'NONE') {
    const was = current.outcome_state === 'FAILED' ? 'failed' : 'was cancelled';
    throw new SpendFailed(`This spend ${was} before; try again under a new idempotencyKey`, current);
  }
  if (current.effective_decision !== 'ALLOW') {
    const why = current.review_state === 'EXPIRED' ? 'Nobody reviewed it in time' : current.explanation;
    throw new SpendDenied(why, current);
  }
  return current;
}

/** Returns true if an outcome says that the money moved, given back since or not. */
export function isPaid({ outcome_state }: Decision): boolean {
  return ['EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED'].includes(outcome_state);
}

/** The payable amount. SHADOW stops nothing: a would-be refusal is paid as requested. */
export function payableOf(decision: Decision): number {
  const { mode, authorized_amount_minor, requested_amount_minor } = decision;
  return authorized_amount_minor === 0 && mode === 'SHADOW'
    ? requested_amount_minor
    : authorized_amount_minor;
}

/** See `Purser.authorize`. */
export async function authorize(
  client: Client,
  transport: Transport,
  request: SpendRequest,
  options: AuthorizeOptions,
): Promise<Authorization> {
  checkSpendRequest(request);
  checkOptions(options, AUTHORIZE_OPTIONS, 'The options of authorize');
  const asked = await ask(client, transport, freshId(), request, options.signal).catch((error: unknown) => {
    throw asUnavailable(error, 'the spend may not be made');
  });
  const decision = await untilAllowed(client, asked, request, options);
  if (isPaid(decision)) throw new SpendUnfinished('This spend was paid before', decision);
  const amount_minor = payableOf(decision);
  const { replayed, mine } = asked;
  return { decision, capability: decision.capability, amount_minor, replayed, mine };
}
