import { PURPOSE } from '../../sentences/purpose.ts';
import { type Conflict, conflictsWith, money, subjectOf } from './conflict.ts';

/** The sum is over one that a constraint names ("above 400 pounds"), so that what the constraint says may be about it. */
export const overMark: Conflict = {
  kind: 'over_mark',
  severity: 'unclear',
  applies: ({ purpose, spend, authority }) =>
    purpose.marks.length > 0 && spend.request.action.currency === authority.currency,
  *find({ purpose, spend }) {
    const { amount_minor } = spend.request.action;
    for (const rule of purpose.marks) {
      if (!rule.is_compared || amount_minor <= rule.amount_minor) continue;
      yield {
        sentence: PURPOSE.over_mark(money(spend), rule.text),
        evidence: [
          conflictsWith('action.amount_minor', String(amount_minor)),
          conflictsWith(rule.field, rule.text),
        ],
        about: subjectOf(rule),
      };
    }
  },
};
