import type { Decision, Purser, SpendRequest } from '@purser/sdk';

/** The request for a lease, without its name and amount, which the purse adds. */
export interface LeaseRequest extends Omit<SpendRequest, 'idempotencyKey' | 'action' | 'min_amount_minor'> {
  action: Omit<SpendRequest['action'], 'amount_minor'>;
}

/** A lease that was allowed. Its amount counts whole until its outcome. */
export interface Lease {
  /** The idempotency key of its decision, and the external reference of its outcome. */
  key: string;
  decision_id: string;
  amount_minor: number;
  currency: string;
  /** In SHADOW nothing is consumed. */
  mode: 'SHADOW' | 'ENFORCE';
  opened_at_ms: number;
}

/** The end of a lease, as it is reported. */
export interface LeaseEnd {
  key: string;
  decision_id: string;
  currency: string;
  /** 0: nothing of it was spent. */
  spent_minor: number;
  /** Goes with the outcome, as it is. */
  usage?: object[] | undefined;
}

/**
 * Records that outlive the process. A rejection stops what the record allows: no consumption without `lease`, no report
 * without `close`.
 */
export interface PurseJournal {
  /** Before a lease is requested. If the process ends before the answer, a lease may exist under this name. */
  asked?(request: SpendRequest): void | Promise<void>;
  /** No lease is open under this name, and none will be. */
  refused?(key: string): void | Promise<void>;
  /** Before the lease is consumed. Resolves once the record is durable. */
  lease(lease: Lease): Promise<void>;
  /** Before the outcome is reported, with the amount that it will state. Resolves once the record is durable. */
  close(end: LeaseEnd): Promise<void>;
  /** Purser has the outcome: the lease needs no more attention. */
  reported(end: LeaseEnd): void | Promise<void>;
}

/** State that an earlier process left in its journal. */
export interface PurseRemains {
  /** Requests without an answer: what was leased under their names was never drawn on, and is cancelled. */
  doubtful?: readonly SpendRequest[];
  /** Leases without a `close`, oldest first. */
  leases: readonly Lease[];
  /** Ends without a `reported`, oldest first. */
  unreported: readonly LeaseEnd[];
  /**
   * Units that all draws cost since the purse began, less the units of all `spent_minor` in `close` records. Below 0: the
   * paid fraction of a minor unit that is still to be used.
   */
  owed: bigint;
}

export interface PurseOptions {
  /** A client with the agent's key. */
  purser: Purser;
  /** A client with the scope `consume`. */
  adapter: Purser;
  request: LeaseRequest;
  /** Units in one minor unit: 10n ** 9n if a unit is a billionth of it. */
  unit: bigint;
  /**
   * The amount to request, in minor units, if at least `lacking_minor` is missing. A number is a minimum: more is
   * requested if more is missing. What a function returns is requested as it is, at least 1; more leases follow if that is too little.
   */
  topUp: number | ((lacking_minor: number) => number);
  /** Names the leases: a text as `<name>-1`, `<name>-2`…; a function names each. The same name never opens two leases. */
  name: string | (() => string);
  journal?: PurseJournal | undefined;
  remains?: PurseRemains | undefined;
  /** Milliseconds that a lease waits for a review. Default 0: a pending review refuses, and is looked up again later. */
  waitForReview?: number | undefined;
  /** Milliseconds that a draw waits for others to settle. Default 0: what does not fit is refused. */
  waitMs?: number | undefined;
  /** Milliseconds before a refused purse requests again; meanwhile draws get the same answer. Default 0. */
  refusedMs?: number | undefined;
  /** Returns the usage since the last report; it goes with the first outcome of a `close`. */
  usage?: (() => object[] | undefined) | undefined;
  /** The outcome of a lease that was not drawn on. Default `SPEND_CANCELLED`. */
  unspent?: 'SPEND_CANCELLED' | 'SPEND_FAILED' | undefined;
  /** Gets one line for each report that has to be repeated or that somebody else made. */
  log?: ((line: string) => void) | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/** Money that was set aside in a purse. */
export interface Draw {
  /** Units, at most what was asked for and at least `least`. */
  readonly amount: bigint;
  /**
   * Replaces the reservation by what it cost, in units; 0n: nothing. Counts once: later calls change nothing. A cost above
   * `amount` counts in full, and the purse gives nothing until it is covered.
   */
  settle(actual: bigint): void;
}

export interface Purse {
  /**
   * Sets `atMost` aside, or at least `least` (default `atMost`) where no more is to be had. The check and the
   * reservation are one synchronous step. Requests leases as needed, one at a time for all that wait, and serves draws in
   * the order in which they came. Rejects with a `SpendDenied` (see `isInUse`), a `SpendPending`, or another error of the SDK;
   * with the signal's reason if it aborts.
   */
  draw(atMost: bigint, least?: bigint, options?: { signal?: AbortSignal | undefined }): Promise<Draw>;
  /** Sets money aside without asking whether there is any, for SHADOW: the next lease includes what is lacking. */
  overdraw(amount: bigint): Draw;
  /**
   * Reports what was spent, in the order of the leases, the last one rounded up, and ends them all. The paid fraction of a minor
   * unit stays in the purse. Resolves to true once Purser has every report; to false if a draw is not settled (then no
   * lease ends) or a report has to be repeated: call it again. The purse can be drawn on afterwards, and meanwhile.
   */
  close(): Promise<boolean>;
  /**
   * Repeats the reports that Purser does not have, and cancels leases whose answer was lost. Ends no lease. Resolves to true
   * once nothing is left to repeat.
   */
  flush(): Promise<boolean>;
  /** Units that could be drawn right now. Below 0: more was spent than leased. */
  readonly free: bigint;
  /** Units of draws that are not settled. */
  readonly reserved: bigint;
  /** The open leases, oldest first. */
  readonly leases: readonly Lease[];
  /** The decision of the newest lease. */
  readonly decision: Decision | null;
  /** True while something is to be settled with Purser: an open lease, or what `flush` repeats. */
  readonly isOpen: boolean;
}
