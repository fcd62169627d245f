import type { Allowance } from '@purser/rules/counters/allowances';
import type { Queryable } from '../storage/database.ts';
import { type Columns, type InWorkspace, makeInsert } from '../storage/rows.ts';

const COLUMNS: Columns<Allowance> = {
  allowance_id: 'text',
  agent_id: 'text',
  budget_id: 'text',
  parent_id: 'text',
  path: 'words',
  currency: 'text',
  amount_minor: 'bigint',
  period: 'text',
  time_zone: 'text',
  per_spend_limit_minor: 'bigint',
  max_count: 'bigint',
  expires_at: 'timestamptz',
  status: 'text',
  terms: 'text',
  vouches: 'boolean',
  automatic: 'boolean',
  name: 'text',
  external_id: 'text',
  body_hash: 'text',
  source: 'text',
  created_at: 'timestamptz',
  created_by_key_id: 'text',
  created_by_principal_id: 'text',
  made_by_agent: 'boolean',
  issuer_id: 'text',
  decide_by: 'timestamptz',
  request: 'text',
  decided: 'text',
  revoked: 'text',
  told_period: 'timestamptz',
  told_percent: 'integer',
};
/** The columns of an allowance `a`. */
export const ALLOWANCE_COLUMNS = Object.keys(COLUMNS)
  .map((name) => `a.${name}`)
  .join(', ');

/** A label of an allowance, by which it is found. */
export interface AllowanceLabel {
  key: string;
  value: string;
  allowance_id: string;
}

/** A decision that was made under an allowance, or under one below it. */
export interface AllowanceUse {
  allowance_id: string;
  decision_id: string;
}

/** An external id with the key, or else the person, that gave it: each of these has ids of its own. */
export interface ExternalId {
  maker: string;
  external_id: string;
}

/** Returns allowances by id; unknown ones are left out. */
export async function loadAllowances(
  db: Queryable,
  wanted: readonly InWorkspace<{ allowance_id: string }>[],
): Promise<InWorkspace<Allowance>[]> {
  const result = await db.query<InWorkspace<Allowance>>({
    name: 'load_allowances',
    text: `select a.workspace_id, ${ALLOWANCE_COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, allowance_id)
      join allowances a on a.workspace_id = w.workspace_id and a.allowance_id = w.allowance_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.allowance_id)],
  });
  return result.rows;
}

/** Returns these allowances and all above them. */
export async function loadChains(
  db: Queryable,
  workspace_id: string,
  allowance_ids: readonly string[],
): Promise<Map<string, Allowance>> {
  const result = await db.query<InWorkspace<Allowance>>({
    name: 'load_chains',
    text: `select ${ALLOWANCE_COLUMNS} from allowances a where a.workspace_id = $1 and a.allowance_id in (
      select unnest(n.path) from allowances n where n.workspace_id = $1 and n.allowance_id = any($2))`,
    values: [workspace_id, allowance_ids],
  });
  return new Map(result.rows.map((row) => [row.allowance_id, row]));
}

/** Returns the allowances that these decisions count in. */
export async function loadAllowancesOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<Allowance>[]> {
  const result = await db.query<InWorkspace<Allowance>>({
    name: 'load_allowances_of_decisions',
    text: `select a.workspace_id, ${ALLOWANCE_COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      join allowance_decisions d on d.workspace_id = w.workspace_id and d.decision_id = w.decision_id
      join allowances a on a.workspace_id = w.workspace_id and a.allowance_id = d.allowance_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns the allowances that these makers made with these external ids. */
export async function loadByExternalIds(
  db: Queryable,
  wanted: readonly InWorkspace<ExternalId>[],
): Promise<InWorkspace<Allowance>[]> {
  const result = await db.query<InWorkspace<Allowance>>({
    name: 'load_by_external_ids',
    text: `select a.workspace_id, ${ALLOWANCE_COLUMNS}
      from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, maker, external_id)
      join allowances a on a.workspace_id = w.workspace_id and a.external_id = w.external_id and a.external_id <> ''
        and coalesce(a.created_by_key_id, a.created_by_principal_id) = w.maker`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.maker),
      wanted.map((each) => each.external_id),
    ],
  });
  return result.rows;
}

/** The condition that an allowance `a` is a standing approval in force, or a request that nobody has decided. */
const WAITS_OR_STANDS = `((a.automatic and a.status = 'OPEN' and a.expires_at > clock_timestamp())
  or (a.status = 'REQUESTED' and a.decide_by > clock_timestamp()))`;

/** Returns the standing approvals in force of these agents, by id or slug, and their undecided requests. */
export async function loadAllowancesOfAgents(
  db: Queryable,
  wanted: readonly InWorkspace<{ ref: string }>[],
): Promise<InWorkspace<Allowance>[]> {
  const result = await db.query<InWorkspace<Allowance>>({
    name: 'load_allowances_of_agents',
    text: `select a.workspace_id, ${ALLOWANCE_COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, ref)
      join agents g on g.workspace_id = w.workspace_id and (g.agent_id = w.ref or g.slug = w.ref)
      join allowances a on a.workspace_id = w.workspace_id and a.agent_id = g.agent_id and ${WAITS_OR_STANDS}`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.ref)],
  });
  return result.rows;
}

