import type { Bench } from './bench.ts';
import type { Goal } from './goals.ts';

export interface ResultTable {
  title: string;
  /** The first column is text, the others are figures. */
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** What a group of measurements came to. */
export interface GroupResult {
  tables: readonly ResultTable[];
  goals: readonly Goal[];
  /** How it was measured, and what has to be known to read it; a sentence each. */
  notes: readonly string[];
  /** What is wrong: answers that were not good, ledgers that are not valid. Empty: nothing. */
  problems: readonly string[];
}

/** One part of the measurements, which can be run alone. */
export interface Group {
  name: string;
  title: string;
  measure: (bench: Bench) => Promise<GroupResult>;
}
