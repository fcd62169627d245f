/** A parsed query string. `values` has no prototype, so that no parameter name can reach one. */
export interface ParsedQuery {
  values: Record<string, string>;
  /** The first error, or null. It is returned because a parser inside the router must not throw. */
  invalid: { field: string; problem: string } | null;
}

/**
 * Parses the part of a URL after `?` as `application/x-www-form-urlencoded`. A repeated name, a percent-escape that is
 * not UTF-8, and a NUL are errors, because each of them can give a filter another meaning than its sender intended.
 */
export function parseQueryString(text: string): ParsedQuery {
  const values: Record<string, string> = Object.create(null);
  if (text === '') return { values, invalid: null };
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const raw_name = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(raw_name);
    if (name === null || name === '') return invalid('query', 'has a parameter name that cannot be decoded');
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (value === null) return invalid(name, 'must be percent-encoded UTF-8 without NUL');
    if (name in values) return invalid(name, 'must be given once');
    values[name] = value;
  }
  return { values, invalid: null };
}

function invalid(field: string, problem: string): ParsedQuery {
  return { values: Object.create(null), invalid: { field, problem } };
}

/** Returns the decoded text, or null if it is not UTF-8 or contains a NUL. */
function decode(text: string): string | null {
  if (!text.includes('%') && !text.includes('+')) return text.includes('\0') ? null : text;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}
