import { LRUCache } from 'lru-cache';

/** Texts whose results are kept, some KB each: agents buy from the same merchants by the same purposes again and again. */
const MAX_REMEMBERED = 500;

/** Makes a function that keeps the results of `read` for the last 500 texts. `read` must depend on its text alone. */
export function remembered<T extends NonNullable<unknown>>(read: (text: string) => T): (text: string) => T {
  const known = new LRUCache<string, T>({ max: MAX_REMEMBERED });
  return (text) => {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    const result = read(text);
    known.set(text, result);
    return result;
  };
}
