import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import type { Judgement } from '@purser/rules/domain/assessment';
import type { Opinion } from '../../src/service/model-judge/read-opinion.ts';
import {
  modelQuestion,
  type NoOpinion,
  withOpinion,
  withoutOpinion,
  withSettledDoubt,
} from '../../src/service/model-judge/second-opinion.ts';
import { NO_OPINION } from '../../src/service/model-judge/sentences.ts';

const model = 'judge-1';
const AUTHORITY: Authority = { purpose: { objective: 'Buy flour.' }, currency: 'EUR' };
const REQUEST: SpendRequest = {
  action: { type: 'purchase', merchant: 'Metro', amount_minor: 100, currency: 'EUR', description: 'flour' },
};
const OPINION: Opinion = {
  assessment: 'PURPOSE_ALIGNED',
  confidence: 1,
  rationale: 'It fits.',
  evidence: [],
  saw_all: true,
  quotes_operator: true,
};

const built_in = (assessment: Judgement['assessment']): Judgement => ({
  assessment,
  confidence: 1,
  method: 'built-in/1',
  rationale: '',
  evidence: [],
  questions: [],
  vouched_by: { by: 'PERSON', says: 'approved', entry_id: null },
  is_final: false,
});

/** Texts of assessments with a model that between them have every sentence about its opinion. */
export function textsOfOpinions(): string[] {
  const may_clear = { model, may_clear: true };
  const assessments = [
    withOpinion(built_in('PURPOSE_ALIGNED'), OPINION, may_clear).assessment,
    withOpinion(
      built_in('PURPOSE_ALIGNED'),
      { ...OPINION, assessment: 'PURPOSE_UNCLEAR', rationale: 'Is it for the bakery?' },
      may_clear,
    ).assessment,
    withOpinion(built_in('PURPOSE_UNCLEAR'), OPINION, may_clear).assessment,
    withOpinion(built_in('PURPOSE_MISALIGNED'), OPINION, may_clear).assessment,
    withOpinion(built_in('PURPOSE_UNCLEAR'), OPINION, { model, may_clear: false }).assessment,
    ...Object.keys(NO_OPINION).map((why) =>
      withoutOpinion(built_in('PURPOSE_ALIGNED'), why as NoOpinion, {
        is_required: why === 'timeout',
        is_vouched_for: false,
      }),
    ),
  ];
  const doubt = modelQuestion(
    { ...OPINION, rationale: 'Is it for the bakery?' },
    { authority: AUTHORITY, request: REQUEST, answers: new Map(), model },
  );
  const answer = { by: 'user:ada', at: '2026-11-03T08:00:00.000Z', answer: 'YES' } as const;
  const settled = withSettledDoubt(built_in('PURPOSE_ALIGNED'), doubt, answer, model);
  return [...assessments, settled].map(({ rationale }) => rationale.trim());
}
