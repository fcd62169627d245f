import { Type } from 'typebox';
import { route } from '../../route.ts';
import { Fields, Formed, Nullable, Timestamp } from '../../schema.ts';

/** How long a code for linking an account in Slack is good. */
export const SLACK_CODE_MINUTES = 10;

const AccountBody = Fields(
  {
    team_id: Type.String({ examples: ['T0123ABCD'] }),
    user_id: Type.String({ examples: ['U0123ABCD'] }),
  },
  { $id: 'SlackAccount' },
);

const LinkBody = Fields(
  { account: AccountBody, linked_at: Timestamp() },
  { $id: 'SlackLink', description: 'The account in Slack whose clicks are your reviews.' },
);

const OfferedBody = Fields(
  { account: AccountBody, name: Nullable(Type.String({ description: 'As Slack shows it.' })) },
  { $id: 'OfferedSlackLink' },
);

const CodeBody = Fields(
  {
    code: Formed('^[A-Za-z0-9_-]{27}$', 'must be the code of the link that Purser sent you in Slack', {
      examples: ['3q2-7wAAAAAAAAAAAAAAAAAAAAA'],
    }),
  },
  { $id: 'SlackCode' },
);

export const routes = {
  getMySlack: route({
    method: 'GET',
    path: '/v1/me/slack',
    operationId: 'getMySlack',
    tag: 'Sign-in',
    summary: 'Get your account in Slack',
    description: 'The account in Slack that you linked in this workspace.',
    scopes: 'session',
    responses: {
      200: {
        description: 'The link.',
        schema: Fields({ link: Nullable(LinkBody) }, { $id: 'MySlack' }),
      },
    },
    errors: [],
  }),
  readSlackCode: route({
    method: 'POST',
    path: '/v1/me/slack/code',
    operationId: 'readSlackCode',
    tag: 'Sign-in',
    summary: 'See which account a code links',
    description:
      'Uses nothing up. Link an account only if it is your own: its clicks become your reviews. A code that is unknown, used, expired or of another workspace is 400 naming `code`.',
    scopes: 'session',
    weighs: false,
    body: CodeBody,
    responses: { 200: { description: 'The account.', schema: OfferedBody } },
    errors: [],
  }),
  linkSlack: route({
    method: 'POST',
    path: '/v1/me/slack',
    operationId: 'linkSlack',
    tag: 'Sign-in',
    summary: 'Link your account in Slack',
    description: `From then on a click of that account is your review, \`via: "slack"\`. A code is good once, for ${SLACK_CODE_MINUTES} minutes. One account belongs to one member. The link ends with your membership, and with your credentials: after a reset of your password, link again. Recorded as \`member.slack_linked\`.`,
    scopes: 'session',
    weighs: true,
    body: CodeBody,
    responses: { 201: { description: 'The link.', schema: LinkBody } },
    errors: ['not_found', 'slack_taken'],
  }),
  unlinkSlack: route({
    method: 'DELETE',
    path: '/v1/me/slack',
    operationId: 'unlinkSlack',
    tag: 'Sign-in',
    summary: 'End the link to your account in Slack',
    description: 'Clicks of the account record nothing any more. Repeating the request also answers 204.',
    scopes: 'session',
    responses: { 204: { description: 'There is no link.', schema: null } },
    errors: [],
  }),
};
