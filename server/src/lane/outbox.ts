import {
  eventPayload,
  takes,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
  type WebhookEventType,
} from '../domain/webhooks.ts';
import type { QueueChange } from '../storage/webhooks.ts';

/** What a batch writes about webhooks. */
export interface OutboxChanges {
  endpoints: Map<string, WebhookEndpoint>;
  deleted: Set<string>;
  events: WebhookEvent[];
  /** By endpoint and event: one batch sends an event to an endpoint once. */
  deliveries: Map<string, WebhookDelivery>;
  queues: Map<string, QueueChange>;
}

/**
 * The webhook endpoints of a batch's workspace and what is to be sent to them: written with the change itself, so
 * that a change that is undone tells nobody, and one that stands tells everybody.
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

  /** `now`: the batch's moment. */
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

  /** Whether there are any after the batch; `before`: whether there were. */
  hasEndpoints(before: boolean): boolean {
    const { endpoints, deleted } = this.changes;
    return endpoints.size + deleted.size === 0 ? before : this.#endpoints.size > 0;
  }

  put(endpoint: WebhookEndpoint): void {
    const { endpoint_id, status } = endpoint;
    const before = this.#endpoints.get(endpoint_id);
    this.#endpoints.set(endpoint_id, endpoint);
    this.changes.endpoints.set(endpoint_id, endpoint);
    // Disabled: what waits stays where it is until the endpoint is active again.
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

  /** Fixes the bytes of an event. */
  addEvent(event_id: string, type: WebhookEvent['type'], data: string): void {
    const event = { event_id, type, created_at: this.#now };
    this.changes.events.push({ ...event, payload: eventPayload(event, data) });
    this.#onChange();
  }

  /** Sends an event that is kept, now or earlier, to one endpoint: at once. */
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
