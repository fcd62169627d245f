import { PURPOSE } from '../../sentences/purpose.ts';
import { TOKEN_RAILS } from '../data/spend-language.ts';
import { carriesMeaning } from '../language/everyday-words.ts';
import { IBAN_REST, plainAccount } from '../language/figures.ts';
import { MAX_TEXT_LENGTH } from '../language/text.ts';
import type { SpendReading } from '../reading/spend-reading.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

const IBAN = new RegExp(String.raw`\b[A-Za-z]{2}(?:${IBAN_REST}|\d{2}[A-Za-z0-9]{8,30}\b)`, 'g');

/** True if the merchant's name shares a word with `lead`, the words before an account in the operator's text. */
export function isLedBy(spend: SpendReading, lead: readonly string[]): boolean {
  return spend.merchant.tokens.some(
    (token) => token.word.length > 2 && carriesMeaning(token) && lead.includes(token.word),
  );
}

/** The money goes to another account than the operator wrote down for this payee, or than the run itself names. */
export const switchedPayee: Conflict = {
  kind: 'switched_payee',
  severity: 'final',
  applies: ({ spend }) => {
    const payee = spend.request.action.payee_id;
    return payee !== undefined && !TOKEN_RAILS.test(payee.slice(0, payee.indexOf(':')).toLowerCase());
  },
  *find({ purpose, spend }) {
    const payee = spend.request.action.payee_id ?? '';
    const account = plainAccount(payee);
    const own = purpose.accounts.get(account);
    if (own !== undefined && isLedBy(spend, own)) return;
    for (const [known, lead] of purpose.accounts) {
      if (known === account || !isLedBy(spend, lead)) continue;
      const change = purpose.account_changes ?? null;
      yield {
        sentence: PURPOSE.switched_payee(account, known, spend.merchant.raw),
        evidence: [conflictsWith('action.payee_id', payee), conflictsWith('purpose.context', known)],
        about: subjectOf(change, [payee, known]),
        // Where the operator says how an account changes, it may have changed.
        ...(change === null ? {} : { severity: 'unclear' as const }),
      };
    }
    if (!/^[A-Z]{2}\d{2}/.test(account)) return;
    for (const text of [spend.description, spend.task, ...spend.trace]) {
      for (const [match] of text.text.slice(0, MAX_TEXT_LENGTH).matchAll(IBAN)) {
        const other = match.toUpperCase().replaceAll(' ', '');
        if (other === account) continue;
        yield {
          sentence: PURPOSE.switched_payee_in_request(account, other),
          evidence: [conflictsWith('action.payee_id', payee), conflictsWith(text.field, other)],
          about: subjectOf(null, [payee, other]),
          severity: 'unclear',
        };
      }
    }
  },
};
