import { readPattern, readPatterns, readSection, readTerms } from '@purser/purpose-data';

/*
 * How operators write constraints: the sections of two lists, which say what each is for. Patterns are matched against folded
 * text (lower case, no diacritics).
 */
const PATTERNS = readPatterns('constraint-patterns');
const GRAMMAR = readTerms('grammar');

const pattern = (name: string): RegExp => readPattern(PATTERNS, name);
const words = (name: string): ReadonlySet<string> => new Set(readSection(GRAMMAR, name));

export const PROHIBITS = words('prohibits');
export const ENGLISH = words('english');
export const NOT_ENGLISH = words('not_english');
export const NOT = words('not');
export const MEASURES = words('measures');
export const ENDS_LIST = words('ends_list');
export const EXCEPTS = pattern('excepts');
export const ELSEWHERE = pattern('elsewhere');
export const RULED_OUT = pattern('ruled_out');
export const REQUIREMENT = pattern('requirement');
export const OBJECTIVE_REQUIREMENT = pattern('objective_requirement');
export const BROAD = pattern('broad');
export const HOME = pattern('home');
export const ON_REQUEST = pattern('on_request');
export const LEADING_SUBJECT = pattern('leading_subject');
export const CONDITIONAL_PROHIBITION = pattern('conditional_prohibition');
export const EXACTLY = pattern('exactly');
export const ONLY_NAMED = pattern('only_named');
export const ONLY_LISTED = pattern('only_listed');
export const ACCOUNT_CHANGES = pattern('account_changes');
export const SUBJECT_FIRST = pattern('subject_first');
export const ONLY_FROM = pattern('only_from');
export const FROM_NOBODY_ELSE = pattern('from_nobody_else');
export const FREE_OF = pattern('free_of');
export const ONLY_THESE = pattern('only_these');
export const MONEY_ITSELF = pattern('money_itself');
export const MONEY_PAID = pattern('money_paid');
export const ONLY_SHOWN = pattern('only_shown');
export const PRIVATE_USE = pattern('private_use');
export const RELATIVE = pattern('relative');
export const FORBIDS_IN_JAPANESE = pattern('forbids_in_japanese');
export const HOLDS_AT_TIMES_IN_JAPANESE = pattern('holds_at_times_in_japanese');
export const BEFORE_A_GERMAN_NAME = pattern('before_a_german_name');
export const GERMAN = pattern('german');
export const BEHIND_A_JAPANESE_NAME = pattern('behind_a_japanese_name');
export const FORBIDDEN_BEFORE = pattern('forbidden_before');
export const FORBIDDEN_BEHIND = pattern('forbidden_behind');
export const HOLDS_AT_TIMES = pattern('holds_at_times');
export const TRAVELS = pattern('travels');
export const OVER_A_SUM = pattern('over_a_sum');
export const UP_TO_A_SUM = pattern('up_to_a_sum');
export const OVER_BEHIND_A_SUM = pattern('over_behind_a_sum');
export const UP_TO_BEHIND_A_SUM = pattern('up_to_behind_a_sum');
export const WISH = pattern('wish');
export const COURTESY = pattern('courtesy');
export const FALLBACK = pattern('fallback');
export const INSISTS = pattern('insists');
export const ASKS_FIRST = pattern('asks_first');
export const TITLE = pattern('title');
export const BETWEEN_NAMES = pattern('between_names');
export const SENTENCE_END = pattern('sentence_end');
/** Numbers by their words in the languages that are read. */
export const NUMBERS: ReadonlyMap<string, number> = new Map(
  readSection(GRAMMAR, 'numbers').flatMap((line) => {
    const [value = '', ...names] = line.split(' ');
    return names.map((name) => [name, Number(value)] as const);
  }),
);
export const CONJUNCTIONS = words('conjunctions');
export const PREPOSITIONS = words('prepositions');
export const LINKS = words('links');
export const GENITIVES = words('genitives');
export const NOT_IN_CAPITALS = words('not_in_capitals');
export const VERBS = words('verbs');
export const RAIL_WORDS = words('rail_words');
