import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import { describe, expect, it } from 'vitest';
import { type Answer, answerAfter, type RaisedQuestion } from '../domain/questions.ts';
import { NO_FACTS, type Precedent, type SpendFacts } from '../domain/spend-facts.ts';
import { assessBuiltIn } from './built-in-assessor.ts';
import { historyKey } from './history.ts';

const SHOP: Authority = {
  purpose: {
    objective: 'Buy flour and milk for the bakery.',
    constraints: ['No furniture', 'Milk only with a delivery note', 'Nothing private'],
    context: 'Usual seller is Metro.',
  },
  currency: 'EUR',
  review_threshold_minor: 2_000,
};
const spend = (merchant: string, description?: string, more: Partial<Action> = {}) => ({
  action: {
    type: 'purchase',
    merchant,
    amount_minor: 1_000,
    currency: 'EUR',
    ...(description === undefined ? {} : { description }),
    ...more,
  },
});
type Spend = ReturnType<typeof spend>;

const assess = (
  request: Spend,
  answers: readonly Answer[] = [],
  facts: SpendFacts = NO_FACTS,
  authority = SHOP,
) =>
  assessBuiltIn(authority, request, {
    ...facts,
    answers: new Map([...facts.answers, ...answers.map((one) => [one.question_id, one] as const)]),
  });
