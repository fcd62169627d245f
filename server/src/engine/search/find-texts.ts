import { gramsOf } from '@purser/rules/values/folded-text';
import type pg from 'pg';
import type { Client, Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import type { SearchKind } from './search-rows.ts';

/** Texts that a page looks at in the order of the list before it asks the index. A common text fills its page from these. */
const NEWEST = 2_000;
/** Texts that a page looks at in the order of the list in the end. */
const MAX_TEXTS = 10_000;
/** Groups of up to 25 texts that a page looks at where the index leads. A group takes 10 to 40 µs, a text of the list 20. */
const MAX_GROUPS = 4_000;
/** The same for names of merchants: each text with the name costs a look-up of its decision besides. */
const MAX_MERCHANT_GROUPS = 400;

/** How many texts a page looks at in the order of the list, first and in the end, and how many groups of the index. */
export interface TextBounds {
  newest: number;
  most: number;
  groups: number;
}
const BOUNDS: TextBounds = { newest: NEWEST, most: MAX_TEXTS, groups: MAX_GROUPS };
/** Looked-up parts of a long query. A few lead to few groups, and every text is compared whole. */
const MAX_GRAMS = 24;

/**
 * Runs a search in one snapshot. Whatever the planner's statistics say of other workspaces, the texts of this one are reached
 * by an index.
 */
export function searching<T>(pool: pg.Pool, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransaction(pool, { reading: true }, async (client) => {
    // The index of trigrams is read as a bitmap, which pools of look-ups by key leave out.
    await client.query({ text: 'set local enable_seqscan = off; set local enable_bitmapscan = on' });
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

/** The groups that have all trigrams $5, $6 at most, and their texts that contain $2. */
const HITS = `groups as materialized (
    select decision_ids, kinds, folded from search_groups
    where workspace_id = $1 and grams @> $5::integer[] limit $6),
  hits as (select t.decision_id, t.kind, t.folded from groups g
    cross join lateral unnest(g.decision_ids, g.kinds, g.folded) as t(decision_id, kind, folded)
    where strpos(t.folded, $2) > 0)`;

/** Everything in the list that the index leads to; null where that is more than `groups` groups. */
async function lookUp(
  client: Queryable,
  query: TextQuery,
  page: { after: string; limit: number; groups: number },
): Promise<TextPage | null> {
  const grams = gramsToLookUp(query);
  if (grams.length === 0) return null;
  const result = await client.query<{ decision_id: string | null; kind: SearchKind; looked_at: number }>({
    name: 'look_up_search_texts',
    text: `with ${HITS}
      select f.decision_id, f.kind, c.looked_at from (select count(*)::int as looked_at from groups) as c
      left join lateral (
        select h.decision_id, t.kind from (
          select distinct decision_id from hits where decision_id < $3 order by decision_id desc) as h
        cross join lateral (
          select ${BEST_KIND} as kind from search_texts
          where decision_id = h.decision_id and ${WITHIN} having count(*) > 0) as t
        order by h.decision_id desc limit $7) as f on c.looked_at < $6
      order by f.decision_id desc`,
    values: [
      query.workspace_id,
      query.text,
      page.after,
      query.agent_id,
      grams,
      page.groups + 1,
      page.limit + 1,
    ],
  });
  if ((result.rows[0]?.looked_at ?? 0) > page.groups) return null;
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
  const indexed = await lookUp(client, query, { after, limit, groups: bounds.groups });
  return indexed ?? scan(client, query, { after, limit, most: bounds.most });
}

/** A merchant that requests named, with the newest of these decisions. */
export interface FoundMerchant {
  merchant: string;
  decision_id: string;
}

/** The merchants of `requests` after $3 whose name contains $2, $4 at most. The name is the first line of a text. */
const NAMED = `named as (
  select d.merchant, max(d.decision_id) as decision_id from requests r cross join lateral (
    select merchant, decision_id from decisions d
    where d.workspace_id = $1 and d.decision_id = r.decision_id limit 1) as d
  where r.kind = 'request' and strpos(split_part(r.folded, E'\n', 1), $2) > 0 and d.merchant collate "C" > $3
  group by d.merchant order by d.merchant collate "C" limit $4)`;

/**
 * Returns merchants whose name contains the query's text, in the order of their names: those of the texts that the index leads
 * to, or of the newest where these are too many or the text is too short. `after`: a name. The client must come from `searching`.
 */
export async function findMerchants(
  client: Queryable,
  query: Pick<TextQuery, 'workspace_id' | 'text'>,
  page: { after: string | null; limit: number },
): Promise<FoundMerchant[]> {
  const values = [query.workspace_id, query.text, page.after ?? '', page.limit];
  const grams = gramsToLookUp(query);
  if (grams.length > 0) {
    const indexed = await client.query<{ merchant: string | null; decision_id: string; looked_at: number }>({
      text: `with ${HITS}, requests as (select * from hits), ${NAMED}
        select n.merchant, n.decision_id, c.looked_at from (select count(*)::int as looked_at from groups) as c
        left join named n on c.looked_at < $6 order by n.merchant collate "C"`,
      values: [...values, grams, MAX_MERCHANT_GROUPS + 1],
    });
    if ((indexed.rows[0]?.looked_at ?? 0) <= MAX_MERCHANT_GROUPS)
      return indexed.rows.flatMap(({ merchant, decision_id }) =>
        merchant === null ? [] : [{ merchant, decision_id }],
      );
  }
  const newest = await client.query<FoundMerchant>({
    text: `with requests as (select decision_id, kind, folded from search_texts
        where workspace_id = $1 order by decision_id desc, record_id limit ${NEWEST}), ${NAMED}
      select merchant, decision_id from named order by merchant collate "C"`,
    values,
  });
  return newest.rows;
}
