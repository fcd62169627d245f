import { INVALID_INVITATION, type Invitation } from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import type { Queryable } from '../../engine/storage/database.ts';
import type { InWorkspace } from '../../engine/storage/rows.ts';

/** An invitation that may still be accepted. */
export type PendingInvitation = InWorkspace<Invitation>;

/** An invitation as a person sees it before joining: where, in which role, and who invited. `inviter` null: no member did. */
export interface InvitationSummary extends Pick<Invitation, 'email' | 'role' | 'expires_at'> {
  workspace_name: string;
  inviter: string | null;
}

/**
 * Adds the names to an invitation. Throws `unauthenticated` where its inviter may invite nobody any more, because nobody could
 * join by it: their key was revoked, or they are no administrator, or their account is disabled.
 */
export async function summaryOf(
  db: Queryable,
  { workspace_id, invited_by_key_id, invited_by_person, email, role, expires_at }: PendingInvitation,
): Promise<InvitationSummary> {
  const result = await db.query<{ workspace_name: string; inviter: string | null; may_invite: boolean }>({
    name: 'summarise_invitation',
    // Citus passes on what the keys' worker answers, which must have a column.
    text: `select w.name as workspace_name, u.name as inviter,
        not exists (select 1 from api_keys k where k.workspace_id = $1 and k.key_id = $2 and k.revoked_at is not null)
          and ($3::text is null or (m.role = 'admin' and u.disabled_at is null)) is true as may_invite
      from workspaces w
        left join members m on m.workspace_id = w.workspace_id and m.principal_id = $3 and m.removed_at is null
        left join users u on u.user_id = m.user_id
      where w.workspace_id = $1`,
    values: [workspace_id, invited_by_key_id, invited_by_person],
  });
  const [row] = result.rows;
  if (row === undefined || !row.may_invite) throw new ApiError('unauthenticated', INVALID_INVITATION);
  const { workspace_name, inviter } = row;
  return { workspace_name, inviter, email, role, expires_at };
}
