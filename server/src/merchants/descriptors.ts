import { allowedBy } from './blocklist.ts';
import { hasLookAlikes, plainText, readNameCaseless, withoutLegalForm } from './names.ts';

/** Where a descriptor leaves the name for what it adds: a comma, a number sign, blanks that fill up a field. */
const END_OF_NAME = /,|#|\s{2,}/g;
/** Of numbers beside a name only long ones are orders, shops or telephones: Motel 6 is not Motel, nor Studio 54 Studio. */
const ORDER_NUMBER = /\d{3}/;
/** Shorter legal forms are words of names too: Acme Co-op is not Acme. */
const MIN_LEGAL_FORM = 3;

/**
 * Whether a payment whose statement says `descriptor` goes to `merchant`: the same whole name as an allow list compares
 * (case, accents, legal form and processor prefix folded; a host, or one under it), and behind it at most what card
 * descriptors add, the number of an order or shop and a city. A city is told by what stands before it (a legal form, a
 * number, a comma, a gap): a plain word behind a name makes another name, "Acme Refunds" is not Acme.
 */
export function isDescriptorOf(descriptor: string, merchant: string): boolean {
  const is = (name: string) => allowedBy(name, [merchant]) !== null;
  const ends = [...descriptor.matchAll(END_OF_NAME)].map(({ index }) => descriptor.slice(0, index));
  if ([descriptor, ...ends].some(is)) return true;
  const plain = plainText(descriptor);
  if (hasLookAlikes(plain)) return false;
  const words = readNameCaseless(plain);
  return words.some(({ text }, i) => {
    const name = words.slice(0, i);
    const legal_form = withoutLegalForm(name).length < name.length ? (name.at(-1)?.text.length ?? 0) : 0;
    const adds = ORDER_NUMBER.test(text) || legal_form >= MIN_LEGAL_FORM;
    return i > 0 && adds && is(name.map((word) => word.text).join(' '));
  });
}
