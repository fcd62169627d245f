import type { ActiveHours } from '@purser/contract/authority';
import { WEEKDAYS } from '@purser/contract/calendar';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isActive, nextActiveMs } from './active-hours.ts';

const at = (iso: string) => Date.parse(iso);
const office: ActiveHours[] = [{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '08:00', to: '18:00' }];

describe('hours of a time zone', () => {
  test.each([
    ['the last second before they end', office, '2026-11-20T16:59:59Z', true],
    ['their end', office, '2026-11-20T17:00:00Z', false],
    ['a day that is not among them', office, '2026-11-21T11:00:00Z', false],
    [
      'a night that began the day before',
      [{ days: ['FRI'], from: '22:00', to: '06:00' }],
      '2026-11-21T04:59:59Z',
      true,
    ],
    ['its end', [{ days: ['FRI'], from: '22:00', to: '06:00' }], '2026-11-21T05:00:00Z', false],
    [
      'a night that begins on a day that is not among them',
      [{ days: ['FRI'], from: '22:00', to: '06:00' }],
      '2026-11-21T22:00:00Z',
      false,
    ],
    ['the end of a day', [{ days: ['SUN'], from: '20:00', to: '24:00' }], '2026-11-22T22:59:59Z', true],
  ] as [string, ActiveHours[], string, boolean][])('%s', (_name, periods, moment, expected) => {
    expect(isActive(periods, 'Europe/Berlin', at(moment))).toBe(expected);
  });

  test.each([
    ['over a weekend in which clocks are set forward', office, '2026-03-27T17:00:00Z', '2026-03-30T06:00'],
    ['over one in which they are set back', office, '2026-10-23T16:00:00Z', '2026-10-26T07:00'],
    [
      'where clocks skip the beginning',
      [{ days: ['SUN'], from: '02:30', to: '05:00' }],
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:00',
    ],
    [
      'a week on, where clocks skip all of it',
      [{ days: ['SUN'], from: '02:10', to: '02:40' }],
      '2026-03-28T12:00:00Z',
      '2026-04-05T00:10',
    ],
    [
      'where clocks are set back into them',
      [{ days: ['SUN'], from: '01:30', to: '02:30' }],
      '2026-10-25T00:40:00Z',
      '2026-10-25T01:00',
    ],
  ] as [string, ActiveHours[], string, string][])('begin again %s', (_name, periods, moment, expected) => {
    expect(new Date(nextActiveMs(periods, 'Europe/Berlin', at(moment)) as number).toISOString()).toBe(
      `${expected}:00.000Z`,
    );
  });

  test('of one gap tell nothing of the gap after it, or of the one before', () => {
    const gaps = ['2026-11-17T20:00Z', '2026-11-18T20:00Z', '2026-11-16T20:00Z'];
    const ends = gaps.map((moment) => new Date(nextActiveMs(office, 'Europe/Berlin', at(moment)) as number));
    expect(ends.map((end) => end.getUTCDate())).toEqual([18, 19, 17]);
  });

  test('begin again at the very moment that is told, and not before', () => {
    const time = fc
      .integer({ min: 0, max: 1439 })
      .map(
        (minute) =>
          `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`,
      );
    const period = fc
      .record({ days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }), from: time, to: time })
      .filter(({ from, to }) => from !== to);
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Havana', 'Africa/Cairo', 'Asia/Kathmandu');
    const moments = fc.integer({ min: at('2026-01-01'), max: at('2027-01-01') });
    fc.assert(
      fc.property(fc.array(period, { minLength: 1, maxLength: 3 }), zones, moments, (periods, zone, ms) => {
        fc.pre(!isActive(periods, zone, ms));
        const next_ms = nextActiveMs(periods, zone, ms);
        if (next_ms === null) return;
        expect(isActive(periods, zone, next_ms)).toBe(true);
        for (let between = ms; between < next_ms; between += 7 * 60_000)
          expect(isActive(periods, zone, between)).toBe(false);
        // What is known of a gap is what its other moments would find.
        for (const between of [next_ms - 1, ms + Math.floor((next_ms - ms) / 2)]) {
          expect(nextActiveMs(periods, zone, between)).toBe(next_ms);
          expect(nextActiveMs([...periods, ...periods], zone, between)).toBe(next_ms);
        }
      }),
      { numRuns: 50 },
    );
  });
});
