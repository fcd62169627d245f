import { routes } from '@purser/contract/routes/notices/notices';
import type { Queryable } from '../../../engine/storage/database.ts';
import { listNotices } from '../../../engine/storage/notices/notices.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Route, serve } from '../../http/route.ts';

/** Makes the route that lists notices. */
export function makeNoticeRoutes({ lists_db, cursors }: { lists_db: Queryable; cursors: Cursors }): Route[] {
  return [
    serve(routes.listNotices, { shares: 'lists' })(async ({ caller: { workspace_id }, query }) => {
      const { limit = 50, cursor, ...filters } = query;
      const list = ['listNotices', workspace_id, filters];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listNotices(lists_db, workspace_id, filters, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.notice_id));
      const data = rows.map(({ notice_id, ...row }) => ({ id: notice_id, ...row }));
      return { status: 200, body: { data, next_cursor } };
    }),
  ];
}
