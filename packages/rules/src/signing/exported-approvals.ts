import type { Decision } from '@purser/contract/decisions';
import { isAdministrative, type LedgerBreak, type LedgerEvent, shownHash } from '../domain/ledger.ts';
import {
  type ApprovalsVerdict,
  type DecisionFacts,
  factsOf,
  type SignedReview,
  SigningHistory,
} from './history.ts';

type Data = Record<string, unknown> | null;

/**
 * The signed approvals along an export. Memory grows only with the decisions that a person may still review: those in
 * ENFORCE are forgotten once they are settled.
 */
export class ExportedApprovals {
  readonly #history: SigningHistory;
  readonly #is_whole: boolean;
  readonly #reviewable = new Map<string, DecisionFacts & { settles_at_once: boolean }>();

  /** `is_whole`: false where audit records or the beginning are left out, so that the signing keys are unknown. */
  constructor(workspace_id: string, signer_roots: readonly string[] | null, is_whole = true) {
    this.#history = new SigningHistory(workspace_id, signer_roots);
    this.#is_whole = is_whole;
  }

  /** Takes the next event with what it seals; `is_sealed`: its hash is the event's. Returns what is wrong with a signature. */
  take(event: LedgerEvent, data: Data, document: string | null, is_sealed: boolean): LedgerBreak | null {
    this.#history.link(event);
    if (data === null) return null;
    const { seq, type } = event;
    if (type === 'decision.review.recorded') return this.#review(seq, data);
    if (!this.#is_whole || !is_sealed) return null;
    if (type === 'capability.consumed') return this.#history.consumed(seq, String(data.decision_id));
    if (type === 'decision.created' && data.decision === 'REVIEW') this.#begin(event, String(document));
    else if (type === 'reservation.expired') this.#reviewable.delete(String(data.decision_id));
    else if (isAdministrative(event) && typeof data.state === 'string')
      return this.#history.audited(seq, String(data.created_at), JSON.parse(data.state));
    return null;
  }

  verdict(): ApprovalsVerdict {
    return this.#history.verdict();
  }

  #begin({ data_hash }: LedgerEvent, document: string): void {
    const decision = JSON.parse(document) as Decision;
    const settles_at_once = decision.mode === 'ENFORCE' && (decision.review_tier?.approvals ?? 1) === 1;
    const facts = { ...factsOf(decision), decision_hash: shownHash(data_hash), settles_at_once };
    this.#reviewable.set(decision.decision_id, facts);
    this.#history.begun(facts);
  }

  #review(seq: number, data: NonNullable<Data>): LedgerBreak | null {
    const decision = this.#reviewable.get(String(data.decision_id));
    if (decision?.settles_at_once === true) this.#reviewable.delete(String(data.decision_id));
    if (typeof data.signature !== 'string') return this.#history.unsigned(seq, String(data.action), decision);
    if (this.#is_whole) return this.#history.reviewed(seq, data as unknown as SignedReview, decision);
    this.#history.unchecked();
    return null;
  }
}
