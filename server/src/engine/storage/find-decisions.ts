import type { ReasonCode } from '@purser/contract/reasons';
import type { Label } from '@purser/contract/records';
import { MAX_LOOKED_AT } from '@purser/contract/values/decisions';
import type { DecisionKind, OutcomeState, ReviewState } from '@purser/rules/domain/decisions';
import { firstIdAt } from '@purser/rules/values/ids';
import { mapInSlices } from '@purser/rules/values/slices';
import type { Queryable } from './database.ts';
import { STATE_COLUMNS } from './decision-states.ts';
import type { ListedRow, ReadAs } from './decisions.ts';
import { containing, Parameters, pageRows, type SizedRow, withinBytes } from './pages.ts';

export { MAX_LOOKED_AT };

/** The filters of the list; those left out do not filter, and of several values one must hold. Amounts are minor units. */
export interface DecisionFilters {
  agent_id?: string;
  decision?: DecisionKind[];
  effective_decision?: DecisionKind[];
  mode?: string[];
  reason?: ReasonCode[];
  review_state?: ReviewState[];
  outcome_state?: OutcomeState[];
  /** Only decisions that count in this allowance. */
  allowance?: string;
  /** The allowance that the caller is bound to: only decisions that count in that one too. */
  within_allowance?: string;
  /** Keys and values, such as `customer:c42`, one of which is a label of the decision's allowance. */
  allowance_label?: readonly string[];
  /** The current label. */
  label?: Label['label'][];
  currency?: string[];
  /** The whole name, as it was requested. */
  merchant?: string;
  /** Case-insensitive substring of the merchant. */
  q?: string;
  /** A question that they asked while it was open. */
  question_id?: string;
  min_amount?: number;
  max_amount?: number;
  reviewed?: boolean;
  /** The principal whose review stands. */
  reviewed_by?: string;
  labeled?: boolean;
  /** Inclusive, ISO 8601 UTC. */
  from?: string;
  /** Exclusive, ISO 8601 UTC. */
  to?: string;
}

/** `expires`: pending reviews alone, the one whose time runs out soonest first, those that never run out last. */
export type DecisionOrder = 'asc' | 'desc' | 'expires';

/** A page of decisions. `next` is the position after which the next page begins; null: there is none. */
export interface DecisionPage<Found> {
  rows: Found[];
  next: string | null;
}

interface PageAsked {
  order: DecisionOrder;
  /** The `next` of the page before; null for the first. */
  after: string | null;
  /** `MAX_LOOKED_AT` when left out. */
  max_looked_at?: number;
}

/** The value for a missing deadline, as in the index: in SHADOW a review never expires. */
const NEVER = '9999-12-31 00:00:00+00';

/** The review's state at the moment of the statement: a pending one whose deadline has passed is EXPIRED. */
const REVIEW_STATE_NOW = `case when s.review_state = 'PENDING' and s.expires_at <= (select clock_timestamp())
  then 'EXPIRED' else s.review_state end`;
const EFFECTIVE_NOW = `case when d.mode = 'SHADOW' or s.review_state = 'ALLOWED' then 'ALLOW'
  when s.review_state = 'DENIED' then 'DENY' else d.decision end`;

const REVIEWED: readonly ReviewState[] = ['ALLOWED', 'DENIED'];

