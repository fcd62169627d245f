import { hoursInWords } from '@purser/contract/authority-words';
import { describe, expect, test } from 'vitest';
import { hoursOf, OFFICE_HOURS, timeOfDay } from './hours.ts';
import { fromLocal, isTimeZone, toLocal } from './zones.ts';

describe('hours', () => {
  test.each([
    ['8', '08:00'],
    ['8:30', '08:30'],
    ['0830', '08:30'],
    ['24', '24:00'],
    ['24:01', null],
    ['8:60', null],
    ['noon', null],
    ['', null],
  ])('typed as %s are %s', (typed, read) => expect(timeOfDay(typed)).toBe(read));

  test('are described in plain words', () => {
    expect(hoursInWords(hoursOf([OFFICE_HOURS], {})[0] as never)).toBe('on weekdays from 08:00 to 18:00');
    expect(hoursInWords({ days: ['SUN', 'SAT'], from: '22:00', to: '06:00' })).toBe(
      'on Saturday and Sunday from 22:00 to 06:00 the next day',
    );
    expect(hoursInWords({ days: ['TUE', 'WED', 'THU'], from: '00:00', to: '24:00' })).toBe(
      'from Tuesday to Thursday, all day',
    );
  });

  test('that are wrong are named by their path', () => {
    const problems = {};
    hoursOf([OFFICE_HOURS, { days: [], from: 'x', to: '25' }, { ...OFFICE_HOURS, to: '8' }], problems);
    expect(Object.keys(problems)).toEqual([
      'active_hours[1].days',
      'active_hours[1].from',
      'active_hours[1].to',
      'active_hours[2].to',
    ]);
  });
});

describe('a moment by the clocks of a zone', () => {
  test.each([
    ['2026-12-01T00:00:00.000Z', 'Europe/Berlin', '2026-12-01T01:00'],
    ['2026-07-01T12:30:15.000Z', 'Asia/Kolkata', '2026-07-01T18:00:15'],
    ['2026-11-22T23:59:00.000Z', 'UTC', '2026-11-22T23:59'],
    ['2026-03-29T01:00:00.000Z', 'Europe/Berlin', '2026-03-29T03:00'],
  ])('%s in %s is shown as %s, and is read back', (at, zone, local) => {
    expect(toLocal(at, zone)).toBe(local);
    expect(fromLocal(local, zone)).toBe(at);
  });
  test('that occurs twice is the earlier one, and a skipped one moves past the change', () => {
    expect(fromLocal('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
    expect(fromLocal('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
  });
  test('needs a zone that there is', () => {
    expect([isTimeZone('Europe/Berlin'), isTimeZone('Mars/Olympus')]).toEqual([true, false]);
  });
});
