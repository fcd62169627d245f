import type { Queryable } from '../storage/database.ts';
import type { SignInMethod } from '../storage/sessions.ts';

/** `wrong`: refused; `locked`: the first that was over the limit of wrong ones; `password_changed`: no sign-in at all. */
export const SIGN_IN_KINDS = ['ok', 'wrong', 'locked', 'oidc_failed', 'password_changed'] as const;
export type SignInKind = (typeof SIGN_IN_KINDS)[number];

/** What happened at the door. */
export interface SignIn {
  kind: SignInKind;
  method: SignInMethod;
  email: string;
  /** Null: nobody has this e-mail. */
  user_id: string | null;
  client_address: string;
}

/** A sign-in as the list shows it. */
export interface ListedSignIn extends SignIn {
  sign_in_id: string;
  created_at: string;
}

/**
 * Records what happened in each workspace that the person is a member of. What names nobody is recorded where the
 * installation has a single workspace; where it has several, it is nobody's to see.
 */
export async function insertSignIn(db: Queryable, signIn: SignIn, newId: () => string): Promise<void> {
  const found = await db.query<{ workspace_id: string }>({
    name: 'workspaces_of_sign_in',
    text: `select workspace_id from members where user_id = $1 and removed_at is null
      union select w.workspace_id from workspaces w
        where $1::text is null and not exists (select 1 from workspaces o where o.workspace_id <> w.workspace_id)
      order by 1`,
    values: [signIn.user_id],
  });
  if (found.rows.length === 0) return;
  await db.query({
    name: 'insert_sign_in',
    text: `insert into sign_ins (workspace_id, sign_in_id, kind, method, email, user_id, client_address, created_at)
      select w.workspace_id, w.sign_in_id, $3, $4, $5, $6, $7, clock_timestamp()
      from unnest($1::text[], $2::text[]) as w(workspace_id, sign_in_id)`,
    values: [
      found.rows.map((row) => row.workspace_id),
      found.rows.map(() => newId()),
      signIn.kind,
      signIn.method,
      signIn.email,
      signIn.user_id,
      signIn.client_address,
    ],
  });
}

/** Returns a page of sign-ins, newest first. */
export async function listSignIns(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number },
): Promise<ListedSignIn[]> {
  const result = await db.query<ListedSignIn & { workspace_id: string }>({
    name: 'list_sign_ins',
    text: `select sign_in_id, kind, method, email, user_id, client_address, created_at from sign_ins
      where workspace_id = $1 and ($2::text is null or sign_in_id < $2) order by sign_in_id desc limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}
