/*
 * Reads a pattern for what a text needs so that the pattern can match it: one of a few strings. Most texts have none of
 * them, so that most patterns need not run. It reads the source of the pattern, so no list beside it can miss a word.
 */

/** A string that a match holds. */
export interface Needed {
  text: string;
  /** True if no letter of a to z is before it. */
  starts_word: boolean;
  /** True if no letter of a to z is behind it. */
  ends_word: boolean;
}

/** Text that a part of a pattern may end with. The sign EDGE in it: a word begins or ends there. */
interface End {
  text: string;
  /** True if other text of the part may be before it. */
  is_open: boolean;
}

/** One way to match a part of a pattern. */
interface Way {
  ends: readonly End[];
  /** Each match holds one of these strings; null for none known. */
  needed: readonly Needed[] | null;
}

const EDGE = '\b';
/** From this number of ends on, only the last characters of the text before are kept. */
const MAX_ENDS = 32;
/** The characters of a class that are read one by one. */
const MAX_CLASS = 4;
/** Negative looks around that no letter passes. */
const NO_LETTER = /^(?:\[(?:\\p\{L\}|a-z)[^\]^]*\]|\\p\{L\})$/;

const exactly = (text: string): Way[] => [{ ends: [{ text, is_open: false }], needed: null }];
const ANYTHING: Way = { ends: [{ text: '', is_open: true }], needed: null };
/** A blank or a figure: no letter, so that a word may end before it and begin behind it. */
const NO_WORD: Way = { ends: [{ text: EDGE, is_open: true }], needed: null };

function neededOf({ text }: End): Needed {
  const plain = text.replaceAll(EDGE, '');
  return {
    text: plain,
    starts_word: text.startsWith(EDGE) && /^[a-z]/.test(plain),
    ends_word: text.endsWith(EDGE) && /[a-z]$/.test(plain),
  };
}

