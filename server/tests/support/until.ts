/**
 * Resolves with what `look` gives as soon as that is something. It has no limit of its own, since anything may take
 * its time on a busy machine; what never comes about is ended by the limit of the test.
 */
export async function until<T>(look: () => T | Promise<T>, every_ms = 10): Promise<NonNullable<T>> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await new Promise((wait) => setTimeout(wait, every_ms));
  }
}
