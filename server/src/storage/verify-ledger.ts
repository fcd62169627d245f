import type pg from 'pg';
import type { VerifyingKey } from '../domain/checkpoints.ts';
import {
  checkLink,
  GENESIS,
  isIntact,
  type LedgerBreak,
  type LedgerHead,
  recordHash,
  shownHash,
} from '../domain/ledger.ts';
import { loadCheckpointFiles } from './checkpoint-files.ts';
import { loadConsumptionKeys } from './consumptions.ts';
import type { Queryable } from './database.ts';
import { getHead, type KeptHead, listLedgerEvents, loadLedgerEvents } from './ledger.ts';
import { type Findings, makeFindings } from './ledger-findings.ts';
import {
  type ChainRow,
  countSpans,
  loadChain,
  STRAY_TABLES,
  type StrayTable,
  type WalkedTable,
} from './ledger-pages.ts';
import { withinSnapshot } from './ledger-snapshot.ts';
import { isAdministrative, loadSealedRows, type SealedRow } from './sealed-rows.ts';
import { type CheckedCheckpoint, gatherCheckpoints, MOST_CHECKPOINTS } from './verify-checkpoints.ts';
import { checkLiveRows, noteSealedStates } from './verify-live-rows.ts';
import { checkBudgets, checkStates, countAsMade } from './verify-states.ts';
import { checkBeyond, checkCounts, checkStrays, reachedBy, spansOf, type Walk } from './verify-strays.ts';
import { readClock } from './workspaces.ts';

export interface LedgerVerification {
  valid: boolean;
  checked_at: string;
  events_checked: number;
  head: LedgerHead;
  checkpoint: CheckedCheckpoint | null;
  breaks: LedgerBreak[];
  first_break_seq: number | null;
}

/** A verification as the API and the command line show it. */
export function verificationBody(found: LedgerVerification): Record<string, unknown> {
  const { valid, checked_at, events_checked, head, checkpoint, breaks, first_break_seq } = found;
  return {
    valid,
    checked_at,
    events_checked,
    head: { seq: head.seq, hash: shownHash(head.hash) },
    checkpoint:
      checkpoint === null
        ? null
        : {
            seq: checkpoint.seq,
            hash: shownHash(checkpoint.hash),
            signed_at: checkpoint.signed_at,
            key_id: checkpoint.key_id,
            note: checkpoint.note,
            checked: checkpoint.checked,
          },
    breaks,
    first_break_seq,
  };
}

export interface VerifyOptions {
  /** Begins after that event, taking its hash as given. 0: from the beginning. */
  since: number;
  /** What checkpoints are signed with, and where this node keeps its files of them. */
  key: VerifyingKey;
  checkpoint_dir: string;
}

/** Links read at a time: memory stays flat however long the chain is, and other requests get their turns. */
const LINKS_AT_ONCE = 1_000;
/** A clock that was set back by more than this while nothing happened is worth a look. */
const TOLERATED_AHEAD_MS = 3_600_000;

/**
 * Rebuilds a workspace's chain from the live rows, within one snapshot and without holding up any writer: every
 * hash; every row of every table against the event that made it, and the other way round; what changes against what
 * its records say; and the chain against every signed checkpoint that is kept. Memory does not grow with the chain.
 * With `since` what changes is not held against anything but the events that follow.
 */
export async function verifyLedger(
  pool: pg.Pool,
  workspace_id: string,
  options: VerifyOptions,
): Promise<LedgerVerification> {
  const { since, key, checkpoint_dir } = options;
  const files = await loadCheckpointFiles(checkpoint_dir, workspace_id, MOST_CHECKPOINTS);
  return withinSnapshot(pool, async (client, alive) => {
    const clock_ms = await readClock(client);
    const head = await getHead(client, workspace_id);
    const findings = makeFindings();
    const checkpoints = await gatherCheckpoints(client, workspace_id, files, key, findings);
    const start = await startingPoint(client, workspace_id, since, findings);
    await checkpoints.checkEarlier(client, since);
    const walk: Walk = {
      db: client,
      workspace_id,
      findings,
      checkpoints,
      sealed: new Map(),
      tally: { found: noneFound(), budgets: new Map() },
      reached: start.reached,
      previous: start.link,
      occurred_ms: 0,
      is_vouched_for: true,
    };
    const events_checked = await walkChain(walk, alive);
    const last = walk.previous;
    checkHead(findings, head, last, walk.occurred_ms, clock_ms);
    checkpoints.checkLater(last);
    await checkBeyond(walk);
    if (since === 0) await checkWhole(walk, head);
    const breaks = findings.breaks(last.seq);
    return {
      valid: breaks.length === 0,
      checked_at: new Date(clock_ms).toISOString(),
      events_checked,
      head: head === undefined ? GENESIS : { seq: head.seq, hash: head.hash },
      checkpoint: checkpoints.newest,
      breaks,
      first_break_seq: breaks[0]?.seq ?? null,
    };
  });
}

