import {
  type Assessment,
  PURPOSE_ASSESSMENTS,
  type PurposeAssessment,
  type PurposeEvidence,
  type PurposeHistory,
} from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { allowedMerchant } from '../purpose/allowed-merchants.ts';
import { pastOf } from '../purpose/history.ts';
import type { SeenByModel } from './prompt.ts';

/** A model's assessment of a spend, validated and sanitized. */
export interface Opinion {
  assessment: PurposeAssessment;
  /** 0..1 */
  confidence: number;
  rationale: string;
  /** Only passages that really occur in the field that they name. */
  evidence: PurposeEvidence[];
  /** True if the model saw the whole spend. */
  saw_all: boolean;
}

/** Reasons for a missing opinion; each text completes "No second opinion: ". */
export const NO_OPINION = {
  timeout: 'the model did not answer in time',
  unreachable: 'the model could not be reached',
  http_error: 'the model answered with an error',
  too_large: 'the model answered more than is read',
  not_understood: 'the model did not answer in the form asked for',
  busy: 'the model was busy with other spends',
  circuit_open: 'the model failed lately and is left alone for a while',
  stopping: 'the service was stopping',
} as const;
export type NoOpinion = keyof typeof NO_OPINION;

export type Asked = { opinion: Opinion } | { none: NoOpinion };

/** On whose behalf the model is asked; workspaces share neither opinions nor circuits. */
export interface Asker {
  workspace_id: string;
  agent_id: string;
}

/**
 * Asks a model about a spend; `authority_hash` is that of `authority`. Never rejects, and resolves within a bounded time
 * with an opinion or the reason why there is none.
 */
export type AskModel = (
  asker: Asker,
  authority_hash: string,
  authority: Authority,
  request: SpendRequest,
) => Promise<Asked>;

/** How an opinion changed the built-in assessment. */
export type OpinionEffect = 'agreed' | 'lowered' | 'cleared' | 'not_raised';

const RANK: Record<PurposeAssessment, number> = {
  PURPOSE_MISALIGNED: 0,
  PURPOSE_UNCLEAR: 1,
  PURPOSE_ALIGNED: 2,
};
const WORD: Record<PurposeAssessment, string> = {
  PURPOSE_MISALIGNED: 'misaligned',
  PURPOSE_UNCLEAR: 'unclear',
  PURPOSE_ALIGNED: 'aligned',
};

const MAX_EVIDENCE = 12;
const MAX_RATIONALE_LENGTH = 300;
const MAX_OPINION_EVIDENCE = 4;
const MAX_QUOTE_LENGTH = 160;
/** Format, private-use and unassigned characters, lone surrogates, and characters that render as nothing. */
const UNPRINTABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}\p{Cn}]/gu;

/** A model's words as one line that is safe to show: sanitized, cut, and without double quotes, which enclose it. */
function asLine(text: string, max: number): string {
  const line = text
    .replace(UNPRINTABLE, '')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replaceAll('"', "'")
    .trim();
  const signs = [...line];
  return signs.length <= max ? line : `${signs.slice(0, max - 1).join('')}…`;
}

const hasExactly = (value: unknown, names: readonly string[]): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length === names.length &&
  names.every((name) => Object.hasOwn(value, name));

/**
 * Parses a model's answer; null if it does not have exactly the form that was asked for. Quoted passages that do not
 * occur word for word in the field that they name are dropped.
 */
export function readOpinion(content: string, seen: SeenByModel): Opinion | null {
  let answer: unknown;
  try {
    answer = JSON.parse(content);
  } catch {
    return null;
  }
  if (!hasExactly(answer, ['rationale', 'evidence', 'assessment', 'confidence'])) return null;
  const { rationale, evidence, confidence } = answer;
  const assessment = PURPOSE_ASSESSMENTS.find((one) => one === answer.assessment);
  if (assessment === undefined || typeof rationale !== 'string' || !Array.isArray(evidence)) return null;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) return null;
  const line = asLine(rationale, MAX_RATIONALE_LENGTH);
  if (line === '') return null;
  const passages: PurposeEvidence[] = [];
  for (const one of evidence) {
    if (!hasExactly(one, ['field', 'text'])) return null;
    const { field, text } = one;
    if (typeof field !== 'string' || typeof text !== 'string') return null;
    if (passages.length === MAX_OPINION_EVIDENCE || text.trim() === '' || text.length > MAX_QUOTE_LENGTH) {
      continue;
    }
    const texts = Object.hasOwn(seen.spend, field) ? seen.spend : seen.purpose;
    if (!Object.hasOwn(texts, field) || texts[field]?.includes(text) !== true) continue;
    passages.push({ field, text, effect: assessment === 'PURPOSE_ALIGNED' ? 'supports' : 'conflicts' });
  }
  return {
    assessment,
    confidence: Math.round(confidence * 100) / 100,
    rationale: line,
    evidence: passages,
    saw_all: !seen.cut,
  };
}

