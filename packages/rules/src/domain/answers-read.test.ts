import { expect, test } from 'vitest';
import { assessBuiltIn } from '../purpose/built-in-assessor.ts';
import { AnswersRead } from './question-history.ts';
import type { Answer, Answers } from './questions.ts';
import { NO_FACTS } from './spend-facts.ts';

const AUTHORITY = {
  purpose: { objective: 'Keep the staging servers running: hosting.', context: 'Supplier: Hetzner Online.' },
  currency: 'EUR',
};
const answerTo = (question_id: string): Answer => ({
  question_id,
  answer: 'YES',
  by: 'user:ada',
  at: '2026-11-01T00:00:00.000Z',
  allowed_minor: { EUR: 100 },
  payee_ids: [null],
});

/** Assesses a spend and returns what was looked up of these answers. */
function readBy(merchant: string, answers: Answers): AnswersRead {
  const read = new AnswersRead({ version: 1, answers });
  const action = { type: 'purchase', merchant, amount_minor: 100, currency: 'EUR', description: 'a shelf' };
  assessBuiltIn(AUTHORITY, { action }, { ...NO_FACTS, answers: read });
  return read;
}

test.each(['Hetzner Online', 'Nordlicht Rack'])(
  'the assessment of a spend at %s depends on none of the answers to other questions',
  (merchant) => {
    const other = answerTo('q_00000000000000000000000000');
    const read = readBy(merchant, new Map([[other.question_id, other]]));
    expect(read.is_whole).toBe(false);
    expect(read.read.has(other.question_id)).toBe(false);
  },
);

test('an assessment made while there was no answer at all depends on the first one', () => {
  expect(readBy('Nordlicht Rack', new Map()).is_whole).toBe(true);
});
