import { normaliseMerchant } from '../../merchants/blocklist.ts';
import { BETWEEN_NAMES, LINKS, TITLE } from '../data/constraint-language.ts';
import { COMMON_STEMS, EVERYDAY_WORDS } from '../language/everyday-words.ts';
import { stemWord } from '../language/text.ts';

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

/** What people of the operator's own house are called; who sells something has other names. */
const ROLES = EVERYDAY_WORDS.get('roles') ?? [];
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
    const is_word = words.length === 1 && COMMON_STEMS.has(stemWord(name.toLowerCase()));
    if (name.length < 2 || is_word || words.length > MAX_NAME_WORDS || names.size >= MAX_NAMES) return;
    const key = normaliseMerchant(name);
    const is_person =
      TITLE.test(words[0] ?? '') ||
      TITLE.test(before.split(' ').at(-1) ?? '') ||
      ROLE_BEFORE.test(before) ||
      (lists_people && words.length <= 2);
    if (!names.has(key)) names.set(key, { field, text: name, name, is_person });
  };
  if (HAN_OR_KANA.test(text)) for (const part of unspacedNames(text)) add([part], '');
  let run: string[] = [];
  /** What stands before the run: it and the word before it tell whether a person is meant. */
  let before = '';
  let starts = true;
  let run_starts = false;
  const close = () => {
    while (LINKS.has(run.at(-1) ?? '')) run.pop();
    if (run.length > 0) {
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
        before = text.slice(Math.max(0, index - MAX_BEFORE), index).trimEnd();
      }
      run.push(word);
    } else if (run.length > 0 && (LINKS.has(word.toLowerCase()) || /^\d+$/.test(word))) run.push(word);
    else close();
    starts = ends;
    if (ends) close();
  }
  close();
  return [...names.values()];
}

/** Runs of one script, and of kanji with the kana behind them, in a text that sets no blanks between words. */
function unspacedNames(text: string): string[] {
  const runs = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+/gu) ?? [];
  return runs.flatMap((run) => run.split(BETWEEN_NAMES).filter((part) => part.length >= 2));
}
