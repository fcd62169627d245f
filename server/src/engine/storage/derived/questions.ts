import {
  answerOf,
  type KnownAnswers,
  NO_ANSWERS,
  type QuestionEvent,
  type QuestionRow,
} from '@purser/rules/domain/question-history';
import type { Queryable } from '../database.ts';
import { containing } from '../pages.ts';
import { type InWorkspace, makeInsert, mapParts, type Write } from '../rows.ts';

/** Names a question of an agent. */
interface QuestionRef {
  agent_id: string;
  question_id: string;
}

/** A question as it is stored: JSON is text, because PostgreSQL rejects some of what a customer may send. */
export type StoredQuestion = Omit<QuestionRow, 'about' | 'asked_for' | 'answer'> & {
  about: string | null;
  asked_for: string;
  answer: string | null;
};

const COLUMNS = `agent_id, question_id, kind, merchant, about, sentence, asked, first_seq, first_asked_at, last_seq,
  last_asked_at, asked_for, answer`;
const EVENT_COLUMNS =
  'seq, agent_id, question_id, what, at, key_id, principal_id, comment, decision_id, amount_minor, currency, payee_id';

const jsonOrNull = (value: object | null) => (value === null ? null : JSON.stringify(value));
const parsedOrNull = <T>(text: string | null) => (text === null ? null : (JSON.parse(text) as T));

/** The stored form of a question. */
export function storedQuestion(row: QuestionRow): StoredQuestion {
  return {
    ...row,
    about: jsonOrNull(row.about),
    asked_for: JSON.stringify(row.asked_for),
    answer: jsonOrNull(row.answer),
  };
}

/** A question as the rules use it. Throws SyntaxError where a stored text is not JSON. */
export function questionOf(row: StoredQuestion): QuestionRow {
  return {
    ...row,
    about: parsedOrNull(row.about),
    asked_for: JSON.parse(row.asked_for),
    answer: parsedOrNull(row.answer),
  };
}

const put = makeInsert<StoredQuestion>(
  'questions',
  {
    agent_id: 'text',
    question_id: 'text',
    kind: 'text',
    merchant: 'text',
    about: 'text',
    sentence: 'text',
    asked: 'integer',
    first_seq: 'bigint',
    first_asked_at: 'timestamptz',
    last_seq: 'bigint',
    last_asked_at: 'timestamptz',
    asked_for: 'text',
    answer: 'text',
  },
  {
    conflict: ['agent_id', 'question_id'],
    update: ['asked', 'last_seq', 'last_asked_at', 'asked_for', 'answer'],
    mostly_there: true,
  },
);

/** Inserts questions and updates those that were asked or answered again. */
export const putQuestions: Write<QuestionRow> = (client, parts) =>
  put(client, mapParts(parts, storedQuestion));

export const insertQuestionEvents = makeInsert<QuestionEvent>('question_events', {
  seq: 'bigint',
  agent_id: 'text',
  question_id: 'text',
  what: 'text',
  at: 'timestamptz',
  key_id: 'text',
  principal_id: 'text',
  comment: 'text',
  decision_id: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  payee_id: 'text',
});

/** Returns these questions as they are stored; unknown ones are left out. */
export async function loadStoredQuestions(
  db: Queryable,
  wanted: readonly InWorkspace<QuestionRef>[],
): Promise<InWorkspace<StoredQuestion>[]> {
  const result = await db.query<InWorkspace<StoredQuestion>>({
    name: 'load_questions',
    text: `select q.* from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, agent_id, question_id)
      cross join lateral (
        select workspace_id, ${COLUMNS} from questions where workspace_id = w.workspace_id
          and agent_id = w.agent_id and question_id = w.question_id limit 1) as q`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.question_id),
    ],
  });
  return result.rows;
}

/** Returns these questions; unknown ones are left out. */
export async function loadQuestions(
  db: Queryable,
  wanted: readonly InWorkspace<QuestionRef>[],
): Promise<InWorkspace<QuestionRow>[]> {
  const rows = await loadStoredQuestions(db, wanted);
  return rows.map(({ workspace_id, ...row }) => ({ workspace_id, ...questionOf(row) }));
}

/** The answers of an agent that count at most: those given last. */
const MAX_ANSWERS = 10_000;

/** Returns the answers to an agent's questions as they are now: the version and the answers are of one moment. */
export async function loadAnswers(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
): Promise<KnownAnswers> {
  const result = await db.query<
    { answers_version: number } & { [Column in 'question_id' | 'answer']: string | null }
  >({
    name: 'load_answers',
    text: `select a.answers_version, q.question_id, q.answer from agents a
      left join lateral (
        select question_id, answer from questions where workspace_id = $1 and agent_id = $2 and answer is not null
        order by last_seq desc limit ${MAX_ANSWERS}) as q on true
      where a.workspace_id = $1 and a.agent_id = $2`,
    values: [workspace_id, agent_id],
  });
  const version = result.rows[0]?.answers_version ?? 0;
  if (version === 0) return NO_ANSWERS;
  const found = result.rows.flatMap(({ question_id, answer }) => {
    if (question_id === null || answer === null) return [];
    const known = answerOf({ question_id, answer: JSON.parse(answer) } as QuestionRow);
    return known === undefined ? [] : known;
  });
  return { version, answers: new Map(found.map((answer) => [answer.question_id, answer])) };
}

