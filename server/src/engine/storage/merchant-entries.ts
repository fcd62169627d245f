import {
  type Directory,
  directoryAt,
  EMPTY_DIRECTORY,
  type MerchantEntry,
} from '@purser/rules/merchants/directory';
import type { Queryable } from './database.ts';
import type { SortedPage } from './pages.ts';
import { type InWorkspace, makeInsert } from './rows.ts';

const COLUMNS = `m.entry_id, m.agent_id, m.merchant, m.payee_ids, m.verdict, m.note, m.listed_in, m.unlisted_in, m.created_at,
  m.unlisted_at, m.key_id, m.principal_id`;

/** Returns the entries in force of these agents, given by id or slug. */
export async function findListedMerchants(
  db: Queryable,
  wanted: readonly InWorkspace<{ ref: string }>[],
): Promise<InWorkspace<MerchantEntry>[]> {
  const result = await db.query<InWorkspace<MerchantEntry>>({
    name: 'find_listed_merchants',
    text: `select m.* from unnest($1::text[], $2::text[]) as w(workspace_id, ref)
      cross join lateral (
        select agent_id from agents where workspace_id = w.workspace_id and agent_id = w.ref
        union all
        select agent_id from agents where workspace_id = w.workspace_id and slug = w.ref) as a
      cross join lateral (
        select workspace_id, ${COLUMNS} from merchant_entries m
        where workspace_id = w.workspace_id and agent_id = a.agent_id and unlisted_in is null) as m`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.ref)],
  });
  return result.rows;
}

/** Returns entries by id, unlisted ones included; unknown ones are left out. */
export async function loadMerchantEntries(
  db: Queryable,
  wanted: readonly InWorkspace<{ entry_id: string }>[],
): Promise<InWorkspace<MerchantEntry>[]> {
  const result = await db.query<InWorkspace<MerchantEntry>>({
    name: 'load_merchant_entries',
    text: `select m.workspace_id, ${COLUMNS} from unnest($1::text[], $2::text[]) as w(workspace_id, entry_id)
      join merchant_entries m on m.workspace_id = w.workspace_id and m.entry_id = w.entry_id`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.entry_id)],
  });
  return result.rows;
}

/** Returns a page of an agent's entries in force, newest first unless it is sorted otherwise. */
export async function listMerchantEntries(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  page: SortedPage<'created_at' | 'merchant'>,
): Promise<MerchantEntry[]> {
  const { sort = 'created_at', order = 'desc' } = page;
  // An agent has so few entries that they are sorted by name without an index.
  const columns = (of: string) =>
    sort === 'merchant' ? [`lower(${of}.merchant)`, `${of}.entry_id`] : [`${of}.entry_id`];
  const result = await db.query<MerchantEntry>({
    name: `list_merchant_entries_${sort}_${order}`,
    text: `select ${COLUMNS} from merchant_entries m
      where workspace_id = $1 and agent_id = $2 and unlisted_in is null
        and ($3::text is null or row(${columns('m').join(', ')}) ${order === 'asc' ? '>' : '<'}
          (select ${columns('a').join(', ')} from merchant_entries a where workspace_id = $1 and entry_id = $3))
      order by ${columns('m')
        .map((column) => `${column} ${order}`)
        .join(', ')} limit $4`,
    values: [workspace_id, agent_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns a page of all entries of a workspace, unlisted ones included, after `after`, in the order of their ids. */
export async function listAllMerchantEntries(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<MerchantEntry[]> {
  const result = await db.query<MerchantEntry>({
    name: 'list_all_merchant_entries',
    text: `select ${COLUMNS} from merchant_entries m where workspace_id = $1 and entry_id > $2 order by entry_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Returns an agent's directory as it is now: its version and its entries are of one moment. */
export async function loadDirectory(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
): Promise<Directory> {
  const result = await db.query<MerchantEntry & { directory_version: number; entry_id: string | null }>({
    name: 'load_directory',
    text: `select a.directory_version, ${COLUMNS} from agents a
      left join merchant_entries m
        on m.workspace_id = $1 and m.agent_id = a.agent_id and m.unlisted_in is null
      where a.workspace_id = $1 and a.agent_id = $2 order by m.entry_id`,
    values: [workspace_id, agent_id],
  });
  const version = result.rows[0]?.directory_version ?? 0;
  if (version === 0) return EMPTY_DIRECTORY;
  const entries = result.rows.filter((row) => row.entry_id !== null);
  return directoryAt(
    version,
    entries.map(({ directory_version, ...entry }) => entry),
  );
}

/** The newest of those that were unlisted; what was unlisted before them counts as if it had never been listed. */
const MAX_UNLISTED = 10_000;

/** Returns an agent's entries, for `directoryAt`: those in force, and those that were unlisted last. */
export async function loadEntriesOfAgent(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
): Promise<MerchantEntry[]> {
  const result = await db.query<MerchantEntry>({
    name: 'load_entries_of_agent',
    text: `(select ${COLUMNS} from merchant_entries m
        where workspace_id = $1 and agent_id = $2 and unlisted_in is null)
      union all
      (select ${COLUMNS} from merchant_entries m
        where workspace_id = $1 and agent_id = $2 and unlisted_in is not null
        order by unlisted_in desc limit ${MAX_UNLISTED})`,
    values: [workspace_id, agent_id],
  });
  return result.rows.sort((a, b) => (a.entry_id < b.entry_id ? -1 : 1));
}

/** Inserts entries and updates those that were unlisted. */
export const putMerchantEntries = makeInsert<MerchantEntry>(
  'merchant_entries',
  {
    entry_id: 'text',
    agent_id: 'text',
    merchant: 'text',
    payee_ids: 'words',
    verdict: 'text',
    note: 'text',
    listed_in: 'integer',
    unlisted_in: 'integer',
    created_at: 'timestamptz',
    unlisted_at: 'timestamptz',
    key_id: 'text',
    principal_id: 'text',
  },
  { conflict: ['entry_id'], update: ['unlisted_in', 'unlisted_at'] },
);
