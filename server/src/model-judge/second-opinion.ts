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

/** What a model said about a spend, checked and cleaned. */
export interface Opinion {
  assessment: PurposeAssessment;
  /** 0..1 */
  confidence: number;
  rationale: string;
  /** Passages that really stand in the field named. */
  evidence: PurposeEvidence[];
  /** Whether the model was shown the whole spend. */
  saw_all: boolean;
}

/** Why there is no opinion, as it goes on after "No second opinion: ". */
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

/** Whose question it is: nothing that is asked for one workspace takes anything from another. */
export interface Asker {
  workspace_id: string;
  agent_id: string;
}

/**
 * Asks a model about a spend; `authority_hash` is that of `authority`. Always resolves, within a bounded time, and
 * says why when there is no opinion.
 */
export type AskModel = (
  asker: Asker,
  authority_hash: string,
  authority: Authority,
  request: SpendRequest,
) => Promise<Asked>;

/** What an opinion did to the built-in assessment. */
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
/** Control, format and private characters, surrogates without their other half, and what renders as nothing. */
const UNPRINTABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}\p{Cn}]/gu;

/** A model's words as a line that is safe to show: cleaned, cut, without double quotes since it is shown in them. */
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
 * Reads a model's answer; null when it is anything but the form that was asked for. Passages that do not stand word
 * for word where the model says they do are dropped.
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

/** Whether a model could still change an assessment: below misaligned there is nothing. */
export function canBeLowered(built_in: Assessment): boolean {
  return built_in.assessment !== 'PURPOSE_MISALIGNED';
}

/**
 * The built-in assessment with a model's opinion on it. The opinion can lower it. It raises it in one case: UNCLEAR
 * becomes ALIGNED if `may_clear`, the model saw the whole spend, and the built-in assessor found nothing suspicious
 * in it, since words that mislead one judge may mislead the other.
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
  const keep = (effect: OpinionEffect, sentence: string) => ({
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

  if (RANK[to] === RANK[from]) return keep('agreed', `The model ${model} agrees.`);
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
  return keep('not_raised', `The model ${model} calls it ${WORD[to]}, which does not raise the assessment.`);
}

/** How sure it is that nobody knows. */
const UNJUDGED_CONFIDENCE = 0.5;

/**
 * Whether a spend needs no judge to count as aligned: the operator listed its merchant, or people found such spends
 * to fit. The words of the spend do not make it so, nor does a name in the purpose's texts.
 */
export function isVouchedFor(authority: Authority, request: SpendRequest, history?: PurposeHistory): boolean {
  return allowedMerchant(authority, request) !== null || pastOf(request, history).confirmed !== undefined;
}

/**
 * The built-in assessment where a model was to be asked and gave no opinion, with the reason. It stands; where the
 * opinion is required, ALIGNED becomes UNCLEAR unless the spend is vouched for.
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
