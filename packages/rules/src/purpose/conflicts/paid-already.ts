import { PURPOSE } from '../../sentences/purpose.ts';
import {
  daysBetween,
  isNumbered,
  isSamePartner,
  mayBeSameKind,
  maybeSamePartner,
  repeats,
} from '../reading/own-spends.ts';
import { type Conflict, conflictsWith, money, subjectOf, subjectWords } from './conflict.ts';

/** Within this time, the same sum for the same words is taken for the same thing. */
const SAME_DAYS = 7;
/** With so many equal payments in that time, it is a habit. */
const HABIT = 2;

/** The agent paid the same payee the same sum for the same thing some days ago. */
export const paidAlready: Conflict = {
  kind: 'paid_already',
  severity: 'final',
  applies: ({ facts }) => facts.paid.length > 0,
  *find({ spend, facts }) {
    const { action } = spend.request;
    const same = facts.paid.filter(
      (one) =>
        one.state === 'EXECUTED' &&
        one.amount_minor === action.amount_minor &&
        one.currency === action.currency &&
        mayBeSameKind(one.type, action.type) &&
        maybeSamePartner(one, action) &&
        daysBetween(one.at, facts.as_of) <= SAME_DAYS &&
        repeats(one.description, action.description ?? ''),
    );
    const [last] = same;
    if (last === undefined || same.filter((one) => isSamePartner(one, action)).length >= HABIT) return;
    const day = last.at.slice(0, 10);
    yield {
      sentence: PURPOSE.paid_already(spend.merchant.raw, money(spend), day, last.decision_id),
      evidence: [conflictsWith('history', `${last.decision_id} on ${day}`)],
      about: subjectOf(null, subjectWords(last.description)),
      // Two servers of one kind may both be wanted; the same invoice is paid once.
      ...(isNumbered(last.description) ? {} : { severity: 'unclear' as const }),
    };
  },
};
