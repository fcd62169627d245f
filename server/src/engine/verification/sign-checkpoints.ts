import {
  type Checkpoint,
  checkpointsToPrune,
  openCheckpoint,
  type SigningKey,
  signCheckpoint,
  type VerifyingKey,
} from '@purser/rules/domain/checkpoints';
import type { Logger } from 'pino';
import type { Queryable } from '../storage/database.ts';
import { getHead, loadLedgerEvents } from '../storage/ledger.ts';
import { readClock } from '../storage/workspaces.ts';
import {
  hasCheckpointFile,
  loadCheckpointFiles,
  putCheckpointFile,
  removeCheckpointFiles,
} from './checkpoint-files.ts';
import {
  deleteCheckpoints,
  insertCheckpoint,
  listMovedHeads,
  loadCheckpoints,
  type MovedHead,
} from './checkpoint-rows.ts';

/** Signs the heads of chains, and stores the checkpoints in the table and in this node's files. */
export interface CheckpointSigner {
  /** Signs every chain that moved since the last round. */
  round(): Promise<void>;
  /** Signs the current head of one chain unless it contradicts earlier checkpoints. Never rejects; failures are logged. */
  sign(workspace_id: string): Promise<void>;
  /** The number of workspaces whose newest head could not be signed, or whose checkpoint could not be kept as a file. */
  failing(): number;
}

const HEADS_AT_ONCE = 1_000;
const SIGNED_AT_ONCE = 8;
/** A round also finds heads whose batch took up to this long to commit, or whose clock was set back by up to this. */
const OVERLAP_MS = 60_000;
/** Every 15th round reads all heads, whenever they moved, and retries files that could not be written. */
const ROUNDS_TO_LOOK_AT_ALL = 15;
/** The most workspaces whose files are retried in one round; if a disk is full, the first few show that it still is. */
const MAX_TRIED_AGAIN = 200;
/** The number of newest checkpoints that are read to find a valid one. */
const NEWEST = 5;
/** Pruning reads all checkpoints of a workspace, so it is done only after this many new ones. */
const SIGNED_BEFORE_PRUNING = 20;
const MAX_STORED = 1_000;
/** The files of a workspace that a pass reads. */
type Reach = 'newest' | 'all';

/**
 * Makes the signer of one process. It never signs a chain that does not continue from the earlier checkpoints that it can
 * read, so that a history which was truncated or rewritten gets no new signature that would hide it.
 */
