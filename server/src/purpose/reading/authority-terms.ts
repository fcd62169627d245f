import type { Trade } from '../language/lexicon.ts';

/** The operator's words and the field they stand in. */
export interface Quote {
  field: string;
  text: string;
}

/** One thing that a constraint forbids. */
export interface ForbiddenItem {
  /** All of these must occur for the item to be named word by word. */
  stems: readonly string[];
  trades: ReadonlySet<Trade>;
  /** Lower-case words of companies named. */
  companies: ReadonlySet<string>;
}

export interface Prohibition extends Quote {
  items: readonly ForbiddenItem[];
  /** Stems after "except", "unless", "other than": what is let through. */
  exceptions: ReadonlySet<string>;
  /** Forbids use for the buyer's private circle. */
  private_use: boolean;
  /** Forbids use for other teams or departments than the one that the agent buys for. */
  for_others: boolean;
}

/** A condition that the operator sets and that nobody can take for granted. */
export interface Requirement extends Quote {
  /** What it is about; empty: every spend. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  /** Trades that the subject's words bring with them, as far as the objective has those words. */
  subject_implied: ReadonlySet<Trade>;
  /** The subject is a list, or the objective itself: any of its words is meant. */
  is_any: boolean;
  /**
   * The stems that say whether a spend is meant: those that set the subject apart from the objective ("video ads" where
   * ads are wanted), or all.
   */
  decisive: readonly string[];
  /** All of them must be named, or else one. */
  needs_all: boolean;
  /** What would have to be seen. */
  stems: ReadonlySet<string>;
  /** Values of attribute scales that it asks for ('second class'), by scale. */
  kinds: ReadonlyMap<string, ReadonlySet<number>>;
  /** So many of them. */
  least: number;
  /** Stems after "except", "unless": where it does not apply. */
  exceptions: ReadonlySet<string>;
  exception_trades: ReadonlySet<Trade>;
  /** Speaks of paying bills, so that purchases without one are not meant. */
  about_payment: boolean;
  /** What a rule on bills wants done before they are paid ("signed"): whatever a bill is for, it must not be shown undone. */
  done_first: ReadonlySet<string>;
  /** Holds when the spend is what the task asks for: "as written", "on their list", "what was approved". */
  said_by_task: boolean;
  /** Speaks of something that must be there; a trace that shows it there fulfils it. */
  about_presence: boolean;
  /** Speaks of a sum that somebody named; holds unless the task names one that is passed. */
  about_sum: boolean;
}

export interface AttributeRule extends Quote {
  scale: string;
  allowed: ReadonlySet<number>;
}

/** How the purpose speaks of a trade, with the words that do. */
export interface WantedTrade extends Quote {
  /** In a word of one meaning. */
  strong: boolean;
  /** Only a broad word of the objective brings it with it. */
  implied: boolean;
  /** Only a condition speaks of it: it is no stranger, and not wanted for that. */
  conditional: boolean;
}

/** What the operator wrote, made comparable. */
export interface AuthorityReading {
  /** Trades the purpose wants; the quote that says so and whether it says so in a word with one meaning. */
  trades: ReadonlyMap<Trade, WantedTrade>;
  families: ReadonlySet<string>;
  /** Content words of objective, criteria and context, without what is forbidden. */
  words: ReadonlyMap<string, Quote & { loose: boolean }>;
  /** Names (capitalised words) that the operator mentions, by lower-case word. */
  names: ReadonlyMap<string, Quote>;
  /** Those of the names that are long enough to be imitated. */
  imitable_names: readonly string[];
  prohibitions: readonly Prohibition[];
  requirements: readonly Requirement[];
  attributes: readonly AttributeRule[];
  /** Constraints that tolerate a deviation in percent. */
  tolerances: readonly Quote[];
  /** The purpose is a household or an assistant: nearly any trade may be meant. */
  broad: boolean;
  /** What is wanted is said run by run, by the people the agent acts for. */
  on_request: boolean;
  /** The words by which the operator leaves the choice to those people. */
  delegation: Quote | undefined;
  /** Bank accounts the operator wrote down, with the words before each. */
  accounts: ReadonlyMap<string, readonly string[]>;
  /** Letters that the operator's own numbers begin with ("P" of P-2104). */
  number_prefixes: ReadonlyMap<string, Quote>;
  domains: readonly string[];
  /** Lines of a list in the context: for whom, what, up to how much. */
  entries: readonly NamedEntry[];
  /** The sentence by which the operator wants exactly what was asked for, and nothing beside it. */
  exactly: Quote | undefined;
  /** The sentence by which only those are paid whom the operator names. */
  only_named: Quote | undefined;
  /** The sentence by which only those are served whom the operator names. */
  only_these: Quote | undefined;
  /** The words of objective, constraints and context in order, folded, for names of several words; a part each. */
  running: readonly Quote[];
  sources: readonly SourceRule[];
  units: readonly UnitRule[];
  /** The context lists whom it pays. */
  lists_payees: boolean;
  /** Some of the purpose is longer than is read. */
  cut: boolean;
  /** Runs of five words, to notice a purpose repeated word for word. */
  shingles: ReadonlySet<string>;
  /** First words of those runs. */
  shingle_starts: ReadonlySet<string>;
}

/** What may come from certain merchants alone: "chemicals only from Merck or VWR". */
export interface SourceRule extends Quote {
  /** Empty: everything. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  /** The subject is a list: any of its words is meant. */
  is_any: boolean;
  /** Words of the names of those it may come from. */
  names: ReadonlySet<string>;
}

/** Units that the operator names by code: "H1 to H9", "4B". */
export interface UnitRange {
  before: string;
  after: string;
  from: number;
  to: number;
}

/** For which units alone something is bought: "fuel only for H1 to H9". */
export interface UnitRule extends Quote {
  /** Empty: everything. */
  subject: ReadonlySet<string>;
  subject_trades: ReadonlySet<Trade>;
  ranges: readonly UnitRange[];
}

/** One line of a list that the operator keeps in the context. */
export interface NamedEntry extends Quote {
  folded: string;
  stems: ReadonlySet<string>;
  names: ReadonlySet<string>;
  /** In whole units. */
  ceiling: number | undefined;
}
