import { gramsOf } from '@purser/rules/values/folded-text';
import type pg from 'pg';
import type { Client, Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import type { SearchKind } from './search-rows.ts';

/** Texts that a page looks at in the order of the list before it asks the index. A common text fills its page from these. */
const NEWEST = 2_000;
/** Texts that a page looks at in the end, whichever way. */
const MAX_TEXTS = 10_000;

/** How many texts a page looks at: first, and in the end. */
export interface TextBounds {
  newest: number;
  most: number;
}
const BOUNDS: TextBounds = { newest: NEWEST, most: MAX_TEXTS };
/** Looked-up parts of a long query. A few lead to few rows, and every row is compared whole. */
const MAX_GRAMS = 24;

/**
 * Runs a search in one snapshot. Whatever the planner's statistics say of other workspaces, the texts of this one are reached
 * by an index.
 */
export function searching<T>(pool: pg.Pool, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransaction(pool, { reading: true }, async (client) => {
    await client.query({ text: 'set local enable_seqscan = off' });
    return work(client);
  });
}

/** A query for texts. */
export interface TextQuery {
  workspace_id: string;
  /** Folded. */
  text: string;
  /** Null for all agents. With an agent, notes of reviewers are left out. */
  agent_id: string | null;
}

/** A decision whose request, or a record about it, contains a text. */
export interface FoundText {
  decision_id: string;
  kind: SearchKind;
}

/** Found decisions, newest first. `next`: the decision after which the list continues; null if it does not. */
export interface TextPage {
  found: FoundText[];
  next: string | null;
}

/** The request itself before the records about it. */
const BEST_KIND = `(array_agg(kind order by kind = 'request' desc, record_id desc))[1]`;
const WITHIN = `workspace_id = $1 and decision_id < $3 and strpos(folded, $2) > 0
  and ($4::text is null or (agent_id = $4 and kind <> 'note'))`;
/** After every id of a decision. */
const END = '~';

/** Looks at the `most` newest texts of the list one by one. */
async function scan(
  db: Queryable,
  { workspace_id, text, agent_id }: TextQuery,
  page: { after: string; limit: number; most: number },
): Promise<TextPage> {
  const result = await db.query<FoundText & { workspace_id: string; hit: boolean; place: number }>({
    name: 'scan_search_texts',
    text: `with newest as materialized (
        select *, row_number() over (order by decision_id desc, record_id) as place from (
          select workspace_id, decision_id, record_id, agent_id, kind, folded from search_texts
          where workspace_id = $1 and decision_id < $3 order by decision_id desc, record_id limit $5) as n)
      select decision_id, ${BEST_KIND} as kind, true as hit, min(place)::int as place from newest
        where ${WITHIN} group by decision_id
      union all
      select decision_id, kind, false, place::int from newest where place in (1, $5)
      order by place, hit`,
    values: [workspace_id, text, page.after, agent_id, page.most],
  });
  const last = result.rows.find(({ hit, place }) => !hit && place === page.most);
  const first = result.rows.find(({ hit, place }) => !hit && place === 1);
  // The last decision may have more texts than were looked at, so it belongs to the next page.
  const is_cut = last !== undefined && first !== undefined && last.decision_id !== first.decision_id;
  const hits = result.rows
    .filter(({ hit, decision_id }) => hit && !(is_cut && decision_id === last?.decision_id))
    .map(({ decision_id, kind }) => ({ decision_id, kind }));
  const found = hits.slice(0, page.limit);
  if (hits.length > found.length) return { found, next: found.at(-1)?.decision_id ?? null };
  if (last === undefined) return { found, next: null };
  return { found, next: is_cut ? justAfter(last.decision_id) : last.decision_id };
}

/** A place that has this decision directly behind it. */
const justAfter = (decision_id: string) => `${decision_id}~`;

/** The numbers to look a text up by, spread over it. */
function gramsToLookUp({ workspace_id, text }: Pick<TextQuery, 'workspace_id' | 'text'>): number[] {
  const all = gramsOf(workspace_id, text);
  const step = Math.max(1, all.length / MAX_GRAMS);
  return all.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)).slice(0, MAX_GRAMS);
}

