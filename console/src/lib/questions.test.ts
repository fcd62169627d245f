import type { Decision, Question } from '@purser/sdk';
import { expect, test } from 'vitest';
import { deniedByDefault, doubtsOf, settledBy, yesInWords } from './questions.ts';

const question = (question_id: string, more: Partial<Question> = {}): Question => ({
  question_id,
  kind: 'other_goods',
  about: { clause: null, words: ['credit'] },
  sentence: question_id,
  asked_before: 0,
  answered: null,
  ...more,
});
const by = { by: 'user:ada', at: '2026-11-01T00:00:00.000Z' };
const merchant = question('q_merchant', { kind: 'new_merchant', about: null });
const goods = question('q_goods');
const approved = question('q_approved', { answered: { ...by, answer: 'YES' } });
const rejected = question('q_rejected', { answered: { ...by, answer: 'NO' } });

const decision = (questions: Question[] | undefined, requested_amount_minor = 1_000, currency = 'EUR') =>
  ({
    reason_codes: ['PURPOSE_UNCLEAR'],
    purpose: { questions },
    requested_amount_minor,
    currency,
  }) as unknown as Decision;
const idsOf = (questions: readonly Question[]) => questions.map(({ question_id }) => question_id);

test('a denial is about everything open but the merchant, or about the merchant where nothing else is open', () => {
  expect(deniedByDefault(decision([merchant, goods, approved, rejected]))).toEqual(['q_goods', 'q_rejected']);
  expect(deniedByDefault(decision([merchant, approved]))).toEqual(['q_merchant']);
  expect(deniedByDefault(decision([approved]))).toEqual([]);
});

test('a denial is about no question where the purpose was no reason for the review', () => {
  const duplicate = { ...decision([merchant, goods]), reason_codes: ['DUPLICATE_SPEND' as const] };
  expect(deniedByDefault(duplicate)).toEqual([]);
  expect(idsOf(settledBy([duplicate], 'DENY').questions)).toEqual([]);
  expect(idsOf(settledBy([duplicate], 'DENY', ['q_goods']).questions)).toEqual(['q_goods']);
  expect(idsOf(settledBy([duplicate], 'ALLOW').questions)).toEqual(['q_merchant', 'q_goods']);
});

test('a decision made before questions settles none', () => {
  expect(doubtsOf(decision(undefined))).toEqual([]);
  expect(settledBy([decision(undefined)], 'ALLOW').questions).toEqual([]);
});

test('reviews of several requests settle each question once, for the largest amount by currency', () => {
  const several = [decision([merchant, goods], 2_000), decision([goods], 5_000), decision([goods], 7, 'JPY')];
  const { questions, amounts } = settledBy(several, 'ALLOW');
  expect(idsOf(questions)).toEqual(['q_merchant', 'q_goods']);
  expect(amounts).toEqual([
    { currency: 'EUR', amount_minor: 5_000 },
    { currency: 'JPY', amount_minor: 7 },
  ]);
  expect(yesInWords(amounts)).toContain('EUR 150.00 or JPY 21');
  expect(yesInWords(amounts, 2)).toContain('three times what was requested');
});

test('a denial settles only the questions that it names', () => {
  const one = [decision([merchant, goods])];
  expect(idsOf(settledBy(one, 'DENY').questions)).toEqual(['q_goods']);
  expect(idsOf(settledBy(one, 'DENY', ['q_merchant']).questions)).toEqual(['q_merchant']);
  expect(idsOf(settledBy(one, 'DENY', []).questions)).toEqual([]);
});
