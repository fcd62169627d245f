import type { Authority } from '@purser/contract/authority';
import type { Decision, StageFinding } from '@purser/contract/decisions';
import {
  ATTENTION_LEVELS,
  type AttentionComparison,
  type AttentionLevel,
} from '@purser/contract/purpose/attention';
import type { QuestionKind } from '@purser/contract/purpose/questions';
import type { Label } from '@purser/contract/records';
import type { Judgement, PurposeAssessment } from '@purser/rules/domain/assessment';
import { isAskedAt } from '@purser/rules/purpose/conflicts/all';

/** A past decision to compare the levels by. */
export interface Compared {
  authority: Authority;
  /** Returns the judgement at each level now. */
  judged: () => Record<AttentionLevel, Judgement>;
  /** The assessment that counts at the authority's own level; null if it is that of `judged`. */
  made: Pick<Decision['purpose'], 'assessment' | 'questions'> | null;
  /** The result of all stages. */
  policy_trace: readonly StageFinding[];
  /** True if people found the spend wrong. */
  is_wrong: boolean;
}

/** True if people found a spend wrong: by its label, or without one that says so by its newest review. */
export const isFoundWrong = (label: Label['label'] | null | undefined, is_denied = false): boolean =>
  label === 'PURPOSE_MISALIGNED' || (label !== 'PURPOSE_ALIGNED' && is_denied);

/** A function that computes its value at most once, and only if it is called. */
export function once<T>(compute: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: compute() };
    return made.value;
  };
}

interface AtLevel {
  assessment: PurposeAssessment;
  questions: readonly { question_id: string; kind: QuestionKind }[];
}

const isUnsettled = ({ answered }: { answered: { answer: string } | null }) => answered?.answer !== 'YES';

/** Returns the questions of a spend at each level. What was found then counts, and higher levels add to it. */
function levelsOf({ authority, judged, made }: Compared): Record<AttentionLevel, AtLevel> {
  const now = (level: AttentionLevel): AtLevel => {
    const { assessment, questions } = judged()[level];
    return { assessment, questions: questions.filter(isUnsettled) };
  };
  if (made === null) return { LOW: now('LOW'), NORMAL: now('NORMAL'), HIGH: now('HIGH') };
  const own = authority.purpose.attention ?? 'NORMAL';
  const asked = (made.questions ?? []).filter(isUnsettled);
  const at = (level: AttentionLevel): AtLevel => {
    const is_higher = ATTENTION_LEVELS.indexOf(level) > ATTENTION_LEVELS.indexOf(own);
    const more = is_higher ? now(level).questions.filter(({ kind }) => !isAskedAt(kind, own)) : [];
    // A final reason is no question, and older decisions have none.
    if (made.assessment !== 'PURPOSE_ALIGNED' && asked.length === 0)
      return { assessment: made.assessment, questions: more };
    const left =
      made.assessment === 'PURPOSE_ALIGNED' ? [] : asked.filter(({ kind }) => isAskedAt(kind, level));
    const assessment = left.length > 0 ? made.assessment : 'PURPOSE_ALIGNED';
    if (more.length === 0) return { assessment, questions: left };
    return {
      assessment: assessment === 'PURPOSE_ALIGNED' ? 'PURPOSE_UNCLEAR' : assessment,
      questions: [...left, ...more],
    };
  };
  return { LOW: at('LOW'), NORMAL: at('NORMAL'), HIGH: at('HIGH') };
}

/** Counts what each level of attention would have asked and missed, over decisions that are added one by one. */
export class AttentionTable {
  readonly #levels = ATTENTION_LEVELS.map((level) => ({ level, asked: 0, found: 0, missed: 0 }));
  readonly #questions = ATTENTION_LEVELS.map(() => new Set<string>());
  #evaluated = 0;
  #wrong = 0;

  add(compared: Compared): void {
    const { authority, policy_trace, is_wrong } = compared;
    const others = policy_trace.filter(({ stage }) => stage !== 'purpose').map(({ outcome }) => outcome);
    const is_denied = others.includes('DENY');
    const is_stopped = is_denied || others.includes('REVIEW');
    const levels = levelsOf(compared);
    this.#evaluated += 1;
    if (is_wrong) this.#wrong += 1;
    for (const [i, counts] of this.#levels.entries()) {
      const { assessment, questions } = levels[counts.level];
      const is_asked =
        assessment === 'PURPOSE_MISALIGNED' ||
        (assessment === 'PURPOSE_UNCLEAR' && authority.on_purpose_unclear !== 'ALLOW');
      if (is_asked && !is_denied) {
        counts.asked += 1;
        if (is_wrong) counts.found += 1;
        for (const { question_id } of questions) this.#questions[i]?.add(question_id);
      }
      if (is_wrong && !is_asked && !is_stopped) counts.missed += 1;
    }
  }

  result(): AttentionComparison {
    const levels = this.#levels.map((counts, i) => ({
      ...counts,
      questions: this.#questions[i]?.size ?? 0,
    }));
    return { evaluated: this.#evaluated, wrong: this.#wrong, levels };
  }
}
