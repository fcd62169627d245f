import { RETENTION_MS } from '../domain/webhooks.ts';
import type { Queryable } from '../storage/database.ts';
import { readClock } from '../storage/workspaces.ts';
import { pruneWebhooks } from './attempt-rows.ts';

/** One round removes at most this many parts; the next round goes on. */
const MAX_PARTS = 100;

/** Removes attempts and events that are kept no longer, a small part at a time. */
export async function pruneOldWebhooks(db: Queryable): Promise<void> {
  const cutoff_ms = (await readClock(db)) - RETENTION_MS;
  for (let part = 0; part < MAX_PARTS; part++) {
    if ((await pruneWebhooks(db, cutoff_ms)) === 0) return;
  }
}
