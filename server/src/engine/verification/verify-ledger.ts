import type { Actor } from '@purser/rules/domain/audit';
import type { VerifyingKey } from '@purser/rules/domain/checkpoints';
import type { SpendNames } from '@purser/rules/domain/feedback';
import {
  checkLink,
  GENESIS,
  isAdministrative,
  isIntact,
  type LedgerBreak,
  type LedgerHead,
  recordHash,
} from '@purser/rules/domain/ledger';
import { type ApprovalsVerdict, SigningHistory } from '@purser/rules/signing/history';
import { ALONE, type BackgroundTurns } from '@purser/rules/values/slices';
import type pg from 'pg';
import { checkStandingVersions, checkUses } from '../allowances/check-allowances.ts';
import { checkCoverage } from '../matching/check-coverage.ts';
import type { Client } from '../storage/database.ts';
import { primedRows } from '../storage/derived/counter-checks.ts';
import { needsBackfill } from '../storage/derived/known-merchants.ts';
import { getHead, type StoredHead } from '../storage/ledger.ts';
import { listReviewPolicyPlaces } from '../storage/reviews/review-policies.ts';
import { readClock } from '../storage/workspaces.ts';
import { checkApprovals, loadSignedRows } from './approvals.ts';
import {
  type ChainRow,
  countSpans,
  loadChain,
  noneFound,
  type Span,
  type SpanCounts,
  type WalkedTable,
} from './chain-pages.ts';
import { loadCheckpointFiles } from './checkpoint-files.ts';
import { type CheckedCheckpoint, loadAllCheckpoints, MAX_CHECKPOINTS } from './checkpoints.ts';
import { CounterSums, checkCounters, loadJoining } from './counters.ts';
import { makeFindings } from './findings.ts';
import { checkHead, startingPoint } from './head.ts';
import { checkFeedback, loadLearningProgress } from './lessons.ts';
import { checkLiveRows, recordSealedStates } from './live-rows.ts';
import {
  checkBeyond,
  checkCounts,
  checkOrphans,
  noSpansNamed,
  type PageSpan,
  spansOf,
  type Walk,
} from './orphans.ts';
import { checkQuestionEvents, checkQuestions } from './questions.ts';
import { loadSealedPages, loadSealedRows, type SealedRow } from './sealed-rows.ts';
import { withinSnapshot } from './snapshot.ts';
import { checkBudgets, checkConsumptionKeys, checkStates, countUnchanged } from './states.ts';

export interface LedgerVerification extends ApprovalsVerdict {
  valid: boolean;
  checked_at: string;
  events_checked: number;
  head: LedgerHead;
  checkpoint: CheckedCheckpoint | null;
  breaks: LedgerBreak[];
  first_break_seq: number | null;
}

export interface VerifyOptions {
  /** The event after which to begin; its hash is trusted. 0: from the beginning. */
  since: number;
  /** The keys that checkpoints may be signed with. */
  keys: readonly VerifyingKey[];
  /** The directory of this node's checkpoint files. */
  checkpoint_dir: string;
  /** The names that lessons are stored by. */
  names: SpendNames;
  /** The turns of each page and each checkpoint. */
  turns?: BackgroundTurns;
}

/** Events read at a time: memory does not grow with the chain, and other requests run in between. */
const EVENTS_AT_ONCE = 200;
/** The rows that the look-ups besides the pages count as: some forty statements. */
const AS_MANY_ROWS = 100;
/** Concurrent pages on each connection: while one is checked here, the database hashes another. */
const PAGES_AT_ONCE = 2;

/**
 * Rebuilds a workspace's chain from the live rows, within one snapshot and without blocking any writer. It checks every
 * hash, every row of every table against its event and the other way round, derived rows against the records that they
 * follow from, and the chain against every retained checkpoint. Memory does not grow with the chain. With `since`, only
 * the events after it are checked, and rows that follow from the whole chain are not.
 */
