/**
 * What the reference model of spends knows of limits over time, duplicates and merchants, written from what users are told
 * and sharing no code with the service. Times in ms, amounts in minor units of one currency.
 */
import type { Model, ModelAgent, ModelDecision } from './histories-model.ts';

/** A zone whose clocks are never changed, and in which no day begins with one of UTC. */
export const TIME_ZONE = 'Asia/Kolkata';
const OFFSET_MS = 5.5 * 3_600_000;
const DAY_MS = 86_400_000;

export interface ModelLimit {
  name: string;
  window: 'DAY' | 'WEEK' | 'MONTH' | 'ROLLING';
  window_seconds?: number;
  per?: 'MERCHANT' | 'PAYEE';
  limit_amount_minor?: number;
  limit_count?: number;
  on_exceeded?: 'REVIEW';
}

/** What an authority says of limits over time and of merchants. */
export interface ModelTerms {
  limits: ModelLimit[];
  duplicates: { seconds: number; on: 'REVIEW' | 'DENY' } | null;
  /** Up to which amount a merchant may be new, and what becomes of more. */
  new_merchant: { threshold: number; on: 'REVIEW' | 'DENY' } | null;
  allowed: { merchants: string[]; on: 'REVIEW' | 'DENY' } | null;
}

/** What is asked for. */
export interface ModelSpend {
  amount: number;
  limitable: boolean;
  merchant: string;
  payee: string | null;
}

/** A place in which spends are counted: a counter, whom it counts apart, and the slot of time. */
export interface Place {
  counter: string;
  subject: string;
  starts_ms: number;
  until_ms: number;
}
const nameOf = ({ counter, subject, starts_ms }: Place) => JSON.stringify([counter, subject, starts_ms]);

type Window = Pick<ModelLimit, 'window' | 'window_seconds'>;

/** A rolling window is counted in sixtieths, each until the whole window has passed since its end. */
function slotAt(
  { window, window_seconds = 0 }: Window,
  at_ms: number,
): { starts_ms: number; until_ms: number } {
  if (window === 'ROLLING') {
    const step_ms = Math.ceil(window_seconds / 60) * 1000;
    const starts_ms = at_ms - (at_ms % step_ms);
    return { starts_ms, until_ms: starts_ms + step_ms + window_seconds * 1000 };
  }
  const local = new Date(at_ms + OFFSET_MS);
  const [year, month, date] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const monday = date - ((local.getUTCDay() + 6) % 7);
  const [from, to] =
    window === 'MONTH'
      ? [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)]
      : window === 'WEEK'
        ? [Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7)]
        : [Date.UTC(year, month, date), Date.UTC(year, month, date) + DAY_MS];
  return { starts_ms: from - OFFSET_MS, until_ms: to - OFFSET_MS };
}

/** Whatever its name and its numbers are, a limit that counts the same is the same counter. */
const counterOf = ({ window, window_seconds, per }: ModelLimit) =>
  JSON.stringify(['vel', window, window_seconds, per]);
const subjectOf = ({ per }: ModelLimit, { merchant, payee }: Pick<ModelSpend, 'merchant' | 'payee'>) =>
  per === 'MERCHANT' ? merchant : per === 'PAYEE' ? (payee ?? '') : '';
/** A limit of review on payees says nothing of a spend that names none. */
const isOf = (limit: ModelLimit, { payee }: Pick<ModelSpend, 'payee'>) =>
  limit.per !== 'PAYEE' || payee !== null || limit.on_exceeded !== 'REVIEW';

const duplicateCounter = (seconds: number) => JSON.stringify(['dup', seconds]);
type Asked = Pick<ModelSpend, 'merchant' | 'payee'> & { requested: number };
const anyPayee = ({ merchant, requested }: Asked) => JSON.stringify([merchant, requested]);
const ofPayee = ({ merchant, requested }: Asked, payee: string | null) =>
  JSON.stringify([merchant, requested, payee]);

/** Where a spend counts under an authority. */
function placesOf(terms: ModelTerms, spend: Asked, at_ms: number): Place[] {
  const places = terms.limits.map((limit) => ({
    counter: counterOf(limit),
    subject: subjectOf(limit, spend),
    ...slotAt(limit, at_ms),
  }));
  if (terms.duplicates === null) return places;
  const { seconds } = terms.duplicates;
  const slot = slotAt({ window: 'ROLLING', window_seconds: seconds }, at_ms);
  const subjects = [anyPayee(spend), ofPayee(spend, spend.payee)];
  const counter = duplicateCounter(seconds);
  return [...places, ...subjects.map((subject) => ({ counter, subject, ...slot }))];
}

const counts = ({ hold }: ModelDecision) => hold === 'HELD' || hold === 'COMMITTED';

/** What is in a counter at a moment. */
export function useOf(
  model: Model,
  agent: ModelAgent,
  { counter, subject }: Pick<Place, 'counter' | 'subject'>,
  at_ms: number,
): { count: number; amount: number } {
  const rows = rowsOf(model, agent).filter(
    (row) => row.counter === counter && row.subject === subject && row.until_ms > at_ms,
  );
  return {
    count: rows.reduce((sum, { count }) => sum + count, 0),
    amount: rows.reduce((sum, { amount }) => sum + amount, 0),
  };
}