/** Filters of an agent's questions; all must match. */
export interface QuestionFilters {
  is_answered?: boolean;
  kind?: readonly string[];
  /** Case-insensitive part of the merchant's name. */
  merchant?: string;
}

/** The place of a question in the list. */
export type QuestionPlace = Pick<QuestionRow, 'last_seq' | 'question_id'>;

/** Returns a page of an agent's questions after a place, the one that was asked or answered last first. */
export async function listQuestions(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  page: { after: QuestionPlace | null; limit: number },
  { is_answered, kind, merchant }: QuestionFilters = {},
): Promise<QuestionRow[]> {
  const result = await db.query<StoredQuestion & { workspace_id: string }>({
    name: 'list_questions',
    text: `select ${COLUMNS} from questions where workspace_id = $1 and agent_id = $2
        and ($3::bigint is null or (last_seq, question_id) < ($3, $4))
        and ($6::boolean is null or (answer is not null) = $6) and ($7::text[] is null or kind = any($7))
        and ($8::text is null or merchant collate "und-x-icu" ilike $8)
      order by last_seq desc, question_id desc limit $5`,
    values: [
      workspace_id,
      agent_id,
      page.after?.last_seq ?? null,
      page.after?.question_id ?? null,
      page.limit,
      is_answered ?? null,
      kind ?? null,
      merchant === undefined ? null : containing(merchant),
    ],
  });
  return result.rows.map(questionOf);
}

/** Returns a page of all questions of a workspace as they are stored, in the order of their keys, after one. */
export async function listAllQuestions(
  db: Queryable,
  workspace_id: string,
  page: { after: QuestionRef; limit: number },
): Promise<StoredQuestion[]> {
  const result = await db.query<StoredQuestion & { workspace_id: string }>({
    name: 'list_all_questions',
    text: `select ${COLUMNS} from questions where workspace_id = $1 and (agent_id, question_id) > ($2, $3)
      order by agent_id, question_id limit $4`,
    values: [workspace_id, page.after.agent_id, page.after.question_id, page.limit],
  });
  return result.rows;
}

