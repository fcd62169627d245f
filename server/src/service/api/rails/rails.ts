import { routes } from '@purser/contract/routes/history/rails';
import type { RailEventResult, RailKind } from '@purser/contract/values/history';
import { shownSha256 } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { railBody } from '@purser/rules/rails/rails';
import type pg from 'pg';
import { createRail } from '../../../engine/commands/rails/create-rail.ts';
import { deleteRail } from '../../../engine/commands/rails/delete-rail.ts';
import { NO_SUCH_RAIL, updateRail } from '../../../engine/commands/rails/update-rail.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { listRails, type RailWithHealth } from '../../../engine/rails/rail-rows.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import {
  EVENTS_PER_MINUTE,
  MAX_EVENT_BYTES,
  makeTakeEvent,
  type RecordCardEvent,
} from '../../rails/take-event.ts';

export interface RailRouteOptions {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  /** The address of a path of this service, as vendors reach it. */
  urlOf: (path: string) => string;
  /** Encrypts secrets for their workspace, and decrypts them. */
  seal: (workspace_id: string, secrets: string) => string;
  open: (workspace_id: string, sealed: string) => string;
  record: RecordCardEvent;
  countEvent: (kind: RailKind, result: RailEventResult) => void;
  now_ms: () => number;
}

/** Makes the routes of rails, and the one that their vendors call. */
export function makeRailRoutes(options: RailRouteOptions): Route[] {
  const { db, lane, cursors, urlOf, seal } = options;
  const takeEvent = makeTakeEvent(options);

  const shown = ({ rail, health }: RailWithHealth) =>
    railBody(rail, health, urlOf(`/v1/rails/${rail.rail_id}/events`));
  const sealed = (workspace_id: string, secrets: readonly string[] | undefined) => {
    if (secrets === undefined) return {};
    const text = JSON.stringify(secrets);
    return { sealed_secrets: seal(workspace_id, text), secrets_hash: shownSha256(text) };
  };
  async function find(workspace_id: string, only: string) {
    const [found] = await listRails(db, workspace_id, { after: null, limit: 1, only });
    if (found === undefined) throw new ApiError('not_found', NO_SUCH_RAIL);
    return shown(found);
  }

  return [
    serve(routes.createRail)(async (call) => {
      const { workspace_id } = call.caller;
      const { kind, name, signing_secrets } = call.body;
      const none = { sealed_secrets: null, secrets_hash: null };
      const input = { kind, name, ...none, ...sealed(workspace_id, signing_secrets) };
      const rail = await lane.submit(workspace_id, createRail, input, originOf(call));
      return { status: 201, body: shown({ rail, health: null }) };
    }),
    serve(routes.listRails, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const { limit = 50, cursor } = call.query;
      const list = ['listRails', workspace_id];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listRails(db, workspace_id, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.rail.rail_id));
      return { status: 200, body: { data: rows.map(shown), next_cursor } };
    }),
    serve(routes.getRail, { shares: 'reads' })(async ({ caller, params }) => ({
      status: 200,
      body: await find(caller.workspace_id, params.id),
    })),
    serve(routes.updateRail)(async (call) => {
      const { workspace_id } = call.caller;
      const { name, signing_secrets } = call.body;
      const rail_id = call.params.id;
      const changes = { ...(name === undefined ? {} : { name }), ...sealed(workspace_id, signing_secrets) };
      await lane.submit(workspace_id, updateRail, { rail_id, changes }, originOf(call));
      return { status: 200, body: await find(workspace_id, rail_id) };
    }),
    serve(routes.deleteRail)(async (call) => {
      const input = { rail_id: call.params.id };
      await lane.submit(call.caller.workspace_id, deleteRail, input, originOf(call));
      return { status: 204 };
    }),
    serve(routes.takeRailEvent, { takes_bytes: MAX_EVENT_BYTES, limit_per_minute: EVENTS_PER_MINUTE })(
      async ({ params, headers, bytes, request_id, client_address }) => {
        const body = bytes ?? Buffer.alloc(0);
        await takeEvent({ rail_id: params.id, headers, body, request_id, client_address });
        return { status: 200, body: { received: true } };
      },
    ),
  ];
}
