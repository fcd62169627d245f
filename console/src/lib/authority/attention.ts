import type { AttentionComparison, AttentionLevel } from '@purser/contract/purpose/attention';

/** The levels in words. */
export const ATTENTION_WORDS: Readonly<Record<AttentionLevel, { label: string; meaning: string }>> = {
  LOW: {
    label: 'Low',
    meaning: 'Asks about merchants that nobody vouches for, and about contradictions.',
  },
  NORMAL: {
    label: 'Normal',
    meaning: 'Also about goods plainly of another trade, and conditions that a constraint sets.',
  },
  HIGH: { label: 'High', meaning: 'Also about any word that nobody has allowed at the merchant.' },
};

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The effect of a level on past requests, in sentences. */
export function attentionInWords(
  { evaluated, wrong, levels }: AttentionComparison,
  level: AttentionLevel,
): string {
  const row = levels.find((each) => each.level === level);
  if (evaluated === 0 || row === undefined) return 'No past requests to compare.';
  const asked = `Would have asked about ${row.asked} of ${counted(evaluated, 'request')}, with ${counted(row.questions, 'question')}.`;
  return wrong === 0
    ? `${asked} No request was found wrong.`
    : `${asked} Would have missed ${row.missed} of ${counted(wrong, 'wrong request')}.`;
}
