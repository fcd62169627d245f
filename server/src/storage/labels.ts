import type { Label } from '../domain/labels.ts';
import type { Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

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
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Pick<Label, 'decision_id' | 'label_id' | 'supersedes' | 'created_at'>[]> {
  const result = await db.query<
    Pick<Label, 'decision_id' | 'label_id' | 'supersedes' | 'created_at'> & { workspace_id: string }
  >({
    name: 'load_labels_of_decisions',
    text: `select decision_id, label_id, supersedes, created_at from labels
      where workspace_id = $1 and decision_id = any($2) and decision_id <> '' order by label_id`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}
