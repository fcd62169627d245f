import { patternOf, readTerms } from '@purser/purpose-data';

/** Language aimed at whoever judges the spend, or at the agent that reads it, instead of saying what is bought. */
export interface AttackPattern {
  id: string;
  /** Completes "The request …". */
  meaning: string;
  /** True if nobody writes so who only says what is bought. */
  is_certain: boolean;
  pattern: RegExp;
}

export const ATTACK_PATTERNS: readonly AttackPattern[] = [...readTerms('attack-patterns')].map(
  ([heading, lines]) => {
    const [id = '', meaning = '', certainty] = heading.split('; ');
    return { id, meaning, is_certain: certainty === 'certain', pattern: patternOf(lines, 'g') };
  },
);
