import type { Assessment } from '@purser/contract/decisions';
import { EVIDENCE_EFFECTS, PURPOSE_ASSESSMENTS } from '@purser/contract/values/decisions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Opinion } from './read-opinion.ts';
import { NO_OPINION, withOpinion, withoutOpinion } from './second-opinion.ts';

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
  quotes_operator: fc.boolean(),
  saw_all: fc.boolean(),
});
/** Kinds of facts that may vouch for the merchant, and a question about it that is open. */
const vouchers = fc.constantFrom(null, 'OPERATOR', 'DIRECTORY', 'PERSON', 'RAIL', 'TRADE', 'asked' as const);
const OPEN = {
  question_id: 'q_1',
  kind: 'new_payee',
  merchant_key: 'x',
  about: null,
  sentence: 'Who is it?',
  answered: null,
} as const;
const judged = fc.tuple(assessed, fc.boolean(), vouchers).map(([one, is_final, voucher]) => ({
  ...one,
  is_final,
  vouched_by:
    voucher === null ? null : { by: voucher === 'asked' ? 'PERSON' : voucher, says: 'x', entry_id: null },
  questions: voucher === 'asked' ? [OPEN] : [],
}));
const isClearable = ({ vouched_by, questions }: { vouched_by: { by: string } | null; questions: object[] }) =>
  vouched_by !== null && vouched_by.by !== 'TRADE' && questions.length === 0;
const rank = (one: Pick<Assessment, 'assessment'>) => PURPOSE_ASSESSMENTS.indexOf(one.assessment);
const ORDER = { PURPOSE_MISALIGNED: 0, PURPOSE_UNCLEAR: 1, PURPOSE_ALIGNED: 2 } as const;

describe('an opinion on an assessment', () => {
  test('an opinion never raises an assessment while clearing is off', () => {
    fc.assert(
      fc.property(judged, opinions, (built_in, opinion) => {
        const { assessment } = withOpinion(built_in, opinion, { model: 'judge-1', may_clear: false });
        expect(ORDER[assessment.assessment]).toBe(
          Math.min(ORDER[built_in.assessment], ORDER[opinion.assessment]),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('with clearing on, an opinion raises only to aligned what is not final, at a merchant that somebody vouches for, for a whole spend without suspicious evidence, quoting the operator', () => {
    fc.assert(
      fc.property(judged, opinions, (built_in, opinion) => {
        const { assessment, effect } = withOpinion(built_in, opinion, { model: 'judge-1', may_clear: true });
        const may =
          built_in.assessment !== 'PURPOSE_ALIGNED' &&
          !built_in.is_final &&
          isClearable(built_in) &&
          opinion.assessment === 'PURPOSE_ALIGNED' &&
          opinion.saw_all &&
          opinion.quotes_operator &&
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
      fc.property(judged, opinions, fc.boolean(), (built_in, opinion, may_clear) => {
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
          const is_lowered = is_required && !is_vouched_for && built_in.assessment === 'PURPOSE_ALIGNED';
          expect(after).toEqual({
            ...built_in,
            ...(is_lowered ? { assessment: 'PURPOSE_UNCLEAR', confidence: 0.5 } : {}),
            rationale: `${built_in.rationale} ${NO_OPINION[why]()}${
              is_lowered ? ' The installation requires one, so the purpose counts as unclear.' : ''
            }`,
          });
        },
      ),
    );
  });
});
