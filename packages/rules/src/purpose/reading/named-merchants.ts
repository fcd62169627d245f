import { normaliseMerchant } from '../../merchants/names.ts';
import {
  BEFORE_A_GERMAN_NAME,
  BEHIND_A_JAPANESE_NAME,
  BETWEEN_NAMES,
  GERMAN,
  LINKS,
  TITLE,
} from '../data/constraint-language.ts';
import { EVERYDAY_WORDS, isGrammar } from '../language/everyday-words.ts';
import { foldText, stemWord } from '../language/text.ts';

/** Words of the operator, and their field. */
export interface Quote {
  field: string;
  text: string;
}

/** A name in the operator's text that a merchant or payee may bear. */
export interface NamedMerchant extends Quote {
  name: string;
  /** It is a person's, by a title before it or as one of a list of people. */
  is_person: boolean;
}

/** Names for roles within the operator's organisation; sellers have other names. */
const ROLES = EVERYDAY_WORDS.get('roles') ?? [];
const ROLES_IN_JAPANESE = EVERYDAY_WORDS.get('roles_in_japanese') ?? [];
const HAN_OR_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Words, hosts and signs within names: "Henry Schein", "Radio.co", "Johnny's Selected Seeds", "A&O", "B+H". */
const PIECE =
  /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’&+/]*(?:[.-][\p{L}\p{N}][\p{L}\p{N}\p{M}'’&+/]*)*\.?|&|[,;:()"“”«»–—!?。、：]/gu;
/** "Seats only for the data team: Ana, Wei", "Manager: Priya" */
const LISTS_PEOPLE = new RegExp(String.raw`\b(?:${ROLES.join('|')})s?\b[^:.]{0,20}:`, 'i');
/** "The treasurer is Helen Marsh", "our teacher, Tom Adeyemi": what stands before the name. */
const ROLE_BEFORE = new RegExp(
  String.raw`\b(?:${ROLES.join('|')})s?(?: (?:is|are|ist|sind|est|es)|,)? *$`,
  'i',
);
/** In UTF-16 code units. */
const MAX_BEFORE = 40;
const MAX_NAMES = 300;
const MAX_NAME_WORDS = 7;

const isCapital = (word: string): boolean => /^\p{Lu}|^\d+\p{Lu}/u.test(word) || /^\p{Ll}+\p{Lu}/u.test(word);
const isHost = (word: string): boolean => /^[\p{L}\d-]+(?:\.[\p{L}\d-]+)*\.[a-z]{2,10}$/u.test(word);

/**
 * The names in a text of the operator: runs of words that begin with a capital, hosts, and what stands between signs in a
 * script without capitals. A run that begins the sentence also counts without its first word.
 */
export function namesIn(text: string, field: string): NamedMerchant[] {
  const names = new Map<string, NamedMerchant>();
  const lists_people = LISTS_PEOPLE.test(text);
  const add = (words: readonly string[], before: string) => {
    const name = words.join(' ').replace(/[.]$/, '');
    const is_word = words.length === 1 && isGrammar(stemWord(foldText(name)));
    if (name.length < 2 || is_word || words.length > MAX_NAME_WORDS || names.size >= MAX_NAMES) return;
    const key = normaliseMerchant(name);
    const is_person =
      TITLE.test(words[0] ?? '') ||
      TITLE.test(before.split(' ').at(-1) ?? '') ||
      ROLE_BEFORE.test(before) ||
      ROLES_IN_JAPANESE.some((role) => before.endsWith(`${role}は`)) ||
      (lists_people && words.length <= 2);
    if (!names.has(key)) names.set(key, { field, text: name, name, is_person });
  };
  // In the context operators tell who sells to them, in whatever words; elsewhere most nouns are goods.
  const is_strict = field !== 'purpose.context';
  for (const { name, before } of unspacedNames(text, is_strict)) add([name], before);
  const is_german = new Set(text.toLowerCase().match(GERMAN)).size > 1;
  /** Where the last German name ended, since the ones listed behind it are names too. */
  let name_end = -1;
  let run: string[] = [];
  let run_at = 0;
  let run_end = 0;
  /** The word before the run: with the word before it, it shows if a person is meant. */
  let before = '';
  let starts = true;
  let run_starts = false;
  const close = () => {
    while (LINKS.has(run.at(-1) ?? '')) run.pop();
    if (run.length > 0 && is_german) {
      const is_listed = name_end >= 0 && BETWEEN_GERMAN_NAMES.test(text.slice(name_end, run_at));
      const found = germanNames(run, before, is_listed);
      for (const words of found) add(words, before);
      if (found.length > 0) name_end = run_end;
    }
    if (run.length > 0 && !(is_german && is_strict)) {
      add(run, before);
      if (run_starts && run.length > 1) add(run.slice(1), run[0] ?? '');
      const lead = run.findIndex((word, i) => i > 0 && /^(?:and|und|et|y|e)$/.test(word));
      if (lead > 0) {
        add(run.slice(0, lead), before);
        add(run.slice(lead + 1), before);
      }
    }
    run = [];
  };
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    const ends = piece.endsWith('.') && !/^(?:\p{Lu}|St|Dr|Mr|Mrs|Ms|Co)\.$/u.test(piece);
    const word = ends ? piece.slice(0, -1) : piece;
    if (!/[\p{L}\p{N}]/u.test(word) && word !== '&') {
      close();
      starts = /[:!?。]/.test(word);
      continue;
    }
    if (isCapital(word) || isHost(word)) {
      if (run.length === 0) {
        run_starts = starts;
        run_at = index;
        before = text.slice(Math.max(0, index - MAX_BEFORE), index).trimEnd();
      }
      run.push(word);
      run_end = index + word.length;
    } else if (run.length > 0 && (LINKS.has(word.toLowerCase()) || /^\d+$/.test(word))) run.push(word);
    else close();
    starts = ends;
    if (ends) close();
  }
  close();
  return [...names.values()];
}

/** Separators between the names of a German list. */
const BETWEEN_GERMAN_NAMES = /^\s*,?\s*(?:(?:und|oder|sowie)\s+)?$/u;
/** A word whose spelling is no ordinary noun's: "IONOS", "real.de", "3M". */
const IS_SPELLED_AS_NAME = /\p{L}\p{Lu}|\d|\.\p{Ll}/u;

/**
 * The names in a run of German words, all of whose nouns begin with a capital: several capitals one behind the other, and a
 * single one where a seller is expected.
 */
function germanNames(run: readonly string[], before: string, is_listed: boolean): string[][] {
  const found: string[][] = [];
  let is_expected =
    is_listed || BEFORE_A_GERMAN_NAME.test(before) || ROLE_BEFORE.test(before) || TITLE.test(run[0] ?? '');
  const starts_with_name = is_expected;
  let part: string[] = [];
  const close = () => {
    while (LINKS.has(part.at(-1) ?? '')) part.pop();
    const has_links = part.some((word) => LINKS.has(word));
    const is_name = is_expected || (part.length > 1 ? !has_links : IS_SPELLED_AS_NAME.test(part[0] ?? ''));
    if (part.length > 0 && is_name) found.push(part);
    part = [];
    return is_name;
  };
  for (const word of run) {
    if (/^(?:und|von|vom)$/.test(word)) is_expected = close() || word !== 'und';
    else if (part.length > 0 || !(LINKS.has(word) || isGrammar(stemWord(foldText(word))))) part.push(word);
  }
  close();
  return starts_with_name && found.length > 1 ? [[...run], ...found] : found;
}

const UNSPACED_RUN = /[\p{L}\p{N}ー々、・]+/gu;
const SEPARATORS = new RegExp(`(${BETWEEN_NAMES.source})`, 'u');
const JOINS = /^[と や、・]$/u;
/** Before a name that ends its sentence. */
const LEADS_IN = /[は「『:：]$/u;
const SAYS_IS = /(?:です|である)$/u;

/**
 * The names in Japanese, which sets no blanks and has no capitals: what stands before "from", "at" or "to", in quotation
 * marks or at the end behind "is", and what is listed with it; with what stands before. Every noun where it is not strict.
 */
function* unspacedNames(text: string, is_strict: boolean): Generator<{ name: string; before: string }> {
  if (!HAN_OR_KANA.test(text)) return;
  for (const { 0: run, index } of text.matchAll(UNSPACED_RUN)) {
    if (!HAN_OR_KANA.test(run)) continue;
    const parts = run.split(SEPARATORS);
    let at = index + run.length;
    let is_name = false;
    let is_last = true;
    for (let i = parts.length - 1; i >= 0; i -= 2) {
      const behind = parts[i + 1] ?? '';
      at -= (parts[i] ?? '').length + behind.length;
      const before = text.slice(Math.max(0, at - MAX_BEFORE), at);
      const name = (parts[i] ?? '').replace(SAYS_IS, '');
      const leads = is_last && LEADS_IN.test(before.replace(/[^は「『:：]*(?:[と や、・])$/u, ''));
      is_name =
        leads || (behind !== '' && BEHIND_A_JAPANESE_NAME.test(behind)) || (is_name && JOINS.test(behind));
      if ((is_name || !is_strict) && name.length >= 2) yield { name, before };
      if (name !== '') is_last = false;
    }
  }
}
