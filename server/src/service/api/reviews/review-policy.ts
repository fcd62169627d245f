import { routes } from '@purser/contract/routes/reviews/review-policy';
import type { ReviewPolicyRow } from '@purser/rules/domain/workspace';
import { ApiError } from '@purser/rules/errors';
import type pg from 'pg';
import { putReviewPolicy } from '../../../engine/commands/reviews/put-review-policy.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import {
  getReviewPolicy,
  listReviewPolicies,
  parseReviewPolicy,
} from '../../../engine/storage/reviews/review-policies.ts';
import { expectedHash } from '../../http/call.ts';
import { type Cursors, pageOf } from '../../http/cursors.ts';
import { type Call, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import type { Signing } from '../../people/signing.ts';
import { takeGiven } from './signed-reviews.ts';

function policyBody(row: ReviewPolicyRow) {
  const { version, hash, created_at, key_id, principal_id, note } = row;
  const policy = parseReviewPolicy(row);
  if (version === 0) return { version, hash, policy, created_at: null, created_by: null, note };
  return { version, hash, policy, created_at, created_by: { key_id, principal_id }, note };
}

/** Throws `insufficient_scope` for an agent's key, which must not learn who decides. */
function refuseAgents({ caller }: Pick<Call, 'caller'>): void {
  if (caller.agent_id === null) return;
  throw new ApiError('insufficient_scope', 'An agent key cannot read the review policy.');
}

/** Routes for the review policy and its versions. */
export function makeReviewPolicyRoutes(options: {
  db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
  signing: Signing;
}): Route[] {
  const { db, lane, cursors, signing } = options;
  return [
    serve(routes.getReviewPolicy, { shares: 'reads' })(async (call) => {
      refuseAgents(call);
      const row = await getReviewPolicy(db, call.caller.workspace_id, call.query.version ?? null);
      if (row === undefined) throw new ApiError('not_found', 'No such version of the review policy.');
      return { status: 200, body: policyBody(row) };
    }),
    serve(routes.putReviewPolicy)(async (call) => {
      const { policy, note = null } = call.body;
      const input = {
        policy,
        note: note === '' ? null : note,
        expected_hash: expectedHash(call.headers['if-match']),
        signature: await takeGiven(signing, call, call.body.signature),
      };
      const row = await lane.submit(call.caller.workspace_id, putReviewPolicy, input, originOf(call));
      return { status: 200, body: policyBody(row) };
    }),
    serve(routes.listReviewPolicyVersions, { shares: 'reads' })(async (call) => {
      refuseAgents(call);
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const list = ['listReviewPolicyVersions', workspace_id];
      const before = cursors.open(list, cursor) as number | null;
      const found = await listReviewPolicies(db, workspace_id, { before, limit });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.version));
      return { status: 200, body: { data: rows.map(policyBody), next_cursor } };
    }),
  ];
}
