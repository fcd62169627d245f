import type { Decision } from '@purser/contract/decisions';
import type { BudgetRow } from '@purser/rules/domain/budget';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { LedgerEvent, LedgerHead } from '@purser/rules/domain/ledger';

/** Statements that hold after every command, whatever it was asked to do. A command that breaks one has a bug, or found rows that do. */
export type Invariant =
  | 'change_without_success'
  | 'event_not_next'
  | 'decision_not_sealed'
  | 'published_without_webhooks'
  | 'budget_below_zero'
  | 'state_below_zero'
  | 'slot_without_now'
  | 'hold_not_of_decision';

/**
 * An invariant does not hold. The lane answers the command with `internal_error`, logs `invariant` with the reason, and
 * commits nothing of the command.
 */
export class BrokenInvariant extends Error {
  override name = 'BrokenInvariant';
  readonly invariant: Invariant;

  constructor(invariant: Invariant, reason: string) {
    super(`${invariant}: ${reason}`);
    this.invariant = invariant;
  }
}

/** The parts of a working set that every command is checked by. */
interface Checked {
  readonly head: LedgerHead;
  readonly change_count: number;
  readonly published_count: number;
  readonly changes: {
    readonly events: readonly LedgerEvent[];
    readonly decisions: readonly { decision_id: string }[];
  };
}

/** A working set as it was before a command. */
export interface Before {
  head: LedgerHead;
  change_count: number;
  published_count: number;
  events: number;
  decisions: number;
}

/** Notes what `checkApplied` compares with. */
export function beforeCommand({ head, change_count, published_count, changes }: Checked): Before {
  const { events, decisions } = changes;
  return { head, change_count, published_count, events: events.length, decisions: decisions.length };
}

/**
 * Checks what one command did to a working set: it changed nothing unless it succeeded, its events continue the chain
 * one by one, each of its decisions is sealed by an event, and it published only what it asked webhooks for. Takes time by
 * what the command changed. Throws BrokenInvariant.
 */
export function checkApplied(
  set: Checked,
  before: Before,
  command: { name: string; is_done: boolean; needs_webhooks: boolean },
): void {
  const { name, is_done, needs_webhooks } = command;
  if (!is_done && set.change_count !== before.change_count)
    throw new BrokenInvariant('change_without_success', `${name} did not succeed, but changed something`);
  if (!needs_webhooks && set.published_count !== before.published_count)
    throw new BrokenInvariant('published_without_webhooks', `${name} publishes, but does not need webhooks`);
  const { events, decisions } = set.changes;
  let head = before.head;
  const sealed = new Set<string>();
  for (let i = before.events; i < events.length; i++) {
    const event = events[i] as LedgerEvent;
    if (event.seq !== head.seq + 1 || !event.prev_hash.equals(head.hash))
      throw new BrokenInvariant('event_not_next', `${name} put event ${event.seq} after event ${head.seq}`);
    if (event.type === 'decision.created') sealed.add(event.subject_id);
    head = event;
  }
  if (set.head.seq !== head.seq || !set.head.hash.equals(head.hash))
    throw new BrokenInvariant('event_not_next', `${name} left head ${set.head.seq} over event ${head.seq}`);
  for (let i = before.decisions; i < decisions.length; i++) {
    const { decision_id } = decisions[i] as { decision_id: string };
    if (!sealed.has(decision_id))
      throw new BrokenInvariant('decision_not_sealed', `${name} added ${decision_id} without its event`);
  }
}

/** Checks that a month's counter is a sum of amounts: neither part is below zero. Throws BrokenInvariant. */
export function checkBudget(row: BudgetRow): void {
  const { agent_id, period, currency, held_minor, committed_minor } = row;
  if (held_minor >= 0 && committed_minor >= 0) return;
  const reason = `${agent_id} ${period} ${currency} would hold ${held_minor} and have spent ${committed_minor}`;
  throw new BrokenInvariant('budget_below_zero', reason);
}

/** Checks that what a decision counts for is not below zero. Throws BrokenInvariant. */
export function checkState({ decision_id, amount_minor, paced_minor }: DecisionState): void {
  if (amount_minor >= 0 && paced_minor >= 0) return;
  const reason = `${decision_id} would count for ${amount_minor}, and ${paced_minor} over time`;
  throw new BrokenInvariant('state_below_zero', reason);
}

/** Checks that each limit that a new decision counts in does so in a slot that includes the decision. Throws BrokenInvariant. */
export function checkSlots({ reservation, created_at }: Pick<Decision, 'reservation' | 'created_at'>): void {
  for (const { name, window } of reservation.limits ?? []) {
    if (window.starts_at <= created_at && created_at < window.ends_at) continue;
    const slot = `from ${window.starts_at} until ${window.ends_at}`;
    throw new BrokenInvariant('slot_without_now', `${name} counts at ${created_at} in a slot ${slot}`);
  }
}

/**
 * Checks that a new decision authorizes no more than was asked for, that a DENY holds nothing, that an ALLOW
 * holds what it authorizes, and that a capability may spend no more than is held. Throws BrokenInvariant.
 */
export function checkHold(decision: Decision): void {
  const { decision: kind, reservation, capability, authorized_amount_minor, decision_id } = decision;
  const holds = [
    authorized_amount_minor <= decision.requested_amount_minor,
    kind !== 'DENY' || (authorized_amount_minor === 0 && reservation.amount_minor === 0),
    kind !== 'ALLOW' || reservation.amount_minor === authorized_amount_minor,
    capability === null || capability.max_amount_minor <= reservation.amount_minor,
  ];
  if (holds.every(Boolean)) return;
  const held = `${decision_id} is ${kind} of ${authorized_amount_minor} and holds ${reservation.amount_minor}`;
  throw new BrokenInvariant('hold_not_of_decision', held);
}