/** Returns events of one question after an event, in the order of the chain. */
export async function listEventsOfQuestion(
  db: Queryable,
  workspace_id: string,
  { agent_id, question_id }: QuestionRef,
  page: { after: number; limit: number },
): Promise<QuestionEvent[]> {
  const result = await db.query<QuestionEvent & { workspace_id: string }>({
    name: 'list_events_of_question',
    text: `select ${EVENT_COLUMNS} from question_events
      where workspace_id = $1 and agent_id = $2 and question_id = $3 and seq > $4 order by seq limit $5`,
    values: [workspace_id, agent_id, question_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns the first events of each of these questions, at most `limit` of each, in its order of the chain. */
export async function listFirstEvents(
  db: Queryable,
  workspace_id: string,
  wanted: readonly QuestionRef[],
  limit: number,
): Promise<QuestionEvent[]> {
  const result = await db.query<QuestionEvent & { workspace_id: string }>({
    name: 'list_first_events_of_questions',
    text: `select e.* from unnest($2::text[], $3::text[]) as w(agent_id, question_id)
      cross join lateral (
        select ${EVENT_COLUMNS} from question_events where workspace_id = $1 and agent_id = w.agent_id
          and question_id = w.question_id order by seq limit $4) as e
      order by e.seq`,
    values: [
      workspace_id,
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.question_id),
      limit,
    ],
  });
  return result.rows;
}

/** Returns the events of questions within a part of the chain: after `after`, up to and including `upto`. */
export async function loadQuestionEvents(
  db: Queryable,
  workspace_id: string,
  { after, upto }: { after: number; upto: number },
): Promise<QuestionEvent[]> {
  const result = await db.query<QuestionEvent & { workspace_id: string }>({
    name: 'load_question_events',
    text: `select ${EVENT_COLUMNS} from question_events
      where workspace_id = $1 and seq > $2 and seq <= $3 order by seq, question_id`,
    values: [workspace_id, after, upto],
  });
  return result.rows;
}

/** The parts of a question that are shown and read from its events. */
export interface QuestionView extends QuestionRef {
  /** The newest first. */
  examples: QuestionEvent[];
  earlier: QuestionEvent[];
  pending: number;
}

/**
 * Returns what is shown with each of these questions: the newest `examples` events that asked it, the newest `answers` that
 * were given, and how many pending reviews asked it, at most `pending`.
 */
export async function loadQuestionViews(
  db: Queryable,
  workspace_id: string,
  wanted: readonly QuestionRef[],
  max: { examples: number; answers: number; pending: number },
): Promise<Map<string, QuestionView>> {
  const refs = [wanted.map((each) => each.agent_id), wanted.map((each) => each.question_id)];
  const newest = (
    where: string,
  ) => `select e.* from unnest($2::text[], $3::text[]) as w(agent_id, question_id)
      cross join lateral (
        select ${EVENT_COLUMNS} from question_events where workspace_id = $1 and agent_id = w.agent_id
          and question_id = w.question_id and ${where} order by seq desc limit $4) as e`;
  const [asked, answered, pending] = await Promise.all([
    db.query<QuestionEvent & { workspace_id: string }>({
      name: 'load_question_examples',
      text: newest(`what = 'ASKED'`),
      values: [workspace_id, ...refs, max.examples],
    }),
    db.query<QuestionEvent & { workspace_id: string }>({
      name: 'load_question_answers',
      text: newest(`what <> 'ASKED'`),
      values: [workspace_id, ...refs, max.answers],
    }),
    db.query<QuestionRef & { pending: number }>({
      name: 'count_pending_of_questions',
      text: `select w.agent_id, w.question_id, p.pending from unnest($2::text[], $3::text[]) as w(agent_id, question_id)
        cross join lateral (
          select count(*) as pending from (
            select from question_events e cross join lateral (
              select from decision_states s where s.workspace_id = $1 and s.decision_id = e.decision_id
                and s.review_state = 'PENDING'
                and (s.expires_at is null or s.expires_at > (select clock_timestamp())) limit 1) as s
            where e.workspace_id = $1 and e.question_id = w.question_id and e.what = 'ASKED' and e.agent_id = w.agent_id
            limit $4) as found) as p`,
      values: [workspace_id, ...refs, max.pending],
    }),
  ]);
  const views = new Map<string, QuestionView>();
  for (const { agent_id, question_id } of wanted)
    views.set(`${agent_id} ${question_id}`, { agent_id, question_id, examples: [], earlier: [], pending: 0 });
  const viewOf = (ref: QuestionRef) => views.get(`${ref.agent_id} ${ref.question_id}`) as QuestionView;
  for (const event of asked.rows) viewOf(event).examples.push(event);
  for (const event of answered.rows) viewOf(event).earlier.push(event);
  for (const row of pending.rows) viewOf(row).pending = row.pending;
  return views;
}

/** The requesters of the spends that asked a question, each once. */
export async function loadRequesters(
  db: Queryable,
  workspace_id: string,
  { agent_id, question_id }: QuestionRef,
): Promise<{ key_id: string; principal_id: string | null }[]> {
  const result = await db.query<{ key_id: string; principal_id: string | null }>({
    name: 'load_requesters_of_question',
    text: `select distinct key_id, principal_id from question_events
      where workspace_id = $1 and agent_id = $2 and question_id = $3 and what = 'ASKED' and key_id is not null`,
    values: [workspace_id, agent_id, question_id],
  });
  return result.rows;
}

/**
 * Returns the open questions of the newest `looked_at` pending reviews, of one agent or of all, that of the most reviews
 * first, with the number of these reviews.
 */
export async function listPendingQuestions(
  db: Queryable,
  workspace_id: string,
  { agent_id, looked_at, limit }: { agent_id: string | null; looked_at: number; limit: number },
): Promise<{ question: QuestionRow; reviews: number }[]> {
  const columns = COLUMNS.replaceAll(/\w+/g, 'q.$&');
  const result = await db.query<StoredQuestion & { workspace_id: string; reviews: number }>({
    name: 'list_pending_questions',
    text: `select ${columns}, f.reviews from (
        select e.agent_id, e.question_id, count(*) as reviews from (
          select decision_id from decision_states where workspace_id = $1 and review_state = 'PENDING'
            and (expires_at is null or expires_at > (select clock_timestamp())) and ($2::text is null or agent_id = $2)
          order by decision_id desc limit $3) as s
        join question_events e on e.workspace_id = $1 and e.decision_id = s.decision_id and e.what = 'ASKED'
        group by e.agent_id, e.question_id) as f
      cross join lateral (
        select * from questions q where q.workspace_id = $1 and q.agent_id = f.agent_id
          and q.question_id = f.question_id and q.answer is null limit 1) as q
      order by f.reviews desc, q.last_seq desc, q.question_id limit $4`,
    values: [workspace_id, agent_id, looked_at, limit],
  });
  return result.rows.map(({ reviews, ...row }) => ({ question: questionOf(row), reviews }));
}

/** Returns the `seq` of the last event that answered a question of each of these agents; one without any is left out. */
export async function loadAnswersVersions(
  db: Queryable,
  workspace_id: string,
  agent_ids: readonly string[],
): Promise<Map<string, number>> {
  const result = await db.query<{ agent_id: string; seq: number }>({
    name: 'load_answers_versions',
    text: `select w.agent_id, e.seq from unnest($2::text[]) as w(agent_id)
      cross join lateral (
        select seq from question_events where workspace_id = $1 and agent_id = w.agent_id and what <> 'ASKED'
        order by seq desc limit 1) as e`,
    values: [workspace_id, agent_ids],
  });
  return new Map(result.rows.map(({ agent_id, seq }) => [agent_id, seq]));
}
