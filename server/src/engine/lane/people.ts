import type { Invitation, Member, SessionState, User } from '@purser/rules/domain/people';
import { invitationStatus } from '@purser/rules/domain/people';
import type { InvitationEmail, NewUser } from '../storage/members.ts';

/** The rows about people that a batch writes. */
export type PeopleChanges = ReturnType<typeof noPeopleChanges>;

/** Returns an empty set of changes. */
function noPeopleChanges() {
  return {
    users: [] as NewUser[],
    members: new Map<string, Member>(),
    invitations: new Map<string, Invitation>(),
    emails: [] as InvitationEmail[],
    /** By person: whose sessions in this workspace end, and when. */
    ended_sessions: new Map<string, { user_id: string; ended_at: string }>(),
  };
}

/** The rows about people that a batch loaded. */
interface LoadedPeople {
  sessions: readonly SessionState[];
  members: readonly Member[];
  reviewers: readonly Member[];
  disabled_members: readonly Pick<Member, 'user_id'>[];
  members_by_principal: readonly Member[];
  people: readonly { user: User; member: Member | null }[];
  any_person: readonly object[];
  invitations: readonly Invitation[];
  invitations_by_email: readonly Invitation[];
  pending_invitations: readonly Invitation[];
}

/** The people of one workspace in a batch. A command sees the changes of those before it; the lane writes `changes`. */
export class People {
  readonly changes: PeopleChanges = noPeopleChanges();
  readonly #now: string;
  readonly #noteChange: () => void;
  readonly #users = new Map<string, User>();
  readonly #members = new Map<string, Member>();
  readonly #invitations = new Map<string, Invitation>();
  readonly #sessions = new Map<string, SessionState>();
  /** The ids of users whose account is disabled, as far as the command asked for them. */
  readonly #disabled: ReadonlySet<string>;
  #has_people: boolean;

  constructor(now: string, loaded: LoadedPeople, noteChange: () => void) {
    this.#now = now;
    this.#noteChange = noteChange;
    this.#disabled = new Set(loaded.disabled_members.map(({ user_id }) => user_id));
    this.#has_people = loaded.any_person.length > 0;
    for (const session of loaded.sessions) this.#sessions.set(session.session_id, session);
    for (const member of [...loaded.members, ...loaded.reviewers, ...loaded.members_by_principal]) {
      this.#members.set(member.user_id, member);
    }
    for (const { user, member } of loaded.people) {
      this.#users.set(user.email, user);
      if (member !== null) this.#members.set(user.user_id, member);
    }
    const invitations = [
      ...loaded.invitations,
      ...loaded.invitations_by_email,
      ...loaded.pending_invitations,
    ];
    for (const invitation of invitations) {
      this.#invitations.set(invitation.invitation_id, invitation);
    }
  }

  /** Returns a session with the person's role here; it is revoked if an earlier command of the batch ended it. */
  session(session_id: string): SessionState | undefined {
    const session = this.#sessions.get(session_id);
    if (session === undefined) return undefined;
    const ended = this.changes.ended_sessions.get(session.user_id);
    return ended === undefined ? session : { ...session, revoked_at: session.revoked_at ?? ended.ended_at };
  }

  /** Returns whether the installation has any person; the command must need `any_person`. */
  hasPeople(): boolean {
    return this.#has_people;
  }

  /** Returns the person with an e-mail that the command needs. */
  user(email: string): User | undefined {
    return this.#users.get(email);
  }

  /** Returns a member, removed ones included. */
  member(user_id: string): Member | undefined {
    return this.#members.get(user_id);
  }

  /** Returns the members who have a principal that the command needs, removed ones included. */
  membersWith(principal_id: string): Member[] {
    return [...this.#members.values()].filter((member) => member.principal_id === principal_id);
  }

  /**
   * Returns the members who may review, administrators among them, and can sign in; the command must need `reviewers`.
   * Those whose account is disabled, or who have yet to accept the membership, are not among them.
   */
  reviewers(): Member[] {
    return [...this.#members.values()].filter(
      ({ user_id, role, removed_at, is_pending }) =>
        role !== 'viewer' && removed_at === null && !is_pending && !this.#disabled.has(user_id),
    );
  }

  /** Returns whether a member is the only administrator; the command must need `reviewers`. */
  isLastAdmin({ user_id, role, is_pending }: Member): boolean {
    if (role !== 'admin' || is_pending) return false;
    return !this.reviewers().some((other) => other.user_id !== user_id && other.role === 'admin');
  }

  invitation(invitation_id: string): Invitation | undefined {
    return this.#invitations.get(invitation_id);
  }

  /** Returns the pending invitations for which `isWanted` holds, of those that the command needs. */
  pendingInvitations(isWanted: (invitation: Invitation) => boolean): Invitation[] {
    return [...this.#invitations.values()].filter(
      (each) => isWanted(each) && invitationStatus(each, Date.parse(this.#now)) === 'pending',
    );
  }

  addUser(user: NewUser): void {
    this.#users.set(user.email, user);
    this.#has_people = true;
    this.changes.users.push(user);
    this.#noteChange();
  }

  putMember(member: Member): void {
    this.#members.set(member.user_id, member);
    this.changes.members.set(member.user_id, member);
    this.#noteChange();
  }

  putInvitation(invitation: Invitation): void {
    this.#invitations.set(invitation.invitation_id, invitation);
    this.changes.invitations.set(invitation.invitation_id, invitation);
    this.#noteChange();
  }

  /** Has the link of an invitation mailed. */
  mailInvitation({ invitation_id, email }: Invitation): void {
    const at = this.#now;
    this.changes.emails.push({
      email_id: invitation_id,
      kind: 'INVITATION',
      recipient: email,
      invitation_id,
      created_at: at,
      due_at: at,
    });
  }

  /** Ends all sessions that a person has in this workspace. */
  endSessions(user_id: string): void {
    this.changes.ended_sessions.set(user_id, { user_id, ended_at: this.#now });
    this.#noteChange();
  }
}