/** Everything in the list that the index leads to; null where that is more than `most` texts. */
async function lookUp(
  client: Queryable,
  query: TextQuery,
  page: { after: string; limit: number; most: number },
): Promise<TextPage | null> {
  const grams = gramsToLookUp(query);
  if (grams.length === 0) return null;
  const result = await client.query<{ decision_id: string | null; kind: SearchKind; looked_at: number }>({
    name: 'look_up_search_texts',
    text: `with candidates as materialized (
        select workspace_id, decision_id, record_id, agent_id, kind, folded from search_texts
        where grams @> $5::integer[] limit $7)
      select f.decision_id, f.kind, c.looked_at from (select count(*)::int as looked_at from candidates) as c
      left join lateral (
        select decision_id, ${BEST_KIND} as kind from candidates where ${WITHIN}
        group by decision_id order by decision_id desc limit $6) as f on true
      order by f.decision_id desc`,
    values: [
      query.workspace_id,
      query.text,
      page.after,
      query.agent_id,
      grams,
      page.limit + 1,
      page.most + 1,
    ],
  });
  if ((result.rows[0]?.looked_at ?? 0) > page.most) return null;
  const hits = result.rows.flatMap(({ decision_id, kind }) =>
    decision_id === null ? [] : [{ decision_id, kind }],
  );
  const found = hits.slice(0, page.limit);
  return { found, next: hits.length > found.length ? (found.at(-1)?.decision_id ?? null) : null };
}

/**
 * Returns a page of the decisions with a text that contains the query's, newest first. A text that is common is found among
 * the newest, and a rare one by the index; where neither settles it, the page ends after `bounds.most` texts, and `next` continues.
 * `after`: the `next` of the page before; null for the first. The client must come from `searching`.
 */
export async function findTexts(
  client: Queryable,
  query: TextQuery,
  page: { after: string | null; limit: number; bounds?: TextBounds },
): Promise<TextPage> {
  const { after: place, limit, bounds = BOUNDS } = page;
  const after = place ?? END;
  const newest = await scan(client, query, { after, limit, most: bounds.newest });
  if (newest.next === null || newest.found.length >= limit) return newest;
  const indexed = await lookUp(client, query, { after, limit, most: bounds.most });
  return indexed ?? scan(client, query, { after, limit, most: bounds.most });
}

/** A merchant that requests named, with the newest of these decisions. */
export interface FoundMerchant {
  merchant: string;
  decision_id: string;
}

const NEWEST_TEXTS = `select workspace_id, decision_id, kind, folded from search_texts
  where workspace_id = $1 order by decision_id desc, record_id limit ${NEWEST}`;
const INDEXED_TEXTS = `select workspace_id, decision_id, kind, folded from search_texts
  where grams @> $5::integer[] limit ${MAX_TEXTS + 1}`;

/**
 * Returns merchants whose name contains the query's text, in the order of their names: those of the texts that the index leads
 * to, or of the newest where these are too many or the text is too short. `after`: a name. The client must come from `searching`.
 */
export async function findMerchants(
  client: Queryable,
  query: Pick<TextQuery, 'workspace_id' | 'text'>,
  page: { after: string | null; limit: number },
): Promise<FoundMerchant[]> {
  const { workspace_id, text } = query;
  const merchantsOf = async (candidates: string, values: readonly unknown[]) => {
    const result = await client.query<{ merchant: string | null; decision_id: string; looked_at: number }>({
      text: `with candidates as materialized (${candidates}), named as (
          select d.merchant, max(d.decision_id) as decision_id from candidates c cross join lateral (
            select merchant, decision_id from decisions d
            where d.workspace_id = $1 and d.decision_id = c.decision_id limit 1) as d
          where c.workspace_id = $1 and c.kind = 'request' and strpos(split_part(c.folded, E'\n', 1), $2) > 0
            and d.merchant collate "C" > $3
          group by d.merchant order by d.merchant collate "C" limit $4)
        select n.merchant, n.decision_id, c.looked_at
        from (select count(*)::int as looked_at from candidates) as c left join named n on true
        order by n.merchant collate "C"`,
      values: [workspace_id, text, page.after ?? '', page.limit, ...values],
    });
    const found = result.rows.flatMap(({ merchant, decision_id }) =>
      merchant === null ? [] : [{ merchant, decision_id }],
    );
    return { found, looked_at: result.rows[0]?.looked_at ?? 0 };
  };
  const grams = gramsToLookUp(query);
  if (grams.length > 0) {
    const { found, looked_at } = await merchantsOf(INDEXED_TEXTS, [grams]);
    if (looked_at <= MAX_TEXTS) return found;
  }
  return (await merchantsOf(NEWEST_TEXTS, [])).found;
}
