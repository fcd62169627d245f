import type { Label } from '@purser/contract/records';
import type { Queryable } from './database.ts';
import { type InWorkspace, makeInsert } from './rows.ts';

const COLUMNS =
  'label_id, decision_id, label, comment, supersedes, principal_id, key_id, questions, created_at';

export const insertLabels = makeInsert<Label>('labels', {
  label_id: 'text',
  decision_id: 'text',
  label: 'text',
  comment: 'text',
  supersedes: 'text',
  principal_id: 'text',
  key_id: 'text',
  questions: 'words',
  created_at: 'timestamptz',
});

/** Returns the labels with these ids. */
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

/** Returns all labels of a decision, oldest first. */
export async function listLabels(db: Queryable, workspace_id: string, decision_id: string): Promise<Label[]> {
  const result = await db.query<Label & { workspace_id: string }>({
    name: 'list_labels',
    text: `select ${COLUMNS} from labels where workspace_id = $1 and decision_id = $2 and decision_id <> ''
      order by label_id`,
    values: [workspace_id, decision_id],
  });
  return result.rows;
}

/** Returns the links between the labels of these decisions, which tell which labels are current. */
export async function loadLabelsOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>>[]> {
  const result = await db.query<InWorkspace<Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>>>({
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

/** Returns the labels of these decisions with their times, in the order in which they were recorded. */
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