const raised = (
  request: Spend,
  kind: string,
  ...more: [Answer[]?, SpendFacts?, Authority?]
): RaisedQuestion => {
  const found = assess(request, ...more).questions.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no question ${kind}`);
  return found;
};
const answered = (
  { question_id }: Pick<RaisedQuestion, 'question_id'>,
  answer: 'YES' | 'NO',
  { action: { amount_minor, currency, payee_id } }: { action: Action },
  before?: Answer,
): Answer =>
  answerAfter(before, question_id, {
    by: 'user:ada',
    at: '2026-11-03T08:00:00.000Z',
    answer,
    spend: { amount_minor, currency, payee_id: payee_id ?? null },
  });

describe('the merchant itself', () => {
  const first = spend('Nordhandel', 'flour', { payee_id: 'iban:DE1' });
  const yes = answered(raised(first, 'new_merchant'), 'YES', first);

  it('is asked about once, whatever else the next description says', () => {
    expect(assess(first)).toMatchObject({
      assessment: 'PURPOSE_UNCLEAR',
      rationale: 'First time at "Nordhandel". It isn\'t in the agent\'s purpose or your approved merchants.',
      questions: [{ kind: 'new_merchant', about: null, answered: null }],
    });
    const next = spend('Nordhandel', 'zirqon copings, order 17', { payee_id: 'iban:DE1' });
    expect(assess(next, [yes])).toMatchObject({
      assessment: 'PURPOSE_ALIGNED',
      vouched_by: { by: 'PERSON' },
      questions: [{ kind: 'new_merchant', answered: { by: 'user:ada', answer: 'YES' } }],
    });
    expect(assess(next, [yes]).evidence).toContainEqual({
      field: 'history',
      text: 'approved by user:ada on 2026-11-03',
      effect: 'supports',
    });
  });

  it('is asked about again beyond three times the largest amount, and beyond the threshold', () => {
    const of = (amount_minor: number) => spend('Nordhandel', 'flour', { payee_id: 'iban:DE1', amount_minor });
    expect(assess(of(3_000), [yes]).assessment).toBe('PURPOSE_ALIGNED');
    const beyond = assess(of(3_001), [yes]);
    expect(beyond.assessment).toBe('PURPOSE_UNCLEAR');
    expect(beyond.questions.map(({ kind, answered }) => [kind, answered])).toEqual([
      ['unusual_amount', null],
      ['new_merchant', null],
    ]);
    const more = answered(raised(of(3_001), 'new_merchant', [yes]), 'YES', of(3_001), yes);
    const amount = answered(raised(of(3_001), 'unusual_amount', [yes]), 'YES', of(3_001));
    expect(assess(of(9_003), [more, amount]).assessment).toBe('PURPOSE_ALIGNED');
    expect(assess(of(9_004), [more, amount]).assessment).toBe('PURPOSE_UNCLEAR');
  });

  it('a NO to a large amount leaves smaller ones alone', () => {
    const large = spend('Nordhandel', 'flour', { payee_id: 'iban:DE1', amount_minor: 90_000 });
    const no = answered(raised(large, 'unusual_amount', [yes]), 'NO', large);
    expect(assess(large, [yes, no])).toMatchObject({ assessment: 'PURPOSE_MISALIGNED', is_final: true });
    expect(assess(first, [yes, no]).assessment).toBe('PURPOSE_ALIGNED');
  });

  it('what the answer itself lets through does not raise what it covers', () => {
    const one: Precedent = {
      merchant: historyKey('Nordhandel'),
      payee_id: 'iban:DE1',
      said_by_people: { allowed: 1, refused: 0 },
      settled_by_rail: 4,
      words: new Map(),
      usual_minor: new Map([['EUR', { low: 1_000, high: 3_000 }]]),
    };
    const facts = {
      ...NO_FACTS,
      precedents: { by_merchant: new Map([[one.merchant, [one]]]), by_payee: new Map() },
    };
    const beyond = spend('Nordhandel', 'flour', { payee_id: 'iban:DE1', amount_minor: 3_001 });
    expect(assess(beyond, [yes], facts).assessment).toBe('PURPOSE_UNCLEAR');
  });

  it('is approved for the payees of the spends that people allowed, and each other one is asked about once', () => {
    const other = spend('Nordhandel', 'flour', { payee_id: 'iban:DE2' });
    const question = raised(other, 'new_payee', [yes]);
    expect(question.about).toEqual({ clause: null, words: ['iban:DE2'] });
    expect(assess(other, [yes]).assessment).toBe('PURPOSE_UNCLEAR');
    expect(assess(other, [yes, answered(question, 'YES', other)]).assessment).toBe('PURPOSE_ALIGNED');
    expect(assess(other, [yes, answered(question, 'NO', other)]).assessment).toBe('PURPOSE_MISALIGNED');
    expect(assess(first, [yes, answered(question, 'NO', other)]).assessment).toBe('PURPOSE_ALIGNED');
  });

  it('a NO makes the next spend there misaligned, and no model may clear it', () => {
    const no = answered(raised(first, 'new_merchant'), 'NO', first);
    const found = assess(first, [no]);
    expect(found).toMatchObject({ assessment: 'PURPOSE_MISALIGNED', is_final: true });
    expect(found.rationale).toContain('A reviewer rejected this here before (user:ada on 2026-11-03)');
    const listed = { ...SHOP, allowed_merchants: ['Nordhandel'] };
    expect(assess(first, [no], NO_FACTS, listed).assessment).toBe('PURPOSE_ALIGNED');
  });

  it('a name in disguise is not the one that people approved', () => {
    const hidden = spend('Nord\u200bhandel', 'flour', { payee_id: 'iban:DE1' });
    const answers = assess(hidden).questions.map((one) => answered(one, 'YES', hidden));
    expect(assess(hidden, answers).assessment).toBe('PURPOSE_UNCLEAR');
  });
});

describe('a clause', () => {
  const milk = spend('Metro', 'milk, 40 litres');

  it('is asked about once at a merchant, by its own text', () => {
    const question = raised(milk, 'condition');
    expect(question.about?.clause?.text).toBe('Milk only with a delivery note');
    const yes = answered(question, 'YES', milk);
    expect(assess(milk, [yes]).assessment).toBe('PURPOSE_ALIGNED');
    expect(assess(spend('Metro', 'fresh milk for Tuesday, order 4471'), [yes]).assessment).toBe(
      'PURPOSE_ALIGNED',
    );
    const edited = (constraints: string[]) => ({ ...SHOP, purpose: { ...SHOP.purpose, constraints } });
    const others = edited(['Milk only with a delivery note', 'Be polite', 'No furniture at all']);
    expect(assess(milk, [yes], NO_FACTS, others).assessment).toBe('PURPOSE_ALIGNED');
    const its_own = edited(['Milk only with a signed delivery note']);
    expect(assess(milk, [yes], NO_FACTS, its_own).assessment).toBe('PURPOSE_UNCLEAR');
  });

  it('several are asked about at once, and a NO to one touches no other', () => {
    const both = spend('Nordhandel', 'milk for my garden');
    const kinds = assess(both).questions.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['private_use', 'new_merchant']));
    const merchant = answered(raised(both, 'new_merchant'), 'YES', both);
    const garden = answered(raised(both, 'private_use'), 'NO', both);
    expect(assess(both, [merchant, garden])).toMatchObject({
      assessment: 'PURPOSE_MISALIGNED',
      is_final: true,
    });
    expect(assess(spend('Nordhandel', 'flour'), [merchant, garden]).assessment).toBe('PURPOSE_ALIGNED');
  });

  it('words that are added do not hide what a reviewer rejected', () => {
    const garden = spend('Metro', 'flour for my garden');
    const no = answered(raised(garden, 'private_use'), 'NO', garden);
    const more = spend('Metro', 'for my house, flour for my garden');
    expect(assess(more, [no])).toMatchObject({ assessment: 'PURPOSE_MISALIGNED', is_final: true });
  });

  it('a final veto is settled by no answer, and is no question', () => {
    const sofa = spend('Metro', 'furniture for the shop');
    expect(assess(sofa)).toMatchObject({ assessment: 'PURPOSE_MISALIGNED', is_final: true, questions: [] });
  });
});

it('text that is too long is asked about by its hash', () => {
  const long = { ...spend('Metro', 'flour'), trace: Array.from({ length: 26 }, () => ({ step: 'looked' })) };
  const question = raised(long, 'too_long');
  expect(question.about?.words).toEqual([expect.stringMatching(/^sha256:/)]);
  const yes = answered(question, 'YES', long);
  expect(assess(long, [yes]).assessment).toBe('PURPOSE_ALIGNED');
  expect(assess({ ...long, task: 'another one' } as Spend, [yes]).assessment).toBe('PURPOSE_UNCLEAR');
});

it('the name of a question has no date, amount or number of an order in it', () => {
  const ids = (description: string, amount_minor: number) =>
    assess(spend('Metro', description, { amount_minor })).questions.map(({ question_id }) => question_id);
  const one = ids('milk for my garden, order 4471, 3 March', 1_000);
  expect(one.length).toBeGreaterThan(1);
  expect(ids('milk for my garden, order 998-2, 4 April', 1_900)).toEqual(one);
});
