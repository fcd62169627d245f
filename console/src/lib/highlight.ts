/** What a quotation does to the judgement of the purpose. */
export type Effect = 'supports' | 'conflicts' | 'suspicious';

/** A run of text, and what it was quoted for. */
export interface Segment {
  text: string;
  effect: Effect | null;
}

const WEIGHT: Record<Effect, number> = { supports: 1, conflicts: 2, suspicious: 3 };

/**
 * Marks the quotations of one text in it: every character gets the gravest effect that it is quoted for. Quotations are
 * found whatever their case and white space; one that is not in the text marks nothing.
 */
export function highlight(text: string, quotes: readonly { text: string; effect: Effect }[]): Segment[] {
  const effects: (Effect | null)[] = Array.from({ length: text.length }, () => null);
  for (const { text: quote, effect } of quotes) {
    const words = quote.trim().split(/\s+/).map(escaped);
    if (words[0] === '' || words[0] === undefined) continue;
    for (const found of text.matchAll(new RegExp(words.join('\\s+'), 'giu'))) {
      for (let at = found.index; at < found.index + found[0].length; at++) {
        const before = effects[at] ?? null;
        if (before === null || WEIGHT[before] < WEIGHT[effect]) effects[at] = effect;
      }
    }
  }
  const segments: Segment[] = [];
  for (let at = 0; at < text.length; at++) {
    const last = segments.at(-1);
    const effect = effects[at] ?? null;
    if (last !== undefined && last.effect === effect) last.text += text[at];
    else segments.push({ text: text[at] as string, effect });
  }
  return segments;
}

const escaped = (word: string) => word.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
