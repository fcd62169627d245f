import { reviewReasons } from '@purser/contract/reviews/choices';
import type { InboxGroup, InboxRow } from '@purser/contract/reviews/inbox';
import type { Caller } from '@purser/rules/domain/keys';
import { loadAgents } from '../../engine/storage/agents.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadDecisionRecords } from '../../engine/storage/decisions.ts';
import type { PendingGroup, PendingReview } from '../../engine/storage/reviewing/inbox.ts';
import { loadAssignees } from '../../engine/storage/reviewing/notes.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { approvalOf, loadReviewing } from './approvals.ts';

/** Returns the rows of the inbox for these pending reviews, in their order: a few look-ups by key. */
export async function presentRows(
  db: Queryable,
  caller: Caller,
  pending: readonly PendingReview[],
): Promise<InboxRow[]> {
  if (pending.length === 0) return [];
  const { workspace_id } = caller;
  const keys = pending.map(({ decision_id }) => ({ workspace_id, decision_id }));
  const records = await loadDecisionRecords(db, keys);
  const reviewing = await loadReviewing(db, caller, records, await readClock(db));
  const assignees = await loadAssignees(
    db,
    workspace_id,
    pending.map(({ decision_id }) => decision_id),
  );
  const by_id = new Map(records.map((record) => [record.decision.decision_id, record]));
  return pending.flatMap((row) => {
    const record = by_id.get(row.decision_id);
    if (record === undefined) return [];
    const { agent_id, ...shown } = row;
    const { required, given, signed, may_allow } = approvalOf(reviewing, record);
    const { bulk } = reviewReasons(record.decision, { required, signed });
    const assigned_to = assignees.get(row.decision_id) ?? null;
    return [
      { ...shown, assigned_to, agent: record.decision.agent, required, given, signed, bulk, may_allow },
    ];
  });
}

/** Returns groups as the API shows them, with the filters that select their reviews. */
export async function presentGroups(
  db: Queryable,
  workspace_id: string,
  groups: readonly PendingGroup[],
): Promise<InboxGroup[]> {
  const ids = new Set(groups.flatMap(({ agent_id }) => agent_id ?? []));
  const agents = ids.size === 0 ? [] : await loadAgents(db, workspace_id, [...ids]);
  const slugs = new Map(agents.map(({ agent_id, slug }) => [agent_id, slug]));
  return groups.map(({ agent_id, merchant, currency, reason_code, count, amounts }) => {
    const filter = {
      ...(agent_id === null ? {} : { agent: slugs.get(agent_id) ?? agent_id }),
      ...(merchant === null ? {} : { merchant }),
      ...(currency === null ? {} : { currency }),
      ...(reason_code === null ? {} : { reason: reason_code }),
    };
    return {
      key: Object.values(filter).join(' '),
      filter,
      count,
      amounts: Object.entries(amounts).map(([of, amount_minor]) => ({ currency: of, amount_minor })),
    };
  });
}
