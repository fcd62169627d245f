import { undisguised } from '../reading/undisguised.ts';
import { type Conflict, suspicious } from './conflict.ts';

/** A text hides its words: invisible characters, mixed alphabets, small capitals, letters one by one. */
export const disguise: Conflict = {
  id: 'disguise',
  severity: 'unclear',
  applies: () => true,
  find({ spend }) {
    const { type, payee_id } = spend.request.action;
    const texts = [spend.merchant, spend.description, spend.category, spend.task, ...spend.trace];
    const found =
      texts.find((text) => text.disguise !== null) ??
      [
        { field: 'action.type', disguise: undisguised(type).how },
        { field: 'action.payee_id', disguise: undisguised(payee_id ?? '').how },
      ].find((text) => text.disguise !== null);
    if (found === undefined) return undefined;
    return {
      sentence: `The request hides words behind ${found.disguise}; a person should check it.`,
      evidence: [suspicious(found.field, found.disguise ?? '')],
    };
  },
};
