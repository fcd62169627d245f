import type { Agent } from '@purser/rules/domain/agents';
import {
  answerOf,
  type QuestionEvent,
  type QuestionRow,
  questionAfter,
} from '@purser/rules/domain/question-history';
import type { Answer } from '@purser/rules/domain/questions';

/** Names a question of an agent. */
export interface QuestionRef {
  agent_id: string;
  question_id: string;
}

/** The name of a question in the lane. */
export const questionName = ({ agent_id, question_id }: QuestionRef) => `${agent_id} ${question_id}`;

/** The parts of the working set that the questions use. */
interface Within {
  agent(ref: string): Agent | undefined;
  putAgent(agent: Agent): void;
}

/** The questions of one workspace's agents, in a batch. A command sees the changes of those before it. */
export class Questions {
  /** By name: what the lane writes. */
  readonly changes = new Map<string, QuestionRow>();
  readonly events: QuestionEvent[] = [];
  readonly #within: Within;
  readonly #rows = new Map<string, QuestionRow>();

  constructor(within: Within, loaded: readonly QuestionRow[]) {
    this.#within = within;
    for (const row of loaded) this.#rows.set(questionName(row), row);
  }

  /** Returns a question; the command must need it. */
  row(of: QuestionRef): QuestionRow | undefined {
    return this.#rows.get(questionName(of));
  }

  /** Returns the answer in force; the command must need the question. */
  answer(of: QuestionRef): Answer | undefined {
    const row = this.row(of);
    return row && answerOf(row);
  }

  /**
   * Applies a step in the history of a question. `first` is the row to begin with where there is none. Answers move the agent's
   * version, so that decisions prepared before them are prepared again. Returns the question as it is then.
   */
  add(event: QuestionEvent, first?: QuestionRow): QuestionRow {
    const before = this.row(event) ?? first;
    if (before === undefined) throw new Error(`${event.question_id} was never asked`);
    const row = questionAfter(before, event);
    this.#rows.set(questionName(row), row);
    this.changes.set(questionName(row), row);
    this.events.push(event);
    const agent = event.what === 'ASKED' ? undefined : this.#within.agent(event.agent_id);
    if (agent !== undefined) this.#within.putAgent({ ...agent, answers_version: event.seq });
    return row;
  }
}
