import { APIError, type Consumption, type OutcomeRequest, type Purser } from '@purser/sdk';
import { type Authorized, answerFromConsumed, NOTHING } from './card-authorizations.ts';
import {
  type CardAuthorization,
  type CardMovement,
  checkedMovement,
  checkedQuestion,
  merchantKey,
  nameOf,
} from './card-questions.ts';
import { Foreign } from './foreign.ts';
import { makeRailLog } from './log.ts';
import { makeSealer } from './sealing.ts';
import { type CardStore, update } from './store.ts';

export type { CardAuthorization, CardMovement } from './card-questions.ts';
export { type CardStore, memoryStore } from './store.ts';

export interface CardsOptions {
  /** Names the rail in payees: `<rail>:<card>`, for example `stripe_issuing:ic_…`. */
  rail: string;
  /** A client with the scope `consume`. */
  adapter: Purser;
  /** A client with the agent's key, where cards are armed by `decision_id`. */
  agent?: Purser | undefined;
  store: CardStore;
  /** Tokens are sealed with it: at least 32 characters, the same in all processes that share the store. */
  secret: string;
  /** Milliseconds within which an authorization is answered; what takes longer is declined. Default 1,200. */
  answerWithin?: number | undefined;
  /**
   * True if the merchant that the network names must be the decision's, and an increment's that of the authorization.
   * Then a question without a merchant's name is declined. Default true.
   */
  checkMerchant?: boolean | undefined;
  /** One line for each answer and each report. Default: `console.log`. */
  log?: ((line: string) => void) | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/** The input to arm a card: a decision, or the token of its capability. */
export type Arming = { card: string /** Milliseconds; default 15 minutes. */; ttl?: number } & (
  | { decision_id: string }
  | {
      token: string /** What may be consumed; without it the first authorized amount is. */;
      max_amount_minor?: number;
    }
);

export interface Cards {
  /** Lets the next authorization of a card use a decision, once. What was armed before and not used is replaced. */
  arm(arming: Arming): Promise<void>;
  /** Whether to approve. Never rejects; whatever cannot be proven is declined. */
  authorize(event: CardAuthorization): Promise<boolean>;
  /** Takes note of a movement, and reports what it settles. Rejects when it could not: let the network send it again. */
  settle(movement: CardMovement): Promise<void>;
}

interface Armed {
  sealed_token: string;
  /** Null where it was armed with a token alone. */
  decision_id: string | null;
  max_amount_minor: number | null;
  expires_at_ms: number;
  /** The authorization that consumed it, or may have. */
  used_by: string | null;
}
const TTL_MS = 15 * 60_000;
const ANSWER_WITHIN_MS = 1_200;
const APPROVED = 'approved';
const DECLINED = 'declined';

/** A contradiction that a person must check; a retry cannot fix it. */
class Mismatch extends Error {}

const sum = (amounts: Record<string, number>) => Object.values(amounts).reduce((a, b) => a + b, 0);

/** An answer to a question, and why. */
type Answer = [approve: boolean, why: string];

/** Returns the core of a card rail, which decides which authorizations are approved and reports what they settle. */
export function makeCards(options: CardsOptions): Cards {
  const desk = new CardDesk(options);
  return {
    arm: (arming) => desk.arm(arming),
    authorize: (event) => desk.authorize(event),
    settle: (movement) => desk.settle(movement),
  };
}

class CardDesk {
  readonly #options: CardsOptions;
  readonly #store: CardStore;
  readonly #answer_within_ms: number;
  readonly #checks_merchant: boolean;
  readonly #now: () => number;
  readonly #sealer: ReturnType<typeof makeSealer>;
  readonly #tell: (line: string) => void;

  constructor(options: CardsOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#answer_within_ms = options.answerWithin ?? ANSWER_WITHIN_MS;
    this.#checks_merchant = options.checkMerchant ?? true;
    this.#now = options.now ?? Date.now;
    this.#sealer = makeSealer(options.secret);
    this.#tell = makeRailLog(options.rail, options.log);
  }

