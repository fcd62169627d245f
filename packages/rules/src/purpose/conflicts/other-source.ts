import { claimsToBe } from '../reading/spend-reading.ts';
import { type Conflict, conflictsWith, MAX_QUOTE_LENGTH } from './conflict.ts';

/** Goods that the purpose buys only from certain merchants come from another one. */
export const otherSource: Conflict = {
  id: 'other-source',
  severity: 'weak',
  applies: ({ purpose }) => purpose.sources.length > 0,
  find({ purpose, spend }) {
    for (const { subject, names, is_any, field, text } of purpose.sources) {
      if (spend.merchant.tokens.some((token) => names.has(token.word))) continue;
      const stems = [...subject];
      if (stems.length === 0 || is_any || !stems.every((stem) => claimsToBe(spend, stem))) continue;
      return {
        sentence: `"${spend.merchant.raw.slice(0, MAX_QUOTE_LENGTH)}" is not one of the sellers that the purpose names for this: "${text.slice(0, MAX_QUOTE_LENGTH)}".`,
        evidence: [conflictsWith('action.merchant', spend.merchant.raw), conflictsWith(field, text)],
      };
    }
    return undefined;
  },
};
