import type { DealingsRow, Said } from '../domain/dealings.ts';
import type { Client, Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

const COLUMNS = `agent_id, purpose_hash, kind, name, allowed, denied, aligned, misaligned, paid, usual_minor,
  payee_ids`;

/** Events that say something of a decision. */
const SAYING = "('decision.review.recorded', 'decision.label.recorded', 'decision.outcome.recorded')";

/**
 * The decisions of which an event after `after`, up to `upto`, says something, by at most `most` such events, and how
 * far these reach.
 */
export async function loadSpokenOf(
  client: Client,
  workspace_id: string,
  range: { after: number; upto: number; most: number },
): Promise<{ last_seq: number; decision_ids: string[] }> {
  const { rows } = await client.query<{ seq: number; decision_id: string | null }>({
    name: 'load_spoken_of',
    text: `select e.seq, coalesce(
          (select r.decision_id from reviews r where r.workspace_id = $1 and r.review_id = e.subject_id),
          (select l.decision_id from labels l where l.workspace_id = $1 and l.label_id = e.subject_id),
          (select o.decision_id from outcomes o where o.workspace_id = $1 and o.outcome_id = e.subject_id)
        ) as decision_id
      from ledger_events e
      where e.workspace_id = $1 and e.seq > $2 and e.seq <= $3 and e.type in ${SAYING}
      order by e.seq limit $4`,
    values: [workspace_id, range.after, range.upto, range.most],
  });
  const last_seq = rows.length < range.most ? range.upto : (rows.at(-1)?.seq as number);
  return { last_seq, decision_ids: [...new Set(rows.flatMap((row) => row.decision_id ?? []))] };
}

/** What was added up of these decisions; what was not is left out. */
export async function loadCountedSaid(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<(Said & { decision_id: string })[]> {
  const result = await db.query<Said & { decision_id: string; workspace_id: string }>({
    name: 'load_counted_said',
    text: `select decision_id, allowed, denied, aligned, misaligned, paid from dealings_counted
      where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** Writes what was added up of decisions. */
export const putCountedSaid = makeInsert<Said & { decision_id: string }>(
  'dealings_counted',
  {
    decision_id: 'text',
    allowed: 'boolean',
    denied: 'boolean',
    aligned: 'boolean',
    misaligned: 'boolean',
    paid: 'boolean',
  },
  { conflict: ['decision_id'], update: ['allowed', 'denied', 'aligned', 'misaligned', 'paid'] },
);

/** Dealings by their names; what does not exist is left out. */
export async function loadDealings(
  db: Queryable,
  workspace_id: string,
  wanted: readonly Pick<DealingsRow, 'agent_id' | 'purpose_hash' | 'kind' | 'name'>[],
): Promise<DealingsRow[]> {
  const result = await db.query<DealingsRow & { workspace_id: string }>({
    name: 'load_dealings',
    text: `select d.* from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as w(agent_id, purpose_hash, kind, name)
      cross join lateral (
        select ${COLUMNS} from dealings where workspace_id = $1 and agent_id = w.agent_id
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

/** Writes dealings, new or changed. */
export async function putDealings(
  client: Client,
  workspace_id: string,
  rows: readonly DealingsRow[],
): Promise<void> {
  await client.query({
    name: 'put_dealings',
    text: `insert into dealings (workspace_id, ${COLUMNS}, changed_at)
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
      rows.map((row) => JSON.stringify(row.usual_minor)),
      rows.map((row) => JSON.stringify(row.payee_ids)),
    ],
  });
}

/** Dealings of one agent under one purpose that are read at the most. */
const MOST_DEALINGS = 5_000;

/** An agent's dealings under one purpose, the newest first where there are very many. */
export async function listDealings(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  purpose_hash: string,
): Promise<DealingsRow[]> {
  const result = await db.query<DealingsRow & { workspace_id: string }>({
    name: 'list_dealings',
    text: `select ${COLUMNS} from dealings where workspace_id = $1 and agent_id = $2 and purpose_hash = $3
      order by changed_at desc limit ${MOST_DEALINGS}`,
    values: [workspace_id, agent_id, purpose_hash],
  });
  return result.rows;
}
