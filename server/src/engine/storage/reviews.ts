import type { ReviewRow } from '@purser/rules/domain/reviews';
import type { Queryable } from './database.ts';
import { type InWorkspace, makeInsert } from './rows.ts';

const COLUMNS = `review_id, decision_id, action, reason_code, comment, supersedes, principal_id, key_id, created_at,
  capability_expires_at, by_key_maker, questions, remember, on_behalf_of, voice, via, signature`;

export const insertReviews = makeInsert<ReviewRow>('reviews', {
  review_id: 'text',
  decision_id: 'text',
  action: 'text',
  reason_code: 'text',
  comment: 'text',
  supersedes: 'text',
  principal_id: 'text',
  key_id: 'text',
  created_at: 'timestamptz',
  capability_expires_at: 'timestamptz',
  by_key_maker: 'boolean',
  questions: 'words',
  remember: 'text',
  on_behalf_of: 'text',
  voice: 'text',
  via: 'text',
  signature: 'text',
});

/** Returns the reviews with these ids. */
export async function loadReviews(
  db: Queryable,
  workspace_id: string,
  review_ids: readonly string[],
): Promise<ReviewRow[]> {
  const result = await db.query<ReviewRow & { workspace_id: string }>({
    name: 'load_reviews',
    text: `select ${COLUMNS} from reviews where workspace_id = $1 and review_id = any($2)`,
    values: [workspace_id, review_ids],
  });
  return result.rows;
}

/** Returns all reviews of these decisions in any workspaces, in the order in which they were recorded. */
export async function loadEarlierReviews(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<ReviewRow>[]> {
  const result = await db.query<InWorkspace<ReviewRow>>({
    name: 'load_earlier_reviews',
    text: `select r.workspace_id, ${COLUMNS.replaceAll(/(\w+)/g, 'r.$1')}
      from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      join reviews r on r.workspace_id = w.workspace_id and r.decision_id = w.decision_id and r.decision_id <> ''
      order by r.review_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns all reviews of these decisions, in the order in which they were recorded. */
export async function loadReviewsOfDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<ReviewRow[]> {
  const result = await db.query<ReviewRow & { workspace_id: string }>({
    name: 'load_reviews_of_decisions',
    text: `select ${COLUMNS} from reviews
      where workspace_id = $1 and decision_id = any($2) and decision_id <> '' order by review_id`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}
