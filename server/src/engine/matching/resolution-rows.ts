import type { ResolutionBody } from '@purser/contract/history/coverage';
import type { LineKind } from '@purser/contract/values/history';
import type { Queryable } from '../storage/database.ts';
import { AGENT_OF } from '../storage/history/lines.ts';
import { type InWorkspace, makeInsert } from '../storage/rows.ts';

const COLUMNS = 'resolution_id, line_id, action, decision_id, comment, principal_id, key_id, created_at';

export const insertLineResolutions = makeInsert<ResolutionBody>('line_resolutions', {
  resolution_id: 'text',
  line_id: 'text',
  action: 'text',
  decision_id: 'text',
  comment: 'text',
  principal_id: 'text',
  key_id: 'text',
  created_at: 'timestamptz',
});

/** The facts of a line that a resolution needs. */
export interface LineFacts {
  line_id: string;
  import_id: string | null;
  kind: LineKind;
  /** Whose it is; null: nobody's. */
  agent_id: string | null;
  /** Equal for the lines of one authorization. */
  feed: string;
  authorization_id: string | null;
}

/** Returns what is known of these lines. */
export async function loadLineFacts(
  db: Queryable,
  wanted: readonly InWorkspace<{ line_id: string }>[],
): Promise<InWorkspace<LineFacts>[]> {
  const result = await db.query<InWorkspace<LineFacts>>({
    name: 'load_line_facts',
    text: `select l.workspace_id, l.line_id, l.import_id, l.kind, l.feed, l.authorization_id, ${AGENT_OF} as agent_id
      from unnest($1::text[], $2::text[]) as w(workspace_id, line_id)
      join lines l on l.workspace_id = w.workspace_id and l.line_id = w.line_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.line_id)],
  });
  return result.rows;
}

/** A line that a person matched with a decision, and nobody said otherwise since. */
export type MatchedLine = Pick<LineFacts, 'line_id' | 'feed' | 'authorization_id'> & { decision_id: string };

/** Returns the lines that people matched with these decisions and said nothing else of since. */
export async function loadMatchedLines(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<MatchedLine>[]> {
  const result = await db.query<InWorkspace<MatchedLine>>({
    name: 'load_matched_lines',
    text: `select r.workspace_id, r.line_id, r.decision_id, l.feed, l.authorization_id
      from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      join line_resolutions r on r.workspace_id = w.workspace_id and r.decision_id = w.decision_id
        and r.decision_id is not null and r.action = 'MATCH'
      join lines l on l.workspace_id = r.workspace_id and l.line_id = r.line_id
      where not exists (select from line_resolutions n where n.workspace_id = r.workspace_id and n.line_id = r.line_id
        and n.line_id <> '' and n.resolution_id > r.resolution_id)`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns these resolutions. */
export async function loadLineResolutions(
  db: Queryable,
  workspace_id: string,
  resolution_ids: readonly string[],
): Promise<ResolutionBody[]> {
  const result = await db.query<ResolutionBody & { workspace_id: string }>({
    name: 'load_line_resolutions',
    text: `select ${COLUMNS} from line_resolutions where workspace_id = $1 and resolution_id = any($2)`,
    values: [workspace_id, resolution_ids],
  });
  return result.rows;
}

/** Returns the newest `limit` resolutions of a line, oldest first. */
export async function listLineResolutions(
  db: Queryable,
  workspace_id: string,
  line_id: string,
  limit: number,
): Promise<ResolutionBody[]> {
  const result = await db.query<ResolutionBody & { workspace_id: string }>({
    name: 'list_line_resolutions',
    text: `select ${COLUMNS} from line_resolutions where workspace_id = $1 and line_id = $2 and line_id <> ''
      order by resolution_id desc limit $3`,
    values: [workspace_id, line_id, limit],
  });
  return result.rows.reverse();
}

/** A line that `spend.unmatched` was sent for. Never changed or removed. */
export interface UnmatchedLine {
  line_id: string;
  line_state: string;
  /** JSON. */
  nearest: string;
  created_at: string;
}

export const insertUnmatchedLines = makeInsert<UnmatchedLine>('unmatched_lines', {
  line_id: 'text',
  line_state: 'text',
  nearest: 'text',
  created_at: 'timestamptz',
});

/** Returns which of these lines `spend.unmatched` was sent for. */
export async function loadUnmatchedLines(
  db: Queryable,
  wanted: readonly InWorkspace<{ line_id: string }>[],
): Promise<InWorkspace<UnmatchedLine>[]> {
  const result = await db.query<InWorkspace<UnmatchedLine>>({
    name: 'load_unmatched_lines',
    text: `select u.workspace_id, u.line_id, u.line_state, u.nearest, u.created_at
      from unnest($1::text[], $2::text[]) as w(workspace_id, line_id)
      join unmatched_lines u on u.workspace_id = w.workspace_id and u.line_id = w.line_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.line_id)],
  });
  return result.rows;
}
