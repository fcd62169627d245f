import type { Overview } from '@purser/sdk';
import { describe, expect, test } from 'vitest';
import { countedDays, daysOfRows, isCounted } from './decision-days.ts';

const of = (allow: number, review: number, deny: number) => ({
  count: allow + review + deny,
  allow,
  review,
  deny,
});
const BY_DAY: Overview['by_day'] = [
  { day: '2026-11-20', ...of(5, 1, 2), shadow: of(4, 1, 0), enforce: of(1, 0, 2), amounts: [] },
];

describe('the days that the service counted', () => {
  test('are those of both modes, of one, or of some kinds', () => {
    expect(countedDays(BY_DAY, {})).toEqual([{ day: '2026-11-20', allow: 5, review: 1, deny: 2 }]);
    expect(countedDays(BY_DAY, { mode: 'SHADOW' })).toEqual([
      { day: '2026-11-20', allow: 4, review: 1, deny: 0 },
    ]);
    expect(countedDays(BY_DAY, { mode: 'ENFORCE', decision: 'DENY,REVIEW' })).toEqual([
      { day: '2026-11-20', allow: 0, review: 0, deny: 2 },
    ]);
  });
  test('answer for no other filter', () => {
    expect(isCounted({ agent: 'a', mode: 'SHADOW', from: '2026-11-01', order: 'asc' })).toBe(true);
    expect(isCounted({ mode: 'SHADOW', q: 'x' })).toBe(false);
  });
});

test('the days of rows are UTC days, oldest first', () => {
  const rows = [
    { created_at: '2026-11-21T00:00:00.000Z', decision: 'DENY' as const },
    { created_at: '2026-11-20T23:59:59.999Z', decision: 'ALLOW' as const },
    { created_at: '2026-11-20T10:00:00.000Z', decision: 'ALLOW' as const },
  ];
  expect(daysOfRows(rows)).toEqual([
    { day: '2026-11-20', allow: 2, review: 0, deny: 0 },
    { day: '2026-11-21', allow: 0, review: 0, deny: 1 },
  ]);
});
