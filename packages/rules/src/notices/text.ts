import { formatMoney } from '@purser/contract/money';
import { REASONS, type ReasonCode } from '@purser/contract/reasons';

/** A line of a notice: a fact, and its name. */
export interface NoticeLine {
  label: string;
  text: string;
}

/**
 * A message in the words of every channel. `title` and `facts` have the service's words, amounts, times and slugs only.
 * `claims` are the agent's words, cleaned by `cleanClaim`: a channel shows them where it reads neither markup nor mentions.
 */
export interface NoticeText {
  title: string;
  facts: readonly NoticeLine[];
  claims: readonly NoticeLine[];
  /** Where a person can act on it. */
  link: { label: string; url: string };
}

/** The longest claims, in code points. */
const MAX_MERCHANT = 80;
const MAX_DESCRIPTION = 200;
/** Names of channels and limits, which members of the workspace give. */
const MAX_NAME = 80;

/** Control, format, private and unassigned characters, those that are shown as nothing, and the blank Braille pattern. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{C}\u2800]/gu;
/** Every character that resolvers of names read as a dot, and others that look like one. */
const DOT = '[.\\u3002\\uff0e\\uff61\\u2024\\ufe52]';
const NAME_DOT = new RegExp(`(?<=[^\\s.])${DOT}(?=[^\\s.])`, 'gu');
/** Numbers with decimals or thousands keep their dots; addresses of four numbers do not. */
const DECIMAL = /^[^\p{L}]?[+-]?\d{1,3}(?:[.,]\d+)?[^\p{L}\d]*$/u;

function isDecimal(word: string): boolean {
  return DECIMAL.test(word) && word.split('.').length === 2;
}

/**
 * Makes text of others harmless in a message: NFC, without invisible characters and line breaks, at most `max` code points,
 * and without anything that a program reads as a host name, address or mention. Dots in names become `[.]`, `@` becomes
 * `(at)`, and `://` becomes `:/[/]`.
 */
export function cleanClaim(text: string, max: number): string {
  const seen = text
    .normalize('NFC')
    .replace(/[\s\u0085]+/gu, ' ')
    .replace(UNSEEN, '')
    .normalize('NFC')
    .trim()
    .replace(/ {2,}/g, ' ');
  const points = [...seen];
  const short =
    points.length <= max
      ? seen
      : `${points
          .slice(0, max - 1)
          .join('')
          .trimEnd()}…`;
  return short
    .split(' ')
    .map((word) => (isDecimal(word) ? word : word.replace(NAME_DOT, '[.]')))
    .join(' ')
    .replace(/[:\ufe13\ufe55\uff1a]\s?[/\u2044\u2215\uff0f]{2}/gu, ':/[/]')
    .replace(/[@\ufe6b\uff20]/gu, '(at)');
}

/** An amount for people, with groups: "EUR 1,240.00". */
export function groupedMoney(amount_minor: number, currency: string): string {
  const [code, digits = ''] = formatMoney(amount_minor, currency).split(' ');
  const [whole = '', ...fraction] = digits.split('.');
  return `${code} ${[whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.')}`;
}

/** A moment in UTC, to the minute: "2026-11-24 06:00 UTC". */
export function utcMinute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** The facts of a request that a notice has. */
export interface RequestFacts {
  decision_id: string;
  /** The slug. */
  agent: string;
  amount_minor: number;
  currency: string;
  reason_code: ReasonCode;
  expires_at: string | null;
  merchant: string;
  description: string | null;
}

const TITLES = {
  REQUESTED: 'waits for a review',
  REMINDER: 'still waits for a review and expires soon',
  ESCALATED: 'was not decided in time and waits for your review',
  ASSIGNED: 'was assigned to you',
} as const;
/** The kinds of notices about one request. */
export type RequestKind = keyof typeof TITLES;

/** The page of a decision. `public_url` has no slash at its end. */
export function decisionUrl(public_url: string, decision_id: string): string {
  return `${public_url}/console/decisions/${decision_id}`;
}

