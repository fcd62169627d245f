import type { Logger } from 'pino';
import type { Queryable } from '../../engine/storage/database.ts';
import { parseSettings } from '../notices/settings.ts';
import type { SlackApi } from './slack-api.ts';
import { type HeldChannel, leaseSlackChannels, releaseSlackChannels } from './slack-rows.ts';
import { openSlackSocket, type SlackSocket, type SocketTimes } from './socket-mode.ts';

/** A lease lasts this long. A worker that dies leaves its channels to others by then. */
const LEASE_MS = 15_000;

export interface SlackConnectionsOptions {
  db: Queryable;
  api: SlackApi;
  /** The name of this worker among all that share the database. */
  worker: string;
  openSecret: (workspace_id: string, sealed: string) => string;
  onInteraction: (payload: unknown, app_token: string) => Promise<void>;
  log: Logger;
  times?: SocketTimes;
}

interface Held {
  app_token: string;
  socket: SlackSocket;
}

/** The connections to Slack of the channels whose leases this worker holds: one for each channel on all nodes together. */
export class SlackConnections {
  readonly #options: SlackConnectionsOptions;
  readonly #held = new Map<string, Held>();

  constructor(options: SlackConnectionsOptions) {
    this.#options = options;
  }

  /** Takes leases that are free, connects what is new, and ends what is not held any more. */
  async round(): Promise<void> {
    const { db, worker } = this.#options;
    const channels = await leaseSlackChannels(db, worker, LEASE_MS);
    const names = new Set(channels.map(nameOf));
    const ended = [...this.#held].filter(([name]) => !names.has(name));
    for (const [name] of ended) this.#held.delete(name);
    for (const channel of channels) await this.#hold(channel);
    await Promise.all(ended.map(([, { socket }]) => socket.stop()));
  }

  /** Closes every connection and gives the leases back. */
  async stop(): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(held.map(({ socket }) => socket.stop()));
    await releaseSlackChannels(this.#options.db, this.#options.worker);
  }

  async #hold(channel: HeldChannel): Promise<void> {
    const { api, openSecret, onInteraction, log, times } = this.#options;
    const { workspace_id, channel_id, sealed_settings } = channel;
    const name = nameOf(channel);
    const before = this.#held.get(name);
    let app_token: string | undefined;
    try {
      app_token = parseSettings(openSecret(workspace_id, sealed_settings)).app_token;
    } catch (error) {
      log.error({ err: error, workspace_id, channel_id }, 'the settings of a channel could not be read');
    }
    if (app_token === undefined || before?.app_token === app_token) return;
    const token = app_token;
    const socket = openSlackSocket({
      api,
      app_token,
      onInteraction: (payload) => onInteraction(payload, token),
      log: log.child({ workspace_id, channel_id }),
      ...(times === undefined ? {} : { times }),
    });
    this.#held.set(name, { app_token, socket });
    await before?.socket.stop();
  }
}

const nameOf = ({ workspace_id, channel_id }: HeldChannel) => `${workspace_id} ${channel_id}`;
