import { expect, test } from 'vitest';
import { notificationsOf, withSeen } from './browser-notifications.ts';

const row = (number: number, given: object = {}) => ({
  decision_id: `dec_0${number}`,
  agent: { id: 'agt_1', slug: 'infra-bot' },
  merchant: 'Hetzner Online',
  amount_minor: 124_000,
  currency: 'EUR',
  reason_code: 'REVIEW_THRESHOLD_EXCEEDED' as const,
  created_at: `2026-11-27T08:00:0${number}.000Z`,
  may_allow: true,
  ...given,
});

test('each new request that the person may allow is one notification, oldest first', () => {
  const rows = [row(4), row(3), row(2, { may_allow: false }), row(1)];
  expect(notificationsOf(rows, withSeen([row(1)], null))).toMatchObject([
    {
      tag: 'dec_03',
      title: 'EUR 1,240.00 needs review · infra-bot',
      body: 'Over the review threshold. Hetzner Online',
      decision_id: 'dec_03',
    },
    { tag: 'dec_04' },
  ]);
  expect(notificationsOf(rows, withSeen(rows, withSeen([row(1)], null)))).toEqual([]);
  expect(notificationsOf([row(1)], withSeen([], null)), 'the first one of all').toHaveLength(1);
  expect(notificationsOf([row(1)], withSeen([row(2)], null)), 'an older one returns to the list').toEqual([]);
});

test('many new requests are one notification', () => {
  const rows = [5, 4, 3, 2].map((number) => row(number));
  expect(notificationsOf(rows, withSeen([row(1)], null))).toEqual([
    { tag: 'purser-summary-dec_05', title: '4 requests need review', body: 'Purser', decision_id: null },
  ]);
});

test('a merchant is cut, and hides nothing', () => {
  const [one] = notificationsOf(
    [row(1, { merchant: `Het\u202ezner ${'x'.repeat(200)}` })],
    withSeen([], null),
  );
  expect(one?.body).toContain('Het[U+202E]zner');
  expect(one?.body.length).toBeLessThan(140);
});