/** The text of a notice about one request. Without `show_claims` the description is left out. */
export function requestText(
  kind: RequestKind,
  facts: RequestFacts,
  { public_url, show_claims }: { public_url: string; show_claims: boolean },
): NoticeText {
  const { agent, amount_minor, currency, reason_code, expires_at, merchant, description } = facts;
  const is_described = show_claims && description !== null && description !== '';
  return {
    title: `${groupedMoney(amount_minor, currency)} requested by ${agent} ${TITLES[kind]}`,
    facts: [
      { label: 'Cause', text: REASONS[reason_code].meaning },
      ...(expires_at === null ? [] : [{ label: 'Expires', text: utcMinute(expires_at) }]),
    ],
    claims: [
      { label: 'Merchant, as the agent names it', text: cleanClaim(merchant, MAX_MERCHANT) },
      ...(is_described ? [{ label: 'The agent says', text: cleanClaim(description, MAX_DESCRIPTION) }] : []),
    ],
    link: { label: 'Open the request', url: decisionUrl(public_url, facts.decision_id) },
  };
}

/** The requests that a SUMMARY or DIGEST counts. */
export interface SummedRequests {
  count: number;
  /** Slugs. */
  agents: readonly string[];
  amounts: readonly { currency: string; amount_minor: number }[];
  /** The first expiry among them. */
  expires_at: string | null;
}

const MAX_AGENTS = 5;

/** The text of a SUMMARY or DIGEST. */
export function summaryText(
  kind: 'SUMMARY' | 'DIGEST',
  summed: SummedRequests,
  public_url: string,
): NoticeText {
  const { count, agents, amounts, expires_at } = summed;
  const others = agents.length - MAX_AGENTS;
  const named = [...agents.slice(0, MAX_AGENTS), ...(others > 0 ? [`${others} more`] : [])].join(', ');
  const more = kind === 'SUMMARY' ? ' more' : '';
  return {
    title: count === 1 ? `1${more} request waits for a review` : `${count}${more} requests wait for a review`,
    facts: [
      { label: count === 1 ? 'Agent' : 'Agents', text: named },
      {
        label: 'Amounts',
        text: amounts.map(({ currency, amount_minor }) => groupedMoney(amount_minor, currency)).join(', '),
      },
      ...(expires_at === null ? [] : [{ label: 'First expires', text: utcMinute(expires_at) }]),
    ],
    claims: [],
    link: { label: 'Open the inbox', url: `${public_url}/console/reviews` },
  };
}

/** A limit whose usage reached a percentage. */
export interface ReachedLimit {
  percent: number;
  /** The name of the limit or budget. */
  name: string;
  /** The slug of the agent that it limits; null: several agents share it. */
  agent: string | null;
}

/** The text of a LIMIT notice. */
export function limitText({ percent, name, agent }: ReachedLimit, public_url: string): NoticeText {
  return {
    title: `Usage reached ${percent} percent of a ${agent === null ? 'shared budget' : `limit of ${agent}`}`,
    facts: [],
    claims: [{ label: 'Limit', text: cleanClaim(name, MAX_NAME) }],
    link: {
      label: agent === null ? 'Open the budgets' : 'Open the agent',
      url: agent === null ? `${public_url}/console/budgets` : `${public_url}/console/agents/${agent}`,
    },
  };
}

/** The text of a FAILING notice; `error` is a code. */
export function failingText(
  { name, failing_since, error }: { name: string; failing_since: string; error: string },
  public_url: string,
): NoticeText {
  return {
    title: 'A channel does not receive its notices',
    facts: [
      { label: 'Since', text: utcMinute(failing_since) },
      { label: 'Last error', text: error },
    ],
    claims: [{ label: 'Channel', text: cleanClaim(name, MAX_NAME) }],
    link: { label: 'Open the channels', url: `${public_url}/console/notifications` },
  };
}

/** The text of a TEST notice. */
export function testText(public_url: string): NoticeText {
  return {
    title: 'This is a test of the channel',
    facts: [{ label: 'Result', text: 'The channel receives notices.' }],
    claims: [],
    link: { label: 'Open the channels', url: `${public_url}/console/notifications` },
  };
}

/** A notice as plain text: for the text part of a mail, and for terminals. */
export function plainText({ title, facts, claims, link }: NoticeText): string {
  const lines = [...facts, ...claims].map(({ label, text }) => `${label}: ${text}`);
  return [title, '', ...lines, '', `${link.label}: ${link.url}`, ''].join('\n');
}
