import type { FeedbackPlace, FeedbackRow } from '@purser/rules/domain/feedback';
import { pushTo } from '@purser/rules/values/maps';
import type { Client, Queryable } from '../storage/database.ts';

const COLUMNS = `agent_id, purpose_hash, merchant, payee_id, word, allowed, denied, aligned, misaligned, paid,
  usual_minor`;

/** The types of events that are feedback on a decision. */
const FEEDBACK_EVENTS =
  "('decision.review.recorded', 'decision.label.recorded', 'decision.outcome.recorded')";

/**
 * The decisions of the feedback events after `after` and up to `upto`, at most `max_feedback` of these events. `last_seq` is
 * how far the result reaches.
 */
export async function loadDecisionsWithFeedback(
  client: Client,
  workspace_id: string,
  range: { after: number; upto: number; max_feedback: number },
): Promise<{ last_seq: number; decision_ids: string[] }> {
  const { rows } = await client.query<{ seq: number; decision_id: string | null }>({
    name: 'load_spoken_of',
    text: `select e.seq, coalesce(
          (select r.decision_id from reviews r where r.workspace_id = $1 and r.review_id = e.subject_id),
          (select l.decision_id from labels l where l.workspace_id = $1 and l.label_id = e.subject_id),
          (select o.decision_id from outcomes o where o.workspace_id = $1 and o.outcome_id = e.subject_id)
        ) as decision_id
      from ledger_events e
      where e.workspace_id = $1 and e.seq > $2 and e.seq <= $3 and e.type in ${FEEDBACK_EVENTS}
      order by e.seq limit $4`,
    values: [workspace_id, range.after, range.upto, range.max_feedback],
  });
  const last_seq = rows.length < range.max_feedback ? range.upto : (rows.at(-1)?.seq as number);
  return { last_seq, decision_ids: [...new Set(rows.flatMap((row) => row.decision_id ?? []))] };
}

/** The sums with these keys; those that do not exist are left out. */
export async function loadFeedback(
  db: Queryable,
  workspace_id: string,
  wanted: readonly FeedbackPlace[],
): Promise<FeedbackRow[]> {
  const result = await db.query<FeedbackRow & { workspace_id: string }>({
    name: 'load_feedback',
    text: `select d.* from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        as w(agent_id, purpose_hash, merchant, payee_id, word)
      cross join lateral (
        select ${COLUMNS} from feedback where workspace_id = $1 and agent_id = w.agent_id and merchant = w.merchant
          and payee_id = w.payee_id and purpose_hash = w.purpose_hash and word = w.word limit 1) as d`,
    values: [
      workspace_id,
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.purpose_hash),
      wanted.map((each) => each.merchant),
      wanted.map((each) => each.payee_id),
      wanted.map((each) => each.word),
    ],
  });
  return result.rows;
}

/** The stored text of the amounts, with sorted currencies, since verification compares it as text. */
function usualText(usual: FeedbackRow['usual_minor']): string {
  const amounts = Object.keys(usual)
    .sort()
    .map((currency) => `"${currency}":{"low":${usual[currency]?.low},"high":${usual[currency]?.high}}`);
  return `{${amounts.join(',')}}`;
}

/** Writes sums, new or changed. */
export async function putFeedback(
  client: Client,
  workspace_id: string,
  rows: readonly FeedbackRow[],
): Promise<void> {
  await client.query({
    name: 'put_feedback',
    text: `insert into feedback (workspace_id, ${COLUMNS}, changed_at)
      select $1, r.*, clock_timestamp()
      from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[], $9::int[],
        $10::int[], $11::int[], $12::json[]) as r
      on conflict (workspace_id, agent_id, merchant, payee_id, purpose_hash, word) do update set
        allowed = excluded.allowed, denied = excluded.denied, aligned = excluded.aligned,
        misaligned = excluded.misaligned, paid = excluded.paid, usual_minor = excluded.usual_minor,
        changed_at = excluded.changed_at`,
    values: [
      workspace_id,
      rows.map((row) => row.agent_id),
      rows.map((row) => row.purpose_hash),
      rows.map((row) => row.merchant),
      rows.map((row) => row.payee_id),
      rows.map((row) => row.word),
      rows.map((row) => row.allowed),
      rows.map((row) => row.denied),
      rows.map((row) => row.aligned),
      rows.map((row) => row.misaligned),
      rows.map((row) => row.paid),
      rows.map((row) => usualText(row.usual_minor)),
    ],
  });
}

/**
 * The amounts vouched for at these places, computed from all lessons; empty where there are none. It reads every lesson with
 * an amount there, and so is only for places of which one was taken back.
 */
