import { type Conflict, conflictsWith } from './conflicts.ts';
import { SAID_PAYEE } from './data/record-language.ts';
import { carriesMeaning } from './language/everyday-words.ts';
import { IBAN_REST, plainAccount } from './language/figures.ts';
import { MAX_TEXT_LENGTH } from './language/text.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { SpendReading } from './reading/spend-reading.ts';

const IBAN = new RegExp(String.raw`\b[A-Za-z]{2}(?:${IBAN_REST}|\d{2}[A-Za-z0-9]{8,30}\b)`, 'g');
/** Rails whose ids are tokens of a payment processor, which operators do not write down. */
export const TOKEN_RAILS = /^(?:card|stripe|token|tok|applepay|googlepay)$/;

/** True if the merchant's name shares a word with `lead`, the words before an account in the operator's text. */
export function isLedBy(spend: SpendReading, lead: readonly string[]): boolean {
  return spend.merchant_tokens.some(
    (token) => token.word.length > 2 && carriesMeaning(token) && lead.includes(token.word),
  );
}

/** Conflict: a trace step names the payee by its id, and the money goes to another one. */
function otherPayeeSaid(spend: SpendReading, account: string): Conflict | undefined {
  for (const step of spend.trace) {
    if (!/pay|remit|beneficiary/.test(step.folded)) continue;
    for (const match of step.folded.matchAll(SAID_PAYEE)) {
      const id = (match[1] ?? '').replace(/[.-]+$/, '');
      const named = plainAccount(id);
      // Unlike a name, an id has a digit or consists of lower-case parts. `switchedPayee` compares accounts in groups.
      const isName = !/\d/.test(id) && (!/[_-]/.test(id) || !step.text.includes(id));
      if (named.length < 4 || isName || GROUPED.test(id) || isSameAccount(named, account)) continue;
      return {
        evidence: [
          conflictsWith('action.payee_id', spend.request.action.payee_id ?? ''),
          conflictsWith(step.field, step.text),
        ],
        sentence: `The run names "${id}" as the payee, and the money would go to another one.`,
        confidence: 0.75,
      };
    }
  }
  return undefined;
}

/** The beginning of an IBAN that is written in groups. */
const GROUPED = /^[a-z]{2}\d{2}$/;

const isSameAccount = (a: string, b: string): boolean => a.endsWith(b) || b.endsWith(a);

/** Conflict: the money goes to another account than the operator's text, the task or the trace names. */
export function switchedPayee(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  const payee = spend.request.action.payee_id;
  if (payee === undefined || TOKEN_RAILS.test(payee.slice(0, payee.indexOf(':')).toLowerCase()))
    return undefined;
  const account = plainAccount(payee);
  if (authority.accounts.has(account)) {
    const lead = authority.accounts.get(account) ?? [];
    if (isLedBy(spend, lead)) return undefined;
  }
  for (const [known, lead] of authority.accounts) {
    if (known === account || !isLedBy(spend, lead)) continue;
    return {
      evidence: [conflictsWith('action.payee_id', payee), conflictsWith('purpose.context', known)],
      sentence: `The money would go to ${account}, while the purpose names ${known} for this payee.`,
      confidence: 0.9,
    };
  }
  const said = otherPayeeSaid(spend, account);
  if (said !== undefined) return said;
  for (const text of [spend.task, ...spend.trace]) {
    const named = [...text.text.slice(0, MAX_TEXT_LENGTH).matchAll(IBAN)].map((match) =>
      match[0].toUpperCase().replaceAll(' ', ''),
    );
    if (named.length === 0 || named.includes(account) || !/^[A-Z]{2}\d{2}/.test(account)) continue;
    return {
      evidence: [conflictsWith('action.payee_id', payee), conflictsWith(text.field, named[0] ?? '')],
      sentence: `The money would go to ${account}, while the run itself names ${named[0]}.`,
      confidence: 0.8,
    };
  }
  return undefined;
}