export async function verifyLedger(
  pool: pg.Pool,
  workspace_id: string,
  options: VerifyOptions,
): Promise<LedgerVerification> {
  const { since, keys, checkpoint_dir, turns = ALONE } = options;
  const files = await loadCheckpointFiles(checkpoint_dir, workspace_id, MAX_CHECKPOINTS);
  return withinSnapshot(pool, workspace_id, async (clients, { alive, closeBeside }) => {
    const [client] = clients;
    const clock_ms = await readClock(client);
    const head = await getHead(client, workspace_id);
    const findings = makeFindings();
    const pause = () => {
      alive();
      return turns.pause();
    };
    const checkpoints = await loadAllCheckpoints(client, workspace_id, files, keys, { findings, pause });
    const start = await startingPoint(client, workspace_id, since, findings);
    await checkpoints.checkEarlier(client, since);
    const walk: Walk = {
      db: client,
      workspace_id,
      findings,
      checkpoints,
      sealed: new Map(),
      makers: new Map(),
      tally: {
        found: noneFound(),
        budgets: new Map(),
        counters: new CounterSums(clock_ms),
        joining: await loadJoining(client, workspace_id),
        policies: await listReviewPolicyPlaces(client, workspace_id),
        learnt: await loadLearningProgress(client, workspace_id, options.names),
        has_right_questions: true,
        is_filling: await needsBackfill(client, workspace_id),
      },
      reached: start.reached,
      named_ahead: noSpansNamed(),
      previous: start.link,
      occurred_ms: 0,
      approvals: { history: new SigningHistory(workspace_id, null), is_whole: since === 0, findings },
      is_vouched_for: true,
    };
    const events_checked = await walkChain(walk, clients, async (work) => {
      await pause();
      return turns.aside(work, readBy);
    });
    await closeBeside();
    const last = walk.previous;
    checkHead(findings, head, last, walk.occurred_ms, clock_ms);
    checkpoints.checkLater(last);
    alive();
    await turns.aside(
      async () => {
        await checkBeyond(walk);
        if (since === 0) await checkWhole(walk, head);
      },
      () => ({ rows: AS_MANY_ROWS, bytes: 0 }),
    );
    const breaks = findings.breaks(last.seq);
    return {
      valid: breaks.length === 0,
      checked_at: new Date(clock_ms).toISOString(),
      events_checked,
      head: head === undefined ? GENESIS : { seq: head.seq, hash: head.hash },
      checkpoint: checkpoints.newest,
      ...walk.approvals.history.verdict(),
      breaks,
      first_break_seq: breaks[0]?.seq ?? null,
    };
  });
}

/** A page of the chain, and the span of ids of each table along it. */
interface Page {
  events: ChainRow[];
  intact: boolean[];
  spans: Record<WalkedTable, PageSpan>;
}

/** A page with checked links, and the hashes that were rebuilt and their rows, by `seq`. */
interface LinkedPage extends Page {
  rebuilt: Map<number, Buffer>;
  rows: Map<number, SealedRow>;
  counting: Promise<SpanCounts>;
}

/**
 * Walks along the chain with several concurrent pages: each is read and rebuilt by itself, and linked to the one before
 * it in order. Returns the number of events.
 */
