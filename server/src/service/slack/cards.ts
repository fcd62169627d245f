import { cleanClaim, type NoticeText } from '@purser/rules/notices/text';
import type { Clickable } from '@purser/rules/reviews/clickable';
import { slackMessage } from '../notices/slack.ts';

/** The buttons under a card, by `action_id`. */
export const BUTTONS = { purser_allow: 'ALLOW', purser_deny: 'DENY', purser_open: null } as const;

/** The request that a card's buttons are about, and the channel that it was posted to. */
export interface CardSubject {
  workspace_id: string;
  channel_id: string;
  decision_id: string;
}

const VALUE = /^(ws_[0-9A-HJKMNP-TV-Z]{26})\/(chn_[0-9A-HJKMNP-TV-Z]{26})\/(dec_[0-9A-HJKMNP-TV-Z]{26})$/;

/** The subject as the value of a button. */
export const buttonValue = ({ workspace_id, channel_id, decision_id }: CardSubject): string =>
  `${workspace_id}/${channel_id}/${decision_id}`;

/** Reads the value of a button; null if it is none of ours. */
export function subjectOf(value: unknown): CardSubject | null {
  const [, workspace_id, channel_id, decision_id] = VALUE.exec(typeof value === 'string' ? value : '') ?? [];
  if (workspace_id === undefined || channel_id === undefined || decision_id === undefined) return null;
  return { workspace_id, channel_id, decision_id };
}

const MAX_NAME = 80;
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });

/** Clicking cannot be undone, so both ask. */
const asking = (action: 'Allow' | 'Deny', title: string) => ({
  title: plain(`${action} this request?`),
  text: plain(`${title}. Your review is final.`.slice(0, 300)),
  confirm: plain(action),
  deny: plain('Cancel'),
});

const button = (action_id: string, text: string, more: object) => ({
  type: 'button',
  action_id,
  text: plain(text),
  ...more,
});

/** A notice as a card: the message of every channel in Slack, with buttons instead of its link. */
export function slackCard(text: NoticeText, subject: CardSubject | null, clickable: Clickable): object {
  const message = slackMessage(text) as { blocks: object[] };
  const value = subject === null ? {} : { value: buttonValue(subject) };
  const elements = [
    ...(subject !== null && clickable.allow
      ? [
          button('purser_allow', 'Allow', {
            ...value,
            style: 'primary',
            confirm: asking('Allow', text.title),
          }),
        ]
      : []),
    ...(subject !== null && clickable.deny
      ? [button('purser_deny', 'Deny', { ...value, style: 'danger', confirm: asking('Deny', text.title) })]
      : []),
    button('purser_open', text.link.label, { url: text.link.url }),
  ];
  return { ...message, blocks: [...message.blocks.slice(0, -1), { type: 'actions', elements }] };
}

/** A name that people gave themselves, harmless in a message. */
export const shownName = (name: string): string => cleanClaim(name, MAX_NAME);

/** The card of a request that is decided: `outcome` replaces its buttons. */
export function decidedCard(text: NoticeText, outcome: string): object {
  const message = slackMessage(text) as { blocks: object[] };
  const said = { type: 'section', text: plain(outcome) };
  const open = {
    type: 'actions',
    elements: [button('purser_open', text.link.label, { url: text.link.url })],
  };
  return { ...message, blocks: [...message.blocks.slice(0, -1), said, open] };
}

/** A message that one person sees. `url` is shown as a link of its own, so that nothing else of the text becomes one. */
export function whisper(text: string, link?: { label: string; url: string }): object {
  const section = (element: object) => ({
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements: [element] }],
  });
  return {
    text,
    blocks: [
      section({ type: 'text', text }),
      ...(link === undefined ? [] : [section({ type: 'link', url: link.url, text: link.label })]),
    ],
  };
}
