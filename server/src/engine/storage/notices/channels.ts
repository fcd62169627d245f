import { FAILING_AFTER } from '@purser/contract/values/channels';
import type { Channel, ChannelHealth } from '@purser/rules/notices/channels';
import type { Client, Queryable } from '../database.ts';
import { type InWorkspace, makeInsert, mapParts, type WorkspaceRows } from '../rows.ts';

const COLUMNS = `channel_id, name, type, status, disabled_reason, target, sealed_settings, settings_hash, filter,
  quiet_hours, show_claims, created_at, updated_at`;

/** Returns all channels of these workspaces, disabled ones included, oldest first within each workspace. */
export async function loadChannelsOf(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<Channel>[]> {
  const result = await db.query<InWorkspace<Channel>>({
    name: 'load_channels_of',
    text: `select c.* from unnest($1::text[]) as w(workspace_id)
      cross join lateral (
        select workspace_id, ${COLUMNS} from channels where workspace_id = w.workspace_id
        order by channel_id) as c`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** A channel with the results of its attempts; null before the first. */
export interface ChannelWithHealth {
  channel: Channel;
  health: ChannelHealth | null;
}

/** Returns a page of channels, newest first; `only` narrows it to one. */
export async function listChannels(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number; only?: string },
): Promise<ChannelWithHealth[]> {
  type Row = Channel & Omit<ChannelHealth, 'failures'> & { workspace_id: string; failures: number | null };
  const result = await db.query<Row>({
    name: 'list_channels',
    text: `select c.*, h.failures, h.last_success_at, h.failing_since, h.last_error
      from (select workspace_id, ${COLUMNS} from channels
        where workspace_id = $1 and ($2::text is null or channel_id < $2) and ($4::text is null or channel_id = $4)
        order by channel_id desc limit $3) as c
      left join channel_health h on h.workspace_id = $1 and h.channel_id = c.channel_id
      order by c.channel_id desc`,
    values: [workspace_id, page.after, page.limit, page.only ?? null],
  });
  return result.rows.map(
    ({ workspace_id: _, failures, last_success_at, failing_since, last_error, ...channel }) => ({
      channel,
      health: failures === null ? null : { failures, last_success_at, failing_since, last_error },
    }),
  );
}

type StoredChannel = Omit<Channel, 'filter' | 'quiet_hours'> & {
  filter: string | null;
  quiet_hours: string | null;
};

const put = makeInsert<StoredChannel>(
  'channels',
  {
    channel_id: 'text',
    name: 'text',
    type: 'text',
    status: 'text',
    disabled_reason: 'text',
    target: 'text',
    sealed_settings: 'text',
    settings_hash: 'text',
    filter: 'json',
    quiet_hours: 'json',
    show_claims: 'boolean',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  {
    conflict: ['channel_id'],
    update: [
      'name',
      'status',
      'disabled_reason',
      'target',
      'sealed_settings',
      'settings_hash',
      'filter',
      'quiet_hours',
      'show_claims',
      'updated_at',
    ],
  },
);

const jsonOf = (value: object | null) => (value === null ? null : JSON.stringify(value));

/** Inserts new channels and updates existing ones. */
export function putChannels(client: Client, parts: readonly WorkspaceRows<Channel>[]): Promise<unknown> {
  return put(
    client,
    mapParts(parts, (channel) => ({
      ...channel,
      filter: jsonOf(channel.filter),
      quiet_hours: jsonOf(channel.quiet_hours),
    })),
  );
}

/** Deletes channels, their settings and health. The worker ends their notices. */
export function deleteChannels(client: Client, parts: readonly WorkspaceRows<string>[]): Promise<unknown> {
  const gone = parts.flatMap(({ workspace_id, rows }) => rows.map((id) => ({ workspace_id, id })));
  return client.query({
    name: 'delete_channels',
    text: `with r as (select * from unnest($1::text[], $2::text[]) as r(workspace_id, channel_id)),
      unwatched as (
        delete from channel_health h using r where h.workspace_id = r.workspace_id and h.channel_id = r.channel_id)
      delete from channels c using r where c.workspace_id = r.workspace_id and c.channel_id = r.channel_id`,
    values: [gone.map((each) => each.workspace_id), gone.map((each) => each.id)],
  });
}

/** Counts the channels of all workspaces that fail, or that the service disabled. */
export async function countFailingChannels(db: Queryable): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_failing_channels',
    text: `select count(c.workspace_id) as count from channels c
      left join channel_health h on h.workspace_id = c.workspace_id and h.channel_id = c.channel_id
      where (c.status = 'active' and h.failures >= ${FAILING_AFTER}) or c.disabled_reason <> 'REQUESTED'`,
  });
  return result.rows[0]?.count ?? 0;
}
