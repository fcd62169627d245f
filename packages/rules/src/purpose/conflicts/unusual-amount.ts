import { precedentsAt } from '../reading/precedents.ts';
import { type Conflict, suspicious } from './conflict.ts';

/** An amount over this multiple of the highest earlier one is unusual. */
const UNUSUAL_FACTOR = 5;
/** With fewer earlier payments, no amount counts as unusual. */
const MIN_PAYMENTS = 3;

/** The amount is far above all that this merchant was paid before. */
export const unusualAmount: Conflict = {
  id: 'unusual-amount',
  severity: 'unclear',
  applies: ({ facts }) => facts.precedents.by_merchant.size > 0,
  find({ spend, facts }) {
    const { amount_minor, currency } = spend.request.action;
    const known = precedentsAt(facts, spend.request.action);
    const payments = known.reduce((sum, one) => sum + one.settled_by_rail + one.said_by_people.allowed, 0);
    const high = Math.max(0, ...known.map((one) => one.usual_minor.get(currency)?.high ?? 0));
    if (payments < MIN_PAYMENTS || high === 0 || amount_minor <= high * UNUSUAL_FACTOR) return undefined;
    return {
      sentence: `The amount is more than ${UNUSUAL_FACTOR} times the highest earlier payment to this merchant.`,
      evidence: [suspicious('history', `the highest earlier amount was ${high} minor units`)],
    };
  },
};
