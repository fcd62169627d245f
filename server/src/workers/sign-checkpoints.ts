import type { Logger } from 'pino';
import {
  type Checkpoint,
  openCheckpoint,
  type SigningKey,
  signCheckpoint,
  superfluousCheckpoints,
} from '../domain/checkpoints.ts';
import {
  loadCheckpointFiles,
  putCheckpointFile,
  removeCheckpointFiles,
} from '../storage/checkpoint-files.ts';
import {
  deleteCheckpoints,
  insertCheckpoint,
  listMovedHeads,
  loadCheckpoints,
} from '../storage/checkpoints.ts';
import type { Queryable } from '../storage/database.ts';
import { getHead, loadLedgerEvents } from '../storage/ledger.ts';
import { readClock } from '../storage/workspaces.ts';

/** Signs where chains stand, into the table and into this node's files. */
export interface CheckpointSigner {
  /** Signs every chain that moved since the last round. */
  round(): Promise<void>;
  /** Signs one chain as it stands now, unless it contradicts what was signed before. */
  sign(workspace_id: string): Promise<void>;
}

const HEADS_AT_ONCE = 1_000;
/** A batch that took this long to commit, or a clock that was set back by as much, hides no head. */
const OVERLAP_MS = 60_000;
/** Now and then all heads are looked at, wherever the clock stood when they moved. */
const ROUNDS_TO_LOOK_AT_ALL = 15;
/** More than are ever kept of a workspace. */
const MOST_KEPT = 1_000;

/**
 * The signer of one process. It never signs a chain that does not go on from what it signed before: a history that
 * was cut or written anew gets no new signature that would hide it.
 */
export function makeCheckpointSigner(options: {
  db: Queryable;
  key: SigningKey;
  dir: string;
  log: Logger;
}): CheckpointSigner {
  const { db, key, dir, log } = options;
  const signed = new Map<string, number>();
  /** What was complained of, so that each thing is logged once. */
  const known = new Set<string>();
  let rounds = 0;
  let latest_ms = 0;

  const complain = (workspace_id: string, seq: number, problem: string) => {
    const complaint = `${workspace_id} ${problem}`;
    if (known.has(complaint)) return;
    known.add(complaint);
    log.error({ workspace_id, seq }, problem);
  };

  async function filed<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      const done = await work();
      known.delete('files');
      return done;
    } catch (error) {
      if (!known.has('files')) log.error({ err: error, dir }, 'checkpoints cannot be kept as files');
      known.add('files');
      return null;
    }
  }

  /** Whether the chain still goes through what was signed. */
  async function goesThrough(workspace_id: string, kept: Checkpoint): Promise<boolean> {
    const [event] = await loadLedgerEvents(db, workspace_id, { after: kept.seq - 1, limit: 1 });
    return event?.seq === kept.seq && event.hash.equals(kept.hash);
  }

  async function sign(workspace_id: string): Promise<void> {
    // What is kept is read before the head, which is therefore never behind it.
    const in_files =
      (await filed(async () => {
        const files = await loadCheckpointFiles(dir, workspace_id, MOST_KEPT);
        return files.flatMap((file) => openCheckpoint(file.note, key) ?? []);
      })) ?? [];
    const in_table = (await loadCheckpoints(db, workspace_id, MOST_KEPT)).flatMap(
      (row) => openCheckpoint(row.note, key) ?? [],
    );
    const head = await getHead(db, workspace_id);
    if (head === undefined) return;
    for (const kept of [in_files[0], in_table[0]]) {
      if (kept === undefined || kept.workspace_id !== workspace_id) continue;
      if (kept.seq > head.seq || !(await goesThrough(workspace_id, kept))) {
        complain(
          workspace_id,
          kept.seq,
          'the history does not go on from its last checkpoint and is not signed',
        );
        return;
      }
    }
    const now_ms = await readClock(db);
    const checkpoint = signCheckpoint(workspace_id, head, new Date(now_ms).toISOString(), key);
    if (!(await goesThrough(workspace_id, checkpoint))) {
      complain(workspace_id, head.seq, 'the head of the history is not its last event and is not signed');
      return;
    }
    if (in_table[0]?.seq !== head.seq) {
      await insertCheckpoint(db, checkpoint);
      const old = superfluousCheckpoints([checkpoint, ...in_table], now_ms);
      if (old.length > 0) await deleteCheckpoints(db, workspace_id, old);
    }
    if (in_files[0]?.seq !== head.seq) {
      await filed(async () => {
        await putCheckpointFile(dir, checkpoint);
        await removeCheckpointFiles(
          dir,
          workspace_id,
          superfluousCheckpoints([checkpoint, ...in_files], now_ms),
        );
      });
    }
    signed.set(workspace_id, head.seq);
  }

  return {
    sign,
    async round() {
      const moved_after_ms = rounds % ROUNDS_TO_LOOK_AT_ALL === 0 ? -1 : latest_ms - OVERLAP_MS;
      rounds += 1;
      let after = '';
      for (;;) {
        const heads = await listMovedHeads(db, { moved_after_ms, after, limit: HEADS_AT_ONCE });
        for (const head of heads) {
          latest_ms = Math.max(latest_ms, head.time_ms);
          if (signed.get(head.workspace_id) === head.seq) continue;
          // One history that cannot be read keeps no other from being signed.
          await sign(head.workspace_id).catch((error: unknown) =>
            log.warn({ err: error, workspace_id: head.workspace_id }, 'a history could not be signed'),
          );
        }
        if (heads.length < HEADS_AT_ONCE) return;
        after = heads.at(-1)?.workspace_id as string;
      }
    },
  };
}
