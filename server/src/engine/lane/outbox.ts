import type { WebhookEventType } from '@purser/contract/values/webhooks';
import {
  eventPayload,
  takes,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
} from '@purser/rules/domain/webhooks';
import type { Channel } from '@purser/rules/notices/channels';
import type { NotifiedPerson } from '@purser/rules/notices/people';
import { type NoticeRecipient, recipientOf } from '@purser/rules/notices/recipients';
import type { NewId } from '@purser/rules/values/ids';
import type { NoticeBurst } from '../storage/notices/notices.ts';
import type { LastDigest } from '../storage/notices/people.ts';
import type { QueueChange } from '../storage/webhooks.ts';
import { Notices } from './notices.ts';

/** The rows about webhooks that a batch writes. */
export interface OutboxChanges {
  endpoints: Map<string, WebhookEndpoint>;
  deleted: Set<string>;
  events: WebhookEvent[];
  /** By endpoint and event, so that one batch sends an event to an endpoint only once. */
  deliveries: Map<string, WebhookDelivery>;
  queues: Map<string, QueueChange>;
  channels: Map<string, Channel>;
  deleted_channels: Set<string>;
}

/** A batch's workspace as the outbox needs it. */
export interface OutboxFound {
  /** The batch timestamp. */
  now: string;
  /** The time of the batch in the chain, ms. */
  order_ms: number;
  newId: NewId;
  loaded: {
    webhooks: readonly WebhookEndpoint[];
    channels: readonly Channel[];
    notice_bursts: readonly NoticeBurst[];
    notified_people: readonly NotifiedPerson[];
    last_digests: readonly LastDigest[];
  };
}

/**
 * The webhook endpoints and channels of a batch's workspace, and what is to be sent to them. It is written in the transaction of
 * the change itself, so that every committed change is announced, and no change that was rolled back.
 */
export class Outbox {
  readonly changes: OutboxChanges = {
    endpoints: new Map(),
    deleted: new Set(),
    events: [],
    deliveries: new Map(),
    queues: new Map(),
    channels: new Map(),
    deleted_channels: new Set(),
  };
  /** True if events are to be delivered at once. Notices wait for the workers' next poll, a fraction of a second. */
  has_events = false;
  /** The notices to channels and people. */
  readonly notices: Notices;
  readonly #now: string;
  readonly #endpoints: Map<string, WebhookEndpoint>;
  readonly #channels: Map<string, Channel>;
  readonly #onChange: () => void;

  constructor({ now, order_ms, newId, loaded }: OutboxFound, onChange: () => void) {
    this.#now = now;
    this.#endpoints = new Map(loaded.webhooks.map((endpoint) => [endpoint.endpoint_id, endpoint]));
    this.#channels = new Map(loaded.channels.map((channel) => [channel.channel_id, channel]));
    this.#onChange = onChange;
    this.notices = new Notices({
      now_ms: Date.parse(now),
      order_ms,
      newId,
      bursts: loaded.notice_bursts,
      recipients: () => this.#recipients(),
      people: loaded.notified_people,
      last_digests: loaded.last_digests,
      enqueue: ({ recipient_id, notice_id, due_at }) => this.#enqueue(recipient_id, notice_id, due_at),
    });
  }

  endpoint(endpoint_id: string): WebhookEndpoint | undefined {
    return this.#endpoints.get(endpoint_id);
  }

  endpointCount(): number {
    return this.#endpoints.size;
  }

  /** Returns whether the workspace has endpoints after the batch; `before` says whether it had any. */
  hasEndpoints(before: boolean): boolean {
    const { endpoints, deleted } = this.changes;
    return endpoints.size + deleted.size === 0 ? before : this.#endpoints.size > 0;
  }

  channel(channel_id: string): Channel | undefined {
    return this.#channels.get(channel_id);
  }

  /** Returns all channels, oldest first. */
  channels(): Channel[] {
    return [...this.#channels.values()];
  }

  /** Returns whether the workspace has channels after the batch; `before` says whether it had any. */
  hasChannels(before: boolean): boolean {
    const { channels, deleted_channels } = this.changes;
    return channels.size + deleted_channels.size === 0 ? before : this.#channels.size > 0;
  }

  putChannel(channel: Channel): void {
    const { channel_id, status } = channel;
    const before = this.#channels.get(channel_id);
    this.#channels.set(channel_id, channel);
    this.changes.channels.set(channel_id, channel);
    if (before?.status !== status) this.#wake(channel_id, status === 'active' ? this.#now : null);
    this.#onChange();
  }

  deleteChannel(channel_id: string): void {
    this.#channels.delete(channel_id);
    this.changes.channels.delete(channel_id);
    this.changes.deleted_channels.add(channel_id);
    this.#wake(channel_id, this.#now);
    this.#onChange();
  }

  put(endpoint: WebhookEndpoint): void {
    const { endpoint_id, status } = endpoint;
    const before = this.#endpoints.get(endpoint_id);
    this.#endpoints.set(endpoint_id, endpoint);
    this.changes.endpoints.set(endpoint_id, endpoint);
    // The deliveries of a disabled endpoint stay in its queue until it is active again.
    if (before?.status !== status) this.#wake(endpoint_id, status === 'active' ? this.#now : null);
    this.#onChange();
  }

  delete(endpoint_id: string): void {
    this.#endpoints.delete(endpoint_id);
    this.changes.endpoints.delete(endpoint_id);
    this.changes.deleted.add(endpoint_id);
    this.#wake(endpoint_id, this.#now);
    this.#onChange();
  }

  publish(type: WebhookEventType, data: string, event_id: string): void {
    const taking = [...this.#endpoints.values()].filter((endpoint) => takes(endpoint, type));
    if (taking.length === 0) return;
    this.addEvent(event_id, type, data);
    for (const { endpoint_id } of taking) this.deliver(endpoint_id, event_id);
  }

  /** Adds an event. Its payload is serialized here, so that all deliveries and replays send the same bytes. */
  addEvent(event_id: string, type: WebhookEvent['type'], data: string): void {
    const event = { event_id, type, created_at: this.#now };
    this.changes.events.push({ ...event, payload: eventPayload(event, data) });
    this.#onChange();
  }

  /** Queues a stored event, or one added by this batch, for one endpoint; it is due at once. */
  deliver(endpoint_id: string, event_id: string): void {
    this.has_events = true;
    this.#enqueue(endpoint_id, event_id, this.#now);
  }

  #enqueue(receiver_id: string, event_id: string, due_at: string): void {
    const delivery = { endpoint_id: receiver_id, due_at, event_id, attempts: 0 };
    this.changes.deliveries.set(`${receiver_id} ${event_id}`, delivery);
    const waiting = this.changes.queues.get(receiver_id)?.due_at ?? null;
    if (waiting === null || due_at < waiting) this.#wake(receiver_id, due_at);
    this.#onChange();
  }

  #recipients(): NoticeRecipient[] {
    return this.channels()
      .filter(({ status }) => status === 'active')
      .map(recipientOf);
  }

  #wake(endpoint_id: string, due_at: string | null): void {
    this.changes.queues.set(endpoint_id, { endpoint_id, due_at });
  }
}
