import { CALENDAR_WINDOWS } from '@purser/contract/calendar';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CountingState, counterChanges, encodeCountedIn } from './counted-in.ts';
import { type CountedSlot, fitsFrom, useAt } from './counters.ts';
import { type CounterWindow, reachSeconds, slotAt, writtenSlotAt } from './windows.ts';

const DAY_S = 86_400;
const NOW_MS = Date.UTC(2026, 10, 22, 12);

/** Lets spends in while the limit has room for them, as decisions are made. */
function letIn(window: CounterWindow, limit: number, asked: readonly { at_ms: number; minor: number }[]) {
  const slots = new Map<number, CountedSlot>();
  const passed: { at_ms: number; minor: number }[] = [];
  for (const { at_ms, minor } of asked) {
    if (useAt([...slots.values()], at_ms).amount_minor + minor > limit) continue;
    const { starts_ms, ends_ms } = slotAt(window, at_ms);
    const before = slots.get(starts_ms)?.amount_minor ?? 0;
    slots.set(starts_ms, {
      starts_ms,
      until_ms: ends_ms,
      count: 1,
      amount_minor: before + minor,
      decision_id: null,
    });
    passed.push({ at_ms, minor });
  }
  return { passed, slots: [...slots.values()] };
}

const anySeconds = fc.oneof(
  fc.constantFrom(60, 61, 3_600, 31 * DAY_S),
  fc.integer({ min: 60, max: 31 * DAY_S }),
);
/** Spends at any pace: some at once, some a step or a window apart. */
const anyAsked = (seconds: number) =>
  fc
    .array(
      fc.record({
        wait_ms: fc.oneof(
          fc.constantFrom(0, 1, seconds * 1000 - 1, seconds * 1000, Math.ceil(seconds / 60) * 1000),
          fc.integer({ min: 0, max: seconds * 1500 }),
        ),
        minor: fc.integer({ min: 1, max: 60 }),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((all) => {
      let at_ms = NOW_MS;
      return all.map(({ wait_ms, minor }) => {
        at_ms += wait_ms;
        return { at_ms, minor };
      });
    });

describe('a rolling window', () => {
  const anyHistory = anySeconds.chain((seconds) => fc.tuple(fc.constant(seconds), anyAsked(seconds)));

  test('never holds more than its limit, wherever it is laid', () => {
    fc.assert(
      fc.property(anyHistory, ([window_seconds, asked]) => {
        const { passed } = letIn({ type: 'ROLLING', window_seconds }, 100, asked);
        for (const { at_ms: end } of passed) {
          const within = passed.filter(({ at_ms }) => at_ms <= end && at_ms > end - window_seconds * 1000);
          expect(within.reduce((sum, { minor }) => sum + minor, 0)).toBeLessThanOrEqual(100);
        }
      }),
    );
  });

  test('gives room back at most a sixtieth late, from the moment that is told and not a millisecond before', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 1, max: 100 }), ([window_seconds, asked], wanted) => {
        const { passed, slots } = letIn({ type: 'ROLLING', window_seconds }, 100, asked);
        const now_ms = (passed.at(-1) as { at_ms: number }).at_ms;
        const fits = ({ amount_minor }: { amount_minor: number }) => amount_minor + wanted <= 100;
        const from_ms = fitsFrom(slots, now_ms, fits) as number;
        expect(fits(useAt(slots, from_ms))).toBe(true);
        if (from_ms === now_ms) return;
        expect(fits(useAt(slots, from_ms - 1))).toBe(false);
        const step_ms = Math.ceil(window_seconds / 60) * 1000;
        // Of the spends themselves, not of their slots: what still lies within the window a step earlier is too much.
        const earlier = from_ms - step_ms - window_seconds * 1000;
        const still = passed
          .filter(({ at_ms }) => at_ms >= earlier)
          .reduce((sum, { minor }) => sum + minor, 0);
        expect(still + wanted).toBeGreaterThan(100);
      }),
    );
  });

  test('has at most 61 slots that count, and none outside its reach', () => {
    fc.assert(
      fc.property(anySeconds, fc.integer({ min: 0, max: 62 * DAY_S * 1000 }), (window_seconds, ago_ms) => {
        const window: CounterWindow = { type: 'ROLLING', window_seconds };
        const { starts_ms, ends_ms } = slotAt(window, NOW_MS - ago_ms);
        expect(ends_ms).toBeGreaterThan(NOW_MS - ago_ms + window_seconds * 1000);
        if (ends_ms > NOW_MS) expect(starts_ms).toBeGreaterThan(NOW_MS - reachSeconds(window) * 1000 - 1);
        const step_ms = Math.ceil(window_seconds / 60) * 1000;
        expect(Math.ceil((ends_ms - starts_ms) / step_ms)).toBeLessThanOrEqual(61);
      }),
    );
  });
});

