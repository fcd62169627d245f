import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import type { Queryable } from '../storage/database.ts';
import { type InWorkspace, makeInsert } from '../storage/rows.ts';

const COLUMNS = `signing_key_id, user_id, principal_id, name, credential_id, public_key, rp_id, origin, status, is_root,
  enrolment, endorsed_by, endorsement, created_at, revoked_at, reset_at`;

/** Returns all signing keys of these workspaces, oldest first. */
export async function loadSigningKeys(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<SigningKeyRow>[]> {
  const result = await db.query<InWorkspace<SigningKeyRow>>({
    name: 'load_signing_keys',
    text: `select workspace_id, ${COLUMNS} from signing_keys where workspace_id = any($1)
      order by workspace_id, signing_key_id`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Inserts signing keys and updates those that were endorsed or revoked. */
export const putSigningKeys = makeInsert<SigningKeyRow>(
  'signing_keys',
  {
    signing_key_id: 'text',
    user_id: 'text',
    principal_id: 'text',
    name: 'text',
    credential_id: 'text',
    public_key: 'text',
    rp_id: 'text',
    origin: 'text',
    status: 'text',
    is_root: 'boolean',
    enrolment: 'text',
    endorsed_by: 'text',
    endorsement: 'text',
    created_at: 'timestamptz',
    revoked_at: 'timestamptz',
    reset_at: 'timestamptz',
  },
  {
    conflict: ['signing_key_id'],
    update: ['status', 'endorsed_by', 'endorsement', 'revoked_at', 'reset_at'],
  },
);
