import { PURPOSE } from '../../sentences/purpose.ts';
import { isRefund, maybeSameMerchant } from '../reading/own-spends.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** A refund goes to another payee than the one that earlier money of the same name went to. */
export const refundElsewhere: Conflict = {
  kind: 'refund_elsewhere',
  severity: 'weak',
  applies: ({ spend, facts }) =>
    facts.paid.length > 0 &&
    isRefund(spend.request.action.type) &&
    spend.request.action.payee_id !== undefined,
  *find({ spend, facts }) {
    const { merchant, payee_id = '' } = spend.request.action;
    const known = facts.paid.filter((one) => one.payee_id !== null && maybeSameMerchant(one, merchant));
    const [other] = known;
    if (other === undefined || known.some((one) => one.payee_id === payee_id)) return;
    yield {
      sentence: PURPOSE.refund_elsewhere(payee_id, `${other.payee_id}`, other.decision_id),
      evidence: [conflictsWith('action.payee_id', payee_id), conflictsWith('history', `${other.payee_id}`)],
      about: subjectOf(null, [payee_id]),
    };
  },
};
