import type { LimitAlert } from '@purser/rules/counters/limit-alerts';
import type { Queryable } from '../database.ts';
import { type InWorkspace, makeInsert } from '../rows.ts';

/** A limit of an agent that alerts. */
export type AlertingLimit = Pick<LimitAlert, 'agent_id' | 'limit_id' | 'subject'>;

const COLUMNS = 'agent_id, limit_id, subject, percent, until, decision_id';

/** Returns the newest alerts of these limits. */
export async function loadLimitAlerts(
  db: Queryable,
  wanted: readonly InWorkspace<AlertingLimit>[],
): Promise<InWorkspace<LimitAlert>[]> {
  const result = await db.query<InWorkspace<LimitAlert>>({
    name: 'load_limit_alerts',
    text: `select a.* from unnest($1::text[], $2::text[], $3::text[], $4::text[])
        as w(workspace_id, agent_id, limit_id, subject)
      join limit_alerts a on a.workspace_id = w.workspace_id and a.agent_id = w.agent_id
        and a.limit_id = w.limit_id and a.subject = w.subject`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.limit_id),
      wanted.map((each) => each.subject),
    ],
  });
  return result.rows;
}

/** Returns the next alerts of a workspace after one, in the order of their keys. */
export async function listLimitAlerts(
  db: Queryable,
  workspace_id: string,
  page: { after: LimitAlert | undefined; limit: number },
): Promise<LimitAlert[]> {
  const { agent_id = '', limit_id = '', subject = '', percent = 0 } = page.after ?? {};
  const result = await db.query<LimitAlert>({
    name: 'list_limit_alerts',
    text: `select ${COLUMNS} from limit_alerts
      where workspace_id = $1 and (agent_id, limit_id, subject, percent) > ($2, $3, $4, $5)
      order by agent_id, limit_id, subject, percent limit $6`,
    values: [workspace_id, agent_id, limit_id, subject, percent, page.limit],
  });
  return result.rows;
}

/** Keeps the newest alert of each percentage. */
export const putLimitAlerts = makeInsert<LimitAlert>(
  'limit_alerts',
  {
    agent_id: 'text',
    limit_id: 'text',
    subject: 'text',
    percent: 'integer',
    until: 'timestamptz',
    decision_id: 'text',
  },
  { conflict: ['agent_id', 'limit_id', 'subject', 'percent'], update: ['until', 'decision_id'] },
);
