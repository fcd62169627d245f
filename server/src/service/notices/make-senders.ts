import type { EndpointConnections } from '../webhook-delivery/client.ts';
import type { MakeSender, OutgoingNotice, Receiver, Senders } from '../webhook-delivery/sender.ts';
import { type EncodedNotice, postSender } from './post-sender.ts';
import { signedNotice } from './signed-webhook.ts';
import { slackMessage } from './slack.ts';
import { teamsMessage } from './teams.ts';

interface SenderOptions {
  /** Opens connections to a URL, under the rules for the URLs of webhooks. */
  connect: (url: string) => EndpointConnections;
  now_ms: () => number;
}

const asJson = (body: object): EncodedNotice => ({ headers: {}, body: JSON.stringify(body) });

/** Makes the senders of the channels that have a URL. */
export function makeUrlSenders({ connect, now_ms }: SenderOptions): Senders {
  const posting =
    (encode: (notice: OutgoingNotice, receiver: Receiver) => EncodedNotice): MakeSender =>
    (receiver) =>
      postSender(connect(receiver.settings.url as string), (notice) => encode(notice, receiver));
  return {
    slack_webhook: posting(({ text }) => asJson(slackMessage(text))),
    teams_webhook: posting(({ text }) => asJson(teamsMessage(text))),
    webhook: posting((notice, { settings }) => signedNotice(notice, settings.secret as string, now_ms())),
  };
}
