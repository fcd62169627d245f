import type { DeliveredEventType } from '@purser/contract/values/webhooks';
import { deliveryHeaders, validSecrets } from '@purser/rules/domain/webhooks';
import type { ChannelSettings } from '@purser/rules/notices/channels';
import type { SummaryData } from '../../engine/lane/notices.ts';
import type { EndpointConnections, PostResult } from './client.ts';
import type { WebhookDeliveryOptions } from './delivery-options.ts';
import type { LeasedQueueState } from './leased-queues.ts';
import { type DueNotice, loadNotices, loadSummarized } from './notice-rows.ts';
import { outgoing } from './outgoing.ts';
import type { LoadedDelivery } from './queue-rows.ts';
import type { Outcome, OutgoingNotice, Sender } from './sender.ts';

type Options = Pick<
  WebhookDeliveryOptions,
  'db' | 'openSecret' | 'connect' | 'senders' | 'public_url' | 'clock'
>;

/** An event or notice that is to be sent. */
export interface Sending {
  row: LoadedDelivery;
  /** Null: `row` is of an event. */
  notice: OutgoingNotice | null;
}

/** Returns true if the delivery is of a notice. */
export function isNotice({ receiver }: Pick<LoadedDelivery, 'receiver'>): boolean {
  return receiver !== 'endpoint';
}

/** Deliveries that were loaded, sorted by what is to be done with them. */
export interface Sorted {
  sendings: Sending[];
  /** Their events were removed. */
  removed: LoadedDelivery[];
  /** Their notices have nothing to say any more. */
  obsolete: LoadedDelivery[];
}

const iso = (time_ms: number) => new Date(time_ms).toISOString();

async function summarizedBy(
  { workspace_id, kind, data }: DueNotice,
  recipient_id: string,
  now: string,
  { db }: Options,
): Promise<string[]> {
  if (kind !== 'SUMMARY' || data === null) return [];
  return loadSummarized(db, now, { workspace_id, recipient_id }, JSON.parse(data) as SummaryData);
}

/** Makes the messages of the notices among due deliveries, and sorts out what is not to be sent any more. */
export async function prepare(rows: readonly LoadedDelivery[], options: Options): Promise<Sorted> {
  const of_notices = rows.filter(isNotice);
  const sorted: Sorted = { sendings: [], removed: [], obsolete: [] };
  for (const row of rows) {
    if (isNotice(row)) continue;
    if (row.type === null) sorted.removed.push(row);
    else sorted.sendings.push({ row, notice: null });
  }
  if (of_notices.length === 0) return sorted;
  const now = iso(options.clock.now_ms());
  const keys = of_notices.map(({ workspace_id, event_id }) => ({
    workspace_id,
    notice_id: event_id as string,
  }));
  const found = new Map(
    (await loadNotices(options.db, now, keys)).map((notice) => [notice.notice_id, notice]),
  );
  for (const row of of_notices) {
    const due = found.get(row.event_id as string);
    const summarized = due === undefined ? [] : await summarizedBy(due, row.endpoint_id, now, options);
    const style = { ...row, public_url: options.public_url };
    const notice = due === undefined ? null : outgoing(due, style, summarized);
    if (notice === null) sorted.obsolete.push(row);
    else sorted.sendings.push({ row, notice });
  }
  return sorted;
}

/** Returns what the connections of a queue are made from. */
const targetOf = ({ receiver, url, settings }: LoadedDelivery) => (receiver === 'endpoint' ? url : settings);

/** A type of channel without a sender, for example `email` since `SMTP_URL` was removed. */
const NOT_CONFIGURED: Sender = {
  send: async () => ({ kind: 'retry', error: 'not_configured' }),
  retire() {},
  close() {},
};

function openSender(row: LoadedDelivery, { openSecret, senders }: Options): Sender {
  const { workspace_id, endpoint_id: receiver_id, receiver, settings } = row;
  if (receiver === 'endpoint') throw new Error('an endpoint has no sender');
  const make = senders[receiver];
  if (make === undefined) return NOT_CONFIGURED;
  const opened: ChannelSettings =
    receiver === 'person' ? { addresses: [settings] } : JSON.parse(openSecret(workspace_id, settings));
  return make({ workspace_id, receiver_id, settings: opened });
}

/** Connects a queue to the receiver as it is now. Connections to an earlier URL end with their attempts. */
function connect(queue: LeasedQueueState, row: LoadedDelivery, options: Options): void {
  const target = targetOf(row);
  if (queue.target === target) return;
  queue.connections?.retire();
  queue.connections = row.receiver === 'endpoint' ? options.connect(row.url) : openSender(row, options);
  queue.target = target;
}

/** The end of an attempt. */
export interface Ended {
  outcome: Outcome;
  /** The answer to an event; null for a notice. */
  post: PostResult | null;
}

function postEvent(queue: LeasedQueueState, row: LoadedDelivery, options: Options): Promise<Ended> {
  const now_ms = options.clock.now_ms();
  const secrets = validSecrets(row.secrets, now_ms).map(({ sealed }) =>
    options.openSecret(queue.workspace_id, sealed),
  );
  const event = {
    event_id: row.event_id as string,
    type: row.type as DeliveredEventType,
    payload: row.payload,
  };
  const headers = deliveryHeaders(event, secrets as [string, ...string[]], now_ms);
  connect(queue, row, options);
  return (queue.connections as EndpointConnections).post(headers, row.payload).then((post) => ({
    post,
    outcome: post.received ? { kind: 'delivered' } : { kind: 'retry', error: post.error ?? 'bad_status' },
  }));
}

/** Begins one attempt. Throws if it cannot be made, for example because a secret cannot be opened. */
export function begin(queue: LeasedQueueState, { row, notice }: Sending, options: Options): Promise<Ended> {
  if (notice === null) return postEvent(queue, row, options);
  connect(queue, row, options);
  return (queue.connections as Sender).send(notice).then((outcome) => ({ outcome, post: null }));
}
