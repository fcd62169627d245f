// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g;

/**
 * Words of others as data: on one line, without characters that hide or reorder text, and at most `max` characters.
 */
export function bounded(text: string, max = 500): string {
  const line = text.replace(UNSAFE, ' ').replace(/ {2,}/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
