import type { Label, Review } from '@purser/contract/records';
import type { LedgerEvent } from '@purser/rules/domain/ledger';
import {
  type AnswerGiven,
  type Author,
  askedBy,
  eventOfAnswer,
  eventsOfDecision,
  eventsOfRecord,
  newQuestion,
  type QuestionEvent,
  type QuestionRow,
  questionAfter,
} from '@purser/rules/domain/question-history';
import { pushTo } from '@purser/rules/values/maps';
import { listAgents } from '../storage/agents.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import {
  listAllQuestions,
  listEventsOfQuestion,
  listFirstEvents,
  loadAnswersVersions,
  loadQuestionEvents,
  loadStoredQuestions,
  type StoredQuestion,
  storedQuestion,
} from '../storage/derived/questions.ts';
import { type ChainRow, countRows, loadOutlinedDecisions } from './chain-pages.ts';
import type { Walk } from './orphans.ts';
import type { SealedRow } from './sealed-rows.ts';

const ROWS_AT_ONCE = 200;
const EVENTS_AT_ONCE = 1_000;
/** The events of each question that are read together with those of others. */
const FIRST_EVENTS = 20;

/** A page of the chain with the rows that were read and, by `seq`, the hashes of all rows. */
interface PageRows {
  events: readonly ChainRow[];
  rows: ReadonlyMap<number, SealedRow>;
  rebuilt: ReadonlyMap<number, Buffer>;
}

/** The parts of a verification that the questions use. */
type Verified = Pick<Walk, 'db' | 'workspace_id' | 'findings'>;

const nameOf = ({ agent_id, question_id }: Pick<QuestionRow, 'agent_id' | 'question_id'>) =>
  `question ${question_id} of ${agent_id}`;

/** A question as the decision says that asked it first. */
type FirstAsked = Pick<StoredQuestion, 'kind' | 'merchant' | 'about' | 'sentence' | 'first_asked_at'>;

/** The events of questions that follow from a part of the chain. */
interface Expected {
  events: QuestionEvent[];
  /** Rows that the questions would begin with, of each event that asked one. */
  asked: QuestionRow[];
}

/** Adds the questions that decisions asked. */
async function addAsked(
  { db, workspace_id }: Verified,
  events: readonly ChainRow[],
  expected: Expected,
): Promise<void> {
  const seq_of = new Map(
    events.flatMap(({ seq, subject_id, asks }) => (asks === true ? [[subject_id, seq] as const] : [])),
  );
  if (seq_of.size === 0) return;
  for (const decision of await loadOutlinedDecisions(db, workspace_id, [...seq_of.keys()])) {
    const asked = askedBy(decision.purpose);
    const seq = seq_of.get(decision.decision_id) as number;
    for (const [i, event] of eventsOfDecision(decision, asked, seq).entries()) {
      expected.events.push(event);
      const question = asked[i] as (typeof asked)[number];
      expected.asked.push(newQuestion(decision.agent.id, question, decision.action.merchant, event));
    }
  }
}

/** Adds the answers of reviews and labels, and those that were given or forgotten by themselves. */
async function addAnswered(
  { db, workspace_id }: Verified,
  rows: ReadonlyMap<number, SealedRow>,
  events: readonly LedgerEvent[],
  expected: Expected,
): Promise<void> {
  const records = new Map<number, Review | Label>();
  for (const { seq, type } of events) {
    const data = rows.get(seq)?.data;
    if (data === undefined) continue;
    if (type === 'decision.review.recorded' || type === 'decision.label.recorded') {
      if (Array.isArray(data.questions)) records.set(seq, data as unknown as Review | Label);
    } else if (type === 'question.answered' || type === 'question.forgotten') {
      const { state, actor, created_at } = data as { state: string; actor: Author; created_at: string };
      const { question_answer } = JSON.parse(state) as { question_answer: AnswerGiven };
      expected.events.push(eventOfAnswer(question_answer, actor, { seq, at: created_at }));
    }
  }
  if (records.size === 0) return;
  const ids = [...new Set([...records.values()].map(({ decision_id }) => decision_id))];
  const cores = new Map(
    (await loadDecisionCores(db, workspace_id, ids)).map(({ decision }) => [decision.decision_id, decision]),
  );
  for (const [seq, record] of records) {
    const decision = cores.get(record.decision_id);
    if (decision !== undefined) expected.events.push(...eventsOfRecord(decision, record, seq));
  }
}

const placeOf = ({ seq, agent_id, question_id }: QuestionEvent) => `${seq} ${agent_id} ${question_id}`;
const sameEvent = (one: QuestionEvent, other: QuestionEvent) =>
  (Object.keys(one) as (keyof QuestionEvent)[]).every((column) => one[column] === other[column]);

/** The stored events of a part of the chain: their number, and whether they are those that follow from it. */
interface Compared {
  stored: number;
  is_right: boolean;
}

/** Reports stored events of a part of the chain that differ from those that follow from it. */
async function compareEvents(
  { db, workspace_id, findings }: Verified,
  expected: readonly QuestionEvent[],
  span: { after: number; upto: number },
): Promise<Compared> {
  const stored = await loadQuestionEvents(db, workspace_id, span);
  const left = new Map(stored.map((event) => [placeOf(event), event]));
  let is_right = true;
  const differs = (event: QuestionEvent, how: string) => {
    is_right = false;
    findings.addDerived({
      seq: event.seq,
      kind: 'ROW_MISMATCH',
      detail: `The record of ${nameOf(event)} ${how} event ${event.seq}.`,
    });
  };
  for (const event of expected) {
    const found = left.get(placeOf(event));
    left.delete(placeOf(event));
    if (found === undefined) differs(event, 'is missing at');
    else if (!sameEvent(event, found)) differs(event, 'differs from');
  }
  for (const event of left.values()) findings.addOrphan(`The record of ${nameOf(event)} is in no event.`);
  return { stored: stored.length, is_right: is_right && left.size === 0 };
}

