import type { IncomingHttpHeaders } from 'node:http';
import { scopesOfRole } from '@purser/contract/values/scopes';
import { kindOfScopes } from '@purser/rules/domain/keys';
import { type Credited, isFuture, NOT_SIGNED_IN, sessionRefusal } from '@purser/rules/domain/people';
import { authUnavailable } from '@purser/rules/errors';
import type { Logger } from 'pino';
import type { ClockWatch } from '../../engine/clock-watch.ts';
import { clockSuspect } from '../../engine/lane/batch.ts';
import { makeBatchLoader } from '../../engine/storage/batch-loader.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { findSessions, type Session, type SignInMethod } from '../../engine/storage/sessions.ts';
import type { AuthResult } from '../http/server-options.ts';
import type { Mac } from '../installation/secrets.ts';
import { insertSession, listSessions, noteSessionUses, type OwnSession } from './session-rows.ts';
import type { Site } from './site.ts';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const LOOKED_UP_AT_ONCE = 500;
const MAX_WAITING = 5_000;
const MINUTE_MS = 60_000;
/** How long people who are administrators of no workspace may do nothing. */
const OTHERS_IDLE_MINUTES = 8 * 60;
/** The last use is written at most once a minute, or four times in the time that a session may be idle. */
const MAX_NOTED_MS = MINUTE_MS;
const NOTED_IN_IDLE = 4;
const MAX_USES = 100_000;
const MAX_USER_AGENT = 400;

/** How long sessions last. */
export interface SessionLimits {
  session_hours: number;
  session_idle_minutes: number;
  reauthenticate_minutes: number;
}

/** The facts about a person's request that a new session keeps. */
export interface Visit {
  headers: IncomingHttpHeaders;
  client_address: string;
}

/** A person who is let in, and how. */
export interface SignedInPerson extends Pick<Credited, 'user_id' | 'credential_epoch'> {
  workspace_id: string;
  method: SignInMethod;
  /** When they proved who they are, ms; `now`: just now. */
  proved_at_ms: number | 'now';
  /** The digests of the session that their browser had, where the request itself does not show it. */
  earlier?: readonly Buffer[];
}

/** The sessions of people. */
export interface Sessions {
  /** Tells who is signed in; null: the request has no cookie of a session. Throws `auth_unavailable`. */
  authenticate(headers: IncomingHttpHeaders): Promise<AuthResult> | null;
  /**
   * Begins a session with a token that no session had before, ends the one that the browser had, and returns its id and the
   * `set-cookie` for it. Returns null if the person is in another credential epoch by now, or disabled. Throws `unavailable`
   * while the database's clock is in doubt, which would date the session.
   */
  begin(who: SignedInPerson, visit: Visit): Promise<{ session_id: string; cookie: string } | null>;
  /** The digests by which the session of a request would be known; none where it has no cookie of one. */
  digestsOf(headers: IncomingHttpHeaders): Buffer[];
  /** Returns the sessions that are not over of the person whose session it is, newest first, at most 200. */
  list(current: { user_id: string; session_id: string }): Promise<OwnSession[]>;
  /** Stores when sessions were last used. */
  flush(): Promise<void>;
}

