import { gramsOf } from '@purser/rules/values/folded-text';
import type pg from 'pg';
import type { Client, Queryable } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import type { SearchKind } from './search-rows.ts';

/** Texts that a page looks at in the order of the list before it asks the signatures. A common text fills its page from these. */
const NEWEST = 2_000;
/** Texts that a page looks at in the order of the list in the end. */
const MAX_TEXTS = 10_000;
/** Groups of up to 50 texts that a page looks at where their signatures have the text. A group takes 30 to 80 µs, a text of the list 20. */
const MAX_GROUPS = 2_000;
/** The same for names of merchants: each text with the name costs a look-up of its decision besides. */
const MAX_MERCHANT_GROUPS = 200;

/** How many texts a page looks at in the order of the list, first and in the end, and how many groups. */
export interface TextBounds {
  newest: number;
  most: number;
  groups: number;
}
const BOUNDS: TextBounds = { newest: NEWEST, most: MAX_TEXTS, groups: MAX_GROUPS };
/** Parts of a query that are looked for in signatures. A few lead to few groups, and every text is compared whole. */
const MAX_GRAMS = 16;

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

/** The newest record first. */
const NEWEST_KIND = '(array_agg(kind order by record_id desc))[1]';
/** Records about decisions that contain the text, and may be shown. */
const WITHIN = `workspace_id = $1 and decision_id < $3 and strpos(folded, $2) > 0
  and ($4::text is null or (agent_id = $4 and kind <> 'note'))`;
/** True if the decision `d` of a request may be shown. */
const isOfAgent = (decision_id: string) => `($4::text is null or exists (
  select from decisions d where d.workspace_id = $1 and d.decision_id = ${decision_id} and d.agent_id = $4))`;
/** After every id of a decision. */
const END = '~';

/**
 * The newest requests before a decision, at most `most`. Groups of requests follow one another, so the newest requests lie in the
 * last groups; each has one at least. No group is read after enough requests were found.
 */
const newestRequests = (before: string, most: string) => `select t.decision_id, t.folded
  from (select decision_ids, folded from search_groups
    where workspace_id = $1 and record_id > 'dec_' and record_id < 'dec~' and record_id < ${before}
    order by record_id desc limit ${most}) as g
  cross join lateral (
    select * from unnest(g.decision_ids, g.folded) as t(decision_id, folded)
    where decision_id < ${before} order by decision_id desc) as t
  limit ${most}`;

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
          (select decision_id, record_id, agent_id, kind, folded from search_texts
            where workspace_id = $1 and decision_id < $3 order by decision_id desc, record_id limit $5)
          union all
          select decision_id, '', null, 'request', folded from (${newestRequests('$3', '$5')}) as r
          order by decision_id desc, record_id limit $5) as n),
      hits as (select decision_id, record_id, kind, place from newest n where strpos(folded, $2) > 0
        and case kind when 'request' then ${isOfAgent('n.decision_id')}
          else $4::text is null or (agent_id = $4 and kind <> 'note') end)
      select decision_id, case when bool_or(kind = 'request') then 'request' else ${NEWEST_KIND} end as kind, true as hit,
          min(place)::int as place
        from hits group by decision_id
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

/** `MAX_GRAMS` numbers to look a text up by, spread over it, or some of them several times; none for a text of two characters. */
function gramsToLookUp({ workspace_id, text }: Pick<TextQuery, 'workspace_id' | 'text'>): number[] {
  const all = gramsOf(workspace_id, text);
  if (all.length === 0) return [];
  return Array.from({ length: MAX_GRAMS }, (_, i) => all[Math.floor((i * all.length) / MAX_GRAMS)] as number);
}

/** True if a signature has all trigrams $2, but for some that only seem to be there. Most have not even the first. */
const HAS_GRAMS = Array.from(
  { length: MAX_GRAMS },
  (_, i) => `get_bit(signature, ($2::integer[])[${i + 1}] & (8 * octet_length(signature) - 1)) = 1`,
).join(' and ');

/** The groups of each query that was looked up: its names of merchants and its texts are found in the same ones. */
const looked_up = new WeakMap<object, Promise<readonly string[]>>();