/** How rare the most frequent of some strings is, by its letters and by where it may stand in a word. */
function rarityOf(needed: readonly Needed[] | null): number {
  if (needed === null) return 0;
  const rarities = needed.map(({ text, starts_word, ends_word }) => {
    const letters = text.match(/[^ -@[-`{-~]/g)?.length ?? 0;
    return letters + (text.length - letters + Number(starts_word) + Number(ends_word)) / 2;
  });
  return Math.min(...rarities);
}

/** The rarer strings; of two that are as rare, those behind, which say what is meant. */
const rarer = (one: Way['needed'], other: Way['needed']): Way['needed'] =>
  rarityOf(other) > 0 && rarityOf(other) >= rarityOf(one) ? other : one;

const bestOf = ({ ends, needed }: Way): Way['needed'] => rarer(needed, ends.map(neededOf));

/** The ends, without those that another one covers, since anything may stand before it. */
function distinct(ends: readonly End[]): readonly End[] {
  if (ends.length === 1) return ends;
  const open = new Set(ends.flatMap(({ text, is_open }) => (is_open ? text : [])));
  const lengths = [...new Set([...open].map(({ length }) => length))];
  const isCovered = ({ text, is_open }: End) =>
    lengths.some(
      (n) => (n < text.length || (n === text.length && !is_open)) && open.has(text.slice(text.length - n)),
    );
  const by_key = new Map<string, End>();
  for (const end of ends) if (!isCovered(end)) by_key.set(end.text, end);
  return [...by_key.values()];
}

/** All ways as one: what each of them needs. */
function merged(ways: readonly Way[]): Way {
  const [only] = ways;
  if (only !== undefined && ways.length === 1) return only;
  const best = ways.map(bestOf);
  const needed = best.some((each) => rarityOf(each) === 0) ? null : best.flatMap((each) => each ?? []);
  const ends = distinct(ways.flatMap((way) => way.ends));
  return { ends: ends.length > MAX_ENDS ? ANYTHING.ends : ends, needed };
}

function either(ways: readonly Way[]): readonly Way[] {
  const count = ways.reduce((sum, { ends }) => sum + ends.length, 0);
  return count > MAX_ENDS ? ways : [merged(ways)];
}

/** Returns the ends of a part before another one: all, or the last character of each. */
function before(ends: readonly End[], others: readonly End[]): readonly End[] {
  if (ends.length * others.length <= MAX_ENDS) return ends;
  const last = distinct(ends.map(({ text }) => ({ text: text.slice(-1), is_open: true })));
  return last.length * others.length <= MAX_ENDS ? last : ANYTHING.ends;
}

function joined(one: Way, other: Way): Way {
  const lead = before(one.ends, other.ends);
  const ends = other.ends.flatMap((end) =>
    end.is_open ? end : lead.map(({ text, is_open }) => ({ text: text + end.text, is_open })),
  );
  const is_kept = lead === one.ends && !other.ends.some(({ is_open }) => is_open);
  const needed = rarer(is_kept ? one.needed : bestOf(one), other.needed);
  return { ends: distinct(ends), needed };
}

/** One part behind the other. */
function followed(ways: readonly Way[], others: readonly Way[]): readonly Way[] {
  if (ways.length > 1 && others.length > 1) return [joined(merged(ways), merged(others))];
  return ways.flatMap((one) => others.map((other) => joined(one, other)));
}

/** A part that comes several times. */
function repeated(ways: readonly Way[], least: number, most: number): readonly Way[] {
  const way = merged(ways);
  const ends = most > 1 ? way.ends.map(({ text }) => ({ text, is_open: true })) : way.ends;
  const none = least === 0 ? [{ text: '', is_open: false }] : [];
  return [{ ends: distinct([...none, ...ends]), needed: least === 0 ? null : bestOf(way) }];
}

/** Reads the source of a pattern from its beginning to its end. */
class Source {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** All that is left. Throws for an open or a missing parenthesis. */
  all(): readonly Way[] {
    const ways = this.#alternatives();
    if (this.#at < this.#text.length) throw this.#unread();
    return ways;
  }

  #unread(): Error {
    return new Error(`A pattern cannot be read from its character ${this.#at} on: ${this.#text}`);
  }

  /** Reads the next text if a sticky pattern matches it. */
  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #alternatives(): readonly Way[] {
    const ways: Way[] = [];
    do {
      let sequence: readonly Way[] = exactly('');
      while (this.#at < this.#text.length && !/[|)]/.test(this.#text.charAt(this.#at)))
        sequence = this.#onward(sequence);
      ways.push(...sequence);
    } while (this.#take(/\|/y) !== null);
    return either(ways);
  }

  #onward(sequence: readonly Way[]): readonly Way[] {
    const ends_word = /\\[sd](?![?*{])/y;
    ends_word.lastIndex = this.#at;
    const lead = ends_word.test(this.#text) ? followed(sequence, exactly(EDGE)) : sequence;
    return followed(lead, this.#quantified());
  }

  #quantified(): readonly Way[] {
    const part = this.#part();
    const found = this.#take(/(?:([?*+])|\{(\d+)(,?)(\d*)\})\??/y);
    if (found === null) return part;
    const [, sign, least = '0', comma, most = ''] = found;
    if (sign !== undefined) return repeated(part, sign === '+' ? 1 : 0, sign === '?' ? 1 : 2);
    return repeated(part, Number(least), comma === '' ? Number(least) : most === '' ? 2 : Number(most));
  }

  #part(): readonly Way[] {
    const look = this.#take(/\(\?<?([=!])/y);
    if (look !== null) return this.#lookAround(look[1] === '!');
    if (this.#take(/\((?:\?:)?(?!\?)/y) !== null) {
      const ways = this.#alternatives();
      if (this.#take(/\)/y) === null) throw this.#unread();
      return ways;
    }
    if (this.#take(/[\^$]|\\B/y) !== null) return exactly('');
    if (this.#take(/\\b/y) !== null) return exactly(EDGE);
    if (this.#take(/\\[sd]/y) !== null) return [NO_WORD];
    if (this.#take(/\.|\\[pP]\{[^}]+\}|\\[wWSD1-9]/y) !== null) return [ANYTHING];
    const members = this.#take(/\[((?:[^\]\\]|\\.)+)\]/y)?.[1];
    if (members !== undefined) return ofClass(members);
    const run = this.#take(
      /(?:\\[^A-Za-z0-9]|[^\\^$.()[\]{}?*+|])(?![?*+{])(?:[^\\^$.()[\]{}?*+|](?![?*+{]))*/y,
    );
    const signs = run ?? this.#take(/\\[^A-Za-z0-9]|[^\\()[\]{}?*+|]/y);
    if (signs === null) throw this.#unread();
    return exactly(signs[0].replace('\\', ''));
  }

  /** A look around takes no text. Of those that no letter passes, it is kept that a word begins or ends there. */
  #lookAround(is_negative: boolean): readonly Way[] {
    const from = this.#at;
    this.#alternatives();
    const body = this.#text.slice(from, this.#at);
    if (this.#take(/\)/y) === null) throw this.#unread();
    return exactly(is_negative && NO_LETTER.test(body) ? EDGE : '');
  }
}

function ofClass(members: string): readonly Way[] {
  if (/^\^|\\|.-./u.test(members) || members.length > MAX_CLASS) return [ANYTHING];
  return [merged([...members].flatMap(exactly))];
}

/**
 * Returns strings such that every text that a pattern matches has one of them; null if there are none. Throws for a
 * pattern without regard to case, and for syntax that no list uses.
 */
export function neededText(pattern: RegExp): readonly Needed[] | null {
  if (pattern.ignoreCase) throw new Error(`A pattern must regard case to be read: ${pattern.source}`);
  const needed = bestOf(merged(new Source(pattern.source).all()));
  return rarityOf(needed) > 0 ? needed : null;
}