const noneFound = () =>
  Object.fromEntries(STRAY_TABLES.map((table) => [table, 0])) as Record<StrayTable, number>;

/** The link that the first checked one must follow, and how far the tables are left out. */
async function startingPoint(
  db: Queryable,
  workspace_id: string,
  since: number,
  findings: Findings,
): Promise<{ link: LedgerHead; reached: Record<WalkedTable, string> }> {
  if (since === 0) return { link: GENESIS, reached: reachedBy(undefined) };
  const [event] = await loadLedgerEvents(db, workspace_id, { after: since - 1, limit: 1 });
  if (event?.seq === since) {
    return { link: { seq: since, hash: event.hash }, reached: reachedBy(event) };
  }
  if (event !== undefined) {
    const detail = `Event ${since}, after which to go on, is missing before event ${event.seq}.`;
    findings.add({ seq: since, kind: 'GAP', detail });
    return { link: { seq: event.seq - 1, hash: event.prev_hash }, reached: reachedBy(event) };
  }
  const [last] = await listLedgerEvents(db, workspace_id, { before: null, limit: 1 });
  const link = last === undefined ? GENESIS : { seq: last.seq, hash: last.hash };
  const detail = `The chain ends at event ${link.seq}, before event ${since}.`;
  findings.add({ seq: link.seq + 1, kind: 'TRUNCATED', detail });
  return { link, reached: reachedBy(last) };
}

/** Goes along the chain. While one page is checked here, the database hashes the next. Gives how many it had. */
async function walkChain(walk: Walk, alive: () => void): Promise<number> {
  const { db, workspace_id } = walk;
  const load = (after: number) => {
    const page = loadChain(db, workspace_id, { after, limit: LINKS_AT_ONCE });
    // It is awaited only once the page before has been checked; until then nobody listens to its failure.
    page.catch(() => {});
    return page;
  };
  let events_checked = 0;
  let next = load(walk.previous.seq);
  for (;;) {
    const events = await next;
    if (events.length === 0) return events_checked;
    alive();
    events_checked += events.length;
    const intact = events.map(isIntact);
    const spans = spansOf(walk, events, intact);
    const last_seq = (events.at(-1) as ChainRow).seq;
    const counting = countSpans(db, workspace_id, spans);
    counting.catch(() => {});
    next = load(last_seq);
    const rebuilt = await rebuild(walk, events);
    const counts = await counting;
    for (const [i, event] of events.entries()) {
      for (const found of checkLink(walk.previous, event, rebuilt.get(event.seq) ?? null, intact[i])) {
        walk.findings.add(found);
      }
      walk.checkpoints.check(event);
      walk.previous = { seq: event.seq, hash: event.hash };
    }
    walk.occurred_ms = Date.parse((events.at(-1) as ChainRow).occurred_at);
    await checkCounts(walk, events, rebuilt, spans, counts);
    await checkDecisions(walk, events, rebuilt, new Set(counts.changed));
  }
}

/** The hash of what each event is about, by its place: from the rows as they are now; what is gone is left out. */
async function rebuild(walk: Walk, events: readonly ChainRow[]): Promise<Map<number, Buffer>> {
  const { db, workspace_id, tally } = walk;
  const hashes = new Map<number, Buffer>();
  const others: ChainRow[] = [];
  for (const event of events) {
    if (event.is_as_sealed === true) {
      hashes.set(event.seq, event.data_hash);
      tally.found.idempotency_keys += 1;
    } else others.push(event);
  }
  if (others.length === 0) return hashes;
  const rows = await loadSealedRows(db, workspace_id, others);
  for (const event of others) {
    const row = rows.get(event.seq);
    if (row === undefined) {
      if (isAdministrative(event)) walk.is_vouched_for = false;
      continue;
    }
    const hash = recordHash(row.data);
    hashes.set(event.seq, hash);
    if (isAdministrative(event)) {
      tally.found.audit_records += 1;
      // A record that is not what was sealed is reported as such, and vouches for nothing.
      const { action, state } = row.data as { action: string; state: string };
      if (hash.equals(event.data_hash)) noteSealedStates(walk.sealed, { seq: event.seq, action, state });
      else walk.is_vouched_for = false;
    } else if (event.type === 'decision.created') tally.found.idempotency_keys += 1;
    else if (event.type === 'capability.consumed') tally.found.consumptions += 1;
    else if (event.type === 'reservation.expired') tally.found.run_out_holds += 1;
  }
  const consumed = others.filter((event) => event.type === 'capability.consumed' && rows.has(event.seq));
  if (consumed.length > 0) await checkConsumptionKeys(walk, consumed, rows);
  return hashes;
}

