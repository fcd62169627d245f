import {
  cleanClaim,
  failingText,
  groupedMoney,
  limitText,
  plainText,
  requestText,
  summaryText,
} from '@purser/rules/notices/text';
import { describe, expect, test } from 'vitest';
import { renderHtml, renderText } from '../mail/letter.ts';
import { noticeLetter } from '../mail/mail-senders.ts';
import { decidedCard, shownName, slackCard } from '../slack/cards.ts';
import { signedNotice } from './signed-webhook.ts';
import { slackMessage } from './slack.ts';
import { teamsMessage } from './teams.ts';

const HOSTS = [
  'evil.example',
  'https://evil.example/login',
  'http://evil.example:8080/a?b=c#d',
  'HTTPS://EVIL.EXAMPLE',
  'www.evil.example',
  '127.0.0.1',
  'http://127.0.0.1/admin',
  'https://[2001:db8::1]/',
  'ftp://evil.example',
  'evil。example',
  'evil．example',
  'evil｡example',
  'еvil.example',
  'xn--vil-1pa.example',
  'münchen.example',
  'evil\u200b.example',
  'evil.\u200dexample',
  'ev\u00adil.exa\u2060mple',
  'https\u200b://evil.example',
  'https:\u200b//evil.example',
  'slack://channel?id=C0',
  'msteams:/l/chat/0/0?users=a@evil.example',
  'admin@evil.example',
  'mailto:admin@evil.example',
  'admin＠evil.example',
];
const WRAPPED: ((host: string) => string)[] = [
  (host) => host,
  (host) => `Approve here: ${host}, please.`,
  (host) => `<${host}|Approve>`,
  (host) => `[Approve](${host})`,
  (host) => `![x](${host})`,
  (host) => `<a href="${host}">Approve</a>`,
  (host) => `**${host}** _${host}_ ~${host}~ \`${host}\``,
  (host) => `line\n\n# ${host}\r\n> ${host}`,
];
const MENTIONS = [
  '<!channel> <!here> <!everyone>',
  '@channel @here @everyone',
  '<@U012AB3CD> <#C012AB3CD|general>',
  '<at>Ada Example</at>',
  '\u202eelpmaxe.live//:sptth\u202c',
  'A\u0000B\u0007C\u001b[31mD',
  'one\u2028two\u2029three\u0085four\u000bfive',
  '\ufeff\u2066hidden\u2069\u061c',
  'a\u{e0041}\u{e0042}\u{e007f}b',
  '\u3164\u115f\u1160\u2800',
  'x\ufe0f\ufe0ey\u034fz',
  '{"type":"mrkdwn","text":"<!channel>"}',
  '</script><script>alert(1)</script>',
  '#{7*7} {{7*7}} <%= 7*7 %>',
  'javascript:alert(1)',
  ':rotating_light: :white_check_mark: Allowed by Ada',
  '*bold* _italic_ ~strike~ `code` ```block```',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  'a'.repeat(2_000),
  '😀'.repeat(500),
  'e\u0301'.repeat(300),
];
const TEXTS = [...HOSTS.flatMap((host) => WRAPPED.map((wrap) => wrap(host))), ...MENTIONS];

const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\u2028\u2029]/u;
/** A name with dots, in any script and with any character that is read as a dot; an address; a scheme with slashes. */
const LINK = /[\p{L}\p{N}-][.\u3002\uff0e\uff61][\p{L}\p{N}]|[@\uff20]|:\/\//u;

const request = (text: string) =>
  requestText(
    'REQUESTED',
    {
      decision_id: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
      agent: 'infra-bot',
      amount_minor: 124_000,
      currency: 'EUR',
      reason_code: 'NEW_MERCHANT',
      expires_at: '2026-11-24T06:00:00.000Z',
      merchant: text,
      description: text,
    },
    { public_url: 'https://purser.example', show_claims: true },
  );

