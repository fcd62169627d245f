/** The length of the parts of a text that an index is made of. */
const GRAM = 3;

/** Words of ASCII with single spaces: folded but for its case. Most texts are. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/**
 * A text as a search compares it: in compatibility form without accents, in lower case, with single spaces. What people type
 * without accents or in another case finds it. Vowel signs of other scripts stay.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim();
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over UTF-16 code units of a part of a text, continued from `hash`. */
function hashOn(hash: number, text: string, from = 0, to = text.length): number {
  let sum = hash;
  for (let i = from; i < to; i++) sum = Math.imul(sum ^ text.charCodeAt(i), FNV_PRIME);
  return sum;
}

/**
 * The numbers of all parts of three characters of a folded text, each once; 32-bit, signed. They differ between workspaces. A
 * text that contains another has all of its numbers; the reverse must be checked. Empty for a text of fewer characters.
 */
export function gramsOf(workspace_id: string, folded: string): number[] {
  const begin = hashOn(FNV_OFFSET, `${workspace_id}\n`);
  const grams: number[] = [];
  // A hash table of places in `grams`, at most half full. Each decision is indexed, and a Set took three times as long.
  const places = new Uint32Array(2 ** (33 - Math.clz32(folded.length)));
  const last = places.length - 1;
  for (let i = 0; i + GRAM <= folded.length; i++) {
    const gram = hashOn(begin, folded, i, i + GRAM);
    let at = gram & last;
    while (places[at] !== 0 && grams[(places[at] ?? 0) - 1] !== gram) at = (at + 1) & last;
    if (places[at] === 0) places[at] = grams.push(gram);
  }
  return grams;
}
