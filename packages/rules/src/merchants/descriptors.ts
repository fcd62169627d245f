import { readTerms } from '@purser/purpose-data';
import { allowedBy } from './allowlist.ts';
import { hasLookAlikes, joinWords, plainText, readNameCaseless, withoutLegalForm } from './names.ts';

/** Where a descriptor leaves the name for what it adds: a comma, a number sign, blanks that fill up a field. */
const END_OF_NAME = /,|#|\s{2,}/g;
/**
 * Only a long number next to a name is an order, shop or telephone number: Motel 6 is not Motel, nor Studio 54
 * Studio.
 */
const ORDER_NUMBER = /\d{3}/;
/** Shorter legal forms are words of names too: Acme Co-op is not Acme. */
const MIN_LEGAL_FORM = 3;

/** A processor's prefix that stands without an asterisk, in the capitals of a statement: "SP ALLBIRDS". */
const BARE_PREFIX = /^(?:SP|SQ|TST|PP|PYPL)\s+(?=[A-Z0-9])/;
const CITIES: ReadonlySet<string> = new Set(readTerms('cities').get('cities'));
const MAX_CITY_WORDS = 3;
/** Limit for each kind of end. A name is compared once per end, and 200 characters can have a hundred ends. */
const MAX_ENDS = 12;
/** As many as 200 characters have, unless some of them stand for phrases. */
const MAX_WORDS = 100;

/** The parts before the first commas, number signs and gaps. */
const endedNames = (descriptor: string): string[] =>
  [...descriptor.matchAll(END_OF_NAME)].slice(0, MAX_ENDS).map(({ index }) => descriptor.slice(0, index));

/**
 * The names that a descriptor may stand for, the whole first: without a processor's prefix, the number of an order or shop
 * and what follows it, a known city at the end, and what stands behind a comma, a number sign, a gap or a legal form. Of
 * many ends the first count, so the time stays bounded.
 */
export function namesOfDescriptor(descriptor: string): readonly string[] {
  const bare = descriptor.replace(BARE_PREFIX, '');
  const names = [descriptor, ...(bare === descriptor ? [] : [bare])];
  names.push(...endedNames(bare));
  const plain = plainText(bare);
  if (hasLookAlikes(plain)) return names;
  const read = readNameCaseless(plain);
  const words = read.map(({ text }) => text);
  const most = names.length + MAX_ENDS;
  for (let i = 1; i < Math.min(words.length, MAX_WORDS) && names.length < most; i += 1) {
    const before = read.slice(0, i);
    const legal_form =
      withoutLegalForm(before).length < before.length ? (before.at(-1)?.text.length ?? 0) : 0;
    const is_city = words.length - i <= MAX_CITY_WORDS && isCity(words.slice(i));
    if (ORDER_NUMBER.test(words[i] ?? '') || legal_form >= MIN_LEGAL_FORM || is_city) {
      names.push(words.slice(0, i).join(' '));
    }
  }
  return names;
}

/** True for the name of a large city, also with the two letters of a state or country behind it. */
function isCity(words: readonly string[]): boolean {
  const last = words.at(-1) ?? '';
  return (
    CITIES.has(words.join(' ')) ||
    (words.length > 1 && last.length === 2 && CITIES.has(words.slice(0, -1).join(' ')))
  );
}

/**
 * Returns the names that the statement of a payment may stand for, the whole text first. The others end before a comma,
 * a number sign, a gap, or the number of an order or shop, or after a legal form. A city at the end is recognized by the
 * text before it. A plain word after a name makes another name: "Acme Refunds" is not Acme.
 */
export function namesOfPayment(descriptor: string): string[] {
  const names = [descriptor, ...endedNames(descriptor)];
  const plain = plainText(descriptor);
  if (hasLookAlikes(plain)) return names;
  const words = readNameCaseless(plain);
  const most = names.length + MAX_ENDS;
  for (let i = 1; i < words.length && names.length < most; i += 1) {
    const name = words.slice(0, i);
    const legal_form = withoutLegalForm(name).length < name.length ? (name.at(-1)?.text.length ?? 0) : 0;
    if (ORDER_NUMBER.test(words[i]?.text ?? '') || legal_form >= MIN_LEGAL_FORM)
      names.push(joinWords(name, ' '));
  }
  return names;
}

/**
 * Returns true if a payment whose statement says `descriptor` goes to `merchant`: one of `namesOfPayment` is the same
 * whole name as an allow list compares (case, accents, legal form and processor prefix folded; a host, or one under
 * it).
 */
export function isDescriptorOf(descriptor: string, merchant: string): boolean {
  return namesOfPayment(descriptor).some((name) => allowedBy(name, [merchant]) !== null);
}
