import type { ReviewRow } from '@purser/rules/domain/reviews';
import type { Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

const COLUMNS = `review_id, decision_id, action, reason_code, comment, supersedes, principal_id, key_id, created_at,
  capability_expires_at, by_key_maker, questions, remember`;

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
