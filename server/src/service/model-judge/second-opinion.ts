import type { Authority } from '@purser/contract/authority';
import type { Assessment, SpendRequest } from '@purser/contract/decisions';
import type { QuestionAnswer } from '@purser/contract/purpose/questions';
import {
  type Judgement,
  type PurposeAssessment,
  type PurposeEvidence,
  storedAssessment,
} from '@purser/rules/domain/assessment';
import { type Answers, questionId, type RaisedQuestion, settledBy } from '@purser/rules/domain/questions';
import { lists, type VouchingAllowance } from '@purser/rules/domain/spend-facts';
import { allowedMerchant } from '@purser/rules/purpose/allowed-merchants';
import { historyKey, historyWords } from '@purser/rules/purpose/history';
import type { LabelledSpend } from './prompt.ts';
import type { Opinion } from './read-opinion.ts';
import { NO_OPINION, OPINION } from './sentences.ts';

export { NO_OPINION };

export type NoOpinion = keyof typeof NO_OPINION;

export type Asked = { opinion: Opinion } | { none: NoOpinion };

/** On whose behalf the model is asked; workspaces share neither opinions nor circuits. */
export interface Asker {
  workspace_id: string;
  agent_id: string;
}

/** A question to a model; `authority_hash` is the hash of `authority`. */
export interface ModelQuestion {
  authority_hash: string;
  authority: Authority;
  request: SpendRequest;
  /** The vouching allowances that it is made under, whose words are the operator's. */
  allowances?: readonly VouchingAllowance[];
  /** Fields of the spend in which a rule found words that read like an instruction. */
  suspicious: readonly string[];
  /** Earlier spends of the agent with what people said of them. */
  examples: readonly LabelledSpend[];
  /** A person sees the spend in any case, so that a slow answer delays nobody. */
  is_review_anyway: boolean;
}

/**
 * Asks a model about a spend. Never rejects, and resolves within a bounded time with an opinion or the reason why there is
 * none.
 */
export type AskModel = (asker: Asker, spend: ModelQuestion) => Promise<Asked>;

/** How an opinion changed the built-in assessment. */
export const OPINION_EFFECTS = ['agreed', 'lowered', 'cleared', 'not_raised', 'settled'] as const;
export type OpinionEffect = (typeof OPINION_EFFECTS)[number];

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

/** The parts of a judgement that an opinion uses. */
type Judged = Assessment & Pick<Judgement, 'is_final' | 'vouched_by' | 'questions'>;

/** True if an opinion could change a judgement: never one that is final, and a misaligned one only where it may clear. */
export function isOpen(built_in: Judged, { may_clear }: { may_clear: boolean }): boolean {
  if (built_in.assessment !== 'PURPOSE_MISALIGNED') return true;
  return may_clear && isClearable(built_in);
}

/** Questions about the merchant or the payee, which the operator's people answer. */
const OF_WHOM_IS_PAID: ReadonlySet<string> = new Set(['new_merchant', 'new_payee', 'other_payee']);

/**
 * True if a model may clear a judgement: nothing final or suspicious was found, and somebody vouches for the merchant. The
 * built-in tables are nobody: a merchant that only they know is a person's question, as an unknown one is.
 */
function isClearable(built_in: Judged): boolean {
  const { is_final, vouched_by, questions } = built_in;
  const is_unknown = questions.some(({ kind, answered }) => answered === null && OF_WHOM_IS_PAID.has(kind));
  const is_vouched_for = vouched_by !== null && vouched_by.by !== 'TRADE' && !is_unknown;
  return !is_final && !isSuspicious(built_in) && is_vouched_for;
}

/** Words that mislead one judge may mislead the other. */
const isSuspicious = ({ evidence }: Assessment) => evidence.some(({ effect }) => effect === 'suspicious');

/**
 * Combines the built-in judgement with a model's opinion. The opinion can lower it, and raises it in one case: to ALIGNED,
 * from anything that is not final, if `may_clear` is set, somebody vouches for the merchant, both judges read the whole
 * spend, the model quotes the operator, and the built-in assessor found nothing suspicious.
 */
