import canonicalize from 'canonicalize';

/**
 * The RFC 8785 (JCS) form of a JSON value, by the reference implementation: the hashes of the ledger and of requests depend
 * on it. Objects are read as JSON.stringify reads them (`toJSON`; undefined fields are omitted). Throws TypeError for what
 * JSON cannot represent: NaN, infinities, BigInt, cycles, undefined by itself. Callers must refuse lone surrogates, for
 * which RFC 8785 has no form.
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
