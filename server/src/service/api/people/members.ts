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
      description: '`disabled`: the operator has disabled the account everywhere.',
    }),
    pending: Type.Boolean({
      description:
        'True if they were added before their e-mail was verified and have yet to accept: they have no access here and do not count as an administrator.',
    }),
    last_seen_at: Nullable(Timestamp({ description: 'In this workspace, accurate to the minute.' })),
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
      description: 'The link to give to the person, shown only here. Its secret is the part after the `#`.',
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
        '`ok`: signed in; `wrong`: refused; `locked`: the first refusal after too many wrong attempts; `oidc_failed`: the identity provider’s response was refused; `password_changed` and later values: a change of the account instead of a sign-in.',
    }),
    email: Type.String(),
    user_id: Nullable(Id('user', { description: 'Null if no member has this e-mail.' })),
    method: OneOf(SIGN_IN_RECORD_METHODS, {
      description: '`session`: a signed-in person; `operator`: an operator command.',
    }),
    client_address: Nullable(
      Type.String({
        description: `Null for the operator, and for a person who has yet to join. For counted attempts: an address, the /64 of an IPv6 address, or \`${OTHER_ADDRESSES}\`.`,
      }),
    ),
    attempts: Type.Integer({
      minimum: 1,
      description:
        'Refused attempts with e-mails that no member has are combined into one item per hour and address: `created_at` is the time of the first, `email` is from the last. 1 for all other items.',
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
        'The principal that the person’s reviews are attributed to. Use the principal that their keys already carry, so nobody can review a request of their own key. Defaults to `user:` and the id of the user.',
    }),
  ),
});
const RoleBody = Fields({ role: OneOf(ROLES) });
const KeepKeysQuery = Fields({
  keep_keys: Type.Optional(
    QueryBoolean({ description: "True keeps the person's admin keys; by default they are revoked." }),
  ),
});
const UserParams = Fields({ user_id: Type.String() });
const IdParams = Fields({ id: Type.String() });
const ListQuery = Fields(PageQuery);
const SignInsQuery = Fields({
  member: Type.Optional(
    QueryBoolean({
      description: '`true`: only members; `false`: only attempts with e-mails that no member has.',
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
    description: 'Newest accounts first, without removed members.',
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
    summary: "Change a member's role",
    description:
      "Ends the person's sessions in this workspace, on every node. When an administrator is demoted, pending invitations that they or their keys created end, and admin keys that they created (directly or through other keys) or that carry their principal are revoked; `keep_keys=true` keeps the keys.",
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
      'The person’s next request in this workspace is refused, on every node. Their pending invitations end, and admin keys that they created (directly or through other keys) or that carry their principal are revoked; `keep_keys=true` keeps the keys. Other keys stay: `GET /v1/api-keys?person=` lists all of them. Repeating the request also answers 204, and revokes admin keys that an earlier removal kept.',
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
      'Returns a link that is valid for 7 days and one use, while its inviter is an administrator and the key that created it, if any, is not revoked; no mail is sent. A former member keeps their principal.',
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
    description: 'Newest first, without their links; includes used, revoked and expired ones.',
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
    description: 'Its link stops working at once. Repeating the request also answers 204.',
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
      "Sign-ins of the workspace's members, newest first, including refused ones; stored for a year. Attempts with e-mails that no member has are listed only if the installation has a single workspace, combined by hour and address.",
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
