import { RETENTION_MS } from '@purser/rules/domain/webhooks';
import type { Queryable } from '../../engine/storage/database.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { pruneWebhooks } from './attempt-rows.ts';

/** The most parts that one round removes. The next round continues. */
const MAX_PARTS = 100;

/** Removes attempts, events and notices whose retention has ended, in small parts. */
export async function pruneOldWebhooks(db: Queryable): Promise<void> {
  const cutoff_ms = (await readClock(db)) - RETENTION_MS;
  for (let part = 0; part < MAX_PARTS; part++) {
    if ((await pruneWebhooks(db, cutoff_ms)) === 0) return;
  }
}
