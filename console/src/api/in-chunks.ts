/** The service's maximum number of values for one filter. */
const MAX_VALUES = 50;

/** Calls `ask` with chunks of the values, one after the other, and joins the results. */
export async function inChunks<T>(
  values: readonly string[],
  ask: (some: string[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < values.length; i += MAX_VALUES) {
    found.push(...(await ask(values.slice(i, i + MAX_VALUES))));
  }
  return found;
}
