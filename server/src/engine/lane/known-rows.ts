import type { LedgerHead } from '@purser/rules/domain/ledger';
import { pushTo, valueIn } from '@purser/rules/values/maps';
import { LRUCache } from 'lru-cache';
import { type ChangedSet, KINDS, type Loaded } from './tables.ts';

/** A head as a batch locks or writes it. Every batch that writes anything in a workspace makes `time_ms` later. */
export type HeadVersion = LedgerHead & { time_ms: number };

/** The known rows of a workspace. */
interface Known {
  head: HeadVersion;
  /** The time of the batch that left them, ms: what no longer counted then is left out. */
  now_ms: number;
  /** Another node wrote in between; nothing is taken until the head is found where this process left it. */
  is_suspect: boolean;
  /** By kind and key. */
  rows: Map<string, Map<string, object[]>>;
  /** The length of the rows as JSON, about. */
  length: number;
}

/** The length of all rows that are kept. A workspace with more than a quarter of it begins anew. */
const MAX_LENGTH = 32_000_000;
/** The size counted for a workspace without rows. */
const EMPTY_LENGTH = 500;

/** The kinds whose rows are kept. */
const KEPT = KINDS.flatMap(([kind, { known }]) => (known === undefined ? [] : [[kind, known] as const]));
const NONE: readonly never[] = [];

const lengthOfJson = (row: object) => JSON.stringify(row).length;

const isSameHead = (a: HeadVersion, b: HeadVersion) =>
  a.time_ms === b.time_ms && a.seq === b.seq && a.hash.equals(b.hash);

/**
 * The `Cacheable` rows of each workspace that this process knows from its last batch there. Every write of such a row, on
 * any node, moves the head of the workspace. So the rows are current as long as the head that a batch locks is the head
 * that they were stored with. The batch must check this (`holdsAt`) before it uses any row.
 */
export class KnownRows {
  readonly #workspaces: LRUCache<string, Known>;
  readonly #max_length: number;

  /** With `max_length` 0 nothing is kept. */
  constructor(max_length = MAX_LENGTH) {
    this.#max_length = max_length;
    const maxSize = Math.max(1, max_length);
    this.#workspaces = new LRUCache({ maxSize, sizeCalculation: ({ length }) => length });
  }

  /** Returns the rows of a key; undefined where they are not known. That a key has no rows is never known. */
  find(workspace_id: string, kind: string, key: string): readonly object[] | undefined {
    const known = this.#workspaces.get(workspace_id);
    return known === undefined || known.is_suspect ? undefined : known.rows.get(kind)?.get(key);
  }

  /**
   * Returns whether what is known of a workspace is true at this head, which the caller has locked, and at this time: what
   * no longer counted at a later time may count at an earlier one.
   */
  holdsAt(workspace_id: string, head: HeadVersion, now_ms: number): boolean {
    const known = this.#workspaces.get(workspace_id);
    return known !== undefined && isSameHead(known.head, head) && now_ms >= known.now_ms;
  }

  /**
   * Keeps the rows of a batch that was committed: those that it had at the head `locked`, as it changed them on the way
   * to the head `written`.
   */
  keep(set: ChangedSet, loaded: Loaded, locked: HeadVersion, written: HeadVersion): void {
    const before = this.#workspaces.get(set.workspace_id);
    const holds = this.holdsAt(set.workspace_id, locked, set.now_ms);
    const continues = holds && before !== undefined && before.length < this.#max_length / 4;
    const rows: Known['rows'] = continues ? before.rows : new Map();
    let length = continues ? before.length : EMPTY_LENGTH;
    for (const [kind, known] of KEPT) {
      const { keyOf, lengthOf = lengthOfJson, changed, replaced } = known;
      const kept = valueIn(rows, kind, () => new Map<string, object[]>());
      let found: Map<string, object[]> | undefined;
      for (const row of loaded[kind]) {
        const key = keyOf(row);
        if (key === null || kept.has(key)) continue;
        found ??= new Map();
        pushTo(found, key, Object.freeze(row));
        length += lengthOf(row);
      }
      for (const [key, all] of found ?? NONE) kept.set(key, all);
      for (const key of changed?.(set) ?? []) {
        for (const row of kept.get(key) ?? []) length -= lengthOf(row);
        kept.delete(key);
      }
      for (const row of replaced?.rowsOf(set) ?? []) {
        const key = keyOf(row);
        const before = key === null ? undefined : kept.get(key);
        if (key === null || before === undefined) continue;
        const after = before.filter((each) => !replaced?.isSame(each, row));
        after.push(Object.freeze(row));
        kept.set(key, after);
        if (known.lengthOf === undefined) continue;
        for (const each of before) length -= lengthOf(each);
        for (const each of after) length += lengthOf(each);
      }
    }
    const is_suspect = before !== undefined && !holds;
    this.#workspaces.set(set.workspace_id, { head: written, now_ms: set.now_ms, is_suspect, rows, length });
  }

  /** Forgets a workspace, after a batch that failed or of which nobody knows whether it was committed. */
  forget(workspace_id: string): void {
    this.#workspaces.delete(workspace_id);
  }
}
