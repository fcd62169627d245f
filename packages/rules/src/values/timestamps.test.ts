import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundOfPeriod, instantMs } from './timestamps.ts';

const moments = fc.date({
  min: new Date('0001-01-02T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
});

describe('a timestamp in a request', () => {
  it('is the same moment whatever its offset', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: -23 * 60, max: 23 * 60 }), (moment, offset_minutes) => {
        const local = new Date(moment.getTime() + offset_minutes * 60_000).toISOString().slice(0, -1);
        const sign = offset_minutes < 0 ? '-' : '+';
        const size = Math.abs(offset_minutes);
        const hours = String(Math.floor(size / 60)).padStart(2, '0');
        const text = `${local}${sign}${hours}:${String(size % 60).padStart(2, '0')}`;
        fc.pre(local.length === 23);
        expect(instantMs(text)).toBe(moment.getTime());
      }),
    );
  });

  it('is rounded up to a whole millisecond, so that bounds keep their meaning', () => {
    expect(instantMs('1970-01-01T00:00:00.0000001Z')).toBe(1);
    expect(instantMs('1970-01-01T00:00:00.001000000Z')).toBe(1);
    expect(instantMs('1969-12-31T23:59:59.9999Z')).toBe(0);
  });

  it('must be a real moment, with an offset, in the years 1 to 9999', () => {
    for (const text of [
      '2026-11-21',
      '2026-11-21T08:30:00',
      '2026-11-21 08:30:00Z',
      '2026-02-29T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z',
      '2026-01-00T00:00:00Z',
      '2026-11-21T24:00:00Z',
      '2026-11-21T08:60:00Z',
      '2026-11-21T08:30:60Z',
      '2026-11-21T08:30:00+24:00',
      '2026-11-21T08:30:00+0200',
      '2026-11-21T08:30:00.Z',
      '0000-06-01T00:00:00Z',
      '0001-01-01T00:00:00+01:00',
      '9999-12-31T23:59:59-01:00',
      '+02026-11-21T08:30:00Z',
      '２026-11-21T08:30:00Z',
      '2026-11-21T08:30:00Z\n',
    ])
      expect([text, instantMs(text)]).toEqual([text, null]);
    expect(instantMs('2024-02-29T00:00:00z')).toBe(Date.UTC(2024, 1, 29));
    expect(instantMs('0001-01-01T00:00:00Z')).not.toBeNull();
  });
});

describe('a bound of a period', () => {
  it('given as a date stands for the whole UTC day', () => {
    expect(boundOfPeriod('2026-11-21', 'from')).toBe('2026-11-21T00:00:00.000Z');
    expect(boundOfPeriod('2026-11-21', 'to')).toBe('2026-11-22T00:00:00.000Z');
    expect(boundOfPeriod('2026-12-31', 'to')).toBe('2027-01-01T00:00:00.000Z');
  });

  it('at the end of time stays a time that can be written', () => {
    expect(boundOfPeriod('9999-12-31', 'to')).toBe('9999-12-31T23:59:59.999Z');
  });

  it('given as a timestamp is that moment on either side', () => {
    for (const side of ['from', 'to'] as const)
      expect(boundOfPeriod('2026-11-21T10:30:00+02:00', side)).toBe('2026-11-21T08:30:00.000Z');
  });

  it('is null for anything else', () => {
    for (const text of ['', '2026-11', '2026-11-31', '20261121', 'now', '2026-11-21T'])
      expect(boundOfPeriod(text, 'from')).toBeNull();
  });
});
