import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';

/** The signing keys of one workspace, in a batch. A command sees the changes of those before it, and must need `signing_keys`. */
export class SigningKeys {
  /** By id: what the lane writes. */
  readonly changes = new Map<string, SigningKeyRow>();
  readonly #noteChange: () => void;
  #keys: readonly SigningKeyRow[];

  constructor(keys: readonly SigningKeyRow[], noteChange: () => void) {
    this.#keys = keys;
    this.#noteChange = noteChange;
  }

  all(): readonly SigningKeyRow[] {
    return this.#keys;
  }

  find(signing_key_id: string): SigningKeyRow | undefined {
    return this.#keys.find((key) => key.signing_key_id === signing_key_id);
  }

  put(key: SigningKeyRow): void {
    const is_known = this.find(key.signing_key_id) !== undefined;
    // Each keeps its place, so that commands that change all of them write the chain in the order of the ids.
    this.#keys = is_known
      ? this.#keys.map((each) => (each.signing_key_id === key.signing_key_id ? key : each))
      : [...this.#keys, key];
    this.changes.set(key.signing_key_id, key);
    this.#noteChange();
  }
}
