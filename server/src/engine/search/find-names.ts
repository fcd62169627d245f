import type { Queryable } from '../storage/database.ts';

/** Rows of a kind that a page looks at, newest first. */
const MAX_ROWS = 10_000;

/** Something with a name. */
export interface FoundName {
  id: string;
  title: string;
  subtitle: string;
  /** ISO UTC. */
  at: string;
}

/** A query for names. */
export interface NameQuery {
  workspace_id: string;
  /** Folded. */
  text: string;
  /** The beginning of an id; null where the text is none. */
  id: string | null;
}

/** As `foldText` folds, in SQL. */
const folded = (column: string) =>
  `lower(regexp_replace(normalize(${column}, NFKD), '[\\u0300-\\u036f]+', '', 'g') collate "und-x-icu")`;

/** Where things of a kind are, and what is shown of them. `subtitle` and `at` are expressions. */
interface Source {
  from: string;
  id: string;
  title: string;
  subtitle: string;
  at: string;
  /** Further columns to look in. */
  also: readonly string[];
  where?: string;
}

const SOURCES = {
  agent: {
    from: 'agents',
    id: 'agent_id',
    title: 'name',
    subtitle: `slug || ', ' || status || ', ' || mode`,
    at: 'created_at',
    also: ['slug'],
  },
  budget: {
    from: 'shared_budgets',
    id: 'budget_id',
    title: 'name',
    subtitle: `slug || ', ' || currency || ', ' || lower(period)`,
    at: 'created_at',
    also: ['slug'],
  },
  key: {
    from: 'api_keys',
    id: 'key_id',
    title: 'name',
    subtitle: `kind || ', ' || hint || case when revoked_at is null then '' else ', revoked' end`,
    at: 'created_at',
    also: ['hint', 'principal_id'],
  },
  person: {
    from: `(select m.workspace_id, m.user_id, m.role, m.principal_id, m.joined_at, u.name, u.email
      from members m join users u on u.user_id = m.user_id where m.workspace_id = $1 and m.removed_at is null) as p`,
    id: 'user_id',
    title: 'name',
    subtitle: `email || ', ' || role`,
    at: 'joined_at',
    also: ['email', 'principal_id'],
  },
} as const satisfies Record<string, Source>;

/** The kinds that are found by their names. */
export type NamedKind = keyof typeof SOURCES;

/** Returns things of a kind whose name contains the text or whose id begins with it, newest first. `after`: an id. */
export async function findNames(
  db: Queryable,
  kind: NamedKind,
  query: NameQuery,
  page: { after: string | null; limit: number },
): Promise<FoundName[]> {
  const { from, id, title, subtitle, at, also }: Source = SOURCES[kind];
  const columns = [title, ...also].map((column) => `coalesce(strpos(${folded(column)}, $2), 0) > 0`);
  const result = await db.query<FoundName & { workspace_id: string }>({
    name: `find_names_${kind}`,
    text: `select ${id} as id, ${title} as title, ${subtitle} as subtitle, ${at} as at from (
        select * from ${from} where workspace_id = $1 and ${id} < $3 order by ${id} desc limit ${MAX_ROWS}) as k
      where ${columns.join(' or ')} or ($5::text is not null and starts_with(${id}, $5))
      order by ${id} desc limit $4`,
    values: [query.workspace_id, query.text, page.after ?? '~', page.limit, query.id],
  });
  return result.rows;
}

/** A merchant that somebody listed, with the agent and what was said of it. */
export interface ListedName {
  merchant: string;
  verdict: string;
  agent: string;
  at: string;
}

/** Returns listed merchants whose name contains the text, in the order of their names. `after`: a name. */
export async function findListedNames(
  db: Queryable,
  query: NameQuery,
  page: { after: string | null; limit: number },
): Promise<ListedName[]> {
  const result = await db.query<ListedName & { workspace_id: string }>({
    name: 'find_listed_names',
    text: `select distinct on (merchant collate "C") merchant, verdict, agent, at from (
        select m.merchant, m.verdict, a.slug as agent, m.created_at as at from merchant_entries m
        join agents a on a.workspace_id = m.workspace_id and a.agent_id = m.agent_id
        where m.workspace_id = $1 and m.unlisted_in is null order by m.entry_id desc limit ${MAX_ROWS}) as k
      where strpos(${folded('merchant')}, $2) > 0 and merchant collate "C" > $3
      order by merchant collate "C", at desc limit $4`,
    values: [query.workspace_id, query.text, page.after ?? '', page.limit],
  });
  return result.rows;
}

/** The prefixes of ids that share their characters with the decision's. */
const OF_DECISION = /^(?:dec|cap|rsv)_([0-9A-Za-z]+)$/;
const RECORDS = {
  rev: ['reviews', 'review_id'],
  lbl: ['labels', 'label_id'],
  out: ['outcomes', 'outcome_id'],
} as const;

/**
 * Returns the decisions whose id, or the id of whose capability or hold, begins with this; and the decision of the review, label
 * or outcome with exactly this id. Newest first. `after`: an id.
 */
export async function findByIds(
  db: Queryable,
  query: { workspace_id: string; id: string; agent_id: string | null },
  page: { after: string | null; limit: number },
): Promise<string[]> {
  const { workspace_id, id, agent_id } = query;
  const begins = OF_DECISION.exec(id)?.[1]?.toUpperCase();
  const record = RECORDS[id.slice(0, 3) as keyof typeof RECORDS];
  if (begins === undefined && record === undefined) return [];
  const ids =
    begins !== undefined
      ? 'decision_id >= $2 and decision_id < $3'
      : `decision_id = (select decision_id from ${record?.[0]} where workspace_id = $1 and ${record?.[1]} = $2) and $3::text is not null`;
  const result = await db.query<{ workspace_id: string; decision_id: string }>({
    text: `select decision_id from decisions where workspace_id = $1 and ${ids} and decision_id < $4
        and ($5::text is null or agent_id = $5) order by decision_id desc limit $6`,
    values: [
      workspace_id,
      begins === undefined ? id : `dec_${begins}`,
      begins === undefined ? '' : `dec_${begins}~`,
      page.after ?? '~',
      agent_id,
      page.limit,
    ],
  });
  return result.rows.map(({ decision_id }) => decision_id);
}

/** The shown part of a found decision. */
export interface FoundDecision {
  decision_id: string;
  merchant: string;
  requested_amount_minor: number;
  currency: string;
  decision: string;
  agent: string;
  created_at: string;
}

/** Returns what is shown of these decisions, by their ids. */
export async function loadFoundDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Map<string, FoundDecision>> {
  const result = await db.query<FoundDecision & { workspace_id: string }>({
    name: 'load_found_decisions',
    text: `select d.decision_id, d.merchant, d.requested_amount_minor, d.currency, d.decision, a.slug as agent, d.created_at
      from decisions d join agents a on a.workspace_id = d.workspace_id and a.agent_id = d.agent_id
      where d.workspace_id = $1 and d.decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return new Map(result.rows.map((row) => [row.decision_id, row]));
}
