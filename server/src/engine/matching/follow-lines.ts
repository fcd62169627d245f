import {
  type CoverageLine,
  groupSpends,
  isCompared,
  type LineMatchRow,
  matchRows,
} from '@purser/rules/matching/lines';
import { coverageSettings } from '@purser/rules/matching/settings';
import { type CoverageSettings, MAX_AFTER_MS } from '@purser/rules/matching/spends';
import { placeOfSeq } from '../feedback/lessons.ts';
import type { Follower } from '../followers/follow-chains.ts';
import type { Client } from '../storage/database.ts';
import { loadWorkspace } from '../storage/workspaces.ts';
import { findUnaskedDecisions, loadAskedOf, makeAskedRows, putAskedSpends } from './asked-rows.ts';
import { ChangedSpans } from './changed-spans.ts';
import {
  type CoverageEvents,
  hasLines,
  loadCoverageEvents,
  loadLinesOfEvents,
  loadMadeDecisions,
} from './coverage-events.ts';
import {
  askedSpan,
  isSameRow,
  loadSpends,
  matchRange,
  namedDecisions,
  reachMs,
  type SpendRange,
} from './match-range.ts';
import {
  deleteMatchesOfImports,
  findLinesOfSpends,
  hasSpendsFrom,
  listComparedAgents,
  listSpendLines,
  loadLineMatches,
  loadSpendsOfLines,
  putLineMatches,
  type Upto,
} from './match-rows.ts';

/** Events read in one transaction. Most of them are of no concern. */
const MAX_EVENTS = 20_000;
/** Pages of all workspaces, so that a round ends soon enough for a stop. */
export const MAX_PAGES_PER_ROUND = 50;
/** Full pages of a round: matching waits for decisions, which come first. */
export const MAX_FULL_PAGES_PER_ROUND = 4;
const LINES_AT_ONCE = 1_000;
const DECISIONS_AT_ONCE = 500;

/** One page of a chain, as it is matched. */
interface Page {
  client: Client;
  workspace_id: string;
  upto: Upto;
  settings: CoverageSettings;
  changed: ChangedSpans;
}

/** Keeps what is stored of decisions right, and notes where their change reaches. */
async function takeDecisions(page: Page, { created, recorded }: CoverageEvents): Promise<void> {
  const { client, workspace_id, upto, changed } = page;
  const known = await loadAskedOf(client, workspace_id, recorded);
  const now = await makeAskedRows(
    client,
    workspace_id,
    known.map(({ decision_id }) => decision_id),
    upto.place,
  );
  const before = new Map(known.map((row) => [row.decision_id, row]));
  const differing = now.filter((row) => !isSameRow(row, before.get(row.decision_id)));
  if (differing.length > 0) await putAskedSpends(client, [{ workspace_id, rows: differing }]);
  for (const { agent_id, created_at } of differing) changed.add(agent_id, created_at);
  const first_of = new Map<string, { from: string; to: string }>();
  for (const { agent_id, created_at } of await loadMadeDecisions(client, workspace_id, created)) {
    const span = first_of.get(agent_id);
    first_of.set(agent_id, { from: span?.from ?? created_at, to: created_at });
  }
  for (const [agent_id, { from, to }] of first_of) {
    const near = new Date(Date.parse(from) - 2 * MAX_AFTER_MS).toISOString();
    if (await hasSpendsFrom(client, workspace_id, agent_id, near)) changed.add(agent_id, from, to);
  }
}

/** Makes the rows of a spend's lines before it is matched: its decision stays until then, where the spend is still the same agent's. */
function unmatchedRows(
  lines: readonly CoverageLine[],
  stored: ReadonlyMap<string, LineMatchRow>,
): LineMatchRow[] {
  return groupSpends(lines).flatMap((spend) =>
    matchRows(spend, null).map((row) => {
      const old = stored.get(row.line_id);
      if (!isCompared(spend) || old?.agent_id !== row.agent_id) return row;
      const { state, rule, decision_id, step } = old;
      return decision_id === null ? row : { ...row, state, rule, decision_id, step };
    }),
  );
}

/** Notes where decisions are: those that a person named, or names no longer, may lie anywhere. */
async function takeNamed(
  { client, workspace_id, changed }: Page,
  decision_ids: readonly (string | null)[],
): Promise<void> {
  const named = decision_ids.flatMap((id) => id ?? []);
  for (const { agent_id, created_at } of await loadMadeDecisions(client, workspace_id, named))
    changed.add(agent_id, created_at);
}

/** Writes what is known of these lines and their spends by themselves, and notes where it reaches. */
async function takeLines(page: Page, line_ids: readonly string[]): Promise<void> {
  const { client, workspace_id, upto, changed } = page;
  for (let at = 0; at < line_ids.length; at += LINES_AT_ONCE) {
    const lines = await loadSpendsOfLines(client, workspace_id, line_ids.slice(at, at + LINES_AT_ONCE), upto);
    const ids = lines.map(({ line_id }) => line_id);
    const stored = await loadLineMatches(client, workspace_id, ids);
    const rows = unmatchedRows(lines, stored);
    const differing = rows.filter((row) => !isSameRow(row, stored.get(row.line_id)));
    if (differing.length > 0) await putLineMatches(client, [{ workspace_id, rows: differing }]);
    const both = [...rows, ...stored.values()];
    for (const { agent_id, state, resolution_id, starts_at } of both)
      if (agent_id !== null && (state !== 'HISTORY' || resolution_id !== null))
        changed.add(agent_id, starts_at);
    await takeNamed(page, [
      ...lines.map(({ resolution }) => resolution?.decision_id ?? null),
      ...[...stored.values()].map(({ decision_id }) => decision_id),
    ]);
  }
}

