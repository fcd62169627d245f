import { type EntryBody, routes } from '@purser/contract/routes/merchants';
import type { MerchantEntry } from '@purser/rules/merchants/directory';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Static } from 'typebox';
import { type Listing, listMerchants } from '../../engine/commands/merchants/list-merchants.ts';
import { unlistMerchant } from '../../engine/commands/merchants/unlist-merchant.ts';
import {
  gatherMerchants,
  makeIsListed,
  type PlacedSuggestion,
} from '../../engine/directory/suggest-merchants.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { loadAuthoritiesOf } from '../../engine/storage/authorities.ts';
import { listMerchantEntries, loadDirectory } from '../../engine/storage/merchant-entries.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Call, type Route, serve } from '../http/route.ts';
import { originOf } from '../people/callers.ts';

/** Gathered merchants that are kept for the pages behind a first one, and how long. Some hundred bytes each. */
const MAX_GATHERED = 20_000;
const GATHERED_TTL_MS = 60_000;

function entryBody(entry: MerchantEntry): Static<typeof EntryBody> {
  const { entry_id, merchant, payee_ids, verdict, note, created_at, key_id, principal_id } = entry;
  return {
    entry_id,
    merchant,
    payee_ids: [...payee_ids],
    verdict,
    note,
    created_at,
    created_by: { key_id, principal_id },
  };
}

/** The merchants that people list for an agent. */
export function makeMerchantRoutes(options: {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
}): Route[] {
  const { db, lists_db, lane, cursors } = options;
  const gathered = new LRUCache<string, PlacedSuggestion[]>({
    maxSize: MAX_GATHERED,
    sizeCalculation: (found) => found.length + 1,
    ttl: GATHERED_TTL_MS,
  });
  const isReviewer = ({ caller }: Pick<Call, 'caller'>) => !caller.scopes.includes('admin');
  return [
    serve(routes.suggestMerchants, { takes_long: true, shares: 'lists' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const { agent_id } = agent;
      const list = ['suggestMerchants', workspace_id, agent_id];
      const after = JSON.parse((cursors.open(list, cursor) as string | null) ?? 'null') as
        | [number, string]
        | null;
      // The pages behind the first one are of what it was cut from, less what was listed since.
      const found =
        (after === null ? undefined : gathered.get(agent_id)) ??
        (await gatherMerchants(lists_db, workspace_id, agent_id, await readClock(db)));
      if (after === null) gathered.set(agent_id, found);
      const isListed = makeIsListed(
        await loadDirectory(db, workspace_id, agent_id),
        (await loadAuthoritiesOf(db, workspace_id, [agent])).get(agent_id) ?? null,
      );
      const rest = found.filter(
        ({ count, key, row }) =>
          (after === null || count < after[0] || (count === after[0] && key > after[1])) &&
          !isListed(row.merchant),
      );
      const { rows, next_cursor } = pageOf(rest, limit, ({ count, key }) =>
        cursors.seal(list, JSON.stringify([count, key])),
      );
      return { status: 200, body: { data: rows.map(({ row }) => row), next_cursor } };
    }),
    serve(routes.listMerchants)(async (call) => {
      const listings = call.body.entries.map(
        ({ merchant, payee_ids = [], verdict, note = '' }): Listing => ({
          merchant,
          payee_ids: [...new Set(payee_ids)].sort(),
          verdict,
          note: note === '' ? null : note,
        }),
      );
      const input = { agent: call.params.id, listings, is_reviewer: isReviewer(call) };
      const entries = await lane.submit(call.caller.workspace_id, listMerchants, input, originOf(call));
      return { status: 201, body: { data: entries.map(entryBody) } };
    }),
    serve(routes.getListedMerchants, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor, ...sorting } = call.query;
      const { workspace_id } = call.caller;
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const list = ['getListedMerchants', workspace_id, agent_id, sorting];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listMerchantEntries(db, workspace_id, agent_id, {
        after,
        limit: limit + 1,
        ...sorting,
      });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.entry_id));
      return { status: 200, body: { data: rows.map(entryBody), next_cursor } };
    }),
    serve(routes.unlistMerchant)(async (call) => {
      const { id: agent, entry_id } = call.params;
      const input = { agent, entry_id, is_reviewer: isReviewer(call) };
      await lane.submit(call.caller.workspace_id, unlistMerchant, input, originOf(call));
      return { status: 204 };
    }),
  ];
}
