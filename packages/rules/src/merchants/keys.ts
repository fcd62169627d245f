import { namesOfPayment } from './descriptors.ts';
import { hostForms } from './hosts.ts';
import { isLegalFormOnly, withoutRegisteredForms } from './legal-forms.ts';
import { foldAmongLatin, STROKE } from './look-alikes.ts';
import {
  foldCase,
  joinWords,
  latinText,
  plainText,
  readDisguised,
  readNameCaseless,
  withoutLegalForm,
} from './names.ts';
import { unmasked } from './unmasked.ts';

/** Names of some KB each. A cache that is full is cleared. */
const MAX_REMEMBERED = 500;
const remembered = new Map<string, string>();

/**
 * Equal for two spellings that may name the same merchant: disguises, look-alikes, case, accents, spaces, punctuation,
 * legal forms, processors' prefixes and what card descriptors add are folded, and i is l. For comparisons that restrict, so
 * that a merchant has one limit however it is written; different merchants may share one. Never for what is let through.
 */
export function merchantKey(merchant: string): string {
  let key = remembered.get(merchant);
  if (key === undefined) {
    key = keyOf(merchant);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(merchant, key);
  }
  return key;
}

function keyOf(merchant: string): string {
  const plain = plainText(unmasked(merchant));
  const host = hostOf(plain);
  if (host !== undefined) return lettersOf(host);
  // A gap may also be a space too many, so it ends no name. Look-alikes and a form in front would hide an order's number.
  const latin = latinText(foldAmongLatin(withoutRegisteredForms(plain)));
  const keys = [...namesOfPayment(plain), ...namesOfPayment(latin)]
    .filter((name) => !isLegalFormOnly(name))
    .map((name) => lettersOf(hostOf(plainText(name)) ?? name))
    .filter((letters) => letters !== '');
  const whole = lettersOf(plain) || foldCase(plain).trim() || merchant;
  return keys.reduce((a, b) => (b.length < a.length ? b : a), whole);
}

/** The host, without `www.`, where the whole text is one or a URL. */
function hostOf(plain: string): string | undefined {
  const text = plain.trim();
  return /\s/.test(text) ? undefined : hostForms(text)[0]?.replace(/^www\.(?=.*\.)/, '');
}

function lettersOf(name: string): string {
  const bare = withoutRegisteredForms(name);
  const words = readDisguised(bare) ?? readNameCaseless(bare);
  const named = withoutLegalForm(words);
  return joinWords(named.length > 0 ? named : words)
    .replaceAll('i', 'l')
    .replaceAll(STROKE, 'l');
}

/** The rail in front of the id of a payee or card, with its colon and in small letters; empty where there is none. */
export const railOf = (name: string): string => name.slice(0, name.indexOf(':') + 1).toLowerCase();

/**
 * Equal for two spellings that may name the same account: the rail in small letters, the id without case, `-`, `.` and `_`.
 * For comparisons that restrict, so that one account has one limit however it is written. Ids that differ by these alone
 * share a limit. What is let through is compared exactly.
 */
export function payeeKey(payee_id: string): string {
  const id = payee_id.slice(payee_id.indexOf(':') + 1).toLowerCase();
  return `${railOf(payee_id)}${id.replace(/[-._]/g, '') || id}`;
}

/** True if two payees or cards are of one rail and differ: what one says is not what the other says. Null says nothing. */
export function contradicts(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && railOf(one) === railOf(other) && payeeKey(one) !== payeeKey(other);
}