/** True if an opinion could still lower an assessment. */
export function canBeLowered(built_in: Assessment): boolean {
  return built_in.assessment !== 'PURPOSE_MISALIGNED';
}

/**
 * Combines the built-in assessment with a model's opinion. The opinion can lower it, and raises it in one case: UNCLEAR
 * becomes ALIGNED if `may_clear` is set, the model saw the whole spend, and the built-in assessor found nothing
 * suspicious, because words that mislead one judge may mislead the other.
 */
export function withOpinion(
  built_in: Assessment,
  opinion: Opinion,
  options: { model: string; may_clear: boolean },
): { assessment: Assessment; effect: OpinionEffect } {
  const { model } = options;
  const method = `${built_in.method}+model/${model}`;
  const from = built_in.assessment;
  const to = opinion.assessment;
  const stay = (effect: OpinionEffect, sentence: string) => ({
    effect,
    assessment: { ...built_in, method, rationale: `${built_in.rationale} ${sentence}` },
  });
  const follow = (effect: OpinionEffect, rationale: string, evidence: readonly PurposeEvidence[]) => ({
    effect,
    assessment: {
      assessment: to,
      confidence: opinion.confidence,
      method,
      rationale,
      evidence: [...opinion.evidence, ...evidence].slice(0, MAX_EVIDENCE),
    },
  });

  if (RANK[to] === RANK[from]) return stay('agreed', `The model ${model} agrees.`);
  if (RANK[to] < RANK[from]) {
    return follow(
      'lowered',
      `The model ${model} calls it ${WORD[to]}: "${opinion.rationale}" The built-in assessor called it ${WORD[from]}: ${built_in.rationale}`,
      built_in.evidence,
    );
  }
  const is_suspicious = built_in.evidence.some((one) => one.effect === 'suspicious');
  const may_clear = options.may_clear && from === 'PURPOSE_UNCLEAR' && to === 'PURPOSE_ALIGNED';
  if (may_clear && opinion.saw_all && !is_suspicious) {
    return follow(
      'cleared',
      `The model ${model} calls it aligned, which the operator lets count: "${opinion.rationale}" The built-in assessor could not tell: ${built_in.rationale}`,
      built_in.evidence,
    );
  }
  return stay('not_raised', `The model ${model} calls it ${WORD[to]}, which does not raise the assessment.`);
}

/** Confidence of UNCLEAR where a required opinion is missing. */
const UNJUDGED_CONFIDENCE = 0.5;

/**
 * True if a spend may count as aligned without a required opinion: its merchant is on the operator's list, or people
 * confirmed such spends. Neither the words of the spend nor a name in the purpose's texts are enough.
 */
export function isVouchedFor(authority: Authority, request: SpendRequest, history?: PurposeHistory): boolean {
  return allowedMerchant(authority, request) !== null || pastOf(request, history).confirmed !== undefined;
}

/**
 * The built-in assessment where the model returned no opinion, with the reason. It stays as it is, unless the opinion is
 * required and nobody vouches for the spend: then ALIGNED becomes UNCLEAR.
 */
export function withoutOpinion(
  built_in: Assessment,
  why: NoOpinion,
  options: { is_required: boolean; is_vouched_for: boolean },
): Assessment {
  if (!canBeLowered(built_in)) return built_in;
  const rationale = `${built_in.rationale} No second opinion: ${NO_OPINION[why]}.`;
  const is_lowered =
    options.is_required && !options.is_vouched_for && built_in.assessment === 'PURPOSE_ALIGNED';
  if (!is_lowered) return { ...built_in, rationale };
  return {
    ...built_in,
    assessment: 'PURPOSE_UNCLEAR',
    confidence: UNJUDGED_CONFIDENCE,
    rationale: `${rationale} It is required here, so the purpose counts as unclear.`,
  };
}