const SUBJECT = {
  workspace_id: 'ws_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
  channel_id: 'chn_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
  decision_id: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
};

/** Each string of a message, with the object that holds it. */
function strings(value: unknown, holder: Record<string, unknown> = {}): [string, Record<string, unknown>][] {
  if (typeof value === 'string') return [[value, holder]];
  if (typeof value !== 'object' || value === null) return [];
  const next = Array.isArray(value) ? holder : (value as Record<string, unknown>);
  return Object.values(value).flatMap((each) => strings(each, next));
}

test('there are two hundred of them, all different', () => {
  expect(new Set(TEXTS).size).toBeGreaterThanOrEqual(200);
});

describe.each(TEXTS.map((text) => [JSON.stringify(text).slice(0, 70), text]))('%s', (_name, text) => {
  const { claims, title, facts, link } = request(text);
  test('is neither a link nor a mention nor invisible, and short', () => {
    expect(claims).toHaveLength(2);
    for (const claim of claims) {
      expect(claim.text).not.toMatch(LINK);
      expect(claim.text).not.toMatch(INVISIBLE);
      expect(claim.text).toBe(claim.text.normalize('NFC'));
    }
    const merchant = claims[0]?.text ?? '';
    const unmarked = merchant.replaceAll('[.]', '.').replaceAll('(at)', '@').replaceAll(':/[/]', '://');
    expect([...unmarked].length).toBeLessThanOrEqual(80);
  });
  test('reaches Slack in plain_text alone, Teams in a TextRun alone', () => {
    const own = new Set([...claims.map((claim) => claim.text)].filter((claim) => claim !== ''));
    const holding = (message: object) =>
      strings(message).filter(([found]) => [...own].some((claim) => found.includes(claim)));
    for (const [, holder] of [
      ...holding(slackMessage({ title, facts, claims, link })),
      ...holding(slackCard({ title, facts, claims, link }, SUBJECT, { allow: true, deny: true })),
    ])
      expect(holder).toMatchObject({ type: 'plain_text', emoji: false });
    for (const [, holder] of holding(teamsMessage({ title, facts, claims, link })))
      expect(holder).toMatchObject({ type: 'TextRun' });
    if (own.size > 0) expect(holding(slackMessage({ title, facts, claims, link })).length).toBeGreaterThan(0);
    expect(Buffer.byteLength(JSON.stringify(teamsMessage({ title, facts, claims, link })))).toBeLessThan(
      20_000,
    );
  });
  test('changes neither the title nor the facts nor the link', () => {
    expect({ title, facts, link }).toEqual({
      title: 'EUR 1,240.00 requested by infra-bot waits for a review',
      facts: [
        { label: 'Cause', text: 'The agent has not paid this merchant, or this payee, before.' },
        { label: 'Expires', text: '2026-11-24 06:00 UTC' },
      ],
      link: {
        label: 'Open the request',
        url: 'https://purser.example/console/decisions/dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
      },
    });
    expect(slackMessage({ title, facts, claims, link })).toMatchObject({ text: title, unfurl_links: false });
  });
  test('adds no line to plain text', () => {
    expect(plainText(request(text)).split('\n')).toHaveLength(plainText(request('Shop')).split('\n').length);
  });
  test('is quoted and escaped in a mail, whose only link is ours, and in none of its headers', () => {
    const letter = noticeLetter({ title, facts, claims, link }, 'https://purser.example/console/me');
    expect(letter.subject).toBe(title);
    const html = renderHtml(letter);
    expect(html.match(/<[^<>]*\b(?:href|src|action)=/g)).toHaveLength(1);
    expect(html).toContain(`href="${link.url}"`);
    const plain_html = renderHtml(noticeLetter(request('Shop'), 'https://purser.example/console/me'));
    expect(html.match(/</g)?.length, 'no element of theirs').toBe(plain_html.match(/</g)?.length);
    const own = new Set(
      renderText(noticeLetter(request('Shop'), 'https://purser.example/console/me')).split('\n'),
    );
    const theirs = renderText(letter)
      .split('\n')
      .filter((each) => !own.has(each));
    expect(theirs.filter((each) => !each.startsWith('> '))).toEqual([]);
  });
  test('is harmless in Slack as the name of who decided', () => {
    const named = shownName(text);
    const card = decidedCard({ title, facts, claims, link }, `Allowed by ${named}`);
    const holders = strings(card).filter(([found]) => found === `Allowed by ${named}`);
    expect(holders).toMatchObject([[expect.any(String), { type: 'plain_text', emoji: false }]]);
    expect(card).toMatchObject({ text: title });
    expect(named).not.toMatch(LINK);
    expect(named).not.toMatch(INVISIBLE);
  });
  test('is harmless as the name of a channel or limit too', () => {
    const since = '2026-11-24T06:00:00.000Z';
    const failing = failingText(
      { name: text, failing_since: since, error: 'timeout' },
      'https://purser.example',
    );
    const limit = limitText({ percent: 80, name: text, agent: null }, 'https://purser.example');
    for (const { claims } of [failing, limit]) {
      expect(claims[0]?.text).not.toMatch(LINK);
      expect(claims[0]?.text).not.toMatch(INVISIBLE);
    }
  });
});

