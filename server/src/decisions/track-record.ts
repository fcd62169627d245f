import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { PurposeHistory, TrackRecord } from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import { type FeedbackRow, purposeHash } from '../domain/feedback.ts';
import { listFeedback } from '../feedback/stats-rows.ts';

/** Returns the track record of an agent under an authority's purpose; undefined if there is none yet. */
export type TrackRecordOf = (
  workspace_id: string,
  agent_id: string,
  authority: Authority,
) => PurposeHistory | undefined | Promise<PurposeHistory | undefined>;

/** An older track record is still used, but read again in the background. */
const FRESH_MS = 500;
/** A still older one is not used: the spend waits until it is read again. */
const USABLE_MS = 1_000;
const MAX_AGENTS = 10_000;
/** Rows of all agents together, about 0.5 KB each. An agent usually has some dozens and at most 5,000. */
const MAX_ROWS = 100_000;

interface CachedRecord {
  purpose_hash: string;
  row_count: number;
  read_ms: number;
  history: PurposeHistory | undefined;
  reading: Promise<PurposeHistory | undefined> | null;
}

/** Rows in the form of the assessor's input; undefined if there are none. */
export function historyFromRows(rows: readonly FeedbackRow[]): PurposeHistory | undefined {
  if (rows.length === 0) return undefined;
  const merchants = new Map<string, TrackRecord>();
  const payees = new Map<string, TrackRecord>();
  const words = new Map<string, { aligned: number; misaligned: number }>();
  for (const row of rows) {
    const { aligned, misaligned } = row;
    if (row.kind === 'word') {
      words.set(row.name, { aligned, misaligned });
      continue;
    }
    (row.kind === 'merchant' ? merchants : payees).set(row.name, {
      reviews: { allowed: row.allowed, denied: row.denied },
      labels: { aligned, misaligned },
      paid_count: row.paid,
      usual_minor: new Map(Object.entries(row.usual_minor)),
      payee_ids: new Set(row.payee_ids),
    });
  }
  return { merchants, payees, words };
}

/**
 * Makes the cached lookup of track records. Feedback of people reaches the decisions of every node within some seconds,
 * and a decision waits for the database only if its agent has not spent for `USABLE_MS`.
 */
export function makeTrackRecords(options: {
  db: pg.Pool;
  now_ms: () => number;
  max_rows?: number;
}): TrackRecordOf {
  const { db, now_ms } = options;
  const records = new LRUCache<string, CachedRecord>({
    max: MAX_AGENTS,
    maxSize: options.max_rows ?? MAX_ROWS,
    sizeCalculation: ({ row_count }) => 1 + row_count,
  });
  const hashes = new WeakMap<Authority, string>();

  function hashOf(authority: Authority): string {
    const known = hashes.get(authority);
    if (known !== undefined) return known;
    const hash = purposeHash(authority.purpose);
    hashes.set(authority, hash);
    return hash;
  }

  function read(
    workspace_id: string,
    agent_id: string,
    purpose_hash: string,
  ): Promise<PurposeHistory | undefined> {
    const before = records.get(agent_id);
    const known =
      before?.purpose_hash === purpose_hash
        ? before
        : { purpose_hash, row_count: 0, read_ms: Number.NEGATIVE_INFINITY, history: undefined };
    const rows = listFeedback(db, workspace_id, agent_id, purpose_hash);
    const reading = rows.then(historyFromRows);
    const entry: CachedRecord = { ...known, reading };
    records.set(agent_id, entry);
    // Another purpose may have replaced the entry during the read.
    const settle = (read: Omit<CachedRecord, 'reading'>) => {
      if (records.get(agent_id) === entry) records.set(agent_id, { ...read, reading: null });
    };
    Promise.all([rows, reading]).then(
      ([{ length }, history]) => settle({ purpose_hash, row_count: length, read_ms: now_ms(), history }),
      () => settle(known),
    );
    return reading;
  }

  return (workspace_id, agent_id, authority) => {
    const purpose_hash = hashOf(authority);
    const known = records.get(agent_id);
    if (known === undefined || known.purpose_hash !== purpose_hash) {
      return read(workspace_id, agent_id, purpose_hash);
    }
    const age_ms = now_ms() - known.read_ms;
    const reading = known.reading ?? (age_ms > FRESH_MS ? read(workspace_id, agent_id, purpose_hash) : null);
    return age_ms <= USABLE_MS || reading === null ? known.history : reading;
  };
}
