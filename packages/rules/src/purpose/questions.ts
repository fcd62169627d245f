import type { QuestionAnswer } from '@purser/contract/purpose/questions';
import type { PurposeEvidence } from '../domain/assessment.ts';
import { questionId, type RaisedQuestion, settledBy } from '../domain/questions.ts';
import { PURPOSE } from '../sentences/purpose.ts';
import { conflictsWith, type Inquiry, type Raised, supports } from './conflicts/conflict.ts';
import { historyKey } from './reading/precedents.ts';

/** Questions that a decision shows; a spend with more is judged by all of them. */
const MAX_QUESTIONS = 20;

/** Findings as questions, and what people's answers make of them. */
export interface Settled {
  questions: readonly RaisedQuestion[];
  /** The sentence of a question that a reviewer answered with NO; undefined where there is none. */
  rejected: string | undefined;
  /** Findings without an answer that covers the spend, the surest first. */
  open: readonly Raised[];
  evidence: readonly PurposeEvidence[];
}

const dayOf = ({ at }: QuestionAnswer): string => at.slice(0, 10);

/** Asks a question of each finding once, and looks up what people answered. */
export function settle({ authority, spend, facts }: Inquiry, found: readonly Raised[]): Settled {
  const { action } = spend.request;
  const merchant_key = historyKey(action.merchant);
  const questions = new Map<string, RaisedQuestion>();
  const open: Raised[] = [];
  const approvals: PurposeEvidence[] = [];
  const rejections: PurposeEvidence[] = [];
  let rejected: string | undefined;
  for (const one of found) {
    const { kind, finding } = one;
    const { about, sentence } = finding;
    const question_id = questionId(authority.purpose.objective, { kind, merchant_key, about });
    if (questions.has(question_id)) continue;
    const settled = settledBy(facts.answers.get(question_id), action, authority);
    // A disguised name is nobody's, also not that of a merchant that people approved.
    const is_disguised = about === null && spend.merchant.disguise !== null;
    const answered = is_disguised && settled?.answer === 'YES' ? null : settled;
    questions.set(question_id, {
      question_id,
      kind,
      merchant_key,
      about,
      sentence,
      answered,
    });
    if (answered === null) open.push(one);
    else if (answered.answer === 'YES')
      approvals.push(supports('history', `approved by ${answered.by} on ${dayOf(answered)}`));
    else {
      rejected ??= `${PURPOSE.rejected(answered.by, dayOf(answered))} ${sentence}`;
      rejections.push(
        conflictsWith('history', `rejected by ${answered.by} on ${dayOf(answered)}`),
        ...finding.evidence,
      );
    }
  }
  // Open and rejected questions come first, so that a decision shows what it hangs on.
  const byWeight = (one: RaisedQuestion) =>
    one.answered === null ? 1 : one.answered.answer === 'NO' ? 0 : 2;
  return {
    questions: [...questions.values()].sort((a, b) => byWeight(a) - byWeight(b)).slice(0, MAX_QUESTIONS),
    rejected,
    open,
    evidence: [...rejections, ...open.flatMap(({ finding }) => finding.evidence), ...approvals],
  };
}
