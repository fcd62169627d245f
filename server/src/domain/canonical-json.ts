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

/** From this many keys on the language's own sort is the faster one. */
const MANY_KEYS = 24;

/**
 * By UTF-16 code units, as RFC 8785 has it and as JavaScript compares. Few keys are put in order one by one: the
 * language's own sort first makes itself work arrays (5 % of all memory that a decision took).
 */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  if (keys.length >= MANY_KEYS) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string;
    let at = i;
    while (at > 0 && (keys[at - 1] as string) > key) {
      keys[at] = keys[at - 1] as string;
      at--;
    }
    keys[at] = key;
  }
  return keys;
}
