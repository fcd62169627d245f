/** Characters that nobody sees, or that turn the direction of what is near them. */
const HIDDEN = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns whether a name hides characters. */
export function hidesCharacters(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

/**
 * A name as it is shown: each hidden character by its code point, such as `[U+202E]`. So it cannot look like another name,
 * and it turns nothing around it.
 */
export function visible(text: string): string {
  return text.replace(
    HIDDEN,
    (hidden) => `[U+${(hidden.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
