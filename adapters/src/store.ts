/**
 * Where card rails keep what they must not forget. Values are texts; tokens in them are sealed. Anything with a
 * compare-and-set will do; docs/guides/rails.md has it for PostgreSQL.
 */
export interface CardStore {
  /** The value of the key; null if there is none. */
  get(key: string): Promise<string | null>;
  /** Keeps `value` if what is there is still `expected` (null: nothing), in one step. False, and nothing changed, if not. */
  replace(key: string, expected: string | null, value: string): Promise<boolean>;
}

/** A store that lives as long as the process: for tests, and for cards that are armed and used by one process. */
export function memoryStore(): CardStore {
  const kept = new Map<string, string>();
  return {
    get: async (key) => kept.get(key) ?? null,
    async replace(key, expected, value) {
      if ((kept.get(key) ?? null) !== expected) return false;
      kept.set(key, value);
      return true;
    },
  };
}

/** Changes what is kept under a key, as often as others come in between. `change` gives null to leave it as it is. */
export async function update<Value>(
  store: CardStore,
  key: string,
  change: (current: Value | null) => Value | null | Promise<Value | null>,
): Promise<Value | null> {
  for (;;) {
    const text = await store.get(key);
    const current = text === null ? null : (JSON.parse(text) as Value);
    const changed = await change(current);
    if (changed === null) return current;
    const written = JSON.stringify(changed);
    if (written === text || (await store.replace(key, text, written))) return changed;
  }
}