export function makeCheckpointSigner(options: {
  db: Queryable;
  key: SigningKey;
  /** The keys that earlier checkpoints may be signed with, the current one included. */
  keys: readonly VerifyingKey[];
  dir: string;
  log: Logger;
}): CheckpointSigner {
  const { db, key, keys, dir, log } = options;
  /** The last event of each chain that this process signed, and the number of signatures since the chain was pruned. */
  const signed = new Map<string, { seq: number; times: number }>();
  /** The complaints that were logged, so that each is logged once. */
  const known = new Set<string>();
  /**
   * The workspaces whose files failed and have not succeeded since, with the files that failed. Failures of further
   * workspaces are not logged. Only pruning reads all files, so only pruning can show that all of them work again.
   */
  const unfiled = new Map<string, Reach>();
  /** The passes under way, only one for each workspace, since an old success would otherwise hide a new failure. */
  const passes = new Map<string, Promise<void>>();
  let rounds = 0;
  let latest_ms = 0;

  /** The workspaces whose last pass ended without a signature. */
  const unsigned = new Set<string>();

  const complain = (workspace_id: string, seq: number, problem: string) => {
    unsigned.add(workspace_id);
    const complaint = `${workspace_id} ${problem}`;
    if (known.has(complaint)) return;
    known.add(complaint);
    log.error({ workspace_id, seq }, problem);
  };

  /** Begins a pass over a workspace's files. `attempt` returns null after a failure; `looked_at` are the files read. */
  function beginPass(workspace_id: string) {
    const pass = {
      workspace_id,
      looked_at: 'newest' as Reach,
      has_failed: false,
      fail(error: unknown, reach?: Reach) {
        if (unfiled.size === 0) log.error({ err: error, dir }, 'checkpoints cannot be stored as files');
        if (unfiled.get(workspace_id) !== 'all') unfiled.set(workspace_id, reach ?? pass.looked_at);
        pass.has_failed = true;
      },
      async attempt<T>(work: () => Promise<T>): Promise<T | null> {
        try {
          return await work();
        } catch (error) {
          pass.fail(error);
          return null;
        }
      },
      end() {
        if (pass.has_failed) return;
        if (pass.looked_at === 'all' || unfiled.get(workspace_id) === 'newest') unfiled.delete(workspace_id);
      },
    };
    return pass;
  }
  type Pass = ReturnType<typeof beginPass>;

  const validNotes = (workspace_id: string, stored: readonly { note: string }[]): Checkpoint[] =>
    stored.flatMap(({ note }) => {
      const said = openCheckpoint(note, keys);
      return said?.workspace_id === workspace_id ? said : [];
    });
  const ofFiles = async ({ workspace_id, attempt, fail }: Pass, limit: number) => {
    // An unreadable file will soon not be among the newest, so only a pass over all files can show that it works again.
    const onUnreadable = (error: unknown) => fail(error, 'all');
    const load = () => loadCheckpointFiles(dir, workspace_id, limit, onUnreadable);
    return validNotes(workspace_id, (await attempt(load)) ?? []);
  };
  const ofTable = async (workspace_id: string, limit: number) =>
    validNotes(workspace_id, await loadCheckpoints(db, workspace_id, limit));

  /** Returns whether the chain contains the event of the checkpoint. */
  async function goesThrough({ workspace_id, seq, hash }: Checkpoint): Promise<boolean> {
    const [event] = await loadLedgerEvents(db, workspace_id, { after: seq - 1, limit: 1 });
    return event?.seq === seq && event.hash.equals(hash);
  }

  async function prune(files: Pass, now_ms: number): Promise<void> {
    const { workspace_id } = files;
    files.looked_at = 'all';
    const of_table = checkpointsToPrune(await ofTable(workspace_id, MAX_STORED), now_ms);
    if (of_table.length > 0) await deleteCheckpoints(db, workspace_id, of_table);
    const of_files = checkpointsToPrune(await ofFiles(files, MAX_STORED), now_ms);
    await files.attempt(() => removeCheckpointFiles(dir, workspace_id, of_files));
  }

  async function signHead(workspace_id: string): Promise<void> {
    const files = beginPass(workspace_id);
    // Checkpoints are read before the head, so that they are never ahead of it.
    const [in_files] = await ofFiles(files, NEWEST);
    const [in_table] = await ofTable(workspace_id, NEWEST);
    const head = await getHead(db, workspace_id);
    if (head === undefined) return;
    for (const stored of [in_files, in_table]) {
      if (stored === undefined || (stored.seq <= head.seq && (await goesThrough(stored)))) continue;
      const problem = 'the history does not continue from its last checkpoint and is not signed';
      complain(workspace_id, stored.seq, problem);
      return;
    }
    const now_ms = await readClock(db);
    const checkpoint = signCheckpoint(workspace_id, head, new Date(now_ms).toISOString(), key);
    if (!(await goesThrough(checkpoint))) {
      complain(workspace_id, head.seq, 'the head of the history is not its last event, so it is not signed');
      return;
    }
    if (in_table?.seq !== head.seq) await insertCheckpoint(db, checkpoint);
    if (in_files?.seq !== head.seq) await files.attempt(() => putCheckpointFile(dir, checkpoint));
    const times = (signed.get(workspace_id)?.times ?? 0) + 1;
    if (times >= SIGNED_BEFORE_PRUNING) await prune(files, now_ms);
    signed.set(workspace_id, { seq: head.seq, times: times % SIGNED_BEFORE_PRUNING });
    unsigned.delete(workspace_id);
    files.end();
  }

  // The error is caught here, so that one unreadable history does not prevent the others from being signed.
  function sign(workspace_id: string): Promise<void> {
    const pass = (passes.get(workspace_id) ?? Promise.resolve())
      .then(() => signHead(workspace_id))
      .catch((error: unknown) => {
        unsigned.add(workspace_id);
        log.warn({ err: error, workspace_id }, 'a history could not be signed');
      })
      .finally(() => {
        if (passes.get(workspace_id) === pass) passes.delete(workspace_id);
      });
    passes.set(workspace_id, pass);
    return pass;
  }

  /** Signs the chains without a file again. The table has their checkpoints already, so only the files are written. */
  async function fileAgain(): Promise<void> {
    const waiting = [...unfiled].slice(0, MAX_TRIED_AGAIN);
    for (let i = 0; i < waiting.length; i += SIGNED_AT_ONCE) {
      const some = waiting.slice(i, i + SIGNED_AT_ONCE);
      await Promise.all(some.map(([workspace_id]) => sign(workspace_id)));
      const failed = some.flatMap(([workspace_id]) => {
        const reach = unfiled.get(workspace_id);
        return reach === undefined ? [] : [{ workspace_id, reach }];
      });
      // Failed workspaces move to the end, so that the next round begins with others.
      for (const { workspace_id, reach } of failed) {
        unfiled.delete(workspace_id);
        unfiled.set(workspace_id, reach);
      }
      if (failed.length === some.length) return;
    }
  }

  /** Returns whether the head is signed: by this process, or earlier both in the table and in a file. */
  async function isSigned({ workspace_id, seq, signed_seq }: MovedHead): Promise<boolean> {
    if (signed.get(workspace_id)?.seq === seq) return true;
    if (signed.has(workspace_id) || signed_seq !== seq) return false;
    const is_filed = await beginPass(workspace_id).attempt(() => hasCheckpointFile(dir, workspace_id, seq));
    if (is_filed !== true) return false;
    signed.set(workspace_id, { seq, times: 0 });
    return true;
  }

  return {
    sign,
    failing: () => new Set([...unsigned, ...unfiled.keys()]).size,
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
