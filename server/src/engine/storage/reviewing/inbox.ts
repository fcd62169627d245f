import type { ReasonCode } from '@purser/contract/reasons';
import {
  type INBOX_GROUPS,
  type INBOX_SORTS,
  MAX_GROUPS,
  MAX_SEARCHED,
} from '@purser/contract/reviews/inbox';
import type { Queryable } from '../database.ts';
import { actionOf, taskOf } from '../decisions.ts';
import { containing, Parameters } from '../pages.ts';

/** A review that is pending now. Minor units. */
export interface PendingReview {
  decision_id: string;
  agent_id: string;
  merchant: string;
  amount_minor: number;
  currency: string;
  reason_code: ReasonCode;
  created_at: string;
  /** ISO UTC; null: it never expires. */
  expires_at: string | null;
}

/** Filters of the inbox; those left out do not filter, and of several values one must hold. */
export interface InboxFilters {
  agent_id?: string | undefined;
  merchant?: string | undefined;
  currency?: string | undefined;
  reason?: readonly ReasonCode[] | undefined;
  from_minor?: number | undefined;
  to_minor?: number | undefined;
  /** A principal; null: nobody. */
  assigned_to?: string | null | undefined;
  not_assigned_to?: string | undefined;
  search?: string | undefined;
}

/** Order of the inbox. */
export type InboxSort = (typeof INBOX_SORTS)[number];
/** Grouping of the inbox. */
export type InboxGrouping = (typeof INBOX_GROUPS)[number];

/** Pending reviews that agree in the columns of a grouping; the others are null. */
export interface PendingGroup extends Record<'agent_id' | 'merchant' | 'currency', string | null> {
  reason_code: ReasonCode | null;
  count: number;
  amounts: Record<string, number>;
}

/** The value for a missing deadline, as in the index. */
const NEVER = `'9999-12-31 00:00:00+00'::timestamptz`;
const DEADLINE = `coalesce(p.expires_at, ${NEVER})`;

/** The principal to whom the review of a decision was assigned last; null: nobody. */
const ASSIGNEE = `(select assign_to from notes n where n.workspace_id = $1 and n.decision_id = p.decision_id
  and n.decision_id <> '' and n.assign_to is not null order by n.note_id desc limit 1)`;

const IS_PENDING = `s.workspace_id = $1 and s.review_state = 'PENDING'
  and coalesce(s.expires_at, ${NEVER}) > (select clock_timestamp())`;

/** The decision of a pending review `p` or of a state `s`. */
const decisionOf = (one: 'p' | 's') =>
  `from decisions d where d.workspace_id = $1 and d.decision_id = ${one}.decision_id limit 1`;

const PENDING = `(
  select s.decision_id, s.agent_id, d.merchant, coalesce(nullif(s.amount_minor, 0), d.requested_amount_minor) as amount_minor,
    d.currency, d.reason_codes[1] as reason_code, d.created_at, s.expires_at
  from decision_states s
  cross join lateral (select * ${decisionOf('s')}) as d
  where ${IS_PENDING})`;

/** For what reads no decision: of 10,000 reviews it takes a tenth of the time. A hold that ended has no amount of its own. */
const PENDING_STATES = `(
  select s.decision_id, s.agent_id, s.currency, s.expires_at,
    coalesce(nullif(s.amount_minor, 0), (select d.requested_amount_minor ${decisionOf('s')})) as amount_minor
  from decision_states s where ${IS_PENDING})`;

const COLUMNS = `p.decision_id, p.agent_id, p.merchant, p.amount_minor, p.currency, p.reason_code, p.created_at,
  p.expires_at`;

/** The keys, numbers and fixed words of a JSON text, which a search does not read. */
const NOT_SEARCHED = `"(currency|type|category)":"[^"\\\\]*"|"[a-z_]+":[0-9]*`;

/** True where the filters read nothing of the decisions. */
const readsStatesOnly = ({ merchant, reason, search }: InboxFilters): boolean =>
  [merchant, reason, search].every((value) => value === undefined);

/** The condition that all filters but the search let a pending review `p` through. */
function conditionOf(filters: InboxFilters, parameters: Parameters): string {
  const conditions: string[] = ['true'];
  const narrow = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) conditions.push(condition(parameters.add(value)));
  };
  narrow(filters.agent_id, (p) => `p.agent_id = ${p}`);
  narrow(filters.merchant, (p) => `p.merchant = ${p}`);
  narrow(filters.currency, (p) => `p.currency = ${p}`);
  narrow(filters.reason, (p) => `p.reason_code = any(${p}::text[])`);
  narrow(filters.from_minor, (p) => `p.amount_minor >= ${p}`);
  narrow(filters.to_minor, (p) => `p.amount_minor <= ${p}`);
  if (filters.assigned_to === null) conditions.push(`${ASSIGNEE} is null`);
  else narrow(filters.assigned_to, (p) => `${ASSIGNEE} = ${p}`);
  narrow(filters.not_assigned_to, (p) => `${ASSIGNEE} is distinct from ${p}`);
  return conditions.join(' and ');
}

