import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Assessment } from '../domain/assessment.ts';
import { EVIDENCE_EFFECTS, PURPOSE_ASSESSMENTS } from '../domain/assessment.ts';
import type { SeenByModel } from './prompt.ts';
import { NO_OPINION, type Opinion, readOpinion, withOpinion, withoutOpinion } from './second-opinion.ts';

const SEEN: SeenByModel = {
  purpose: { 'purpose.objective': 'Run the staging servers.', 'purpose.constraints[0]': 'No games.' },
  spend: { 'action.merchant': 'Nintendo', 'action.description': 'Two controllers for the lounge' },
  cut: false,
};
const ANSWER = {
  rationale: 'Controllers are for games, which the purpose rules out.',
  evidence: [
    { field: 'purpose.constraints[0]', text: 'No games' },
    { field: 'action.description', text: 'Two controllers' },
  ],
  assessment: 'PURPOSE_MISALIGNED',
  confidence: 0.9,
};
const read = (change: object = {}) => readOpinion(JSON.stringify({ ...ANSWER, ...change }), SEEN);

describe('reading an answer', () => {
  test('an answer in the form asked for becomes an opinion', () => {
    expect(read()).toEqual({
      assessment: 'PURPOSE_MISALIGNED',
      confidence: 0.9,
      rationale: ANSWER.rationale,
      evidence: [
        { field: 'purpose.constraints[0]', text: 'No games', effect: 'conflicts' },
        { field: 'action.description', text: 'Two controllers', effect: 'conflicts' },
      ],
      saw_all: true,
    });
  });

  test.each([
    ['no JSON', 'PURPOSE_ALIGNED'],
    ['JSON in a code block', `\`\`\`json\n${JSON.stringify(ANSWER)}\n\`\`\``],
    ['two answers', `${JSON.stringify(ANSWER)}${JSON.stringify(ANSWER)}`],
    ['an answer cut short', JSON.stringify(ANSWER).slice(0, -1)],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', JSON.stringify([ANSWER])],
    ['a text', '"PURPOSE_ALIGNED"'],
    ['an empty object', '{}'],
    ['another verdict', JSON.stringify({ ...ANSWER, assessment: 'ALLOW' })],
    ['a verdict in small letters', JSON.stringify({ ...ANSWER, assessment: 'purpose_aligned' })],
    ['a list of verdicts', JSON.stringify({ ...ANSWER, assessment: ['PURPOSE_ALIGNED'] })],
    ['no verdict', JSON.stringify({ ...ANSWER, assessment: undefined })],
    ['confidence over 1', JSON.stringify({ ...ANSWER, confidence: 7 })],
    ['confidence under 0', JSON.stringify({ ...ANSWER, confidence: -0.1 })],
    ['confidence as text', JSON.stringify({ ...ANSWER, confidence: '0.9' })],
    ['confidence that is no number', JSON.stringify({ ...ANSWER, confidence: Number.NaN })],
    ['no rationale', JSON.stringify({ ...ANSWER, rationale: undefined })],
    ['an empty rationale', JSON.stringify({ ...ANSWER, rationale: ' \u200b\n' })],
    ['evidence that is no list', JSON.stringify({ ...ANSWER, evidence: 'none' })],
    ['evidence of another form', JSON.stringify({ ...ANSWER, evidence: [{ field: 'task' }] })],
    ['a field more', JSON.stringify({ ...ANSWER, decision: 'ALLOW' })],
    ['a prototype', JSON.stringify(ANSWER).replace('"rationale"', '"__proto__"')],
    ['very deep nesting', '['.repeat(30_000)],
  ])('%s is no opinion', (_, content) => {
    expect(readOpinion(content, SEEN)).toBe(null);
  });

  test('passages that do not occur where the model says are dropped', () => {
    const evidence = [
      { field: 'action.description', text: 'No games' },
      { field: 'action.nothing', text: 'Two controllers' },
      { field: 'toString', text: 'Two' },
      { field: '__proto__', text: 'Two' },
      { field: 'action.merchant', text: ' ' },
      { field: 'action.merchant', text: 'Nintendo' },
    ];
    expect(read({ evidence })?.evidence).toEqual([
      { field: 'action.merchant', text: 'Nintendo', effect: 'conflicts' },
    ]);
    const many = Array.from({ length: 50 }, () => ({ field: 'action.merchant', text: 'Nintendo' }));
    expect(read({ evidence: many })?.evidence).toHaveLength(4);
  });

  test('a rationale becomes one short line without hidden characters or quotes', () => {
    const dirty = 'It\u202e is\n\n "fine"\u0000\u200b \ud83d\ude00\ud800 ok\u{e0041}';
    expect(read({ rationale: dirty })?.rationale).toBe("It is 'fine' \ud83d\ude00 ok");
    const long = read({ rationale: '\ud83d\ude00'.repeat(1_000) })?.rationale ?? '';
    expect([...long]).toHaveLength(300);
    expect(long.endsWith('…')).toBe(true);
  });

  test('reading an answer never throws and returns a complete opinion or none, whatever a model answers', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.json({ maxDepth: 3 })), (content) => {
        expect(readOpinion(content, SEEN)).toBe(null);
      }),
    );
    const value = fc.oneof(fc.constantFrom(...PURPOSE_ASSESSMENTS), fc.jsonValue());
    fc.assert(
      fc.property(value, value, value, value, (rationale, evidence, assessment, confidence) => {
        const found = readOpinion(JSON.stringify({ rationale, evidence, assessment, confidence }), SEEN);
        if (found === null) return;
        expect(PURPOSE_ASSESSMENTS).toContain(found.assessment);
        expect(found.confidence >= 0 && found.confidence <= 1).toBe(true);
      }),
    );
  });
});

