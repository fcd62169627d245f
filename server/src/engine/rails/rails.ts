import type { RailRow } from '@purser/rules/rails/rails';

/** The rails of one workspace in a batch. A command sees the changes of those before it. */
export class Rails {
  readonly changes = { rails: new Map<string, RailRow>(), deleted: new Set<string>() };
  readonly #noteChange: () => void;
  readonly #rails: Map<string, RailRow>;

  constructor(loaded: { rails: readonly RailRow[] }, noteChange: () => void) {
    this.#noteChange = noteChange;
    this.#rails = new Map(loaded.rails.map((rail) => [rail.rail_id, rail]));
  }

  /** Returns a rail that the command needs. */
  rail(rail_id: string): RailRow | undefined {
    return this.#rails.get(rail_id);
  }

  putRail(rail: RailRow): void {
    this.#rails.set(rail.rail_id, rail);
    this.changes.rails.set(rail.rail_id, rail);
    this.#noteChange();
  }

  deleteRail(rail_id: string): void {
    this.#rails.delete(rail_id);
    this.changes.rails.delete(rail_id);
    this.changes.deleted.add(rail_id);
    this.#noteChange();
  }
}

/** The changes of rails in one workspace. */
export type RailChanges = Rails['changes'];
