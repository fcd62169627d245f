import type { SlackLink } from '@purser/rules/notices/slack-accounts';
import type { FoundSlackLink } from './slack-link-rows.ts';

/** The accounts in Slack that members of one workspace linked, in a batch. A command must need `slack_links`. */
export class SlackLinks {
  /** By user: what the lane writes. */
  readonly changes = new Map<string, SlackLink>();
  readonly #noteChange: () => void;
  readonly #links = new Map<string, FoundSlackLink>();

  constructor(links: readonly FoundSlackLink[], noteChange: () => void) {
    this.#noteChange = noteChange;
    for (const link of links) this.#links.set(link.user_id, link);
  }

  /** The link of a member; undefined if they never had one. */
  of(user_id: string): FoundSlackLink | undefined {
    return this.#links.get(user_id);
  }

  /** The member who linked an account, in whichever credential epoch. */
  holder(slack_account: string): FoundSlackLink | undefined {
    return [...this.#links.values()].find((link) => link.slack_account === slack_account);
  }

  put(link: SlackLink): void {
    this.#links.set(link.user_id, { ...link, is_of_epoch: true });
    this.changes.set(link.user_id, link);
    this.#noteChange();
  }
}
