/** A list as it stands in a form, with a line for each entry. */
export const linesOf = (list: readonly string[] = []) => list.join('\n');

/** The entries of such a text: its lines, trimmed, but for empty ones. */
export const listOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
