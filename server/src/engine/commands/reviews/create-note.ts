import type { Note } from '@purser/contract/reviews/note';
import { whyFinal, whyUnreviewable } from '@purser/rules/domain/reviews';
import { type Command, done, refuse } from '../../lane/command.ts';
import { notifyAssignee } from './notify-assignee.ts';

export interface CreateNoteInput {
  decision_id: string;
  text: string;
  /** The principal to whom the review is assigned; null: nobody. */
  assign_to: string | null;
  /** A key that may review carries the principal. */
  is_of_key: boolean;
  /** People are mailed notices. */
  mails_people?: boolean;
}

/** Records a note on a decision, which may assign its review. It changes no decision. */
export const createNote: Command<CreateNoteInput, Note> = {
  name: 'createNote',
  needs: ({ decision_id, assign_to, mails_people = false }) => ({
    decisions: [decision_id],
    ...(assign_to === null ? {} : { reviewers: true, notified_people: mails_people }),
  }),
  apply(set, { decision_id, text, assign_to, is_of_key }, origin) {
    const record = set.records.decision(decision_id);
    if (record === undefined) return refuse('not_found', 'No such decision.');
    if (assign_to !== null) {
      const { decision, state } = record;
      const why = whyUnreviewable(decision) ?? whyFinal(decision, state, state.review_id);
      if (why !== null) return refuse(why.code, why.message);
      const is_reviewer = set.people.reviewers().some(({ principal_id }) => principal_id === assign_to);
      if (!is_reviewer && !is_of_key)
        return refuse(
          'invalid_request',
          'assign_to: must be a member, or the principal of a key, that may review',
        );
      if (decision.requested_by.principal_id === assign_to)
        return refuse('invalid_request', 'assign_to: requested the spend, and cannot review it');
    }
    const note: Note = {
      note_id: set.newId('note'),
      decision_id,
      text,
      assign_to,
      principal_id: origin.actor.principal_id,
      key_id: origin.actor.key_id,
      created_at: set.now,
    };
    set.records.addNote(note);
    notifyAssignee(set, note, record.state.expires_at);
    return done(note);
  },
};