async function walkChain(
  walk: Walk,
  clients: readonly Client[],
  aside: (page: () => Promise<Page | null>) => Promise<unknown>,
): Promise<number> {
  const { workspace_id } = walk;
  let events_checked = 0;
  let [is_over, pages] = [false, 0];
  // The `seq` after which the first page would begin if none were missing up to the newest page.
  let base = walk.previous.seq;
  // For the newest page: resolves with its last `seq`, and resolves when its links have been checked.
  let arrived: Promise<number> = Promise.resolve(base);
  let linked: Promise<unknown> = Promise.resolve();
  // Only the first failure is kept: the errors of later statements in a failed transaction do not tell the cause.
  let failure: { error: unknown } | undefined;

  /** Notes the failure of a promise that may be awaited only later, or never. */
  function noted<T>(promise: Promise<T>): Promise<T> {
    promise.catch((error: unknown) => {
      failure ??= { error };
      is_over = true;
    });
    return promise;
  }

  async function arrive(
    db: Client,
    number: number,
    earlier: Promise<number>,
  ): Promise<Page & { end: number }> {
    const load = (after: number) => loadChain(db, workspace_id, { after, limit: EVENTS_AT_ONCE });
    const after = base + number * EVENTS_AT_ONCE;
    // Without gaps this page begins here, so it is loaded ahead. Beyond the safe integers nothing can be guessed.
    const guessed = Number.isSafeInteger(after) ? noted(load(after)) : null;
    const begin = await earlier;
    if (begin !== after && Number.isSafeInteger(begin)) base = begin - number * EVENTS_AT_ONCE;
    const events = await (begin === after && guessed !== null ? guessed : load(begin));
    if (events.length < EVENTS_AT_ONCE) is_over = true;
    events_checked += events.length;
    const intact = events.map(isIntact);
    return { events, intact, spans: spansOf(walk, events, intact), end: events.at(-1)?.seq ?? begin };
  }

  async function walkPage(db: Client): Promise<Page> {
    const arriving = noted(arrive(db, pages, arrived));
    pages += 1;
    arrived = noted(arriving.then(({ end }) => end));
    const before = linked;
    const linking = arriving.then((page) => {
      const counting = noted(countSpans(db, workspace_id, page.spans));
      return linkPage(walk, db, { ...page, counting }, before);
    });
    linked = noted(linking);
    const page = await linking;
    await checkPage(walk, db, page);
    return page;
  }

  async function walkOn(db: Client): Promise<void> {
    while (!is_over) await aside(async () => (is_over ? null : walkPage(db)));
  }

  const walks = clients.flatMap((db) => Array.from({ length: PAGES_AT_ONCE }, () => noted(walkOn(db))));
  await Promise.allSettled(walks);
  if (failure !== undefined) throw (failure as { error: unknown }).error;
  return events_checked;
}

/** Links a page to the one before it, once `earlier` says that all links before were checked. */
async function linkPage(
  walk: Walk,
  db: Client,
  page: Page & { counting: Promise<SpanCounts> },
  earlier: Promise<unknown>,
): Promise<LinkedPage> {
  const { events, intact } = page;
  const unknown = events.filter((event) => event.is_as_sealed !== true);
  const rows = await rowsOfEvents(walk, db, unknown);
  const signed = await loadSignedRows(db, walk.workspace_id, { events, rows });
  await earlier;
  const rebuilt = rebuild(walk, events, rows);
  for (const [i, event] of events.entries()) {
    for (const found of checkLink(walk.previous, event, rebuilt.get(event.seq) ?? null, intact[i])) {
      walk.findings.add(found);
    }
    walk.checkpoints.check(event);
    walk.previous = { seq: event.seq, hash: event.hash };
  }
  checkApprovals(walk.approvals, { events, rows }, signed);
  const last = events.at(-1);
  if (last !== undefined) walk.occurred_ms = Date.parse(last.occurred_at);
  return { ...page, rebuilt, rows };
}

/** The rows and bytes that PostgreSQL has read for a page. */
const readBy = (page: Page | null) => ({
  rows: page?.events.length ?? 0,
  bytes: (page?.events ?? []).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
});

/** Returns what these events seal, of pages of lines their hashes, and counts the lines. */
async function rowsOfEvents(
  { workspace_id, tally }: Walk,
  db: Client,
  events: readonly ChainRow[],
): Promise<Map<number, SealedRow>> {
  if (events.length === 0) return new Map();
  const rows = await loadSealedRows(db, workspace_id, events);
  const pages = await loadSealedPages(db, workspace_id, events, false);
  for (const [seq, sealed] of pages.rows) rows.set(seq, sealed);
  tally.found.lines += pages.lines;
  return rows;
}

/** Checks the rows of a page, once its links were checked. */
async function checkPage(walk: Walk, db: Client, page: LinkedPage): Promise<void> {
  const { events, rebuilt, spans } = page;
  await checkConsumptionKeys(walk, db, events, page.rows);
  await checkCounts(walk, events, rebuilt, spans, await page.counting);
  await checkDecisions(walk, db, events, rebuilt, spans.decisions, await page.counting);
  await checkQuestionEvents({ ...walk, db }, page);
  await checkUses({ ...walk, db }, events);
}

