/** One line per entry. */
export const linesOf = (list: readonly string[] = []) => list.join('\n');

/** Trimmed lines that are not empty. */
export const listOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
