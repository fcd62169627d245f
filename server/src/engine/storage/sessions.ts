import { SIGN_IN_METHODS } from '@purser/contract/values/people';
import type { Role } from '@purser/contract/values/scopes';
import type { SessionState } from '@purser/rules/domain/people';
import type { Queryable } from './database.ts';
import { IS_ACTIVE, IS_PENDING } from './members.ts';
import { type InWorkspace, msOf, type Write } from './rows.ts';

export { SIGN_IN_METHODS };

export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** A session as it is stored, with the person and the membership of its current workspace. */
export interface Session extends SessionState {
  digest: Buffer;
  workspace_id: string;
  method: SignInMethod;
  last_seen_at: string;
  proved_at: string;
  client_address: string;
  user_agent: string | null;
  principal_id: string | null;
  /** The credential epoch in which it began. */
  credential_epoch: number;
  /** The person has yet to accept the membership of the session's workspace. */
  is_pending: boolean;
  /** The person is an administrator of this workspace or of another one. */
  is_admin_somewhere: boolean;
  /** The database's clock, ms. */
  clock_ms: number;
}

/** Holds for a row `s` of `sessions` whose person is an administrator of any workspace: a session may switch there. */
export const IS_ADMIN_SOMEWHERE = `exists (select from members a
  where a.user_id = s.user_id and a.role = 'admin' and a.removed_at is null)`;
const IS_OF_EPOCH = 's.credential_epoch = u.credential_epoch';
const ROLE = `case when ${IS_ACTIVE} then m.role end as role`;
const SESSION = `s.digest, s.session_id, s.user_id, s.workspace_id, s.method, s.created_at, s.last_seen_at,
  s.expires_at, s.proved_at, s.client_address, s.user_agent, s.revoked_at, ${ROLE}, m.principal_id, u.disabled_at,
  s.credential_epoch, ${IS_OF_EPOCH} as is_of_epoch, ${IS_PENDING} as is_pending,
  ${IS_ADMIN_SOMEWHERE} as is_admin_somewhere,
  ${msOf('clock_timestamp()')} as clock_ms`;
const JOINED = `join users u on u.user_id = s.user_id
  left join members m on m.workspace_id = s.workspace_id and m.user_id = s.user_id and m.removed_at is null`;

/** Returns the sessions with these digests, whatever has become of them; unknown ones are left out. */
export async function findSessions(db: Queryable, digests: readonly Buffer[]): Promise<Session[]> {
  const result = await db.query<Session>({
    name: 'find_sessions',
    text: `select ${SESSION} from sessions s ${JOINED} where s.digest = any($1)`,
    values: [digests],
  });
  return result.rows;
}

/** Returns sessions by id, with the person's membership of the workspace in which they are asked for. */
export async function loadSessions(
  db: Queryable,
  wanted: readonly InWorkspace<{ session_id: string }>[],
): Promise<InWorkspace<SessionState>[]> {
  const result = await db.query<InWorkspace<SessionState>>({
    name: 'load_sessions',
    text: `select w.workspace_id, s.session_id, s.user_id, s.created_at, s.expires_at, s.revoked_at, ${ROLE}, u.disabled_at,
        ${IS_OF_EPOCH} as is_of_epoch
      from unnest($1::text[], $2::text[]) as w(workspace_id, session_id)
      join sessions s on s.session_id = w.session_id join users u on u.user_id = s.user_id
      left join members m on m.workspace_id = w.workspace_id and m.user_id = s.user_id and m.removed_at is null`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.session_id)],
  });
  return result.rows;
}

/** Ends the sessions that people have in these workspaces. `ended_at` is the batch timestamp. */
export const endSessionsOf: Write<{ user_id: string; ended_at: string }> = (client, parts) => {
  const ended = parts.flatMap(({ workspace_id, rows }) => rows.map((row) => ({ ...row, workspace_id })));
  return client.query({
    name: 'end_sessions_of',
    text: `update sessions s set revoked_at = r.ended_at
      from unnest($1::text[], $2::text[], $3::timestamptz[]) as r(workspace_id, user_id, ended_at)
      where s.user_id = r.user_id and s.workspace_id = r.workspace_id and s.revoked_at is null`,
    values: [
      ended.map((each) => each.workspace_id),
      ended.map((each) => each.user_id),
      ended.map((each) => each.ended_at),
    ],
  });
};

/** A person's membership, for the choice of a workspace. */
export interface Membership {
  workspace_id: string;
  name: string;
  time_zone: string;
  role: Role;
  principal_id: string;
  away_until: string | null;
  away_delegate: string | null;
  /** It gives nothing until its owner accepts it. */
  is_pending: boolean;
}
