/** URL parameters as plain text. They are passed to the API unchanged, and links can be written by hand. */
export type Search = Record<string, string>;

/** Parses a query string. The last value of a name counts. Empty values are left out. */
export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) if (value !== '') search[name] = value;
  return search;
}

/** Formats a query string with its question mark. Empty without parameters. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Keeps only the named parameters, so that a stray one in a link has no effect. */
export function pick<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { [N in Name]?: string } {
  const known: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'string' && value !== '') known[name] = value;
  }
  return known;
}
