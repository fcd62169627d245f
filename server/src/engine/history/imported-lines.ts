import type { LineRow } from '@purser/rules/history/lines';
import type {
  ImportProblemRow,
  ImportProgress,
  ImportRow,
  InstrumentAssignment,
} from '@purser/rules/imports/import-rows';

/** The rows of imports and lines that a batch loaded. */
interface LoadedHistory {
  imports: readonly ImportRow[];
  import_progress: readonly ImportProgress[];
  lines: readonly LineRow[];
  assignments: readonly InstrumentAssignment[];
}

const lineKey = ({ feed, identity }: Pick<LineRow, 'feed' | 'identity'>) => `${feed} ${identity}`;

/** Imports, lines and whose instruments are, in one workspace and batch. A command sees the changes of those before it. */
export class ImportedLines {
  readonly changes = {
    new_imports: [] as ImportRow[],
    progress: new Map<string, ImportProgress>(),
    /** Imports whose earlier problems are forgotten. */
    restarted: new Set<string>(),
    problems: [] as ImportProblemRow[],
    lines: [] as LineRow[],
    assignments: [] as InstrumentAssignment[],
    deleted_imports: new Set<string>(),
  };
  readonly #noteChange: () => void;
  readonly #imports: Map<string, ImportRow>;
  readonly #progress: Map<string, ImportProgress>;
  readonly #lines = new Map<string, LineRow>();
  readonly #assignments: Map<string, InstrumentAssignment>;

  constructor(loaded: LoadedHistory, noteChange: () => void) {
    this.#noteChange = noteChange;
    this.#imports = new Map(loaded.imports.map((row) => [row.import_id, row]));
    this.#progress = new Map(loaded.import_progress.map((row) => [row.import_id, row]));
    for (const line of loaded.lines) this.#lines.set(lineKey(line), line);
    this.#assignments = new Map(loaded.assignments.map((row) => [row.instrument, row]));
  }

  /** Returns an import with how far it was read; undefined where there is none, or it was deleted. */
  import(import_id: string): { row: ImportRow; progress: ImportProgress } | undefined {
    const row = this.#imports.get(import_id);
    const progress = this.#progress.get(import_id);
    return row === undefined || progress === undefined ? undefined : { row, progress };
  }

  /** Returns the line of an identity; the command must need it. */
  line(of: Pick<LineRow, 'feed' | 'identity'>): LineRow | undefined {
    return this.#lines.get(lineKey(of));
  }

  /** Returns the newest assignment of an instrument; the command must need it. */
  assignment(instrument: string): InstrumentAssignment | undefined {
    return this.#assignments.get(instrument);
  }

  addImport(row: ImportRow, progress: ImportProgress): void {
    this.#imports.set(row.import_id, row);
    this.changes.new_imports.push(row);
    this.putProgress(progress);
  }

  putProgress(progress: ImportProgress): void {
    this.#progress.set(progress.import_id, progress);
    this.changes.progress.set(progress.import_id, progress);
    this.#noteChange();
  }

  /** Forgets the problems of earlier attempts. Those of this batch are forgotten with them. */
  restart(import_id: string): void {
    this.changes.restarted.add(import_id);
    this.changes.problems = this.changes.problems.filter((problem) => problem.import_id !== import_id);
    this.#noteChange();
  }

  addProblems(problems: readonly ImportProblemRow[]): void {
    this.changes.problems.push(...problems);
    this.#noteChange();
  }

  addLines(lines: readonly LineRow[]): void {
    for (const line of lines) this.#lines.set(lineKey(line), line);
    this.changes.lines.push(...lines);
    this.#noteChange();
  }

  addAssignment(row: InstrumentAssignment): void {
    this.#assignments.set(row.instrument, row);
    this.changes.assignments.push(row);
    this.#noteChange();
  }

  /** Removes an import with its lines. */
  deleteImport(import_id: string): void {
    this.#imports.delete(import_id);
    this.#progress.delete(import_id);
    for (const [key, line] of this.#lines) if (line.import_id === import_id) this.#lines.delete(key);
    this.changes.deleted_imports.add(import_id);
    this.#noteChange();
  }
}

/** The changes of imports and lines in one workspace. */
export type HistoryChanges = ImportedLines['changes'];
