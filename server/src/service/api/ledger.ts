import { CSV_TYPE } from '@purser/contract/route';
import { EXPORT_TYPE, routes } from '@purser/contract/routes/ledger';
import type { VerifyingKey } from '@purser/rules/domain/checkpoints';
import { type LedgerEvent, ledgerEventBody, shownHash } from '@purser/rules/domain/ledger';
import { ApiError } from '@purser/rules/errors';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import { csvLine } from '@purser/rules/values/csv';
import type pg from 'pg';
import { getHead, listLedgerEvents, loadLedgerEvents } from '../../engine/storage/ledger.ts';
import { loadCheckpoints } from '../../engine/verification/checkpoint-rows.ts';
import { exportLedger } from '../../engine/verification/export-ledger.ts';
import { saveVerification, verificationBody } from '../../engine/verification/last-verification.ts';
import { verifyLedger } from '../../engine/verification/verify-ledger.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Handler, type Route, type Serving, serve } from '../http/route.ts';
import type { Turns } from '../scheduling/turns.ts';
import { attachment, csvOfList, wantsCsv } from './tables/csv-answers.ts';

const COLUMNS = [
  'seq',
  'id',
  'type',
  'subject_type',
  'subject_id',
  'occurred_at',
  'data_hash',
  'prev_hash',
  'hash',
] as const;
const csvOf = (event: LedgerEvent): string => {
  const { data_hash, prev_hash, hash, ...rest } = event;
  const hashes = { data_hash: shownHash(data_hash), prev_hash: shownHash(prev_hash), hash: shownHash(hash) };
  return csvLine(COLUMNS.map((column) => ({ ...rest, ...hashes })[column]));
};

export interface LedgerRouteOptions {
  db: pg.Pool;
  /** Filters may have to look at very many events. */
  lists_db: pg.Pool;
  ledger_db: pg.Pool;
  cursors: Cursors;
  now_ms: () => number;
  keys: readonly VerifyingKey[];
  checkpoint_dir: string;
  signer: { sign(workspace_id: string): Promise<void> };
  turns: Turns;
}

/** Makes the routes for the hash-chained history. */
export function makeLedgerRoutes(options: LedgerRouteOptions): Route[] {
  // A file holds its turn until its reader has it.
  const listsOrExports: Serving['shares'] = (headers) => (wantsCsv(headers) ? 'exports' : 'lists');
  return [
    serve(routes.listLedgerEvents, { shares: listsOrExports })(handleListEvents(options)),
    serve(routes.getLedgerEvent, { shares: 'reads' })(handleGetEvent(options)),
    serve(routes.listCheckpoints, { shares: 'reads' })(handleListCheckpoints(options)),
    serve(routes.verifyLedger, { takes_long: true, shares: 'verifications' })(handleVerify(options)),
    serve(routes.exportLedger, { takes_long: true, shares: 'exports' })(handleExport(options)),
  ];
}

function handleListEvents(options: LedgerRouteOptions): Handler<typeof routes.listLedgerEvents> {
  const { lists_db, cursors } = options;
  return async ({ caller: { workspace_id }, query, headers }) => {
    const { limit, cursor, order = 'desc', ...filters } = query;
    const list = ['listLedgerEvents', workspace_id, order, filters];
    const past = cursors.open(list, cursor) as number | null;
    const load: EventLoader = ({ after, limit }) =>
      listLedgerEvents(lists_db, workspace_id, filters, { order, past: after, limit });
    if (wantsCsv(headers)) {
      const is_page = limit !== undefined || cursor !== undefined;
      const end = (await getHead(lists_db, workspace_id))?.seq ?? 0;
      const page = { after: past, limit: is_page ? (limit ?? 50) : null };
      return {
        status: 200,
        stream: { chunks: csvOfList(COLUMNS, csvOf, upTo(end, load), page), content_type: CSV_TYPE },
        headers: attachment(`ledger-entries-${workspace_id}.csv`),
      };
    }
    const { rows, next } = await load({ after: past, limit: limit ?? 50 });
    const next_cursor = next === null ? null : cursors.seal(list, next);
    return { status: 200, body: { data: rows.map(ledgerEventBody), next_cursor } };
  };
}

type EventLoader = (page: {
  after: number | null;
  limit: number;
}) => Promise<{ rows: LedgerEvent[]; next: number | null }>;

/** Loads no event after `end`. Oldest first, a chain that goes on growing would have no end. */
function upTo(end: number, load: EventLoader): EventLoader {
  return async (page) => {
    const found = await load(page);
    const rows = found.rows.filter(({ seq }) => seq <= end);
    return { rows, next: rows.length < found.rows.length ? null : found.next };
  };
}

function handleGetEvent({ db }: LedgerRouteOptions): Handler<typeof routes.getLedgerEvent> {
  return async ({ caller, params: { seq } }) => {
    const [event] = /^[1-9]\d{0,14}$/.test(seq)
      ? await loadLedgerEvents(db, caller.workspace_id, { after: Number(seq) - 1, limit: 1 })
      : [];
    if (event?.seq !== Number(seq)) throw new ApiError('not_found', 'No such event.');
    return { status: 200, body: ledgerEventBody(event) };
  };
}

function handleListCheckpoints(options: LedgerRouteOptions): Handler<typeof routes.listCheckpoints> {
  const { db, cursors } = options;
  return async ({ caller: { workspace_id }, query: { limit = 50, cursor } }) => {
    const list = ['listCheckpoints', workspace_id];
    const before = cursors.open(list, cursor) as number | null;
    const found = await loadCheckpoints(db, workspace_id, limit + 1, before);
    const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.seq));
    const data = rows.map(({ seq, hash, signed_at, key_id, note }) => ({
      seq,
      hash: shownHash(hash),
      signed_at,
      key_id,
      note,
    }));
    return { status: 200, body: { data, next_cursor } };
  };
}

function handleVerify(options: LedgerRouteOptions): Handler<typeof routes.verifyLedger> {
  const { db, ledger_db, now_ms, keys, checkpoint_dir, turns } = options;
  return async ({ caller: { workspace_id }, query: { since = 0 } }) => {
    const began_ms = now_ms();
    const found = await verifyLedger(ledger_db, workspace_id, { since, keys, checkpoint_dir, names, turns });
    if (since === 0) await saveVerification(db, workspace_id, found);
    const duration_ms = Math.round((now_ms() - began_ms) * 1000) / 1000;
    return { status: 200, body: { ...verificationBody(found), duration_ms } };
  };
}

function handleExport(options: LedgerRouteOptions): Handler<typeof routes.exportLedger> {
  const { ledger_db, keys, checkpoint_dir, signer, turns } = options;
  return async ({ caller: { workspace_id, scopes }, query: { since = 0 } }) => {
    // So that all of what follows is signed.
    await signer.sign(workspace_id);
    const is_withheld = !scopes.includes('admin');
    return {
      status: 200,
      stream: {
        chunks: exportLedger(ledger_db, workspace_id, { since, keys, checkpoint_dir, is_withheld, turns }),
        content_type: EXPORT_TYPE,
      },
      headers: { 'content-disposition': `attachment; filename="ledger-${workspace_id}.jsonl"` },
    };
  };
}
