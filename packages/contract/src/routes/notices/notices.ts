import { Type } from 'typebox';
import { route } from '../../route.ts';
import { Fields, Id, IdIn, Nullable, OneOf, PageQuery, page, QuerySeveral, Timestamp } from '../../schema.ts';
import { NOTICE_KIND_CODES, NOTICE_KINDS, NOTICE_STATUSES } from '../../values/channels.ts';
import { ATTEMPTS } from '../../values/webhooks.ts';

const NoticeItem = Fields(
  {
    id: Id('notice', { description: 'The `webhook-id` or `Message-ID` of every attempt.' }),
    kind: OneOf(NOTICE_KIND_CODES, {
      description: Object.entries(NOTICE_KINDS)
        .map(([kind, when]) => `\`${kind}\`: ${when}`)
        .join(' '),
    }),
    decision_id: Nullable(Id('decision')),
    channel_id: Nullable(Id('channel', { description: 'Null: it is for a person.' })),
    recipient: Type.String({
      description: "The channel's name, or the person's principal.",
      examples: ['Finance in Slack'],
    }),
    status: OneOf(NOTICE_STATUSES, {
      description:
        '`OBSOLETE`: the request was decided or expired before the notice was sent, or the channel was deleted.',
    }),
    due_at: Timestamp({ description: 'When it is sent next, or was sent last.' }),
    attempts: Type.Integer({ minimum: 0, maximum: ATTEMPTS }),
    error: Nullable(Type.String({ description: 'Why the last attempt failed.', examples: ['timeout'] })),
  },
  { $id: 'Notice' },
);

export const routes = {
  listNotices: route({
    method: 'GET',
    path: '/v1/notices',
    operationId: 'listNotices',
    tag: 'Notices',
    summary: 'List notices',
    description: 'Newest first. All filters must match.',
    scopes: ['read'],
    query: Fields({
      ...PageQuery,
      decision: Type.Optional(IdIn('decision', { description: 'Notices of this decision.' })),
      channel: Type.Optional(IdIn('channel', { description: 'Notices of this channel.' })),
      status: Type.Optional(QuerySeveral(OneOf(NOTICE_STATUSES))),
    }),
    responses: {
      200: { description: 'A page of notices.', schema: page(NoticeItem, { $id: 'NoticePage' }) },
    },
    errors: [],
  }),
};