async function lookUpGroups(
  db: Queryable,
  workspace_id: string,
  grams: readonly number[],
): Promise<readonly string[]> {
  const result = await db.query<{ workspace_id: string; record_id: string }>({
    name: 'look_up_search_groups',
    text: `select record_id from search_groups where workspace_id = $1 and ${HAS_GRAMS} limit $3`,
    values: [workspace_id, grams, MAX_GROUPS + 1],
  });
  return result.rows.map(({ record_id }) => record_id);
}

/** The groups that may contain the query's text; null: they are more than `most`, or the text is too short to look it up. */
async function groupsWith(
  db: Queryable,
  query: Pick<TextQuery, 'workspace_id' | 'text'>,
  most: number,
): Promise<readonly string[] | null> {
  const grams = gramsToLookUp(query);
  if (grams.length === 0) return null;
  const looking = looked_up.get(query) ?? lookUpGroups(db, query.workspace_id, grams);
  looked_up.set(query, looking);
  const groups = await looking;
  return groups.length > most ? null : groups;
}

/** The texts of groups $5 that contain $2. */
const HITS = `hits as (select t.decision_id, t.kind is null as is_request, t.folded
  from unnest($5::text[]) as w(record_id)
  cross join lateral (
    select * from search_groups where workspace_id = $1 and record_id = w.record_id limit 1) as g
  cross join lateral unnest(g.decision_ids, g.kinds, g.folded) as t(decision_id, kind, folded)
  where strpos(t.folded, $2) > 0)`;

/** Everything in the list that the signatures lead to; null where that is more than `groups` groups. */
async function lookUp(
  client: Queryable,
  query: TextQuery,
  page: { after: string; limit: number; groups: number },
): Promise<TextPage | null> {
  const groups = await groupsWith(client, query, page.groups);
  if (groups === null) return null;
  const result = await client.query<FoundText & { workspace_id: string }>({
    name: 'look_up_search_texts',
    text: `with ${HITS}
      select h.decision_id, t.kind from (
        select decision_id, bool_or(is_request) as is_request from hits where decision_id < $3
        group by decision_id order by decision_id desc) as h
      cross join lateral (
        select 'request' as kind where h.is_request and ${isOfAgent('h.decision_id')}
        union all
        select ${NEWEST_KIND} from search_texts
          where not h.is_request and decision_id = h.decision_id and ${WITHIN} having count(*) > 0) as t
      order by h.decision_id desc limit $6`,
    values: [query.workspace_id, query.text, page.after, query.agent_id, groups, page.limit + 1],
  });
  const found = result.rows.slice(0, page.limit).map(({ decision_id, kind }) => ({ decision_id, kind }));
  return { found, next: result.rows.length > found.length ? (found.at(-1)?.decision_id ?? null) : null };
}

/**
 * Returns a page of the decisions with a text that contains the query's, newest first. A text that is common is found among
 * the newest, and a rare one by the signatures; where neither settles it, the page ends after `bounds.most` texts, and `next` continues.
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
  where strpos(split_part(r.folded, E'\n', 1), $2) > 0 and d.merchant collate "C" > $3
  group by d.merchant order by d.merchant collate "C" limit $4)`;

/**
 * Returns merchants whose name contains the query's text, in the order of their names: those of the texts that the signatures
 * lead to, or of the newest where these are too many or the text is too short. `after`: a name. The client must come from `searching`.
 */
export async function findMerchants(
  client: Queryable,
  query: Pick<TextQuery, 'workspace_id' | 'text'>,
  page: { after: string | null; limit: number },
): Promise<FoundMerchant[]> {
  const values = [query.workspace_id, query.text, page.after ?? '', page.limit];
  const groups = await groupsWith(client, query, MAX_MERCHANT_GROUPS);
  if (groups !== null) {
    const looked = await client.query<FoundMerchant>({
      text: `with ${HITS}, requests as (select * from hits where is_request), ${NAMED}
        select merchant, decision_id from named order by merchant collate "C"`,
      values: [...values, groups],
    });
    return looked.rows;
  }
  const newest = await client.query<FoundMerchant>({
    text: `with requests as (${newestRequests("'~'", String(NEWEST))}), ${NAMED}
      select merchant, decision_id from named order by merchant collate "C"`,
    values,
  });
  return newest.rows;
}
