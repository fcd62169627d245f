import { PURPOSE } from '../../sentences/purpose.ts';
import { PAYS_BILL } from '../data/spend-language.ts';
import type { Requirement } from '../reading/authority-terms.ts';
import { claimsToBe, type SpendReading } from '../reading/spend-reading.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** True if a condition is about this spend. What would exempt it is not read, because the agent could write it. */
function isMeant(one: Requirement, spend: SpendReading): boolean {
  if (one.about_payment) return PAYS_BILL.test(spend.request.action.type.toLowerCase());
  if (one.subject.size === 0) return true;
  const isOfTrade = spend.description_matches.some(({ trades }) =>
    trades.some((trade) => one.subject_trades.has(trade)),
  );
  if (isOfTrade) return true;
  const isSaid = (stem: string) => claimsToBe(spend, stem);
  return one.needs_all ? one.decisive.every(isSaid) : one.decisive.some(isSaid);
}

/** A clause sets a condition or a bound that nothing but the agent's own words could show to hold. */
export const condition: Conflict = {
  kind: 'condition',
  severity: 'unclear',
  applies: ({ purpose, vouched }) =>
    vouched?.is_chosen === false && purpose.requirements.length + purpose.bounds.length > 0,
  *find({ purpose, spend, vouched }) {
    for (const rule of purpose.requirements) {
      if (!isMeant(rule, spend)) continue;
      yield {
        sentence: PURPOSE.condition(rule.text),
        evidence: [conflictsWith(rule.field, rule.text)],
        about: subjectOf(rule),
      };
    }
    for (const rule of purpose.bounds) {
      if (rule.to === 'named sellers' && vouched?.voucher.by !== 'TRADE') continue;
      yield {
        sentence: PURPOSE.condition_bound(rule.to, rule.text),
        evidence: [conflictsWith(rule.field, rule.text)],
        about: subjectOf(rule),
      };
    }
  },
};
