import { routes } from '@purser/contract/routes/samples/samples';
import { ApiError } from '@purser/rules/errors';
import { loadWorkspace } from '../../../engine/storage/workspaces.ts';
import { type Route, serve } from '../../http/route.ts';
import type { Core } from '../../installation/runtime.ts';
import type { Samples } from '../../samples/samples.ts';

/** Makes the routes of sample data. */
export function makeSampleRoutes({ db }: Pick<Core, 'db'>, samples: Samples): Route[] {
  return [
    serve(routes.createSample, { takes_long: true })(async ({ caller: { session, workspace_id } }) => {
      if (session === null)
        throw new ApiError(
          'insufficient_scope',
          'Only a person can create sample data: sign in, or run `npm run purser -- sample create`.',
        );
      const workspace = await loadWorkspace(db, workspace_id);
      if (workspace === undefined) throw new ApiError('not_found', 'No such workspace.');
      const made = await samples.create(session.user_id, workspace.plan);
      const body = { workspace_id: made.workspace_id };
      return made.admin_key === null ? { status: 200, body } : { status: 201, body };
    }),
    serve(routes.removeSample, { takes_long: true })(async ({ caller: { workspace_id } }) => {
      await samples.remove(workspace_id);
      return { status: 204 };
    }),
  ];
}
