import { scopesOfRole } from '@purser/contract/values/scopes';
import type { Origin } from '@purser/rules/domain/audit';
import { type Member, NOT_SIGNED_IN, type User } from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import { acceptMembership } from '../../engine/commands/people/accept-membership.ts';
import { removeMember } from '../../engine/commands/people/remove-member.ts';
import { setAway } from '../../engine/commands/people/set-away.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { findOwnSession, switchWorkspace } from './session-rows.ts';
import type { Visit } from './sessions.ts';
import { findUser, listMemberships } from './user-rows.ts';
import { verifying } from './verifying.ts';

/** The signed-in person, as in `GET /v1/me`. */
export type Me = Awaited<ReturnType<typeof meOf>>;

/** A person who calls. */
export interface Self {
  user_id: string;
  session_id: string;
  /** The credential epoch in which the session began. */
  credential_epoch: number;
  workspace_id: string;
}

const NOT_A_MEMBER = 'No such workspace, or you are not a member of it.';
const NOTHING_TO_LEAVE =
  'You have no pending membership there; only an administrator can end an accepted one.';

/**
 * The response of `GET /v1/me`; a pending workspace shows only its name. Throws `unauthenticated` if they are no
 * member of the session's workspace.
 */
export async function meOf(db: Queryable, { user_id, session_id }: Pick<Self, 'user_id' | 'session_id'>) {
  const user = await findUser(db, user_id);
  const memberships = await listMemberships(db, user_id);
  const session = await findOwnSession(db, user_id, session_id);
  const standing = memberships.find((each) => each.workspace_id === session?.workspace_id);
  if (user === undefined || session === undefined || standing === undefined) {
    throw new ApiError('unauthenticated', NOT_SIGNED_IN);
  }
  const here = standing.is_pending ? null : standing;
  return {
    user: { id: user.user_id, email: user.email, name: user.name },
    has_password: user.password_hash !== null,
    workspace: here && { id: here.workspace_id, name: here.name, time_zone: here.time_zone },
    role: here?.role ?? null,
    scopes: here === null ? [] : scopesOfRole(here.role),
    principal_id: here?.principal_id ?? null,
    away: here === null ? null : awayOf(here, await readClock(db)),
    session: { id: session_id, created_at: session.created_at, expires_at: session.expires_at },
    workspaces: memberships.map(({ workspace_id, name, role, is_pending }) => ({
      id: workspace_id,
      name,
      role,
      status: is_pending ? ('pending' as const) : ('active' as const),
    })),
  };
}

/** Until when a member is away, and who may use their place. */
type Away = { until: string; delegate: string };

function awayOf(
  { away_until: until, away_delegate: delegate }: Pick<Member, 'away_until' | 'away_delegate'>,
  now_ms: number,
): Away | null {
  return until === null || delegate === null || Date.parse(until) <= now_ms ? null : { until, delegate };
}

/** Changes of a person to their own account. */
export type OwnAccount = ReturnType<typeof makeOwnAccount>;

/** Makes it. `origin` of a decision on a membership is the person's own: `ownOriginOf`. */
export function makeOwnAccount(options: {
  db: Queryable;
  lane: Lane;
  rename: (user: User, name: string, visit: Visit) => Promise<void>;
}) {
  const { db, lane } = options;
  return {
    me: (self: Self) => verifying(() => meOf(db, self)),

    /** Lends the person's place in the session's workspace. Throws `invalid_request`, `insufficient_scope`, `not_found`. */
    async setAway({ user_id, workspace_id }: Self, away: Away, origin: Origin): Promise<Away> {
      await lane.submit(workspace_id, setAway, { user_id, away }, origin);
      return away;
    },

    /** Ends the absence, if there is one. Throws `not_found`. */
    async endAway({ user_id, workspace_id }: Self, origin: Origin): Promise<void> {
      await lane.submit(workspace_id, setAway, { user_id, away: null }, origin);
    },

    /** Gives the person another name. Throws `invalid_request`. */
    rename: (self: Self, name: string, visit: Visit): Promise<Me> =>
      verifying(async () => {
        const user = await findUser(db, self.user_id);
        if (user === undefined) throw new ApiError('unauthenticated', NOT_SIGNED_IN);
        await options.rename(user, name, visit);
        return meOf(db, self);
      }),

    /** Makes another of the person's workspaces the current one of the session. Throws `not_found`. */
    switchTo: (self: Self, workspace_id: string): Promise<Me> =>
      verifying(async () => {
        const memberships = await listMemberships(db, self.user_id);
        if (!memberships.some((each) => each.workspace_id === workspace_id && !each.is_pending)) {
          throw new ApiError('not_found', NOT_A_MEMBER);
        }
        await switchWorkspace(db, self.session_id, workspace_id);
        return meOf(db, self);
      }),

    /**
     * Accepts a membership that is older than the proof of the e-mail. Changes nothing if there is nothing to accept. A
     * session outside the person's workspaces switches to this one. Throws `not_found`.
     */
    accept: (self: Self, workspace_id: string, origin: Origin): Promise<Me> =>
      verifying(async () => {
        const { user_id, session_id } = self;
        await lane.submit(workspace_id, acceptMembership, { user_id }, origin);
        const memberships = await listMemberships(db, user_id);
        const here = memberships.find((each) => each.workspace_id === self.workspace_id);
        if (here?.is_pending !== false) await switchWorkspace(db, session_id, workspace_id);
        return meOf(db, self);
      }),

    /**
     * Declines such a membership. A session in that workspace switches to another workspace of the person, or ends if there
     * is none. Throws `not_found`.
     */
    leave: (self: Self, workspace_id: string, origin: Origin): Promise<void> =>
      verifying(async () => {
        const { user_id, session_id } = self;
        const memberships = await listMemberships(db, user_id);
        const left = memberships.find((each) => each.workspace_id === workspace_id && each.is_pending);
        if (left === undefined) throw new ApiError('not_found', NOTHING_TO_LEAVE);
        const others = memberships.filter((each) => each !== left);
        const next = others.find((each) => !each.is_pending) ?? others[0];
        if (self.workspace_id === workspace_id && next !== undefined) {
          await switchWorkspace(db, session_id, next.workspace_id);
        }
        await lane.submit(workspace_id, removeMember, { user_id, keep_keys: false }, origin);
      }),
  };
}
