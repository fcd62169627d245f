import { TEXT_LENGTHS } from '@purser/contract/limits';

/** `line`: one line. `long`: newlines and tabs are allowed. `min` and `max` count Unicode code points. */
export interface TextRule {
  kind: 'line' | 'long';
  min: number;
  max: number;
}

/** The rules of the text fields of the API. */
export const TEXT_RULES = {
  name: { kind: 'line', min: 1, max: TEXT_LENGTHS.name },
  merchant: { kind: 'line', min: 1, max: TEXT_LENGTHS.merchant },
  description: { kind: 'long', min: 0, max: TEXT_LENGTHS.description },
  comment: { kind: 'long', min: 0, max: TEXT_LENGTHS.comment },
  task: { kind: 'long', min: 0, max: TEXT_LENGTHS.task },
} as const satisfies Record<string, TextRule>;

export type NormalisedText = { ok: true; text: string } | { ok: false; problem: string };

const PLAIN = /^[\x20-\x7e]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const CONTROL_IN_LINE = /[\x00-\x1f\x7f-\x9f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const CONTROL_IN_LONG = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/**
 * Normalises a text for storage: trimmed of Unicode white space, in NFC, CR LF replaced by newline. It must then be
 * `rule.min` to `rule.max` code points long and free of lone surrogates and control characters (C0, DEL, C1; newline and
 * tab are allowed where the kind is `long`). Otherwise `problem` is a phrase to follow the field's name, which repeats
 * nothing of the text. Idempotent.
 */
export function normaliseText(value: string, rule: TextRule): NormalisedText {
  if (PLAIN.test(value)) {
    const text = value.trim();
    return checked(text, text.length, value, rule);
  }
  if (LONE_SURROGATE.test(value)) {
    return { ok: false, problem: 'must be well-formed Unicode, but has a lone surrogate' };
  }
  let text = trimWhiteSpace(value);
  if (rule.kind === 'long') text = text.replaceAll('\r\n', '\n');
  const control = (rule.kind === 'long' ? CONTROL_IN_LONG : CONTROL_IN_LINE).exec(text);
  if (control !== null) {
    const code_point = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const allowed = rule.kind === 'long' ? ' except newline and tab' : '';
    return { ok: false, problem: `must not contain control characters${allowed}, but has U+${code_point}` };
  }
  text = text.normalize('NFC');
  return checked(text, countCodePoints(text), value, rule);
}

/** A trimmed text is copied, because V8 would keep the whole original alive for as long as the slice. */
function checked(text: string, length: number, value: string, { min, max }: TextRule): NormalisedText {
  if (length >= min && length <= max)
    return { ok: true, text: text.length < value.length ? Buffer.from(text).toString() : text };
  const range = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  return { ok: false, problem: `must be ${range} characters, got ${length}` };
}

/** Also trims U+0085, which is white space in Unicode but not for `trim()`. */
function trimWhiteSpace(value: string): string {
  let text = value.trim();
  while (text.startsWith('\u0085') || text.endsWith('\u0085')) {
    let start = 0;
    let end = text.length;
    while (text[start] === '\u0085') start++;
    while (end > start && text[end - 1] === '\u0085') end--;
    text = text.slice(start, end).trim();
  }
  return text;
}

/** Expects well-formed text: each surrogate pair counts as one. */
function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}
