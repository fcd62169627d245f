import { route } from '@purser/contract/route';
import { ROLES } from '@purser/rules/domain/keys';
import {
  INVITATION_STATUSES,
  type Invitation,
  invitationStatus,
  MEMBER_STATUSES,
  normaliseEmail,
} from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import Type from 'typebox';
import { inviteMember } from '../../../engine/commands/people/invite-member.ts';
import { removeMember } from '../../../engine/commands/people/remove-member.ts';
import { revokeInvitation } from '../../../engine/commands/people/revoke-invitation.ts';
import { NO_SUCH_MEMBER, updateMember } from '../../../engine/commands/people/update-member.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type ListedMember, listInvitations, listMembers } from '../../../engine/storage/members.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Route, serve } from '../../http/route.ts';
import {
  Fields,
  Id,
  Nullable,
  OneOf,
  PageQuery,
  PrincipalId,
  page,
  QueryBoolean,
  Timestamp,
} from '../../http/schemas.ts';
import { originOf } from '../../people/callers.ts';
import type { LinkTokens } from '../../people/links.ts';
import type { SignInFlows } from '../../people/sign-in.ts';
import {
  listSignIns,
  OTHER_ADDRESSES,
  SIGN_IN_KINDS,
  SIGN_IN_RECORD_METHODS,
} from '../../people/sign-in-rows.ts';
import type { Site } from '../../people/site.ts';
import { EmailIn } from '../schemas/people.ts';

const MemberBody = Fields(
  {
    user_id: Id('user'),
    email: Type.String(),
    name: Type.String(),
    role: OneOf(ROLES),
    principal_id: Type.String({ examples: ['user:ada'] }),
    status: OneOf(MEMBER_STATUSES, {
      description: '`disabled`: the operator lets them in nowhere.',
    }),
    pending: Type.Boolean({
      description:
        'They were added before their e-mail was proved, and have yet to accept: they may do nothing here, and count for no administrator.',
    }),
    last_seen_at: Nullable(Timestamp({ description: 'In this workspace, to the minute.' })),
    joined_at: Timestamp(),
  },
  { $id: 'Member' },
);

const invited = {
  id: Id('invitation'),
  email: Type.String(),
  role: OneOf(ROLES),
  principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
};
const NewInvitation = Fields(
  {
    ...invited,
    url: Type.String({
      description: 'The link to give to the person, shown only here. Its secret stands behind the `#`.',
    }),
    expires_at: Timestamp(),
  },
  { $id: 'NewInvitation' },
);
const InvitationItem = Fields(
  { ...invited, status: OneOf(INVITATION_STATUSES), created_at: Timestamp(), expires_at: Timestamp() },
  { $id: 'Invitation' },
);

const SignInItem = Fields(
  {
    id: Id('sign_in'),
    created_at: Timestamp(),
    kind: OneOf(SIGN_IN_KINDS, {
      description:
        '`ok`: let in; `wrong`: refused; `locked`: the first refusal for too many wrong attempts; `oidc_failed`: the identity provider’s answer was refused; `password_changed` and all that follow: no sign-in, but a change of the account.',
    }),
    email: Type.String(),
    user_id: Nullable(Id('user', { description: 'Null: nobody with this e-mail is a member.' })),
    method: OneOf(SIGN_IN_RECORD_METHODS, {
      description: '`session`: a person who was signed in; `operator`: a command of the operator.',
    }),
    client_address: Nullable(
      Type.String({
        description: `Null where the operator did it, and where the person has yet to join. Of attempts that are counted an address, the /64 of an IPv6 address, or \`${OTHER_ADDRESSES}\`.`,
      }),
    ),
    attempts: Type.Integer({
      minimum: 1,
      description:
        'Refused attempts with e-mails that no member has are counted, one item for an hour and an address: `created_at` is the first of them, `email` that of the last. Of all others 1.',
    }),
  },
  { $id: 'SignIn' },
);

