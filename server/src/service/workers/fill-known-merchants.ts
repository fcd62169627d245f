import {
  isKnownBySameTime,
  type KnownMerchantRow,
  knownMerchantAfter,
} from '@purser/rules/policy/known-merchants';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Client } from '../../engine/storage/database.ts';
import { loadDecisionEvents } from '../../engine/storage/decision-events.ts';
import { loadDecisionCores } from '../../engine/storage/decisions.ts';
import {
  addEarlierKnownMerchants,
  listSettledDecisionIds,
  listWorkspacesToBackfill,
  lockBackfill,
  recordBackfill,
} from '../../engine/storage/derived/known-merchants.ts';
import { inTransaction } from '../../engine/storage/transactions.ts';

/** Decisions gone through in one transaction. */
const DECISIONS_AT_ONCE = 500;
const WORKSPACES_A_ROUND = 20;
const PAGES_A_TURN = 10;

/** The merchants and payees that the events of these decisions made known, the first event of each. */
async function knownBy(
  client: Client,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<KnownMerchantRow[]> {
  const records = await loadDecisionCores(client, workspace_id, decision_ids);
  const events = await loadDecisionEvents(client, workspace_id, decision_ids);
  const first = new Map<string, KnownMerchantRow>();
  for (const { decision } of records) {
    const recorded = (events.get(decision.decision_id) ?? []).map(({ event }) => event);
    const known = knownMerchantAfter(decision, recorded);
    if (known === null) continue;
    const name = `${known.agent_id} ${known.key}`;
    const other = first.get(name);
    if (other === undefined || isKnownBySameTime(known, other)) first.set(name, known);
  }
  return [...first.values()];
}

/**
 * Goes through the next decisions of a workspace that were reviewed or settled before known merchants were kept, and keeps
 * what they made known. Each page is one transaction, on one node at a time, so the work may end anywhere and be taken up
 * again. What is recorded meanwhile, the lane keeps. Returns whether there may be more.
 */
async function fillPage(pool: pg.Pool, workspace_id: string, limit: number): Promise<boolean> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const after = await lockBackfill(client, workspace_id);
    if (after === undefined) return false;
    const ids = await listSettledDecisionIds(client, workspace_id, { after, limit });
    const rows = ids.length === 0 ? [] : await knownBy(client, workspace_id, ids);
    if (rows.length > 0) await addEarlierKnownMerchants(client, [{ workspace_id, rows }]);
    const is_done = ids.length < limit;
    await recordBackfill(client, workspace_id, is_done ? null : (ids.at(-1) as string));
    return !is_done;
  });
}

/**
 * Returns a round, to be called periodically, which fills the known merchants of installations that are older than they,
 * some pages of some workspaces at a time. Each round goes on behind the workspaces of the one before, so that one which
 * fails delays no other. Once all is done, a round costs one look at an empty table.
 */
export function makeKnownMerchantsBackfill(options: {
  pool: pg.Pool;
  log: Logger;
  decisions_at_once?: number;
}): () => Promise<void> {
  const { pool, log, decisions_at_once = DECISIONS_AT_ONCE } = options;
  let after = '';
  return async () => {
    const found = await listWorkspacesToBackfill(pool, { after, limit: WORKSPACES_A_ROUND });
    after = found.length < WORKSPACES_A_ROUND ? '' : (found.at(-1) as string);
    for (const workspace_id of found) {
      try {
        let pages = 1;
        while ((await fillPage(pool, workspace_id, decisions_at_once)) && pages < PAGES_A_TURN) pages += 1;
      } catch (error) {
        log.warn(
          { err: error, workspace_id },
          'known merchants could not be backfilled; a later round retries',
        );
      }
    }
  };
}
