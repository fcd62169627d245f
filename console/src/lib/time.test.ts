import { afterEach, expect, test } from 'vitest';
import { dayInWords, listedTime, localTime, setTimeZone, timeZone } from './time.ts';

const AT = '2026-11-21T23:30:00.000Z';
const at_ms = Date.parse(AT);
const HOUR_MS = 3_600_000;
const READER = timeZone();

afterEach(() => setTimeZone(READER));

test('times are in the zone of the workspace, and name it where it is not the reader’s', () => {
  setTimeZone('Asia/Kathmandu');
  expect(localTime(AT)).toBe('Nov 22, 2026, 5:15 AM GMT+5:45');
  setTimeZone('America/Denver');
  expect(localTime(AT)).toBe('Nov 21, 2026, 4:30 PM MST');
  setTimeZone(READER);
  expect(localTime(AT)).not.toMatch(/GMT|UTC|[A-Z]{3}T/);
});

test('a zone that the browser does not know is read as UTC', () => {
  setTimeZone('Mars/Olympus');
  expect([timeZone(), localTime(AT).slice(0, 22)]).toEqual(['UTC', 'Nov 21, 2026, 11:30 PM'.slice(0, 22)]);
});

test('a list shows the distance within a day, and the date beyond', () => {
  setTimeZone('Asia/Tokyo');
  expect(listedTime(at_ms, at_ms + 23 * HOUR_MS)).toBe('23 h 00 min ago');
  expect(listedTime(at_ms, at_ms - 23 * HOUR_MS)).toBe('in 23 h 00 min');
  expect(listedTime(at_ms, at_ms + 24 * HOUR_MS)).toBe('Nov 22, 2026, 8:30 AM');
  expect(listedTime(at_ms, at_ms - 24 * HOUR_MS)).toBe('Nov 22, 2026, 8:30 AM');
});

test('a day of a report is the same day in every zone', () => {
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    setTimeZone(zone);
    expect(dayInWords('2026-11-21')).toBe('Nov 21, 2026');
  }
});
