import { Type } from 'typebox';
import { NoteBody, NoteRequest } from '../../reviews/note.ts';
import { route } from '../../route.ts';
import { Fields } from '../../schema.ts';

export const routes = {
  createNote: route({
    method: 'POST',
    path: '/v1/decisions/:id/notes',
    operationId: 'createNote',
    tag: 'Reviews and labels',
    summary: 'Note something on a decision, and assign its review',
    description:
      'Notes are for colleagues: the sheet shows them, and no agent key sees them. They decide nothing. With `assign_to` the pending review is assigned to a member, or to a key, that may review it; everybody else who may review it still can.',
    scopes: ['review'],
    params: Fields({ id: Type.String() }),
    body: NoteRequest,
    responses: { 201: { description: 'The note.', schema: NoteBody } },
    errors: ['not_found', 'not_reviewable', 'review_final'],
  }),
};
