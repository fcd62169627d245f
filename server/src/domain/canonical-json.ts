/** What stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * The RFC 8785 (JCS) form of a JSON value: half the time of the general serializer (measured: 2.7 instead of 5.3 µs for a
 * request's body), and tests hold the two equal. Objects are read as JSON.stringify reads them (`toJSON`, nothing for
 * undefined). Throws TypeError on what JSON cannot carry: NaN, infinities, BigInt, undefined by itself. Lone surrogates,
 * which RFC 8785 has no form for, callers refuse at the edge.
 */
export function canonicalJson(value: unknown): string {
  const text = write(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

function write(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      throw new TypeError('a BigInt has no JSON form');
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return writeArray(value);
      return writeObject(value as Record<string, unknown>);
    default:
      return undefined;
  }
}

function writeString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function writeArray(items: readonly unknown[]): string {
  let text = '[';
  for (let i = 0; i < items.length; i++) {
    if (i > 0) text += ',';
    text += write(items[i]) ?? 'null';
  }
  return `${text}]`;
}

function writeObject(value: Record<string, unknown>): string | undefined {
  if (typeof value.toJSON === 'function') return write(value.toJSON());
  let text = '';
  for (const key of sortedKeys(value)) {
    const member = write(value[key]);
    if (member === undefined) continue;
    if (text !== '') text += ',';
    text += `${writeString(key)}:${member}`;
  }
  return `{${text}}`;
}

/** By UTF-16 code units, as RFC 8785 has it and as JavaScript compares. Most objects come in order. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  }
  return keys;
}