/** All conditions of the filters, over a decision `d`, its state `s`, its current label `l` and the review `r` that stands. */
function conditionsOf(filters: DecisionFilters, parameters: Parameters): string[] {
  const conditions: string[] = [];
  const narrow = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) conditions.push(condition(parameters.add(value)));
  };
  narrow(filters.agent_id, (p) => `d.agent_id = ${p}`);
  narrow(filters.decision, (p) => `d.decision = any(${p}::text[])`);
  narrow(filters.effective_decision, (p) => `${EFFECTIVE_NOW} = any(${p}::text[])`);
  narrow(filters.mode, (p) => `d.mode = any(${p}::text[])`);
  narrow(filters.reason, (p) => `d.reason_codes && ${p}::text[]`);
  narrow(filters.review_state, (p) => `${REVIEW_STATE_NOW} = any(${p}::text[])`);
  narrow(filters.outcome_state, (p) => `coalesce(s.outcome_state, 'NONE') = any(${p}::text[])`);
  narrow(filters.label, (p) => `l.label = any(${p}::text[])`);
  narrow(filters.currency, (p) => `d.currency = any(${p}::text[])`);
  narrow(filters.merchant, (p) => `d.merchant = ${p}`);
  // ICU compares case by Unicode's rules, whatever the database's own locale is.
  const pattern = filters.q === undefined ? undefined : containing(filters.q);
  narrow(pattern, (p) => `d.merchant collate "und-x-icu" ilike ${p}`);
  narrow(
    filters.question_id,
    (p) => `exists (select from question_events e where e.workspace_id = $1 and e.question_id = ${p}
      and e.decision_id = d.decision_id and e.what = 'ASKED')`,
  );
  for (const allowance of [filters.allowance, filters.within_allowance]) {
    narrow(
      allowance,
      (p) => `exists (select from allowance_decisions k where k.workspace_id = $1 and k.allowance_id = ${p}
      and k.decision_id = d.decision_id)`,
    );
  }
  narrow(
    filters.allowance_label,
    (p) => `exists (select from allowance_decisions k
      join allowance_labels t on t.workspace_id = $1 and t.allowance_id = k.allowance_id
      where k.workspace_id = $1 and k.decision_id = d.decision_id and t.key || ':' || t.value = any(${p}::text[]))`,
  );
  narrow(filters.min_amount, (p) => `d.requested_amount_minor >= ${p}`);
  narrow(filters.max_amount, (p) => `d.requested_amount_minor <= ${p}`);
  narrow(filters.reviewed, (p) => `coalesce(s.review_state = any('{${REVIEWED}}'::text[]), false) = ${p}`);
  narrow(filters.reviewed_by, (p) => `r.principal_id = ${p}`);
  narrow(filters.labeled, (p) => `(s.label_id is not null) = ${p}`);
  return conditions;
}

/** Decisions that one index leads to: a table that has `decision_id`, and what narrows it. */
interface Source {
  from: string;
  where: string;
}

/** Every decision whose state has one of these values in an indexed column. */
const byState = (column: 'review_state' | 'outcome_state', values: readonly string[]): Source[] =>
  values.map((value) => ({ from: 'decision_states k', where: `k.${column} = '${value}'` }));

/** Every decision that has one of these labels as its current one. A superseded label leads to nothing. */
const byLabel = (labels: readonly string[]): Source[] =>
  labels.map((label) => ({
    from: `labels k cross join lateral (
      select from decision_states s where s.workspace_id = $1 and s.decision_id = k.decision_id
        and s.label_id = k.label_id limit 1) as current`,
    where: `k.label = '${label}'`,
  }));

const byKind = (kinds: readonly string[]): Source[] =>
  kinds.map((kind) => ({ from: 'decisions k', where: `k.decision = '${kind}'` }));

const isWithout = <T>(values: readonly T[] | undefined, value: T): values is readonly T[] =>
  values !== undefined && !values.includes(value);

/**
 * The indexes that lead to every decision that the filters let through and to the fewest others. The values of filters are
 * of closed lists, so they stand in the statement: an index with a condition is used only for a value that is known.
 */
