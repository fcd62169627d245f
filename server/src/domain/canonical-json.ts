import canonicalize from 'canonicalize';

/**
 * The RFC 8785 (JCS) form of a JSON value.
 * Throws on what JSON cannot carry (NaN, BigInt, lone surrogates); callers refuse those at the edge.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}
