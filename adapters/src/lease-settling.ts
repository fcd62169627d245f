import { APIError, type OutcomeRequest, type SpendRequest } from '@purser/sdk';
import type { LeaseEnd, PurseOptions, PurseRemains } from './lease-types.ts';

type Options = Pick<PurseOptions, 'purser' | 'adapter' | 'journal' | 'unspent' | 'log'>;

/** The unsettled leases of a purse. None is dropped before Purser has answered for it. */
export class Settling {
  readonly #options: Options;
  readonly #ends: { end: LeaseEnd; is_journaled: boolean }[];
  /** Requests whose answer was lost: a lease may exist under their names, and is never drawn on. */
  readonly #doubtful: SpendRequest[];
  #flushing: Promise<boolean> | null = null;

  constructor(options: Options, { unreported, doubtful = [] }: PurseRemains) {
    this.#options = options;
    this.#doubtful = [...doubtful];
    this.#ends = unreported.map((end) => ({ end, is_journaled: true }));
  }

  get isOpen(): boolean {
    return this.#ends.length > 0 || this.#doubtful.length > 0;
  }

  get isDoubtful(): boolean {
    return this.#doubtful.length > 0;
  }

  /** The leases are reported with the next `flush`. */
  add(ends: readonly LeaseEnd[]): void {
    this.#ends.push(...ends.map((end) => ({ end, is_journaled: false })));
  }

  addDoubtful(request: SpendRequest): void {
    this.#doubtful.push(request);
  }

  /** Tells the journal that a lease is somebody else's to report. */
  async leave(end: LeaseEnd): Promise<void> {
    await this.#options.journal?.reported(end);
  }

  /** Reports all ends and cancels doubtful leases. Resolves to true once nothing is left; never rejects. */
  async flush(): Promise<boolean> {
    // A flush that is already running may miss leases that were added after it began.
    while (this.#flushing !== null) await this.#flushing;
    this.#flushing = this.#flush();
    const is_done = await this.#flushing;
    this.#flushing = null;
    return is_done;
  }

  async #flush(): Promise<boolean> {
    await this.#findDoubtful();
    for (const each of [...this.#ends]) {
      const { end } = each;
      try {
        if (!each.is_journaled) await this.#options.journal?.close(end);
        each.is_journaled = true;
        await this.#report(end);
        await this.#options.journal?.reported(end);
        this.#ends.splice(this.#ends.indexOf(each), 1);
      } catch (error) {
        this.#options.log?.(
          `${end.spent_minor} ${end.currency} of ${end.decision_id} could not be reported yet: ${String(error)}`,
        );
      }
    }
    return !this.isOpen;
  }

  /** Asks again under the same names, and cancels the leases that are found. */
  async #findDoubtful(): Promise<void> {
    for (const request of [...this.#doubtful]) {
      const { idempotencyKey, ...body } = request;
      try {
        const { decision_id, currency, reservation } = await this.#options.purser.decisions.create(body, {
          idempotencyKey,
        });
        if (reservation.status !== 'NONE')
          this.add([{ key: idempotencyKey, decision_id, currency, spent_minor: 0 }]);
        else await this.#options.journal?.refused?.(idempotencyKey);
      } catch (error) {
        // A refused request made no lease.
        if (!(error instanceof APIError && error.status < 500)) continue;
        await this.#options.journal?.refused?.(idempotencyKey);
      }
      this.#doubtful.splice(this.#doubtful.indexOf(request), 1);
    }
  }

  async #report({ key, decision_id, currency, spent_minor, usage }: LeaseEnd): Promise<void> {
    const { adapter, unspent = 'SPEND_CANCELLED', log } = this.#options;
    const outcome = {
      ...(spent_minor === 0
        ? { type: unspent }
        : { type: 'SPEND_EXECUTED' as const, amount_minor: spent_minor }),
      currency,
      source: 'PAYMENT_RAIL' as const,
      external_reference: key,
    };
    try {
      const body = usage === undefined ? outcome : { ...outcome, usage };
      await adapter.decisions.reportOutcome(decision_id, body as OutcomeRequest);
    } catch (error) {
      if (!APIError.is(error, 'outcome_conflict')) throw error;
      // Somebody has settled it by hand in the meantime, and that report counts.
      log?.(`${decision_id} was settled by somebody else: ${error.message}`);
    }
  }
}
