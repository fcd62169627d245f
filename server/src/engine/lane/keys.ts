import type { ApiKey, KeyUse } from '@purser/rules/domain/keys';
import type { Changes } from './changes.ts';

/** The API keys of one workspace in a batch. A command sees the changes of those before it; the lane writes `changes`. */
export class Keys {
  readonly #keys = new Map<string, ApiKey>();
  readonly #changes: Changes;
  readonly #noteChange: () => void;

  constructor(loaded: readonly ApiKey[], changes: Changes, noteChange: () => void) {
    for (const key of loaded) this.#keys.set(key.key_id, key);
    this.#changes = changes;
    this.#noteChange = noteChange;
  }

  get(key_id: string): ApiKey | undefined {
    return this.#keys.get(key_id);
  }

  /** Returns the admin keys that were not revoked; the command must need `admin_keys`. */
  admins(): ApiKey[] {
    return [...this.#keys.values()].filter((key) => key.scopes.includes('admin') && key.revoked_at === null);
  }

  /** Returns the keys that may review and were not revoked; the command must need `review_keys`. */
  reviewing(): ApiKey[] {
    return [...this.#keys.values()].filter((key) => key.scopes.includes('review') && key.revoked_at === null);
  }

  /**
   * Returns whether a key carries a principal though another person made it, and is not revoked; the command must need the
   * principal.
   */
  isCarriedByForeign(principal_id: string): boolean {
    return [...this.#keys.values()].some(
      (key) =>
        key.principal_id === principal_id &&
        key.revoked_at === null &&
        key.made_by_person !== null &&
        key.made_by_person !== principal_id,
    );
  }

  /** `secret_id` names the secret key that the digest was computed with. */
  add(key: ApiKey, secret_id: string): void {
    this.#changes.new_digests.push({ digest: key.digest, key_id: key.key_id, secret_id });
    this.put(key);
  }

  /** Replaces a key's digest. */
  rewrap(before: ApiKey, { digest, secret_id }: { digest: Buffer; secret_id: string }): ApiKey {
    const after = { ...before, digest };
    this.#changes.old_digests.push({ digest: before.digest });
    this.add(after, secret_id);
    return after;
  }

  put(key: ApiKey): void {
    this.#keys.set(key.key_id, key);
    this.#changes.keys.set(key.key_id, key);
    this.#noteChange();
  }

  noteUse(use: KeyUse): void {
    this.#changes.key_uses.set(use.key_id, use);
    this.#noteChange();
  }
}
