import canonicalize from 'canonicalize';

/**
 * The RFC 8785 (JCS) form of a JSON value, by the reference implementation: hashes of the ledger and of requests stand on
 * it. Objects are read as JSON.stringify reads them (`toJSON`, nothing for undefined). Throws TypeError on what JSON cannot
 * carry: NaN, infinities, BigInt, cycles, undefined by itself. Lone surrogates, which RFC 8785 has no form for, callers
 * refuse at the edge.
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (error) {
    throw new TypeError('The value has no JSON form.', { cause: error });
  }
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}
