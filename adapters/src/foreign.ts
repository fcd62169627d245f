/** A field that somebody else wrote is missing, or is not what it must be. The message names the field and never its value. */
export class Unreadable extends Error {}

const ID = /^[!-~]{1,200}$/;

/**
 * Reads an object that somebody else wrote: a card network, a seller. Nothing is converted, so "60" is no number. Every
 * reader throws an `Unreadable` where the field is missing or of another type.
 */
export class Foreign {
  readonly #fields: Record<string, unknown>;
  readonly #path: string;

  /** `path` names the object in errors. */
  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Unreadable(`${path} must be an object`);
    this.#fields = value as Record<string, unknown>;
    this.#path = path;
  }

  #read<T>(name: string, must: string, holds: (value: unknown) => boolean): T {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    if (!holds(value)) throw new Unreadable(`${this.#path}.${name} must be ${must}`);
    return value as T;
  }

  /** Returns true if the field is present and not null. */
  has(name: string): boolean {
    return (
      Object.hasOwn(this.#fields, name) && this.#fields[name] !== undefined && this.#fields[name] !== null
    );
  }

  /** Returns true if the field equals this value. */
  is(name: string, value: string | boolean): boolean {
    return Object.hasOwn(this.#fields, name) && this.#fields[name] === value;
  }

  /** The id where there is one; undefined where there is none. */
  idIfAny(name: string): string | undefined {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    return typeof value === 'string' && ID.test(value) ? value : undefined;
  }

  /** 1 to 200 visible ASCII characters: what ids of vendors, addresses and assets are made of. */
  id(name: string): string {
    return this.#read(
      name,
      '1 to 200 visible ASCII characters',
      (value) => typeof value === 'string' && ID.test(value),
    );
  }

  text(name: string): string {
    return this.#read(name, 'a text', (value) => typeof value === 'string');
  }

  /** A text that the pattern matches. */
  matching(name: string, pattern: RegExp, must: string): string {
    return this.#read(name, must, (value) => typeof value === 'string' && pattern.test(value));
  }

  boolean(name: string): boolean {
    return this.#read(name, 'true or false', (value) => typeof value === 'boolean');
  }

  /** A whole number from `min` to `max`. */
  integer(name: string, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): number {
    const holds = (value: unknown) =>
      Number.isSafeInteger(value) && min <= Number(value) && Number(value) <= max;
    return this.#read(name, `a whole number from ${min} to ${max}`, holds);
  }

  /** A whole number from 0: digits in a text, a number, or a bigint. */
  digits(name: string): bigint {
    const isDigits = (value: unknown) =>
      (typeof value === 'string' && /^\d{1,78}$/.test(value)) ||
      (Number.isSafeInteger(value) && Number(value) >= 0) ||
      (typeof value === 'bigint' && value >= 0n);
    return BigInt(this.#read<string>(name, 'a whole number from 0', isDigits));
  }

  object(name: string): Foreign {
    return new Foreign(this.#fields[name], `${this.#path}.${name}`);
  }

  /** A list of objects. */
  objects(name: string): Foreign[] {
    const list = this.#read<unknown[]>(name, 'a list', Array.isArray);
    return list.map((each, i) => new Foreign(each, `${this.#path}.${name}[${i}]`));
  }
}
