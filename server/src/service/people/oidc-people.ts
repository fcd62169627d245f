import { EMAIL, OIDC_REFUSALS } from '@purser/contract/values/people';
import { ROLES, type Role } from '@purser/contract/values/scopes';
import { type Actor, type Origin, SYSTEM } from '@purser/rules/domain/audit';
import { type Credited, nameProblem, normaliseEmail, type User } from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import { normaliseText, TEXT_RULES } from '@purser/rules/values/text';
import type pg from 'pg';
import { acceptMembership } from '../../engine/commands/people/accept-membership.ts';
import { joinWorkspace } from '../../engine/commands/people/join-workspace.ts';
import { updateMember } from '../../engine/commands/people/update-member.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { nameToJoinWith } from './account-names.ts';
import type { ProvedIdentity } from './oidc.ts';
import type { From, SignedIn, SignInFlows } from './sign-in.ts';
import {
  findUserByEmail,
  findUserByIdentity,
  linkIdentity,
  listMemberships,
  listPendingInvitations,
} from './user-rows.ts';

export { OIDC_REFUSALS };

/** Rules for joining through the identity provider, and the role. */
export interface OidcRules {
  /** Lower case; empty: any. */
  oidc_allowed_domains: readonly string[];
  oidc_default_role: Role | 'none';
  oidc_role_claim: string | null;
  oidc_role_admin: string | null;
  oidc_role_reviewer: string | null;
  oidc_role_viewer: string | null;
}

export type OidcRefusalCode = keyof typeof OIDC_REFUSALS;

/** A person who is not let in. */
export class OidcRefusal extends Error {
  override name = 'OidcRefusal';
  readonly code: OidcRefusalCode;

  constructor(code: OidcRefusalCode) {
    super(OIDC_REFUSALS[code]);
    this.code = code;
  }
}

const JOINING: Actor = { type: 'user', key_id: null, session_id: null, principal_id: null };

/** The role that the claims give, the highest of several; null: none. */
function roleOfClaims(claims: Readonly<Record<string, unknown>>, rules: OidcRules): Role | null {
  if (rules.oidc_role_claim === null) return null;
  const value = claims[rules.oidc_role_claim];
  const held = Array.isArray(value) ? value : [value];
  const wanted: Record<Role, string | null> = {
    admin: rules.oidc_role_admin,
    reviewer: rules.oidc_role_reviewer,
    viewer: rules.oidc_role_viewer,
  };
  return ROLES.find((role) => wanted[role] !== null && held.includes(wanted[role])) ?? null;
}

export interface OidcSignInOptions {
  db: pg.Pool;
  lane: Lane;
  flows: SignInFlows;
  rules: OidcRules;
}

const originOf = ({ request_id, client_address }: From, actor: Actor): Origin => ({
  actor,
  request_id,
  client_address,
});

/** The verified e-mail in the form in which it is compared; null if there is none. */
function emailOf({ verified_email }: ProvedIdentity): string | null {
  const email = verified_email === null ? null : normaliseEmail(verified_email);
  return email !== null && EMAIL.test(email) ? email : null;
}

function checkDomain(email: string | null, { oidc_allowed_domains: allowed }: OidcRules): void {
  if (allowed.length === 0) return;
  if (email === null) throw new OidcRefusal('email_unverified');
  if (!allowed.includes(email.slice(email.lastIndexOf('@') + 1))) throw new OidcRefusal('domain_not_allowed');
}

/** The name that the provider says; where that is none, the first part of the e-mail. */
function nameOf({ name }: ProvedIdentity, email: string): string {
  const said = normaliseText(name ?? '', TEXT_RULES.name);
  return said.ok && nameProblem(said.text) === null
    ? said.text
    : (email.split('@')[0] as string).slice(0, TEXT_RULES.name.max);
}

/**
 * The person's account: linked already, or linked now by the verified e-mail, which ends every other credential where nobody
 * had proved that e-mail; undefined if there is none.
 */
async function accountOf(
  db: pg.Pool,
  { identity }: ProvedIdentity,
  email: string | null,
): Promise<User | undefined> {
  const linked = await findUserByIdentity(db, identity);
  if (linked?.disabled_at != null) throw new OidcRefusal('account_disabled');
  if (linked !== undefined) return linked;
  if (email === null) throw new OidcRefusal('email_unverified');
  const user = await findUserByEmail(db, email);
  if (user === undefined) return undefined;
  if (user.disabled_at !== null) throw new OidcRefusal('account_disabled');
  const credential_epoch = await linkIdentity(db, user.user_id, identity);
  if (credential_epoch === null) throw new OidcRefusal('email_taken');
  return { ...user, credential_epoch };
}

/** A person who may join workspaces. */
interface Joining extends OidcSignInOptions {
  proved: ProvedIdentity;
  email: string;
  /** The person's account, if there is one already. */
  known: User | undefined;
  from: From;
}

