import { addToRows, type CounterRow, counterName, storedSlot } from '@purser/rules/counters/counters';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Mode } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import { type Authority, type AuthorityRow, authorityHash } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { type DecisionState, initialState, isExpired } from '@purser/rules/domain/decision-states';
import type { Decision } from '@purser/rules/domain/decisions';
import { GENESIS } from '@purser/rules/domain/ledger';
import type { Outcome } from '@purser/rules/domain/outcomes';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { makeIdsAt, type NewId } from '@purser/rules/values/ids';
import type { Command, CommandResult } from '../../engine/lane/command.ts';
import { nothingLoaded } from '../../engine/lane/tables.ts';
import { WorkingSet } from '../../engine/lane/working-set.ts';

const WORKSPACE_ID = 'ws_imagined';
const AGENT_ID = 'agt_imagined';
const BEGAN_AT = '1970-01-01T00:00:00.000Z';

/** The same commands at the same times have the same ids. */
const newIdsAt = (time_ms: number) => makeIdsAt(time_ms, () => 0);

/** An agent that exists in memory alone, with what became of its decisions. The commands of the lane are applied to it. */
export interface ImaginedAgent {
  agent_id: string;
  authority: Authority;
  authority_hash: string;
  /** The decision as it was made, and its state after the last command; undefined where there is none. */
  decision(decision_id: string): { decision: Decision; state: DecisionState } | undefined;
  /**
   * Applies a command of the lane at a moment, which must not be before that of the last one. Holds that have expired by then
   * are released first. A refused command changes nothing but that.
   */
  apply<Input, Output, Current>(
    command: Command<Input, Output, Current>,
    input: Input,
    now_ms: number,
    origin: Origin,
  ): CommandResult<Output, Current>;
}

/** Makes an agent with one authority, of which nothing is known. Nothing is used of the shared budgets. */
export function makeImaginedAgent(
  authority: Authority,
  mode: Mode,
  shared_budgets: readonly SharedBudget[],
): ImaginedAgent {
  const authority_hash = authorityHash(authority);
  const agent = {
    agent_id: AGENT_ID,
    slug: 'imagined',
    name: 'Imagined',
    mode,
    status: 'active' as const,
    authority_version: 1,
    authority_hash,
    directory_version: 0,
    created_at: BEGAN_AT,
    updated_at: BEGAN_AT,
  };
  const row: AuthorityRow = {
    agent_id: AGENT_ID,
    version: 1,
    hash: authority_hash,
    authority: canonicalJson(authority),
    created_at: BEGAN_AT,
    key_id: null,
    principal_id: null,
    note: null,
    joined: null,
  };
  const decisions = new Map<string, Decision>();
  const states = new Map<string, DecisionState>();
  const outcomes: Outcome[] = [];
  const budgets: WorkingSet['changes']['budgets'] = new Map();
  const counters = new Map<string, CounterRow>();
  const known_merchants: WorkingSet['changes']['known_merchants'] = new Map();
  let head = { seq: 0, hash: GENESIS.hash };
  let at_ms = 0;
  let newId: NewId = newIdsAt(at_ms);

  /** Keeps what a command changed. */
  function keep({ changes, counters: counted }: WorkingSet): void {
    for (const row of counted.changes()) addToRows(counters, row);
    for (const { decision_id, document } of changes.decisions) {
      const decision = decodeDecision(document);
      decisions.set(decision_id, decision);
      states.set(decision_id, initialState(decision));
    }
    for (const state of changes.states.values()) states.set(state.decision_id, state);
    for (const [name, budget] of changes.budgets) budgets.set(name, budget);
    for (const [name, known] of changes.known_merchants)
      if (!known_merchants.has(name)) known_merchants.set(name, known);
    outcomes.push(...changes.outcomes);
  }

  function decisionOf(decision_id: string) {
    const decision = decisions.get(decision_id);
    const state = states.get(decision_id);
    return decision === undefined || state === undefined ? undefined : { decision, state, joining: [] };
  }

  return {
    agent_id: AGENT_ID,
    authority,
    authority_hash,
    decision: decisionOf,
    apply(command, input, now_ms, origin) {
      if (now_ms !== at_ms) newId = newIdsAt(now_ms);
      at_ms = now_ms;
      const { decisions: named = [] } = command.needs(input);
      const loaded = {
        ...nothingLoaded(),
        agents: [agent],
        authorities: [row],
        due_holds: [...states.values()].flatMap((state) =>
          isExpired(state, now_ms) ? { state, counted: null } : [],
        ),
        budgets: [...budgets.values()],
        counters: [...counters.values()].map(({ counter_id, subject, ...slot }) => ({
          counter_id,
          subject,
          name: counterName({ counter_id, subject }),
          slots: [storedSlot(slot)],
        })),
        shared_budgets,
        decisions: named.flatMap((decision_id) => decisionOf(decision_id) ?? []),
        outcomes: outcomes.filter(({ decision_id }) => named.includes(decision_id)),
        known_merchants: [...known_merchants.values()],
      };
      const found = { workspace_id: WORKSPACE_ID, head, stop: null, order_ms: now_ms, now_ms, newId, loaded };
      const set = new WorkingSet(found);
      const result = command.apply(set, input, origin);
      head = set.head;
      keep(set);
      return result;
    },
  };
}
