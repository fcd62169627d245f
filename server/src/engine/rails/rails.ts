import type { RailKind } from '@purser/contract/values/history';
import {
  type AuthorizationFact,
  authorizationDataHash,
  type RailAuthorizationRow,
} from '@purser/rules/cards/authorizations';
import type { LedgerEventType, SubjectType } from '@purser/rules/domain/ledger';
import type { LineRow } from '@purser/rules/history/lines';
import type { RailRow } from '@purser/rules/rails/rails';
import { pushTo } from '@purser/rules/values/maps';

interface LoadedRails {
  rails: readonly RailRow[];
  rail_authorizations: readonly RailAuthorizationRow[];
  authorizations_of_decisions: readonly RailAuthorizationRow[];
  lines_of_authorizations: readonly LineRow[];
}

/** The parts of the working set that the rails use. */
interface Within {
  append(type: LedgerEventType, subject_type: SubjectType, subject_id: string, data_hash: Buffer): string;
}

const nameOf = (kind: RailKind, authorization: string) => `${kind} ${authorization}`;

/** The rails of one workspace in a batch, and the facts of their authorizations. A command sees the changes of those before it. */
export class Rails {
  readonly changes = {
    rails: new Map<string, RailRow>(),
    deleted: new Set<string>(),
    authorizations: [] as RailAuthorizationRow[],
  };
  readonly #within: Within;
  readonly #noteChange: () => void;
  readonly #rails: Map<string, RailRow>;
  readonly #facts = new Map<string, RailAuthorizationRow[]>();
  readonly #taken = new Set<string>();
  readonly #lines: readonly LineRow[];

  constructor(within: Within, loaded: LoadedRails, noteChange: () => void) {
    this.#within = within;
    this.#noteChange = noteChange;
    this.#rails = new Map(loaded.rails.map((rail) => [rail.rail_id, rail]));
    for (const row of loaded.rail_authorizations) this.#keep(row);
    for (const { decision_id } of loaded.authorizations_of_decisions)
      if (decision_id !== null) this.#taken.add(decision_id);
    this.#lines = loaded.lines_of_authorizations;
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

  /** Returns a fact of an authorization that the command needs. */
  fact(kind: RailKind, authorization: string, fact: AuthorizationFact): RailAuthorizationRow | undefined {
    return this.#facts.get(nameOf(kind, authorization))?.find((row) => row.fact === fact);
  }

  /** Returns all facts of an authorization that the command needs. */
  facts(kind: RailKind, authorization: string): ReadonlySet<AuthorizationFact> {
    return new Set(this.#facts.get(nameOf(kind, authorization))?.map(({ fact }) => fact));
  }

  /** True if a decision, which the command needs by `authorizations_of`, is for an authorization already. */
  isTaken(decision_id: string): boolean {
    return this.#taken.has(decision_id);
  }

  /** Returns the lines of an authorization that were there before the batch; the command must need them. */
  linesOf(feed: string, authorization: string): LineRow[] {
    return this.#lines.filter((line) => line.feed === feed && line.authorization_id === authorization);
  }

  /** Adds a fact, sealed by an event. */
  addFact(row: RailAuthorizationRow): void {
    this.#keep(row);
    this.changes.authorizations.push(row);
    const { rail_authorization_id: id } = row;
    this.#within.append('rail_authorization.recorded', 'rail_authorization', id, authorizationDataHash(row));
  }

  #keep(row: RailAuthorizationRow): void {
    pushTo(this.#facts, nameOf(row.kind, row.authorization_id), row);
    if (row.decision_id !== null) this.#taken.add(row.decision_id);
  }
}

/** The changes of rails in one workspace. */
export type RailChanges = Rails['changes'];
