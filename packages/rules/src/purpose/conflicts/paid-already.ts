import { PURPOSE } from '../../sentences/purpose.ts';
import { SAYS_PAID } from '../data/spend-language.ts';
import {
  daysBetween,
  isNumbered,
  isSamePartner,
  mayBeSameKind,
  maybeSamePartner,
  repeats,
} from '../reading/own-spends.ts';
import {
  type Conflict,
  conflictsWith,
  money,
  saidOutright,
  subjectOf,
  subjectOfSaid,
  subjectWords,
} from './conflict.ts';

/** Within this time, the same sum for the same words is taken for the same thing. */
const SAME_DAYS = 7;
/** With so many equal payments in that time, it is a habit. */
const HABIT = 2;

/** The agent paid the same payee the same sum for the same thing some days ago, or the request itself says that it was paid. */
export const paidAlready: Conflict = {
  kind: 'paid_already',
  severity: 'final',
  applies: () => true,
  *find({ spend, facts }) {
    for (const said of saidOutright(spend, SAYS_PAID)) {
      yield {
        sentence: PURPOSE.paid_already_said(said.text),
        evidence: [conflictsWith(said.field, said.text)],
        about: subjectOfSaid(null, said),
        severity: 'unclear',
      };
    }
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
