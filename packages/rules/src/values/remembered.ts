/** Texts whose results are kept, some KB each: agents buy from the same merchants by the same purposes again and again. */
const MAX_REMEMBERED = 500;

/** Makes a function that keeps the results of `read` for the last 500 texts. `read` must depend on its text alone. */
export function remembered<T extends NonNullable<unknown>>(read: (text: string) => T): (text: string) => T {
  // No lru-cache: the client's fake has this, and would be a tenth longer.
  const known = new Map<string, T>();
  return (text) => {
    const kept = known.get(text);
    if (kept !== undefined) return kept;
    const result = read(text);
    if (known.size === MAX_REMEMBERED) known.delete(known.keys().next().value as string);
    known.set(text, result);
    return result;
  };
}