/** The standing approvals of an agent at a version of them. */
export interface StandingApprovals {
  version: number;
  /** Those in force when they were read, the one that expires first in front. */
  allowances: readonly Allowance[];
}

/** Returns the standing approvals of an agent as they are now. */
export async function loadStandingApprovals(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
): Promise<StandingApprovals> {
  const result = await db.query<Allowance & { workspace_id: string; version: number }>({
    name: 'load_standing_approvals',
    text: `select g.allowances_version as version, ${ALLOWANCE_COLUMNS} from agents g
      left join allowances a on a.workspace_id = g.workspace_id and a.agent_id = g.agent_id and a.automatic
        and a.status = 'OPEN' and a.expires_at > clock_timestamp()
      where g.workspace_id = $1 and g.agent_id = $2 order by a.expires_at, a.allowance_id`,
    values: [workspace_id, agent_id],
  });
  const allowances = result.rows.filter(({ allowance_id }) => allowance_id !== null);
  return {
    version: result.rows[0]?.version ?? 0,
    allowances: allowances.map(({ workspace_id: _known, version: _same, ...allowance }) => allowance),
  };
}

/** Returns how many open allowances that agents made are below each of these, which have none above. */
export async function countOpenBelow(
  db: Queryable,
  wanted: readonly InWorkspace<{ root_id: string }>[],
): Promise<InWorkspace<{ root_id: string; count: number }>[]> {
  const result = await db.query<InWorkspace<{ root_id: string; count: number }>>({
    name: 'count_open_below',
    text: `select w.workspace_id, w.root_id, count(a.allowance_id) as count
      from unnest($1::text[], $2::text[]) as w(workspace_id, root_id)
      left join allowances a on a.workspace_id = w.workspace_id and a.path[cardinality(a.path)] = w.root_id
        and a.made_by_agent and a.status = 'OPEN' and a.expires_at > clock_timestamp()
      group by w.workspace_id, w.root_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.root_id)],
  });
  return result.rows;
}

/** Inserts allowances and updates those that were changed; what is fixed for good stays as it is. */
export const putAllowances = makeInsert<Allowance>('allowances', COLUMNS, {
  conflict: ['allowance_id'],
  update: [
    'amount_minor',
    'per_spend_limit_minor',
    'max_count',
    'expires_at',
    'status',
    'terms',
    'vouches',
    'name',
    'decided',
    'revoked',
    'told_period',
    'told_percent',
  ],
});

/** Inserts the labels of new allowances. */
export const insertAllowanceLabels = makeInsert<AllowanceLabel>('allowance_labels', {
  key: 'text',
  value: 'text',
  allowance_id: 'text',
});

/** Inserts which decisions count in which allowances. */
export const insertAllowanceUses = makeInsert<AllowanceUse>('allowance_decisions', {
  allowance_id: 'text',
  decision_id: 'text',
});

/** Returns a page of all allowances of a workspace, in the order of their making. */
export async function listAllowances(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<Allowance[]> {
  const result = await db.query<Allowance & { workspace_id: string }>({
    name: 'list_all_allowances',
    text: `select ${ALLOWANCE_COLUMNS} from allowances a where a.workspace_id = $1 and a.allowance_id > $2
      order by a.allowance_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns the labels of these allowances. */
export async function listLabels(
  db: Queryable,
  workspace_id: string,
  allowance_ids: readonly string[],
): Promise<AllowanceLabel[]> {
  const result = await db.query<AllowanceLabel & { workspace_id: string }>({
    name: 'list_allowance_labels',
    text: `select key, value, allowance_id from allowance_labels where workspace_id = $1 and allowance_id = any($2)`,
    values: [workspace_id, allowance_ids],
  });
  return result.rows;
}

/** Returns the allowances that these decisions are noted to have been made under. */
export async function listUses(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<AllowanceUse[]> {
  const result = await db.query<AllowanceUse & { workspace_id: string }>({
    name: 'list_allowance_uses',
    text: `select allowance_id, decision_id from allowance_decisions where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** Returns every agent of a workspace with the version of its standing approvals, and the ids of all that it ever had. */
export async function listStandingOfAgents(
  db: Queryable,
  workspace_id: string,
): Promise<{ agent_id: string; version: number; allowance_ids: string[] }[]> {
  const result = await db.query<{
    workspace_id: string;
    agent_id: string;
    version: number;
    allowance_ids: string[];
  }>({
    name: 'list_standing_of_agents',
    text: `select g.agent_id, g.allowances_version as version,
        coalesce(array_agg(a.allowance_id) filter (where a.allowance_id is not null), '{}') as allowance_ids
      from agents g
      left join allowances a on a.workspace_id = g.workspace_id and a.agent_id = g.agent_id and a.automatic
      where g.workspace_id = $1 group by g.agent_id, g.allowances_version
      having g.allowances_version <> 0 or count(a.allowance_id) > 0`,
    values: [workspace_id],
  });
  return result.rows;
}
