import { canonicalJson } from '../values/canonical-json.ts';
import type { Purpose } from './authorities.ts';
import { apply, beginHistory, type DecisionEvent } from './decision-history.ts';
import { stateAt } from './decision-states.ts';
import { type DecisionCore, effectiveDecision } from './decisions.ts';
import type { Label } from './labels.ts';
import { sha256, shownHash } from './ledger.ts';
import { summarizeOutcomes } from './outcomes.ts';
import { reportsOfAtLeast, trustOfReport } from './trust.ts';

export const FEEDBACK_KINDS = ['merchant', 'payee', 'word'] as const;
export type FeedbackKind = (typeof FEEDBACK_KINDS)[number];

/** What one decision teaches, by what was recorded of it: people's words, and what the payment rail settled. */
export interface Lesson {
  allowed: boolean;
  denied: boolean;
  aligned: boolean;
  misaligned: boolean;
  paid: boolean;
  /** The amount that a person or the rail vouches for, in minor units; null: nobody does. */
  vouched_minor: number | null;
}

export const NO_LESSON: Lesson = {
  allowed: false,
  denied: false,
  aligned: false,
  misaligned: false,
  paid: false,
  vouched_minor: null,
};

/** Whether a decision teaches nothing. */
export function isNoLesson(lesson: Lesson): boolean {
  return (Object.keys(NO_LESSON) as (keyof Lesson)[]).every((name) => lesson[name] === NO_LESSON[name]);
}

/**
 * What a decision teaches after these events, which come in the order of the ledger. A spend counts as paid where the
 * rail executed it while it was in force: where the decision, or a person's review of it, was ALLOW at that moment. In
 * SHADOW too: nothing stopped the spend, but that is nobody's word for it. No word of an agent's teaches anything. The
 * amount is what the rail executed; where only a person vouches, what was held for the spend, or asked for on a DENY.
 */
export function lessonOf(made: DecisionCore, events: readonly DecisionEvent[]): Lesson {
  let history = beginHistory(made);
  let was_in_force = false;
  let label: Label['label'] | null = null;
  for (const event of events) {
    if (event.type === 'decision.label.recorded') label = event.label.label;
    if (event.type === 'decision.outcome.recorded' && trustOfReport(event.report) === 'RAIL') {
      const { review_state } = stateAt(made, history.state, Date.parse(event.at));
      was_in_force ||=
        event.report.type === 'SPEND_EXECUTED' &&
        effectiveDecision('ENFORCE', made.decision, review_state) === 'ALLOW';
    }
    history = apply(history, event);
  }
  const settled = summarizeOutcomes(reportsOfAtLeast('RAIL', history.reports));
  const { review_state } = history.state;
  const paid =
    was_in_force && (settled.outcome_state === 'EXECUTED' || settled.outcome_state === 'PARTIALLY_REFUNDED');
  const allowed = review_state === 'ALLOWED';
  const aligned = label === 'PURPOSE_ALIGNED';
  const asked_minor = made.reservation.amount_minor || made.action.amount_minor;
  return {
    allowed,
    denied: review_state === 'DENIED',
    aligned,
    misaligned: label === 'PURPOSE_MISALIGNED',
    paid,
    vouched_minor: paid ? settled.executed_minor : allowed || aligned ? asked_minor : null,
  };
}

/** A decision's lesson with what it is about. */
export interface DecisionLesson extends Lesson {
  decision_id: string;
  agent_id: string;
  purpose_hash: string;
  /** By the name that feedback go by. */
  merchant: string;
  payee_id: string | null;
  /** Of the description, where people labelled the spend. */
  words: string[];
  currency: string;
}

/** The names by which the assessor of purpose knows a merchant and the words of a description. */
export interface SpendNames {
  merchant(merchant: string): string;
  words(description: string): string[];
}

/** The sum of what an agent's spends under one purpose taught, at one merchant, payee or word. */
export interface FeedbackRow {
  agent_id: string;
  purpose_hash: string;
  kind: FeedbackKind;
  name: string;
  allowed: number;
  denied: number;
  aligned: number;
  misaligned: number;
  paid: number;
  /** Of a merchant: lowest and highest amount that is vouched for, by currency, in minor units. */
  usual_minor: Record<string, { low: number; high: number }>;
  /** Of a merchant: payees of spends that are vouched for, in the order of their names. */
  payee_ids: string[];
}

/** Payees remembered of one merchant, the first by name: a spend to any other is one to another payee. */
export const MAX_PAYEES = 20;

/** What names a sum. */
export type FeedbackPlace = Pick<FeedbackRow, 'agent_id' | 'purpose_hash' | 'kind' | 'name'>;

/** The sums that a lesson belongs to: its merchant's, its payee's and its words'. */
export function placesOf(lesson: DecisionLesson): FeedbackPlace[] {
  const { agent_id, purpose_hash, merchant, payee_id, words } = lesson;
  const place = (kind: FeedbackKind, name: string) => ({ agent_id, purpose_hash, kind, name });
  return [
    place('merchant', merchant),
    ...(payee_id === null ? [] : [place('payee', payee_id)]),
    ...words.map((word) => place('word', word)),
  ];
}

/** A sum of nothing. */
export function emptyFeedback(place: FeedbackPlace): FeedbackRow {
  const { agent_id, purpose_hash, kind, name } = place;
  const counts = { allowed: 0, denied: 0, aligned: 0, misaligned: 0, paid: 0 };
  return { agent_id, purpose_hash, kind, name, ...counts, usual_minor: {}, payee_ids: [] };
}

/** A sum with a lesson more (`sign` 1) or less (-1). What is vouched for is only added here: see `isTakenBack`. */
export function addLesson(row: FeedbackRow, lesson: DecisionLesson, sign: 1 | -1): FeedbackRow {
  const changed = { ...row };
  for (const name of ['allowed', 'denied', 'aligned', 'misaligned', 'paid'] as const) {
    changed[name] += sign * Number(lesson[name]);
  }
  const { vouched_minor, currency, payee_id } = lesson;
  if (sign < 0 || row.kind !== 'merchant' || vouched_minor === null) return changed;
  const known = row.usual_minor[currency] ?? { low: vouched_minor, high: vouched_minor };
  const usual = { low: Math.min(known.low, vouched_minor), high: Math.max(known.high, vouched_minor) };
  return {
    ...changed,
    usual_minor: { ...row.usual_minor, [currency]: usual },
    payee_ids:
      payee_id === null
        ? row.payee_ids
        : [...new Set([...row.payee_ids, payee_id])].sort().slice(0, MAX_PAYEES),
  };
}

/** Whether something vouched for before no longer is: then the merchant's amounts and payees must be gathered anew. */
export function isTakenBack(before: Lesson | undefined, now: Lesson): boolean {
  const vouched_before = before?.vouched_minor ?? null;
  return vouched_before !== null && vouched_before !== now.vouched_minor;
}

/** Names a purpose by its content: what was said under one purpose says nothing under another. */
export function purposeHash(purpose: Purpose): string {
  return shownHash(sha256(canonicalJson(purpose)));
}
