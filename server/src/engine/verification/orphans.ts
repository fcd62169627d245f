import type { LedgerEvent, LedgerHead } from '@purser/rules/domain/ledger';
import type { Queryable } from '../storage/database.ts';
import type { ApprovalsWalk } from './approvals.ts';
import {
  type ChainRow,
  countBeforeFirst,
  countRows,
  countWithoutId,
  findOrphans,
  listIds,
  NAME_OF_ORPHAN,
  ORPHAN_TABLES,
  type Span,
  WALKED_TABLES,
  type WalkedTable,
} from './chain-pages.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Findings } from './findings.ts';
import type { SealedStates } from './live-rows.ts';
import type { Makers } from './makers.ts';
import type { ChainTally } from './states.ts';

const MAX_ORPHANS = 100;

const TABLE_OF: Partial<Record<ChainRow['type'], WalkedTable>> = {
  'decision.created': 'decisions',
  'decision.review.recorded': 'reviews',
  'decision.label.recorded': 'labels',
  'decision.note.recorded': 'notes',
  'decision.outcome.recorded': 'outcomes',
};

/** The state of a verification that walks along the chain. */
export interface Walk {
  db: Queryable;
  workspace_id: string;
  findings: Findings;
  checkpoints: Checkpoints;
  sealed: SealedStates;
  makers: Makers;
  tally: ChainTally;
  /** The id up to which each table has been walked. */
  reached: Record<WalkedTable, string>;
  /** Ids behind those, which altered events name: their rows belong to events, which are reported themselves. */
  named_ahead: Record<WalkedTable, Set<string>>;
  previous: LedgerHead;
  occurred_ms: number;
  approvals: ApprovalsWalk;
  /** True if all audit records so far are as they were sealed. */
  is_vouched_for: boolean;
}

const ID_HEAD: Record<WalkedTable, string> = {
  decisions: 'dec_',
  reviews: 'rev_',
  labels: 'lbl_',
  notes: 'not_',
  outcomes: 'out_',
};

/** Returns the id that each table has reached at an event: ids sort by creation time, and a row's id precedes its event's. */
export function reachedBy(event: Pick<LedgerEvent, 'id'> | undefined): Walk['reached'] {
  const reached = WALKED_TABLES.map((table) => [
    table,
    event === undefined ? '' : ID_HEAD[table] + event.id.slice(4),
  ]);
  return Object.fromEntries(reached);
}

/** A span, with the ids in it that altered events of earlier pages name. */
export interface PageSpan extends Span {
  named_before: readonly string[];
}

/** Returns the start of `named_ahead`. */
export function noSpansNamed(): Walk['named_ahead'] {
  return Object.fromEntries(
    WALKED_TABLES.map((table) => [table, new Set()]),
  ) as unknown as Walk['named_ahead'];
}

/** Returns the span of ids of each table along a page. No altered event can end one: its row may lie behind it. */
export function spansOf(
  walk: Walk,
  events: readonly ChainRow[],
  intact: readonly boolean[],
): Record<WalkedTable, PageSpan> {
  const spans = Object.fromEntries(
    WALKED_TABLES.map((table): [WalkedTable, PageSpan] => {
      const reached = walk.reached[table];
      return [table, { after: reached, upto: reached, named_before: [] }];
    }),
  ) as Record<WalkedTable, PageSpan>;
  for (const [i, { type, subject_id }] of events.entries()) {
    const table = TABLE_OF[type];
    if (table !== undefined && intact[i] === true && subject_id > spans[table].upto) {
      spans[table].upto = subject_id;
    }
  }
  for (const table of WALKED_TABLES) {
    const { upto } = spans[table];
    const ahead = walk.named_ahead[table];
    const named_before = [...ahead].filter((id) => id <= upto);
    for (const id of named_before) ahead.delete(id);
    spans[table].named_before = named_before;
    walk.reached[table] = upto;
  }
  for (const [i, { type, subject_id }] of events.entries()) {
    const table = TABLE_OF[type];
    if (table === undefined || intact[i] === true || subject_id <= spans[table].upto) continue;
    // Memory does not grow with the number of altered events; more than so many rows are not named anyway.
    if (walk.named_ahead[table].size < MAX_ORPHANS) walk.named_ahead[table].add(subject_id);
  }
  return spans;
}

/** Reports the orphans of each table that has other rows within a page's spans than the events of the page name. */
export async function checkCounts(
  walk: Walk,
  events: readonly ChainRow[],
  rebuilt: ReadonlyMap<number, Buffer>,
  spans: Record<WalkedTable, PageSpan>,
  counts: Record<WalkedTable, number>,
): Promise<void> {
  const known = Object.fromEntries(
    WALKED_TABLES.map((table) => [table, new Set(spans[table].named_before)]),
  ) as Record<WalkedTable, Set<string>>;
  for (const { seq, type, subject_id } of events) {
    const table = TABLE_OF[type];
    if (table === undefined || !rebuilt.has(seq)) continue;
    if (subject_id > spans[table].after && subject_id <= spans[table].upto) known[table].add(subject_id);
  }
  for (const table of WALKED_TABLES) {
    if (counts[table] !== known[table].size) await nameOrphans(walk, table, spans[table], known[table]);
  }
}

async function nameOrphans(
  walk: Walk,
  table: WalkedTable,
  span: { after: string; upto: string | null },
  known: ReadonlySet<string>,
): Promise<void> {
  const limit = known.size + MAX_ORPHANS;
  const ids = await listIds(walk.db, walk.workspace_id, table, span, limit);
  for (const id of ids) {
    if (known.has(id)) continue;
    walk.findings.addOrphan(`The row of ${table.slice(0, -1)} ${id} is in no event.`, table !== 'decisions');
  }
}

/** Reports rows of history after the last event, and events before the first. */
export async function checkBeyond(walk: Walk): Promise<void> {
  const { db, workspace_id, findings } = walk;
  for (const table of WALKED_TABLES) {
    await nameOrphans(walk, table, { after: walk.reached[table], upto: null }, walk.named_ahead[table]);
  }
  if ((await countWithoutId(db, workspace_id)) > 0) {
    findings.addOrphan('A row without an id is in no event.', true);
  }
  if ((await countBeforeFirst(db, workspace_id)) > 0) {
    findings.add({ seq: 1, kind: 'GAP', detail: 'There are entries before the first event.' });
  }
}

/**
 * Reports the orphans of the tables that the walk does not read. They are searched for only if a table has more rows
 * than the walk has accounted for.
 */
export async function checkOrphans(walk: Walk): Promise<void> {
  const { db, workspace_id, findings, tally } = walk;
  for (const table of ORPHAN_TABLES) {
    const surplus = (await countRows(db, workspace_id, table)) - tally.found[table];
    if (surplus <= 0) continue;
    const is_record = table === 'consumptions' || table === 'expired_reservations';
    const names = await findOrphans(db, workspace_id, table, MAX_ORPHANS);
    const kind = NAME_OF_ORPHAN[table];
    for (const name of names) findings.addOrphan(`The row of ${kind} ${name} is in no event.`, is_record);
    if (names.length === 0 && findings.soFarIntact()) {
      findings.addOrphan(`${surplus} of the rows of ${table} belong to no event.`, is_record);
    }
  }
}