function sourcesOf(filters: DecisionFilters, parameters: Parameters): Source[] {
  const { review_state, outcome_state, label, merchant, question_id, agent_id } = filters;
  const waits = review_state?.every((state) => state === 'PENDING' || state === 'EXPIRED');
  // A state knows its agent, so what is another's is passed over without a look at its decision.
  const of_agent = (sources: Source[]): Source[] => {
    if (agent_id === undefined) return sources;
    const p = parameters.add(agent_id);
    return sources.map(({ from, where }) => ({ from, where: `${where} and k.agent_id = ${p}` }));
  };
  const by_review = (states: readonly ReviewState[]): Source[] => {
    const sources = byState('review_state', states);
    // What expired may not be recorded yet.
    if (states.includes('EXPIRED') && !states.includes('PENDING')) {
      const where = `k.review_state = 'PENDING' and k.expires_at <= (select clock_timestamp())`;
      sources.push({ from: 'decision_states k', where });
    }
    return of_agent(sources);
  };
  if (review_state !== undefined && waits === true) return by_review(review_state);
  const allowance = filters.within_allowance ?? filters.allowance;
  if (allowance !== undefined) {
    return [{ from: 'allowance_decisions k', where: `k.allowance_id = ${parameters.add(allowance)}` }];
  }
  if (question_id !== undefined) {
    const p = parameters.add(question_id);
    return [{ from: 'question_events k', where: `k.question_id = ${p} and k.what = 'ASKED'` }];
  }
  if (merchant !== undefined) {
    return [{ from: 'decisions k', where: `k.merchant = ${parameters.add(merchant)} and k.merchant <> ''` }];
  }
  if (label !== undefined) return byLabel(label);
  if (filters.labeled === true) {
    return byLabel(['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR']);
  }
  if (isWithout(outcome_state, 'NONE')) return of_agent(byState('outcome_state', outcome_state));
  if (review_state !== undefined) return by_review(review_state);
  if (filters.reviewed === true || filters.reviewed_by !== undefined) return by_review(REVIEWED);
  // What waits, or waited until its time ran out, is all that is REVIEW in force.
  if (filters.effective_decision?.every((kind) => kind === 'REVIEW'))
    return by_review(['PENDING', 'EXPIRED']);
  if (isWithout(filters.decision, 'ALLOW')) return byKind(filters.decision);
  // Only what was decided otherwise is in force otherwise.
  if (isWithout(filters.effective_decision, 'ALLOW')) return byKind(['REVIEW', 'DENY']);
  if (agent_id !== undefined) {
    return [{ from: 'decisions k', where: `k.agent_id = ${parameters.add(agent_id)} and k.agent_id <> ''` }];
  }
  return [{ from: 'decisions k', where: 'true' }];
}

/** A select of the ids to look at, in the order of the page, no more than the page may look at, and how they are ordered. */
function candidatesOf(
  filters: DecisionFilters,
  page: PageAsked,
  parameters: Parameters,
): { select: string; order: string } {
  const { order, after, max_looked_at = MAX_LOOKED_AT } = page;
  const spans: string[] = [];
  const bound = (operator: string, id: string) =>
    spans.push(`k.decision_id ${operator} ${parameters.add(id)}`);
  // Ids begin with their creation time, so a span of time is a range of an index.
  if (filters.from !== undefined) bound('>=', firstIdAt('decision', Date.parse(filters.from)));
  if (filters.to !== undefined) bound('<', firstIdAt('decision', Date.parse(filters.to)));
  if (order === 'expires') {
    const deadline = `coalesce(k.expires_at, '${NEVER}'::timestamptz)`;
    const [after_deadline = null, after_id = null] = after?.split(' ') ?? [];
    // The range begins with the clock, so that those whose time has run out are not even looked at.
    const begin =
      after_id === null
        ? `${deadline} > (select clock_timestamp())`
        : `(${deadline}, k.decision_id) > (${parameters.add(after_deadline)}::timestamptz, ${parameters.add(after_id)})`;
    return {
      select: `select k.decision_id, ${deadline} as deadline from decision_states k where k.workspace_id = $1
        and ${[`k.review_state = 'PENDING'`, begin, ...spans].join(' and ')}
        order by ${deadline}, k.decision_id limit ${max_looked_at}`,
      order: 'deadline, decision_id',
    };
  }
  if (after !== null) bound(order === 'asc' ? '>' : '<', after);
  const parts = sourcesOf(filters, parameters).map(
    ({ from, where }) => `(select k.decision_id from ${from} where k.workspace_id = $1
      and ${[where, ...spans].join(' and ')} order by k.decision_id ${order} limit ${max_looked_at})`,
  );
  return {
    select: `select decision_id from (${parts.join(' union all ')}) as found
      order by decision_id ${order} limit ${max_looked_at}`,
    order: `decision_id ${order}`,
  };
}

