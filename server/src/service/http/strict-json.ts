import { isUtf8 } from 'node:buffer';
import { invalidField } from '@purser/rules/errors';

/** The deepest nesting of objects and arrays, the outermost included. */
const MAX_DEPTH = 32;
/** The most characters of the input that a message repeats. */
const MAX_ECHO_LENGTH = 20;
const MAX_PATH_LENGTH = 200;

/**
 * Parses a JSON text in UTF-8; a byte order mark is tolerated. Throws `invalid_request` if it is not JSON, and if
 * `JSON.parse` would silently change its meaning: a key given twice, a `__proto__` key, a number that becomes another
 * one (9007199254740993, 1e999). The last is checked by writing the parsed integer and comparing it with the input. It
 * also throws on NUL and lone surrogates, which the database cannot store as text, and on nesting deeper than 32. The
 * message names the field, by a path such as `trace[2].step`, or `body`. It takes linear time and does not recurse.
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidField('body', 'must be valid UTF-8');
  let text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  new Scan(text).run();
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_U = 0x75;
/** Letters after a backslash that stand for one character by themselves: `"\/bfnrt`. */
const SIMPLE_ESCAPES = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]);
/** Integers of up to this many digits are always exact. */
const EXACT_DIGITS = 15;

/** A single pass over a text by the grammar of RFC 8259. */
class Scan {
  readonly text: string;
  at = 0;
  /** For each open container the keys seen so far, or null for an array. */
  readonly open: (Set<string> | null)[] = [];
  /** For each open container the key that is being read (null before it was read) or the index. */
  readonly path: (string | number | null)[] = [];

  constructor(text: string) {
    this.text = text;
  }

  run(): void {
    this.skipSpace();
    if (this.at === this.text.length) throw invalidField('body', 'must not be empty');
    do this.value();
    while (this.afterValue());
  }