/** Makes it. Nothing is remembered: a session that was ended is refused on the very next request, on every node. */
export function makeSessions(options: {
  db: Queryable;
  /** The watch over the database's clock. */
  clock: Pick<ClockWatch, 'doubt' | 'passedMs'>;
  site: Site;
  limits: SessionLimits;
  macs: readonly [Mac, ...Mac[]];
  newToken: () => string;
  newSessionId: () => string;
  log: Logger;
}): Sessions {
  const { db, clock, site, limits, macs, log } = options;
  const uses = new Map<string, number>();
  const find = makeBatchLoader<readonly Buffer[], Session>({
    keyOf: ([digest]) => (digest as Buffer).toString('hex'),
    load: async (wanted) => {
      const found = await findSessions(db, wanted.flat());
      const by_digest = new Map(found.map((session) => [session.digest.toString('hex'), session]));
      return new Map(
        wanted.flatMap((digests) => {
          const session = digests.flatMap((digest) => by_digest.get(digest.toString('hex')) ?? [])[0];
          return session === undefined ? [] : [[(digests[0] as Buffer).toString('hex'), session]];
        }),
      );
    },
    max_batch: LOOKED_UP_AT_ONCE,
    max_waiting: MAX_WAITING,
    onFailure: (error) => log.error({ err: error }, 'sessions could not be looked up'),
  });

  /** The minutes without a request after which a session is over. The strongest role of the person counts, wherever it is. */
  const idle = {
    admin: limits.session_idle_minutes,
    others: Math.max(OTHERS_IDLE_MINUTES, limits.session_idle_minutes),
  };
  const idleMs = (is_admin: boolean) => (is_admin ? idle.admin : idle.others) * MINUTE_MS;

  function noteUse({ session_id, last_seen_at, clock_ms }: Session, idle_ms: number): void {
    const every_ms = Math.min(MAX_NOTED_MS, idle_ms / NOTED_IN_IDLE);
    if (clock_ms - Date.parse(last_seen_at) < every_ms) return;
    if (uses.has(session_id) || uses.size < MAX_USES) uses.set(session_id, clock_ms);
  }

  async function judge(token: string): Promise<AuthResult> {
    if (!TOKEN.test(token)) return { ok: false, message: NOT_SIGNED_IN };
    let session: Session | undefined;
    try {
      session = await find(macs.map((mac) => mac(token)));
    } catch (error) {
      throw authUnavailable(error);
    }
    if (session === undefined) return { ok: false, message: NOT_SIGNED_IN };
    const { role, user_id, session_id, workspace_id, principal_id } = session;
    const clock_ms = Math.max(session.clock_ms, clock.passedMs());
    const refusal = sessionRefusal(session, clock_ms);
    // Who has yet to accept the membership is let in to do so, with no scopes.
    if (refusal !== null || (role === null && !session.is_pending)) {
      return { ok: false, message: refusal ?? NOT_SIGNED_IN };
    }
    const idle_ms = idleMs(session.is_admin_somewhere);
    const seen_ms = Math.max(Date.parse(session.last_seen_at), uses.get(session_id) ?? 0);
    if (clock_ms - seen_ms >= idle_ms) return { ok: false, message: NOT_SIGNED_IN };
    noteUse(session, idle_ms);
    const is_proof_fresh =
      !isFuture(session.proved_at, clock_ms) &&
      clock_ms - Date.parse(session.proved_at) < limits.reauthenticate_minutes * MINUTE_MS;
    const scopes = role === null ? [] : scopesOfRole(role);
    return {
      ok: true,
      caller: {
        workspace_id,
        key_id: null,
        session: { session_id, user_id, credential_epoch: session.credential_epoch, role, is_proof_fresh },
        kind: kindOfScopes(scopes),
        scopes,
        agent_id: null,
        principal_id: role === null ? null : principal_id,
      },
    };
  }

  function digestsOf(headers: IncomingHttpHeaders): Buffer[] {
    const token = site.sessionCookie(headers);
    return token === undefined || !TOKEN.test(token) ? [] : macs.map((mac) => mac(token));
  }

  return {
    authenticate(headers) {
      const token = site.sessionCookie(headers);
      return token === undefined ? null : judge(token);
    },
    digestsOf,
    async begin({ earlier = [], ...who }, { headers, client_address }) {
      site.checkTransport(headers);
      const doubt = clock.doubt();
      if (doubt !== null) throw clockSuspect(doubt);
      const token = options.newToken();
      const session_id = options.newSessionId();
      const hours = limits.session_hours;
      const has_begun = await insertSession(db, {
        ...who,
        digest: macs[0](token),
        session_id,
        hours,
        client_address,
        user_agent: headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
        earlier: [...earlier, ...digestsOf(headers)],
      });
      if (!has_begun) return null;
      return { session_id, cookie: site.setSession(token, hours * 3_600) };
    },
    list: (current) => listSessions(db, current, idle),
    async flush() {
      if (uses.size === 0) return;
      const noted = [...uses].map(([session_id, at_ms]) => ({ session_id, at_ms }));
      await noteSessionUses(db, noted);
      for (const { session_id, at_ms } of noted) if (uses.get(session_id) === at_ms) uses.delete(session_id);
    },
  };
}
