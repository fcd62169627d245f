import type { Decision } from '@purser/contract/decisions';
import type { Label } from '@purser/contract/records';
import type { Note } from '@purser/contract/reviews/note';
import { type CountedIn, changesIn, counterChanges } from '@purser/rules/counters/counted-in';
import type { Counters } from '@purser/rules/counters/counters-in-memory';
import type { JoiningAuthority } from '@purser/rules/domain/authorities';
import type { BudgetRow } from '@purser/rules/domain/budget';
import { type Consumption, consumptionDataHash } from '@purser/rules/domain/capabilities';
import { apply, type DecisionEvent, type DecisionHistory } from '@purser/rules/domain/decision-history';
import {
  afterExpiry,
  budgetImpact,
  type DecisionState,
  expiredReservation,
  holdExpiresAt,
  initialState,
  isExpired,
  needsStateRow,
  stateAt,
} from '@purser/rules/domain/decision-states';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import { type LabelLink, labelDataHash } from '@purser/rules/domain/labels';
import type { LedgerEventType, SubjectType } from '@purser/rules/domain/ledger';
import { type Outcome, outcomeDataHash } from '@purser/rules/domain/outcomes';
import { expiredReservationDataHash } from '@purser/rules/domain/reservations';
import { type ReviewRow, reviewDataHash } from '@purser/rules/domain/reviews';
import {
  isKnownBySameTime,
  knownMerchantKey,
  makesMerchantKnown,
} from '@purser/rules/policy/known-merchants';
import { joinedSlots } from '@purser/rules/policy/past-spends';
import { noteDataHash } from '@purser/rules/reviews/notes';
import { pushTo } from '@purser/rules/values/maps';
import { joiningOf } from '../storage/authorities.ts';
import { type Changes, knownKey, type Recorded } from './changes.ts';
import { checkState } from './invariants.ts';
import type { Loaded } from './tables.ts';

/** A decision of the batch. `state` is as it was last stored. */
interface DecisionRecord {
  decision: Decision;
  state: DecisionState;
  /** The versions of its agent's authority that limits joined with after it, and before this batch. */
  joining: readonly JoiningAuthority[];
}

/** A state, with its decision where limits may have joined after it. */
interface Counted {
  state: DecisionState;
  counted: { decision: DecisionCore; joining: readonly JoiningAuthority[] } | null;
}

/** The parts of the working set that the records use. */
interface Within {
  readonly now_ms: number;
  readonly now: string;
  readonly changes: Changes;
  readonly counters: Counters;
  budget(agent_id: string, period: string, currency: string): BudgetRow;
  putBudget(row: BudgetRow): void;
  append(type: LedgerEventType, subject_type: SubjectType, subject_id: string, data_hash: Buffer): string;
}

/**
 * The later history of decisions: their states, and the records that these follow from. A command sees the records of
 * those before it. Each record is sealed by an event of its own, and changes the decision's state, the budget that it
 * counts in and the list of expiring holds along with it.
 */
export class Records {
  readonly #within: Within;
  readonly #decisions = new Map<string, DecisionRecord>();
  /** The decisions that were loaded as changed since an event, and those made in this batch. */
  readonly #changed: ReadonlyMap<string, { decision: DecisionCore; state: DecisionState }>;
  readonly #labels = new Map<string, LabelLink[]>();
  readonly #outcomes = new Map<string, Outcome[]>();
  readonly #reviews = new Map<string, ReviewRow[]>();
  readonly #consumptions = new Map<string, Consumption>();

