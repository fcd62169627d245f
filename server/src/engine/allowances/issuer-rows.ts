import type { AllowanceIssuer } from '@purser/rules/allowances/issuers';
import type { Queryable } from '../storage/database.ts';
import { type Columns, type InWorkspace, makeInsert } from '../storage/rows.ts';

const COLUMNS: Columns<AllowanceIssuer> = {
  issuer_id: 'text',
  name: 'text',
  jwk: 'text',
  format: 'text',
  currency: 'text',
  max_amount_minor: 'bigint',
  agents: 'words',
  parent_id: 'text',
  created_at: 'timestamptz',
  created_by_key_id: 'text',
  created_by_principal_id: 'text',
  revoked_at: 'timestamptz',
};
const SELECTED = Object.keys(COLUMNS)
  .map((name) => `i.${name}`)
  .join(', ');

/** Returns issuers by id; unknown ones are left out. */
export async function loadIssuers(
  db: Queryable,
  wanted: readonly InWorkspace<{ issuer_id: string }>[],
): Promise<InWorkspace<AllowanceIssuer>[]> {
  const result = await db.query<InWorkspace<AllowanceIssuer>>({
    name: 'load_issuers',
    text: `select i.workspace_id, ${SELECTED} from unnest($1::text[], $2::text[]) as w(workspace_id, issuer_id)
      join allowance_issuers i on i.workspace_id = w.workspace_id and i.issuer_id = w.issuer_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.issuer_id)],
  });
  return result.rows;
}

/** Returns the issuers of mandates that have a key of this name, the oldest first, revoked ones included. */
export async function loadIssuersByKeyId(
  db: Queryable,
  workspace_id: string,
  key_id: string,
): Promise<AllowanceIssuer[]> {
  const result = await db.query<AllowanceIssuer & { workspace_id: string }>({
    name: 'load_issuers_by_key_id',
    text: `select ${SELECTED} from allowance_issuers i
      where workspace_id = $1 and format <> '' and jwk::jsonb ->> 'kid' = $2 order by issuer_id`,
    values: [workspace_id, key_id],
  });
  return result.rows;
}

/** Returns a page of the issuers of a workspace, newest first. */
export async function listIssuers(
  db: Queryable,
  workspace_id: string,
  page: { before: string | null; limit: number },
): Promise<AllowanceIssuer[]> {
  const result = await db.query<AllowanceIssuer & { workspace_id: string }>({
    name: 'list_issuers',
    text: `select ${SELECTED} from allowance_issuers i
      where workspace_id = $1 and ($2::text is null or issuer_id < $2) order by issuer_id desc limit $3`,
    values: [workspace_id, page.before, page.limit],
  });
  return result.rows;
}

/** Returns a page of all issuers of a workspace for verification, in the order of their ids. */
export async function listAllIssuers(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<AllowanceIssuer[]> {
  const result = await db.query<AllowanceIssuer & { workspace_id: string }>({
    name: 'list_all_issuers',
    text: `select ${SELECTED} from allowance_issuers i where workspace_id = $1 and issuer_id > $2
      order by issuer_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Inserts issuers and updates those that were revoked. */
export const putIssuers = makeInsert<AllowanceIssuer>('allowance_issuers', COLUMNS, {
  conflict: ['issuer_id'],
  update: ['revoked_at'],
});
