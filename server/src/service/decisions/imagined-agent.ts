import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Allowance } from '@purser/rules/counters/allowances';
import { addToRows, type CounterRow, counterName, storedSlot } from '@purser/rules/counters/counters';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Agent, Mode } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import { type AuthorityRow, authorityHash } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { type DecisionState, initialState, isExpired } from '@purser/rules/domain/decision-states';
import { GENESIS } from '@purser/rules/domain/ledger';
import type { Outcome } from '@purser/rules/domain/outcomes';
import { answerOf, type KnownAnswers, type QuestionRow } from '@purser/rules/domain/question-history';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { makeIdsAt } from '@purser/rules/values/ids';
import type { StandingApprovals } from '../../engine/allowances/allowance-rows.ts';
import type { Command, CommandResult } from '../../engine/lane/command.ts';
import { type Loaded, nothingLoaded } from '../../engine/lane/tables.ts';
import { WorkingSet } from '../../engine/lane/working-set.ts';

const WORKSPACE_ID = 'ws_imagined';
const AGENT_ID = 'agt_imagined';
const BEGAN_AT = '1970-01-01T00:00:00.000Z';

/** The same commands at the same times have the same ids. */
const newIdsAt = (time_ms: number) => makeIdsAt(time_ms, () => 0);

/**
 * An agent that exists in memory alone, with what became of its decisions. It has one authority, and nothing else is known of
 * it. Nothing is used of the shared budgets. The commands of the lane are applied to it.
 */
export class ImaginedAgent {
  readonly agent_id = AGENT_ID;
  readonly authority: Authority;
  readonly authority_hash: string;
  readonly #mode: Mode;
  readonly #shared_budgets: readonly SharedBudget[];
  readonly #decisions = new Map<string, Decision>();
  readonly #states = new Map<string, DecisionState>();
  readonly #outcomes: Outcome[] = [];
  readonly #budgets: WorkingSet['changes']['budgets'] = new Map();
  readonly #counters = new Map<string, CounterRow>();
  readonly #known_merchants: WorkingSet['changes']['known_merchants'] = new Map();
  readonly #questions = new Map<string, QuestionRow>();
  readonly #allowances = new Map<string, Allowance>();
  #answers_version = 0;
  #allowances_version = 0;
  #head = { seq: 0, hash: GENESIS.hash };
  #at_ms = 0;
  #newId = newIdsAt(0);

  constructor(authority: Authority, mode: Mode, shared_budgets: readonly SharedBudget[]) {
    this.authority = authority;
    this.authority_hash = authorityHash(authority);
    this.#mode = mode;
    this.#shared_budgets = shared_budgets;
  }

  /** The decision as it was made, and its state after the last command; undefined where there is none. */
  decision(decision_id: string): { decision: Decision; state: DecisionState } | undefined {
    const decision = this.#decisions.get(decision_id);
    const state = this.#states.get(decision_id);
    return decision === undefined || state === undefined ? undefined : { decision, state };
  }

  /** The answers to its questions. */
  answers(): KnownAnswers {
    const found = [...this.#questions.values()].flatMap((row) => answerOf(row) ?? []);
    return {
      version: this.#answers_version,
      answers: new Map(found.map((answer) => [answer.question_id, answer])),
    };
  }

  /**
   * Applies a command of the lane at a moment, which must not be before that of the last one. Holds that have expired by then
   * are released first. A refused command changes nothing but that.
   */
  apply<Input, Output, Current>(
    command: Command<Input, Output, Current>,
    input: Input,
    now_ms: number,
    origin: Origin,
  ): CommandResult<Output, Current> {
    if (now_ms !== this.#at_ms) this.#newId = newIdsAt(now_ms);
    this.#at_ms = now_ms;
    const set = new WorkingSet({
      workspace_id: WORKSPACE_ID,
      head: this.#head,
      stop: null,
      order_ms: now_ms,
      now_ms,
      newId: this.#newId,
      loaded: this.#loaded(command.needs(input).decisions ?? [], now_ms),
    });
    const result = command.apply(set, input, origin);
    this.#head = set.head;
    this.#keep(set);
    return result;
  }

  /** Its standing approvals, the one that expires first in front. */
  standing(): StandingApprovals {
    const automatic = [...this.#allowances.values()].filter((each) => each.automatic);
    const allowances = automatic.sort((a, b) => (a.expires_at < b.expires_at ? -1 : 1));
    return { version: this.#allowances_version, allowances };
  }

  /** The rows that the lane would load from the database. */
  #loaded(named: readonly string[], now_ms: number): Loaded {
    const rows: Partial<Loaded> = {
      agents: [this.#agentRow()],
      authorities: [this.#authorityRow()],
      due_holds: [...this.#states.values()].flatMap((state) =>
        isExpired(state, now_ms) ? { state, counted: null } : [],
      ),
      budgets: [...this.#budgets.values()],
      counters: [...this.#counters.values()].map(({ counter_id, subject, ...slot }) => ({
        counter_id,
        subject,
        name: counterName({ counter_id, subject }),
        slots: [storedSlot(slot)],
      })),
      shared_budgets: this.#shared_budgets,
      allowances: [...this.#allowances.values()],
      decisions: named.flatMap((decision_id) => {
        const found = this.decision(decision_id);
        return found === undefined ? [] : { ...found, joining: [] };
      }),
      outcomes: this.#outcomes.filter(({ decision_id }) => named.includes(decision_id)),
      known_merchants: [...this.#known_merchants.values()],
      questions: [...this.#questions.values()],
    };
    return Object.assign(nothingLoaded(), rows);
  }

  #agentRow(): Agent {
    return {
      agent_id: AGENT_ID,
      slug: 'imagined',
      name: 'Imagined',
      mode: this.#mode,
      status: 'active',
      authority_version: 1,
      authority_hash: this.authority_hash,
      directory_version: 0,
      answers_version: this.#answers_version,
      allowances_version: this.#allowances_version,
      created_at: BEGAN_AT,
      updated_at: BEGAN_AT,
    };
  }

  #authorityRow(): AuthorityRow {
    return {
      agent_id: AGENT_ID,
      version: 1,
      hash: this.authority_hash,
      authority: canonicalJson(this.authority),
      created_at: BEGAN_AT,
      key_id: null,
      principal_id: null,
      note: null,
      joined: null,
    };
  }

  /** Keeps what a command changed. */
  #keep({ changes, counters, questions, allowances }: WorkingSet): void {
    for (const [id, allowance] of allowances.changes) this.#allowances.set(id, allowance);
    for (const row of counters.changes()) addToRows(this.#counters, row);
    for (const { decision_id, document } of changes.decisions) {
      const decision = decodeDecision(document);
      this.#decisions.set(decision_id, decision);
      this.#states.set(decision_id, initialState(decision));
    }
    for (const state of changes.states.values()) this.#states.set(state.decision_id, state);
    for (const [name, budget] of changes.budgets) this.#budgets.set(name, budget);
    for (const [name, known] of changes.known_merchants)
      if (!this.#known_merchants.has(name)) this.#known_merchants.set(name, known);
    this.#outcomes.push(...changes.outcomes);
    for (const [name, question] of questions.changes) this.#questions.set(name, question);
    this.#allowances_version = changes.agents.get(AGENT_ID)?.allowances_version ?? this.#allowances_version;
    this.#answers_version = changes.agents.get(AGENT_ID)?.answers_version ?? this.#answers_version;
  }
}