test('no slot of a calendar window counts longer than it is looked back', () => {
  for (const type of CALENDAR_WINDOWS) {
    const window: CounterWindow = { type, time_zone: 'America/Sao_Paulo' };
    const { starts_ms, ends_ms } = slotAt(window, NOW_MS);
    expect(ends_ms - starts_ms).toBeLessThanOrEqual(reachSeconds(window) * 1000);
  }
});

describe('what a decision adds to its counters', () => {
  const slot = { slot: '2026-11-22T00:00:00.000Z', until: '2026-11-23T00:00:00.000Z' };
  const counted_in = encodeCountedIn([
    { counter_id: 'vel_1', subject: '', ...slot },
    { counter_id: 'bud_1', subject: '', ...slot },
  ]);
  const state = (reservation_status: string, amount_minor: number, paced_minor: number): CountingState => ({
    decision_id: 'dec_1',
    reservation_status,
    amount_minor,
    counted_in,
    paced_minor,
  });
  const added = (before: CountingState | null, after: CountingState, at = '2026-11-22T12:00:00.000Z') =>
    counterChanges(before, after, at).map(({ counter_id, count, held_minor, committed_minor }) => [
      counter_id,
      count,
      held_minor,
      committed_minor,
    ]);

  test('a hold counts once, what is spent replaces it, and what never happened is given back', () => {
    expect(added(null, state('HELD', 100, 100))).toEqual([
      ['vel_1', 1, 100, 0],
      ['bud_1', 1, 100, 0],
    ]);
    expect(added(state('HELD', 100, 100), state('COMMITTED', 80, 80))).toEqual([
      ['vel_1', 0, -100, 80],
      ['bud_1', 0, -100, 80],
    ]);
    expect(added(state('HELD', 100, 100), state('RELEASED', 100, 100))).toEqual([
      ['vel_1', -1, -100, 0],
      ['bud_1', -1, -100, 0],
    ]);
    expect(added(null, state('NONE', 0, 0))).toEqual([]);
  });
  test('a refund gives back money, and no pace', () => {
    expect(added(state('COMMITTED', 80, 80), state('COMMITTED', 0, 80))).toEqual([['bud_1', 0, 0, -80]]);
  });
  test('a window that is over is left as it was', () => {
    expect(added(state('HELD', 100, 100), state('RELEASED', 100, 100), slot.until)).toEqual([]);
  });
});

describe('a slot as it is told', () => {
  const anyWindow: fc.Arbitrary<CounterWindow> = fc.oneof(
    anySeconds.map((window_seconds) => ({ type: 'ROLLING' as const, window_seconds })),
    fc.record({
      type: fc.constantFrom(...CALENDAR_WINDOWS),
      time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Havana', 'Africa/Cairo'),
    }),
    fc.constant({ type: 'TOTAL' as const }),
  );
  // A day's seconds at the most, so that some moments are in the slot of the one before, and some just outside.
  const anySteps = fc.array(fc.integer({ min: -DAY_S, max: DAY_S }), { minLength: 1, maxLength: 40 });

  test('is the slot of its moment, whatever was told of the window before', () => {
    fc.assert(
      fc.property(anyWindow, anySteps, (window, steps) => {
        let at_ms = NOW_MS;
        for (const step of steps) {
          at_ms += step * 500;
          const { starts_ms, ends_ms } = slotAt(window, at_ms);
          expect(writtenSlotAt(window, at_ms)).toEqual({
            type: window.type,
            starts_at: new Date(starts_ms).toISOString(),
            ends_at: new Date(ends_ms).toISOString(),
          });
        }
      }),
    );
  });
});
