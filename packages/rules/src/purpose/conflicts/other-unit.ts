import { PURPOSE } from '../../sentences/purpose.ts';
import { UNIT_CODE } from '../language/figures.ts';
import { claimsToBe } from '../reading/spend-reading.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** The spend is for a unit other than those that the operator names by code ("only for H1 to H9"). */
export const otherUnit: Conflict = {
  kind: 'other_unit',
  severity: 'weak',
  applies: ({ purpose }) => purpose.units.length > 0,
  *find({ purpose, spend }) {
    for (const rule of purpose.units) {
      const { subject, subject_trades, ranges } = rule;
      const isMeant =
        subject.size === 0 ||
        [...subject].some((stem) => claimsToBe(spend, stem)) ||
        spend.description_matches.some((one) => one.trades.some((trade) => subject_trades.has(trade)));
      if (!isMeant) continue;
      for (const text of [spend.description, spend.task]) {
        for (const code of text.folded.matchAll(UNIT_CODE)) {
          const [, before = '', number = '', after = ''] = code;
          const shaped = ranges.filter(
            (one) =>
              before.length + after.length > 0 && one.before === before && one.after.length === after.length,
          );
          const isOwn = shaped.some(
            (one) => one.after === after && Number(number) >= one.from && Number(number) <= one.to,
          );
          if (shaped.length === 0 || isOwn) continue;
          yield {
            sentence: PURPOSE.other_unit(code[0].toUpperCase(), rule.text),
            evidence: [conflictsWith(text.field, code[0]), conflictsWith(rule.field, rule.text)],
            about: subjectOf(rule, [code[0]]),
          };
        }
      }
    }
  },
};
