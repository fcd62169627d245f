import { type Static, Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { Fields, Id, LongText, Nullable, PrincipalId, Timestamp } from '../schema.ts';

/** A note as the API answers it. */
export const NoteBody = Fields(
  {
    note_id: Id('note'),
    decision_id: Id('decision'),
    text: Type.String({ examples: ['Is this the second invoice for October?'] }),
    assign_to: Nullable(
      Type.String({
        examples: ['user:ada'],
        description: 'The principal to whom the note assigned the review; null: it changed nothing.',
      }),
    ),
    principal_id: Nullable(Type.String({ examples: ['user:bo'] })),
    key_id: Nullable(Id('api_key', { description: 'Null for a person, who is named by `principal_id`.' })),
    created_at: Timestamp(),
  },
  { $id: 'Note', description: 'A note of a reviewer on a decision. No agent key sees it.' },
);

/** A reviewer's note on a decision. Never changed or removed. */
export interface Note extends Static<typeof NoteBody> {}

/** The body of a new note. */
export const NoteRequest = Fields(
  {
    text: LongText({ min: 1, max: TEXT_LENGTHS.comment }),
    assign_to: Type.Optional(
      PrincipalId({
        description:
          'Assigns the review to this member, or key, that may review. The last assignment counts.',
        examples: ['user:ada'],
      }),
    ),
  },
  { $id: 'NoteRequest' },
);
