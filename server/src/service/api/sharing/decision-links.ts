import { routes } from '@purser/contract/routes/decision-links';
import { ApiError } from '@purser/rules/errors';
import { linkBody, linkDigest, linkToken } from '@purser/rules/sharing/decision-link';
import type pg from 'pg';
import { createDecisionLink } from '../../../engine/commands/sharing/create-decision-link.ts';
import { NO_SUCH_LINK, revokeDecisionLink } from '../../../engine/commands/sharing/revoke-decision-link.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { findDecisionLink, listLinksOfDecision } from '../../../engine/sharing/decision-link-rows.ts';
import { getDecision } from '../../../engine/storage/decisions.ts';
import type { DecisionView } from '../../decisions/present-decisions.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Handler, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import type { Site } from '../../people/site.ts';
import { PAGE_HEADERS, PAGE_TYPE, renderDecisionPage } from '../../sharing/decision-page.ts';
import { readDecisionRecord } from '../../sharing/decision-record.ts';
import { SHARED_PATH } from '../../sharing/shared-page.ts';

export interface DecisionLinkRouteOptions {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  view: Pick<DecisionView, 'present'>;
  site: Pick<Site, 'origin'>;
  /** 256 random bits, base64url. */
  newToken: () => string;
}

/** Makes the routes of a decision's page and of the links that share it. */
export function makeDecisionLinkRoutes(options: DecisionLinkRouteOptions): Route[] {
  const { db, view } = options;
  return [
    serve(routes.createDecisionLink, { shows_secret: true })(handleCreate(options)),
    serve(routes.listDecisionLinks, { shares: 'reads' })(handleList(options)),
    serve(routes.getDecisionLink, { shares: 'reads' })(async ({ caller, params }) => {
      const found = await findDecisionLink(db, caller.workspace_id, params.link_id);
      if (found?.link.decision_id !== params.id) throw new ApiError('not_found', NO_SUCH_LINK);
      return { status: 200, body: linkBody(found.link, found.status) };
    }),
    serve(routes.revokeDecisionLink)(async (call) => {
      const input = { decision_id: call.params.id, link_id: call.params.link_id };
      await options.lane.submit(call.caller.workspace_id, revokeDecisionLink, input, originOf(call));
      return { status: 204 };
    }),
    serve(routes.getDecisionPage, { shares: 'reads' })(async ({ caller, params }) => {
      const record = await readDecisionRecord({ db, view }, caller.workspace_id, params.id);
      if (record === undefined) throw new ApiError('not_found', 'No such decision.');
      const content = renderDecisionPage(record, null);
      return { status: 200, headers: PAGE_HEADERS, text: { content, content_type: PAGE_TYPE } };
    }),
  ];
}

function handleCreate(options: DecisionLinkRouteOptions): Handler<typeof routes.createDecisionLink> {
  const { lane, site, newToken } = options;
  return async (call) => {
    const { workspace_id, principal_id } = call.caller;
    const secret = newToken();
    const input = {
      decision_id: call.params.id,
      token_digest: linkDigest(secret),
      acting_principal: principal_id,
      expires_in_seconds: call.body.expires_in_seconds,
    };
    const link = await lane.submit(workspace_id, createDecisionLink, input, originOf(call));
    const { link_id, expires_at } = link;
    const url = `${site.origin()}${SHARED_PATH}${linkToken(workspace_id, link_id, secret)}`;
    return { status: 201, body: { link_id, url, expires_at } };
  };
}

function handleList(options: DecisionLinkRouteOptions): Handler<typeof routes.listDecisionLinks> {
  const { db, cursors } = options;
  return async ({ caller: { workspace_id }, params, query: { limit = 50, cursor } }) => {
    if ((await getDecision(db, workspace_id, params.id, null)) === undefined)
      throw new ApiError('not_found', 'No such decision.');
    const list = ['listDecisionLinks', workspace_id, params.id];
    const after = cursors.open(list, cursor) as string | null;
    const found = await listLinksOfDecision(db, workspace_id, params.id, { after, limit: limit + 1 });
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.link.link_id));
    return {
      status: 200,
      body: { data: rows.map(({ link, status }) => linkBody(link, status)), next_cursor },
    };
  };
}
