/**
 * A small reference model of spends, written from the wire contract and sharing no code with the service: agents,
 * budgets, holds, reviews, capabilities, outcomes. Times in ms, amounts in minor units of one currency.
 */

import {
  count,
  judgeLimits,
  judgeMerchant,
  knownAs,
  type ModelSpend,
  type ModelTerms,
  type Place,
} from './limits-model.ts';

export const REVIEW_TTL_MS = 600_000;
export const CAPABILITY_TTL_MS = 60_000;
/** Batches drift ahead of a standing clock by a millisecond each; no deadline lies nearer to it than this. */
const CLEARANCE_MS = 5_000;

export interface ModelAuthority extends ModelTerms {
  per_transaction: number;
  threshold: number;
  budget: number;
}

export interface ModelAgent {
  slug: string;
  mode: 'SHADOW' | 'ENFORCE';
  status: 'active' | 'paused' | 'revoked';
  authority: ModelAuthority;
}

export type Source = 'CLIENT_REPORTED' | 'PAYMENT_RAIL';
export type SettlementType = 'SPEND_EXECUTED' | 'SPEND_FAILED' | 'SPEND_CANCELLED';
export interface ModelReport {
  type: SettlementType | 'PARTIALLY_REFUNDED' | 'REFUNDED';
  amount: number | null;
  reference: string | null;
  source: Source;
}

export interface ModelDecision {
  id: string;
  agent: ModelAgent;
  mode: 'SHADOW' | 'ENFORCE';
  kind: 'ALLOW' | 'REVIEW' | 'DENY';
  /** What was held when it was made; 0 for a denial. */
  amount: number;
  authority: string;
  merchant: string;
  payee: string | null;
  requested: number;
  made_ms: number;
  /** Where it counts for the limits over time of its authority, and of those that joined later. */
  places: Place[];
  /** What it counts for there: what was spent, refunded or not. */
  paced: number;
  period: string;
  hold: 'HELD' | 'COMMITTED' | 'RELEASED' | 'EXPIRED' | 'NONE';
  /** What is held, or was spent and not given back, or was let go. */
  counted: number;
  hold_ends: number | null;
  /** How often the hold ran out by itself. */
  ran_out: number;
  review: 'PENDING' | 'ALLOWED' | 'DENIED' | 'EXPIRED' | null;
  review_ends: number | null;
  review_id: string | null;
  label_id: string | null;
  capability: { status: 'ISSUED' | 'CONSUMED' | 'REVOKED'; ends: number } | null;
  reports: ModelReport[];
}

export interface Model {
  now_ms: number;
  agents: ModelAgent[];
  decisions: ModelDecision[];
  /** Whom agents are known to have paid. */
  known: Set<string>;
}

export const hashOf = (authority: ModelAuthority) => JSON.stringify(Object.values(authority));
const periodAt = (ms: number) => new Date(ms).toISOString().slice(0, 7);

/** The moment itself, or a little later: none at which anything runs out. */
export function clearMoment(model: Model, wanted_ms: number): number {
  const deadlines = model.decisions.flatMap((d) => [d.hold_ends, d.review_ends, d.capability?.ends ?? null]);
  let at = wanted_ms;
  while (deadlines.some((ms) => ms !== null && Math.abs(ms - at) < CLEARANCE_MS)) at += CLEARANCE_MS;
  return at;
}

/** Time passes: what runs out does. */
export function moveTo(model: Model, now_ms: number): void {
  model.now_ms = now_ms;
  for (const d of model.decisions) {
    if (d.hold === 'HELD' && d.hold_ends !== null && d.hold_ends <= now_ms) {
      d.hold = 'EXPIRED';
      d.ran_out += 1;
    }
    if (d.review === 'PENDING' && d.review_ends !== null && d.review_ends <= now_ms) d.review = 'EXPIRED';
  }
}

export function counter(
  model: Model,
  agent: ModelAgent,
  period: string,
): { held: number; committed: number } {
  const of = model.decisions.filter((d) => d.agent === agent && d.period === period);
  const sum = (hold: string) => of.filter((d) => d.hold === hold).reduce((total, d) => total + d.counted, 0);
  return { held: sum('HELD'), committed: sum('COMMITTED') };
}

