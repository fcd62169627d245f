import { PURPOSE } from '../../sentences/purpose.ts';
import { claimsToBe } from '../reading/spend-reading.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** Goods that the purpose buys only from certain merchants come from another one. */
export const otherSource: Conflict = {
  kind: 'other_source',
  severity: 'weak',
  applies: ({ purpose }) => purpose.sources.length > 0,
  *find({ purpose, spend }) {
    for (const rule of purpose.sources) {
      if (spend.merchant.tokens.some((token) => rule.names.has(token.word))) continue;
      const stems = [...rule.subject];
      if (stems.length === 0 || rule.is_any || !stems.every((stem) => claimsToBe(spend, stem))) continue;
      yield {
        sentence: PURPOSE.other_source(spend.merchant.raw, rule.text),
        evidence: [
          conflictsWith('action.merchant', spend.merchant.raw),
          conflictsWith(rule.field, rule.text),
        ],
        about: subjectOf(rule),
      };
    }
  },
};
