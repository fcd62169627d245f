import { purser } from './client.ts';

/** The person's account in Slack. */
export const mySlack = {
  get: async () => purser.me.slack(),
  readCode: async (code: string) => purser.me.readSlackCode({ code }),
  link: async (code: string) => purser.me.linkSlack({ code }),
  unlink: async () => purser.me.unlinkSlack(),
};
