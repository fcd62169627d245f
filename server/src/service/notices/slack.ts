import type { NoticeLine, NoticeText } from '@purser/rules/notices/text';

/** Slack's longest field of a section. */
const MAX_FIELD = 2_000;

const plain = (text: string) => ({ type: 'plain_text', text: text.slice(0, MAX_FIELD), emoji: false });
const field = ({ label, text }: NoticeLine) => plain(`${label}\n${text}`);
const richText = (element: object) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [element] }],
});

/**
 * A notice as the body of a post to an incoming webhook of Slack. The agent's words are in `plain_text` alone, where Slack
 * reads neither markup nor mentions; the fallback `text`, which it does read, has the title only.
 */
export function slackMessage({ title, facts, claims, link }: NoticeText): object {
  return {
    text: title,
    blocks: [
      richText({ type: 'text', text: title, style: { bold: true } }),
      ...(facts.length === 0 ? [] : [{ type: 'section', fields: facts.map(field) }]),
      ...claims.map((claim) => ({ type: 'section', text: field(claim) })),
      richText({ type: 'link', url: link.url, text: link.label }),
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}
