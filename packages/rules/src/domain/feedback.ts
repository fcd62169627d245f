import type { Purpose } from '@purser/contract/authority';
import type { Label } from '@purser/contract/records';
import { canonicalJson } from '../values/canonical-json.ts';
import { apply, beginHistory, type DecisionEvent } from './decision-history.ts';
import { stateAt } from './decision-states.ts';
import { type DecisionCore, effectiveDecision } from './decisions.ts';
import { sha256, shownHash } from './ledger.ts';
import { summarizeOutcomes } from './outcomes.ts';
import { reportsOfAtLeast, trustOfReport } from './trust.ts';

/** The feedback of one decision: what people recorded about it, and what the payment rail settled. */
export interface Lesson {
  allowed: boolean;
  denied: boolean;
  aligned: boolean;
  misaligned: boolean;
  paid: boolean;
  /** The amount that a person or the rail vouches for, in minor units; null: no one does. */
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

/** Returns true if a lesson is empty. */
export function isNoLesson(lesson: Lesson): boolean {
  return (Object.keys(NO_LESSON) as (keyof Lesson)[]).every((name) => lesson[name] === NO_LESSON[name]);
}

/**
 * The lesson of a decision after these events, which come in the order of the ledger. A spend counts as paid where the
 * rail executed it while the decision, or a person's review of it, was ALLOW. That holds in SHADOW too, where nothing stops
 * a spend: that it went through is no one's approval. A client's reports teach nothing, and no lease does. The amount is what the rail
 * executed; where only a person vouches, what was held for the spend, or requested on a DENY.
 */
export function lessonOf(decision: DecisionCore, events: readonly DecisionEvent[]): Lesson {
  if (decision.lease === true) return NO_LESSON;
  let history = beginHistory(decision);
  let was_in_force = false;
  let label: Label['label'] | null = null;
  for (const event of events) {
    if (event.type === 'decision.label.recorded') label = event.label.label;
    if (event.type === 'decision.outcome.recorded' && trustOfReport(event.report) === 'RAIL') {
      const { review_state } = stateAt(decision, history.state, Date.parse(event.at));
      was_in_force ||=
        event.report.type === 'SPEND_EXECUTED' &&
        effectiveDecision('ENFORCE', decision.decision, review_state) === 'ALLOW';
    }
    history = apply(history, event);
  }
  const settled = summarizeOutcomes(reportsOfAtLeast('RAIL', history.reports));
  const { review_state } = history.state;
  const paid =
    was_in_force && (settled.outcome_state === 'EXECUTED' || settled.outcome_state === 'PARTIALLY_REFUNDED');
  const allowed = review_state === 'ALLOWED';
  const aligned = label === 'PURPOSE_ALIGNED';
  const asked_minor = decision.reservation.amount_minor || decision.action.amount_minor;
  return {
    allowed,
    denied: review_state === 'DENIED',
    aligned,
    misaligned: label === 'PURPOSE_MISALIGNED',
    paid,
    vouched_minor: paid ? settled.executed_minor : allowed || aligned ? asked_minor : null,
  };
}

/** A decision's lesson with its subject. */
export interface DecisionLesson extends Lesson {
  decision_id: string;
  agent_id: string;
  purpose_hash: string;
  /** The name under which its feedback is summed. */
  merchant: string;
  payee_id: string | null;
  /** Words of the description, where a person spoke of the spend. */
  words: string[];
  currency: string;
}

/** How the assessor names a merchant and the words of a description. */
export interface SpendNames {
  merchant(merchant: string): string;
  words(description: string): string[];
}

/**
 * The sum of the lessons of an agent's spends with one merchant and payee under one purpose: of all of them, or of those
 * whose description has one word. Under which purpose something was said is kept because a later change of the purpose may
 * touch it; whether it does is judged when the sums are read.
 */
export interface FeedbackRow {
  agent_id: string;
  purpose_hash: string;
  merchant: string;
  /** Empty where none was named. */
  payee_id: string;
  /** Empty: all spends. */
  word: string;
  allowed: number;
  denied: number;
  aligned: number;
  misaligned: number;
  paid: number;
  /** Only of all spends: the lowest and highest amount vouched for, by currency, in minor units. */
  usual_minor: Record<string, { low: number; high: number }>;
}

/** The key of a sum. */
export type FeedbackPlace = Pick<FeedbackRow, 'agent_id' | 'purpose_hash' | 'merchant' | 'payee_id' | 'word'>;

/** The sums that a lesson adds to: that of its merchant and payee, first, and those of its words there. */
export function placesOf({
  agent_id,
  purpose_hash,
  merchant,
  payee_id,
  words,
}: DecisionLesson): FeedbackPlace[] {
  return ['', ...words].map((word) => ({
    agent_id,
    purpose_hash,
    merchant,
    payee_id: payee_id ?? '',
    word,
  }));
}

/** A sum without lessons. */
export function emptyFeedback({
  agent_id,
  purpose_hash,
  merchant,
  payee_id,
  word,
}: FeedbackPlace): FeedbackRow {
  const counts = { allowed: 0, denied: 0, aligned: 0, misaligned: 0, paid: 0 };
  return { agent_id, purpose_hash, merchant, payee_id, word, ...counts, usual_minor: {} };
}

/** Adds a lesson to a sum, or subtracts it (`sign` -1). Amounts are never subtracted: see `isWithdrawn`. */
export function addLesson(row: FeedbackRow, lesson: DecisionLesson, sign: 1 | -1): FeedbackRow {
  const changed = { ...row };
  for (const name of ['allowed', 'denied', 'aligned', 'misaligned', 'paid'] as const) {
    changed[name] += sign * Number(lesson[name]);
  }
  const { vouched_minor, currency } = lesson;
  if (sign < 0 || row.word !== '' || vouched_minor === null) return changed;
  const known = row.usual_minor[currency] ?? { low: vouched_minor, high: vouched_minor };
  const usual = { low: Math.min(known.low, vouched_minor), high: Math.max(known.high, vouched_minor) };
  return { ...changed, usual_minor: { ...row.usual_minor, [currency]: usual } };
}

/** Returns true if an amount is no longer vouched for. Then the amounts there must be computed from all lessons. */
export function isWithdrawn(before: Lesson | undefined, now: Lesson): boolean {
  const before_minor = before?.vouched_minor ?? null;
  return before_minor !== null && before_minor !== now.vouched_minor;
}

/** `sha256:` + hex SHA-256 of the RFC 8785 form of a purpose. */
export function purposeHash(purpose: Purpose): string {
  return shownHash(sha256(canonicalJson(purpose)));
}
