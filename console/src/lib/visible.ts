/** Invisible characters, and those that change the direction of nearby text. */
const HIDDEN = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** True if a name contains hidden characters. */
export function hidesCharacters(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

/**
 * A name for display, with each hidden character as its code point, such as `[U+202E]`. It cannot imitate another name or
 * change the direction of text around it.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, codePoint);
}

const codePoint = (hidden: string) =>
  `[U+${(hidden.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`;

/** Line breaks, tabs and the joints of emoji, and as its group any other hidden character. */
const OF_TEXT = new RegExp(
  `\\r?\\n|\\t|(?<=\\p{Emoji})\\ufe0f|(?<=\\p{Extended_Pictographic}\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})|(${HIDDEN.source})`,
  'gu',
);

/** As `visible`, for a text of several lines, which may have emoji. */
export function visibleText(text: string): string {
  return text.replace(OF_TEXT, (found, hidden?: string) =>
    hidden === undefined ? found : codePoint(hidden),
  );
}
