import { expect, test } from 'vitest';
import { attentionInWords } from './attention.ts';

const row = { level: 'LOW' as const, asked: 1, questions: 1, found: 0, missed: 1 };

test('a level is described by what it would have asked and missed', () => {
  expect(
    attentionInWords({ evaluated: 64, wrong: 3, levels: [{ ...row, asked: 12, questions: 5 }] }, 'LOW'),
  ).toBe(
    'Would have asked about 12 of 64 requests, with 5 questions. Would have missed 1 of 3 wrong requests.',
  );
  expect(attentionInWords({ evaluated: 1, wrong: 0, levels: [row] }, 'LOW')).toBe(
    'Would have asked about 1 of 1 request, with 1 question. No request was found wrong.',
  );
  expect(attentionInWords({ evaluated: 0, wrong: 0, levels: [] }, 'HIGH')).toBe(
    'No past requests to compare.',
  );
});
