import { capabilityIdOf } from '@purser/rules/domain/capabilities';
import { type AskedRow, askedRow } from '@purser/rules/matching/asked-spend';
import { firstIdAt } from '@purser/rules/values/ids';
import { loadConsumptions } from '../storage/consumptions.ts';
import type { Queryable } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import { makeInsert } from '../storage/rows.ts';

const COLUMNS =
  'decision_id, agent_id, created_at, merchant, payee_id, currency, expected_minor, is_refused, rail_references';
/** How much later than it was made a decision's id may be, where the chain was written ahead of the clock. */
const AHEAD_MS = 2 * 86_400_000;

export const putAskedSpends = makeInsert<AskedRow>(
  'asked_spends',
  {
    decision_id: 'text',
    agent_id: 'text',
    created_at: 'timestamptz',
    merchant: 'text',
    payee_id: 'text',
    currency: 'text',
    expected_minor: 'bigint',
    is_refused: 'boolean',
    rail_references: 'text',
  },
  { conflict: ['decision_id'], update: ['expected_minor', 'is_refused', 'rail_references'] },
);

/** Times, as ISO UTC. The ends belong to it. */
export interface TimeSpan {
  from: string;
  to: string;
}

/**
 * Makes the parts of these decisions that lines are compared with, by their records up to a place in the ledger; those made after it are left out.
 * The follower and verification share this rule.
 */
export async function makeAskedRows(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
  place: string,
): Promise<AskedRow[]> {
  const made = decision_ids.filter((id) => id.slice(4) <= place);
  if (made.length === 0) return [];
  const records = await loadDecisionCores(db, workspace_id, made);
  const events = await loadDecisionEvents(db, workspace_id, made);
  const consumptions = await loadConsumptions(db, workspace_id, made.map(capabilityIdOf));
  const consumed_as = new Map(
    consumptions.flatMap(({ decision_id, event_id, external_reference }) =>
      event_id.slice(4) <= place ? [[decision_id, external_reference] as const] : [],
    ),
  );
  return records.map(({ decision }) => {
    const { decision_id } = decision;
    const known = (events.get(decision_id) ?? []).filter((event) => event.place <= place);
    const recorded = known.map(({ event }) => event);
    return askedRow(decision, recorded, consumed_as.get(decision_id) ?? null);
  });
}

/** Returns the stored rows of an agent's decisions of a time, and those of `named` decisions of any time. */
export async function loadAskedSpends(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  { from, to }: TimeSpan,
  named: readonly string[],
): Promise<AskedRow[]> {
  const result = await db.query<AskedRow & { workspace_id: string }>({
    name: 'load_asked_spends',
    text: `select ${COLUMNS} from asked_spends
      where workspace_id = $1 and agent_id = $2 and agent_id <> '' and created_at between $3 and $4
      union select ${COLUMNS} from asked_spends where workspace_id = $1 and decision_id = any($5) and agent_id = $2`,
    values: [workspace_id, agent_id, from, to, named],
  });
  return result.rows;
}

/** Returns the stored rows of these decisions. */
export async function loadAskedOf(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<AskedRow[]> {
  const result = await db.query<AskedRow & { workspace_id: string }>({
    name: 'load_asked_of',
    text: `select ${COLUMNS} from asked_spends where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** Returns a page of all stored rows after `after`, in the order of their ids. */
export async function listAskedSpends(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<AskedRow[]> {
  const result = await db.query<AskedRow & { workspace_id: string }>({
    name: 'list_asked_spends',
    text: `select ${COLUMNS} from asked_spends where workspace_id = $1 and decision_id > $2
      order by decision_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/**
 * Returns at most `limit` decisions of an agent that were made in a time, up to a place in the ledger, and have no row; `near_days`:
 * only those with a line up to that number of days after them.
 */
export async function findUnaskedDecisions(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  { from, to }: TimeSpan,
  page: { place: string; limit: number; near_days?: number },
): Promise<string[]> {
  const [from_ms, to_ms] = [Date.parse(from), Date.parse(to) + AHEAD_MS];
  const near =
    page.near_days === undefined
      ? ''
      : `and exists (select from line_matches m where m.workspace_id = $1 and m.agent_id = $2
          and m.starts_at between d.created_at - interval '36 hours'
            and d.created_at + make_interval(days => ${page.near_days}, hours => 12)
          and m.state <> 'HISTORY')`;
  const result = await db.query<{ decision_id: string }>({
    text: `select d.decision_id from decisions d where d.workspace_id = $1 and d.agent_id = $2 and d.agent_id <> ''
      and d.decision_id >= $3 and d.decision_id <= least($4, $5) and d.created_at between $6 and $7
      and not exists (select from asked_spends a where a.workspace_id = $1 and a.decision_id = d.decision_id) ${near}
      order by d.decision_id limit ${page.limit}`,
    values: [
      workspace_id,
      agent_id,
      firstIdAt('decision', from_ms),
      firstIdAt('decision', to_ms),
      `dec_${page.place}`,
      from,
      to,
    ],
  });
  return result.rows.map(({ decision_id }) => decision_id);
}
