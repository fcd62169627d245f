import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { PurposeHistory, TrackRecord } from '../domain/assessment.ts';
import type { Authority } from '../domain/authorities.ts';
import { type FeedbackRow, purposeHash } from '../domain/feedback.ts';
import { listFeedback } from '../feedback/stats-rows.ts';

/** What is known of an agent's past under an authority's purpose; undefined while nothing is. */
export type TrackRecordOf = (
  workspace_id: string,
  agent_id: string,
  authority: Authority,
) => PurposeHistory | undefined | Promise<PurposeHistory | undefined>;

/** For so long a history is taken as it was read; then it is read anew beside the decisions. */
const FRESH_MS = 500;
/** No spend is judged by a history older than this: where nobody has asked for so long, it waits for the reading. */
const USABLE_MS = 1_000;
const REMEMBERED = 10_000;
/** Of all agents together; an agent has some dozens, and at the most 5,000, of about half a kilobyte. */
const REMEMBERED_ROWS = 100_000;

interface Remembered {
  purpose_hash: string;
  row_count: number;
  read_ms: number;
  history: PurposeHistory | undefined;
  reading: Promise<PurposeHistory | undefined> | null;
}

/** Rows as the assessor is told of them. */
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
 * Reads histories and keeps them for a moment: a word that people said reaches every node's decisions within some
 * seconds, and a decision waits for the database only where its agent has been quiet.
 */
export function makeTrackRecords(options: {
  db: pg.Pool;
  now_ms: () => number;
  max_rows?: number;
}): TrackRecordOf {
  const { db, now_ms } = options;
  const remembered = new LRUCache<string, Remembered>({
    max: REMEMBERED,
    maxSize: options.max_rows ?? REMEMBERED_ROWS,
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
    const before = remembered.get(agent_id);
    const known =
      before?.purpose_hash === purpose_hash
        ? before
        : { purpose_hash, row_count: 0, read_ms: Number.NEGATIVE_INFINITY, history: undefined };
    const rows = listFeedback(db, workspace_id, agent_id, purpose_hash);
    const reading = rows.then(historyFromRows);
    const entry: Remembered = { ...known, reading };
    remembered.set(agent_id, entry);
    /** Unless another purpose's was asked for meanwhile. */
    const settle = (read: Omit<Remembered, 'reading'>) => {
      if (remembered.get(agent_id) === entry) remembered.set(agent_id, { ...read, reading: null });
    };
    Promise.all([rows, reading]).then(
      ([{ length }, history]) => settle({ purpose_hash, row_count: length, read_ms: now_ms(), history }),
      () => settle(known),
    );
    return reading;
  }

  return (workspace_id, agent_id, authority) => {
    const purpose_hash = hashOf(authority);
    const known = remembered.get(agent_id);
    if (known === undefined || known.purpose_hash !== purpose_hash) {
      return read(workspace_id, agent_id, purpose_hash);
    }
    const age_ms = now_ms() - known.read_ms;
    const reading = known.reading ?? (age_ms > FRESH_MS ? read(workspace_id, agent_id, purpose_hash) : null);
    return age_ms <= USABLE_MS || reading === null ? known.history : reading;
  };
}
