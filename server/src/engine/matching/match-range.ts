import { askedSpend } from '@purser/rules/matching/asked-spend';
import {
  groupSpends,
  isCompared,
  type LineMatchRow,
  matchRows,
  paidSpend,
  type SpendLines,
} from '@purser/rules/matching/lines';
import { matchSpends } from '@purser/rules/matching/match-spends';
import { type AskedSpend, type CoverageSettings, MAX_AFTER_MS } from '@purser/rules/matching/spends';
import type { Queryable } from '../storage/database.ts';
import { loadAskedSpends, type TimeSpan } from './asked-rows.ts';
import { loadHolders, loadSpendsOfAgent, type Upto } from './match-rows.ts';

const DAY_MS = 86_400_000;

/** The spends of an agent that began within a time, and what they are compared by. */
export interface SpendRange {
  workspace_id: string;
  agent_id: string;
  from_ms: number;
  to_ms: number;
  settings: CoverageSettings;
  upto: Upto;
}

const spanOf = (from_ms: number, to_ms: number): TimeSpan => ({
  from: new Date(from_ms).toISOString(),
  to: new Date(to_ms).toISOString(),
});

/** The time in which requests for spends of a range may have been made. */
export function askedSpan({ from_ms, to_ms, settings }: SpendRange): TimeSpan {
  return spanOf(from_ms - (settings.window_days + 1) * DAY_MS, to_ms + MAX_AFTER_MS);
}

/** How far from a spend or a request what they change may lie: a request of the whole window, and spends from there. */
export const reachMs = ({ window_days }: CoverageSettings): number => (window_days + 3) * DAY_MS;

/** The compared spends of a range. */
export async function loadSpends(db: Queryable, range: SpendRange): Promise<SpendLines[]> {
  const { workspace_id, agent_id, from_ms, to_ms, upto } = range;
  return groupSpends(await loadSpendsOfAgent(db, workspace_id, agent_id, spanOf(from_ms, to_ms), upto));
}

/** The decisions that people named for spends. */
export const namedDecisions = (spends: readonly SpendLines[]): string[] =>
  spends.flatMap(({ resolution }) => resolution?.decision_id ?? []);

/**
 * Makes the rows of the spends of a range, as if all spends of the agent were matched together. It takes what spends outside of
 * the range hold from their rows. The follower and verification share this rule.
 */
export async function matchRange(
  db: Queryable,
  range: SpendRange,
  spends: readonly SpendLines[],
): Promise<{ rows: LineMatchRow[]; asked: ReadonlyMap<string, AskedSpend> }> {
  const { workspace_id, agent_id, from_ms, settings } = range;
  const span = askedSpan(range);
  const rows = await loadAskedSpends(db, workspace_id, agent_id, span, namedDecisions(spends));
  const asked = new Map(rows.map((row) => [row.decision_id, askedSpend(row)]));
  const keys = new Set(spends.map(({ key }) => key));
  const holders = await loadHolders(db, workspace_id, [...asked.keys()]);
  const held = holders.flatMap(({ spend_key, starts_at, decision_id, step }) =>
    keys.has(spend_key) ? [] : [{ decision_id, step, is_earlier: Date.parse(starts_at) < from_ms }],
  );
  const matches = matchSpends(spends.filter(isCompared).map(paidSpend), [...asked.values()], settings, held);
  return { rows: spends.flatMap((spend) => matchRows(spend, matches.get(spend.key) ?? null)), asked };
}

/** True if another row of the same kind says the same in all fields of this one. */
export function isSameRow<Row extends object>(one: Row, other: Row | undefined): boolean {
  return (
    other !== undefined && (Object.keys(one) as (keyof Row)[]).every((name) => one[name] === other[name])
  );
}
