import type { LinkStatus } from '@purser/contract/sharing/links';
import type { DecisionLinkRow } from '@purser/rules/sharing/decision-link';
import type { Queryable } from '../storage/database.ts';
import { IS_ACTIVE } from '../storage/members.ts';
import { type InWorkspace, makeInsert } from '../storage/rows.ts';

const COLUMNS = `l.link_id, l.decision_id, l.token_digest, l.key_id, l.principal_id, l.made_by_person, l.created_at,
  l.expires_at, l.revoked_at`;

/** Selects the status of a link `l` by the database's clock, whatever became of the person who made it. */
const STATUS = `case
  when l.revoked_at is not null then 'revoked'
  when l.expires_at <= clock_timestamp() then 'expired'
  when l.key_id is not null and not exists (
    select 1 from api_keys k where k.workspace_id = l.workspace_id and k.key_id = l.key_id and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > clock_timestamp())) then 'ended'
  else 'active' end as status`;

/** A link, and whether it opens. */
export interface LinkWithStatus {
  link: DecisionLinkRow;
  status: LinkStatus;
}

/** Links of a workspace with their status: one whose maker may review no more has ended. */
async function withStatus(
  db: Queryable,
  workspace_id: string,
  rows: readonly (DecisionLinkRow & { status: LinkStatus })[],
): Promise<LinkWithStatus[]> {
  const makers = rows.flatMap(({ made_by_person }) => made_by_person ?? []);
  const found =
    makers.length === 0
      ? []
      : (
          await db.query<{ principal_id: string }>({
            name: 'find_makers_of_links',
            text: `select m.principal_id from members m join users u on u.user_id = m.user_id
              where m.workspace_id = $1 and m.principal_id = any($2) and ${IS_ACTIVE}
                and m.role in ('admin', 'reviewer') and u.disabled_at is null`,
            values: [workspace_id, makers],
          })
        ).rows;
  const may = new Set(found.map(({ principal_id }) => principal_id));
  return rows.map(({ status, ...link }) => {
    const is_left = link.made_by_person !== null && !may.has(link.made_by_person);
    return { link, status: status === 'active' && is_left ? 'ended' : status };
  });
}

/** Returns links by id; unknown ones are left out. */
export async function loadDecisionLinks(
  db: Queryable,
  wanted: readonly InWorkspace<{ link_id: string }>[],
): Promise<InWorkspace<DecisionLinkRow>[]> {
  const result = await db.query<InWorkspace<DecisionLinkRow>>({
    name: 'load_decision_links',
    text: `select l.workspace_id, ${COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, link_id)
      join decision_links l on l.workspace_id = w.workspace_id and l.link_id = w.link_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.link_id)],
  });
  return result.rows;
}

/** Returns one link, or undefined if the workspace has none of this id. */
export async function findDecisionLink(
  db: Queryable,
  workspace_id: string,
  link_id: string,
): Promise<LinkWithStatus | undefined> {
  const result = await db.query<DecisionLinkRow & { status: LinkStatus }>({
    name: 'find_decision_link',
    text: `select ${COLUMNS}, ${STATUS} from decision_links l where workspace_id = $1 and link_id = $2`,
    values: [workspace_id, link_id],
  });
  return (await withStatus(db, workspace_id, result.rows))[0];
}

/** Returns a page of the links of one decision, newest first. */
export async function listLinksOfDecision(
  db: Queryable,
  workspace_id: string,
  decision_id: string,
  page: { after: string | null; limit: number },
): Promise<LinkWithStatus[]> {
  const result = await db.query<DecisionLinkRow & { status: LinkStatus }>({
    name: 'list_links_of_decision',
    text: `select ${COLUMNS}, ${STATUS} from decision_links l
      where workspace_id = $1 and decision_id = $2 and ($3::text is null or link_id < $3)
      order by link_id desc limit $4`,
    values: [workspace_id, decision_id, page.after, page.limit],
  });
  return withStatus(db, workspace_id, result.rows);
}

/** Returns a page of all links of a workspace for verification, in the order of their ids. */
export async function listAllDecisionLinks(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<DecisionLinkRow[]> {
  const result = await db.query<DecisionLinkRow>({
    name: 'list_all_decision_links',
    text: `select ${COLUMNS} from decision_links l where workspace_id = $1 and link_id > $2 order by link_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Inserts links and updates those that were revoked. */
export const putDecisionLinks = makeInsert<DecisionLinkRow>(
  'decision_links',
  {
    link_id: 'text',
    decision_id: 'text',
    token_digest: 'bytea',
    key_id: 'text',
    principal_id: 'text',
    made_by_person: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    revoked_at: 'timestamptz',
  },
  { conflict: ['link_id'], update: ['revoked_at'] },
);
