import type { NoticeLine, NoticeText } from '@purser/rules/notices/text';

/** Only a TextRun is shown as it is; a TextBlock or a fact would be read as Markdown. */
const run = (text: string, style: object = {}) => ({ type: 'TextRun', text, ...style });
const line = ({ label, text }: NoticeLine) => ({
  type: 'RichTextBlock',
  inlines: [run(`${label}: `, { weight: 'Bolder' }), run(text)],
});

/** A notice as the body of a post to a workflow of Microsoft Teams: a message with one adaptive card. */
export function teamsMessage({ title, facts, claims, link }: NoticeText): object {
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'RichTextBlock', inlines: [run(title, { weight: 'Bolder', size: 'Medium' })] },
            ...[...facts, ...claims].map(line),
          ],
          actions: [{ type: 'Action.OpenUrl', title: link.label, url: link.url }],
        },
      },
    ],
  };
}
