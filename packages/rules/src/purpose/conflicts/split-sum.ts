import { type Conflict, conflictsWith } from './conflict.ts';
import { daysBetween, maybeSamePartner } from './own-spends.ts';

const SAME_DAYS = 1;
/** From this share of the threshold on, a sum lies just under it. */
const JUST_UNDER = 0.8;

/** Payments just under the review threshold go to one payee within a day, which would have been reviewed as one. */
export const splitSum: Conflict = {
  id: 'split-sum',
  severity: 'unclear',
  applies: ({ facts, authority }) => facts.paid.length > 0 && (authority.review_threshold_minor ?? 0) > 0,
  find({ spend, facts, authority }) {
    const { action } = spend.request;
    const threshold = authority.review_threshold_minor ?? 0;
    const isJustUnder = (amount_minor: number) =>
      amount_minor <= threshold && amount_minor >= threshold * JUST_UNDER;
    if (action.currency !== authority.currency || !isJustUnder(action.amount_minor)) return undefined;
    const [part] = facts.paid.filter(
      (one) =>
        one.state === 'EXECUTED' &&
        one.currency === action.currency &&
        isJustUnder(one.amount_minor) &&
        maybeSamePartner(one, action) &&
        daysBetween(one.at, facts.as_of) <= SAME_DAYS,
    );
    if (part === undefined) return undefined;
    return {
      sentence: `Together with ${part.decision_id} on the same day, ${spend.merchant.raw} would receive more than the review threshold.`,
      evidence: [conflictsWith('history', `${part.decision_id}: ${part.amount_minor} minor units`)],
    };
  },
};
