import { routes } from '@purser/contract/routes/people/slack';
import { partsOfAccount, type SlackLink } from '@purser/rules/notices/slack-accounts';
import { linkSlack, unlinkSlack } from '../../../engine/commands/people/link-slack.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { loadSlackLinks } from '../../../engine/slack/slack-link-rows.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type Route, serve } from '../../http/route.ts';
import { originOf, selfOf } from '../../people/callers.ts';
import type { SlackCodes } from '../../slack/codes.ts';
import { principalIn } from './signing-keys.ts';

const shown = (slack_account: string, { changed_at }: Pick<SlackLink, 'changed_at'>) => ({
  account: partsOfAccount(slack_account),
  linked_at: changed_at,
});

/** Makes the routes by which people link their account in Slack. */
export function makeSlackRoutes(options: { db: Queryable; lane: Lane; codes: SlackCodes }): Route[] {
  const { db, lane, codes } = options;
  return [
    serve(routes.getMySlack)(async (call) => {
      const { user_id, workspace_id } = selfOf(call);
      const links = await loadSlackLinks(db, [workspace_id]);
      const own = links.find((link) => link.user_id === user_id);
      const account = own?.is_of_epoch === true ? own.slack_account : null;
      return { status: 200, body: { link: own && account !== null ? shown(account, own) : null } };
    }),
    serve(routes.readSlackCode)(async (call) => {
      principalIn(call);
      const { slack_account, name } = await codes.read(selfOf(call).workspace_id, call.body.code);
      return { status: 200, body: { account: partsOfAccount(slack_account), name } };
    }),
    serve(routes.linkSlack)(async (call) => {
      const { user_id, workspace_id, credential_epoch } = selfOf(call);
      principalIn(call);
      const { slack_account } = await codes.take(workspace_id, call.body.code);
      const input = { user_id, slack_account, credential_epoch };
      const link = await lane.submit(workspace_id, linkSlack, input, originOf(call));
      return { status: 201, body: shown(slack_account, link) };
    }),
    serve(routes.unlinkSlack)(async (call) => {
      const { user_id, workspace_id } = selfOf(call);
      await lane.submit(workspace_id, unlinkSlack, { user_id }, originOf(call));
      return { status: 204 };
    }),
  ];
}