  async arm(arming: Arming): Promise<void> {
    const given = new Foreign(arming, 'arming');
    const card = given.id('card');
    const ttl = given.has('ttl') ? given.integer('ttl', 1) : TTL_MS;
    const { token, ...covered } =
      'decision_id' in arming
        ? await this.#capabilityOf(arming.decision_id, card)
        : {
            token: given.id('token'),
            decision_id: null,
            max_amount_minor: given.has('max_amount_minor') ? given.integer('max_amount_minor', 1) : null,
          };
    const armed: Armed = {
      sealed_token: await this.#sealer.seal(this.#cardKey(card), token),
      ...covered,
      expires_at_ms: this.#now() + ttl,
      used_by: null,
    };
    await update<Armed>(this.#store, this.#cardKey(card), () => armed);
  }

  async authorize(given: CardAuthorization): Promise<boolean> {
    try {
      const asked = checkedQuestion(given);
      return await this.#answerInTime(asked, await nameOf(asked));
    } catch (error) {
      this.#tell(`declined a question: ${String(error)}`);
      return false;
    }
  }

  async settle(given: CardMovement): Promise<void> {
    const movement = checkedMovement(given);
    const { authorization, currency } = movement;
    const known = await update<Authorized>(this.#store, this.#authorizationKey(authorization), (current) => {
      if (current === null) return null;
      if (movement.type === 'closed') return { ...current, is_closed: true };
      if (movement.type === 'released') return { ...current, is_released: true };
      const { type, reference, amount_minor } = movement;
      if (currency !== current.currency)
        throw new Mismatch(`${authorization}: ${currency} is not the currency of its decision`);
      const name = type === 'captured' ? 'captures' : 'refunds';
      return { ...current, [name]: { ...current[name], [reference]: amount_minor } };
    }).catch((error: unknown) => {
      if (!(error instanceof Mismatch)) throw error;
      this.#tell(`${error.message}; a person should check it`);
      return null;
    });
    if (known === null) this.#tell(`${movement.type} ${authorization}: no capability was consumed for it`);
    else await this.#report(authorization, known);
  }

  #cardKey(card: string): string {
    return `${this.#options.rail} card ${card}`;
  }