export function withOpinion(
  built_in: Judged,
  opinion: Opinion,
  options: { model: string; may_clear: boolean },
): { assessment: Assessment; effect: OpinionEffect } {
  const { model } = options;
  const method = `${built_in.method}+model/${model}`;
  const from = built_in.assessment;
  const to = opinion.assessment;
  const stay = (effect: OpinionEffect, sentence: string) => ({
    effect,
    assessment: { ...storedAssessment(built_in), method, rationale: `${built_in.rationale} ${sentence}` },
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

  if (RANK[to] === RANK[from]) return stay('agreed', OPINION.agrees(model));
  if (RANK[to] < RANK[from]) {
    return follow(
      'lowered',
      `${OPINION.lowers(model, WORD[to], opinion.rationale, WORD[from])} ${built_in.rationale}`,
      built_in.evidence,
    );
  }
  const may_clear = options.may_clear && to === 'PURPOSE_ALIGNED' && isClearable(built_in);
  if (may_clear && opinion.saw_all && opinion.quotes_operator) {
    const clears = from === 'PURPOSE_UNCLEAR' ? OPINION.clears_unclear : OPINION.clears_misaligned;
    return follow('cleared', `${clears(model, opinion.rationale)} ${built_in.rationale}`, built_in.evidence);
  }
  return stay('not_raised', OPINION.not_raised(model, WORD[to]));
}

/**
 * The doubt of a model as a question to people: about the telling words of the description at that merchant, so that the
 * same doubt is asked about once. An answer settles it as it settles those of the rules.
 */
export function modelQuestion(
  { rationale }: Opinion,
  { authority, request: { action }, answers, model }: Doubted,
): RaisedQuestion {
  const merchant_key = historyKey(action.merchant);
  const about = { clause: null, words: historyWords(action.description ?? '').sort() };
  const question_id = questionId(authority.purpose.objective, { kind: 'model', merchant_key, about });
  return {
    question_id,
    kind: 'model',
    merchant_key,
    about,
    sentence: OPINION.doubts(model, rationale),
    answered: settledBy(answers.get(question_id), action, authority),
  };
}

/** The spend that a model doubts. */
interface Doubted {
  authority: Authority;
  request: SpendRequest;
  answers: Answers;
  model: string;
}

/** The built-in assessment where a model would lower it and people approved what it doubts. */
export function withSettledDoubt(
  built_in: Assessment,
  { sentence }: RaisedQuestion,
  answer: QuestionAnswer,
  model: string,
): Assessment {
  const { by, at } = answer;
  return {
    ...storedAssessment(built_in),
    method: `${built_in.method}+model/${model}`,
    rationale: `${built_in.rationale} ${sentence} ${OPINION.settled(by, at.slice(0, 10))}`,
  };
}

/** Confidence of UNCLEAR where a required opinion is missing. */
const UNJUDGED_CONFIDENCE = 0.5;

/**
 * True if a spend may count as aligned without a required opinion: its merchant is on the operator's list, that of an
 * allowance included, or people confirmed such spends. Neither the words of the spend nor a name in the purpose's texts, nor
 * the sentence of an allowance, are enough.
 */
export function isVouchedFor(
  { vouched_by }: Pick<Judgement, 'vouched_by'>,
  authority: Authority,
  request: SpendRequest,
  allowances: readonly VouchingAllowance[] = [],
): boolean {
  const by = vouched_by?.by;
  return (
    by === 'DIRECTORY' ||
    by === 'PERSON' ||
    allowances.some(lists) ||
    allowedMerchant(authority, request) !== null
  );
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
  const rationale = `${built_in.rationale} ${NO_OPINION[why]()}`;
  const is_lowered =
    options.is_required && !options.is_vouched_for && built_in.assessment === 'PURPOSE_ALIGNED';
  if (!is_lowered) return { ...built_in, rationale };
  return {
    ...built_in,
    assessment: 'PURPOSE_UNCLEAR',
    confidence: UNJUDGED_CONFIDENCE,
    rationale: `${rationale} ${OPINION.required()}`,
  };
}
