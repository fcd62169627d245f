import type { SlackLink } from '@purser/rules/notices/slack-accounts';
import type { Queryable } from '../storage/database.ts';
import { type InWorkspace, makeInsert } from '../storage/rows.ts';

/** A link as a batch finds it. */
export interface FoundSlackLink extends SlackLink {
  /** It was made in the person's present credential epoch: earlier ones are worth nothing. */
  is_of_epoch: boolean;
}

/** Returns the links of these workspaces, ended ones and those of unknown users included, by user. */
export async function loadSlackLinks(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<FoundSlackLink>[]> {
  const result = await db.query<InWorkspace<FoundSlackLink>>({
    name: 'load_slack_links',
    text: `select l.workspace_id, l.user_id, l.slack_account, l.credential_epoch, l.changed_at,
        l.credential_epoch is not distinct from u.credential_epoch as is_of_epoch
      from slack_links l left join users u on u.user_id = l.user_id
      where l.workspace_id = any($1) order by l.workspace_id, l.user_id`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Inserts links and updates those of the same member. */
export const putSlackLinks = makeInsert<SlackLink>(
  'slack_links',
  { user_id: 'text', slack_account: 'text', credential_epoch: 'integer', changed_at: 'timestamptz' },
  { conflict: ['user_id'], update: ['slack_account', 'credential_epoch', 'changed_at'] },
);
