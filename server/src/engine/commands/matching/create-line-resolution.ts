import type { ResolutionBody } from '@purser/contract/history/coverage';
import type { ResolutionAction } from '@purser/contract/values/coverage';
import type { Origin } from '@purser/rules/domain/audit';
import { recordHash } from '@purser/rules/domain/ledger';
import { isOwnRequest } from '@purser/rules/domain/reviews';
import { type Command, done, type Refusal, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { LineFacts } from '../../matching/resolution-rows.ts';
import { isMakerOf, MAKER_FORBIDDEN, reviewerOf, separatesMakers } from '../reviews/separation.ts';
import { knownLine } from './known-line.ts';

export interface CreateLineResolutionInput {
  line_id: string;
  action: ResolutionAction;
  /** With MATCH only. */
  decision_id: string | null;
  /** The key that requested the decision; null: there is none. */
  requesting_key_id: string | null;
  comment: string | null;
}

/** Why a line may not be matched with a decision; null: it may. */
function whyNotMatched(
  set: WorkingSet,
  line: LineFacts,
  { decision_id, requesting_key_id }: CreateLineResolutionInput,
  origin: Origin,
): Refusal | null {
  const decision = set.records.decision(decision_id ?? '')?.decision;
  if (decision === undefined) return { code: 'not_found', message: 'No such decision.' };
  if (isOwnRequest(decision.requested_by, origin.actor))
    return {
      code: 'self_review_forbidden',
      message: 'The requester of a spend cannot match a line with it.',
    };
  const reviewer = reviewerOf(set, origin);
  if (isMakerOf(set, requesting_key_id ?? '', reviewer) && separatesMakers(set, reviewer))
    return { code: 'self_review_forbidden', message: MAKER_FORBIDDEN };
  const refused = (message: string): Refusal => ({ code: 'line_not_matchable', message });
  if (decision.agent.id !== line.agent_id)
    return refused(
      line.agent_id === null
        ? 'The line is nobody’s; assign its instrument to the agent of the decision first.'
        : 'The decision is of another agent than the line.',
    );
  const other = set.resolved_lines.otherLineOf(decision.decision_id, line);
  if (other !== undefined)
    return refused(`A person matched the decision with line ${other}; unmatch that line first.`);
  return null;
}

/** Records what a person says of a line. The newest resolution of a line holds. */
export const createLineResolution: Command<CreateLineResolutionInput, ResolutionBody> = {
  name: 'createLineResolution',
  needs: ({ line_id, decision_id, requesting_key_id }) => ({
    line_facts: [line_id],
    decisions: decision_id === null ? [] : [decision_id],
    matched_with: decision_id === null ? [] : [decision_id],
    keys: requesting_key_id === null ? [] : [requesting_key_id],
    workspace: true,
    reviewers: true,
  }),
  apply(set, input, origin) {
    const { line_id, action, decision_id, comment } = input;
    const line = knownLine(set, line_id);
    if (line === undefined) return refuse('not_found', 'No such line.');
    if (line.kind === 'REFUND')
      return refuse('line_not_matchable', 'The line is a refund, which nobody has to ask for.');
    const refused = action === 'MATCH' ? whyNotMatched(set, line, input, origin) : null;
    if (refused !== null) return refuse(refused.code, refused.message);
    const row: ResolutionBody = {
      resolution_id: set.newId('line_resolution'),
      line_id,
      action,
      decision_id,
      comment,
      principal_id: origin.actor.principal_id,
      key_id: origin.actor.key_id,
      created_at: set.now,
    };
    set.resolved_lines.addResolution(row, line);
    set.append('line.resolution.recorded', 'line_resolution', row.resolution_id, recordHash(row));
    return done(row);
  },
};
