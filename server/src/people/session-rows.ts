import type { Queryable } from '../storage/database.ts';
import { IS_ADMIN_SOMEWHERE, type Session, type SignInMethod } from '../storage/sessions.ts';

/** A session that begins now. */
export interface NewSession {
  digest: Buffer;
  session_id: string;
  user_id: string;
  workspace_id: string;
  method: SignInMethod;
  hours: number;
  client_address: string;
  user_agent: string | null;
  /** The hash that the person's password was compared with; null: they came in by something else. */
  password_hash: string | null;
}

/**
 * Stores a session that begins at the database's clock. Returns false, and stores none, if the person has another password
 * by now: whoever changes it ends the sessions that there are, and waits for those that begin.
 */
export async function insertSession(db: Queryable, session: NewSession): Promise<boolean> {
  const result = await db.query({
    name: 'insert_session',
    text: `insert into sessions (digest, session_id, user_id, workspace_id, method, created_at, last_seen_at, expires_at,
        proved_at, client_address, user_agent)
      select $1, $2, $3, $4, $5, now, now, now + make_interval(hours => $6), now, $7, $8
      from (select date_trunc('milliseconds', clock_timestamp()) as now) as clock
      where $9::text is null
        or exists (select from users where user_id = $3 and password_hash = $9 for share)`,
    values: [
      session.digest,
      session.session_id,
      session.user_id,
      session.workspace_id,
      session.method,
      session.hours,
      session.client_address,
      session.user_agent,
      session.password_hash,
    ],
  });
  return result.rowCount === 1;
}

/** A session as its owner sees it. */
export type OwnSession = Pick<
  Session,
  | 'session_id'
  | 'workspace_id'
  | 'created_at'
  | 'last_seen_at'
  | 'expires_at'
  | 'client_address'
  | 'user_agent'
>;

/**
 * Returns a person's sessions that are not over, newest first, at most 200. `idle`: the minutes without a request, for who is an
 * administrator anywhere and for all others. The current one is used now, though that may be stored later.
 */
export async function listSessions(
  db: Queryable,
  { user_id, session_id }: { user_id: string; session_id: string },
  idle: { admin: number; others: number },
): Promise<OwnSession[]> {
  const result = await db.query<OwnSession & { workspace_id: string }>({
    name: 'list_sessions',
    text: `select s.session_id, s.workspace_id, s.created_at, s.last_seen_at, s.expires_at, s.client_address, s.user_agent
      from sessions s
      join members m on m.workspace_id = s.workspace_id and m.user_id = s.user_id and m.removed_at is null
      where s.user_id = $1 and s.revoked_at is null and s.expires_at > clock_timestamp()
        and (s.session_id = $4 or clock_timestamp()
          < s.last_seen_at + make_interval(mins => case when ${IS_ADMIN_SOMEWHERE} then $2::int else $3::int end))
      order by s.session_id desc limit 200`,
    values: [user_id, idle.admin, idle.others, session_id],
  });
  return result.rows;
}

/** Returns one of a person's sessions, or undefined. */
export async function findOwnSession(
  db: Queryable,
  user_id: string,
  session_id: string,
): Promise<OwnSession | undefined> {
  const result = await db.query<OwnSession & { workspace_id: string }>({
    name: 'find_own_session',
    text: `select session_id, workspace_id, created_at, last_seen_at, expires_at, client_address, user_agent
      from sessions where user_id = $1 and session_id = $2`,
    values: [user_id, session_id],
  });
  return result.rows[0];
}

/** Ends one of a person's sessions. Returns false if it is not theirs. */
export async function endSession(db: Queryable, user_id: string, session_id: string): Promise<boolean> {
  const result = await db.query({
    name: 'end_session',
    text: `update sessions set revoked_at = coalesce(revoked_at, clock_timestamp())
      where user_id = $1 and session_id = $2`,
    values: [user_id, session_id],
  });
  return result.rowCount === 1;
}

/** Ends all of a person's sessions but one; all of them with `besides` null. */
export async function endSessions(db: Queryable, user_id: string, besides: string | null): Promise<void> {
  await db.query({
    name: 'end_sessions',
    text: `update sessions set revoked_at = clock_timestamp()
      where user_id = $1 and revoked_at is null and ($2::text is null or session_id <> $2)`,
    values: [user_id, besides],
  });
}

/** Makes a workspace the current one of a session. */
export async function switchWorkspace(
  db: Queryable,
  session_id: string,
  workspace_id: string,
): Promise<void> {
  await db.query({
    name: 'switch_workspace',
    text: 'update sessions set workspace_id = $2 where session_id = $1',
    values: [session_id, workspace_id],
  });
}

/** Notes that a person has proved anew who they are. */
export async function noteProof(db: Queryable, session_id: string): Promise<void> {
  await db.query({
    name: 'note_proof',
    text: 'update sessions set proved_at = clock_timestamp() where session_id = $1',
    values: [session_id],
  });
}

/** Notes when sessions were last used. A later use that another node noted stays. */
export async function noteSessionUses(
  db: Queryable,
  uses: readonly { session_id: string; at_ms: number }[],
): Promise<void> {
  await db.query({
    name: 'note_session_uses',
    text: `update sessions s set last_seen_at = greatest(s.last_seen_at, to_timestamp(r.at_ms / 1000.0))
      from unnest($1::text[], $2::bigint[]) as r(session_id, at_ms) where s.session_id = r.session_id`,
    values: [uses.map((use) => use.session_id), uses.map((use) => use.at_ms)],
  });
}

/** Returns the workspace of a person's newest session, where they will want to go on; undefined if there was none. */
export async function lastWorkspaceOf(db: Queryable, user_id: string): Promise<string | undefined> {
  const result = await db.query<{ workspace_id: string }>({
    name: 'last_workspace_of',
    text: 'select workspace_id from sessions where user_id = $1 order by session_id desc limit 1',
    values: [user_id],
  });
  return result.rows[0]?.workspace_id;
}

/** Removes what nobody needs any more: sessions over for 30 days, sign-ins of over a year ago, spent challenges and codes. */
export async function pruneOldSignIns(db: Queryable): Promise<void> {
  for (const text of [
    "delete from sessions where least(expires_at, revoked_at) < clock_timestamp() - interval '30 days'",
    "delete from sign_ins where created_at < clock_timestamp() - interval '1 year'",
    'delete from passkey_challenges where expires_at < clock_timestamp()',
    'delete from setup_codes where expires_at < clock_timestamp()',
  ]) {
    await db.query({ text });
  }
}