export async function loadUsual(
  client: Client,
  workspace_id: string,
  places: readonly FeedbackPlace[],
): Promise<FeedbackRow['usual_minor'][]> {
  const result = await client.query<{ place: number; currency: string; low: number; high: number }>({
    name: 'gather_usual',
    text: `select w.place::int, v.* from unnest($2::text[], $3::text[], $4::text[], $5::text[]) with ordinality
        as w(agent_id, purpose_hash, merchant, payee_id, place)
      cross join lateral (
        select currency, min(vouched_minor) as low, max(vouched_minor) as high
        from decision_lessons where workspace_id = $1 and agent_id = w.agent_id and purpose_hash = w.purpose_hash
          and merchant = w.merchant and vouched_minor is not null and coalesce(payee_id, '') = w.payee_id
        group by currency) as v`,
    values: [
      workspace_id,
      places.map((each) => each.agent_id),
      places.map((each) => each.purpose_hash),
      places.map((each) => each.merchant),
      places.map((each) => each.payee_id),
    ],
  });
  return places.map((_, i) => {
    const found = result.rows.filter(({ place }) => place === i + 1);
    return Object.fromEntries(found.map(({ currency, low, high }) => [currency, { low, high }]));
  });
}

/**
 * The sums of agents under all of their purposes, by agent, the last changed first, and of each agent at most `limit`. Agents
 * may be of several workspaces.
 */
export async function listFeedback(
  db: Queryable,
  agents: readonly { workspace_id: string; agent_id: string }[],
  limit: number,
): Promise<Map<string, FeedbackRow[]>> {
  const result = await db.query<FeedbackRow>({
    name: 'list_feedback',
    text: `select f.* from unnest($1::text[], $2::text[]) as w(workspace_id, agent_id)
      cross join lateral (
        select ${COLUMNS} from feedback where workspace_id = w.workspace_id and agent_id = w.agent_id
        order by changed_at desc limit $3) as f`,
    values: [agents.map((one) => one.workspace_id), agents.map((one) => one.agent_id), limit],
  });
  const found = new Map<string, FeedbackRow[]>();
  for (const row of result.rows) pushTo(found, row.agent_id, row);
  return found;
}

/** A sum that does not match its lessons. */
export interface WrongFeedback extends FeedbackPlace {
  /** How many lessons it should be the sum of; 0: it should not exist. */
  lessons: number;
}

/**
 * Sums that do not match the lessons of all decisions, or have none; at most `limit`. A lesson that has become empty, by a
 * corrected label or a refund, keeps its sums, which may then be zero. The database adds everything up, in
 * one pass over each table. Stored amounts are compared as text, since a tampered row may not be valid JSON. Call it within
 * a transaction.
 */
export async function findWrongFeedback(
  db: Queryable,
  workspace_id: string,
  limit: number,
): Promise<WrongFeedback[]> {
  const counts = ['allowed', 'denied', 'aligned', 'misaligned', 'paid'];
  const isWrong = [
    ...counts.map((name) => `sum(${name}) <> 0`),
    "coalesce(max(usual), '{}') <> coalesce(max(kept_usual), '{}')",
    'count(kept_usual) > 1',
    '(sum(lessons) = 0 and count(kept_usual) > 0)',
    '(sum(lessons) > 0 and count(kept_usual) = 0)',
  ];
  const of = 'agent_id, purpose_hash, merchant, payee_id';
  const place = `${of}, word`;
  const result = await db.query<WrongFeedback>({
    name: 'find_wrong_feedback',
    text: `with lessons as (
        select agent_id, purpose_hash, merchant, coalesce(payee_id, '') as payee_id, words, currency, vouched_minor,
          ${counts.join(', ')}
        from decision_lessons where workspace_id = $1
      ), places as (
        select l.*, '' as word from lessons l
        union all select l.*, w.word from lessons l cross join lateral unnest(l.words) as w(word)
      ), amounts as (
        select ${of}, currency, min(vouched_minor) as low, max(vouched_minor) as high
        from lessons where vouched_minor is not null group by ${of}, currency
      ), parts as (
        select ${place}, ${counts.map((name) => `${name}::int::bigint`).join(', ')}, 1 as lessons, null::text as usual,
          null::text as kept_usual from places
        union all
        select ${of}, '', 0, 0, 0, 0, 0, 0, '{' || string_agg(
            format('"%s":{"low":%s,"high":%s}', currency, low, high), ',' order by currency collate "C") || '}',
          null from amounts group by ${of}
        union all
        select ${place}, ${counts.map((name) => `-${name}::bigint`).join(', ')}, 0, null, usual_minor::text
        from feedback where workspace_id = $1
      )
      select ${place}, sum(lessons)::int as lessons from parts group by ${place}
      having ${isWrong.join(' or ')} order by ${place} limit $2`,
    values: [workspace_id, limit],
  });
  return result.rows;
}