type FoundRow = ListedRow & SizedRow & { made_id: string; deadline?: string };

/**
 * Returns a page of the decisions that all filters let through: `limit` of them, or fewer if they add up to about a
 * megabyte or if `MAX_LOOKED_AT` decisions were looked at. Only when `next` is null nothing follows.
 */
export async function findDecisions<Found>(
  db: Queryable,
  workspace_id: string,
  filters: DecisionFilters,
  page: PageAsked & { limit: number },
  read: ReadAs<Found>,
): Promise<DecisionPage<Found>> {
  const parameters = new Parameters();
  parameters.add(workspace_id);
  const { select, order } = candidatesOf(filters, page, parameters);
  const bounds_count = parameters.values.length;
  const by_deadline = page.order === 'expires';
  const inner_order = order.replaceAll(/\b(deadline|decision_id)\b/g, 'c.$1');
  const conditions = conditionsOf(filters, parameters);
  if (by_deadline) conditions.push(`s.review_state = 'PENDING'`);
  // The laterals fix the plan: each candidate is looked up by its key, then its state and its label by theirs.
  const rows = `select c.decision_id as made_id, ${by_deadline ? 'c.deadline, ' : ''}${STATE_COLUMNS},
      s.decision_id as kept_id, ${read.columns}
    from (${select}) as c
    cross join lateral (
      select * from decisions d where d.workspace_id = $1 and d.decision_id = c.decision_id limit 1) as d
    left join lateral (
      select * from decision_states s where s.workspace_id = $1 and s.decision_id = c.decision_id limit 1) as s on true
    ${
      filters.label === undefined
        ? ''
        : `left join lateral (
      select * from labels l where l.workspace_id = $1 and l.label_id = s.label_id limit 1) as l on true`
    }
    ${
      filters.reviewed_by === undefined
        ? ''
        : `left join lateral (
      select * from reviews r where r.workspace_id = $1 and r.review_id = s.review_id limit 1) as r on true`
    }
    where ${['true', ...conditions].join(' and ')} order by ${inner_order} limit ${parameters.add(page.limit + 1)}`;
  const result = await db.query<FoundRow>({
    text: withinBytes(rows, {
      size: 'octet_length(document)',
      order: order.replace('decision_id', 'made_id'),
    }),
    values: parameters.values,
  });
  const found = pageRows(result.rows, page.limit, (row) => row);
  const records = await mapInSlices(found.rows, read.of, read.sizeOf);
  // Results of statements that are over hold later ones in V8's old memory, so that with their rows every page became old.
  result.rows.length = 0;
  const end = found.rows.at(-1);
  if (found.has_more && end !== undefined) {
    return { rows: records, next: by_deadline ? placeOf(end.deadline as string, end.made_id) : end.made_id };
  }
  // Nothing more among those that were looked at; whether more are to be looked at is told by the last of them.
  const last = await db.query<{ decision_id: string; deadline?: string }>({
    text: `select * from (${select}) as c order by ${inner_order} offset ${(page.max_looked_at ?? MAX_LOOKED_AT) - 1} limit 1`,
    values: parameters.values.slice(0, bounds_count),
  });
  const [row] = last.rows;
  if (row === undefined) return { rows: records, next: null };
  return {
    rows: records,
    next: by_deadline ? placeOf(row.deadline as string, row.decision_id) : row.decision_id,
  };
}

/** A position in the order of deadlines. */
const placeOf = (deadline: string, decision_id: string): string => `${deadline} ${decision_id}`;
