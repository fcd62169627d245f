import type { ListedMerchant } from '../merchants/directory.ts';

import type { Answers } from './questions.ts';

export type { ListedMerchant };

/*
 * What is known about a spend's merchant and payee from others than the agent. An assessment may call a spend aligned only
 * by one of these facts, by the operator's own words, or by a merchant that is known for the trade that the operator asks
 * for. Whoever assesses reads the facts beforehand, so that assessing stays pure.
 */

/**
 * Verdicts of people and the payment rail on an agent's earlier spends with one merchant and payee, across all
 * versions of its authority with the same objective. An agent's own reports never count.
 */
export interface Precedent {
  /** `historyKey` of the merchant's name. */
  merchant: string;
  payee_id: string | null;
  /** Reviews and labels of people. `allowed`: reviewed ALLOW or labelled aligned; `refused`: DENY or misaligned. */
  said_by_people: { allowed: number; refused: number };
  /** Spends that the rail executed while the decision, or a person's review of it, was ALLOW. */
  settled_by_rail: number;
  /**
   * The goods bought: for each of the `historyWords` of the descriptions, how many of the spends that people spoke
   * about had it. The assessor tells the kind of thing from them.
   */
  words: ReadonlyMap<string, { allowed: number; refused: number }>;
  /** Lowest and highest amount that the rail executed or a person approved, by currency, in minor units. */
  usual_minor: ReadonlyMap<string, { low: number; high: number }>;
  /** RFC 3339; when a person or the rail last spoke; left out where that is not known. */
  last_at?: string;
}

/** States of an own earlier spend that checks on the agent's history tell apart. */
const PAID_STATES = ['HELD', 'EXECUTED', 'REFUNDED'] as const;

/** A spend of the same agent that holds, moved or returned money. */
export interface PaidSpend {
  decision_id: string;
  merchant: string;
  payee_id: string | null;
  amount_minor: number;
  currency: string;
  /** RFC 3339; when it was decided. */
  at: string;
  state: (typeof PAID_STATES)[number];
  /** `action.type` of the request. */
  type: string;
  /** The agent's words; they are compared and never vouch. */
  description: string;
}

/** Precedents by the two things that a spend is bound to. */
export interface Precedents {
  /** By `historyKey` of the merchant's name. */
  by_merchant: ReadonlyMap<string, readonly Precedent[]>;
  /** By `payeeKey` of the payee. */
  by_payee: ReadonlyMap<string, readonly Precedent[]>;
}

/** The words of an allowance that somebody of the operator made, for spends within its bounds. */
export interface VouchingAllowance {
  allowance_id: string;
  /** How people know it. */
  name: string;
  /** The operator's words; an allowance without them vouches only for the merchants and payees that it lists. */
  purpose?: string;
  expected_items?: readonly string[];
  merchants?: readonly string[];
  payee_ids?: readonly string[];
}

/** True for an allowance that names the merchants or payees that it is for. */
export const lists = ({ merchants, payee_ids }: VouchingAllowance): boolean =>
  merchants !== undefined || payee_ids !== undefined;

/** The facts about one spend. */
export interface SpendFacts {
  /**
   * The whole directory of the agent, in the order of listing. Lookups are cached for as long as the array lives, so hand
   * on the same array while nothing has changed, and never change it.
   */
  listed: readonly ListedMerchant[];
  precedents: Precedents;
  /** Answers of people under the present objective, by `question_id`. */
  answers: Answers;
  /** Own spends of the last days with the same merchant or payee, newest first. */
  paid: readonly PaidSpend[];
  /** RFC 3339; the time for which `paid` was read. Null where `paid` is empty. */
  as_of: string | null;
  /** The vouching allowances that it is made under and lies within, the nearest first. */
  allowances: readonly VouchingAllowance[];
}

/** The facts about a spend of which nothing is known. */
export const NO_FACTS: SpendFacts = {
  listed: [],
  precedents: { by_merchant: new Map(), by_payee: new Map() },
  answers: new Map(),
  paid: [],
  as_of: null,
  allowances: [],
};

/** Kinds of facts that may vouch for a spend; none is the agent's free text. */
const VOUCHERS = ['OPERATOR', 'DIRECTORY', 'PERSON', 'RAIL', 'ALLOWANCE', 'TRADE'] as const;

/** The fact that an aligned spend rests on. */
export interface Voucher {
  /**
   * OPERATOR: the authority names the merchant or payee. DIRECTORY: an entry of the agent's merchant directory. PERSON: a
   * review or label of an earlier spend. RAIL: an earlier spend that the rail settled. ALLOWANCE: the operator's allowance
   * that it is made under. TRADE: the merchant is known by its
   * whole name to sell what the objective asks for; this one alone rests on no word of a person about this merchant.
   */
  by: (typeof VOUCHERS)[number];
  /** One clause for an explanation: "listed by user:ada on 2026-11-03". */
  says: string;
  /** The entry of the directory; null for every other fact. */
  entry_id: string | null;
}
