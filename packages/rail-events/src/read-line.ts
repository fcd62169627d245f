import type { ProblemCode, SkipReason } from '@purser/contract/values/history';
import type { LineContent } from '@purser/rules/history/lines';

/** One movement of money as a rail reports it, with the rail's name of its authorization. Amounts are above 0. */
export interface ReadLine extends Omit<LineContent, 'authorization_id'> {
  authorization: string | null;
}

/** A fault of a part of a file. */
export interface Problem {
  code: ProblemCode;
  /** The column or field at fault; null: the line as a whole. */
  column: string | null;
  /** A phrase that follows the column's name. */
  message: string;
}

/** A part of a file as it was read. `key` is the vendor's own id of a line; null: it has none. */
export type ReadItem =
  | { line: ReadLine; key: string | null }
  | { skipped: SkipReason }
  | { problem: Problem };

/** Thrown while a part of a file is read, and caught by `readItem`. */
class Unreadable extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Thrown where a part of a file is left out. */
class Skipped extends Error {
  readonly reason: SkipReason;

  constructor(reason: SkipReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Gives a part up as bad; only within `readItem`. */
export function refuse(code: ProblemCode, column: string | null, message: string): never {
  throw new Unreadable({ code, column, message });
}

/** Leaves a part out; only within `readItem`. */
export function skip(reason: SkipReason): never {
  throw new Skipped(reason);
}

/** A part that was read, or why not. */
export type ReadPart<Value> = { value: Value } | { skipped: SkipReason } | { problem: Problem };

/** Reads a part. What `refuse` and `skip` gave up becomes a result, so no part stops another. */
export function readPart<Value>(read: () => Value): ReadPart<Value> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.problem };
    if (error instanceof Skipped) return { skipped: error.reason };
    throw error;
  }
}

/** Reads one line, in the same way. */
export function readItem(read: () => { line: ReadLine; key: string | null }): ReadItem {
  const part = readPart(read);
  return 'value' in part ? part.value : part;
}

/** A line with the vendor's id of it. */
export interface EventLine {
  line: ReadLine;
  key: string;
}

/** The lines among items that have an id; those that were left out are dropped. Gives up with the first problem; only within `readPart`. */
export function linesOf(items: readonly ReadItem[]): EventLine[] {
  return items.flatMap((item) => {
    if ('problem' in item) throw new Unreadable(item.problem);
    return 'line' in item && item.key !== null ? [{ line: item.line, key: item.key }] : [];
  });
}
