import { SYSTEM } from '@purser/rules/domain/audit';
import { joinWorkspace } from '../../engine/commands/people/join-workspace.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { findUser } from './user-rows.ts';

const origin = { actor: SYSTEM, request_id: null, client_address: null };

/** Makes an existing person an administrator of a sample. */
export async function joinSample(
  { db, lane }: { db: Queryable; lane: Pick<Lane, 'submit'> },
  workspace_id: string,
  user_id: string,
): Promise<void> {
  const user = await findUser(db, user_id);
  if (user === undefined) return;
  const { email, name, credential_epoch } = user;
  const input = {
    admittance: { by: 'sample' as const },
    email,
    name,
    password_hash: null,
    identity: null,
    user: { user_id, email, credential_epoch },
  };
  await lane.submit(workspace_id, joinWorkspace, input, origin);
}
