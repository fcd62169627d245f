import type pg from 'pg';
import type { Authority } from '../domain/authorities.ts';
import { type DealingsRow, purposeHash } from '../domain/dealings.ts';
import type { Dealings, PurposeHistory } from '../purpose/history.ts';
import { listDealings } from '../storage/dealings.ts';

/** What is known of an agent's past under an authority's purpose; undefined while nothing is. */
export type HistoryOf = (
  workspace_id: string,
  agent_id: string,
  authority: Authority,
) => PurposeHistory | undefined | Promise<PurposeHistory | undefined>;

/** For so long a history is taken as it was read; then it is read anew beside the decisions. */
const FRESH_MS = 1_000;
/** After this long nobody has asked: then a decision waits for the reading. */
const USABLE_MS = 10_000;
const REMEMBERED = 10_000;

interface Remembered {
  purpose_hash: string;
  read_ms: number;
  history: PurposeHistory | undefined;
  reading: Promise<PurposeHistory | undefined> | null;
}

/** Rows as the assessor is told of them. */
export function historyOfRows(rows: readonly DealingsRow[]): PurposeHistory | undefined {
  if (rows.length === 0) return undefined;
  const merchants = new Map<string, Dealings>();
  const payees = new Map<string, Dealings>();
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
export function makeHistories(options: { db: pg.Pool; now_ms: () => number }): HistoryOf {
  const { db, now_ms } = options;
  const remembered = new Map<string, Remembered>();
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
    const reading = listDealings(db, workspace_id, agent_id, purpose_hash).then(historyOfRows);
    const before = remembered.get(agent_id);
    const usable = before?.purpose_hash === purpose_hash;
    remembered.delete(agent_id);
    if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value as string);
    const entry: Remembered = {
      purpose_hash,
      read_ms: usable ? before.read_ms : Number.NEGATIVE_INFINITY,
      history: usable ? before.history : undefined,
      reading,
    };
    remembered.set(agent_id, entry);
    reading.then(
      (history) => {
        entry.history = history;
        entry.read_ms = now_ms();
        entry.reading = null;
      },
      () => {
        entry.reading = null;
      },
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
    if (age_ms > FRESH_MS && known.reading === null)
      void read(workspace_id, agent_id, purpose_hash).catch(() => {});
    if (age_ms <= USABLE_MS) return known.history;
    return (remembered.get(agent_id) as Remembered).reading ?? known.history;
  };
}
