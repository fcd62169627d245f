import type { AttemptStatus } from '@purser/rules/domain/webhooks';
import type { Logger } from 'pino';
import type { Lane } from '../../engine/lane/lane.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { EndpointConnections } from './client.ts';
import type { Clock } from './clock.ts';
import type { NoticeResult } from './notice-rows.ts';
import type { ReceiverKind, Senders } from './sender.ts';

/** Sends the deliveries that wait in the outbox. */
export interface WebhookDeliverer {
  /** Looks for due deliveries at once instead of at the next round. */
  wake(): void;
  /** Starts no more attempts, waits up to `DRAIN_MS` for those in progress, records them and releases the leases. */
  stop(): Promise<void>;
}

export interface WebhookDeliveryOptions {
  /** With `plan: 'index_lookup'`. */
  db: Queryable;
  lane: Pick<Lane, 'submit'>;
  log: Logger;
  /** The database's clock. */
  clock: Clock;
  /** Calls `listener` whenever that clock was believed at another time than before. */
  onClockStep?: (listener: () => void) => void;
  /** Returns numbers from 0 up to 1. */
  random: () => number;
  /** The name of this worker among all that share the database. */
  worker: string;
  openSecret: (workspace_id: string, sealed: string) => string;
  connect: (url: string) => EndpointConnections;
  senders: Senders;
  /** Where browsers find this service, without a slash at its end: for the links in notices. */
  public_url: string;
  schedule: { first_ms: number; max_ms: number };
  timeout_ms: number;
  countAttempt: (status: AttemptStatus) => void;
  countNotice: (receiver: ReceiverKind, status: NoticeResult['status']) => void;
  poll_ms?: number;
  lease_ms?: number;
}
