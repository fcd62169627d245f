import type { Channel } from '@purser/sdk';
import { describe, expect, test } from 'vitest';
import {
  channelDraft,
  channelFields,
  channelProblems,
  filterOf,
  filterWords,
  quietHoursOf,
  quietWords,
} from './channels.ts';

const CHANNEL: Channel = {
  id: 'chn_1',
  name: 'Finance',
  type: 'email',
  status: 'active',
  target: 'a@example.com, b@example.com',
  filter: { agents: ['shop'], currency: 'EUR', from_minor: 124_000, reasons: ['NEW_MERCHANT'] },
  quiet_hours: { time_zone: 'Europe/Berlin', from: '19:00', to: '08:00', days: ['SAT', 'SUN'] },
  show_claims: false,
  health: { state: 'HEALTHY', last_success_at: null, failing_since: null, last_error: null },
  created_at: '2026-11-24T06:00:00.000Z',
  updated_at: '2026-11-24T06:00:00.000Z',
};

test('a channel that is opened and saved unchanged stays as it is', () => {
  const draft = channelDraft(CHANNEL, 'UTC');
  expect(channelProblems(draft, false)).toEqual({});
  expect(filterOf(draft)).toEqual(CHANNEL.filter);
  expect(quietHoursOf(draft)).toEqual(CHANNEL.quiet_hours);
  expect(channelFields(draft)).toEqual({
    name: 'Finance',
    addresses: ['a@example.com', 'b@example.com'],
    show_claims: false,
  });
});

test('a new channel has no filter and no quiet hours, and needs a name and an address', () => {
  const draft = channelDraft(null, 'Europe/Berlin');
  expect([filterOf(draft), quietHoursOf(draft)]).toEqual([null, null]);
  expect(Object.keys(channelProblems(draft, true))).toEqual(['name', 'url']);
  expect(Object.keys(channelProblems({ ...draft, type: 'email' }, true))).toEqual(['name', 'addresses']);
});

describe('what is typed wrong is named before it is sent', () => {
  const draft = { ...channelDraft(CHANNEL, 'UTC') };
  test.each([
    ['from', { currency: '' }],
    ['from', { from: 'much' }],
    ['currency', { currency: 'euro', from: '' }],
    ['quiet_from', { quiet_from: '25:00' }],
    ['quiet_to', { quiet_to: '8' }],
    ['quiet_days', { quiet_days: '' }],
    ['quiet_zone', { quiet_zone: 'Nowhere' }],
  ])('%s', (field, change) => {
    expect(Object.keys(channelProblems({ ...draft, ...change }, false))).toEqual([field]);
  });
});

test('filters and quiet hours have words', () => {
  expect(filterWords(null)).toBe('All requests');
  expect(filterWords(CHANNEL.filter)).toBe('shop; from EUR 1,240.00; New merchant');
  expect(quietWords(null)).toBe('None');
  expect(quietWords(CHANNEL.quiet_hours)).toBe('19:00–08:00, Sat Sun (Europe/Berlin)');
});
