import { timingSafeEqual } from 'node:crypto';
import { linkDigest, openLinkToken } from '@purser/rules/sharing/decision-link';
import Type from 'typebox';
import { findDecisionLink } from '../../engine/sharing/decision-link-rows.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { PAGE_HEADERS, PAGE_TYPE, renderDecisionPage, renderNoPage } from './decision-page.ts';
import { type DecisionRecordOptions, readDecisionRecord, sharerOf } from './decision-record.ts';

/** Where the pages of links are, with the token behind it. */
export const SHARED_PATH = '/shared/';

const answer = (status: number, content: string): Answer => ({
  status,
  headers: PAGE_HEADERS,
  text: { content, content_type: PAGE_TYPE },
});

/** The page behind a token; null if there is none, which says nothing of why. */
async function pageOf(options: DecisionRecordOptions, token: string): Promise<string | null> {
  const opened = openLinkToken(token);
  if (opened === null) return null;
  const { workspace_id, link_id, secret } = opened;
  const found = await findDecisionLink(options.db, workspace_id, link_id);
  if (found === undefined || !timingSafeEqual(found.link.token_digest, linkDigest(secret))) return null;
  if (found.status !== 'active') return null;
  const [record, by] = await Promise.all([
    readDecisionRecord(options, workspace_id, found.link.decision_id),
    sharerOf(options.db, workspace_id, found.link),
  ]);
  if (record === undefined) return null;
  return renderDecisionPage(record, { by, at: found.link.created_at, until: found.link.expires_at });
}

/**
 * Makes the page that a link opens: one decision, and who shared it. A wrong, expired, revoked or ended link gets one and the
 * same answer. The token is a parameter of the path, so no log and no metric has it.
 */
export function makeSharedPageRoute(options: DecisionRecordOptions): Route {
  return {
    method: 'GET',
    path: `${SHARED_PATH}:token`,
    operationId: 'getSharedDecision',
    tag: 'Service',
    summary: 'The page of a shared decision.',
    description: 'What somebody sees who has a link.',
    scopes: 'public',
    serves_files: true,
    shows_secret: true,
    responses: { 200: { description: 'The page.', schema: Type.String() } },
    errors: ['rate_limited', 'not_found', 'unavailable'],
    async handler(call: Call) {
      const page = await pageOf(options, call.params.token ?? '');
      return page === null ? answer(404, renderNoPage()) : answer(200, page);
    },
  };
}
