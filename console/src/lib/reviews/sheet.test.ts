import { expect, test } from 'vitest';
import { firesIn, limitInWords, limitName, pastInWords } from './sheet.ts';

test('constraints that fire come first, each clause once', () => {
  const purpose = {
    constraints: ['No gift cards', 'Only in Europe', 'Only in Europe'],
    fires: [
      { field: 'constraints' as const, index: 0, text: 'No gift cards' },
      { field: 'objective' as const, index: null, text: 'Keep the servers running' },
    ],
  };
  expect(firesIn(purpose)).toEqual({
    fired: ['No gift cards', 'Keep the servers running'],
    others: ['Only in Europe'],
  });
});

test('a limit shows usage and limit; a count is beside an amount, and the fuller one is the bar', () => {
  const limit = {
    limit_minor: 10_000,
    used_then_minor: 100,
    used_now_minor: 2_500,
    limit_count: 4,
    used_then_count: 1,
    used_now_count: 3,
  };
  expect(limitInWords(limit, 'EUR')).toEqual({
    text: 'EUR 25.00 of EUR 100.00 · 3 of 4 requests',
    share: 0.75,
  });
  const of_one = { ...limit, used_now_minor: null, limit_count: null };
  expect(limitInWords(of_one, 'EUR')).toEqual({ text: 'EUR 100.00', share: null });
  expect(limitName({ kind: 'monthly_budget', name: 'month' })).toBe('Monthly budget');
  expect(limitName({ kind: 'shared_budget', name: 'travel' })).toBe('Shared budget travel');
});

test('the past is counted in words, without empty counts', () => {
  const past = { decisions: 12, allowed: 10, denied: 0, executed: 9, first_at: null, last_at: null };
  expect(pastInWords(past)).toBe('12 requests, 10 allowed, 9 executed.');
  expect(pastInWords({ ...past, decisions: 1, allowed: 0, executed: 0 })).toBe('1 request.');
});