  /** Reads a value, or the beginning of a container down to its first value. */
  value(): void {
    for (;;) {
      this.skipSpace();
      const code = this.text.charCodeAt(this.at);
      if (code === QUOTE) {
        this.string();
        return;
      }
      if (code === OPEN_OBJECT) {
        this.enter(new Set());
        this.skipSpace();
        if (this.text.charCodeAt(this.at) === CLOSE_OBJECT) {
          this.leave();
          return;
        }
        this.key();
      } else if (code === OPEN_ARRAY) {
        this.enter(null);
        this.skipSpace();
        if (this.text.charCodeAt(this.at) === CLOSE_ARRAY) {
          this.leave();
          return;
        }
      } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
        this.number();
        return;
      } else {
        this.literal();
        return;
      }
    }
  }

  /** Closes the containers that end here. Returns true if another value follows, and false at the end of the text. */
  afterValue(): boolean {
    for (;;) {
      this.skipSpace();
      const code = this.text.charCodeAt(this.at);
      const depth = this.open.length;
      if (depth === 0) {
        if (this.at < this.text.length) this.fail('the end of the text');
        return false;
      }
      const inObject = this.open[depth - 1] !== null;
      if (code === COMMA) {
        this.at++;
        if (inObject) {
          this.skipSpace();
          this.key();
        } else {
          this.path[depth - 1] = (this.path[depth - 1] as number) + 1;
        }
        return true;
      }
      if (code !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.fail(inObject ? '"," or "}"' : '"," or "]"');
      this.leave();
    }
  }

  enter(keys: Set<string> | null): void {
    if (this.open.length === MAX_DEPTH) {
      const outermost = typeof this.path[0] === 'string' ? showKey(this.path[0]) : 'body';
      throw invalidField(outermost, `must not be nested deeper than ${MAX_DEPTH} levels`);
    }
    this.open.push(keys);
    this.path.push(keys === null ? 0 : null);
    this.at++;
  }

  leave(): void {
    this.open.pop();
    this.path.pop();
    this.at++;
  }

  key(): void {
    if (this.text.charCodeAt(this.at) !== QUOTE) this.fail('a key in double quotes');
    const depth = this.open.length;
    const start = this.at;
    this.path[depth - 1] = null;
    const escaped = this.string();
    const key = escaped
      ? (JSON.parse(this.text.slice(start, this.at)) as string)
      : this.text.slice(start + 1, this.at - 1);
    const keys = this.open[depth - 1] as Set<string>;
    this.path[depth - 1] = key;
    if (keys.has(key)) throw invalidField(this.field(), 'must not be given twice');
    if (key === '__proto__') throw invalidField(this.field(), 'is not an allowed key');
    keys.add(key);
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== COLON) this.fail('":"');
    this.at++;
  }

  /** Reads a string. Returns whether it contains an escape. */
  string(): boolean {
    const { text } = this;
    let escaped = false;
    for (this.at++; ; this.at++) {
      const code = text.charCodeAt(this.at);
      if (code === QUOTE) {
        this.at++;
        return escaped;
      }
      if (code === BACKSLASH) {
        escaped = true;
        this.escape();
      } else if (code < 0x20) {
        this.fail('an escape instead of a control character');
      } else if (Number.isNaN(code)) {
        this.fail('a closing double quote');
      }
    }
  }

  /** Reads an escape from its backslash to its last character, or both escapes of a surrogate pair. */
  escape(): void {
    const code = this.text.charCodeAt(++this.at);
    if (SIMPLE_ESCAPES.has(code)) return;
    if (code !== LOWER_U) this.fail('a JSON escape sequence');
    const unit = this.hex();
    if (unit === 0) throw invalidField(this.field(), 'must not contain control character U+0000');
    if (unit < 0xd800 || unit > 0xdfff) return;
    const followed =
      this.text.charCodeAt(this.at + 1) === BACKSLASH && this.text.charCodeAt(this.at + 2) === LOWER_U;
    if (unit <= 0xdbff && followed) {
      this.at += 2;
      const second = this.hex();
      if (second >= 0xdc00 && second <= 0xdfff) return;
    }
    throw invalidField(this.field(), 'must be well-formed Unicode, but has a lone surrogate');
  }

  /** Reads the four digits after `\u`. */
  hex(): number {
    let unit = 0;
    for (let i = 0; i < 4; i++) {
      const digit = hexDigit(this.text.charCodeAt(++this.at));
      if (digit < 0) this.fail('four hexadecimal digits');
      unit = unit * 16 + digit;
    }
    return unit;
  }

  number(): void {
    const start = this.at;
    if (this.text.charCodeAt(this.at) === MINUS) this.at++;
    const first = this.at;
    this.digits();
    if (this.text.charCodeAt(first) === ZERO && this.at > first + 1) {
      this.at = first + 1;
      this.fail('no digit after a leading zero');
    }
    let plain = true;
    if (this.text.charCodeAt(this.at) === POINT) {
      plain = false;
      this.at++;
      this.digits();
    }
    // The codes of e and E differ by 0x20.
    if ((this.text.charCodeAt(this.at) | 0x20) === 0x65) {
      plain = false;
      this.at++;
      const sign = this.text.charCodeAt(this.at);
      if (sign === PLUS || sign === MINUS) this.at++;
      this.digits();
    }
    if (plain && this.at - first <= EXACT_DIGITS) return;
    const token = this.text.slice(start, this.at);
    const value = Number(token);
    if (!Number.isFinite(value)) throw invalidField(this.field(), 'is too large a number');
    if (Number.isInteger(value) && decimalForm(token) !== decimalForm(String(value))) {
      throw invalidField(this.field(), 'is a number that JSON cannot carry exactly');
    }
  }

  digits(): void {
    const start = this.at;
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (!(code >= ZERO && code <= NINE)) break;
      this.at++;
    }
    if (this.at === start) this.fail('a digit');
  }

  literal(): void {
    for (const word of ['true', 'false', 'null']) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return;
      }
    }
    this.fail('a value');
  }

  skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at++;
    }
  }

  fail(expected: string): never {
    const before = this.text.slice(0, this.at);
    const line = before.split('\n').length;
    const column = this.at - before.lastIndexOf('\n');
    const character = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0);
    const found = this.at >= this.text.length ? 'the text ends' : `found ${JSON.stringify(character)}`;
    throw invalidField(
      'body',
      `is not valid JSON at line ${line}, column ${column} (offset ${this.at}): expected ${expected}, but ${found}`,
    );
  }

  /** Returns the path of the current position: `action.amount_minor`, `trace[2].step`, or `body` at the top. */
  field(): string {
    let field = '';
    for (const part of this.path) {
      if (typeof part === 'number') field += `[${part}]`;
      else if (part !== null) field += field === '' ? showKey(part) : `.${showKey(part)}`;
      if (field.length > MAX_PATH_LENGTH) return `${field.slice(0, MAX_PATH_LENGTH)}…`;
    }
    if (field === '') return 'body';
    return field.startsWith('[') ? `body${field}` : field;
  }
}

/** Returns a key as messages show it: a plain name unchanged, anything else quoted and shortened. */
function showKey(key: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(key)) return key;
  const characters = [...key.slice(0, 2 * MAX_ECHO_LENGTH + 2)];
  const shown = characters.slice(0, MAX_ECHO_LENGTH).join('');
  return JSON.stringify(shown === key ? key : `${shown}…`);
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Returns the same text for all notations of a number: its digits without zeros at both ends, and its exponent. */
function decimalForm(token: string): string {
  const negative = token.startsWith('-');
  const e = token.search(/e/i);
  const mantissa = token.slice(negative ? 1 : 0, e < 0 ? token.length : e);
  const point = mantissa.indexOf('.');
  const digits = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let start = 0;
  let end = digits.length;
  while (digits.charCodeAt(start) === ZERO) start++;
  if (start === end) return '0';
  while (digits.charCodeAt(end - 1) === ZERO) end--;
  const fraction_digits = point < 0 ? 0 : digits.length - point;
  const exponent = (e < 0 ? 0 : Number(token.slice(e + 1))) - fraction_digits + (digits.length - end);
  return `${negative ? '-' : ''}${digits.slice(start, end)}e${exponent}`;
}
