import type { Trade } from '../data/trades.ts';
import type { NamedMerchant, Quote } from './named-merchants.ts';

/** One thing that a constraint forbids. */
export interface ForbiddenItem {
  /** The item is named literally if all of these occur. */
  stems: readonly string[];
  trades: ReadonlySet<Trade>;
}

export interface Prohibition extends Quote {
  items: readonly ForbiddenItem[];
  /** Stems of what is exempt, after "except", "unless" or "other than". */
  exceptions: ReadonlySet<string>;
  /** It rules out from something only: "excluded from the limit", "not covered by the warranty". */
  is_relative: boolean;
  /** True if use for the buyer's private circle is forbidden. */
  private_use: boolean;
}

/** A condition that a spend has to show to hold. */
export interface Requirement extends Quote {
  /** Stems of what it is about; empty: it applies to every spend. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  /**
   * The stems that decide whether the condition applies to a spend: those that distinguish the subject from the objective
   * ("video ads" where ads are wanted), or all if none do.
   */
  decisive: readonly string[];
  /** True if the spend must name all decisive stems, false if one is enough. */
  needs_all: boolean;
  /** Stems that the spend has to show. */
  stems: ReadonlySet<string>;
  /** Values of attribute scales that it demands ("second class"), by scale. */
  kinds: ReadonlyMap<string, ReadonlySet<number>>;
  /** It is about paying bills, so it does not apply to purchases without one. */
  about_payment: boolean;
}

export interface AttributeRule extends Quote {
  scale: string;
  allowed: ReadonlySet<number>;
}

/** A bound of which only what the operator lists or asks for could show that a spend keeps it. */
export interface BoundRule extends Quote {
  to: 'requested items' | 'listed items' | 'named sellers' | 'named subjects';
}

/** A sum beyond which a constraint says something, in the authority's currency. */
export interface MarkRule extends Quote {
  amount_minor: number;
  /** It pays for one of these: "night", "month"; null for a sum in all. */
  per: string | null;
  /** False for a sum for one of several things that a spend may pay at once, such as nights: its amount shows nothing. */
  is_compared: boolean;
}

/** A number of things beyond which a constraint says something. */
export interface CountRule extends Quote {
  most: number;
  /** Stems of what is counted: any of them. */
  units: ReadonlySet<string>;
}

/** How the purpose names a trade, with the words that do. */
export interface WantedTrade extends Quote {
  /** By a word with one meaning. */
  strong: boolean;
  /** Only a condition names it, so it is neither out of scope nor wanted. */
  conditional: boolean;
  /** A whole noun phrase of the objective, or its head, names it: "shoes", not the "shoes" of "shoe polish". */
  whole: boolean;
}

/** The operator's text, read into rules and terms. */
export interface AuthorityReading {
  /** Trades that the purpose names. */
  trades: ReadonlyMap<Trade, WantedTrade>;
  families: ReadonlySet<string>;
  /** Content words of objective, criteria and context, without what is forbidden. */
  words: ReadonlyMap<string, Quote>;
  prohibitions: readonly Prohibition[];
  requirements: readonly Requirement[];
  attributes: readonly AttributeRule[];
  /** The purpose is a household or an assistant, so that nearly any trade may be meant. */
  broad: boolean;
  /** The words by which the operator leaves it to those for whom the agent acts to say what is wanted. */
  delegation: Quote | undefined;
  /** Accounts in the operator's text, with the words before each. */
  accounts: ReadonlyMap<string, readonly string[]>;
  bounds: readonly BoundRule[];
  /** The sentence that says what has to happen where a payee's account changes. */
  account_changes: Quote | undefined;
  /** Sums in constraints beyond which they say something. */
  marks: readonly MarkRule[];
  /** Numbers of things in constraints beyond which they say something. */
  counts: readonly CountRule[];
  sources: readonly SourceRule[];
  units: readonly UnitRule[];
  /** Names and hosts that a merchant or payee may bear, outside of what is forbidden. */
  merchants: readonly NamedMerchant[];
  /** Those names alone; the same array for as long as the reading lives, since look-ups are cached by it. */
  merchant_names: readonly string[];
  /** Constraints of which nothing was read. */
  not_understood: readonly Quote[];
  /** Sentences that only wish, or name a substitute: they ask nothing. */
  wishes: readonly Quote[];
  /** The reading of the allowances of a spend by themselves, where one of them has a sentence. */
  asked?: AuthorityReading;
  /** Some of the purpose exceeds a limit and was not read. */
  cut: boolean;
}

/** Goods that may come only from certain merchants: "chemicals only from Merck or VWR". */
export interface SourceRule extends Quote {
  /** Empty: everything. */
  subject: ReadonlySet<string>;
  /** The subject is a list, so that any of its words is meant. */
  is_any: boolean;
  /** Lower-case words of the names of those merchants. */
  names: ReadonlySet<string>;
}

/** Units that the operator names by code: "H1 to H9", "4B". */
export interface UnitRange {
  before: string;
  after: string;
  from: number;
  to: number;
}

/** Goods that may be bought only for certain units: "fuel only for H1 to H9". */
export interface UnitRule extends Quote {
  /** Empty: everything. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  ranges: readonly UnitRange[];
}