/** All lines of some instruments. */
async function takeInstruments(page: Page, instruments: readonly string[]): Promise<void> {
  const { client, workspace_id, upto } = page;
  for (let after = ''; instruments.length > 0; ) {
    const of_page = { after, upto_seq: upto.seq, limit: LINES_AT_ONCE, instruments };
    const ids = await listSpendLines(client, workspace_id, of_page);
    if (ids.length === 0) return;
    await takeLines(page, ids);
    after = ids.at(-1) as string;
  }
}

async function takeDeletions(page: Page, import_ids: readonly string[]): Promise<void> {
  const { client, workspace_id, changed } = page;
  if (import_ids.length === 0) return;
  const gone = await deleteMatchesOfImports(client, workspace_id, import_ids);
  for (const { agent_id, starts_at } of gone) if (agent_id !== null) changed.add(agent_id, starts_at);
  await takeNamed(
    page,
    gone.map(({ decision_id }) => decision_id),
  );
  const keys = [...new Set(gone.map(({ spend_key }) => spend_key))];
  await takeLines(page, await findLinesOfSpends(client, workspace_id, keys));
}

/** Makes the rows of all decisions that spends of a range may be compared with. */
async function askAround(
  { client, workspace_id, upto }: Page,
  range: SpendRange,
  named: readonly string[],
): Promise<void> {
  const known = new Set(
    (await loadAskedOf(client, workspace_id, named)).map(({ decision_id }) => decision_id),
  );
  let missing = named.filter((id) => !known.has(id));
  for (;;) {
    if (missing.length > 0) {
      const rows = await makeAskedRows(client, workspace_id, missing, upto.place);
      await putAskedSpends(client, [{ workspace_id, rows }]);
    }
    missing = await findUnaskedDecisions(client, workspace_id, range.agent_id, askedSpan(range), {
      place: upto.place,
      limit: DECISIONS_AT_ONCE,
    });
    if (missing.length === 0) return;
  }
}

/** True if what spends of a range hold has changed so that spends after the range may change. */
function reachesBeyond(
  range: SpendRange,
  before: Iterable<LineMatchRow>,
  after: readonly LineMatchRow[],
  asked: ReadonlyMap<string, { created_ms: number }>,
): boolean {
  const held = (rows: Iterable<LineMatchRow>) =>
    new Map(
      [...rows].flatMap(({ decision_id, step }) => (decision_id === null ? [] : [[decision_id, step]])),
    );
  const [old, now] = [held(before), held(after)];
  const moved = [...new Set([...old.keys(), ...now.keys()])].filter((id) => old.get(id) !== now.get(id));
  return moved.some((id) => {
    const created_ms = asked.get(id)?.created_ms;
    return created_ms === undefined || created_ms + reachMs(range.settings) >= range.to_ms;
  });
}

/** Matches the spends of a range, and those after it as far as what they can take has changed. */
async function matchAround(
  page: Page,
  span: { agent_id: string; from_ms: number; to_ms: number },
): Promise<void> {
  const { client, workspace_id, settings, upto } = page;
  for (let to_ms = span.to_ms; ; to_ms += 2 * (to_ms - span.from_ms)) {
    const range: SpendRange = { ...span, to_ms, workspace_id, settings, upto };
    const spends = await loadSpends(client, range);
    if (spends.length === 0) return;
    await askAround(page, range, namedDecisions(spends));
    const { rows, asked } = await matchRange(client, range, spends);
    const ids = rows.map(({ line_id }) => line_id);
    const stored = await loadLineMatches(client, workspace_id, ids);
    const differing = rows.filter((row) => !isSameRow(row, stored.get(row.line_id)));
    if (differing.length === 0) return;
    const beyond = new Date(to_ms + 1).toISOString();
    const is_last =
      !reachesBeyond(range, stored.values(), rows, asked) ||
      !(await hasSpendsFrom(client, workspace_id, span.agent_id, beyond));
    if (!is_last) continue;
    await putLineMatches(client, [{ workspace_id, rows: differing }]);
    return;
  }
}

/**
 * Finds for each line whether it was asked for. What is stored follows from the chain up to the watermark: a page looks again at
 * the spends near what it changes, and further as far as decisions change hands.
 */
export const followLines: Follower = {
  name: 'coverage',
  max_events: MAX_EVENTS,
  async fold(client, workspace_id, range) {
    if (!(await hasLines(client, workspace_id, range.upto))) return range.upto;
    const events = await loadCoverageEvents(client, workspace_id, range);
    const workspace = await loadWorkspace(client, workspace_id);
    const page: Page = {
      client,
      workspace_id,
      upto: { seq: events.last_seq, place: await placeOfSeq(client, workspace_id, events.last_seq) },
      settings: coverageSettings(workspace ?? { coverage: null }),
      changed: new ChangedSpans(),
    };
    await takeDecisions(page, events);
    await takeDeletions(page, events.deleted_imports);
    await takeLines(page, await loadLinesOfEvents(client, workspace_id, events));
    await takeInstruments(page, events.instruments);
    if (events.has_new_settings)
      for (const { agent_id, from, to } of await listComparedAgents(client, workspace_id))
        page.changed.add(agent_id, from, to);
    for (const span of page.changed.merged(page.settings)) await matchAround(page, span);
    return events.last_seq;
  },
};