/** The idempotency key of every consumption must lead to it. */
async function checkConsumptionKeys(
  walk: Walk,
  events: readonly ChainRow[],
  rows: ReadonlyMap<number, SealedRow>,
): Promise<void> {
  const keyOf = (event: ChainRow) => rows.get(event.seq)?.data.idempotency_key as string;
  const kept = await loadConsumptionKeys(walk.db, walk.workspace_id, events.map(keyOf));
  const leads_to = new Map(kept.map((row) => [row.idempotency_key, row.capability_id]));
  for (const event of events) {
    if (leads_to.get(keyOf(event)) === event.subject_id) walk.tally.found.consumption_keys += 1;
    else {
      const detail = `The idempotency key of ${event.subject_type} ${event.subject_id} does not lead to it.`;
      walk.findings.addDerived({ seq: event.seq, kind: 'ROW_MISMATCH', detail });
    }
  }
}

/** The decisions of a page whose rows are as they were: their states, and what they count in their months. */
async function checkDecisions(
  walk: Walk,
  events: readonly ChainRow[],
  rebuilt: ReadonlyMap<number, Buffer>,
  changed: ReadonlySet<string>,
): Promise<void> {
  const to_fold: ChainRow[] = [];
  for (const event of events) {
    if (event.type !== 'decision.created') continue;
    if (rebuilt.get(event.seq)?.equals(event.data_hash) !== true) continue;
    // In ENFORCE a hold may run out by itself, of which the document tells.
    const may_run_out = event.mode === 'ENFORCE' && event.decision !== 'DENY';
    if (may_run_out || changed.has(event.subject_id)) to_fold.push(event);
    else countAsMade(walk.tally, event);
  }
  await checkStates(walk.db, walk.workspace_id, to_fold, walk.tally, walk.findings);
}

/** The head must name the last link, and its time must be one at which that could have been made. */
function checkHead(
  findings: Findings,
  head: (LedgerHead & { time_ms: number }) | undefined,
  last: LedgerHead,
  occurred_ms: number,
  clock_ms: number,
): void {
  if (head === undefined) {
    findings.add({ seq: last.seq + 1, kind: 'TRUNCATED', detail: 'The head of the chain is gone.' });
  } else if (head.seq > last.seq) {
    const detail = `The chain ends at event ${last.seq}, but its head is event ${head.seq}.`;
    findings.add({ seq: last.seq + 1, kind: 'TRUNCATED', detail });
  } else if (head.seq !== last.seq || !head.hash.equals(last.hash)) {
    const detail = `Event ${last.seq} is not the head of the chain, which is event ${head.seq}.`;
    findings.add({ seq: last.seq, kind: 'LINK_BROKEN', detail });
  } else if (
    !(head.time_ms >= occurred_ms && head.time_ms <= Math.max(clock_ms, occurred_ms) + TOLERATED_AHEAD_MS)
  ) {
    const detail = `The head's time ${head.time_ms} is not one between event ${last.seq} and now.`;
    findings.add({ seq: last.seq, kind: 'LINK_BROKEN', detail });
  }
}

/** Tables that are known whole only at the end of a verification from the beginning. */
async function checkWhole(walk: Walk, head: KeptHead | undefined): Promise<void> {
  const { db, workspace_id, findings, tally } = walk;
  // Where a decision is not what it was, nobody can tell the sums.
  if (findings.soFarIntact()) await checkBudgets(db, workspace_id, tally, findings);
  await checkLiveRows(db, workspace_id, walk.sealed, tally, walk.is_vouched_for, findings, head);
  await checkStrays(walk);
}