const InviteBody = Fields({
  email: EmailIn(),
  role: OneOf(ROLES),
  principal_id: Type.Optional(
    PrincipalId({
      description:
        'Whom the person’s reviews are attributed to: the principal that their keys carry already, so that nobody reviews what their own key asked for. Without it, `user:` and the id of the user.',
    }),
  ),
});
const RoleBody = Fields({ role: OneOf(ROLES) });
const KeepKeysQuery = Fields({
  keep_keys: Type.Optional(
    QueryBoolean({ description: 'True: the admin keys of the person stay. Default: they are revoked.' }),
  ),
});
const UserParams = Fields({ user_id: Type.String() });
const IdParams = Fields({ id: Type.String() });
const ListQuery = Fields(PageQuery);
const SignInsQuery = Fields({
  member: Type.Optional(
    QueryBoolean({
      description: '`true`: only what members did, `false`: only attempts with e-mails that no member has.',
    }),
  ),
  ...PageQuery,
});

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

const routes = {
  listMembers: route({
    method: 'GET',
    path: '/v1/members',
    operationId: 'listMembers',
    tag: 'People',
    summary: 'List the members of the workspace',
    description: 'Newest accounts first. Removed members are not among them.',
    scopes: ['admin'],
    query: ListQuery,
    responses: {
      200: { description: 'A page of members.', schema: page(MemberBody, { $id: 'MemberPage' }) },
    },
    errors: [],
  }),
  updateMember: route({
    method: 'PATCH',
    path: '/v1/members/:user_id',
    operationId: 'updateMember',
    tag: 'People',
    summary: 'Give a member another role',
    description:
      'Ends the sessions that the person has in this workspace, on every node. A member who is an administrator no longer loses the pending invitations that they or their keys made, and the admin keys that they made, directly or by other keys, or that carry their principal; `keep_keys=true` leaves the keys.',
    scopes: ['admin'],
    params: UserParams,
    query: KeepKeysQuery,
    body: RoleBody,
    responses: { 200: { description: 'The member.', schema: MemberBody } },
    errors: ['not_found', 'last_admin'],
  }),
  removeMember: route({
    method: 'DELETE',
    path: '/v1/members/:user_id',
    operationId: 'removeMember',
    tag: 'People',
    summary: 'Remove a member',
    description:
      'The person’s next request in this workspace is refused, on every node. Their pending invitations end, and so do the admin keys that they made, directly or by other keys, or that carry their principal; `keep_keys=true` leaves the keys. Other keys stay: `GET /v1/api-keys?person=` lists all of them. Removing them again answers 204 again, and revokes the admin keys that an earlier removal left.',
    scopes: ['admin'],
    params: UserParams,
    query: KeepKeysQuery,
    responses: { 204: { description: 'Removed.', schema: null } },
    errors: ['not_found', 'last_admin'],
  }),
  createInvitation: route({
    method: 'POST',
    path: '/v1/invitations',
    operationId: 'createInvitation',
    tag: 'People',
    summary: 'Invite a person',
    description:
      'Answers with a link that is good for 7 days and one use, as long as its inviter is an administrator and the key that made it, if any, is not revoked; no mail is sent. A person who was a member before keeps their principal.',
    scopes: ['admin'],
    body: InviteBody,
    responses: { 201: { description: 'The invitation, with its link.', schema: NewInvitation } },
    errors: ['already_member', 'principal_taken'],
  }),
  listInvitations: route({
    method: 'GET',
    path: '/v1/invitations',
    operationId: 'listInvitations',
    tag: 'People',
    summary: 'List invitations',
    description: 'Newest first, without their links; used, revoked and expired ones among them.',
    scopes: ['admin'],
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of invitations.',
        schema: page(InvitationItem, { $id: 'InvitationPage' }),
      },
    },
    errors: [],
  }),
  revokeInvitation: route({
    method: 'DELETE',
    path: '/v1/invitations/:id',
    operationId: 'revokeInvitation',
    tag: 'People',
    summary: 'Revoke an invitation',
    description: 'Its link is worth nothing from now on. Revoking it again answers 204 again.',
    scopes: ['admin'],
    weighs: false,
    params: IdParams,
    responses: { 204: { description: 'Revoked.', schema: null } },
    errors: ['not_found'],
  }),
  listSignIns: route({
    method: 'GET',
    path: '/v1/sign-ins',
    operationId: 'listSignIns',
    tag: 'People',
    summary: 'List sign-ins',
    description:
      'Of the members of the workspace, newest first, refused ones too; kept for a year. Attempts with e-mails that no member has are listed where the installation has a single workspace, counted by hour and address.',
    scopes: ['admin'],
    query: SignInsQuery,
    responses: {
      200: { description: 'A page of sign-ins.', schema: page(SignInItem, { $id: 'SignInPage' }) },
    },
    errors: [],
  }),
};

