import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { NodeWatch } from '../../engine/distribution/node-watch.ts';
import { countSkippedEvents } from '../../engine/followers/follower-rows.ts';
import type { WriteHealth } from '../../engine/lane/write-health.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { countFailingChannels } from '../../engine/storage/notices/channels.ts';
import { countDisabledEndpoints } from '../../engine/storage/webhooks.ts';
import { countInvalidHistories } from '../../engine/verification/last-verification.ts';
import type { Metrics } from '../observability/metrics.ts';
import { startLoop } from './loop.ts';

const PROBE_PAUSE_MS = 1_000;
const LOOK_PAUSE_MS = 10_000;

/**
 * Reads the database and the disk for the metrics, at once and then every 10 s, and has writes probed where nobody writes.
 * Resolves after the first look; one that fails is logged, and the metrics keep their values.
 */
export async function startWatching(core: {
  db: Queryable;
  /** Its parent is `DATA_DIR`. */
  checkpoint_dir: string;
  writes: Pick<WriteHealth, 'probe'>;
  metrics: Metrics;
  log: Logger;
  nodes: Pick<NodeWatch, 'look'>;
  now_ms: () => number;
}): Promise<{ stop(): Promise<void> }> {
  const { db, log, metrics, nodes, now_ms, writes } = core;
  let disk = { free: 0, size: 0 };
  let endpoints_disabled = 0;
  let channels_failing = 0;
  let histories_invalid = 0;
  metrics.watch('purser_disk_free_bytes', () => disk.free);
  metrics.watch('purser_disk_size_bytes', () => disk.size);
  metrics.watch('purser_webhook_endpoints_disabled', () => endpoints_disabled);
  metrics.watch('purser_channels_failing', () => channels_failing);
  metrics.watch('purser_histories_invalid', () => histories_invalid);
  const look = async () => {
    const { bavail, blocks, bsize } = await statfs(dirname(core.checkpoint_dir));
    disk = { free: bavail * bsize, size: blocks * bsize };
    metrics.setSkippedEvents(await countSkippedEvents(db));
    endpoints_disabled = await countDisabledEndpoints(db);
    channels_failing = await countFailingChannels(db);
    histories_invalid = await countInvalidHistories(db);
  };
  await look().catch((error: unknown) => log.warn({ err: error }, 'the database could not be watched'));
  const loops = [
    startLoop({ name: 'probe-writes', pause_ms: PROBE_PAUSE_MS, log, now_ms, round: writes.probe }),
    startLoop({ name: 'watch-nodes', pause_ms: PROBE_PAUSE_MS, log, now_ms, round: nodes.look }),
    startLoop({ name: 'watch', pause_ms: LOOK_PAUSE_MS, log, now_ms, round: look }),
  ];
  for (const { name, idleSeconds } of loops) metrics.watchWorker(name, idleSeconds);
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
