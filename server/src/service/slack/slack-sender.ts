import type { MakeSender, Outcome } from '../webhook-delivery/sender.ts';
import { slackCard } from './cards.ts';
import type { SlackAnswer, SlackApi } from './slack-api.ts';

function outcomeOf(answer: SlackAnswer): Outcome {
  if (answer.ok) return { kind: 'delivered' };
  const { error, retry_after_ms } = answer;
  return { kind: 'retry', error, after_ms: retry_after_ms };
}

/** Sends notices as cards of an app of Slack. */
export const makeSlackAppSender =
  (api: SlackApi): MakeSender =>
  ({ settings, workspace_id, receiver_id }) => {
    const stop = new AbortController();
    return {
      async send({ notice_id, kind, text, review }) {
        const subject =
          review === null ? null : { workspace_id, channel_id: receiver_id, decision_id: review.decision_id };
        const clickable = review ?? { allow: false, deny: false };
        const answer = await api.call(
          settings.bot_token ?? '',
          'chat.postMessage',
          {
            channel: settings.channel,
            ...slackCard(text, subject, clickable),
            // The same at every attempt: a notice that was posted twice differs from two notices.
            metadata: { event_type: 'purser_notice', event_payload: { notice_id, kind } },
          },
          stop.signal,
        );
        return outcomeOf(answer);
      },
      retire() {},
      close: () => stop.abort(),
    };
  };