describe('words that are harmless stay as they are', () => {
  test.each([
    'Node 20.19 in 3.5 GB',
    'Hetzner Online GmbH',
    'Überweisung an Zoë, 1.240 €',
    'Wait... what?',
    'C++ & C#',
  ])('%s', (text) => expect(cleanClaim(text, 200)).toBe(text));
  test('a longer text ends in an ellipsis, at a whole character', () => {
    expect(cleanClaim('😀'.repeat(300), 200)).toBe(`${'😀'.repeat(199)}…`);
  });
});

test('amounts have groups and the digits of their currency', () => {
  expect([
    groupedMoney(124_000, 'EUR'),
    groupedMoney(5, 'USD'),
    groupedMoney(1_234_567_890, 'JPY'),
    groupedMoney(1_234_567, 'KWD'),
    groupedMoney(Number.MAX_SAFE_INTEGER, 'EUR'),
  ]).toEqual(['EUR 1,240.00', 'USD 0.05', 'JPY 1,234,567,890', 'KWD 1,234.567', 'EUR 90,071,992,547,409.91']);
});

test('a summary names at most five agents', () => {
  const summed = {
    count: 7,
    agents: ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
    amounts: [
      { currency: 'EUR', amount_minor: 420_000 },
      { currency: 'JPY', amount_minor: 1_000 },
    ],
    expires_at: '2026-11-24T06:00:00.000Z',
  };
  const { title, facts } = summaryText('SUMMARY', summed, 'https://purser.example');
  expect(title).toBe('7 more requests wait for a review');
  expect(facts.map(({ text }) => text)).toEqual([
    'a, b, c, d, e, 2 more',
    'EUR 4,200.00, JPY 1,000',
    '2026-11-24 06:00 UTC',
  ]);
});

test('a signed webhook is JSON with the title and the facts', () => {
  const notice = {
    notice_id: 'ntc_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
    kind: 'REQUESTED' as const,
    created_at: '2026-11-24T05:00:00.000Z',
    text: request('Shop'),
    review: null,
    data: { agent: 'infra-bot' },
  };
  const { headers, body } = signedNotice(
    notice,
    `whsec_${Buffer.alloc(32).toString('base64')}`,
    1_795_500_000_999,
  );
  expect(JSON.parse(body)).toEqual({
    type: 'review.requested',
    timestamp: notice.created_at,
    data: { title: notice.text.title, agent: 'infra-bot' },
  });
  expect(headers).toMatchObject({ 'webhook-id': notice.notice_id, 'webhook-timestamp': '1795500000' });
});
