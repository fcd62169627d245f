import { routes } from '@purser/contract/routes/people/notifications';
import { nextDigestMs } from '@purser/rules/notices/people';
import type { Queryable } from '../../../engine/storage/database.ts';
import { findNotificationSettings, putNotificationSettings } from '../../../engine/storage/notices/people.ts';
import { readClock } from '../../../engine/storage/workspaces.ts';
import { type Route, serve } from '../../http/route.ts';
import { selfOf } from '../../people/callers.ts';
import { verifying } from '../../people/verifying.ts';

/** A person's own notification settings. `has_mail`: the service has a mail server. */
export function makeNotificationRoutes({ db, has_mail }: { db: Queryable; has_mail: boolean }): Route[] {
  const settingsOf = async (user_id: string) => {
    const { sent_to, ...settings } = await findNotificationSettings(db, user_id);
    return { ...settings, sent_to: has_mail ? sent_to : null };
  };
  return [
    serve(routes.getMyNotifications)(async (call) => ({
      status: 200,
      body: await verifying(() => settingsOf(selfOf(call).user_id)),
    })),
    serve(routes.updateMyNotifications)(async (call) => {
      const { user_id } = selfOf(call);
      const { body } = call;
      return verifying(async () => {
        const next_ms = body.digest === 'NONE' ? null : nextDigestMs(body.time_zone, await readClock(db));
        const next = next_ms === null ? null : new Date(next_ms).toISOString();
        await putNotificationSettings(db, user_id, body, next);
        return { status: 200, body: await settingsOf(user_id) };
      });
    }),
  ];
}
