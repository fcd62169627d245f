import { Type } from 'typebox';
import { EmailIn } from '../../people.ts';
import { route } from '../../route.ts';
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
} from '../../schema.ts';
import {
  INVITATION_STATUSES,
  MEMBER_STATUSES,
  OTHER_ADDRESSES,
  SIGN_IN_KINDS,
  SIGN_IN_RECORD_METHODS,
} from '../../values/people.ts';
import { ROLES } from '../../values/scopes.ts';

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

export const invited = {
  id: Id('invitation'),
  email: Type.String(),
  role: OneOf(ROLES),
  principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
};

const NewInvitation = Fields(
  {
    ...invited,
    url: Nullable(
      Type.String({
        description:
          'The link to give to the person, shown only here. Its secret is the part after the `#`. Null if it is mailed.',
      }),
    ),
    emailed: Type.Boolean({
      description: 'True if a mail server is configured: the link is mailed to `email`.',
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

export const routes = {
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
      'Makes a link that is valid for 7 days and one use, while its inviter is an administrator and the key that created it, if any, is not revoked. If a mail server is configured (`SMTP_URL`), the link is mailed to the person and not returned. A former member keeps their principal.',
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
