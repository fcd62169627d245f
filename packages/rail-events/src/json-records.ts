/** One record of a JSON file: its text; null where it is longer than a record may be. */
export interface JsonRecord {
  text: string | null;
  /** 1 for the first. */
  place: number;
}

/** The file is no JSON that can be split into records. */
export class BrokenJson extends Error {
  override name = 'BrokenJson';
}

const MAX_DEPTH = 64;
const LIST_KEY = 'data';

/** A record that is being read: at which depth it began, and whether it is no object or array. */
interface OpenRecord {
  base: number;
  is_scalar: boolean;
}

/**
 * Splits JSON that arrives in parts into its records, without parsing the whole: the items of the array at its top, those of the
 * array `data` of the object at its top, or else the object itself. Several documents may follow each other. Nesting is bounded,
 * and so is what is kept of a record. Throws BrokenJson where brackets do not fit.
 */
export class JsonSplitter {
  readonly #max_length: number;
  readonly #closers: string[] = [];
  readonly #found: JsonRecord[] = [];
  #place = 0;
  /** The depth of the items of the list; null while no list was found. */
  #list_depth: number | null = null;
  /** The document is an object, and its keys may name the list. */
  #is_object = false;
  #key = '';
  #after_key = false;
  #in_string = false;
  #is_escaped = false;
  #record: OpenRecord | null = null;
  #text = '';
  #is_cut = false;

  constructor(max_length: number) {
    this.#max_length = max_length;
  }

  /** Takes the next part of the text and returns the records that end in it. */
  push(chunk: string): JsonRecord[] {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const letter = chunk[i] as string;
      if (this.#in_string) this.#inString(letter);
      else if (letter === ',' || letter === ']' || letter === '}') {
        if (this.#endsScalar()) this.#close(chunk.slice(from, i));
        if (letter === ',') this.#after_key = false;
        else if (this.#endsContainer(letter)) this.#close(chunk.slice(from, i + 1));
      } else if (letter === ':') this.#after_key = this.#isKeyOfDocument() && this.#key === LIST_KEY;
      else if (!/\s/.test(letter) && this.#begins(letter)) from = i;
    }
    if (this.#record !== null) this.#keep(chunk.slice(from));
    return this.#found.splice(0);
  }

  /** Ends the file. Throws BrokenJson if it was cut off. */
  end(): void {
    if (this.#closers.length > 0 || this.#in_string) throw new BrokenJson('ends in the middle');
  }

  #inString(letter: string): void {
    if (this.#is_escaped) this.#is_escaped = false;
    else if (letter === '\\') this.#is_escaped = true;
    else if (letter === '"') this.#in_string = false;
    if (this.#in_string && this.#key.length <= LIST_KEY.length) this.#key += letter;
  }

  #isKeyOfDocument(): boolean {
    return this.#is_object && this.#closers.length === 1 && this.#list_depth === null;
  }

  /** Notes the beginning of a value, and returns whether a record begins with it. */
  #begins(letter: string): boolean {
    const depth = this.#closers.length;
    const is_container = letter === '{' || letter === '[';
    if (depth === 0 && !is_container) throw new BrokenJson('must be an object, or an array of objects');
    const is_list = letter === '[' && (depth === 0 || (this.#after_key && this.#isKeyOfDocument()));
    const is_record = this.#record === null && !is_list && (depth === 0 || depth === this.#list_depth);
    if (is_list) {
      this.#list_depth = depth + 1;
      // The object around a list is no record.
      this.#record = null;
    }
    if (is_list || is_record) {
      this.#text = '';
      this.#is_cut = false;
    }
    if (is_record) this.#record = { base: depth, is_scalar: !is_container };
    if (depth === 0) this.#is_object = letter === '{';
    if (letter === '"') {
      this.#in_string = true;
      this.#key = '';
    }
    if (is_container) {
      if (depth >= MAX_DEPTH) throw new BrokenJson(`is nested deeper than ${MAX_DEPTH} levels`);
      this.#closers.push(letter === '{' ? '}' : ']');
    }
    return is_record;
  }

  #endsScalar(): boolean {
    return this.#record?.is_scalar === true && this.#closers.length === this.#record.base;
  }

  /** Closes a bracket, and returns whether the record ends with it. */
  #endsContainer(letter: string): boolean {
    if (this.#closers.pop() !== letter) throw new BrokenJson(`has a "${letter}" that closes nothing`);
    const depth = this.#closers.length;
    if (this.#list_depth !== null && depth < this.#list_depth) this.#list_depth = depth === 0 ? null : -1;
    if (depth === 0) this.#list_depth = null;
    return this.#record !== null && depth === this.#record.base;
  }

  #close(rest: string): void {
    this.#keep(rest);
    this.#place += 1;
    this.#found.push({ text: this.#is_cut ? null : this.#text, place: this.#place });
    this.#record = null;
    this.#text = '';
    this.#is_cut = false;
  }

  #keep(part: string): void {
    if (this.#is_cut) return;
    this.#is_cut = this.#text.length + part.length > this.#max_length;
    this.#text = this.#is_cut ? '' : this.#text + part;
  }
}

/** A string, or a number outside of any. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON with its numbers as texts, in all their digits. Throws SyntaxError. */
export function parseWithExactNumbers(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}
