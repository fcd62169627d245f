import { PURPOSE } from '../../sentences/purpose.ts';
import { SAYS_SPLIT } from '../data/spend-language.ts';
import { daysBetween, maybeSamePartner } from '../reading/own-spends.ts';
import { type Conflict, conflictsWith, money, saidOutright, subjectOf, subjectOfSaid } from './conflict.ts';

const SAME_DAYS = 1;
/** From this share of the threshold on, a sum lies just under it. */
const JUST_UNDER = 0.8;

/** Payments just under the review threshold go to one payee within a day, which would have been reviewed as one, or the request says that a sum was parted. */
export const splitSum: Conflict = {
  kind: 'split_sum',
  severity: 'unclear',
  applies: () => true,
  *find({ spend, facts, authority }) {
    for (const said of saidOutright(spend, SAYS_SPLIT)) {
      yield {
        sentence: PURPOSE.split_sum_said(said.text),
        evidence: [conflictsWith(said.field, said.text)],
        about: subjectOfSaid(null, said),
      };
    }
    const { action } = spend.request;
    const threshold = authority.review_threshold_minor ?? 0;
    const isJustUnder = (amount_minor: number) =>
      amount_minor <= threshold && amount_minor >= threshold * JUST_UNDER;
    if (action.currency !== authority.currency || !isJustUnder(action.amount_minor)) return;
    const [part] = facts.paid.filter(
      (one) =>
        one.state === 'EXECUTED' &&
        one.currency === action.currency &&
        isJustUnder(one.amount_minor) &&
        maybeSamePartner(one, action) &&
        daysBetween(one.at, facts.as_of) <= SAME_DAYS,
    );
    if (part === undefined) return;
    const sum = money(spend, part.amount_minor + action.amount_minor);
    yield {
      sentence: PURPOSE.split_sum(spend.merchant.raw, sum, money(spend, threshold)),
      evidence: [conflictsWith('history', `${part.decision_id}: ${money(spend, part.amount_minor)}`)],
      about: subjectOf(null),
    };
  },
};
