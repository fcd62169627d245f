import type { Actor, Origin } from '@purser/rules/domain/audit';
import {
  type Credited,
  INVALID_INVITATION,
  invitationStatus,
  NOT_SIGNED_IN,
  nameProblem,
  normaliseEmail,
  type User,
} from '@purser/rules/domain/people';
import { ApiError, invalidField } from '@purser/rules/errors';
import type pg from 'pg';
import { ALREADY_SET_UP, joinWorkspace } from '../../engine/commands/people/join-workspace.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { listSamples } from '../../engine/samples/sample-clocks.ts';
import { loadInvitations } from '../../engine/storage/members.ts';
import type { SignInMethod } from '../../engine/storage/sessions.ts';
import { listWorkspaces, readClock } from '../../engine/storage/workspaces.ts';
import type { Mac } from '../installation/secrets.ts';
import { makeAccountChanges, nameToJoinWith } from './account-names.ts';
import type { Attempts } from './attempts.ts';
import type { Devices } from './devices.ts';
import { type InvitationSummary, type PendingInvitation, summaryOf } from './invitation-summary.ts';
import { joinSample } from './join-sample.ts';
import { INVALID_RESET, type LinkTokens } from './links.ts';
import { type Me, meOf, type Self } from './own-account.ts';
import { checkNewPassword, type Passwords } from './passwords.ts';
import { endSession, lastWorkspaceOf, noteProof } from './session-rows.ts';
import type { Sessions, SignedInPerson, Visit } from './sessions.ts';
import { deleteSetupCodes, isSetupCode } from './setup-code.ts';
import { type DeferredRecords, insertSignIn, type SignIn } from './sign-in-rows.ts';
import { makeTryPassword, turnOf } from './try-password.ts';
import {
  findUser,
  findUserByEmail,
  hasPeople,
  listMemberships,
  raiseEpoch,
  rehashPassword,
  removePassword,
  wasMailed,
} from './user-rows.ts';
import { verifying } from './verifying.ts';

/** One message for whatever is wrong with an e-mail and a password. */
export const WRONG = 'The e-mail or the password is wrong.';
const PASSWORD_WRONG = 'The password is wrong.';
const NO_PASSWORDS =
  'Password sign-in is disabled: sign in through the identity provider, which also accepts the invitation.';
const PASSWORDS_OFF =
  'is not accepted: password sign-in is disabled (PASSWORD_SIGN_IN); use a passkey or the identity provider';
const CODE_WRONG =
  'The code is wrong or has expired; `npm run purser -- user setup-link`, or a restart, prints a new one.';

/** Whose request it is, for what a command records. */
export interface From extends Visit {
  request_id: string;
}

/** A person who is let in: the body of the answer, and the cookies of the session and of the browser. */
export interface SignedIn {
  me: Me;
  cookies: string[];
}

export interface SignInOptions {
  db: pg.Pool;
  lane: Lane;
  sessions: Sessions;
  passwords: Passwords;
  attempts: Attempts;
  devices: Devices;
  behind: DeferredRecords;
  setup_macs: readonly Mac[];
  links: LinkTokens;
  password_sign_in: boolean;
  newSignInId: () => string;
}

/** Whose memberships are looked up where nobody has the e-mail, so that the work is the same. */
const NOBODY = '';
const JOINING: Actor = { type: 'user', key_id: null, session_id: null, principal_id: null };

const originOfJoining = ({ request_id, client_address }: From): Origin => ({
  actor: JOINING,
  request_id,
  client_address,
});

/** The ways to sign in, and the changes that people make to their own credentials. */
export class SignInFlows {
  readonly #options: SignInOptions;
  readonly #tryPassword: ReturnType<typeof makeTryPassword>;
  readonly record: (signIn: SignIn) => Promise<void>;
  readonly rename: ReturnType<typeof makeAccountChanges>['rename'];
  readonly giveName: ReturnType<typeof makeAccountChanges>['giveName'];
  readonly recordChange: ReturnType<typeof makeAccountChanges>['recordChange'];

