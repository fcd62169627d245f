/** The account in Slack that a member linked. The row stays when the link ends, without an account. */
export interface SlackLink {
  user_id: string;
  /** As `slackAccount` writes it; null: no account is linked any more. */
  slack_account: string | null;
  /** The member's credential epoch when it was linked. In a later one the link is worth nothing. */
  credential_epoch: number;
  changed_at: string;
}

const PART = /^[A-Z0-9]{1,40}$/;

/** The name of an account: its team and user. Null where they do not have the form of Slack's ids. */
export function slackAccount(team_id: unknown, user_id: unknown): string | null {
  const is_formed = [team_id, user_id].every((part) => typeof part === 'string' && PART.test(part));
  return is_formed ? `${team_id}/${user_id}` : null;
}

/** The team and user of an account. */
export function partsOfAccount(slack_account: string): { team_id: string; user_id: string } {
  const [team_id = '', user_id = ''] = slack_account.split('/');
  return { team_id, user_id };
}
