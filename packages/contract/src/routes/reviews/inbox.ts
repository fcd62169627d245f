import { InboxBody, InboxQuery } from '../../reviews/inbox.ts';
import { route } from '../../route.ts';

export const routes = {
  getInbox: route({
    method: 'GET',
    path: '/v1/inbox',
    operationId: 'getInbox',
    tag: 'Reviews and labels',
    summary: 'List the pending reviews',
    description:
      'Expired reviews are not among them. `next_cursor` works only with the same filters and sort. Agent keys cannot read it.',
    scopes: ['read'],
    query: InboxQuery,
    responses: { 200: { description: 'A page of pending reviews.', schema: InboxBody } },
    errors: ['not_found'],
  }),
};