/** What is decided at that moment of a spend that serves its purpose. */
export function judge(model: Model, agent: ModelAgent, spend: ModelSpend, at_ms: number): ModelDecision {
  const { authority } = agent;
  const { amount: requested, limitable, merchant, payee } = spend;
  const period = periodAt(at_ms);
  const { held, committed } = counter(model, agent, period);
  const left = authority.budget - held - committed;
  let is_denied = false;
  let capped = requested;
  if (capped > authority.per_transaction) {
    if (limitable) capped = authority.per_transaction;
    else is_denied = true;
  }
  const limits = judgeLimits(model, agent, { ...spend, amount: capped }, at_ms);
  capped = limits.amount;
  if (capped > left) {
    if (limitable && left > 0) capped = left;
    else is_denied = true;
  }
  const said = [
    limits.kind,
    judgeMerchant(model, agent, { merchant, payee, requested, amount: capped }, at_ms),
  ];
  const kind =
    is_denied || said.includes('DENY')
      ? 'DENY'
      : said.includes('REVIEW') || capped > authority.threshold
        ? 'REVIEW'
        : 'ALLOW';
  const holds = kind !== 'DENY';
  return {
    id: '',
    agent,
    mode: agent.mode,
    kind,
    amount: holds ? capped : 0,
    authority: hashOf(authority),
    merchant,
    payee,
    requested,
    made_ms: at_ms,
    places: [],
    paced: holds ? capped : 0,
    period,
    hold: holds ? 'HELD' : 'NONE',
    counted: holds ? capped : 0,
    hold_ends: null,
    ran_out: 0,
    review: kind === 'REVIEW' ? 'PENDING' : null,
    review_ends: null,
    review_id: null,
    label_id: null,
    capability: null,
    reports: [],
  };
}

/** Adds a decision that was made at that moment. */
export function add(model: Model, d: ModelDecision, made_ms: number): void {
  if (d.mode === 'ENFORCE' && d.kind === 'ALLOW') {
    d.capability = { status: 'ISSUED', ends: made_ms + CAPABILITY_TTL_MS };
    if (d.payee !== null) d.hold_ends = d.capability.ends;
  }
  if (d.mode === 'ENFORCE' && d.kind === 'REVIEW') {
    d.review_ends = made_ms + REVIEW_TTL_MS;
    d.hold_ends = d.review_ends;
  }
  count(d, made_ms);
  model.decisions.push(d);
}

/** The code of the refusal, or null: the review is recorded. */
export function review(
  d: ModelDecision,
  given: { action: 'ALLOW' | 'DENY'; supersedes: string | null; own: boolean },
): string | null {
  if (d.kind !== 'REVIEW') return 'not_reviewable';
  if (given.own) return 'self_review_forbidden';
  if (d.mode === 'ENFORCE' && d.review !== 'PENDING') return 'review_final';
  if (given.supersedes !== d.review_id) return 'invalid_request';
  if (d.mode === 'ENFORCE' && given.action === 'ALLOW' && d.authority !== hashOf(d.agent.authority)) {
    return 'authority_changed';
  }
  return null;
}

/** A review that was recorded at that moment takes effect. */
export function reviewed(
  model: Model,
  d: ModelDecision,
  action: 'ALLOW' | 'DENY',
  review_id: string,
  at_ms: number,
): void {
  if (action === 'ALLOW') model.known.add(knownAs(d.agent, d));
  d.review_id = review_id;
  d.review = action === 'ALLOW' ? 'ALLOWED' : 'DENIED';
  d.review_ends = null;
  d.hold_ends = null;
  if (action === 'DENY' && d.hold === 'HELD') d.hold = 'RELEASED';
  if (action === 'ALLOW' && d.mode === 'ENFORCE' && d.hold === 'HELD') {
    d.capability = { status: 'ISSUED', ends: at_ms + CAPABILITY_TTL_MS };
    if (d.payee !== null) d.hold_ends = d.capability.ends;
  }
}

export function capabilityStatus(model: Model, d: ModelDecision): string | null {
  if (d.capability === null) return null;
  if (d.capability.status !== 'ISSUED') return d.capability.status;
  if (d.agent.status === 'revoked') return 'REVOKED';
  return d.capability.ends <= model.now_ms ? 'EXPIRED' : 'ISSUED';
}

/** The code of the refusal, or null: it is consumed. */
export function consume(
  model: Model,
  d: ModelDecision,
  given: { amount: number; payee: string | null },
): string | null {
  if (d.capability === null) return 'not_found';
  if (d.agent.status !== 'active') return 'agent_not_active';
  const status = capabilityStatus(model, d);
  if (status === 'CONSUMED') return 'capability_used';
  if (status === 'REVOKED') return 'capability_revoked';
  if (status === 'EXPIRED') return 'capability_expired';
  if (d.authority !== hashOf(d.agent.authority)) return 'authority_changed';
  if (d.payee !== null && given.payee !== d.payee) return 'payee_mismatch';
  if (given.amount > d.amount) return 'amount_exceeds_authorized';
  d.capability.status = 'CONSUMED';
  d.hold_ends = null;
  return null;
}

