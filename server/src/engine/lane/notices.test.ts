import type { Decision } from '@purser/contract/decisions';
import type { Notice } from '@purser/rules/notices/channels';
import type { NoticeRecipient } from '@purser/rules/notices/recipients';
import { makeIdsAt } from '@purser/rules/values/ids';
import { describe, expect, test } from 'vitest';
import type { NoticeBurst } from '../storage/notices/notices.ts';
import { afterQuietHours, Notices } from './notices.ts';

const at = (iso: string) => Date.parse(iso);
const shown = (time_ms: number) => new Date(time_ms).toISOString();

describe('quiet hours', () => {
  const nights = { time_zone: 'Europe/Berlin', from: '22:00', to: '08:00' };
  test.each([
    ['in the evening', nights, '2026-11-24T21:30:00Z', '2026-11-25T07:00:00.000Z'],
    ['after midnight', nights, '2026-11-25T03:00:00Z', '2026-11-25T07:00:00.000Z'],
    ['by day', nights, '2026-11-25T12:00:00Z', '2026-11-25T12:00:00.000Z'],
    ['at their first moment', nights, '2026-11-24T21:00:00Z', '2026-11-25T07:00:00.000Z'],
    ['at their end', nights, '2026-11-25T07:00:00Z', '2026-11-25T07:00:00.000Z'],
    ['as clocks are set forward', nights, '2026-03-28T22:00:00Z', '2026-03-29T06:00:00.000Z'],
    ['as clocks are set back', nights, '2026-10-24T21:00:00Z', '2026-10-25T07:00:00.000Z'],
    [
      'into a skipped hour',
      { ...nights, from: '22:00', to: '02:30' },
      '2026-03-28T22:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'on other days',
      { ...nights, days: ['SAT' as const] },
      '2026-11-24T21:30:00Z',
      '2026-11-24T21:30:00.000Z',
    ],
    [
      'over a weekend',
      { time_zone: 'UTC', from: '00:00', to: '24:00', days: ['SAT' as const, 'SUN' as const] },
      '2026-11-28T09:00:00Z',
      '2026-11-30T00:00:00.000Z',
    ],
    [
      'that never end',
      { time_zone: 'UTC', from: '00:00', to: '24:00' },
      '2026-11-28T09:00:00Z',
      '2026-11-28T09:00:00.000Z',
    ],
  ])('%s', (_name, hours, due, sent) => {
    expect(shown(afterQuietHours(hours, at(due), null))).toBe(sent);
  });
  test('do not hold a notice of a request that expires before they end', () => {
    const due_ms = at('2026-11-24T21:30:00Z');
    expect(afterQuietHours(nights, due_ms, at('2026-11-25T06:59:00Z'))).toBe(due_ms);
    expect(afterQuietHours(nights, due_ms, at('2026-11-25T07:00:01Z'))).toBe(at('2026-11-25T07:00:00Z'));
  });
});

const NOW = '2026-11-24T05:00:20.000Z';
const EXPIRES = '2026-11-25T05:00:00.000Z';
const recipient = (id: string, more: Partial<NoticeRecipient> = {}): NoticeRecipient => ({
  recipient_id: id,
  name: id,
  filter: null,
  quiet_hours: null,
  ...more,
});
const NO_MORE = { remind_before_seconds: null, escalates_at: null };
let count = 0;
function decision(agent = 'a', amount_minor = 1_000): Decision {
  count += 1;
  return {
    decision_id: `dec_${count}`,
    agent: { id: `agt_${agent}`, slug: agent },
    currency: 'EUR',
    requested_amount_minor: amount_minor,
    reason_codes: ['NEW_MERCHANT'],
    reservation: { expires_at: EXPIRES },
  } as unknown as Decision;
}
function batch(
  recipients: readonly NoticeRecipient[],
  bursts: readonly NoticeBurst[] = [],
  now = NOW,
): { notices: Notices; queued: Notice[]; made: () => [string, string, string, string][] } {
  const queued: Notice[] = [];
  const notices = new Notices({
    now_ms: at(now),
    order_ms: at(now),
    newId: makeIdsAt(at(now), Math.random),
    bursts,
    recipients: () => recipients,
    people: [],
    last_digests: [],
    enqueue: (notice) => queued.push(notice),
  });
  const made = () =>
    queued.map(({ kind, recipient_id, decision_id, due_at }): [string, string, string, string] => [
      kind,
      recipient_id,
      decision_id ?? '',
      due_at,
    ]);
  return { notices, queued, made };
}

