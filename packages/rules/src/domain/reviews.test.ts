import { expect, test } from 'vitest';
import { isOwnRequest, type ReviewRow, reviewBody, reviewDataHash } from './reviews.ts';

test.each<
  [name: string, asked: [string, string | null], reviewer: [string | null, string | null], own: boolean]
>([
  ['the same key', ['key_1', null], ['key_1', null], true],
  ['the same key, whoever it stands for', ['key_1', 'user:a'], ['key_1', 'user:b'], true],
  ['another key of the same principal', ['key_1', 'user:a'], ['key_2', 'user:a'], true],
  ['another key of another principal', ['key_1', 'user:a'], ['key_2', 'user:b'], false],
  ['two keys without a principal', ['key_1', null], ['key_2', null], false],
  ['two keys with an empty principal', ['key_1', ''], ['key_2', ''], false],
  ['a principal that differs in case', ['key_1', 'user:a'], ['key_2', 'user:A'], false],
  ['only the requester has a principal', ['key_1', 'user:a'], ['key_2', null], false],
  ['only the reviewer has a principal', ['key_1', null], ['key_2', 'user:a'], false],
])('%s', (_name, [key_id, principal_id], [reviewer_key, reviewer_principal], own) => {
  const reviewer = { key_id: reviewer_key, principal_id: reviewer_principal };
  expect(isOwnRequest({ key_id, principal_id }, reviewer)).toBe(own);
});

const row: ReviewRow = {
  review_id: 'rev_1',
  decision_id: 'dec_1',
  action: 'ALLOW',
  reason_code: 'FINE',
  comment: null,
  supersedes: null,
  principal_id: null,
  key_id: 'key_1',
  created_at: '2026-11-21T08:00:00.000Z',
  by_key_maker: false,
  on_behalf_of: null,
  voice: null,
  questions: ['q_1'],
  remember: null,
  signature: null,
  via: null,
  capability_expires_at: null,
};

test('every column of a review is sealed, including the expiry of its capability', () => {
  const sealed = reviewDataHash(row).toString('hex');
  for (const name of Object.keys(row)) {
    expect(reviewDataHash({ ...row, [name]: 'altered' } as never).toString('hex'), name).not.toBe(sealed);
  }
});

test('a review is shown without the expiry of its capability, its voice, and the channel and signature that it does not have', () => {
  const hidden = ['capability_expires_at', 'voice', 'via', 'signature'];
  expect(Object.keys(reviewBody(row))).toEqual(Object.keys(row).filter((name) => !hidden.includes(name)));
});
