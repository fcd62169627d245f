import type { Origin } from '@purser/rules/domain/audit';
import { partsOfAccount, type SlackLink } from '@purser/rules/notices/slack-accounts';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';

export interface LinkSlackInput {
  user_id: string;
  slack_account: string;
  /** That of the session by which the person links. */
  credential_epoch: number;
}

const shown = (slack_account: string | null) =>
  slack_account === null ? { slack: null } : { slack: partsOfAccount(slack_account) };

function put(set: WorkingSet, link: SlackLink, before: string | null, origin: Origin): void {
  set.slack_links.put(link);
  const action = link.slack_account === null ? 'member.slack_unlinked' : 'member.slack_linked';
  set.audit(action, { type: 'member', id: link.user_id }, origin, {
    from: shown(before),
    to: shown(link.slack_account),
    state: { slack_link: link },
  });
}

/** Links an account in Slack with a member who may review. One account has one member, and one member one account. */
export const linkSlack: Command<LinkSlackInput, SlackLink> = {
  name: 'linkSlack',
  needs: () => ({ reviewers: true, slack_links: true }),
  apply(set, { user_id, slack_account, credential_epoch }, origin) {
    if (!set.people.reviewers().some((member) => member.user_id === user_id))
      return refuse('insufficient_scope', 'Only a member who may review can link an account in Slack.');
    const holder = set.slack_links.holder(slack_account);
    if (holder !== undefined && holder.user_id !== user_id)
      return refuse('slack_taken', 'Another member has linked this account in Slack.');
    const own = set.slack_links.of(user_id);
    const is_other = own?.is_of_epoch === true && own.slack_account !== null;
    if (is_other && own.slack_account !== slack_account)
      return refuse('slack_taken', 'You have linked another account in Slack; end that link first.');
    const link = { user_id, slack_account, credential_epoch, changed_at: set.now };
    put(set, link, own?.slack_account ?? null, origin);
    return done(link);
  },
};

/** Ends the link of a member, if there is one. */
export function endSlackLink(set: WorkingSet, user_id: string, origin: Origin): void {
  const own = set.slack_links.of(user_id);
  if (own === undefined || own.slack_account === null) return;
  const { is_of_epoch: _, ...link } = own;
  put(set, { ...link, slack_account: null, changed_at: set.now }, own.slack_account, origin);
}

/** Ends the link of a member; without one nothing is written. */
export const unlinkSlack: Command<{ user_id: string }, null> = {
  name: 'unlinkSlack',
  needs: () => ({ slack_links: true }),
  apply(set, { user_id }, origin) {
    endSlackLink(set, user_id, origin);
    return done(null);
  },
};
