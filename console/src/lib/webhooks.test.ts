import { describe, expect, test } from 'vitest';
import { healthOf, resultOf } from './webhooks.ts';

const ok = (duration_ms: number) => ({ status: 'SUCCEEDED' as const, duration_ms });
const bad = (duration_ms: number) => ({ status: 'FAILED' as const, duration_ms });

describe('the health of an endpoint', () => {
  test('of nothing has no times', () => {
    expect(healthOf([])).toEqual({ attempts: 0, succeeded: 0, p50_ms: null, p95_ms: null });
  });
  test('counts failures, and takes times from what succeeded alone', () => {
    expect(healthOf([ok(10), bad(9_999), ok(30), ok(20)])).toEqual({
      attempts: 4,
      succeeded: 3,
      p50_ms: 20,
      p95_ms: 30,
    });
  });
  test('gives times that were measured, by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => ok(i + 1));
    expect(healthOf(hundred)).toMatchObject({ p50_ms: 50, p95_ms: 95 });
  });
});

describe('the result of an attempt in words', () => {
  test('is the status of an answer', () => {
    expect(resultOf({ status: 'SUCCEEDED', http_status: 204, error: null })).toBe('204');
    expect(resultOf({ status: 'RETRYING', http_status: 500, error: 'bad_status' })).toBe('Answered 500');
  });
  test('says what went wrong where there was no answer', () => {
    expect(resultOf({ status: 'FAILED', http_status: null, error: 'timeout' })).toBe('No response in time');
    expect(resultOf({ status: 'FAILED', http_status: 301, error: 'redirect' })).toContain('redirect');
  });
});
