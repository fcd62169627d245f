import type { RailKind } from '@purser/contract/values/history';
import type { RailAuthorizationRow } from '@purser/rules/cards/authorizations';
import type { LineRow } from '@purser/rules/history/lines';
import type { Queryable } from '../storage/database.ts';
import { LINE_COLUMNS } from '../storage/history/lines.ts';
import { type InWorkspace, makeInsert } from '../storage/rows.ts';

const COLUMNS = `a.rail_authorization_id, a.rail_id, a.kind, a.authorization_id, a.fact, a.decision_id, a.is_observed,
  a.recorded_at`;

/** An authorization as its rail names it. */
export interface AuthorizationRef {
  kind: RailKind;
  authorization_id: string;
}

export const insertRailAuthorizations = makeInsert<RailAuthorizationRow>('rail_authorizations', {
  rail_authorization_id: 'text',
  rail_id: 'text',
  kind: 'text',
  authorization_id: 'text',
  fact: 'text',
  decision_id: 'text',
  is_observed: 'boolean',
  recorded_at: 'timestamptz',
});

/** Returns the facts of these authorizations. */
export async function loadRailAuthorizations(
  db: Queryable,
  wanted: readonly InWorkspace<AuthorizationRef>[],
): Promise<InWorkspace<RailAuthorizationRow>[]> {
  const result = await db.query<InWorkspace<RailAuthorizationRow>>({
    name: 'load_rail_authorizations',
    text: `select a.workspace_id, ${COLUMNS}
      from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, kind, authorization_id)
      join rail_authorizations a on a.workspace_id = w.workspace_id and a.kind = w.kind
        and a.authorization_id = w.authorization_id`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.kind),
      wanted.map((each) => each.authorization_id),
    ],
  });
  return result.rows;
}

/** Returns the authorizations that these decisions are taken by. */
export async function loadAuthorizationsOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<RailAuthorizationRow>[]> {
  const result = await db.query<InWorkspace<RailAuthorizationRow>>({
    name: 'load_authorizations_of_decisions',
    text: `select a.workspace_id, ${COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      join rail_authorizations a on a.workspace_id = w.workspace_id and a.decision_id = w.decision_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns facts by id, for verification. */
export async function loadRailAuthorizationsById(
  db: Queryable,
  workspace_id: string,
  ids: readonly string[],
): Promise<RailAuthorizationRow[]> {
  const result = await db.query<RailAuthorizationRow & { workspace_id: string }>({
    name: 'load_rail_authorizations_by_id',
    text: `select ${COLUMNS} from rail_authorizations a where workspace_id = $1 and rail_authorization_id = any($2)`,
    values: [workspace_id, ids],
  });
  return result.rows;
}

/** Returns the lines of these authorizations. */
export async function loadLinesOfAuthorizations(
  db: Queryable,
  wanted: readonly InWorkspace<{ feed: string; authorization_id: string }>[],
): Promise<InWorkspace<LineRow>[]> {
  const result = await db.query<InWorkspace<LineRow>>({
    name: 'load_lines_of_authorizations',
    text: `select l.workspace_id, ${LINE_COLUMNS}
      from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, feed, authorization_id)
      join lines l on l.workspace_id = w.workspace_id and l.feed = w.feed
        and l.authorization_id = w.authorization_id and l.authorization_id is not null`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.feed),
      wanted.map((each) => each.authorization_id),
    ],
  });
  return result.rows;
}
