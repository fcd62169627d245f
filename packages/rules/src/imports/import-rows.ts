import type {
  ImportFailureCode,
  ImportSource,
  ImportStatus,
  ProblemCode,
  SkipReason,
} from '@purser/contract/values/history';

/** A file that is, or was, to be read. It never changes, and an audit record seals it. */
export interface ImportRow {
  import_id: string;
  file_name: string;
  source: ImportSource;
  feed: string;
  /** Whose the lines are where their instrument is not assigned. */
  agent_id: string | null;
  /** JSON. */
  mapping: string | null;
  bytes: number | null;
  created_at: string;
  key_id: string | null;
  principal_id: string | null;
}

/** How far a file was read. */
export interface ImportProgress {
  import_id: string;
  status: ImportStatus;
  /** The attempt to read the file that is at work or was last. */
  run_id: string | null;
  /** Until when that attempt may be silent. */
  alive_until: string | null;
  bytes_read: number;
  /** The pages that were recorded. */
  pages: number;
  taken: number;
  present: number;
  bad: number;
  /** JSON: how many lines were left out, by reason. */
  skipped: string;
  /** JSON. */
  failure: string | null;
  /** The line with the names of the columns, and its hash, by which a mapping is found again. */
  header: string | null;
  header_hash: string | null;
  updated_at: string;
}

/** Why a whole file could not be read. */
export interface ImportFailure {
  code: ImportFailureCode;
  line_number: number | null;
  message: string;
}

/** A bad line of a file. */
export interface ImportProblemRow {
  import_id: string;
  /** 1, 2, 3, … in the order of the file. */
  place: number;
  line_number: number;
  column_name: string | null;
  code: ProblemCode;
  message: string;
  text: string;
}

/** How many lines were left out, by reason. */
export type SkipCounts = Partial<Record<SkipReason, number>>;

/** An import that nobody has sent the file of. */
export function newProgress(import_id: string, now: string): ImportProgress {
  return {
    import_id,
    status: 'WAITING',
    run_id: null,
    alive_until: null,
    bytes_read: 0,
    pages: 0,
    taken: 0,
    present: 0,
    bad: 0,
    skipped: '{}',
    failure: null,
    header: null,
    header_hash: null,
    updated_at: now,
  };
}

/** The status as it is at a time: an attempt that was silent for too long is over. */
export function statusAt({ status, alive_until }: ImportProgress, now: string): ImportStatus {
  const is_silent = status === 'READING' && (alive_until === null || alive_until <= now);
  return is_silent ? 'INTERRUPTED' : status;
}

/** Whose an instrument is from a time on. */
export interface InstrumentAssignment {
  instrument: string;
  version: number;
  from_at: string;
  /** Null: nobody's, so that the agent of the import counts. */
  agent_id: string | null;
  created_at: string;
  key_id: string | null;
  principal_id: string | null;
}

/** The beginning of an assignment that holds for all times. */
export const SINCE_EVER = '0001-01-01T00:00:00.000Z';
