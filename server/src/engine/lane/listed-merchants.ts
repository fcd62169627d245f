import type { MerchantEntry } from '@purser/rules/merchants/directory';

/** The listed merchants that a batch loaded. */
interface LoadedEntries {
  listed_merchants: readonly MerchantEntry[];
  merchant_entries: readonly MerchantEntry[];
}

/** The merchants listed in one workspace, in a batch. A command sees the changes of those before it. */
export class ListedMerchants {
  /** By entry: what the lane writes. */
  readonly changes = new Map<string, MerchantEntry>();
  readonly #noteChange: () => void;
  readonly #entries = new Map<string, MerchantEntry>();

  constructor({ listed_merchants, merchant_entries }: LoadedEntries, noteChange: () => void) {
    this.#noteChange = noteChange;
    for (const entry of [...listed_merchants, ...merchant_entries]) this.#entries.set(entry.entry_id, entry);
  }

  /** Returns the entries of an agent that are in force; the command must need `listed_merchants_of`. */
  of(agent_id: string): MerchantEntry[] {
    return [...this.#entries.values()].filter(
      (entry) => entry.agent_id === agent_id && entry.unlisted_in === null,
    );
  }

  /** Returns an entry, unlisted ones included. */
  entry(entry_id: string): MerchantEntry | undefined {
    return this.#entries.get(entry_id);
  }

  put(entry: MerchantEntry): void {
    this.#entries.set(entry.entry_id, entry);
    this.changes.set(entry.entry_id, entry);
    this.#noteChange();
  }
}
