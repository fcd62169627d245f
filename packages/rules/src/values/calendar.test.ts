import { CALENDAR_WINDOWS } from '@purser/contract/calendar';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calendarWindow, isTimeZone, wallClock, wallClockReachedMs } from './calendar.ts';

const at = (iso: string) => Date.parse(iso);
const shown = ({ starts_ms, ends_ms }: { starts_ms: number; ends_ms: number }) => [
  new Date(starts_ms).toISOString(),
  new Date(ends_ms).toISOString(),
];

describe('a window of a calendar', () => {
  test.each([
    [
      'a day of 23 hours',
      'DAY',
      'Europe/Berlin',
      '2026-03-29T12:00:00Z',
      '2026-03-28T23:00',
      '2026-03-29T22:00',
    ],
    [
      'a day of 25 hours',
      'DAY',
      'Europe/Berlin',
      '2026-10-25T12:00:00Z',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
    ],
    [
      'a skipped midnight',
      'DAY',
      'Africa/Cairo',
      '2026-04-23T22:00:00Z',
      '2026-04-23T22:00',
      '2026-04-24T21:00',
    ],
    ['before it', 'DAY', 'Africa/Cairo', '2026-04-23T21:59:59Z', '2026-04-22T22:00', '2026-04-23T22:00'],
    [
      'a midnight that comes twice',
      'DAY',
      'America/Havana',
      '2026-11-01T05:00:00Z',
      '2026-11-01T04:00',
      '2026-11-02T05:00',
    ],
    [
      'the first of the two',
      'DAY',
      'America/Havana',
      '2026-11-01T04:00:00Z',
      '2026-11-01T04:00',
      '2026-11-02T05:00',
    ],
    ['a week from Monday', 'WEEK', 'UTC', '2026-11-22T23:59:59Z', '2026-11-16T00:00', '2026-11-23T00:00'],
    [
      'a month of a zone',
      'MONTH',
      'Europe/Berlin',
      '2026-10-31T22:59:59Z',
      '2026-09-30T22:00',
      '2026-10-31T23:00',
    ],
    [
      'the month after',
      'MONTH',
      'Europe/Berlin',
      '2026-10-31T23:00:00Z',
      '2026-10-31T23:00',
      '2026-11-30T23:00',
    ],
  ] as const)('%s', (_name, window, zone, moment, starts, ends) => {
    expect(shown(calendarWindow(window, zone, at(moment)))).toEqual([`${starts}:00.000Z`, `${ends}:00.000Z`]);
  });

  test('holds its moment, and the next begins where it ends', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const moments = fc.integer({ min: at('2020-01-01'), max: at('2040-01-01') });
    fc.assert(
      fc.property(zones, moments, fc.constantFrom(...CALENDAR_WINDOWS), (zone, ms, window) => {
        const { starts_ms, ends_ms } = calendarWindow(window, zone, ms);
        expect(starts_ms).toBeLessThanOrEqual(ms);
        expect(ends_ms).toBeGreaterThan(ms);
        expect(calendarWindow(window, zone, ends_ms).starts_ms).toBe(ends_ms);
        expect(calendarWindow(window, zone, starts_ms - 1).ends_ms).toBe(starts_ms);
      }),
    );
  });
});

test('clocks show the day and the minute of their zone', () => {
  expect(wallClock('Europe/Berlin', at('2026-11-22T23:10:59Z'))).toEqual({ weekday: 'MON', minute: 10 });
  expect(wallClock('America/New_York', at('2026-11-23T04:59:00Z'))).toEqual({ weekday: 'SUN', minute: 1439 });
});

test('a time that clocks skip is reached where they go on, and one that comes twice at its first', () => {
  const reached = (iso: string, days: number, minute: number) =>
    new Date(wallClockReachedMs('Europe/Berlin', at(iso), days, minute)).toISOString();
  expect(reached('2026-03-28T12:00:00Z', 1, 150)).toBe('2026-03-29T01:00:00.000Z');
  expect(reached('2026-10-24T12:00:00Z', 1, 150)).toBe('2026-10-25T00:30:00.000Z');
  expect(reached('2026-11-21T22:10:00Z', 2, 480)).toBe('2026-11-23T07:00:00.000Z');
});

test.each([
  ['Europe/Berlin', true],
  ['Asia/Kolkata', true],
  ['Asia/Calcutta', true],
  ['UTC', true],
  ['europe/berlin', false],
  ['utc', false],
  ['+01:00', false],
  ['Mars/Olympus', false],
  ['', false],
])('%j is a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