const firstOf = ({ kind, merchant, about, sentence, first_asked_at }: StoredQuestion): FirstAsked => ({
  kind,
  merchant,
  about,
  sentence,
  first_asked_at,
});

/** Reports questions that are gone, or say something else than the decision that asked them first. */
async function compareFirst(
  { db, workspace_id, findings }: Verified,
  asked: readonly QuestionRow[],
): Promise<void> {
  for (let at = 0; at < asked.length; at += ROWS_AT_ONCE) {
    const part = asked.slice(at, at + ROWS_AT_ONCE);
    const refs = part.map(({ agent_id, question_id }) => ({ workspace_id, agent_id, question_id }));
    const stored = new Map((await loadStoredQuestions(db, refs)).map((row) => [nameOf(row), row]));
    for (const first of part) {
      const row = stored.get(nameOf(first));
      const seq = first.first_seq;
      if (row === undefined) {
        const [earliest] = await listEventsOfQuestion(db, workspace_id, first, { after: 0, limit: 1 });
        if (earliest?.seq !== seq) continue;
        findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: `The row of ${nameOf(first)} is gone.` });
      } else if (row.first_seq === seq) {
        if (JSON.stringify(firstOf(row)) === JSON.stringify(firstOf(storedQuestion(first)))) continue;
        const detail = `The row of ${nameOf(first)} differs from the decision that asked it first.`;
        findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
      }
    }
  }
}

/**
 * Computes the history of questions again from a page of the chain, and reports rows that differ. Nothing follows from a row
 * that was changed.
 */
export async function checkQuestionEvents(walk: Walk, { events, rows, rebuilt }: PageRows): Promise<void> {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return;
  const intact = events.filter(({ seq, data_hash }) => rebuilt.get(seq)?.equals(data_hash) === true);
  const expected: Expected = { events: [], asked: [] };
  await addAsked(walk, intact, expected);
  await addAnswered(walk, rows, intact, expected);
  await compareFirst(walk, expected.asked);
  const span = { after: first.seq - 1, upto: last.seq };
  const { stored, is_right } = await compareEvents(walk, expected.events, span);
  walk.tally.found.question_events += stored;
  walk.tally.has_right_questions &&= is_right;
}

/** A question as its events say; at most `FIRST_EVENTS` of them were read. Null where it has none. */
async function sumOf(
  { db, workspace_id }: Verified,
  row: StoredQuestion,
  first: readonly QuestionEvent[],
): Promise<QuestionRow | null> {
  const { about, asked_for, answer, ...rest } = row;
  let question: QuestionRow | null = null;
  for (let [events, read] = [first, FIRST_EVENTS]; ; read = EVENTS_AT_ONCE) {
    for (const event of events) {
      const { seq, at } = event;
      const begin = { ...rest, about: null, asked: 0, first_seq: seq, first_asked_at: at };
      question ??= { ...begin, asked_for: { minor: {}, payee_ids: [] }, answer: null };
      question = questionAfter(question, event);
    }
    const last = events.at(-1);
    if (last === undefined || events.length < read) return question;
    events = await listEventsOfQuestion(db, workspace_id, row, { after: last.seq, limit: EVENTS_AT_ONCE });
  }
}

/** Reports questions that are not the sum of their events. */
async function checkSums(verified: Verified, last_seq: number): Promise<void> {
  const { db, workspace_id, findings } = verified;
  for (let after = { agent_id: '', question_id: '' }; ; ) {
    const rows = await listAllQuestions(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    const first = new Map<string, QuestionEvent[]>();
    for (const event of await listFirstEvents(db, workspace_id, rows, FIRST_EVENTS))
      pushTo(first, nameOf(event), event);
    for (const row of rows) {
      after = row;
      const question = await sumOf(verified, row, first.get(nameOf(row)) ?? []);
      if (question === null) {
        findings.addOrphan(`The row of ${nameOf(row)} is in no event.`);
        continue;
      }
      const expected = { ...storedQuestion(question), about: row.about };
      const is_right = (Object.keys(expected) as (keyof StoredQuestion)[]).every(
        (column) => expected[column] === row[column],
      );
      if (is_right) continue;
      const seq = Math.min(question.last_seq, last_seq);
      const detail = `The row of ${nameOf(row)} is not the sum of its records.`;
      findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
    }
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** Reports agents whose version of answers is not the last event that answered one of their questions. */
async function checkAnswersVersions({ db, workspace_id, findings, sealed }: Walk): Promise<void> {
  for (let after: string | null = null; ; ) {
    const agents = await listAgents(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    const ids = agents.map(({ agent_id }) => agent_id);
    const versions = await loadAnswersVersions(db, workspace_id, ids);
    for (const { agent_id, answers_version } of agents) {
      const seq = sealed.get(`agent ${agent_id}`)?.seq;
      if (seq === undefined || answers_version === (versions.get(agent_id) ?? 0)) continue;
      const detail = `The row of agent ${agent_id} names another event than the last answer.`;
      findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
    }
    after = ids.at(-1) ?? null;
    if (after === null) return;
  }
}

/**
 * Reports questions that are not the sum of their events, and agents with another version of answers. Must run after all
 * events were checked, and before the rows of agents are.
 */
export async function checkQuestions(walk: Walk): Promise<void> {
  const { db, workspace_id, tally, previous } = walk;
  const records = await countRows(db, workspace_id, 'question_events');
  // The sum of wrong records says nothing.
  if (!tally.has_right_questions || records !== tally.found.question_events) return;
  await checkSums(walk, previous.seq);
  await checkAnswersVersions(walk);
}
