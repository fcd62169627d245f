import type { IncomingHttpHeaders } from 'node:http';
import { scopesOfRole } from '@purser/contract/values/scopes';
import { type Caller, kindOfScopes } from '@purser/rules/domain/keys';
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

export interface SessionsOptions {
  db: Queryable;
  /** The watch over the database's clock. */
  clock: Pick<ClockWatch, 'doubt' | 'passedMs'>;
  site: Site;
  limits: SessionLimits;
  macs: readonly [Mac, ...Mac[]];
  newToken: () => string;
  newSessionId: () => string;
  log: Logger;
}

/** Marks a request that no person made, such as the console's look for new requests. It does not keep the session going. */
const BACKGROUND_HEADER = 'x-purser-background';

const NOBODY: AuthResult = { ok: false, message: NOT_SIGNED_IN };

/** The sessions of people. Nothing is remembered: a session that was ended is refused on the very next request, on every node. */
export class Sessions {
  readonly #options: SessionsOptions;
  /** When sessions were last used, as far as that is not stored yet. */
  readonly #uses = new Map<string, number>();
  readonly #find: ReturnType<typeof makeFindSession>;
  /** The minutes without a request after which a session is over. The strongest role of the person counts, wherever it is. */
  readonly #idle: { admin: number; others: number };

  constructor(options: SessionsOptions) {
    const { session_idle_minutes: admin } = options.limits;
    this.#options = options;
    this.#find = makeFindSession(options);
    this.#idle = { admin, others: Math.max(OTHERS_IDLE_MINUTES, admin) };
  }

  /** Tells who is signed in; null: the request has no cookie of a session. Throws `auth_unavailable`. */
  authenticate(headers: IncomingHttpHeaders): Promise<AuthResult> | null {
    const token = this.#options.site.sessionCookie(headers);
    return token === undefined ? null : this.#judge(token, headers[BACKGROUND_HEADER] !== undefined);
  }

  /** The digests by which the session of a request would be known; none where it has no cookie of one. */
  digestsOf(headers: IncomingHttpHeaders): Buffer[] {
    const token = this.#options.site.sessionCookie(headers);
    return token === undefined || !TOKEN.test(token) ? [] : this.#digests(token);
  }

  /**
   * Begins a session with a token that no session had before, ends the one that the browser had, and returns its id and the
   * `set-cookie` for it. Returns null if the person is in another credential epoch by now, or disabled. Throws `unavailable`
   * while the database's clock is in doubt, which would date the session.
   */
  async begin(
    { earlier = [], ...who }: SignedInPerson,
    { headers, client_address }: Visit,
  ): Promise<{ session_id: string; cookie: string } | null> {
    const { db, clock, site, limits, macs, newToken, newSessionId } = this.#options;
    site.checkTransport(headers);
    const doubt = clock.doubt();
    if (doubt !== null) throw clockSuspect(doubt);
    const token = newToken();
    const session_id = newSessionId();
    const hours = limits.session_hours;
    const has_begun = await insertSession(db, {
      ...who,
      digest: macs[0](token),
      session_id,
      hours,
      client_address,
      user_agent: headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
      earlier: [...earlier, ...this.digestsOf(headers)],
    });
    if (!has_begun) return null;
    return { session_id, cookie: site.setSession(token, hours * 3_600) };
  }

  /** Returns the sessions that are not over of the person whose session it is, newest first, at most 200. */
  list(current: { user_id: string; session_id: string }): Promise<OwnSession[]> {
    return listSessions(this.#options.db, current, this.#idle);
  }

  /** Stores when sessions were last used. */
  async flush(): Promise<void> {
    const uses = this.#uses;
    if (uses.size === 0) return;
    const noted = [...uses].map(([session_id, at_ms]) => ({ session_id, at_ms }));
    await noteSessionUses(this.#options.db, noted);
    for (const { session_id, at_ms } of noted) if (uses.get(session_id) === at_ms) uses.delete(session_id);
  }

  async #judge(token: string, is_background: boolean): Promise<AuthResult> {
    const session = await this.#look(token);
    if (session === undefined) return NOBODY;
    const clock_ms = Math.max(session.clock_ms, this.#options.clock.passedMs());
    const refusal = sessionRefusal(session, clock_ms);
    // Who has yet to accept the membership is let in to do so, with no scopes.
    if (refusal !== null || (session.role === null && !session.is_pending)) {
      return { ok: false, message: refusal ?? NOT_SIGNED_IN };
    }
    const idle_ms = (session.is_admin_somewhere ? this.#idle.admin : this.#idle.others) * MINUTE_MS;
    const seen_ms = Math.max(Date.parse(session.last_seen_at), this.#uses.get(session.session_id) ?? 0);
    if (clock_ms - seen_ms >= idle_ms) return NOBODY;
    if (!is_background) this.#noteUse(session, idle_ms);
    return { ok: true, caller: this.#callerOf(session, clock_ms) };
  }

  async #look(token: string): Promise<Session | undefined> {
    if (!TOKEN.test(token)) return undefined;
    try {
      return await this.#find(this.#digests(token));
    } catch (error) {
      throw authUnavailable(error);
    }
  }

  #callerOf(session: Session, clock_ms: number): Caller {
    const { role, user_id, session_id, workspace_id, principal_id, credential_epoch } = session;
    const is_proof_fresh =
      !isFuture(session.proved_at, clock_ms) &&
      clock_ms - Date.parse(session.proved_at) < this.#options.limits.reauthenticate_minutes * MINUTE_MS;
    const scopes = role === null ? [] : scopesOfRole(role);
    return {
      workspace_id,
      key_id: null,
      session: { session_id, user_id, credential_epoch, role, is_proof_fresh },
      kind: kindOfScopes(scopes),
      scopes,
      agent_id: null,
      principal_id: role === null ? null : principal_id,
    };
  }

  #noteUse({ session_id, last_seen_at, clock_ms }: Session, idle_ms: number): void {
    const every_ms = Math.min(MAX_NOTED_MS, idle_ms / NOTED_IN_IDLE);
    if (clock_ms - Date.parse(last_seen_at) < every_ms) return;
    if (this.#uses.has(session_id) || this.#uses.size < MAX_USES) this.#uses.set(session_id, clock_ms);
  }

  #digests(token: string): Buffer[] {
    return this.#options.macs.map((mac) => mac(token));
  }
}

/** Makes the look-up of a session by the digests that its token may have. */
function makeFindSession({ db, log }: SessionsOptions) {
  const nameOf = (digest: Buffer) => digest.toString('hex');
  return makeBatchLoader<readonly Buffer[], Session>({
    keyOf: ([digest]) => nameOf(digest as Buffer),
    load: async (wanted) => {
      const found = await findSessions(db, wanted.flat());
      const by_digest = new Map(found.map((session) => [nameOf(session.digest), session]));
      return new Map(
        wanted.flatMap((digests) => {
          const session = digests.flatMap((digest) => by_digest.get(nameOf(digest)) ?? [])[0];
          return session === undefined ? [] : [[nameOf(digests[0] as Buffer), session]];
        }),
      );
    },
    max_batch: LOOKED_UP_AT_ONCE,
    max_waiting: MAX_WAITING,
    onFailure: (error) => log.error({ err: error }, 'sessions could not be looked up'),
  });
}