/** Every place of an agent in which something was counted, with what counts there now. */
export function rowsOf(model: Model, agent: ModelAgent): (Place & { count: number; amount: number })[] {
  const rows = new Map<string, Place & { count: number; amount: number }>();
  const add = (place: Place, count: number, amount: number) => {
    const { count: before, amount: sum } = rows.get(nameOf(place)) ?? { count: 0, amount: 0 };
    rows.set(nameOf(place), { ...place, count: before + count, amount: sum + amount });
  };
  for (const d of model.decisions) {
    if (d.agent === agent && counts(d)) for (const place of d.places) add(place, 1, d.paced);
  }
  return [...rows.values()];
}

const RANK = { ALLOW: 0, REVIEW: 1, DENY: 2 };
type Kind = keyof typeof RANK;
const stricter = (one: Kind, other: Kind) => (RANK[other] > RANK[one] ? other : one);

/** What limits over time say of a spend, capped to `amount` by what stands before them. */
export function judgeLimits(
  model: Model,
  agent: ModelAgent,
  { amount, limitable, ...spend }: ModelSpend,
  at_ms: number,
): { kind: Kind; amount: number } {
  let kind: Kind = 'ALLOW';
  let capped = amount;
  for (const limit of agent.authority.limits) {
    if (!isOf(limit, spend)) continue;
    const { limit_amount_minor = Number.POSITIVE_INFINITY, limit_count = Number.POSITIVE_INFINITY } = limit;
    const place = { counter: counterOf(limit), subject: subjectOf(limit, spend) };
    const use = useOf(model, agent, place, at_ms);
    const on = limit.on_exceeded ?? 'DENY';
    const left = limit_amount_minor - use.amount;
    if (capped > left) {
      if (on === 'DENY' && limitable && left > 0) capped = left;
      else kind = stricter(kind, on);
    }
    if (use.count + 1 > limit_count) kind = stricter(kind, on);
  }
  return { kind, amount: capped };
}

/** What is said of a spend for whom it pays, and for whether it was asked for before. `amount`: as limits have capped it. */
export function judgeMerchant(
  model: Model,
  agent: ModelAgent,
  spend: Asked & { amount: number },
  at_ms: number,
): Kind {
  const { allowed, duplicates, new_merchant } = agent.authority;
  let kind: Kind = 'ALLOW';
  if (allowed !== null && !allowed.merchants.includes(spend.merchant)) kind = stricter(kind, allowed.on);
  if (duplicates !== null) {
    const counter = duplicateCounter(duplicates.seconds);
    const subjects =
      spend.payee === null ? [anyPayee(spend)] : [ofPayee(spend, spend.payee), ofPayee(spend, null)];
    const found = subjects.some((subject) => useOf(model, agent, { counter, subject }, at_ms).count > 0);
    if (found) kind = stricter(kind, duplicates.on);
  }
  if (
    new_merchant !== null &&
    !model.known.has(knownAs(agent, spend)) &&
    spend.amount > new_merchant.threshold
  )
    kind = stricter(kind, new_merchant.on);
  return kind;
}

/** What a merchant is known by: the payee where one is named. */
export const knownAs = ({ slug }: ModelAgent, { merchant, payee }: Pick<ModelSpend, 'merchant' | 'payee'>) =>
  JSON.stringify(payee === null ? [slug, merchant] : [slug, null, payee]);

/** A decision that was made at that moment counts where its authority says. */
export function count(d: ModelDecision, at_ms: number): void {
  d.made_ms = at_ms;
  d.places = placesOf(d.agent.authority, d, at_ms);
}

/** An agent gets another authority: limits that it did not have count what was spent before them, whatever becomes of it. */
export function join(model: Model, agent: ModelAgent, after: ModelTerms): void {
  const countersOf = ({ limits, duplicates }: ModelTerms) =>
    new Set([
      ...limits.map(counterOf),
      ...(duplicates === null ? [] : [duplicateCounter(duplicates.seconds)]),
    ]);
  const before = countersOf(agent.authority);
  const added = [...countersOf(after)].filter((counter) => !before.has(counter));
  for (const d of model.decisions.filter((each) => each.agent === agent)) {
    const has = new Set(d.places.map(({ counter }) => counter));
    for (const place of placesOf(after, d, d.made_ms)) {
      if (added.includes(place.counter) && !has.has(place.counter)) d.places.push(place);
    }
  }
}

/**
 * By how much a decision that was just made breaks one of its limits, told by the spends themselves and not by any slot:
 * those within the window that ends with it, wherever that begins. Empty where all hold.
 */
export function broken(model: Model, made: ModelDecision): string[] {
  const { agent, made_ms: at_ms } = made;
  if (made.kind === 'DENY') return [];
  return agent.authority.limits.flatMap((limit) => {
    if (limit.on_exceeded === 'REVIEW') return [];
    const { limit_amount_minor = Number.POSITIVE_INFINITY, limit_count = Number.POSITIVE_INFINITY } = limit;
    const counter = counterOf(limit);
    const from_ms =
      limit.window === 'ROLLING'
        ? at_ms - (limit.window_seconds as number) * 1000 + 1
        : slotAt(limit, at_ms).starts_ms;
    const within = model.decisions.filter(
      (d) =>
        d.agent === agent &&
        counts(d) &&
        d.made_ms >= from_ms &&
        subjectOf(limit, d) === subjectOf(limit, made),
    );
    const amounts = within.flatMap((d) =>
      d.places.some((place) => place.counter === counter) ? d.paced : [],
    );
    const sum = amounts.reduce((total, amount) => total + amount, 0);
    return sum <= limit_amount_minor && amounts.length <= limit_count
      ? []
      : `${limit.name}: ${sum} in ${amounts.length} spends`;
  });
}
