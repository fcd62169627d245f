import type {
  Channel,
  ChannelPage,
  ChannelTest,
  CreateChannelRequest,
  NewChannel,
  NotificationSettings,
  NotificationSettingsRequest,
  UpdateChannelRequest,
} from '@purser/sdk';
import type { PlainPage } from '../lib/pages.ts';
import { purser } from './client.ts';
import type { PageQuery } from './lists.ts';

/** A workspace has at most 20 channels. */
const MAX_CHANNELS = 20;

/** Channels and notices. Only this console needs them, so the client library has no methods for them. */
export const channels = {
  list: async () =>
    (await purser.request<ChannelPage>('GET', '/v1/channels', { query: { limit: MAX_CHANNELS } })).data,
  create: (body: CreateChannelRequest) => purser.request<NewChannel>('POST', '/v1/channels', { body }),
  update: (id: string, body: UpdateChannelRequest) =>
    purser.request<Channel>('PATCH', `/v1/channels/${id}`, { body }),
  delete: (id: string) => purser.request<void>('DELETE', `/v1/channels/${id}`),
  test: (id: string) => purser.request<ChannelTest>('POST', `/v1/channels/${id}/test`),
};

/** The workspace's channels. Administrators only. */
export const channelsQuery = { queryKey: ['channels'], queryFn: channels.list };

/** A page of notices. */
export const listNotices = <Notice>(query: object, page: PageQuery) =>
  purser.request<PlainPage<Notice>>('GET', '/v1/notices', { query: { ...query, ...page } });

export const mySettings = {
  get: async () => purser.request<NotificationSettings>('GET', '/v1/me/notifications'),
  put: (body: NotificationSettingsRequest) =>
    purser.request<NotificationSettings>('PUT', '/v1/me/notifications', { body }),
};