  #authorizationKey(authorization: string): string {
    return `${this.#options.rail} authorization ${authorization}`;
  }

  /** The usable capability of a decision for this card. Throws if it has none. */
  async #capabilityOf(decision_id: string, card: string) {
    const { agent, rail } = this.#options;
    if (agent === undefined)
      throw new TypeError('agent: arming by decision_id needs a client with the agent’s key');
    const { capability, mode } = await agent.decisions.retrieve(decision_id);
    if (mode === 'SHADOW') throw new Error(`${decision_id} was made in SHADOW, which never arms a card`);
    if (capability?.token === undefined || capability.status !== 'ISSUED') {
      throw new Error(
        `${decision_id} has no usable capability: it is ${capability?.status ?? 'not allowed, or belongs to another agent'}`,
      );
    }
    const payee_id = `${rail}:${card}`;
    if (capability.payee_id !== null && capability.payee_id !== payee_id) {
      throw new Error(`${decision_id} is for ${capability.payee_id}, not for ${payee_id}`);
    }
    const max_amount_minor = new Foreign(capability, 'capability').integer('max_amount_minor', 1);
    return { token: capability.token, decision_id, max_amount_minor };
  }

  async #answerInTime(asked: CardAuthorization, question: string): Promise<boolean> {
    const { authorization, card, amount_minor, currency } = asked;
    const within_ms = this.#answer_within_ms;
    const deadline = new AbortController();
    const timers: ReturnType<typeof setTimeout>[] = [];
    const after = (ms: number) => new Promise<void>((resolve) => timers.push(setTimeout(resolve, ms)));
    const answered = async (): Promise<Answer> => {
      const earlier = await this.#store.get(this.#questionKey(question));
      if (earlier !== null) return [earlier === APPROVED, 'same answer as before'];
      const [approve, why] = await this.#decide(asked, question, deadline.signal).catch(
        (error: unknown): Answer => [false, error instanceof APIError ? error.code : String(error)],
      );
      return [await this.#record(question, approve), why];
    };
    const late = async (): Promise<Answer> => {
      await after(within_ms);
      deadline.abort();
      // A store that hangs must not hold up the answer either.
      const recorded = Promise.race([this.#record(question, false), after(within_ms / 4).then(() => false)]);
      return [await recorded, `no response within ${within_ms} ms`];
    };
    const [approve, why] = await Promise.race([answered(), late()]).catch(
      (error): Answer => [false, String(error)],
    );
    for (const timer of timers) clearTimeout(timer);
    const said = approve ? 'approved' : 'declined';
    this.#tell(`${said} ${authorization} of ${card}, ${amount_minor} ${currency}: ${why}`);
    return approve;
  }

  #questionKey(question: string): string {
    return `${this.#options.rail} event ${question}`;
  }

  /** The first recorded answer to a question is given however often it is asked, also after a crash. */
  async #record(question: string, approve: boolean): Promise<boolean> {
    const key = this.#questionKey(question);
    if (await this.#store.replace(key, null, approve ? APPROVED : DECLINED)) return approve;
    return (await this.#store.get(key)) === APPROVED;
  }

  async #decide(asked: CardAuthorization, question: string, signal: AbortSignal): Promise<Answer> {
    const { authorization, card, amount_minor, merchant_descriptor } = asked;
    if (this.#checks_merchant && merchantKey(merchant_descriptor) === '')
      return [false, 'the network names no merchant'];
    if ((await this.#store.get(this.#authorizationKey(authorization))) !== null)
      return this.#answerFrom(null, asked, question, signal);
    const text = await this.#store.get(this.#cardKey(card));
    if (text === null) return [false, 'the card is not armed'];
    const armed = JSON.parse(text) as Armed;
    if (armed.used_by !== null && armed.used_by !== authorization)
      return [false, "the card's capability was already used"];
    if (armed.expires_at_ms <= this.#now()) return [false, "the card's arming expired"];
    if (amount_minor === 0) return [true, 'a check of an armed card; nothing is consumed'];
    const consumed_minor = armed.max_amount_minor ?? amount_minor;
    if (amount_minor > consumed_minor) return [false, `the amount is over ${consumed_minor}`];
    const consumed = await this.#consume(armed, asked, consumed_minor, signal);
    return this.#answerFrom(consumed, asked, question, signal);
  }

  /** The one place where an approval is written, before it is given. `begin` is for an authorization not yet known. */
  async #answerFrom(
    begin: Authorized | null,
    asked: CardAuthorization,
    question: string,
    signal: AbortSignal,
  ): Promise<Answer> {
    let answer: Answer = [false, 'nothing was consumed'];
    await update<Authorized>(this.#store, this.#authorizationKey(asked.authorization), (current) => {
      const known = current ?? begin;
      if (known === null) return null;
      const { approve, why, next } = answerFromConsumed(known, question, asked, this.#checks_merchant);
      answer = [approve && !signal.aborted, why];
      return signal.aborted ? known : next;
    });
    return answer;
  }

  /** Consumes the capability that a card is armed with. Throws if it cannot be proven that it was consumed. */
  async #consume(
    armed: Armed,
    { authorization, card, currency, merchant_descriptor }: CardAuthorization,
    consumed_minor: number,
    signal: AbortSignal,
  ): Promise<Authorized> {
    const merchant = merchantKey(merchant_descriptor);
    const body = {
      token: await this.#sealer.open(this.#cardKey(card), armed.sealed_token),
      amount_minor: consumed_minor,
      currency,
      payee_id: `${this.#options.rail}:${card}`,
      external_reference: authorization,
      ...(this.#checks_merchant ? { merchant: merchant_descriptor as string } : {}),
    };
    // The key names the authorization: asked again after a crash, it is a replay, and no other authorization gets one.
    const idempotencyKey = `${this.#options.rail}-${authorization}`;
    const isOurs = (answer: Consumption) =>
      typeof answer.decision_id === 'string' &&
      answer.decision_id === (armed.decision_id ?? answer.decision_id) &&
      answer.amount_minor === consumed_minor &&
      answer.currency === currency;
    const markUsed = () =>
      update<Armed>(this.#store, this.#cardKey(card), (current) =>
        current?.sealed_token === armed.sealed_token ? { ...current, used_by: authorization } : null,
      );
    const { decision_id } = await this.#options.adapter.capabilities
      .consume(body, { idempotencyKey, signal })
      .then((answer) => {
        if (isOurs(answer)) return answer;
        throw new Error('the response is not a consumption of this capability');
      })
      .catch(async (error: unknown) => {
        if (error instanceof APIError && error.status < 500) throw error;
        // It may have been consumed. Nothing else gets it, and once the network releases the authorization, so do we.
        await markUsed();
        if (armed.decision_id !== null) {
          const of = { card, decision_id: armed.decision_id, currency, merchant };
          await update<Authorized>(this.#store, this.#authorizationKey(authorization), (current) =>
            current === null ? { ...NOTHING, ...of, consumed_minor: 0 } : null,
          );
        }
        throw error;
      });
    await markUsed();
    return { ...NOTHING, card, decision_id, consumed_minor, currency, merchant };
  }

  /** Reports to Purser what is settled by now. An exact repeat counts nothing twice, so a crash in between does no harm. */
  async #report(authorization: string, known: Authorized): Promise<void> {
    const { captures, refunds, reported } = known;
    const captured = sum(captures);
    const external_reference = authorization;
    if (captured === 0) {
      if (!known.is_released || reported !== null) return;
      await this.#send(authorization, known, { type: 'SPEND_CANCELLED', external_reference });
      await this.#noteReported(authorization, 'released');
      return;
    }
    // Several captures are one report, when the network expects no more. One that comes all the same raises it.
    if (!known.is_closed && !known.is_released) return;
    if (reported !== captured) {
      const executed = { type: 'SPEND_EXECUTED', amount_minor: captured, external_reference } as const;
      await this.#send(authorization, known, executed);
      await this.#noteReported(authorization, captured);
    }
    for (const [reference, amount_minor] of Object.entries(refunds)) {
      const refund = { type: 'PARTIALLY_REFUNDED', amount_minor, external_reference: reference } as const;
      await this.#send(authorization, known, refund);
    }
  }

  async #send(authorization: string, known: Authorized, outcome: OutcomeRequest): Promise<void> {
    const { decision_id, currency, captures } = known;
    const { adapter } = this.#options;
    try {
      await adapter.decisions.reportOutcome(decision_id, { ...outcome, currency, source: 'PAYMENT_RAIL' });
      this.#tell(`reported ${outcome.type} of ${authorization} (${decision_id})`);
    } catch (error) {
      if (!APIError.is(error, 'outcome_conflict')) throw error;
      // Two captures at once are two reports at once. Where the higher came first, the lower is no news.
      const text = await this.#store.get(this.#authorizationKey(authorization));
      const latest = JSON.parse(text ?? '{}') as Authorized;
      if (outcome.type === 'SPEND_EXECUTED' && sum(latest.captures ?? {}) > sum(captures)) return;
      this.#tell(
        `${outcome.type} of ${authorization} contradicts an earlier report; a person should check it`,
      );
    }
  }

  async #noteReported(authorization: string, value: Authorized['reported']): Promise<void> {
    await update<Authorized>(this.#store, this.#authorizationKey(authorization), (current) =>
      current === null || current.reported === value ? null : { ...current, reported: value },
    );
  }
}
