import type { Label } from '@purser/contract/records';
import { effectiveNow } from '@purser/rules/domain/decision-states';
import { currentLabels } from '@purser/rules/domain/labels';
import { recordEventData } from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';

export interface CreateLabelInput {
  decision_id: string;
  label: Label['label'];
  comment: string | null;
  supersedes: string | null;
}

/** Records whether a spend served the purpose. The label is added to earlier ones, or replaces the one it names. */
export const createLabel: Command<CreateLabelInput, Label> = {
  name: 'createLabel',
  needs: ({ decision_id, supersedes }) => ({
    decisions: [decision_id],
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
    const label: Label = {
      label_id: set.newId('label'),
      decision_id,
      label: input.label,
      comment: input.comment,
      supersedes,
      principal_id: origin.actor.principal_id,
      key_id: origin.actor.key_id,
      created_at: set.now,
    };
    const { decision } = record;
    // After this point the label counts: nothing may refuse it.
    const { after, event_id } = set.records.addLabel(label);
    const brief = { ...decision, effective_decision: effectiveNow(decision, after) };
    set.publish('decision.label.recorded', recordEventData({ ...label }, brief), event_id);
    return done(label);
  },
};
