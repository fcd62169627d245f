import { PURPOSE } from '../../sentences/purpose.ts';
import { undisguised } from '../reading/undisguised.ts';
import { type Conflict, subjectOf, suspicious } from './conflict.ts';

/** A text hides its words: invisible characters, mixed alphabets, small capitals, letters one by one. */
export const disguise: Conflict = {
  kind: 'disguise',
  severity: 'unclear',
  applies: () => true,
  *find({ spend }) {
    const { type, payee_id } = spend.request.action;
    const texts = [
      ...[spend.merchant, spend.description, spend.category, spend.task, ...spend.trace],
      { field: 'action.type', disguise: undisguised(type).how },
      { field: 'action.payee_id', disguise: undisguised(payee_id ?? '').how },
    ];
    for (const { field, disguise: how } of texts) {
      if (how === null) continue;
      yield {
        sentence: PURPOSE.disguise(field, how),
        evidence: [suspicious(field, how)],
        about: subjectOf(null, [how]),
      };
    }
  },
};