  constructor(options: SignInOptions) {
    const { db } = options;
    this.#options = options;
    this.record = (signIn) => insertSignIn(db, signIn, options.newSignInId);
    this.#tryPassword = makeTryPassword({ ...options, record: this.record });
    const { rename, giveName, recordChange } = makeAccountChanges({ db, record: this.record });
    this.rename = rename;
    this.giveName = giveName;
    this.recordChange = recordChange;
  }

  /** Resolves once what was refused so far is recorded. */
  recorded(): Promise<void> {
    return this.#options.behind.settled();
  }

  /** True if the first administrator is still to be made. */
  isSetUp(): Promise<boolean> {
    return verifying(() => hasPeople(this.#options.db));
  }

  setUp(
    input: { code: string; email: string; name: string; password: string },
    from: From,
  ): Promise<SignedIn> {
    return verifying(async () => {
      // In this order: a code that somebody else has just used is gone only once there are people.
      const is_code = await isSetupCode(this.#options.db, input.code, this.#options.setup_macs);
      await this.#refuseIfSetUp();
      if (!is_code) throw new ApiError('unauthenticated', CODE_WRONG);
      const first = await this.makeFirst(input, originOfJoining(from), from.client_address);
      return this.letIn(first, 'setup', from, first);
    });
  }

  signIn(input: { email: string; password: string }, from: From): Promise<SignedIn> {
    return verifying(async () => {
      if (!this.#options.password_sign_in) throw new ApiError('unauthenticated', WRONG);
      const email = normaliseEmail(input.email);
      const user = await findUserByEmail(this.#options.db, email);
      // Who is a member nowhere is refused like anybody unknown: counted, and listed as a wrong attempt.
      const is_let_in = (await listMemberships(this.#options.db, user?.user_id ?? NOBODY)).length > 0;
      const is_right = await this.#tryPassword({ email, user, is_let_in }, input.password, from);
      if (!is_right || user === undefined) throw new ApiError('unauthenticated', WRONG);
      if (this.#options.passwords.isOutdated(user.password_hash as string)) {
        await rehashPassword(
          this.#options.db,
          user,
          await this.#options.passwords.hash(input.password, turnOf(from.client_address)),
        );
      }
      return this.letIn(user, 'password', from);
    });
  }

  signOut({ user_id, session_id }: Self) {
    return verifying(() => endSession(this.#options.db, user_id, session_id));
  }

  reauthenticate(self: Self, password: string, from: From) {
    return verifying(async () => {
      if (!this.#options.password_sign_in) throw invalidField('password', PASSWORDS_OFF);
      await this.#provePassword(self, password, from);
      await noteProof(this.#options.db, self.session_id);
    });
  }

  /** Sets another password. All other sessions of the person end, and reset links; passkeys stay. */
  changePassword(self: Self, input: { current_password: string; new_password: string }, from: From) {
    return verifying(async () => {
      if (!this.#options.password_sign_in) throw invalidField('current_password', PASSWORDS_OFF);
      const user = await this.#provePassword(self, input.current_password, from);
      checkNewPassword('new_password', input.new_password, user);
      const hashed = await this.#options.passwords.hash(
        input.new_password,
        turnOf(from.client_address, self.session_id),
      );
      const changed = { password_hash: hashed, is_proof: false, kept_session_id: self.session_id };
      // Of several at once one changes it.
      if ((await raiseEpoch(this.#options.db, self, changed)) === null)
        throw new ApiError('unauthenticated', PASSWORD_WRONG);
      const { user_id, email } = user;
      const { client_address } = from;
      await this.record({ kind: 'password_changed', method: 'password', email, user_id, client_address });
    });
  }

  /** Takes the person's password away, if they have a passkey. All other sessions of theirs end. Throws `last_way_in`. */
  removePassword(self: Self, { client_address }: From) {
    return verifying(async () => {
      const is_removed = await removePassword(this.#options.db, self, self.session_id);
      if (is_removed === null) throw new ApiError('unauthenticated', NOT_SIGNED_IN);
      if (!is_removed) {
        throw new ApiError('last_way_in', 'The password is your only sign-in method: add a passkey first.');
      }
      const user = await findUser(this.#options.db, self.user_id);
      if (user === undefined) throw new ApiError('unauthenticated', NOT_SIGNED_IN);
      const { user_id, email } = user;
      await this.record({ kind: 'password_changed', method: 'password', email, user_id, client_address });
    });
  }

  /**
   * Sets a password by a link that the operator made, which works once. It is the person's only credential then: sessions
   * and passkeys end.
   */
  resetPassword(input: { token: string; password: string }, from: From): Promise<SignedIn> {
    return verifying(async () => {
      if (!this.#options.password_sign_in) throw new ApiError('unauthenticated', NO_PASSWORDS);
      const user_id = this.#options.links.userOfReset(input.token);
      const user = user_id === null ? undefined : await findUser(this.#options.db, user_id);
      const is_good =
        user !== undefined &&
        user.disabled_at === null &&
        this.#options.links.isReset(input.token, user, await readClock(this.#options.db));
      if (!is_good) throw new ApiError('unauthenticated', INVALID_RESET);
      checkNewPassword('password', input.password, user);
      const hashed = await this.#options.passwords.hash(input.password, turnOf(from.client_address));
      const all_end = { password_hash: hashed, is_proof: true, kept_session_id: null };
      const credential_epoch = await raiseEpoch(this.#options.db, user, all_end);
      // Of several at once with the same link one sets the password.
      if (credential_epoch === null) throw new ApiError('unauthenticated', INVALID_RESET);
      return this.letIn({ ...user, credential_epoch }, 'reset', from);
    });
  }

  /** Returns what a person sees before joining. Throws `unauthenticated` unless the invitation could be accepted. */
  readInvitation(token: string): Promise<InvitationSummary> {
    return verifying(async () => summaryOf(this.#options.db, await this.#pendingInvitation(token)));
  }

  acceptInvitation(input: { token: string; name: string; password: string }, from: From): Promise<SignedIn> {
    return verifying(async () => {
      if (!this.#options.password_sign_in) throw new ApiError('unauthenticated', NO_PASSWORDS);
      const invitation = await this.#pendingInvitation(input.token);
      const { email, principal_id, invitation_id, workspace_id } = invitation;
      const user = await findUserByEmail(this.#options.db, email);
      let password_hash: string | null = null;
      if (user === undefined) {
        const problem = nameProblem(input.name);
        if (problem !== null) throw invalidField('name', problem);
        checkNewPassword('password', input.password, { email, name: input.name });
        password_hash = await this.#options.passwords.hash(input.password, turnOf(from.client_address));
      } else if (!(await this.#tryPassword({ email, user }, input.password, from))) {
        throw new ApiError('unauthenticated', 'The password of your account is wrong.');
      }
      const was_mailed = await wasMailed(this.#options.db, invitation);
      const whose = { user_id: user?.user_id ?? null, workspace_ids: [workspace_id] };
      const name = await nameToJoinWith(this.#options.db, user ?? { name: input.name, email }, whose);
      if (user !== undefined) await this.giveName(user, name, from);
      const joined = await this.#options.lane.submit(
        workspace_id,
        joinWorkspace,
        {
          admittance: { by: 'invitation', invitation_id, principal_id, was_mailed },
          email,
          user: user ?? null,
          name,
          password_hash,
          identity: null,
        },
        originOfJoining(from),
      );
      return this.letIn(joined, 'invitation', from, { workspace_id });
    });
  }

  /**
   * Begins a session in the workspace that is named, else in the one of the last session, else in the first; in one that the
   * person has yet to accept only where there is no other. Refuses them unless they are still in the credential epoch of what
   * proved who they are.
   */
  async letIn(
    { user_id, email, credential_epoch }: Credited,
    method: SignInMethod,
    from: From,
    {
      workspace_id,
      proved_at_ms = 'now',
      ...how
    }: { workspace_id?: string } & Partial<Pick<SignedInPerson, 'proved_at_ms' | 'earlier'>> = {},
  ): Promise<SignedIn> {
    const memberships = await listMemberships(this.#options.db, user_id);
    const active = memberships.filter((each) => !each.is_pending);
    const open = active.length > 0 ? active : memberships;
    const last = workspace_id ?? (await lastWorkspaceOf(this.#options.db, user_id));
    const here = open.find((each) => each.workspace_id === last) ?? open[0];
    const who = { user_id, credential_epoch, method, proved_at_ms, ...how };
    const begun =
      here === undefined
        ? null
        : await this.#options.sessions.begin({ ...who, workspace_id: here.workspace_id }, from);
    if (begun === null) throw new ApiError('unauthenticated', WRONG);
    const { session_id, cookie } = begun;
    await this.record({ kind: 'ok', method, email, user_id, client_address: from.client_address });
    const cookies = [cookie, this.#options.devices.remember({ user_id, credential_epoch }, from.headers)];
    return { me: await meOf(this.#options.db, { user_id, session_id }), cookies };
  }

  /**
   * Records a refusal behind its answer, under the e-mail that was named: with the person where they are a member of
   * anything.
   */
  recordRefusal(refusal: Omit<SignIn, 'user_id'>): void {
    this.#options.behind.add(async () => {
      const user = await findUserByEmail(this.#options.db, normaliseEmail(refusal.email));
      const is_member =
        user !== undefined && (await listMemberships(this.#options.db, user.user_id)).length > 0;
      await this.record({ ...refusal, user_id: is_member ? user.user_id : null });
    });
  }

  /** The first workspace, which the first person administrates. */
  async firstWorkspace(): Promise<string> {
    const [workspace] = await listWorkspaces(this.#options.db);
    if (workspace === undefined)
      throw new ApiError('unavailable', 'No workspace exists yet; retry.', { reason: 'not_ready' });
    return workspace.workspace_id;
  }

  /** Makes the first person an administrator of the first workspace. Throws `already_set_up`. */
  async makeFirst(
    person: { email: string; name: string; password: string },
    origin: Origin,
    client_address: string,
  ): Promise<Credited & { workspace_id: string }> {
    const email = normaliseEmail(person.email);
    checkNewPassword('password', person.password, { email, name: person.name });
    const password_hash = await this.#options.passwords.hash(person.password, turnOf(client_address));
    const workspace_id = await this.firstWorkspace();
    const first = await this.#options.lane.submit(
      workspace_id,
      joinWorkspace,
      {
        admittance: { by: 'first' },
        email,
        user: null,
        name: person.name,
        password_hash,
        identity: null,
      },
      origin,
    );
    await deleteSetupCodes(this.#options.db);
    // The operator asked for them before there was anybody.
    for (const sample of await listSamples(this.#options.db))
      if (sample.user_ids.length === 0) await joinSample(this.#options, sample.workspace_id, first.user_id);
    return { ...first, workspace_id };
  }

  /** The same for a person who is signed in. Throws `unauthenticated` if it is wrong. */
  async #provePassword(self: Self, password: string, from: From): Promise<User> {
    const user = await findUser(this.#options.db, self.user_id);
    if (user === undefined) throw new ApiError('unauthenticated', NOT_SIGNED_IN);
    const { session_id } = self;
    if (!(await this.#tryPassword({ email: user.email, user, session_id }, password, from))) {
      throw new ApiError('unauthenticated', PASSWORD_WRONG);
    }
    return user;
  }

  /** The invitation of a token. Throws `unauthenticated` for one that is wrong, used, revoked or expired. */
  async #pendingInvitation(token: string): Promise<PendingInvitation> {
    const named = this.#options.links.openInvitation(token);
    const [invitation] = named === null ? [] : await loadInvitations(this.#options.db, [named]);
    if (
      invitation === undefined ||
      invitationStatus(invitation, await readClock(this.#options.db)) !== 'pending'
    ) {
      throw new ApiError('unauthenticated', INVALID_INVITATION);
    }
    return invitation;
  }

  async #refuseIfSetUp(): Promise<void> {
    if (await hasPeople(this.#options.db)) throw new ApiError('already_set_up', ALREADY_SET_UP);
  }
}