/** Who works in the workspace, who is invited, and who came to the door. */
export function makeMemberRoutes(options: {
  db: Queryable;
  lane: Lane;
  cursors: Cursors;
  links: LinkTokens;
  site: Site;
  flows: Pick<SignInFlows, 'recorded'>;
}): Route[] {
  const { db, lane, cursors, links, site, flows } = options;
  return [
    serve(routes.listMembers, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listMembers', workspace_id];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listMembers(db, workspace_id, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.user_id));
      return { status: 200, body: { data: rows.map(memberBody), next_cursor } };
    }),
    serve(routes.updateMember)(async (call) => {
      const { user_id } = call.params;
      const { workspace_id } = call.caller;
      const input = { user_id, role: call.body.role, keep_keys: call.query.keep_keys === true };
      await lane.submit(workspace_id, updateMember, input, originOf(call));
      const [member] = await listMembers(db, workspace_id, { after: null, limit: 1, user_id });
      if (member === undefined) throw new ApiError('not_found', NO_SUCH_MEMBER);
      return { status: 200, body: memberBody(member) };
    }),
    serve(routes.removeMember)(async (call) => {
      const input = { user_id: call.params.user_id, keep_keys: call.query.keep_keys === true };
      await lane.submit(call.caller.workspace_id, removeMember, input, originOf(call));
      return { status: 204 };
    }),
    serve(routes.createInvitation)(async (call) => {
      const { email, role, principal_id = null } = call.body;
      const { workspace_id } = call.caller;
      const { invitation_id, expires_at, ...made } = await lane.submit(
        workspace_id,
        inviteMember,
        { email: normaliseEmail(email), role, principal_id, acting_principal: call.caller.principal_id },
        originOf(call),
      );
      const url = `${site.consoleUrl('invitation')}#${links.invitation(workspace_id, invitation_id)}`;
      const body = {
        id: invitation_id,
        email: made.email,
        role,
        principal_id: made.principal_id,
        url,
        expires_at,
      };
      return { status: 201, body };
    }),
    serve(routes.listInvitations, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listInvitations', workspace_id];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listInvitations(db, workspace_id, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.invitation_id));
      return { status: 200, body: { data: rows.map(invitationBody), next_cursor } };
    }),
    serve(routes.revokeInvitation)(async (call) => {
      const input = { invitation_id: call.params.id };
      await lane.submit(call.caller.workspace_id, revokeInvitation, input, originOf(call));
      return { status: 204 };
    }),
    serve(routes.listSignIns, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor, member } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listSignIns', workspace_id, member ?? null];
      const after = cursors.open(list, cursor) as string | null;
      // What this process answered before is in the list, also where its record is still being written.
      await flows.recorded();
      const of_members = member ?? null;
      const found = await listSignIns(db, workspace_id, { after, limit: limit + 1, of_members });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.sign_in_id));
      const data = rows.map(({ sign_in_id: id, ...signIn }) => ({ id, ...signIn }));
      return { status: 200, body: { data, next_cursor } };
    }),
  ];
}