const evidence = fc.array(
  fc.record({
    field: fc.constant('action.merchant'),
    text: fc.string({ maxLength: 5 }),
    effect: fc.constantFrom(...EVIDENCE_EFFECTS),
  }),
  { maxLength: 12 },
);
const confidence = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
const assessed: fc.Arbitrary<Assessment> = fc.record({
  assessment: fc.constantFrom(...PURPOSE_ASSESSMENTS),
  confidence,
  method: fc.constant('built-in/1'),
  rationale: fc.constant('So says the table.'),
  evidence,
});
const opinions: fc.Arbitrary<Opinion> = fc.record({
  assessment: fc.constantFrom(...PURPOSE_ASSESSMENTS),
  confidence,
  rationale: fc.constant('So says the model.'),
  evidence: evidence.map((all) => all.slice(0, 4)),
  saw_all: fc.boolean(),
});
const rank = (one: Pick<Assessment, 'assessment'>) => PURPOSE_ASSESSMENTS.indexOf(one.assessment);
const ORDER = { PURPOSE_MISALIGNED: 0, PURPOSE_UNCLEAR: 1, PURPOSE_ALIGNED: 2 } as const;

describe('an opinion on an assessment', () => {
  test('an opinion never raises an assessment while clearing is off', () => {
    fc.assert(
      fc.property(assessed, opinions, (built_in, opinion) => {
        const { assessment } = withOpinion(built_in, opinion, { model: 'judge-1', may_clear: false });
        expect(ORDER[assessment.assessment]).toBe(
          Math.min(ORDER[built_in.assessment], ORDER[opinion.assessment]),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('with clearing on, an opinion raises only unclear to aligned, for a whole spend without suspicious evidence', () => {
    fc.assert(
      fc.property(assessed, opinions, (built_in, opinion) => {
        const { assessment, effect } = withOpinion(built_in, opinion, { model: 'judge-1', may_clear: true });
        const may =
          built_in.assessment === 'PURPOSE_UNCLEAR' &&
          opinion.assessment === 'PURPOSE_ALIGNED' &&
          opinion.saw_all &&
          built_in.evidence.every((one) => one.effect !== 'suspicious');
        expect(effect === 'cleared').toBe(may);
        expect(ORDER[assessment.assessment]).toBe(
          may ? 2 : Math.min(ORDER[built_in.assessment], ORDER[opinion.assessment]),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('method and rationale state the opinion, and the evidence is bounded', () => {
    fc.assert(
      fc.property(assessed, opinions, fc.boolean(), (built_in, opinion, may_clear) => {
        const { assessment, effect } = withOpinion(built_in, opinion, { model: 'judge-1', may_clear });
        expect(assessment.method).toBe('built-in/1+model/judge-1');
        expect(assessment.rationale).toContain('The model judge-1');
        expect(assessment.rationale).toContain(built_in.rationale);
        expect(assessment.evidence.length).toBeLessThanOrEqual(12);
        const changed = rank(assessment) !== rank(built_in);
        expect(changed).toBe(effect === 'lowered' || effect === 'cleared');
        if (!changed) expect(assessment.evidence).toEqual(built_in.evidence);
        if (changed) expect(assessment.rationale).toContain('"So says the model."');
      }),
    );
  });

  test('a missing opinion is stated, and lowers only an aligned spend for which it is required and nobody vouches', () => {
    fc.assert(
      fc.property(
        assessed,
        fc.constantFrom(...(Object.keys(NO_OPINION) as (keyof typeof NO_OPINION)[])),
        fc.boolean(),
        fc.boolean(),
        (built_in, why, is_required, is_vouched_for) => {
          const after = withoutOpinion(built_in, why, { is_required, is_vouched_for });
          const is_asked = built_in.assessment !== 'PURPOSE_MISALIGNED';
          const is_lowered = is_required && !is_vouched_for && built_in.assessment === 'PURPOSE_ALIGNED';
          if (!is_asked) expect(after).toEqual(built_in);
          else
            expect(after).toEqual({
              ...built_in,
              ...(is_lowered ? { assessment: 'PURPOSE_UNCLEAR', confidence: 0.5 } : {}),
              rationale: `${built_in.rationale} No second opinion: ${NO_OPINION[why]}.${
                is_lowered ? ' It is required here, so the purpose counts as unclear.' : ''
              }`,
            });
        },
      ),
    );
  });
});