/**
 * Returns the hash of the current row that each event is about, by `seq`; missing rows are left out. Must be called in
 * the order of the chain, since a changeable row must equal its newest audit record.
 */
function rebuild(
  walk: Walk,
  events: readonly ChainRow[],
  rows: ReadonlyMap<number, SealedRow>,
): Map<number, Buffer> {
  const { tally } = walk;
  const hashes = new Map<number, Buffer>();
  for (const event of events) {
    if (event.is_as_sealed === true) {
      hashes.set(event.seq, event.data_hash);
      tally.found.idempotency_keys += 1;
      continue;
    }
    const row = rows.get(event.seq);
    if (row === undefined) {
      if (isAdministrative(event)) walk.is_vouched_for = false;
      continue;
    }
    const hash = row.hash ?? recordHash(row.data);
    hashes.set(event.seq, hash);
    if (isAdministrative(event)) {
      tally.found.audit_records += 1;
      // A changed audit record is reported as such, and proves nothing about other rows.
      const { action, actor, state } = row.data as { action: string; actor: Actor; state: string };
      if (hash.equals(event.data_hash)) {
        recordSealedStates(walk.sealed, walk.makers, { seq: event.seq, action, actor, state });
        tally.counters.add(primedRows(state));
      } else walk.is_vouched_for = false;
    } else if (event.type === 'decision.created') tally.found.idempotency_keys += 1;
    else if (event.type === 'capability.consumed') tally.found.consumptions += 1;
    else if (event.type === 'reservation.expired') tally.found.expired_reservations += 1;
    else if (event.type === 'rail_authorization.recorded') tally.found.rail_authorizations += 1;
    else if (event.type === 'line.resolution.recorded') tally.found.line_resolutions += 1;
    else if (event.type === 'line.unmatched') tally.found.unmatched_lines += 1;
  }
  return hashes;
}

/** Checks the states of those decisions of a page whose rows are intact, and counts their amounts. */
async function checkDecisions(
  walk: Walk,
  db: Client,
  events: readonly ChainRow[],
  rebuilt: ReadonlyMap<number, Buffer>,
  span: Span,
  counts: SpanCounts,
): Promise<void> {
  const with_state = new Set(counts.kept);
  const recorded = new Set(counts.recorded);
  // For a decision outside the counted span it is unknown whether there are records.
  for (const { subject_id } of events) {
    if (subject_id <= span.after || subject_id > span.upto) recorded.add(subject_id);
  }
  const to_fold: ChainRow[] = [];
  for (const event of events) {
    if (event.type !== 'decision.created') continue;
    if (rebuilt.get(event.seq)?.equals(event.data_hash) !== true) continue;
    // In ENFORCE a hold may expire by itself, which only the document tells; what waits for a person begins with a state.
    const may_begin_with_state =
      event.decision === 'REVIEW' || (event.mode === 'ENFORCE' && event.decision !== 'DENY');
    if (may_begin_with_state || with_state.has(event.subject_id) || recorded.has(event.subject_id))
      to_fold.push(event);
    else countUnchanged(walk.tally, event);
  }
  await checkStates(db, walk.workspace_id, to_fold, recorded, walk.tally, walk.findings);
}

/** Checks the tables that can be compared only after a walk from the beginning of the chain. */
async function checkWhole(walk: Walk, head: StoredHead | undefined): Promise<void> {
  const { db, workspace_id, findings, tally } = walk;
  // If a decision was changed, the right sums are unknown.
  if (findings.soFarIntact()) {
    await checkBudgets(db, workspace_id, tally, findings);
    await checkCounters(db, workspace_id, tally.counters, walk.previous.seq, findings);
  }
  await checkQuestions(walk);
  await checkStandingVersions(walk);
  if (findings.soFarIntact()) await checkCoverage(db, workspace_id, walk.previous.seq, findings);
  await checkFeedback(db, workspace_id, tally.learnt, walk.previous.seq, findings);
  await checkLiveRows({ ...walk, head });
  await checkOrphans(walk);
}
