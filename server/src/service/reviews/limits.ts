import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { SheetLimit } from '@purser/contract/reviews/sheet';
import { periodOf } from '@purser/rules/domain/budget';
import type { Queryable } from '../../engine/storage/database.ts';
import { listBudgets } from '../../engine/storage/derived/budgets.ts';
import { readUseNow } from '../../engine/storage/derived/counters.ts';

const NO_COUNT = { limit_count: null, used_then_count: null, used_now_count: null };

/** A limit that applies to each spend by itself; none where the authority does not have it. */
const ofEach = (kind: 'review_threshold' | 'per_transaction_limit', limit_minor: number | undefined) =>
  limit_minor === undefined
    ? []
    : [{ name: kind, kind, limit_minor, used_then_minor: null, used_now_minor: null, ...NO_COUNT }];

async function monthOf(
  db: Queryable,
  workspace_id: string,
  { agent, currency, reservation: { budget } }: Decision,
  now_ms: number,
): Promise<SheetLimit[]> {
  if (budget.limit_minor === null) return [];
  const of = { agent_id: agent.id, period: periodOf(now_ms), currency };
  const [now] = await listBudgets(db, workspace_id, [of]);
  return [
    {
      name: 'monthly_budget',
      kind: 'monthly_budget',
      limit_minor: budget.limit_minor,
      used_then_minor: budget.held_minor + budget.committed_minor,
      used_now_minor: (now?.held_minor ?? 0) + (now?.committed_minor ?? 0),
      ...NO_COUNT,
    },
  ];
}

async function overTime(
  db: Queryable,
  workspace_id: string,
  { reservation: { limits = [] } }: Decision,
): Promise<SheetLimit[]> {
  const shown = limits.flatMap((limit) =>
    limit.kind === 'velocity' || limit.kind === 'shared_budget' ? [{ ...limit, kind: limit.kind }] : [],
  );
  const keys = shown.map(({ counter_id, subject }) => ({ counter_id, subject: subject ?? '' }));
  const uses = await readUseNow(db, workspace_id, keys);
  return shown.map(
    ({ name, kind, limit_minor, used_minor, limit_count, used_count, counter_id, subject }) => {
      const now = uses.find((use) => use.counter_id === counter_id && use.subject === (subject ?? ''));
      return {
        name,
        kind,
        limit_minor,
        used_then_minor: used_minor,
        used_now_minor: now?.amount_minor ?? 0,
        limit_count,
        used_then_count: used_count,
        used_now_count: now?.count ?? 0,
      };
    },
  );
}

/**
 * Returns the limits that a decision was judged by, with their usage as the decision recorded it and as it is now.
 * `decision` is as it was made; `authority` is the version that decided.
 */
export async function limitsOnSheet(
  db: Queryable,
  workspace_id: string,
  decision: Decision,
  authority: Authority | null,
  now_ms: number,
): Promise<SheetLimit[]> {
  if (authority === null || authority.currency !== decision.currency) return [];
  const [month, over_time] = await Promise.all([
    monthOf(db, workspace_id, decision, now_ms),
    overTime(db, workspace_id, decision),
  ]);
  return [
    ...ofEach('review_threshold', authority.review_threshold_minor),
    ...ofEach('per_transaction_limit', authority.per_transaction_limit_minor),
    ...month,
    ...over_time,
  ];
}
