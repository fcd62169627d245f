import { precedentsAt } from '../reading/precedents.ts';
import { type Conflict, suspicious } from './conflict.ts';
import { isOnlyRefund } from './own-spends.ts';

const railOf = (payee_id: string): string => payee_id.slice(0, payee_id.indexOf(':') + 1).toLowerCase();

/** The merchant was paid before, to another payee of the same rail. */
export const otherPayee: Conflict = {
  id: 'other-payee',
  severity: 'unclear',
  applies: ({ spend, facts }) =>
    facts.precedents.by_merchant.size > 0 && !isOnlyRefund(spend.request.action.type),
  find({ spend, facts }) {
    const { payee_id } = spend.request.action;
    if (payee_id === undefined) return undefined;
    const known = precedentsAt(facts, spend.request.action)
      .filter((one) => one.said_by_people.allowed + one.settled_by_rail > 0)
      .flatMap((one) => one.payee_id ?? []);
    const [other] = known.filter((one) => railOf(one) === railOf(payee_id));
    if (other === undefined || known.includes(payee_id)) return undefined;
    return {
      sentence: 'The merchant was paid before, but at another payee.',
      evidence: [suspicious('history', `paid before to ${other}`)],
    };
  },
};
