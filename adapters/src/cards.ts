import { APIError, type Consumption, type OutcomeRequest, type Purser } from '@purser/sdk';
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
interface Authorized {
  card: string;
  decision_id: string;
  consumed_minor: number;
  approved_minor: number;
  currency: string;
  /** As `merchantKey` has it. */
  merchant: string;
  /** The answer to each question. */
  answers: Record<string, boolean>;
  captures: Record<string, number>;
  refunds: Record<string, number>;
  is_closed: boolean;
  is_released: boolean;
  /** The amount reported as executed, or `released`. */
  reported: number | 'released' | null;
}

const TTL_MS = 15 * 60_000;
const ANSWER_WITHIN_MS = 1_200;
const APPROVED = 'approved';
const DECLINED = 'declined';

const NOTHING = {
  approved_minor: 0,
  answers: {},
  captures: {},
  refunds: {},
  is_closed: false,
  is_released: false,
  reported: null,
};

/** A contradiction that a person must check; a retry cannot fix it. */
class Mismatch extends Error {}

const sum = (amounts: Record<string, number>) => Object.values(amounts).reduce((a, b) => a + b, 0);

/** The core of every card rail: which authorization is approved, and what is reported of it. */
export function makeCards(options: CardsOptions): Cards {
  const { rail, adapter, agent, store, answerWithin = ANSWER_WITHIN_MS, checkMerchant = true } = options;
  const { now = Date.now } = options;
  const sealer = makeSealer(options.secret);
  const cardKey = (card: string) => `${rail} card ${card}`;
  const authorizationKey = (authorization: string) => `${rail} authorization ${authorization}`;
  const tell = makeRailLog(rail, options.log);

  async function arm(arming: Arming): Promise<void> {
    const given = new Foreign(arming, 'arming');
    const card = given.id('card');
    const ttl = given.has('ttl') ? given.integer('ttl', 1) : TTL_MS;
    let token: string;
    let decision_id: string | null = null;
    let max_amount_minor: number | null = null;
    if ('decision_id' in arming) {
      if (agent === undefined)
        throw new TypeError('agent: arming by decision_id needs a client with the agent’s key');
      const { capability, mode } = await agent.decisions.retrieve(arming.decision_id);
      if (mode === 'SHADOW')
        throw new Error(`${arming.decision_id} was made in SHADOW, which never arms a card`);
      if (capability?.token === undefined || capability.status !== 'ISSUED') {
        throw new Error(
          `${arming.decision_id} has no usable capability: it is ${capability?.status ?? 'not allowed, or belongs to another agent'}`,
        );
      }
      const payee_id = `${rail}:${card}`;
      if (capability.payee_id !== null && capability.payee_id !== payee_id) {
        throw new Error(`${arming.decision_id} is for ${capability.payee_id}, not for ${payee_id}`);
      }
      decision_id = arming.decision_id;
      token = capability.token;
      max_amount_minor = new Foreign(capability, 'capability').integer('max_amount_minor', 1);
    } else {
      token = given.id('token');
      if (given.has('max_amount_minor')) max_amount_minor = given.integer('max_amount_minor', 1);
    }
    const sealed_token = await sealer.seal(cardKey(card), token);
    const armed: Armed = {
      sealed_token,
      decision_id,
      max_amount_minor,
      expires_at_ms: now() + ttl,
      used_by: null,
    };
    await update<Armed>(store, cardKey(card), () => armed);
  }

  /** Answers from what was consumed for this authorization before: a repeated question, or an increment. */
  function fromConsumed(
    known: Authorized,
    question: string,
    asked: CardAuthorization,
  ): { approve: boolean; why: string; next: Authorized } {
    const earlier = Object.hasOwn(known.answers, question) ? known.answers[question] : undefined;
    if (earlier !== undefined) return { approve: earlier, why: 'same answer as before', next: known };
    const approved_minor = known.approved_minor + asked.amount_minor;
    const is_over = known.is_closed || known.is_released || asked.card !== known.card;
    const fits = !is_over && approved_minor <= known.consumed_minor && asked.currency === known.currency;
    const is_merchant = !checkMerchant || merchantKey(asked.merchant_descriptor) === known.merchant;
    const approve = fits && is_merchant;
    const next = { ...known, answers: { ...known.answers, [question]: approve } };
    if (approve) return { approve, why: 'within the consumed amount', next: { ...next, approved_minor } };
    return { approve, why: fits ? 'its merchant differs' : 'not within the consumed amount', next };
  }

  async function decide(
    asked: CardAuthorization,
    question: string,
    signal: AbortSignal,
  ): Promise<[boolean, string]> {
    const { authorization, card, amount_minor, currency, merchant_descriptor } = asked;
    const merchant = merchantKey(merchant_descriptor);
    if (checkMerchant && merchant === '') return [false, 'the network names no merchant'];
    const key = authorizationKey(authorization);
    /** The one place where an approval is written, before it is given. */
    const answer = async (begin: Authorized | null): Promise<[boolean, string]> => {
      let said: [boolean, string] = [false, 'nothing was consumed'];
      await update<Authorized>(store, key, (current) => {
        const known = current ?? begin;
        if (known === null) return null;
        const { approve, why, next } = fromConsumed(known, question, asked);
        said = [approve && !signal.aborted, why];
        return signal.aborted ? known : next;
      });
      return said;
    };
    if ((await store.get(key)) !== null) return answer(null);
    const text = await store.get(cardKey(card));
    if (text === null) return [false, 'the card is not armed'];
    const armed = JSON.parse(text) as Armed;
    if (armed.used_by !== null && armed.used_by !== authorization)
      return [false, "the card's capability was already used"];
    if (armed.expires_at_ms <= now()) return [false, "the card's arming expired"];
    if (amount_minor === 0) return [true, 'a check of an armed card; nothing is consumed'];
    const consumed_minor = armed.max_amount_minor ?? amount_minor;
    if (amount_minor > consumed_minor) return [false, `the amount is over ${consumed_minor}`];
    const body = {
      token: await sealer.open(cardKey(card), armed.sealed_token),
      amount_minor: consumed_minor,
      currency,
      payee_id: `${rail}:${card}`,
      external_reference: authorization,
      ...(checkMerchant ? { merchant: merchant_descriptor as string } : {}),
    };
    const use = () =>
      update<Armed>(store, cardKey(card), (current) =>
        current?.sealed_token === armed.sealed_token ? { ...current, used_by: authorization } : null,
      );
    // The key names the authorization: asked again after a crash, it is a replay, and no other authorization gets one.
    const idempotencyKey = `${rail}-${authorization}`;
    const isOurs = (answer: Consumption) =>
      typeof answer.decision_id === 'string' &&
      answer.decision_id === (armed.decision_id ?? answer.decision_id) &&
      answer.amount_minor === consumed_minor &&
      answer.currency === currency;
    const { decision_id } = await adapter.capabilities
      .consume(body, { idempotencyKey, signal })
      .then((answer) => {
        if (isOurs(answer)) return answer;
        throw new Error('the response is not a consumption of this capability');
      })
      .catch(async (error: unknown) => {
        if (error instanceof APIError && error.status < 500) throw error;
        // It may have been consumed. Nothing else gets it, and once the network lets the authorization go, so do we.
        await use();
        if (armed.decision_id !== null) {
          const of = { card, decision_id: armed.decision_id, currency, merchant };
          const unknown = { ...NOTHING, ...of, consumed_minor: 0 };
          await update<Authorized>(store, key, (current) => (current === null ? unknown : null));
        }
        throw error;
      });
    await use();
    return answer({ ...NOTHING, card, decision_id, consumed_minor, currency, merchant });
  }

  /** The answer to a question is what is written first: given again however often it is asked, also after a crash. */
  async function say(question: string, approve: boolean): Promise<boolean> {
    const key = `${rail} event ${question}`;
    if (await store.replace(key, null, approve ? APPROVED : DECLINED)) return approve;
    return (await store.get(key)) === APPROVED;
  }

  async function authorize(given: CardAuthorization): Promise<boolean> {
    try {
      const asked = checkedQuestion(given);
      return await answerInTime(asked, await nameOf(asked));
    } catch (error) {
      tell(`declined a question: ${String(error)}`);
      return false;
    }
  }

  async function answerInTime(asked: CardAuthorization, question: string): Promise<boolean> {
    const { authorization, card, amount_minor, currency } = asked;
    const deadline = new AbortController();
    const timers: ReturnType<typeof setTimeout>[] = [];
    const after = (ms: number) => new Promise<void>((resolve) => timers.push(setTimeout(resolve, ms)));
    const answered = async (): Promise<[boolean, string]> => {
      const earlier = await store.get(`${rail} event ${question}`);
      if (earlier !== null) return [earlier === APPROVED, 'same answer as before'];
      const [approve, why] = await decide(asked, question, deadline.signal).catch(
        (error: unknown): [boolean, string] => [
          false,
          error instanceof APIError ? error.code : String(error),
        ],
      );
      return [await say(question, approve), why];
    };
    const late = async (): Promise<[boolean, string]> => {
      await after(answerWithin);
      deadline.abort();
      const why = `no response within ${answerWithin} ms`;
      // A store that hangs must not hold up the answer either.
      return [await Promise.race([say(question, false), after(answerWithin / 4).then(() => false)]), why];
    };
    const [approve, why] = await Promise.race([answered(), late()]).catch((error): [boolean, string] => [
      false,
      String(error),
    ]);
    for (const timer of timers) clearTimeout(timer);
    tell(
      `${approve ? 'approved' : 'declined'} ${authorization} of ${card}, ${amount_minor} ${currency}: ${why}`,
    );
    return approve;
  }

  async function settle(given: CardMovement): Promise<void> {
    const movement = checkedMovement(given);
    const { authorization, currency } = movement;
    const key = authorizationKey(authorization);
    const known = await update<Authorized>(store, key, (current) => {
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
      tell(`${error.message}; a person should check it`);
      return null;
    });
    if (known === null) {
      tell(`${movement.type} ${authorization}: no capability was consumed for it`);
      return;
    }
    await report(authorization, known);
  }

  /** Says to Purser what is settled by now. An exact repeat counts nothing twice, so a crash in between does no harm. */
  async function report(authorization: string, known: Authorized): Promise<void> {
    const { decision_id, currency, captures, refunds, reported } = known;
    const captured = sum(captures);
    const say = async (outcome: OutcomeRequest) => {
      try {
        await adapter.decisions.reportOutcome(decision_id, { ...outcome, currency, source: 'PAYMENT_RAIL' });
        tell(`reported ${outcome.type} of ${authorization} (${decision_id})`);
      } catch (error) {
        if (!APIError.is(error, 'outcome_conflict')) throw error;
        // Two captures at once are two reports at once. Where the higher came first, the lower is no news.
        const latest = JSON.parse((await store.get(authorizationKey(authorization))) ?? '{}') as Authorized;
        if (outcome.type === 'SPEND_EXECUTED' && sum(latest.captures ?? {}) > captured) return;
        tell(`${outcome.type} of ${authorization} contradicts an earlier report; a person should check it`);
      }
    };
    const settled = (value: Authorized['reported']) =>
      update<Authorized>(store, authorizationKey(authorization), (current) =>
        current === null || current.reported === value ? null : { ...current, reported: value },
      );
    if (captured === 0) {
      if (!known.is_released || reported !== null) return;
      await say({ type: 'SPEND_CANCELLED', external_reference: authorization });
      await settled('released');
      return;
    }
    // Several captures are one report, when the network expects no more. One that comes all the same raises it.
    if (!known.is_closed && !known.is_released) return;
    if (reported !== captured) {
      await say({ type: 'SPEND_EXECUTED', amount_minor: captured, external_reference: authorization });
      await settled(captured);
    }
    for (const [reference, amount_minor] of Object.entries(refunds)) {
      await say({ type: 'PARTIALLY_REFUNDED', amount_minor, external_reference: reference });
    }
  }

  return { arm, authorize, settle };
}
