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
  return text.replace(
    HIDDEN,
    (hidden) => `[U+${(hidden.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
