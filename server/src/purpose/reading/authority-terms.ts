import type { Trade } from '../data/trades.ts';
import type { NamedMerchant, Quote } from './named-merchants.ts';

/** One thing that a constraint forbids. */
export interface ForbiddenItem {
  /** The item is named literally if all of these occur. */
  stems: readonly string[];
  trades: ReadonlySet<Trade>;
  /** Lower-case words of the companies that are named. */
  companies: ReadonlySet<string>;
}

export interface Prohibition extends Quote {
  items: readonly ForbiddenItem[];
  /** Stems of what is exempt, after "except", "unless" or "other than". */
  exceptions: ReadonlySet<string>;
  /** True if use for the buyer's private circle is forbidden. */
  private_use: boolean;
  /** True if use for other teams or departments is forbidden. */
  for_others: boolean;
}

/** A condition that a spend has to show to hold. */
export interface Requirement extends Quote {
  /** Stems of what it is about; empty: it applies to every spend. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  /** Trades that broad words of the subject imply, as far as the objective has those words. */
  subject_implied: ReadonlySet<Trade>;
  /** The subject is a list or the objective, so that any of its words is meant. */
  is_any: boolean;
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
  /** How many of `stems` the spend has to show. */
  least: number;
  /** Stems of what is exempt, after "except" or "unless". */
  exceptions: ReadonlySet<string>;
  exception_trades: ReadonlySet<Trade>;
  /** It is about paying bills, so it does not apply to purchases without one. */
  about_payment: boolean;
  /** What must be done before a bill is paid ("signed"). No bill may be shown to lack it, whatever it is for. */
  done_first: ReadonlySet<string>;
  /** It holds if the spend is what the task asks for: "as written", "on their list", "what was approved". */
  said_by_task: boolean;
  /** It demands that something is there, which the trace can show. */
  about_presence: boolean;
  /** It is about an amount that somebody named, and holds unless the spend is over one that the task names. */
  about_sum: boolean;
}

export interface AttributeRule extends Quote {
  scale: string;
  allowed: ReadonlySet<number>;
}

/** How the purpose names a trade, with the words that do. */
export interface WantedTrade extends Quote {
  /** By a word with one meaning. */
  strong: boolean;
  /** Only a broad word of the objective implies it. */
  implied: boolean;
  /** Only a condition names it, so it is neither out of scope nor wanted. */
  conditional: boolean;
}

/** The operator's text, read into rules and terms. */
export interface AuthorityReading {
  /** Trades that the purpose names. */
  trades: ReadonlyMap<Trade, WantedTrade>;
  families: ReadonlySet<string>;
  /** Content words of objective, criteria and context, without what is forbidden. */
  words: ReadonlyMap<string, Quote & { loose: boolean }>;
  /** Names (capitalised words) in the operator's text, by lower-case word. */
  names: ReadonlyMap<string, Quote>;
  prohibitions: readonly Prohibition[];
  requirements: readonly Requirement[];
  attributes: readonly AttributeRule[];
  /** Constraints that tolerate a deviation in percent. */
  tolerances: readonly Quote[];
  /** The purpose is a household or an assistant, so that nearly any trade may be meant. */
  broad: boolean;
  /** The people for whom the agent acts say in each task what is wanted. */
  on_request: boolean;
  /** The words by which the operator leaves the choice to those people. */
  delegation: Quote | undefined;
  /** Accounts in the operator's text, with the words before each. */
  accounts: ReadonlyMap<string, readonly string[]>;
  /** The sentence that wants exactly what was asked for and nothing else. */
  exactly: Quote | undefined;
  /** The sentence that allows payments only to those whom the operator names. */
  only_named: Quote | undefined;
  /** The sentence that allows purchases only for those whom the operator names. */
  only_these: Quote | undefined;
  sources: readonly SourceRule[];
  units: readonly UnitRule[];
  /** Names and hosts that a merchant or payee may bear, outside of what is forbidden. */
  merchants: readonly NamedMerchant[];
  /** Those names alone; the same array for as long as the reading lives, since look-ups are cached by it. */
  merchant_names: readonly string[];
  /** Constraints of which nothing was read. */
  not_understood: readonly Quote[];
  /** Those of them that hold no word which any list has: another language, most likely. */
  unreadable: readonly Quote[];
  /** Some of the purpose exceeds a limit and was not read. */
  cut: boolean;
}

/** What may come only from certain merchants: "chemicals only from Merck or VWR". */
export interface SourceRule extends Quote {
  /** Empty: everything. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
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

/** What may be bought only for certain units: "fuel only for H1 to H9". */
export interface UnitRule extends Quote {
  /** Empty: everything. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  ranges: readonly UnitRange[];
}
