import type { RailEventResult } from '@purser/contract/values/history';
import type { RailHealth, RailRow } from '@purser/rules/rails/rails';
import type { Queryable } from '../storage/database.ts';
import { type InWorkspace, makeInsert, msOf, type WorkspaceRows, workspaceIdsOf } from '../storage/rows.ts';

const COLUMNS = 'r.rail_id, r.kind, r.name, r.sealed_secrets, r.secrets_hash, r.created_at, r.updated_at';

export const putRails = makeInsert<RailRow>(
  'rails',
  {
    rail_id: 'text',
    kind: 'text',
    name: 'text',
    sealed_secrets: 'text',
    secrets_hash: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  { conflict: ['rail_id'], update: ['name', 'sealed_secrets', 'secrets_hash', 'updated_at'] },
);

/** Returns rails by id; unknown ones are left out. */
export async function loadRails(
  db: Queryable,
  wanted: readonly InWorkspace<{ rail_id: string }>[],
): Promise<InWorkspace<RailRow>[]> {
  const result = await db.query<InWorkspace<RailRow>>({
    name: 'load_rails',
    text: `select r.workspace_id, ${COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, rail_id)
      join rails r on r.workspace_id = w.workspace_id and r.rail_id = w.rail_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.rail_id)],
  });
  return result.rows;
}

/** Deletes rails, and what was counted of their events. */
export function deleteRails(
  db: Queryable,
  parts: readonly WorkspaceRows<{ rail_id: string }>[],
): Promise<unknown> {
  return db.query({
    name: 'delete_rails',
    text: `with w as (select * from unnest($1::text[], $2::text[]) as w(workspace_id, rail_id)),
      of_health as (delete from rail_health h using w where h.workspace_id = w.workspace_id and h.rail_id = w.rail_id)
      delete from rails r using w where r.workspace_id = w.workspace_id and r.rail_id = w.rail_id`,
    values: [workspaceIdsOf(parts), parts.flatMap(({ rows }) => rows.map(({ rail_id }) => rail_id))],
  });
}

/** A rail with what became of its events; null before the first. */
export interface RailWithHealth {
  rail: RailRow;
  health: RailHealth | null;
}

/** Returns a page of rails, newest first, before `after`; `only` narrows it to one. */
export async function listRails(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number; only?: string },
): Promise<RailWithHealth[]> {
  type Row = RailRow & Omit<RailHealth, 'accepted'> & { accepted: number | null };
  const result = await db.query<InWorkspace<Row>>({
    name: 'list_rails',
    text: `select ${COLUMNS}, h.accepted, h.refused, h.ignored, h.last_event_at, h.last_problem, h.last_problem_at
      from rails r left join rail_health h on h.workspace_id = r.workspace_id and h.rail_id = r.rail_id
      where r.workspace_id = $1 and ($2::text is null or r.rail_id < $2) and ($4::text is null or r.rail_id = $4)
      order by r.rail_id desc limit $3`,
    values: [workspace_id, page.after, page.limit, page.only ?? null],
  });
  return result.rows.map((row) => {
    const { accepted, refused, ignored, last_event_at, last_problem, last_problem_at, ...rail } = row;
    const counted = { refused, ignored, last_event_at, last_problem, last_problem_at };
    return { rail, health: accepted === null ? null : { accepted, ...counted } };
  });
}

/** Returns all rails of these workspaces, in the order of their ids. */
export async function loadRailsOf(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<RailRow>[]> {
  const result = await db.query<InWorkspace<RailRow>>({
    name: 'load_rails_of',
    text: `select r.workspace_id, ${COLUMNS} from rails r where r.workspace_id = any($1) order by r.workspace_id, r.rail_id`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** A rail that an event names, whosever it is, with the database's clock in ms. */
export async function findRail(
  db: Queryable,
  rail_id: string,
): Promise<(InWorkspace<RailRow> & { clock_ms: number }) | undefined> {
  const result = await db.query<InWorkspace<RailRow> & { clock_ms: number }>({
    name: 'find_rail',
    text: `select r.workspace_id, ${COLUMNS}, ${msOf('clock_timestamp()')} as clock_ms
      from rails r where r.rail_id = $1`,
    values: [rail_id],
  });
  return result.rows[0];
}

/** Counts an event of a rail, and keeps the reason for which it was refused. Nothing is counted of a rail that is gone. */
export async function countRailEvent(
  db: Queryable,
  of: { workspace_id: string; rail_id: string },
  { result, problem }: { result: RailEventResult; problem: string | null },
): Promise<void> {
  const one = (name: RailEventResult) => (name === result ? 1 : 0);
  await db.query({
    name: 'count_rail_event',
    text: `insert into rail_health as h
        (workspace_id, rail_id, accepted, refused, ignored, last_event_at, last_problem, last_problem_at)
      select workspace_id, rail_id, $3::bigint, $4::bigint, $5::bigint, clock_timestamp(), $6::text, case when $6::text is null then null else clock_timestamp() end
      from rails where workspace_id = $1 and rail_id = $2
      on conflict (workspace_id, rail_id) do update set accepted = h.accepted + excluded.accepted,
        refused = h.refused + excluded.refused, ignored = h.ignored + excluded.ignored,
        last_event_at = excluded.last_event_at,
        last_problem = coalesce(excluded.last_problem, h.last_problem),
        last_problem_at = coalesce(excluded.last_problem_at, h.last_problem_at)`,
    values: [of.workspace_id, of.rail_id, one('accepted'), one('refused'), one('ignored'), problem],
  });
}