const isRefund = (type: string) => type.endsWith('REFUNDED');
const settlementsBy = (d: ModelDecision, source: Source) =>
  d.reports.filter((each) => each.source === source && !isRefund(each.type));
/** The rail may raise what it executed, so its last word counts. */
const settledBy = (d: ModelDecision, source: Source) => settlementsBy(d, source).at(-1);
/** Returns whether the rail ever reported the same as the client. */
const agreed = (d: ModelDecision, client: ModelReport) =>
  settlementsBy(d, 'PAYMENT_RAIL').some((rail) => same(rail, client));
const refundsBy = (d: ModelDecision, source: Source) =>
  d.reports.filter((each) => each.source === source && isRefund(each.type));
const total = (reports: ModelReport[]) => reports.reduce((sum, each) => sum + (each.amount ?? 0), 0);
const same = (one: ModelReport | undefined, other: ModelReport | undefined) =>
  one?.type === other?.type &&
  (one?.type !== 'SPEND_EXECUTED' || one.amount === (other as ModelReport).amount);

/** The settlement in force: the rail's word over the client's. */
const truth = (d: ModelDecision) => settledBy(d, 'PAYMENT_RAIL') ?? settledBy(d, 'CLIENT_REPORTED');

/**
 * The client's refunds that are others than the rail's. Every refund carries a reference: one of the rail's answers for one
 * of the client's of the same reference, first where the amounts are the same too.
 */
function besideRail(d: ModelDecision, rail = refundsBy(d, 'PAYMENT_RAIL')): ModelReport[] {
  const free = [...rail];
  const isOther = (each: ModelReport, amount_counts: boolean) => {
    const found = free.findIndex(
      (one) => one.reference === each.reference && (!amount_counts || one.amount === each.amount),
    );
    if (found >= 0) free.splice(found, 1);
    return found < 0;
  };
  return refundsBy(d, 'CLIENT_REPORTED')
    .filter((each) => isOther(each, true))
    .filter((each) => isOther(each, false));
}

/** What was given back by what all say. */
function refunded(d: ModelDecision): number {
  const executed = truth(d);
  if (executed?.type !== 'SPEND_EXECUTED') return 0;
  const rail = refundsBy(d, 'PAYMENT_RAIL');
  const together = total(rail) + total(besideRail(d));
  if (together <= (executed.amount as number)) return together;
  return rail.length > 0 ? total(rail) : (executed.amount as number);
}

export function outcomeState(d: ModelDecision): string {
  const settled = truth(d);
  if (settled === undefined) return 'NONE';
  if (settled.type !== 'SPEND_EXECUTED') return settled.type.slice('SPEND_'.length);
  const back = refunded(d);
  return back === 0 ? 'EXECUTED' : back < (settled.amount as number) ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
}

export function verified(d: ModelDecision): boolean {
  const rail = settledBy(d, 'PAYMENT_RAIL');
  const client = settledBy(d, 'CLIENT_REPORTED');
  const is_agreed = rail !== undefined && (client === undefined || agreed(d, client));
  return is_agreed && refunded(d) === total(refundsBy(d, 'PAYMENT_RAIL'));
}

export const inForce = (d: ModelDecision): string => {
  if (d.mode === 'SHADOW') return 'ALLOW';
  return d.review === 'ALLOWED' ? 'ALLOW' : d.review === 'DENIED' ? 'DENY' : d.kind;
};
export const authorized = (d: ModelDecision): number =>
  d.kind === 'ALLOW' || (d.kind === 'REVIEW' && d.review === 'ALLOWED') ? d.amount : 0;

