import { Type } from 'typebox';
import { AwayBody, MeBody, PersonName } from '../../people.ts';
import { route } from '../../route.ts';
import { Fields, Id, IdIn, InstantIn, Nullable, PrincipalId, Timestamp } from '../../schema.ts';

const SessionItem = Fields(
  {
    id: Id('session'),
    created_at: Timestamp(),
    last_seen_at: Timestamp({ description: 'Accurate to the minute.' }),
    expires_at: Timestamp(),
    client_address: Type.String(),
    user_agent: Nullable(Type.String()),
    current: Type.Boolean(),
  },
  { $id: 'Session' },
);

const RenameBody = Fields({ name: PersonName() });

const SwitchBody = Fields({ workspace_id: IdIn('workspace') });

const AwayRequest = Fields(
  {
    until: InstantIn({ description: 'At most 60 days ahead.' }),
    delegate: PrincipalId({ description: 'Another member who may review.' }),
  },
  { $id: 'AwayRequest' },
);

const IdParams = Fields({ id: Type.String() });

const ME = { 200: { description: 'The signed-in person.', schema: MeBody } };

export const routes = {
  getMe: route({
    method: 'GET',
    path: '/v1/me',
    operationId: 'getMe',
    tag: 'Sign-in',
    summary: 'Get the signed-in person',
    description:
      'The person, the current workspace and their role there. Memberships from before their e-mail was verified are `pending`: they grant nothing until the person accepts them. Without any other membership, `workspace`, `role` and `principal_id` are null.',
    scopes: 'session',
    responses: ME,
    errors: [],
  }),
  updateMe: route({
    method: 'PATCH',
    path: '/v1/me',
    operationId: 'updateMe',
    tag: 'Sign-in',
    summary: 'Change your name',
    description:
      'The e-mail of an account cannot be changed. The name of another member in one of your workspaces, or a look-alike, is refused: case, accents, punctuation and invisible characters are ignored.',
    scopes: 'session',
    body: RenameBody,
    responses: ME,
    errors: [],
  }),
  switchWorkspace: route({
    method: 'POST',
    path: '/v1/me/workspace',
    operationId: 'switchWorkspace',
    tag: 'Sign-in',
    summary: 'Switch to another workspace',
    description: "It becomes this session's workspace from the next request on.",
    scopes: 'session',
    body: SwitchBody,
    responses: ME,
    errors: ['not_found'],
  }),
  acceptWorkspace: route({
    method: 'POST',
    path: '/v1/me/workspaces/:id/accept',
    operationId: 'acceptWorkspace',
    tag: 'Sign-in',
    summary: 'Accept a pending membership',
    description:
      'For a workspace that you were added to before your e-mail was verified, where somebody else may have joined in your name. You become a member, recorded as `member.joined`. Repeating the request also answers 200. If the session has no workspace, it switches to this one.',
    scopes: 'session',
    params: IdParams,
    responses: ME,
    errors: ['not_found'],
  }),
  leaveWorkspace: route({
    method: 'DELETE',
    path: '/v1/me/workspaces/:id',
    operationId: 'leaveWorkspace',
    tag: 'Sign-in',
    summary: 'Decline a pending membership',
    description:
      'The membership ends, recorded as `member.removed`. Sessions in this workspace switch to another of your workspaces, or end if there is none. Repeating the request answers 404. Only an administrator can end an accepted membership.',
    scopes: 'session',
    params: IdParams,
    responses: { 204: { description: 'Left.', schema: null } },
    errors: ['not_found'],
  }),
  setAway: route({
    method: 'PUT',
    path: '/v1/me/away',
    operationId: 'setAway',
    tag: 'Sign-in',
    summary: 'Lend your place in reviews',
    description:
      'Until `until`, at most 60 days ahead, the delegate may use your place among the approvers of a request, under the lower of both your limits. They cannot pass it on, or use it for a spend that you requested. Recorded as `member.away`.',
    scopes: 'session',
    weighs: false,
    body: AwayRequest,
    responses: { 200: { description: 'The absence.', schema: AwayBody } },
    errors: ['not_found'],
  }),
  endAway: route({
    method: 'DELETE',
    path: '/v1/me/away',
    operationId: 'endAway',
    tag: 'Sign-in',
    summary: 'End your absence',
    description: 'Your delegate can no longer use your place. Repeating the request also answers 204.',
    scopes: 'session',
    responses: { 204: { description: 'You are back.', schema: null } },
    errors: ['not_found'],
  }),
  listMySessions: route({
    method: 'GET',
    path: '/v1/me/sessions',
    operationId: 'listMySessions',
    tag: 'Sign-in',
    summary: 'List your sessions',
    description: 'Active sessions, newest first, at most 200.',
    scopes: 'session',
    responses: {
      200: {
        description: 'The sessions.',
        schema: Fields({ data: Type.Array(SessionItem), next_cursor: Type.Null() }, { $id: 'SessionPage' }),
      },
    },
    errors: [],
  }),
  endMyOtherSessions: route({
    method: 'DELETE',
    path: '/v1/me/sessions',
    operationId: 'endMyOtherSessions',
    tag: 'Sign-in',
    summary: 'End all your other sessions',
    description:
      'Ends all sessions except the current one, on every node. Repeating the request also answers 204.',
    scopes: 'session',
    responses: { 204: { description: 'They have ended.', schema: null } },
    errors: [],
  }),
  endMySession: route({
    method: 'DELETE',
    path: '/v1/me/sessions/:id',
    operationId: 'endMySession',
    tag: 'Sign-in',
    summary: 'End one of your sessions',
    description: 'Ends it on every node. Repeating the request also answers 204.',
    scopes: 'session',
    params: IdParams,
    responses: { 204: { description: 'The session has ended.', schema: null } },
    errors: ['not_found'],
  }),
};
