import { PURPOSE } from '../../sentences/purpose.ts';
import { amountsIn, minorOf, unitOf } from '../../values/amounts.ts';
import type { MarkRule } from '../reading/authority-terms.ts';
import { countedIn } from '../reading/limited-counts.ts';
import { type Conflict, conflictsWith, type Inquiry, money, subjectOf } from './conflict.ts';

/**
 * The spend's sum for one of what a limit is for, as its words tell: a rate that they name, or the amount by the smallest
 * number of nights or the like. Undefined where they tell none. Added words only make it larger.
 */
function sumForOne({ spend, authority }: Inquiry, { per }: MarkRule): number | undefined {
  const { text, tokens } = spend.description;
  const rates = amountsIn(text).flatMap((amount) =>
    amount.per === per ? (minorOf(amount, authority.currency) ?? []) : [],
  );
  const counts = [...countedIn(tokens, ({ word }) => unitOf(word) === per)].flatMap(
    ({ count }) => count || [],
  );
  if (counts.length > 0) rates.push(spend.request.action.amount_minor / Math.min(...counts));
  return rates.length === 0 ? undefined : Math.max(...rates);
}

/** The sum or a number is over one that a constraint names ("above 400 pounds", "never more than 9 seats"). */
export const overMark: Conflict = {
  kind: 'over_mark',
  severity: 'unclear',
  applies: ({ purpose, spend, authority }) =>
    purpose.counts.length > 0 ||
    (purpose.marks.length > 0 && spend.request.action.currency === authority.currency),
  *find(inquiry) {
    const { purpose, spend, authority } = inquiry;
    for (const rule of purpose.counts) {
      for (const { field, tokens } of [spend.description, spend.task]) {
        for (const { count, text } of countedIn(tokens, ({ stem }) => rule.units.has(stem))) {
          if (count <= rule.most) continue;
          yield {
            sentence: PURPOSE.over_mark_count(text, rule.text),
            evidence: [conflictsWith(field, text), conflictsWith(rule.field, rule.text)],
            about: subjectOf(rule, [...rule.units]),
          };
        }
      }
    }
    if (spend.request.action.currency !== authority.currency) return;
    const { amount_minor } = spend.request.action;
    for (const rule of purpose.marks) {
      const sum = rule.is_compared ? amount_minor : sumForOne(inquiry, rule);
      if (sum === undefined || sum <= rule.amount_minor) continue;
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
