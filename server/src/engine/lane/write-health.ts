import { sqlState } from '../storage/database.ts';
import { BrokenInvariant } from './invariants.ts';

/** This many attempts must fail in a row. A single failure may be a deadlock or a broken connection. */
const FAILURES_THAT_TELL = 2;
/** After a failure a write is probed once nobody has tried one for this long, ms. */
const PROBE_AFTER_FAILURE_MS = 2_000;
/** The same while all is well. */
const PROBE_WHEN_IDLE_MS = 30_000;
/** SQLSTATE classes of rows that the database refuses. */
const FAULTS_OF_ROWS = /^(22|23)/;
/** Returns whether a failure is the fault of one command and says nothing about the database. */
const isFaultOfCommand = (error: unknown) =>
  error instanceof BrokenInvariant || FAULTS_OF_ROWS.test(sqlState(error) ?? '');

/** Tells whether this process can write to the database, from what became of its last attempts. */
export interface WriteHealth {
  /** Notes that a transaction with changes was committed. */
  noteCommit(): void;
  /** Notes an attempt that failed. */
  noteFailure(error: unknown): void;
  /** To be called every second or two: writes something of its own if nobody has tried to lately. Never rejects. */
  probe(): Promise<void>;
  /** Throws if the last attempts failed and none has succeeded since; the cause is the latest failure. */
  check(): void;
  /** Seconds since the last write that succeeded; at first since the start. */
  idleSeconds(): number;
}

/** Makes it. `write` commits a transaction that needs space on the disk. `now_ms` never runs backwards. */
export function makeWriteHealth(options: { now_ms: () => number; write: () => Promise<void> }): WriteHealth {
  const { now_ms, write } = options;
  let succeeded_ms = now_ms();
  let tried_ms = now_ms();
  let failures = 0;
  let latest: unknown;

  function noteCommit(): void {
    failures = 0;
    latest = undefined;
    succeeded_ms = tried_ms = now_ms();
  }
  function noteFailure(error: unknown): void {
    if (isFaultOfCommand(error)) return;
    failures += 1;
    latest = error;
    tried_ms = now_ms();
  }
  return {
    noteCommit,
    noteFailure,
    async probe() {
      const quiet_ms = now_ms() - tried_ms;
      if (quiet_ms < (failures === 0 ? PROBE_WHEN_IDLE_MS : PROBE_AFTER_FAILURE_MS)) return;
      await write().then(noteCommit, noteFailure);
    },
    check() {
      if (failures < FAILURES_THAT_TELL) return;
      throw new Error(`the last ${failures} attempts to write to the database failed`, { cause: latest });
    },
    idleSeconds: () => (now_ms() - succeeded_ms) / 1000,
  };
}