describe('the notices of requests', () => {
  test('go to each recipient whose filter matches, by slug or id of the agent', () => {
    const { notices, made } = batch([
      recipient('all'),
      recipient('slug', { filter: { agents: ['a'] } }),
      recipient('id', { filter: { agents: ['agt_a'], currency: 'EUR', from_minor: 1_000 } }),
      recipient('other', { filter: { agents: ['b'] } }),
      recipient('large', { filter: { from_minor: 1_001 } }),
      recipient('dollars', { filter: { currency: 'USD' } }),
      recipient('reason', { filter: { reasons: ['NEW_MERCHANT', 'DUPLICATE_SPEND'] } }),
      recipient('no reason', { filter: { reasons: ['DUPLICATE_SPEND'] } }),
    ]);
    notices.requested(decision(), NO_MORE);
    expect(made().map(([, id]) => id)).toEqual(['all', 'slug', 'id', 'reason']);
  });

  test('are due at once, before the expiry and at the escalation, as the review policy says', () => {
    const { notices, made } = batch([recipient('c')]);
    const asked = decision();
    notices.requested(asked, { remind_before_seconds: 3_600, escalates_at: '2026-11-24T06:00:20.000Z' });
    expect(made()).toEqual([
      ['REQUESTED', 'c', asked.decision_id, NOW],
      ['REMINDER', 'c', asked.decision_id, '2026-11-25T04:00:00.000Z'],
      ['ESCALATED', 'c', asked.decision_id, '2026-11-24T06:00:20.000Z'],
    ]);
  });

  test('have no reminder where its time has passed already', () => {
    const { notices, made } = batch([recipient('c')]);
    notices.requested(decision(), { remind_before_seconds: 100_000, escalates_at: null });
    expect(made().map(([kind]) => kind)).toEqual(['REQUESTED']);
  });

  test('from the sixth of an agent in a minute on are one summary for each recipient, over batches', () => {
    const recipients = [recipient('c'), recipient('d')];
    const first = batch(recipients);
    for (let i = 0; i < 4; i++) first.notices.requested(decision(), NO_MORE);
    first.notices.requested(decision('b'), NO_MORE);
    expect(first.made().filter(([kind]) => kind === 'REQUESTED')).toHaveLength(10);
    const second = batch(recipients, [...first.notices.changes.bursts.values()], '2026-11-24T05:00:40.000Z');
    for (let i = 0; i < 100; i++) second.notices.requested(decision(), NO_MORE);
    expect(second.made().filter(([kind]) => kind === 'REQUESTED')).toHaveLength(2);
    expect(second.made().filter(([kind]) => kind === 'SUMMARY')).toEqual([
      ['SUMMARY', 'c', '', '2026-11-24T05:01:05.000Z'],
      ['SUMMARY', 'd', '', '2026-11-24T05:01:05.000Z'],
    ]);
    // Another agent's summary of the same minute is the same one.
    const third = batch(recipients, [], '2026-11-24T05:00:50.000Z');
    for (let i = 0; i < 6; i++) third.notices.requested(decision('b'), NO_MORE);
    const ids = (queued: readonly Notice[]) =>
      queued.flatMap(({ kind, notice_id }) => (kind === 'SUMMARY' ? [notice_id] : []));
    expect(ids(third.queued)).toEqual(ids(second.queued));
    const later = batch(recipients, [...second.notices.changes.bursts.values()], '2026-11-24T05:01:00.000Z');
    later.notices.requested(decision(), NO_MORE);
    expect(later.made().map(([kind]) => kind)).toEqual(['REQUESTED', 'REQUESTED']);
  });

  test('of the reminder and escalation join summaries too', () => {
    const { notices, made } = batch([recipient('c')]);
    const times = { remind_before_seconds: 3_600, escalates_at: '2026-11-24T06:00:20.000Z' };
    for (let i = 0; i < 20; i++) notices.requested(decision(), times);
    expect(made().filter(([kind]) => kind === 'SUMMARY')).toEqual([
      ['SUMMARY', 'c', '', '2026-11-24T05:01:05.000Z'],
      ['SUMMARY', 'c', '', '2026-11-25T04:01:00.000Z'],
      ['SUMMARY', 'c', '', '2026-11-24T06:01:00.000Z'],
    ]);
  });
});

test('a failing channel is reported to the others under an id that follows from its failures', () => {
  const failing = { channel_id: 'c', name: 'C' };
  const [one, again] = [0, 1].map(() => {
    const { notices, queued } = batch([recipient('c'), recipient('d'), recipient('e')]);
    notices.failing(failing, '2026-11-24T04:00:00.000Z', 'timeout');
    return queued.map(({ notice_id, recipient_id, kind }) => [notice_id, recipient_id, kind]);
  });
  expect(one?.map(([, id, kind]) => [id, kind])).toEqual([
    ['d', 'FAILING'],
    ['e', 'FAILING'],
  ]);
  expect(again).toEqual(one);
});
