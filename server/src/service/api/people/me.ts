import { routes } from '@purser/contract/routes/people/me';
import { ApiError } from '@purser/rules/errors';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type Route, serve } from '../../http/route.ts';
import { fromOf, originOf, ownOriginOf, selfOf } from '../../people/callers.ts';
import type { OwnAccount } from '../../people/own-account.ts';
import { endSession, endSessions } from '../../people/session-rows.ts';
import type { Sessions } from '../../people/sessions.ts';
import { verifying } from '../../people/verifying.ts';

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
    serve(routes.setAway)(async (call) => ({
      status: 200,
      body: await account.setAway(selfOf(call), call.body, originOf(call)),
    })),
    serve(routes.endAway)(async (call) => {
      await account.endAway(selfOf(call), originOf(call));
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
        throw new ApiError('not_found', 'No such session.');
      }
      return { status: 204 };
    }),
  ];
}
