import { expect, test } from 'vitest';
import { progressInWords } from './progress.ts';

const given = (...principals: string[]) =>
  principals.map((principal_id, i) => ({ review_id: `rev_${i}`, principal_id, signed: false }));
const tier = { from_minor: 0, approvals: 2 };

test('the progress of a request says how many approvals there are, and who is still needed', () => {
  const progress = (...principals: string[]) => ({
    required: 2,
    given: given(...principals),
    escalates_at: null,
  });
  const named = { ...tier, approvers: ['user:ada', 'user:bo', 'user:cy'] };
  expect(progressInWords({ review_progress: progress('user:ada'), review_tier: named })).toBe(
    '1 of 2 approvals, still needed from user:bo or user:cy',
  );
  expect(progressInWords({ review_progress: progress('user:ada', 'user:bo'), review_tier: named })).toBe(
    '2 of 2 approvals',
  );
  expect(progressInWords({ review_progress: progress(), review_tier: tier })).toBe('0 of 2 approvals');
});

test('a request that one approval by anyone settles has no progress to show', () => {
  expect(progressInWords({ review_progress: { required: 1, given: [], escalates_at: null } })).toBeNull();
  expect(progressInWords({})).toBeNull();
});
