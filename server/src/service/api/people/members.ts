import { routes } from '@purser/contract/routes/people/members';
import { type Invitation, invitationStatus, normaliseEmail } from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import { inviteMember } from '../../../engine/commands/people/invite-member.ts';
import { removeMember } from '../../../engine/commands/people/remove-member.ts';
import { revokeInvitation } from '../../../engine/commands/people/revoke-invitation.ts';
import { NO_SUCH_MEMBER, updateMember } from '../../../engine/commands/people/update-member.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type ListedMember, listInvitations, listMembers } from '../../../engine/storage/members.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Handler, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import type { LinkTokens } from '../../people/links.ts';
import type { SignInFlows } from '../../people/sign-in.ts';
import { listSignIns } from '../../people/sign-in-rows.ts';
import type { Site } from '../../people/site.ts';

const memberBody = ({
  user_id,
  email,
  name,
  role,
  principal_id,
  disabled_at,
  is_pending,
  last_seen_at,
  joined_at,
}: ListedMember) => ({
  user_id,
  email,
  name,
  role,
  principal_id,
  status: disabled_at === null ? ('active' as const) : ('disabled' as const),
  pending: is_pending,
  last_seen_at,
  joined_at,
});

const invitationBody = (invitation: Invitation & { clock_ms: number }) => ({
  id: invitation.invitation_id,
  email: invitation.email,
  role: invitation.role,
  principal_id: invitation.principal_id,
  status: invitationStatus(invitation, invitation.clock_ms),
  created_at: invitation.created_at,
  expires_at: invitation.expires_at,
});

export interface MemberRouteOptions {
  db: Queryable;
  lane: Lane;
  cursors: Cursors;
  links: LinkTokens;
  site: Site;
  /** True: links of invitations are mailed. */
  mails: boolean;
  flows: Pick<SignInFlows, 'recorded'>;
}

/** Makes the routes for members, invitations and sign-ins. */
export function makeMemberRoutes(options: MemberRouteOptions): Route[] {
  return [
    serve(routes.listMembers, { shares: 'reads' })(handleListMembers(options)),
    serve(routes.updateMember)(handleUpdateMember(options)),
    serve(routes.removeMember)(handleRemoveMember(options)),
    serve(routes.createInvitation)(handleCreateInvitation(options)),
    serve(routes.listInvitations, { shares: 'reads' })(handleListInvitations(options)),
    serve(routes.revokeInvitation)(handleRevokeInvitation(options)),
    serve(routes.listSignIns, { shares: 'reads' })(handleListSignIns(options)),
  ];
}

function handleListMembers({ db, cursors }: MemberRouteOptions): Handler<typeof routes.listMembers> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listMembers', workspace_id];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listMembers(db, workspace_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.user_id));
    return { status: 200, body: { data: rows.map(memberBody), next_cursor } };
  };
}

function handleUpdateMember({ db, lane }: MemberRouteOptions): Handler<typeof routes.updateMember> {
  return async (call) => {
    const { user_id } = call.params;
    const { workspace_id } = call.caller;
    const input = { user_id, role: call.body.role, keep_keys: call.query.keep_keys === true };
    await lane.submit(workspace_id, updateMember, input, originOf(call));
    const [member] = await listMembers(db, workspace_id, { after: null, limit: 1, user_id });
    if (member === undefined) throw new ApiError('not_found', NO_SUCH_MEMBER);
    return { status: 200, body: memberBody(member) };
  };
}

function handleRemoveMember({ lane }: MemberRouteOptions): Handler<typeof routes.removeMember> {
  return async (call) => {
    const input = { user_id: call.params.user_id, keep_keys: call.query.keep_keys === true };
    await lane.submit(call.caller.workspace_id, removeMember, input, originOf(call));
    return { status: 204 };
  };
}

function handleCreateInvitation(options: MemberRouteOptions): Handler<typeof routes.createInvitation> {
  const { lane, links, site, mails: emailed } = options;
  return async (call) => {
    const { email, role, principal_id = null } = call.body;
    const { workspace_id, principal_id: acting_principal } = call.caller;
    const input = { email: normaliseEmail(email), role, principal_id, emailed, acting_principal };
    const made = await lane.submit(workspace_id, inviteMember, input, originOf(call));
    const url = () =>
      `${site.consoleUrl('invitation')}#${links.invitation(workspace_id, made.invitation_id)}`;
    const body = {
      id: made.invitation_id,
      email: made.email,
      role,
      principal_id: made.principal_id,
      url: emailed ? null : url(),
      emailed,
      expires_at: made.expires_at,
    };
    return { status: 201, body };
  };
}

function handleListInvitations({ db, cursors }: MemberRouteOptions): Handler<typeof routes.listInvitations> {
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listInvitations', workspace_id];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listInvitations(db, workspace_id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.invitation_id));
    return { status: 200, body: { data: rows.map(invitationBody), next_cursor } };
  };
}

function handleRevokeInvitation({ lane }: MemberRouteOptions): Handler<typeof routes.revokeInvitation> {
  return async (call) => {
    const input = { invitation_id: call.params.id };
    await lane.submit(call.caller.workspace_id, revokeInvitation, input, originOf(call));
    return { status: 204 };
  };
}

function handleListSignIns(options: MemberRouteOptions): Handler<typeof routes.listSignIns> {
  const { db, cursors, flows } = options;
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor, member: of_members = null } }) => {
    const list = ['listSignIns', workspace_id, of_members];
    const after = cursors.open(list, cursor) as string | null;
    // The list includes this process's earlier answers, also while their records are being written.
    await flows.recorded();
    const found = await listSignIns(db, workspace_id, { after, limit: limit + 1, of_members });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.sign_in_id));
    const data = rows.map(({ sign_in_id: id, ...signIn }) => ({ id, ...signIn }));
    return { status: 200, body: { data, next_cursor } };
  };
}
