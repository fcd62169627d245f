const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/**
 * Words of others as data: on one line, without characters that hide or reorder text, and at most `max` characters.
 */
export function bounded(text: string, max = 500): string {
  const line = text.replace(UNSAFE, ' ').replace(/ {2,}/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
