import type { WebhookEventType } from '@purser/contract/values/webhooks';
import {
  eventPayload,
  takes,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
} from '@purser/rules/domain/webhooks';
import type { QueueChange } from '../storage/webhooks.ts';

/** The rows about webhooks that a batch writes. */
export interface OutboxChanges {
  endpoints: Map<string, WebhookEndpoint>;
  deleted: Set<string>;
  events: WebhookEvent[];
  /** By endpoint and event, so that one batch sends an event to an endpoint only once. */
  deliveries: Map<string, WebhookDelivery>;
  queues: Map<string, QueueChange>;
}

/**
 * The webhook endpoints of a batch's workspace and the events to be sent to them. They are written in the transaction of
 * the change itself, so that every committed change is announced, and no change that was rolled back.
 */
export class Outbox {
  readonly changes: OutboxChanges = {
    endpoints: new Map(),
    deleted: new Set(),
    events: [],
    deliveries: new Map(),
    queues: new Map(),
  };
  readonly #now: string;
  readonly #endpoints: Map<string, WebhookEndpoint>;
  readonly #onChange: () => void;

  /** `now` is the batch timestamp. */
  constructor(now: string, endpoints: readonly WebhookEndpoint[], onChange: () => void) {
    this.#now = now;
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.endpoint_id, endpoint]));
    this.#onChange = onChange;
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
    const delivery = { endpoint_id, due_at: this.#now, event_id, attempts: 0 };
    this.changes.deliveries.set(`${endpoint_id} ${event_id}`, delivery);
    this.#wake(endpoint_id, this.#now);
    this.#onChange();
  }

  #wake(endpoint_id: string, due_at: string | null): void {
    this.changes.queues.set(endpoint_id, { endpoint_id, due_at });
  }
}
