import { readSection, readTerms } from '@purser/purpose-data';
import { foldCase, readNameCaseless, withoutLegalForm } from './names.ts';

const LISTS = readTerms('merchant-names');
const REGISTERED: ReadonlySet<string> = new Set([
  ...readSection(LISTS, 'registered_forms'),
  ...readSection(LISTS, 'legal_forms'),
]);
const LEADING: ReadonlySet<string> = new Set(readSection(LISTS, 'leading_forms'));
const UNSPACED = readSection(LISTS, 'unspaced_forms');

/** The longest form with its points, "L.L.L.P.", and some more. */
const MAX_LENGTH = 16;
/** Forms at one end of a name: "Acme GmbH & Co. KG" has three. */
const MAX_FORMS = 4;
const FIRST_WORD = /^["'«»„“”‘’\s]*(\S{2,16})[\s"«»„“”]+/u;
const NAMED = /[\p{L}\p{N}]/u;
const AROUND = /^["'«»„“”‘’\s,]+|["'«»„“”‘’\s,]+$/gu;

const formOf = (word: string) => foldCase(word.replace(/[./()"'«»„“”,]/g, ''));

/**
 * A name without legal forms of ISO 20275 at its end and before it ("ООО Ромашка", "Rimi SIA", "株式会社リコー"), compared in
 * their own letters; the name itself where nothing else is left, or where it has none. `plain` is a `plainText`. Forms that
 * `withoutLegalForm` drops word by word may stay.
 */
export function withoutRegisteredForms(plain: string): string {
  let name = plain.trim();
  for (let i = 0; i < MAX_FORMS; i += 1) {
    const shorter = withoutOneForm(name);
    if (shorter === name || !NAMED.test(shorter)) break;
    name = shorter;
  }
  if (name === plain.trim()) return plain;
  return withoutLegalForm(readNameCaseless(name)).length === 0 ? plain : name;
}

/** Returns true if a text is legal forms and nothing else. */
export function isLegalFormOnly(plain: string): boolean {
  const words = plain
    .split(' ')
    .map(formOf)
    .filter((word) => word !== '');
  return words.every((word) => REGISTERED.has(word) || LEADING.has(word) || UNSPACED.includes(word));
}

function withoutOneForm(name: string): string {
  for (const form of UNSPACED) {
    if (name.startsWith(form)) return name.slice(form.length).replace(AROUND, '');
    if (name.endsWith(form)) return name.slice(0, -form.length).replace(AROUND, '');
  }
  const first = FIRST_WORD.exec(name);
  if (first !== null && LEADING.has(formOf(first[1] as string)))
    return name.slice(first[0].length).replace(AROUND, '');
  const at = Math.max(name.lastIndexOf(' '), name.lastIndexOf(','));
  const last = name.slice(at + 1);
  if (at > 0 && last.length <= MAX_LENGTH && REGISTERED.has(formOf(last)))
    return name.slice(0, at).replace(AROUND, '');
  return name;
}
