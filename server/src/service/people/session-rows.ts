import type { Queryable } from '../../engine/storage/database.ts';
import { IS_ADMIN_SOMEWHERE, type Session, type SignInMethod } from '../../engine/storage/sessions.ts';

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
  /** The epoch of the credential that let the person in. */
  credential_epoch: number;
  /** When they proved who they are, ms; `now`: just now, by the database's clock. Never later than that. */
  proved_at_ms: number | 'now';
  /** The digests of the session that this browser had before, which ends. */
  earlier: readonly Buffer[];
}

/**
 * Stores a session that begins at the database's clock, and ends the earlier one of the browser. Returns false, and changes
 * nothing, if the person is in another credential epoch by now, or disabled: what raises the epoch waits for sessions that
 * begin in the old one.
 */
export async function insertSession(db: Queryable, session: NewSession): Promise<boolean> {
  const { proved_at_ms } = session;
  const result = await db.query<{ session_id: string }>({
    name: 'insert_session',
    text: `with begun as (
        insert into sessions (digest, session_id, user_id, workspace_id, method, created_at, last_seen_at, expires_at,
          proved_at, client_address, user_agent, credential_epoch)
        select $1, $2, user_id, $4, $5, now, now, now + make_interval(hours => $6),
          least(now, to_timestamp($10::float8 / 1000)), $7, $8, credential_epoch
        from users, (select date_trunc('milliseconds', clock_timestamp()) as now) as clock
        where user_id = $3 and credential_epoch = $9 and disabled_at is null
        for share of users
        returning session_id),
      ended as (
        update sessions set revoked_at = clock_timestamp()
        where digest = any($11) and revoked_at is null and exists (select from begun))
      select session_id from begun`,
    values: [
      session.digest,
      session.session_id,
      session.user_id,
      session.workspace_id,
      session.method,
      session.hours,
      session.client_address,
      session.user_agent,
      session.credential_epoch,
      proved_at_ms === 'now' ? null : proved_at_ms,
      session.earlier,
    ],
  });
  return result.rows.length === 1;
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
      join users u on u.user_id = s.user_id and u.credential_epoch = s.credential_epoch
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

/**
 * Removes what nobody needs any more: sessions over for 30 days, sign-ins of over a year ago, spent challenges and codes,
 * passkeys of an earlier credential epoch.
 */
export async function pruneOldSignIns(db: Queryable): Promise<void> {
  for (const text of [
    "delete from sessions where least(expires_at, revoked_at) < clock_timestamp() - interval '30 days'",
    "delete from sign_ins where created_at < clock_timestamp() - interval '1 year'",
    'delete from user_passkeys p using users u where u.user_id = p.user_id and u.credential_epoch > p.credential_epoch',
    'delete from used_oidc_states where expires_at < clock_timestamp()',
    'delete from passkey_challenges where expires_at < clock_timestamp()',
    'delete from setup_codes where expires_at < clock_timestamp()',
  ]) {
    await db.query({ text });
  }
}
