import type { Cursors } from '../../http/cursors.ts';
import type { Route } from '../../http/route.ts';
import type { Core } from '../../installation/runtime.ts';
import type { Site } from '../../people/site.ts';
import { makeRecordCardEvent, type RecordCardEventOptions } from '../../rails/record-card-event.ts';
import { makeRailRoutes } from './rails.ts';

/** Makes the routes of the rails that send card events. */
export function makeCardRoutes(
  { db, lane, metrics, now_ms, secrets }: Core,
  spends: Omit<RecordCardEventOptions, 'db' | 'lane' | 'countDecision'>,
  { cursors, site, newNonce }: { cursors: Cursors; site: Site; newNonce: () => Buffer },
): Route[] {
  return makeRailRoutes({
    db,
    lane,
    cursors,
    urlOf: (path) => `${site.origin()}${path}`,
    seal: (workspace_id, text) => secrets.sealWebhookSecret(workspace_id, text, newNonce()),
    open: secrets.openWebhookSecret,
    record: makeRecordCardEvent({ ...spends, db, lane, countDecision: metrics.countDecision }),
    countEvent: metrics.countRailEvent,
    now_ms,
  });
}