  /** Releases the holds that have expired, before any command reads their decisions or budgets. */
  constructor(within: Within, loaded: Loaded) {
    this.#within = within;
    for (const { decision, state, joining } of loaded.decisions) {
      this.#decisions.set(decision.decision_id, {
        decision,
        state: state ?? initialState(decision),
        joining,
      });
    }
    this.#changed = new Map(
      loaded.changed_decisions.map(({ decision, state }) => [
        decision.decision_id,
        { decision, state: state ?? initialState(decision) },
      ]),
    );
    for (const label of loaded.labels) pushTo(this.#labels, label.decision_id, label);
    for (const outcome of loaded.outcomes) pushTo(this.#outcomes, outcome.decision_id, outcome);
    for (const review of loaded.reviews) pushTo(this.#reviews, review.decision_id, review);
    for (const each of loaded.earlier_consumptions) this.#consumptions.set(each.idempotency_key, each);
    const due = new Map<string, Counted>();
    for (const { state, counted } of loaded.due_holds) due.set(state.decision_id, { state, counted });
    for (const record of this.#decisions.values()) {
      due.set(record.decision.decision_id, { state: record.state, counted: record });
    }
    for (const { state, counted } of due.values()) {
      if (isExpired(state, within.now_ms)) this.#expire(state, counted);
    }
  }

  /** Keeps a new decision, and the state that it begins with if it has one stored. */
  begin(decision: Decision): void {
    const state = initialState(decision);
    this.#decisions.set(decision.decision_id, { decision, state, joining: [] });
    if (!needsStateRow(decision)) return;
    this.#within.changes.states.set(state.decision_id, state);
    this.#noteExpiring(null, state);
  }

  /**
   * Returns an agent's decisions as they are now that were made or changed since the event that the command named; the command
   * must need `changed_decisions`. A hold that expired in this batch and was not changed before is among `expired` alone.
   */
  changedOf(agent_id: string): {
    decisions: { decision: DecisionCore; state: DecisionState }[];
    expired: string[];
  } {
    const { states, decisions } = this.#within.changes;
    const ids = new Set(this.#changed.keys());
    for (const made of decisions) ids.add(made.decision_id);
    for (const changed of states.keys()) ids.add(changed);
    const found = {
      decisions: [] as { decision: DecisionCore; state: DecisionState }[],
      expired: [] as string[],
    };
    for (const decision_id of ids) {
      const state = states.get(decision_id);
      const record = this.#decisions.get(decision_id) ?? this.#changed.get(decision_id);
      if (record === undefined) {
        if (state?.agent_id === agent_id) found.expired.push(decision_id);
      } else if (record.decision.agent.id === agent_id) {
        found.decisions.push({ decision: record.decision, state: state ?? record.state });
      }
    }
    return found;
  }

  /** Returns an original decision and its state at the batch timestamp. */
  decision(decision_id: string): { decision: Decision; state: DecisionState } | undefined {
    const record = this.#decisions.get(decision_id);
    if (record === undefined) return undefined;
    const { decision, state } = record;
    return { decision, state: stateAt(decision, state, this.#within.now_ms) };
  }

  labelsOf(decision_id: string): readonly LabelLink[] {
    return this.#labels.get(decision_id) ?? [];
  }

  outcomesOf(decision_id: string): readonly Outcome[] {
    return this.#outcomes.get(decision_id) ?? [];
  }

  /** Returns the reviews of a decision, oldest first; the command must need `reviews_of`. */
  reviewsOf(decision_id: string): readonly ReviewRow[] {
    return this.#reviews.get(decision_id) ?? [];
  }

  /** Returns the consumption that an idempotency key was used for. */
  earlierConsumption(key: string): Consumption | undefined {
    return this.#consumptions.get(key);
  }

  /** Returns the history of a loaded decision. `reports` is filled only if the command needs `outcomes_of`. */
  history(decision_id: string): DecisionHistory {
    const record = this.#decisions.get(decision_id);
    if (record === undefined) throw new Error(`${decision_id} was not loaded`);
    const { decision, state } = record;
    return { decision, state, reports: this.outcomesOf(decision_id) };
  }

  addReview(review: ReviewRow): Recorded {
    this.#within.changes.reviews.push(review);
    pushTo(this.#reviews, review.decision_id, review);
    const event = { type: 'decision.review.recorded', at: review.created_at, review } as const;
    return this.#record(review.decision_id, event, 'review', review.review_id, reviewDataHash(review));
  }

  addLabel(label: Label): Recorded {
    this.#within.changes.labels.push(label);
    pushTo(this.#labels, label.decision_id, label);
    const event = { type: 'decision.label.recorded', at: label.created_at, label } as const;
    return this.#record(label.decision_id, event, 'label', label.label_id, labelDataHash(label));
  }

  /** Adds a note. It changes no state. */
  addNote(note: Note): void {
    this.#within.changes.notes.push(note);
    this.#within.append('decision.note.recorded', 'note', note.note_id, noteDataHash(note));
  }

  /** The command must need `outcomes_of`. */
  addOutcome(outcome: Outcome): Recorded {
    const { decision_id, outcome_id, recorded_at: at } = outcome;
    const event = { type: 'decision.outcome.recorded', at, report: outcome } as const;
    const recorded = this.#record(decision_id, event, 'outcome', outcome_id, outcomeDataHash(outcome));
    this.#within.changes.outcomes.push(outcome);
    pushTo(this.#outcomes, decision_id, outcome);
    return recorded;
  }

  addConsumption(consumption: Consumption): Recorded {
    this.#consumptions.set(consumption.idempotency_key, consumption);
    const { capability_id, decision_id, consumed_at: at, amount_minor } = consumption;
    const event = { type: 'capability.consumed', at, amount_minor } as const;
    const hash = consumptionDataHash(consumption);
    const recorded = this.#record(decision_id, event, 'capability', capability_id, hash);
    this.#within.changes.consumptions.push({ ...consumption, event_id: recorded.event_id });
    return recorded;
  }

  #expire(hold: DecisionState, counted: Counted['counted']): void {
    const row = expiredReservation(hold, this.#within.now);
    this.#changeState(hold, afterExpiry(hold), counted);
    const id = row.reservation_id;
    const event_id = this.#within.append(
      'reservation.expired',
      'reservation',
      id,
      expiredReservationDataHash(row),
    );
    this.#within.changes.expired_reservations.push({ ...row, event_id });
  }

  /** Applies a record to the state of its decision, and appends the event that seals it to the chain. */
  #record(
    decision_id: string,
    event: DecisionEvent,
    subject_type: SubjectType,
    subject_id: string,
    data_hash: Buffer,
  ): Recorded {
    const before = this.history(decision_id);
    const { state: after } = apply(before, event);
    this.#changeState(before.state, after, this.#decisions.get(decision_id) ?? null);
    if (makesMerchantKnown(before.decision, before.state, event)) this.#makeKnown(before.decision);
    return { after, event_id: this.#within.append(event.type, subject_type, subject_id, data_hash) };
  }

  #makeKnown({ decision_id, agent, action }: DecisionHistory['decision']): void {
    const { now: since, changes } = this.#within;
    const row = { agent_id: agent.id, key: knownMerchantKey(action), since, decision_id };
    const name = knownKey(row);
    const other = changes.known_merchants.get(name);
    if (other === undefined || !isKnownBySameTime(other, row)) changes.known_merchants.set(name, row);
  }

  /** Changes a state. All changes go through here, because its budget, its counters and the list of expiring holds follow from it. */
  #changeState(before: DecisionState, after: DecisionState, counted: Counted['counted']): void {
    checkState(after);
    this.#within.changes.states.set(after.decision_id, after);
    const record = this.#decisions.get(after.decision_id);
    if (record !== undefined) this.#decisions.set(after.decision_id, { ...record, state: after });
    const was = budgetImpact(before);
    const is = budgetImpact(after);
    const held_minor = is.held_minor - was.held_minor;
    const committed_minor = is.committed_minor - was.committed_minor;
    if (held_minor !== 0 || committed_minor !== 0) {
      const budget = this.#within.budget(after.agent_id, after.period, after.currency);
      this.#within.putBudget({
        ...budget,
        held_minor: budget.held_minor + held_minor,
        committed_minor: budget.committed_minor + committed_minor,
      });
    }
    const { now, counters } = this.#within;
    for (const each of counterChanges(before, after, now)) counters.add(each);
    for (const each of changesIn(this.#joinedSlots(counted), before, after, now)) counters.add(each);
    this.#noteExpiring(before, after);
  }

  /** The slots that a decision counts in by limits that joined after it, those of this batch included. */
  #joinedSlots(counted: Counted['counted']): CountedIn[] {
    const { authorities } = this.#within.changes;
    if (counted === null) return [];
    const { decision, joining } = counted;
    const of_batch = authorities.filter(({ agent_id }) => agent_id === decision.agent.id);
    return joinedSlots(decision, [...joining, ...joiningOf(of_batch)]);
  }

  #noteExpiring(before: DecisionState | null, after: DecisionState): void {
    const { decision_id, agent_id, period } = after;
    const was = before === null ? null : holdExpiresAt(before);
    const is = holdExpiresAt(after);
    if (was === is) return;
    const { new_expiring, settled_expiring } = this.#within.changes;
    if (was !== null && !new_expiring.delete(decision_id)) {
      settled_expiring.set(decision_id, { decision_id, agent_id, period, expires_at: was });
    }
    if (is !== null) new_expiring.set(decision_id, { decision_id, agent_id, period, expires_at: is });
  }
}
