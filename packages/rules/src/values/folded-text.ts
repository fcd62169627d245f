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

/** Bits of a signature for each number, at least. With fewer, more texts are looked at for nothing. */
const BITS_OF_GRAM = 8;
const MIN_BITS = 64;

/**
 * Numbers as a set of bits: for each of them bit `gram & (bits - 1)` is set, as `get_bit` of PostgreSQL counts them. Some other
 * numbers seem to be in it, one in eight at most. The number of bits is a power of two that follows from how many numbers there are.
 */
export function signatureOf(grams: readonly number[]): Buffer {
  const bits = 2 ** Math.ceil(Math.log2(Math.max(MIN_BITS, BITS_OF_GRAM * grams.length)));
  const signature = Buffer.alloc(bits / 8);
  for (const gram of grams) {
    const bit = gram & (bits - 1);
    signature[bit >> 3] = (signature[bit >> 3] as number) | (1 << (bit & 7));
  }
  return signature;
}