/** A select of the pending reviews that all filters let through. */
function matching(filters: InboxFilters, parameters: Parameters): string {
  const where = conditionOf(filters, parameters);
  if (filters.search === undefined) return `select ${COLUMNS} from ${PENDING} as p where ${where}`;
  const words = parameters.add(containing(JSON.stringify(filters.search).slice(1, -1)));
  return `select ${COLUMNS} from (
      select * from ${PENDING} as p order by p.decision_id desc limit ${MAX_SEARCHED}) as p
    cross join lateral (
      select p.decision_id || ' ' || regexp_replace(${actionOf('d.document')}, '${NOT_SEARCHED}', ' ', 'g') || ' '
        || ${taskOf('d.document')} as text
      ${decisionOf('p')}) as d
    where ${where} and (d.text collate "und-x-icu" ilike ${words} or exists (
      select from notes n where n.workspace_id = $1 and n.decision_id = p.decision_id and n.decision_id <> ''
        and n.text collate "und-x-icu" ilike ${parameters.add(containing(filters.search))}))`;
}

const ORDERS: Record<InboxSort, string> = {
  expires: `${DEADLINE}, p.decision_id`,
  newest: 'p.decision_id desc',
  oldest: 'p.decision_id',
  amount: 'p.amount_minor desc, p.decision_id desc',
};

/** The place of a review in an order, and the condition that another comes after it. */
type Place = readonly (string | number)[];
const placeOf = (sort: InboxSort, row: PendingReview): Place => {
  if (sort === 'expires') return [row.expires_at ?? '9999-12-31T00:00:00.000Z', row.decision_id];
  return sort === 'amount' ? [row.amount_minor, row.decision_id] : [row.decision_id];
};

function afterPlace(sort: InboxSort, place: Place, parameters: Parameters): string {
  const [first, second] = place.map((value) => parameters.add(value));
  if (sort === 'expires') return `(${DEADLINE}, p.decision_id) > (${first}::timestamptz, ${second})`;
  if (sort === 'amount') return `(p.amount_minor, p.decision_id) < (${first}, ${second})`;
  return `p.decision_id ${sort === 'newest' ? '<' : '>'} ${first}`;
}

/**
 * Returns a page of the reviews that are pending now and that all filters let through, after a place. `next` is the place of
 * its last review; null: none follows.
 */
export async function listPendingReviews(
  db: Queryable,
  workspace_id: string,
  filters: InboxFilters,
  page: { sort: InboxSort; after: Place | null; limit: number },
): Promise<{ rows: PendingReview[]; next: Place | null }> {
  const parameters = new Parameters();
  parameters.add(workspace_id);
  const after = page.after === null ? 'true' : afterPlace(page.sort, page.after, parameters);
  const found = readsStatesOnly(filters)
    ? `select p.* from ${PENDING_STATES} as p where ${conditionOf(filters, parameters)}`
    : matching(filters, parameters);
  const in_order = `order by ${ORDERS[page.sort]}`;
  const shown = `select * from (${found}) as p where ${after} ${in_order} limit ${parameters.add(page.limit + 1)}`;
  const result = await db.query<PendingReview & { workspace_id: string }>({
    // Only the decisions of the page are read.
    text: readsStatesOnly(filters)
      ? `select p.decision_id, p.agent_id, d.merchant, p.amount_minor, p.currency, d.reason_codes[1] as reason_code,
          d.created_at, p.expires_at
        from (${shown}) as p cross join lateral (select * ${decisionOf('p')}) as d ${in_order}`
      : shown,
    values: parameters.values,
  });
  const rows = result.rows.slice(0, page.limit);
  const last = rows.at(-1);
  const has_more = result.rows.length > page.limit && last !== undefined;
  return { rows, next: has_more ? placeOf(page.sort, last) : null };
}

const GROUPED_BY: Record<InboxGrouping, readonly string[]> = {
  agent: ['agent_id'],
  merchant: ['merchant'],
  reason: ['reason_code'],
  alike: ['agent_id', 'merchant', 'currency', 'reason_code'],
};

/**
 * Returns how many reviews are pending now that all filters let through and, where a grouping is named, its `MAX_GROUPS`
 * largest groups.
 */
export async function countPendingReviews(
  db: Queryable,
  workspace_id: string,
  filters: InboxFilters,
  grouping: InboxGrouping | null,
): Promise<{ total: number; groups: PendingGroup[] }> {
  const parameters = new Parameters();
  parameters.add(workspace_id);
  const select =
    grouping === null && readsStatesOnly(filters)
      ? `select from ${PENDING_STATES} as p where ${conditionOf(filters, parameters)}`
      : matching(filters, parameters);
  const columns = grouping === null ? [] : GROUPED_BY[grouping];
  const shown = ['agent_id', 'merchant', 'currency', 'reason_code'].map((name) =>
    columns.includes(name) ? name : `null::text as ${name}`,
  );
  const by = columns.length === 0 ? '' : `${columns.join(', ')}, `;
  const result = await db.query<PendingGroup & { total: number; workspace_id: string }>({
    text:
      grouping === null
        ? `select count(*) as total from (${select}) as p`
        : `select ${shown.join(', ')}, sum(n)::bigint as count, json_object_agg(of_currency, minor) as amounts,
            sum(sum(n)) over ()::bigint as total
          from (select ${by}currency as of_currency, count(*) as n,
              least(sum(amount_minor), ${Number.MAX_SAFE_INTEGER}) as minor
            from (${select}) as p group by ${by}currency) as g
          group by ${columns.join(', ')}
          order by count desc, ${columns.join(', ')} limit ${MAX_GROUPS}`,
    values: parameters.values,
  });
  const groups = grouping === null ? [] : result.rows.map(({ total, ...group }) => group);
  return { total: result.rows[0]?.total ?? 0, groups };
}
