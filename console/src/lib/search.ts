/** Search parameters as plain texts: what stands in the address is what the API is asked, and links can be made by hand. */
export type Search = Record<string, string>;

/** The parameters of an address's query, the last of each name. Empty ones are left out. */
export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) if (value !== '') search[name] = value;
  return search;
}

/** The query of an address, with its question mark; nothing where there are no parameters. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Only the parameters that a screen knows, so that a stray one in a link does no harm. */
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
