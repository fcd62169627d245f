import { Type } from 'typebox';
import { route } from '../route.ts';
import { Fields, QueryInteger } from '../schema.ts';

/** A client further behind than this reloads everything anyway. */
export const MAX_EVENTS = 500;

/** The count of pending reviews stops at this number. */
export const MAX_PENDING = 10_000;

const ChangesQuery = Fields({
  since: Type.Optional(
    QueryInteger(
      { min: 0, max: Number.MAX_SAFE_INTEGER },
      {
        description: 'The `seq` of an earlier response; without it, the response has only the current `seq`.',
      },
    ),
  ),
});

const ChangesBody = Fields(
  {
    seq: Type.Integer({
      minimum: 0,
      description: 'The last event of the chain; give it as `since` next time.',
    }),
    types: Type.Object(
      {},
      {
        additionalProperties: { type: 'integer', minimum: 1 },
        description: 'Number of events after `since`, by type.',
        examples: [{ 'decision.created': 12 }],
      },
    ),
    pending_reviews: Type.Integer({
      minimum: 0,
      maximum: MAX_PENDING,
      description: `Number of pending reviews; ${MAX_PENDING} means ${MAX_PENDING} or more.`,
    }),
    truncated: Type.Boolean({
      description: `True if there were more than ${MAX_EVENTS} events, or \`since\` belongs to another history: reload everything.`,
    }),
  },
  { $id: 'Changes' },
);

export const routes = {
  getChanges: route({
    method: 'GET',
    path: '/v1/changes',
    operationId: 'getChanges',
    tag: 'Workspace',
    summary: 'List what has changed',
    description:
      'Keeps a screen up to date: poll every few seconds, and reload what the event types concern. A poll without changes reads one row.',
    scopes: ['read'],
    query: ChangesQuery,
    responses: { 200: { description: 'The changes.', schema: ChangesBody } },
    errors: [],
  }),
};
