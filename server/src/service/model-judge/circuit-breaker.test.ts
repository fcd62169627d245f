import { beforeEach, describe, expect, test } from 'vitest';
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts';

let now_ms = 0;
let told: string[] = [];
let breaker: CircuitBreaker;
beforeEach(() => {
  now_ms = 0;
  told = [];
  breaker = makeCircuitBreaker({
    now_ms: () => now_ms,
    failures: 3,
    rest_ms: 1_000,
    onChange: (state) => told.push(state),
  });
});
const fail = (times: number) => {
  for (let i = 0; i < times; i++) {
    expect(breaker.mayTry()).toBe(true);
    breaker.record(false);
  }
};

describe('a circuit breaker', () => {
  test('a circuit opens after the configured number of consecutive failures, and not before', () => {
    fail(2);
    expect(breaker.mayTry()).toBe(true);
    breaker.record(true);
    fail(3);
    expect(breaker.mayTry()).toBe(false);
    expect(told).toEqual(['open']);
  });

  test('an open circuit allows one try after its rest, and stays open if that fails', () => {
    fail(3);
    now_ms = 999;
    expect(breaker.mayTry()).toBe(false);
    now_ms = 1_000;
    expect(breaker.mayTry()).toBe(true);
    expect(breaker.mayTry()).toBe(false);
    breaker.record(false);
    now_ms = 1_999;
    expect(breaker.mayTry()).toBe(false);
    now_ms = 2_000;
    expect(breaker.mayTry()).toBe(true);
    expect(told).toEqual(['open']);
  });

  test('a circuit closes when a try works', () => {
    fail(3);
    now_ms = 1_000;
    expect(breaker.mayTry()).toBe(true);
    breaker.record(true);
    expect(breaker.mayTry()).toBe(true);
    fail(2);
    expect(breaker.mayTry()).toBe(true);
    expect(told).toEqual(['open', 'closed']);
  });

  test('a try that is never answered does not keep a circuit open for ever', () => {
    fail(3);
    now_ms = 1_000;
    expect(breaker.mayTry()).toBe(true);
    now_ms = 2_000;
    expect(breaker.mayTry()).toBe(true);
  });

  test('failures of an open circuit do not report the change again', () => {
    for (let i = 0; i < 8; i++) expect(breaker.mayTry()).toBe(true);
    for (let i = 0; i < 8; i++) breaker.record(false);
    expect(told).toEqual(['open']);
    expect(breaker.mayTry()).toBe(false);
  });
});
