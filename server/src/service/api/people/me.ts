import { route } from '@purser/contract/route';
import { ApiError } from '@purser/rules/errors';
import Type from 'typebox';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type Route, serve } from '../../http/route.ts';
import { Fields, Id, IdIn, Nullable, Timestamp } from '../../http/schemas.ts';
import { fromOf, ownOriginOf, selfOf } from '../../people/callers.ts';
import type { OwnAccount } from '../../people/own-account.ts';
import { endSession, endSessions } from '../../people/session-rows.ts';
import type { Sessions } from '../../people/sessions.ts';
import { verifying } from '../../people/verifying.ts';
import { MeBody, PersonName } from '../schemas/people.ts';

const SessionItem = Fields(
  {
    id: Id('session'),
    created_at: Timestamp(),
    last_seen_at: Timestamp({ description: 'To the minute.' }),
    expires_at: Timestamp(),
    client_address: Type.String(),
    user_agent: Nullable(Type.String()),
    current: Type.Boolean(),
  },
  { $id: 'Session' },
);

const RenameBody = Fields({ name: PersonName() });
const SwitchBody = Fields({ workspace_id: IdIn('workspace') });
const IdParams = Fields({ id: Type.String() });
const ME = { 200: { description: 'Who is signed in.', schema: MeBody } };

const routes = {
  getMe: route({
    method: 'GET',
    path: '/v1/me',
    operationId: 'getMe',
    tag: 'Sign-in',
    summary: 'Get who is signed in',
    description:
      'The person, the current workspace and what they may do there. Memberships from before their e-mail was proved are `pending`: they give nothing until the person accepts them. With no other one, `workspace`, `role` and `principal_id` are null.',
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
      'The e-mail of an account does not change. A name that another member of one of your workspaces has, or one that looks like it, is refused: case, accents, punctuation and invisible characters do not count.',
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
    summary: 'Go to another of your workspaces',
    description: 'It is the current workspace of this session from the next request on.',
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
      'For a workspace that you were added to before you proved your e-mail: somebody else may have joined it in your name. From now on you are a member, recorded as `member.joined`. Again 200. If the session stood in no workspace of yours, it goes there.',
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
      'You are no longer a member, recorded as `member.removed`. A session that stands there goes to another workspace of yours; where there is none, it is over. Again 404. Memberships that you have joined are ended by an administrator.',
    scopes: 'session',
    params: IdParams,
    responses: { 204: { description: 'Left.', schema: null } },
    errors: ['not_found'],
  }),
  listMySessions: route({
    method: 'GET',
    path: '/v1/me/sessions',
    operationId: 'listMySessions',
    tag: 'Sign-in',
    summary: 'List your sessions',
    description: 'Those that are not over, newest first: 200 at most.',
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
    description: 'All but the one that asks are over, on every node. Again 204.',
    scopes: 'session',
    responses: { 204: { description: 'They are over.', schema: null } },
    errors: [],
  }),
  endMySession: route({
    method: 'DELETE',
    path: '/v1/me/sessions/:id',
    operationId: 'endMySession',
    tag: 'Sign-in',
    summary: 'End one of your sessions',
    description: 'It is over on every node. Ending it again answers 204 again.',
    scopes: 'session',
    params: IdParams,
    responses: { 204: { description: 'It is over.', schema: null } },
    errors: ['not_found'],
  }),
};

/** A person's own account. */
export function makeMeRoutes(options: {
  db: Queryable;
  sessions: Pick<Sessions, 'list'>;
  account: OwnAccount;
}): Route[] {
  const { db, sessions, account } = options;
  return [
    serve(routes.getMe)(async (call) => ({ status: 200, body: await account.me(selfOf(call)) })),
    serve(routes.updateMe)(async (call) => ({
      status: 200,
      body: await account.rename(selfOf(call), call.body.name, fromOf(call)),
    })),
    serve(routes.switchWorkspace)(async (call) => ({
      status: 200,
      body: await account.switchTo(selfOf(call), call.body.workspace_id),
    })),
    serve(routes.acceptWorkspace)(async (call) => ({
      status: 200,
      body: await account.accept(selfOf(call), call.params.id, ownOriginOf(call)),
    })),
    serve(routes.leaveWorkspace)(async (call) => {
      await account.leave(selfOf(call), call.params.id, ownOriginOf(call));
      return { status: 204 };
    }),
    serve(routes.listMySessions)(async (call) => {
      const self = selfOf(call);
      const open = await verifying(() => sessions.list(self));
      const data = open.map(({ session_id, workspace_id, ...session }) => ({
        id: session_id,
        ...session,
        current: session_id === self.session_id,
      }));
      return { status: 200, body: { data, next_cursor: null } };
    }),
    serve(routes.endMyOtherSessions)(async (call) => {
      const { user_id, session_id } = selfOf(call);
      await verifying(() => endSessions(db, user_id, session_id));
      return { status: 204 };
    }),
    serve(routes.endMySession)(async (call) => {
      const { user_id } = selfOf(call);
      if (!(await verifying(() => endSession(db, user_id, call.params.id)))) {
        throw new ApiError('not_found', 'There is no such session.');
      }
      return { status: 204 };
    }),
  ];
}
