/** A value of CBOR, as far as keys of authenticators are made of it. */
export type Cbor = number | string | Buffer | Cbor[] | Map<Cbor, Cbor> | boolean | null;

const MAX_DEPTH = 8;
const SIMPLE = new Map<number, boolean | null>([
  [20, false],
  [21, true],
  [22, null],
]);

/**
 * Reads one CBOR value (RFC 8949) with definite lengths, which must fill the bytes. Throws RangeError or TypeError for
 * anything else: floats, tags, integers beyond 2^53, a key that occurs twice.
 */
export function decodeCbor(bytes: Buffer): Cbor {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (!reader.is_at_end) throw new TypeError('Bytes follow the value.');
  return value;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get is_at_end(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(depth: number): Cbor {
    if (depth > MAX_DEPTH) throw new RangeError('The value is nested too deep.');
    const first = this.#take(1).readUInt8();
    const [type, info] = [first >> 5, first & 0x1f];
    if (type === 7) return this.#simple(info);
    const number = this.#number(info);
    if (type === 0) return number;
    if (type === 1) return -1 - number;
    if (type === 2) return this.#take(number);
    if (type === 3) return this.#take(number).toString('utf8');
    if (type === 4) return this.#items(number, () => this.value(depth + 1));
    if (type === 5) return this.#map(number, depth);
    throw new TypeError('Tags are not supported.');
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('The value is cut off.');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #number(info: number): number {
    if (info < 24) return info;
    if (info > 27) throw new TypeError('Indefinite lengths are not supported.');
    const bytes = this.#take(2 ** (info - 24));
    const number = Number(`0x${bytes.toString('hex')}`);
    if (!Number.isSafeInteger(number)) throw new RangeError('The number is too large.');
    return number;
  }

  #simple(info: number): boolean | null {
    const value = SIMPLE.get(info);
    if (value === undefined) throw new TypeError('Only true, false and null are supported.');
    return value;
  }

  #items<T>(length: number, read: () => T): T[] {
    if (length > this.#bytes.length) throw new RangeError('The value is cut off.');
    return Array.from({ length }, read);
  }

  #map(length: number, depth: number): Map<Cbor, Cbor> {
    const entries = this.#items(length, (): [Cbor, Cbor] => [this.value(depth + 1), this.value(depth + 1)]);
    const map = new Map(entries);
    if (map.size !== entries.length) throw new TypeError('A key occurs twice.');
    return map;
  }
}
