import type { Decision } from '@purser/contract/decisions';
import type { Label } from '@purser/contract/records';
import type { Origin } from '@purser/rules/domain/audit';
import { effectiveNow } from '@purser/rules/domain/decision-states';
import { currentLabels } from '@purser/rules/domain/labels';
import { isOwnRequest } from '@purser/rules/domain/reviews';
import { recordEventData } from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';
import type { WorkingSet } from '../lane/working-set.ts';
import {
  answerQuestions,
  questionsAnswered,
  type ReadDecision,
  unknownQuestion,
} from '../questions/answers-of-records.ts';
import { isMakerOf, reviewerOf, separatesMakers } from './reviews/separation.ts';

export interface CreateLabelInput extends ReadDecision {
  decision_id: string;
  label: Label['label'];
  comment: string | null;
  supersedes: string | null;
  /** The questions that PURPOSE_MISALIGNED answers; null: those that it is about by default. */
  named: readonly string[] | null;
}

/** Returns true if a label answers questions: the requester's own does not, nor one by somebody who may not review the spend. */
function mayAnswer(set: WorkingSet, { requested_by }: Decision, origin: Origin): boolean {
  if (isOwnRequest(requested_by, origin.actor)) return false;
  const reviewer = reviewerOf(set, origin);
  return !isMakerOf(set, requested_by.key_id, reviewer) || !separatesMakers(set, reviewer);
}

/** Records whether a spend served the purpose. The label is added to earlier ones, or replaces the one it names. */
export const createLabel: Command<CreateLabelInput, Label> = {
  name: 'createLabel',
  needs: ({ decision_id, supersedes, requesting_key_id, questions }) => ({
    decisions: [decision_id],
    questions,
    keys: requesting_key_id === null ? [] : [requesting_key_id],
    workspace: true,
    reviewers: true,
    // A label that supersedes none does not need the others, however many there are.
    labels_of: supersedes === null ? [] : [decision_id],
    webhooks: true,
  }),
  apply(set, input, origin) {
    const record = set.records.decision(input.decision_id);
    if (record === undefined) return refuse('not_found', 'No such decision.');
    const { decision_id, supersedes } = input;
    const current = supersedes === null ? [] : currentLabels(set.records.labelsOf(decision_id));
    if (supersedes !== null && !current.some((each) => each.label_id === supersedes)) {
      return refuse('invalid_request', 'supersedes: must be the id of a current label of this decision');
    }
    const unknown = unknownQuestion(record.decision, input.named);
    if (unknown !== null) return refuse('invalid_request', unknown);
    const label: Label = {
      label_id: set.newId('label'),
      decision_id,
      label: input.label,
      comment: input.comment,
      supersedes,
      principal_id: origin.actor.principal_id,
      key_id: origin.actor.key_id,
      questions: mayAnswer(set, record.decision, origin)
        ? questionsAnswered(record.decision, input, input.named)
        : [],
      created_at: set.now,
    };
    const { decision } = record;
    // After this point the label counts: nothing may refuse it.
    const { after, event_id } = set.records.addLabel(label);
    answerQuestions(set, decision, label);
    const brief = { ...decision, effective_decision: effectiveNow(decision, after) };
    set.publish('decision.label.recorded', recordEventData({ ...label }, brief), event_id);
    return done(label);
  },
};
