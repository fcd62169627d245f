import { momentOf } from './statements.ts';

/**
 * The statements that a chain has used. One whose head is no longer among the recent events proves nothing more, so it is
 * forgotten: memory follows the events of ten minutes, as with `RecentHashes`.
 */
export class UsedStatements {
  /** Each statement with the `seq` of the head that it names. */
  readonly #heads = new Map<string, number>();

  /** Adds a statement. Returns false if it was used before. */
  add(statement: string): boolean {
    if (this.#heads.has(statement)) return false;
    this.#heads.set(statement, momentOf(statement)?.head.seq ?? 0);
    return true;
  }

  /** Forgets the oldest statements while they name a head before `seq`. */
  forgetBefore(seq: number): void {
    for (const [statement, head] of this.#heads) {
      if (head >= seq) return;
      this.#heads.delete(statement);
    }
  }
}
