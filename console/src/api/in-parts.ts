/** The most values that the service takes for one filter. */
const MAX_VALUES = 50;

/** Asks for many values some at a time, one request after the other, and joins what was found. */
export async function inParts<T>(
  values: readonly string[],
  ask: (some: string[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < values.length; i += MAX_VALUES) {
    found.push(...(await ask(values.slice(i, i + MAX_VALUES))));
  }
  return found;
}
