import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { ReviewPolicyRow } from '@purser/rules/domain/workspace';
import { NO_REVIEW_POLICY } from '@purser/rules/reviews/review-policy';
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../database.ts';
import { type PageRows, pageRows, type SizedRow, withinBytes } from '../pages.ts';
import { type InWorkspace, makeInsert } from '../rows.ts';

const COLUMNS = 'version, hash, policy, created_at, key_id, principal_id, note, seq, signature';
/** The total length of all parsed texts that are kept. */
const MAX_PARSED_CHARACTERS = 8_000_000;

/** Parsed policies by hash, which names the content, so none becomes stale. */
const parsed = new LRUCache<string, ReviewPolicy>({ max: 10_000, maxSize: MAX_PARSED_CHARACTERS });

/** Parses the policy of a row. Equal rows may return the same object, which must not be changed. Throws SyntaxError. */
export function parseReviewPolicy(row: Pick<ReviewPolicyRow, 'hash' | 'policy'>): ReviewPolicy {
  const known = parsed.get(row.hash);
  if (known !== undefined) return known;
  const policy = JSON.parse(row.policy) as ReviewPolicy;
  parsed.set(row.hash, policy, { size: row.policy.length });
  return policy;
}

/** Returns the policy in force of each of these workspaces; version 0 where none was ever put. */
export async function loadReviewPolicies(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<ReviewPolicyRow>[]> {
  const result = await db.query<InWorkspace<ReviewPolicyRow>>({
    name: 'load_review_policies',
    text: `select p.* from unnest($1::text[]) as w(workspace_id)
      cross join lateral (
        select workspace_id, ${COLUMNS} from review_policies
        where workspace_id = w.workspace_id order by version desc limit 1) as p`,
    values: [workspace_ids],
  });
  const found = new Map(result.rows.map((row) => [row.workspace_id, row]));
  return workspace_ids.map(
    (workspace_id) => found.get(workspace_id) ?? { workspace_id, ...NO_REVIEW_POLICY },
  );
}

/** Returns these versions of workspaces' policies; unknown ones are left out. */
export async function loadReviewPolicyVersions(
  db: Queryable,
  wanted: readonly InWorkspace<{ version: number }>[],
): Promise<InWorkspace<ReviewPolicyRow>[]> {
  const result = await db.query<InWorkspace<ReviewPolicyRow>>({
    name: 'load_review_policy_versions',
    text: `select p.workspace_id, ${COLUMNS.replaceAll(/(\w+)/g, 'p.$1')}
      from unnest($1::text[], $2::integer[]) as w(workspace_id, version)
      join review_policies p on p.workspace_id = w.workspace_id and p.version = w.version`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.version)],
  });
  return result.rows;
}

/** Returns one version of a workspace's policy, or the newest; version 0 where none was ever put. */
export async function getReviewPolicy(
  db: Queryable,
  workspace_id: string,
  version: number | null,
): Promise<ReviewPolicyRow | undefined> {
  if (version === 0) return NO_REVIEW_POLICY;
  const rows =
    version === null
      ? await loadReviewPolicies(db, [workspace_id])
      : await loadReviewPolicyVersions(db, [{ workspace_id, version }]);
  return rows[0];
}

/** Returns a page of a workspace's versions, newest first, before `before`: `limit` of them, or about a megabyte. */
export async function listReviewPolicies(
  db: Queryable,
  workspace_id: string,
  page: { before: number | null; limit: number },
): Promise<PageRows<ReviewPolicyRow>> {
  const result = await db.query<ReviewPolicyRow & SizedRow>({
    name: 'list_review_policies',
    text: withinBytes(
      `select ${COLUMNS} from review_policies where workspace_id = $1
        and ($2::integer is null or version < $2) order by version desc limit $3`,
      { size: 'octet_length(policy)', order: 'version desc' },
    ),
    values: [workspace_id, page.before, page.limit + 1],
  });
  return pageRows(result.rows, page.limit, ({ found, bytes_before, ...row }) => row);
}

/** Returns a page of a workspace's versions for verification, in their order. */
export async function listAllReviewPolicies(
  db: Queryable,
  workspace_id: string,
  page: { after: number; limit: number },
): Promise<ReviewPolicyRow[]> {
  const result = await db.query<ReviewPolicyRow & { workspace_id: string }>({
    name: 'list_all_review_policies',
    text: `select ${COLUMNS} from review_policies where workspace_id = $1 and version > $2 order by version limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns all versions of a workspace's policy with their places in the chain, ascending. */
export async function listReviewPolicyPlaces(
  db: Queryable,
  workspace_id: string,
): Promise<{ version: number; seq: number }[]> {
  const result = await db.query<{ version: number; seq: number }>({
    name: 'list_review_policy_places',
    text: 'select version, seq from review_policies where workspace_id = $1 order by seq',
    values: [workspace_id],
  });
  return result.rows;
}

/** Returns the stored signatures of the versions that these events seal, by `seq`; those whose row is gone are left out. */
export async function loadPolicySignatures(
  db: Queryable,
  workspace_id: string,
  seqs: readonly number[],
): Promise<Map<number, string | null>> {
  if (seqs.length === 0) return new Map();
  const result = await db.query<{ seq: number; signature: string | null }>({
    name: 'load_policy_signatures',
    text: 'select seq, signature from review_policies where workspace_id = $1 and seq = any($2::bigint[])',
    values: [workspace_id, seqs],
  });
  return new Map(result.rows.map(({ seq, signature }) => [seq, signature]));
}

export const insertReviewPolicies = makeInsert<ReviewPolicyRow>('review_policies', {
  version: 'integer',
  hash: 'text',
  policy: 'text',
  created_at: 'timestamptz',
  key_id: 'text',
  principal_id: 'text',
  note: 'text',
  seq: 'bigint',
  signature: 'text',
});
