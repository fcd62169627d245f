import type { Purpose } from './authorities.ts';
import { canonicalJson } from './canonical-json.ts';
import type { DecisionState } from './decision-states.ts';
import type { Label } from './labels.ts';
import { sha256, shownHash } from './ledger.ts';

export const DEALING_KINDS = ['merchant', 'payee', 'word'] as const;
export type DealingKind = (typeof DEALING_KINDS)[number];

/** What was said of one decision: each of these adds one to the dealings it belongs to. */
export interface Said {
  allowed: boolean;
  denied: boolean;
  aligned: boolean;
  misaligned: boolean;
  paid: boolean;
}

export const NOTHING_SAID: Said = {
  allowed: false,
  denied: false,
  aligned: false,
  misaligned: false,
  paid: false,
};

/** What is said of a decision now: its review, the newest label that stands, and whether it was executed. */
export function saidOf(state: DecisionState, label: Label['label'] | null): Said {
  return {
    allowed: state.review_state === 'ALLOWED',
    denied: state.review_state === 'DENIED',
    aligned: label === 'PURPOSE_ALIGNED',
    misaligned: label === 'PURPOSE_MISALIGNED',
    paid: state.outcome_state === 'EXECUTED' || state.outcome_state === 'PARTIALLY_REFUNDED',
  };
}

/** The sum of what was said of an agent's spends under one purpose, at one merchant, payee or word. */
export interface DealingsRow {
  agent_id: string;
  purpose_hash: string;
  kind: DealingKind;
  name: string;
  allowed: number;
  denied: number;
  aligned: number;
  misaligned: number;
  paid: number;
  /** Lowest and highest amount that was executed or labelled aligned, by currency, in minor units. */
  usual_minor: Record<string, { low: number; high: number }>;
  payee_ids: string[];
}

/** Payees remembered of one merchant: who has more than that has no usual one. */
const MOST_PAYEES = 20;

/** A spend about which something was said anew. */
export interface Spoken {
  before: Said;
  now: Said;
  amount_minor: number;
  currency: string;
  payee_id: string | null;
}

/** Dealings with what was said anew in place of what was said before. Amounts that were usual once stay so. */
export function addSaid(row: DealingsRow, spoken: Spoken): DealingsRow {
  const { before, now, amount_minor, currency, payee_id } = spoken;
  const changed = (name: keyof Said) => row[name] + Number(now[name]) - Number(before[name]);
  const counts = now.paid || now.aligned;
  const known = row.usual_minor[currency];
  const usual = {
    low: Math.min(known?.low ?? amount_minor, amount_minor),
    high: Math.max(known?.high ?? amount_minor, amount_minor),
  };
  const payee_ids =
    counts && row.kind === 'merchant' && payee_id !== null && !row.payee_ids.includes(payee_id)
      ? [...row.payee_ids, payee_id].slice(-MOST_PAYEES)
      : row.payee_ids;
  return {
    ...row,
    allowed: changed('allowed'),
    denied: changed('denied'),
    aligned: changed('aligned'),
    misaligned: changed('misaligned'),
    paid: changed('paid'),
    usual_minor: counts && row.kind !== 'word' ? { ...row.usual_minor, [currency]: usual } : row.usual_minor,
    payee_ids,
  };
}

/** Names a purpose by its content: what was said under one purpose says nothing under another. */
export function purposeHash(purpose: Purpose): string {
  return shownHash(sha256(canonicalJson(purpose)));
}
