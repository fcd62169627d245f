const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** An id in the service's form. */
export function newId(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(26));
  return `${prefix}_0${Array.from(random.subarray(1), (byte) => ALPHABET[byte % 32]).join('')}`;
}
