import { covers } from '../../domain/questions.ts';
import { PURPOSE } from '../../sentences/purpose.ts';
import { answerAtMerchant, precedentsAt } from '../reading/precedents.ts';
import { type Conflict, type Inquiry, money, subjectOf, suspicious } from './conflict.ts';

/** An amount over this multiple of the highest earlier one is unusual. */
const UNUSUAL_FACTOR = 5;
/** With fewer earlier payments, no amount counts as unusual. */
const MIN_PAYMENTS = 3;

/** The highest amount that reviewers approved at this merchant, where the spend is beyond what that covers. */
function approvedUpTo({ authority, spend, facts }: Inquiry): number | undefined {
  const { action } = spend.request;
  const answer = answerAtMerchant(facts, authority, action);
  const is_beyond = answer?.answer === 'YES' && !covers(answer, action, authority);
  return is_beyond ? (answer.allowed_minor[action.currency] ?? 0) : undefined;
}

/** The amount is far above all that this merchant was paid before, or that reviewers approved there. */
export const unusualAmount: Conflict = {
  kind: 'unusual_amount',
  severity: 'unclear',
  applies: ({ facts }) => facts.precedents.by_merchant.size + facts.answers.size > 0,
  *find(inquiry) {
    const { spend, facts, vouched } = inquiry;
    const { amount_minor, currency } = spend.request.action;
    const known = precedentsAt(facts, spend.request.action);
    const payments = known.reduce((sum, one) => sum + one.settled_by_rail + one.said_by_people.allowed, 0);
    const high = Math.max(0, ...known.map((one) => one.usual_minor.get(currency)?.high ?? 0));
    const is_unusual = payments >= MIN_PAYMENTS && high > 0 && amount_minor > high * UNUSUAL_FACTOR;
    const approved = vouched === undefined ? approvedUpTo(inquiry) : undefined;
    const most = approved ?? (is_unusual ? high : undefined);
    if (most === undefined) return;
    const whom = spend.merchant.raw;
    const sentence =
      most === 0
        ? PURPOSE.unusual_currency(money(spend), currency, whom)
        : PURPOSE.unusual_amount(money(spend), money(spend, most), whom);
    const so_far = most === 0 ? `anything in ${currency}` : `more than ${money(spend, most)}`;
    yield {
      sentence,
      evidence: [suspicious('history', `nobody has approved ${so_far}`)],
      about: subjectOf(null),
    };
  },
};
