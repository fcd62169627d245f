import type { Needed } from './needed-text.ts';

/** Finds which of some patterns may match a text, a bit for each, in one pass over the text. */
export type Screen = (text: string) => number;

/** The bits of a number without its sign. */
const MAX_PATTERNS = 31;
/** The states that a table of 16 bits can name. */
const MAX_STATES = 2 ** 16;

/** A string that a pattern needs, and the bit of the pattern. */
interface Hint extends Needed {
  bit: number;
}

/** The states of an automaton, which goes on from each by the column of the next character. State 0 has read nothing. */
interface Automaton {
  width: number;
  columns: Uint8Array;
  table: Uint16Array;
  /** The strings that end at each state. */
  found: (readonly Hint[] | undefined)[];
}

/** The automaton of Aho and Corasick ("Efficient string matching", CACM 18, 1975) for some strings. */
function automatonOf(hints: readonly Hint[]): Automaton {
  const signs = [...new Set(hints.flatMap(({ text }) => text.split('')))];
  const width = signs.length + 1;
  // Column 0 is for every other character, with which no string goes on.
  const columns = new Uint8Array(2 ** 16);
  for (const [i, sign] of signs.entries()) columns[sign.charCodeAt(0)] = i + 1;
  const most = 1 + hints.reduce((sum, { text }) => sum + text.length, 0);
  if (width > 2 ** 8 || most > MAX_STATES) throw new Error('The patterns of a screen need too much text.');
  const table = new Uint16Array(most * width);
  const found: Hint[][] = [];
  let states = 1;
  for (const hint of hints) {
    let at = 0;
    for (let i = 0; i < hint.text.length; i += 1) {
      const cell = at * width + (columns[hint.text.charCodeAt(i)] ?? 0);
      if (table[cell] === 0) table[cell] = states++;
      at = table[cell] ?? 0;
    }
    found[at] = [...(found[at] ?? []), hint];
  }
  completed(table, width, found);
  return { width, columns, table: table.slice(0, states * width), found };
}

/** Fills what no string goes on with: from each state, as from that of the longest end of what it has read. */
function completed(table: Uint16Array, width: number, found: Hint[][]): void {
  const ends = new Map([[0, 0]]);
  for (const [state, end] of ends) {
    const shorter = state === 0 ? undefined : found[end];
    if (shorter !== undefined) found[state] = [...(found[state] ?? []), ...shorter];
    for (let column = 1; column < width; column += 1) {
      const cell = state * width + column;
      const next = table[cell] ?? 0;
      const other = state === 0 ? 0 : (table[end * width + column] ?? 0);
      if (next === 0) table[cell] = other;
      else ends.set(next, other);
    }
  }
}

const isLetter = (code: number): boolean => code >= 97 && code <= 122;

/**
 * Makes the screen of at most 31 patterns from the strings that each needs, null for a pattern that needs none: bit i is set
 * for a text that has one string of pattern i. It takes some nanoseconds for each character, however many patterns there
 * are.
 */
export function makeScreen(patterns: readonly (readonly Needed[] | null)[]): Screen {
  if (patterns.length > MAX_PATTERNS) throw new Error(`A screen has at most ${MAX_PATTERNS} patterns.`);
  const always = patterns.reduce((bits, needed, i) => (needed === null ? bits | (1 << i) : bits), 0);
  const { width, columns, table, found } = automatonOf(
    patterns.flatMap((needed, i) => (needed ?? []).map((one) => ({ ...one, bit: 1 << i }))),
  );
  return (text) => {
    let bits = always;
    let state = 0;
    for (let i = 0; i < text.length; i += 1) {
      state = table[state * width + (columns[text.charCodeAt(i)] as number)] as number;
      const here = found[state];
      if (here === undefined) continue;
      for (const { text: needed, starts_word, ends_word, bit } of here) {
        if ((bits & bit) !== 0) continue;
        if (starts_word && isLetter(text.charCodeAt(i - needed.length))) continue;
        if (ends_word && isLetter(text.charCodeAt(i + 1))) continue;
        bits |= bit;
      }
    }
    return bits;
  };
}
