import type { ResolutionBody } from '@purser/contract/history/coverage';
import type { LineFacts, MatchedLine, UnmatchedLine } from './resolution-rows.ts';

/** The rows of lines and resolutions that a batch loaded. */
interface LoadedCoverage {
  line_facts: readonly LineFacts[];
  matched_lines: readonly MatchedLine[];
  unmatched_lines: readonly UnmatchedLine[];
}

/** True if two lines are of one spend. */
const isSameSpend = (
  one: Pick<LineFacts, 'line_id' | 'feed' | 'authorization_id'>,
  other: Pick<LineFacts, 'line_id' | 'feed' | 'authorization_id'>,
) =>
  one.line_id === other.line_id ||
  (one.authorization_id !== null &&
    one.feed === other.feed &&
    one.authorization_id === other.authorization_id);

/** Resolutions of lines, and the lines that were reported as unmatched, in one workspace and batch. */
export class ResolvedLines {
  readonly changes = { resolutions: [] as ResolutionBody[], unmatched: [] as UnmatchedLine[] };
  readonly #noteChange: () => void;
  readonly #lines: Map<string, LineFacts>;
  /** By line: the decision that a person matched it with last. */
  readonly #matched: Map<string, MatchedLine>;
  readonly #unmatched: Set<string>;

  constructor(loaded: LoadedCoverage, noteChange: () => void) {
    this.#noteChange = noteChange;
    this.#lines = new Map(loaded.line_facts.map((row) => [row.line_id, row]));
    this.#matched = new Map(loaded.matched_lines.map((row) => [row.line_id, row]));
    this.#unmatched = new Set(loaded.unmatched_lines.map(({ line_id }) => line_id));
  }

  /** Returns a line; the command must need it. */
  line(line_id: string): LineFacts | undefined {
    return this.#lines.get(line_id);
  }

  /** The line of another spend that a person matched with a decision; the command must need it. */
  otherLineOf(decision_id: string, line: LineFacts): string | undefined {
    for (const each of this.#matched.values())
      if (each.decision_id === decision_id && !isSameSpend(each, line)) return each.line_id;
    return undefined;
  }

  addResolution(row: ResolutionBody, { feed, authorization_id }: LineFacts): void {
    const { line_id, decision_id } = row;
    this.#matched.delete(line_id);
    if (row.action === 'MATCH' && decision_id !== null)
      this.#matched.set(line_id, { line_id, decision_id, feed, authorization_id });
    this.changes.resolutions.push(row);
    this.#noteChange();
  }

  /** Returns whether a line was reported as unmatched; the command must need it. */
  wasUnmatched(line_id: string): boolean {
    return this.#unmatched.has(line_id);
  }

  addUnmatched(row: UnmatchedLine): void {
    this.#unmatched.add(row.line_id);
    this.changes.unmatched.push(row);
    this.#noteChange();
  }
}

/** The changes of resolutions in one workspace. */
export type CoverageChanges = ResolvedLines['changes'];
