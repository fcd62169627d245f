import type {
  AuthorizeOptions,
  Decision,
  Grant,
  PaymentResult,
  Purser,
  SpendOptions,
  SpendRequest,
} from '@purser/sdk';

/**
 * Describes the spend of a tool call. `idempotencyKey` names the purchase (its order, its invoice): the same name is
 * never paid twice. `call_id` is the framework's id of this one call, where it has one. If it throws, the tool does
 * not run.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the tool itself knows what it is given.
export type ToSpend<Input = any> = (
  input: Input,
  call_id?: string,
) => SpendRequest | PromiseLike<SpendRequest>;

/** The text that the model gets instead of a tool's result. */
export interface Refusal {
  /** UNCERTAIN: the tool began to pay, and whether it did is for the payment system to say. In all others nothing was paid by this call. */
  status:
    | 'DENIED'
    | 'WAITING_FOR_REVIEW'
    | 'ALREADY_PAID'
    | 'FAILED'
    | 'UNAVAILABLE'
    | 'REFUSED'
    | 'UNCERTAIN';
  /** In sentences for the model: no limits, no thresholds. */
  reason: string;
  decision_id: string | null;
}

export interface GuardOptions extends Pick<AuthorizeOptions, 'waitForReview' | 'onUnavailable'> {
  /** A client with the scope `consume`, where no payment adapter behind the tool consumes the capability. */
  adapter?: Purser | undefined;
  /** For your log. What it throws is ignored. */
  onRefusal?: ((refusal: Refusal, error: unknown) => void) | undefined;
}

export interface GuardToolOptions<Result>
  extends GuardOptions,
    Pick<SpendOptions, 'paymentIsIdempotent' | 'isDefiniteFailure' | 'onUnreported'> {
  /** Reads the payment from a tool's result. Without it the granted amount counts as paid. */
  paymentOf?: ((result: Result) => PaymentResult) | undefined;
}

const NOTHING = 'Nothing was paid by this call.';
/** By the name of the SDK's error. */
const TOLD: Record<string, readonly [Refusal['status'], string]> = {
  SpendDenied: [
    'DENIED',
    `This spend is not allowed. ${NOTHING} Do not try another way; ask the person you work for.`,
  ],
  SpendPending: [
    'WAITING_FOR_REVIEW',
    `A person must review this spend first. ${NOTHING} Ask again later, under the same name.`,
  ],
  SpendFailed: ['FAILED', `The payment failed. ${NOTHING}`],
  PurserUnavailable: ['UNAVAILABLE', `The spend could not be checked right now. ${NOTHING} Try again later.`],
  SpendUncertain: [
    'UNCERTAIN',
    'It is unknown if this was paid. Do not buy it again; a person must check it.',
  ],
  SpendUnfinished: [
    'UNCERTAIN',
    'An earlier call started to pay this. Do not buy it again; a person must check it.',
  ],
  AlreadyPaid: ['ALREADY_PAID', 'This was paid before, under the same name. Do not buy it again.'],
};
const OTHERWISE = ['REFUSED', `The spend could not be requested. ${NOTHING}`] as const;

interface Failure {
  name?: string;
  message?: string;
  decision?: Decision | null;
}

function refusalOf(error: unknown, has_begun: boolean, { onRefusal }: GuardOptions): Refusal {
  const failure: Failure = error instanceof Object ? error : {};
  const name = has_begun && failure.name !== 'SpendFailed' ? 'SpendUncertain' : String(failure.name);
  const [status, told] = (Object.hasOwn(TOLD, name) && TOLD[name]) || OTHERWISE;
  const why = name === 'SpendDenied' ? failure.decision?.reason_code : undefined;
  // What the service says of a wrong field the model can mend.
  const field = name === 'InvalidRequestError' ? failure.message : undefined;
  const reason = [told, why && `(${why})`, field].filter(Boolean).join(' ');
  const refusal = { status, reason, decision_id: failure.decision?.decision_id ?? null };
  try {
    onRefusal?.(refusal, error);
  } catch {
    // A log that fails changes no answer.
  }
  return refusal;
}

/**
 * The tool, guarded: asks, waits, runs it at most once for each name, and reports what became of it. `tool` gets the grant
 * as its second argument: the amount (less than asked where the request is `limitable`), the `paymentKey` and the capability.
 * Resolves with what the tool gave, or with a `Refusal` for the model; it never rejects.
 */
export function guardTool<Input, Result, Rest extends unknown[]>(
  purser: Purser,
  tool: (input: Input, grant: Grant, ...rest: Rest) => Result | PromiseLike<Result>,
  toSpend: ToSpend<Input>,
  options: GuardToolOptions<Result> = {},
): (input: Input, ...rest: Rest) => Promise<Result | Refusal> {
  const { onRefusal: _, paymentOf, ...spending } = options;
  return async (input, ...rest) => {
    let has_begun = false;
    const pay = async (grant: Grant) => {
      has_begun = true;
      const result = await tool(input, grant, ...rest);
      return { result, ...paymentOf?.(result) };
    };
    try {
      const { payment, decision } = await purser.spend(await toSpend(input), pay, spending);
      if (payment !== null) return payment.result;
      return refusalOf({ name: 'AlreadyPaid', decision }, false, options);
    } catch (error) {
      return refusalOf(error, has_begun, options);
    }
  };
}

/** Ends the spend of a hook where it would pay: what becomes of it is for others to report. */
class Leave {
  readonly decision: Decision | null;
  constructor(decision: Decision | null) {
    this.decision = decision;
  }
}

/** Throws for what only a tool that gets the grant could keep to. */
export function refuseLimitable(request: SpendRequest): void {
  if (request?.limitable === true) throw new TypeError('limitable: a hook cannot lower an amount; omit it');
}

/**
 * Asks for leave to run a tool that one does not own, once for each name; reports nothing. With `adapter` the capability is
 * consumed here; without it the payment adapter behind the tool consumes it. Never rejects.
 */
export async function preauthorize(
  purser: Purser,
  toSpend: ToSpend,
  input: unknown,
  call_id: string | undefined,
  { onRefusal, ...spending }: GuardOptions & Pick<AuthorizeOptions, 'signal'>,
): Promise<Leave | Refusal> {
  const endHere = async ({ decision }: Grant) => {
    throw new Leave(decision);
  };
  try {
    const request = await toSpend(input, call_id);
    refuseLimitable(request);
    const { decision } = await purser.spend(request, endHere, {
      ...spending,
      isDefiniteFailure: () => false,
    });
    return refusalOf({ name: 'AlreadyPaid', decision }, false, { onRefusal });
  } catch (error) {
    const leave = error instanceof Leave ? error : (error as { cause?: unknown } | undefined)?.cause;
    return leave instanceof Leave ? leave : refusalOf(error, false, { onRefusal });
  }
}

/** The text of an allowed spend, for the model and the transcript. */
export const preauthorizationText = ({ decision }: Leave) =>
  `Purser allows this spend (${decision?.decision_id ?? 'unguarded'}).`;

/** True if it is a refusal and not leave. */
export const isRefusal = (answer: Leave | Refusal): answer is Refusal => !(answer instanceof Leave);
