import { type FeedbackPlace, type FeedbackRow, MAX_PAYEES } from '../domain/feedback.ts';
import type { Client, Queryable } from '../storage/database.ts';

const COLUMNS = `agent_id, purpose_hash, kind, name, allowed, denied, aligned, misaligned, paid, usual_minor,
  payee_ids`;

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
    text: `select d.* from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as w(agent_id, purpose_hash, kind, name)
      cross join lateral (
        select ${COLUMNS} from feedback where workspace_id = $1 and agent_id = w.agent_id
          and purpose_hash = w.purpose_hash and kind = w.kind and name = w.name limit 1) as d`,
    values: [
      workspace_id,
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.purpose_hash),
      wanted.map((each) => each.kind),
      wanted.map((each) => each.name),
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
      select $1, r.agent_id, r.purpose_hash, r.kind, r.name, r.allowed, r.denied, r.aligned, r.misaligned, r.paid,
        r.usual_minor, array(select json_array_elements_text(r.payee_ids)), clock_timestamp()
      from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[], $8::int[], $9::int[],
        $10::int[], $11::json[], $12::json[]) as r(agent_id, purpose_hash, kind, name, allowed, denied, aligned,
        misaligned, paid, usual_minor, payee_ids)
      on conflict (workspace_id, agent_id, purpose_hash, kind, name) do update set allowed = excluded.allowed,
        denied = excluded.denied, aligned = excluded.aligned, misaligned = excluded.misaligned,
        paid = excluded.paid, usual_minor = excluded.usual_minor, payee_ids = excluded.payee_ids,
        changed_at = excluded.changed_at`,
    values: [
      workspace_id,
      rows.map((row) => row.agent_id),
      rows.map((row) => row.purpose_hash),
      rows.map((row) => row.kind),
      rows.map((row) => row.name),
      rows.map((row) => row.allowed),
      rows.map((row) => row.denied),
      rows.map((row) => row.aligned),
      rows.map((row) => row.misaligned),
      rows.map((row) => row.paid),
      rows.map((row) => usualText(row.usual_minor)),
      rows.map((row) => JSON.stringify(row.payee_ids)),
    ],
  });
}

/**
 * The amounts and payees vouched for at these merchants, computed from all lessons; empty where there are none. It reads
 * every lesson with an amount, and so is only for merchants of which one was taken back.
 */
export async function loadVouched(
  client: Client,
  workspace_id: string,
  merchants: readonly FeedbackPlace[],
): Promise<Pick<FeedbackRow, 'usual_minor' | 'payee_ids'>[]> {
  const result = await client.query<{
    place: number;
    currency: string;
    low: number;
    high: number;
    payee_ids: string[];
  }>({
    name: 'gather_vouched',
    text: `select w.place::int, v.* from unnest($2::text[], $3::text[], $4::text[]) with ordinality
        as w(agent_id, purpose_hash, name, place)
      cross join lateral (
        select currency, min(vouched_minor) as low, max(vouched_minor) as high,
          coalesce((array_agg(distinct payee_id order by payee_id) filter (where payee_id is not null))[1:${MAX_PAYEES}],
            '{}') as payee_ids
        from decision_lessons where workspace_id = $1 and agent_id = w.agent_id and purpose_hash = w.purpose_hash
          and merchant = w.name and vouched_minor is not null group by currency) as v`,
    values: [
      workspace_id,
      merchants.map((each) => each.agent_id),
      merchants.map((each) => each.purpose_hash),
      merchants.map((each) => each.name),
    ],
  });
  return merchants.map((_, i) => {
    const found = result.rows.filter(({ place }) => place === i + 1);
    return {
      usual_minor: Object.fromEntries(found.map(({ currency, low, high }) => [currency, { low, high }])),
      payee_ids: [...new Set(found.flatMap(({ payee_ids }) => payee_ids))].sort().slice(0, MAX_PAYEES),
    };
  });
}

/** Sums of one agent under one purpose that are read at most. */
const MAX_FEEDBACK_ROWS = 5_000;

/** An agent's sums under one purpose, the last changed first, at most `MAX_FEEDBACK_ROWS`. */
export async function listFeedback(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  purpose_hash: string,
): Promise<FeedbackRow[]> {
  const result = await db.query<FeedbackRow & { workspace_id: string }>({
    name: 'list_feedback',
    text: `select ${COLUMNS} from feedback where workspace_id = $1 and agent_id = $2 and purpose_hash = $3
      order by changed_at desc limit ${MAX_FEEDBACK_ROWS}`,
    values: [workspace_id, agent_id, purpose_hash],
  });
  return result.rows;
}

/** A sum that does not match its lessons. */
export interface WrongFeedback extends FeedbackPlace {
  /** How many lessons it should be the sum of; 0: it should not exist. */
  lessons: number;
}

/**
 * Sums that do not match the lessons of all decisions, or have none; at most `limit`. The database adds everything up, in
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
    "coalesce(max(payees), '{}') <> coalesce(max(kept_payees), '{}')",
    'count(kept_usual) > 1',
    '(sum(lessons) = 0 and count(kept_usual) > 0)',
    '(sum(lessons) > 0 and count(kept_usual) = 0)',
  ];
  const place = 'agent_id, purpose_hash, kind, name';
  const result = await db.query<WrongFeedback>({
    name: 'find_wrong_feedback',
    text: `with lessons as (
        select * from decision_lessons where workspace_id = $1
          and (allowed or denied or aligned or misaligned or paid or vouched_minor is not null)
      ), places as (
        select l.*, 'merchant' as kind, merchant as name from lessons l
        union all select l.*, 'payee', payee_id from lessons l where payee_id is not null
        union all select l.*, 'word', w.word from lessons l cross join lateral unnest(l.words) as w(word)
      ), amounts as (
        select agent_id, purpose_hash, merchant, currency, min(vouched_minor) as low, max(vouched_minor) as high
        from lessons where vouched_minor is not null group by agent_id, purpose_hash, merchant, currency
      ), parts as (
        select ${place}, ${counts.map((name) => `${name}::int::bigint`).join(', ')}, 1 as lessons, null::text as usual,
          null::text as kept_usual, null::text as payees, null::text as kept_payees from places
        union all
        select agent_id, purpose_hash, 'merchant', merchant, 0, 0, 0, 0, 0, 0, '{' || string_agg(
            format('"%s":{"low":%s,"high":%s}', currency, low, high), ',' order by currency collate "C") || '}',
          null, null, null from amounts group by agent_id, purpose_hash, merchant
        union all
        select agent_id, purpose_hash, 'merchant', merchant, 0, 0, 0, 0, 0, 0, null, null,
          ((array_agg(distinct payee_id order by payee_id))[1:${MAX_PAYEES}])::text, null
        from lessons where vouched_minor is not null and payee_id is not null
        group by agent_id, purpose_hash, merchant
        union all
        select ${place}, ${counts.map((name) => `-${name}::bigint`).join(', ')}, 0, null, usual_minor::text, null,
          payee_ids::text from feedback where workspace_id = $1
      )
      select ${place}, sum(lessons)::int as lessons from parts group by ${place}
      having ${isWrong.join(' or ')} order by ${place} limit $2`,
    values: [workspace_id, limit],
  });
  return result.rows;
}
