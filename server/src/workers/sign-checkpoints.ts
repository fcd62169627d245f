import type { Logger } from 'pino';
import {
  type Checkpoint,
  openCheckpoint,
  type SigningKey,
  signCheckpoint,
  superfluousCheckpoints,
} from '../domain/checkpoints.ts';
import {
  hasCheckpointFile,
  loadCheckpointFiles,
  putCheckpointFile,
  removeCheckpointFiles,
} from '../storage/checkpoint-files.ts';
import {
  deleteCheckpoints,
  insertCheckpoint,
  listMovedHeads,
  loadCheckpoints,
  type MovedHead,
} from '../storage/checkpoints.ts';
import type { Queryable } from '../storage/database.ts';
import { getHead, loadLedgerEvents } from '../storage/ledger.ts';
import { readClock } from '../storage/workspaces.ts';

/** Signs where chains stand, into the table and into this node's files. */
export interface CheckpointSigner {
  /** Signs every chain that moved since the last round. */
  round(): Promise<void>;
  /** Signs one chain as it stands now, unless it contradicts what was signed before. Never rejects: it is logged. */
  sign(workspace_id: string): Promise<void>;
}

const HEADS_AT_ONCE = 1_000;
const SIGNED_AT_ONCE = 8;
/** A batch that took this long to commit, or a clock that was set back by as much, hides no head. */
const OVERLAP_MS = 60_000;
/** Now and then all heads are looked at, wherever the clock stood when they moved, and what is not filed is tried again. */
const ROUNDS_TO_LOOK_AT_ALL = 15;
/** With a disk that is full, filing fails for all; so many show it. */
const MOST_FAILURES = 8;
/** How many of the newest are looked at to find one that is good. */
const NEWEST = 5;
/** Thinning looks at all that are kept; until it does, a few more are. */
const SIGNED_BEFORE_THINNING = 20;
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
  /** Up to where each chain was signed by this process, and how often since it was last thinned. */
  const signed = new Map<string, { seq: number; times: number }>();
  /** What was complained of, so that each thing is logged once. */
  const known = new Set<string>();
  /** The workspaces whose files failed in their last pass, the latest last; one more is no news. */
  const unfiled = new Set<string>();
  let rounds = 0;
  let latest_ms = 0;

  const complain = (workspace_id: string, seq: number, problem: string) => {
    const complaint = `${workspace_id} ${problem}`;
    if (known.has(complaint)) return;
    known.add(complaint);
    log.error({ workspace_id, seq }, problem);
  };

  /** A pass over a workspace's files, in which a failure gives null. */
  function beginPass(workspace_id: string) {
    let has_failed = false;
    return {
      workspace_id,
      async attempt<T>(work: () => Promise<T>): Promise<T | null> {
        try {
          return await work();
        } catch (error) {
          if (unfiled.size === 0) log.error({ err: error, dir }, 'checkpoints cannot be kept as files');
          unfiled.delete(workspace_id);
          unfiled.add(workspace_id);
          has_failed = true;
          return null;
        }
      },
      /** Only where nothing failed the files can be kept again: a full disk can be read. */
      end() {
        if (!has_failed) unfiled.delete(workspace_id);
      },
    };
  }
  type Pass = ReturnType<typeof beginPass>;

  const good = (workspace_id: string, kept: readonly { note: string }[]): Checkpoint[] =>
    kept.flatMap(({ note }) => {
      const said = openCheckpoint(note, key);
      return said?.workspace_id === workspace_id ? said : [];
    });
  const ofFiles = async ({ workspace_id, attempt }: Pass, limit: number) =>
    good(workspace_id, (await attempt(() => loadCheckpointFiles(dir, workspace_id, limit))) ?? []);
  const ofTable = async (workspace_id: string, limit: number) =>
    good(workspace_id, await loadCheckpoints(db, workspace_id, limit));

  /** Whether the chain goes through what was signed, or is to be. */
  async function goesThrough(kept: Checkpoint): Promise<boolean> {
    const [event] = await loadLedgerEvents(db, kept.workspace_id, { after: kept.seq - 1, limit: 1 });
    return event?.seq === kept.seq && event.hash.equals(kept.hash);
  }

  async function thin(files: Pass, now_ms: number): Promise<void> {
    const { workspace_id } = files;
    const of_table = superfluousCheckpoints(await ofTable(workspace_id, MOST_KEPT), now_ms);
    if (of_table.length > 0) await deleteCheckpoints(db, workspace_id, of_table);
    const of_files = superfluousCheckpoints(await ofFiles(files, MOST_KEPT), now_ms);
    await files.attempt(() => removeCheckpointFiles(dir, workspace_id, of_files));
  }

  async function signHead(workspace_id: string): Promise<void> {
    const files = beginPass(workspace_id);
    // What is kept is read before the head, which is therefore never behind it.
    const [in_files] = await ofFiles(files, NEWEST);
    const [in_table] = await ofTable(workspace_id, NEWEST);
    const head = await getHead(db, workspace_id);
    if (head === undefined) return;
    for (const kept of [in_files, in_table]) {
      if (kept === undefined || (kept.seq <= head.seq && (await goesThrough(kept)))) continue;
      const problem = 'the history does not go on from its last checkpoint and is not signed';
      complain(workspace_id, kept.seq, problem);
      return;
    }
    const now_ms = await readClock(db);
    const checkpoint = signCheckpoint(workspace_id, head, new Date(now_ms).toISOString(), key);
    if (!(await goesThrough(checkpoint))) {
      complain(workspace_id, head.seq, 'the head of the history is not its last event and is not signed');
      return;
    }
    if (in_table?.seq !== head.seq) await insertCheckpoint(db, checkpoint);
    if (in_files?.seq !== head.seq) await files.attempt(() => putCheckpointFile(dir, checkpoint));
    const times = (signed.get(workspace_id)?.times ?? 0) + 1;
    if (times >= SIGNED_BEFORE_THINNING) await thin(files, now_ms);
    signed.set(workspace_id, { seq: head.seq, times: times % SIGNED_BEFORE_THINNING });
    files.end();
  }

  // One history that cannot be read keeps no other from being signed.
  const sign = (workspace_id: string) =>
    signHead(workspace_id).catch((error: unknown) =>
      log.warn({ err: error, workspace_id }, 'a history could not be signed'),
    );

  /** Files what was signed into the table alone. */
  async function file(workspace_id: string): Promise<void> {
    const files = beginPass(workspace_id);
    const [in_files] = await ofFiles(files, NEWEST);
    const [in_table] = await ofTable(workspace_id, NEWEST);
    if (in_table !== undefined && in_table.seq > (in_files?.seq ?? 0))
      await files.attempt(() => putCheckpointFile(dir, in_table));
    files.end();
  }

  async function fileAgain(): Promise<void> {
    let failures = 0;
    for (const workspace_id of [...unfiled]) {
      await file(workspace_id);
      if (unfiled.has(workspace_id)) failures += 1;
      if (failures === MOST_FAILURES) return;
    }
  }

  /** Whether there is nothing to do: it was signed, in the table and in a file, now or before this process began. */
  async function isSigned({ workspace_id, seq, signed_seq }: MovedHead): Promise<boolean> {
    if (signed.get(workspace_id)?.seq === seq) return true;
    if (signed.has(workspace_id) || signed_seq !== seq) return false;
    const files = beginPass(workspace_id);
    if ((await files.attempt(() => hasCheckpointFile(dir, workspace_id, seq))) !== true) return false;
    files.end();
    signed.set(workspace_id, { seq, times: 0 });
    return true;
  }

  return {
    sign,
    async round() {
      const looks_at_all = rounds % ROUNDS_TO_LOOK_AT_ALL === 0;
      const moved_after_ms = looks_at_all ? -1 : latest_ms - OVERLAP_MS;
      rounds += 1;
      let after = '';
      for (;;) {
        const heads = await listMovedHeads(db, { moved_after_ms, after, limit: HEADS_AT_ONCE });
        for (let i = 0; i < heads.length; i += SIGNED_AT_ONCE) {
          const some = heads.slice(i, i + SIGNED_AT_ONCE);
          await Promise.all(
            some.map(async (head) => {
              latest_ms = Math.max(latest_ms, head.time_ms);
              if (!(await isSigned(head))) await sign(head.workspace_id);
            }),
          );
        }
        if (heads.length < HEADS_AT_ONCE) break;
        after = heads.at(-1)?.workspace_id as string;
      }
      if (looks_at_all) await fileAgain();
    },
  };
}
