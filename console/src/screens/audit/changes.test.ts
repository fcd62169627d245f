import { expect, test } from 'vitest';
import { linesOf, summaryOf } from './changes.ts';

test('a field that is new has nothing before it', () => {
  expect(linesOf({ slug: { from: null, to: 'infra-bot' } })).toEqual([
    { field: 'slug', from: null, to: 'infra-bot' },
  ]);
});
test('only differing fields of an object are listed', () => {
  const before = {
    currency: 'EUR',
    purpose: { objective: 'a', constraints: ['x'] },
    review_threshold_minor: 5,
  };
  const after = {
    currency: 'EUR',
    purpose: { objective: 'b', constraints: ['x'] },
    review_threshold_minor: null,
  };
  expect(linesOf({ authority: { from: before, to: after } })).toEqual([
    { field: 'authority.purpose.objective', from: 'a', to: 'b' },
    { field: 'authority.review_threshold_minor', from: '5', to: 'nothing' },
  ]);
});
test('fields that stay empty are left out', () => {
  expect(linesOf({ expires_at: { from: null, to: null }, list: { from: null, to: [] } })).toEqual([]);
});
test('lists of strings are shown as text, others as JSON', () => {
  expect(
    linesOf({ scopes: { from: ['read'], to: ['review', 'read'] }, odd: { from: [1], to: [2] } }),
  ).toEqual([
    { field: 'scopes', from: 'read', to: 'review, read' },
    { field: 'odd', from: '[1]', to: '[2]' },
  ]);
});
test('in one line ids and hashes are left out, unless there is nothing else', () => {
  const lines = linesOf({
    id: { from: null, to: 'key_1' },
    status: { from: 'active', to: 'paused' },
    name: { from: null, to: 'Ads' },
  });
  expect(summaryOf(lines)).toBe('status: active → paused, name: Ads');
  expect(summaryOf(lines.slice(0, 1))).toBe('id: key_1');
});
