/** The effect of a quotation on the assessment of the purpose. */
export type Effect = 'supports' | 'conflicts' | 'suspicious';

/** A run of text with the effect of its quotation. */
export interface Segment {
  text: string;
  effect: Effect | null;
}

const WEIGHT: Record<Effect, number> = { supports: 1, conflicts: 2, suspicious: 3 };

/**
 * Splits a text into segments by quotation. Each character gets the most severe effect of its quotations. Case and white
 * space are ignored. A quotation that does not occur in the text has no effect.
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