/** Records a report: how it is answered, and with which flags. */
export function report(
  model: Model,
  d: ModelDecision,
  given: ModelReport,
): { answer: 'recorded' | 'repeated' | 'outcome_conflict'; flags: string[]; amount: number | null } {
  const repeat = d.reports.find(
    (each) =>
      each.type === given.type &&
      each.source === given.source &&
      each.reference === given.reference &&
      (each.amount === given.amount || given.type === 'REFUNDED'),
  );
  if (repeat !== undefined) return { answer: 'repeated', flags: [], amount: repeat.amount };
  const conflict = { answer: 'outcome_conflict' as const, flags: [], amount: null };
  const rail = settledBy(d, 'PAYMENT_RAIL');
  const client = settledBy(d, 'CLIENT_REPORTED');
  const flags: string[] = [];
  let { amount } = given;
  if (isRefund(given.type)) {
    const from_rail = given.source === 'PAYMENT_RAIL';
    const base = from_rail ? rail : truth(d);
    if (base?.type !== 'SPEND_EXECUTED') return conflict;
    const said_by_rail =
      !from_rail &&
      refundsBy(d, 'PAYMENT_RAIL').some(
        (e) => e.reference === given.reference && e.amount === given.amount,
      ) &&
      !refundsBy(d, 'CLIENT_REPORTED').some(
        (e) => e.reference === given.reference && e.amount === given.amount,
      );
    if (!said_by_rail) {
      const back = from_rail ? total(refundsBy(d, 'PAYMENT_RAIL')) : refunded(d);
      const left = (base.amount as number) - back;
      amount ??= left;
      if (left <= 0 || amount > left) return conflict;
      const claimed = total(refundsBy(d, 'CLIENT_REPORTED')) + amount;
      const is_part = given.type === 'PARTIALLY_REFUNDED';
      if (!from_rail && is_part && claimed > (base.amount as number)) return conflict;
    }
    if (from_rail) {
      const after = [...refundsBy(d, 'PAYMENT_RAIL'), { ...given, amount }];
      const others = besideRail(d, after);
      const executed = base.amount as number;
      if (total(after) < executed && total(after) + total(others) > executed)
        flags.push('CONTRADICTS_CLIENT');
    }
  } else {
    const from_rail = given.source === 'PAYMENT_RAIL';
    if (!from_rail && (client !== undefined || (rail !== undefined && !agreed(d, given)))) return conflict;
    const raises = rail?.type === 'SPEND_EXECUTED' && given.type === 'SPEND_EXECUTED';
    const before = rail?.amount ?? 0;
    if (from_rail && rail !== undefined && (!raises || (given.amount as number) < before)) return conflict;
    if (given.type === 'SPEND_EXECUTED') {
      if ((given.amount as number) > authorized(d)) flags.push('OVER_AUTHORIZED');
      if (d.mode === 'ENFORCE' && inForce(d) !== 'ALLOW') flags.push('UNAUTHORIZED_EXECUTION');
      if (d.hold === 'RELEASED' || d.hold === 'EXPIRED') flags.push('LATE');
    }
    if (from_rail && client !== undefined && !same(client, given) && !agreed(d, client)) {
      flags.push('CONTRADICTS_CLIENT');
    }
    if (from_rail && raises && (given.amount as number) > before) flags.push('ADJUSTED');
  }
  d.reports.push({ ...given, amount });
  const was_allowed = d.kind === 'ALLOW' || (d.kind === 'REVIEW' && d.review === 'ALLOWED');
  if (given.type === 'SPEND_EXECUTED' && given.source === 'PAYMENT_RAIL' && was_allowed)
    model.known.add(knownAs(d.agent, d));
  settle(d);
  return { answer: 'recorded', flags, amount };
}

/** The money follows what was reported. */
function settle(d: ModelDecision): void {
  const used = d.capability?.status === 'CONSUMED';
  if (d.capability?.status === 'ISSUED') d.capability.status = 'REVOKED';
  if (d.mode === 'SHADOW' && d.kind === 'DENY') return;
  const rail = settledBy(d, 'PAYMENT_RAIL');
  const settled = truth(d) as ModelReport;
  const commit = (amount: number, spent: number) => {
    d.hold = 'COMMITTED';
    d.counted = amount;
    d.paced = spent;
    d.hold_ends = null;
  };
  if (used && rail === undefined) {
    // Until the rail has spoken at least what was held counts, whatever the client says.
    const claimed = Math.max(d.amount, settled.amount ?? 0);
    if (settled.type === 'SPEND_EXECUTED') commit(claimed, claimed);
  } else if (settled.type === 'SPEND_EXECUTED') {
    const back = used ? total(refundsBy(d, 'PAYMENT_RAIL')) : refunded(d);
    const spent = settled.amount as number;
    commit(spent - back, spent);
  } else if (d.hold === 'HELD' || d.hold === 'COMMITTED') {
    d.hold = 'RELEASED';
    d.hold_ends = null;
  }
}
