import { groupSpends, isCompared, type LineMatchRow, matchRows } from '@purser/rules/matching/lines';
import { coverageSettings } from '@purser/rules/matching/settings';
import type { CoverageSettings } from '@purser/rules/matching/spends';
import { placeOfSeq } from '../feedback/lessons.ts';
import { getWatermark } from '../followers/follower-rows.ts';
import type { Queryable } from '../storage/database.ts';
import { loadWorkspace } from '../storage/workspaces.ts';
import { findUnaskedDecisions, listAskedSpends, makeAskedRows } from './asked-rows.ts';
import { hasSkipped, hasUnnumberedAfter } from './coverage-events.ts';
import { askedSpan, isSameRow, loadSpends, matchRange, type SpendRange } from './match-range.ts';
import {
  endOfNextSpends,
  findMatchesWithoutLine,
  listComparedAgents,
  listSpendLines,
  loadLineMatches,
  loadSpendsOfLines,
  type Upto,
} from './match-rows.ts';

const DECISIONS_AT_ONCE = 200;
const LINES_AT_ONCE = 1_000;
const SPENDS_AT_ONCE = 2_000;
const MAX_WRONG = 100;

/** A verification of what is derived of lines. */
interface Check {
  db: Queryable;
  workspace_id: string;
  upto: Upto;
  settings: CoverageSettings;
  report: (detail: string) => void;
}

/** Makes what is stored of decisions again. */
async function checkAsked({ db, workspace_id, upto, report }: Check): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await listAskedSpends(db, workspace_id, { after, limit: DECISIONS_AT_ONCE });
    const last = rows.at(-1);
    if (last === undefined) return;
    const ids = rows.map(({ decision_id }) => decision_id);
    const made = new Map(
      (await makeAskedRows(db, workspace_id, ids, upto.place)).map((row) => [row.decision_id, row]),
    );
    for (const row of rows)
      if (!isSameRow(row, made.get(row.decision_id)))
        report(
          made.has(row.decision_id)
            ? `The expected payment of decision ${row.decision_id} differs from its records.`
            : `The expected payment of decision ${row.decision_id} is in no event.`,
        );
    after = last.decision_id;
  }
}

const differs = (line_id: string) => `The coverage of line ${line_id} differs from its records.`;

/** The fields of a row that do not depend on other spends. */
const own = ({ rule, decision_id, step, state, ...row }: LineMatchRow) => row;

/** Makes again what is stored of each line by itself, and whether there is a row for each. */
async function checkLines({ db, workspace_id, upto, report }: Check): Promise<void> {
  for (let after = ''; ; ) {
    const page = { after, upto_seq: upto.seq, limit: LINES_AT_ONCE };
    const ids = await listSpendLines(db, workspace_id, page);
    const last = ids.at(-1);
    if (last === undefined) return;
    const stored = await loadLineMatches(db, workspace_id, ids);
    const on_page = new Set(ids);
    const lines = await loadSpendsOfLines(db, workspace_id, ids, upto);
    for (const spend of groupSpends(lines)) {
      for (const row of matchRows(spend, null)) {
        if (!on_page.has(row.line_id)) continue;
        const found = stored.get(row.line_id);
        const is_right =
          found !== undefined &&
          (isCompared(spend) ? isSameRow({ ...found, ...own(row) }, found) : isSameRow(row, found));
        if (!is_right) report(differs(row.line_id));
      }
    }
    after = last;
  }
}

/**
 * Matches the spends of each agent again, some at a time: each part is made with what the others hold by their rows, so all parts
 * are right only where the whole is.
 */
async function checkMatches(check: Check): Promise<void> {
  const { db, workspace_id, upto, settings, report } = check;
  for (const { agent_id, from } of await listComparedAgents(db, workspace_id)) {
    for (let begin: string | null = from; begin !== null; ) {
      const end: string | null = await endOfNextSpends(db, workspace_id, agent_id, begin, SPENDS_AT_ONCE);
      if (end === null) break;
      const from_ms: number = Date.parse(begin);
      const to_ms: number = Date.parse(end);
      const range: SpendRange = { workspace_id, agent_id, from_ms, to_ms, settings, upto };
      const spends = await loadSpends(db, range);
      const { rows } = await matchRange(db, range, spends);
      const stored = await loadLineMatches(
        db,
        workspace_id,
        rows.map(({ line_id }) => line_id),
      );
      for (const row of rows) if (!isSameRow(row, stored.get(row.line_id))) report(differs(row.line_id));
      const near_days = settings.window_days + 1;
      const unasked = { place: upto.place, limit: MAX_WRONG, near_days };
      for (const id of await findUnaskedDecisions(db, workspace_id, agent_id, askedSpan(range), unasked))
        report(`The expected payment of decision ${id} is gone.`);
      begin = new Date(to_ms + 1).toISOString();
    }
  }
}

function readSettings(workspace: { coverage: string | null }): CoverageSettings | null {
  try {
    return coverageSettings(workspace);
  } catch {
    return null;
  }
}

/**
 * Makes again whether lines were asked for, as far as the follower had come, and reports rows that differ. Memory does not grow
 * with the number of lines. Where the follower skipped an event, or has yet to come to one that changed unnumbered rows, what is
 * right is unknown, and nothing is reported. `last_seq` is the last event of the chain.
 */
export async function checkCoverage(
  db: Queryable,
  workspace_id: string,
  last_seq: number,
  findings: { addDerived(found: { seq: number; kind: 'ROW_MISMATCH'; detail: string }): void },
): Promise<void> {
  const report = (detail: string) => findings.addDerived({ seq: last_seq, kind: 'ROW_MISMATCH', detail });
  const seq = await getWatermark(db, 'coverage', workspace_id);
  if (seq > last_seq) report(`The coverage includes event ${seq}, but the chain ends at event ${last_seq}.`);
  if (await hasSkipped(db, workspace_id)) return;
  if (await hasUnnumberedAfter(db, workspace_id, seq)) return;
  const place = await placeOfSeq(db, workspace_id, seq);
  const workspace = await loadWorkspace(db, workspace_id);
  let is_right = true;
  const settings = readSettings(workspace ?? { coverage: null });
  // Settings that cannot be read are reported with the row of the workspace.
  if (settings === null) return;
  const found = (detail: string) => {
    is_right = false;
    report(detail);
  };
  const check: Check = { db, workspace_id, upto: { seq, place }, settings, report: found };
  for (const line_id of await findMatchesWithoutLine(db, workspace_id, MAX_WRONG))
    found(`The coverage of line ${line_id} is in no event.`);
  await checkAsked(check);
  await checkLines(check);
  // What wrong rows are compared to would be wrong, too.
  if (is_right) await checkMatches(check);
}
