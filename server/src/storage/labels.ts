import type { Label } from '../domain/labels.ts';
import type { Queryable } from './database.ts';
import { makeInsert, type Of } from './rows.ts';

const COLUMNS = 'label_id, decision_id, label, comment, supersedes, principal_id, key_id, created_at';

export const insertLabels = makeInsert<Label>('labels', {
  label_id: 'text',
  decision_id: 'text',
  label: 'text',
  comment: 'text',
  supersedes: 'text',
  principal_id: 'text',
  key_id: 'text',
  created_at: 'timestamptz',
});

/** The labels of these ids. */
export async function loadLabels(
  db: Queryable,
  workspace_id: string,
  label_ids: readonly string[],
): Promise<Label[]> {
  const result = await db.query<Label & { workspace_id: string }>({
    name: 'load_labels',
    text: `select ${COLUMNS} from labels where workspace_id = $1 and label_id = any($2)`,
    values: [workspace_id, label_ids],
  });
  return result.rows;
}

/** What of the labels of these decisions tells which are current. */
export async function loadLabelsOfDecisions(
  db: Queryable,
  wanted: readonly Of<{ decision_id: string }>[],
): Promise<Of<Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>>[]> {
  const result = await db.query<Of<Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>>>({
    name: 'load_labels_of_decisions',
    text: `select l.* from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      cross join lateral (
        select workspace_id, decision_id, label_id, supersedes from labels
        where workspace_id = w.workspace_id and decision_id = w.decision_id and decision_id <> ''
        order by label_id) as l`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** The labels of these decisions with the moment of each, each decision's in the order in which they were recorded. */
export async function listLabelsOfDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Pick<Label, 'decision_id' | 'label_id' | 'label' | 'created_at'>[]> {
  const result = await db.query<
    Pick<Label, 'decision_id' | 'label_id' | 'label' | 'created_at'> & { workspace_id: string }
  >({
    name: 'list_labels_of_decisions',
    text: `select decision_id, label_id, label, created_at from labels
      where workspace_id = $1 and decision_id = any($2) and decision_id <> '' order by label_id`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}
