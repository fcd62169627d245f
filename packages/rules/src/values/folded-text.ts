/** The length of the parts of a text that an index is made of. */
const GRAM = 3;

/**
 * A text as a search compares it: in compatibility form without accents, in lower case, with single spaces. What people type
 * without accents or in another case finds it. Vowel signs of other scripts stay.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim();
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over UTF-16 code units, continued from `hash`. */
function hashOn(hash: number, text: string): number {
  let sum = hash;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), FNV_PRIME);
  return sum;
}

/**
 * The numbers of all parts of three characters of a folded text, each once; 32-bit, signed. They differ between workspaces. A
 * text that contains another has all of its numbers; the reverse must be checked. Empty for a text of fewer characters.
 */
export function gramsOf(workspace_id: string, folded: string): number[] {
  const begin = hashOn(FNV_OFFSET, `${workspace_id}\n`);
  const grams = new Set<number>();
  for (let i = 0; i + GRAM <= folded.length; i++) grams.add(hashOn(begin, folded.slice(i, i + GRAM)));
  return [...grams];
}