/**
 * Joins the installation's own workspace first, by invitation or by the role in the settings. Then joins the other
 * workspaces that invited the person, so none of these becomes the person's first. Returns the person; undefined if no
 * workspace lets them in.
 */
async function join(joining: Joining): Promise<Credited | undefined> {
  const { db, flows, email, known } = joining;
  const first = await flows.firstWorkspace();
  const invitations = await listPendingInvitations(db, email);
  let user: Credited | undefined = known;
  const joinInvited = async (is_first: boolean) => {
    for (const { workspace_id, invitation_id, principal_id } of invitations) {
      if ((workspace_id === first) !== is_first) continue;
      // The provider vouches for the e-mail, whether or not the link was mailed.
      const admittance = { by: 'invitation', invitation_id, principal_id, was_mailed: false } as const;
      user = await joinBy(joining, user, workspace_id, admittance);
    }
  };
  await joinInvited(true);
  user = await joinByRole(joining, user, first);
  await joinInvited(false);
  return user;
}

/** Joins by the role in the settings, or accepts the membership that the person has yet to accept. */
async function joinByRole(joining: Joining, user: Credited | undefined, workspace_id: string) {
  const { db, lane, rules, proved, from } = joining;
  const role = roleOfClaims(proved.claims, rules) ?? rules.oidc_default_role;
  if (role === 'none') return user;
  const memberships = user === undefined ? [] : await listMemberships(db, user.user_id);
  const here = memberships.find((each) => each.workspace_id === workspace_id);
  if (here === undefined) return joinBy(joining, user, workspace_id, { by: 'provider', role });
  if (here.is_pending && user !== undefined) {
    const { user_id } = user;
    await lane
      .submit(workspace_id, acceptMembership, { user_id }, originOf(from, JOINING))
      .catch(ignoreRefusal);
  }
  return user;
}

/** Returns the person who has joined; `user` unchanged if the lane refuses. */
async function joinBy(
  { db, lane, flows, proved, email, known, from }: Joining,
  user: Credited | undefined,
  workspace_id: string,
  admittance: Parameters<typeof joinWorkspace.needs>[0]['admittance'],
): Promise<Credited | undefined> {
  try {
    const whose = { user_id: user?.user_id ?? null, workspace_ids: [workspace_id] };
    const name = await nameToJoinWith(db, known ?? { name: nameOf(proved, email), email }, whose);
    if (known !== undefined) await flows.giveName(known, name, from);
    const person = { email, user: user ?? null, name, password_hash: null, identity: proved.identity };
    const input = { admittance, ...person };
    return await lane.submit(workspace_id, joinWorkspace, input, originOf(from, JOINING));
  } catch (error) {
    ignoreRefusal(error);
    return user;
  }
}

/** Gives a member of the first workspace the role that the claims name now. */
async function followRole(
  { db, lane, flows, rules }: OidcSignInOptions,
  proved: ProvedIdentity,
  user_id: string,
  from: From,
): Promise<void> {
  const role = roleOfClaims(proved.claims, rules);
  if (role === null) return;
  const first = await flows.firstWorkspace();
  const here = (await listMemberships(db, user_id)).find((each) => each.workspace_id === first);
  if (here === undefined || here.is_pending || here.role === role) return;
  await lane
    .submit(first, updateMember, { user_id, role, keep_keys: false }, originOf(from, SYSTEM))
    .catch(ignoreRefusal);
}

/**
 * Makes the function that lets in whom the provider vouches for. A person is known by issuer and subject; the e-mail counts
 * only where the provider has verified it, and only until it is linked. Throws `OidcRefusal`.
 */
export function makeOidcSignIn(
  options: OidcSignInOptions,
): (proved: ProvedIdentity, from: From, earlier: readonly Buffer[]) => Promise<SignedIn> {
  const { db, flows, rules } = options;
  return async (proved, from, earlier) => {
    const email = emailOf(proved);
    checkDomain(email, rules);
    const account = await accountOf(db, proved, email);
    // An e-mail that is not the account's own may be another person's invitation.
    const joining = email !== null && (account === undefined || account.email === email) ? email : null;
    const user =
      joining === null ? account : await join({ ...options, proved, email: joining, known: account, from });
    if (user === undefined) throw new OidcRefusal('not_invited');
    await followRole(options, proved, user.user_id, from);
    if ((await listMemberships(db, user.user_id)).length === 0) throw new OidcRefusal('not_invited');
    return flows.letIn(user, 'oidc', from, { proved_at_ms: proved.proved_at_ms, earlier });
  };
}

/** Ignores a refusal by the lane, which grants no access; other sign-in methods are checked later. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError) || error.status >= 500) throw error;
}
