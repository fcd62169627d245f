import type { Logger } from 'pino';
import {
  type Checkpoint,
  checkpointsToPrune,
  openCheckpoint,
  type SigningKey,
  signCheckpoint,
  type VerifyingKey,
} from '../domain/checkpoints.ts';
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
/** So many at the most; where a disk is full, the first few show that it still is. */
const MAX_TRIED_AGAIN = 200;
/** How many of the newest are looked at to find one that is good. */
const NEWEST = 5;
/** Thinning looks at all that are kept; until it does, a few more are. */
const SIGNED_BEFORE_THINNING = 20;
const MAX_STORED = 1_000;
/** Which of a workspace's files are looked at. */
type Reach = 'newest' | 'all';

/**
 * The signer of one process. It never signs a chain that does not go on from what it can read of what it signed before:
 * a history that was cut or written anew gets no new signature that would hide it.
 */
export function makeCheckpointSigner(options: {
  db: Queryable;
  key: SigningKey;
  /** What it was signed with before, that key among them. */
  keys: readonly VerifyingKey[];
  dir: string;
  log: Logger;
}): CheckpointSigner {
  const { db, key, keys, dir, log } = options;
  /** Up to where each chain was signed by this process, and how often since it was last thinned. */
  const signed = new Map<string, { seq: number; times: number }>();
  /** What was complained of, so that each thing is logged once. */
  const known = new Set<string>();
  /**
   * The workspaces whose files failed and have not been shown to work since, with what failed; one more is no news. Only
   * thinning looks at all files, so only thinning shows that it can be done again.
   */
  const unfiled = new Map<string, Reach>();
  /** Passes under way: one of a workspace at a time, or an old success would hide a new failure. */
  const passes = new Map<string, Promise<void>>();
  let rounds = 0;
  let latest_ms = 0;

  const complain = (workspace_id: string, seq: number, problem: string) => {
    const complaint = `${workspace_id} ${problem}`;
    if (known.has(complaint)) return;
    known.add(complaint);
    log.error({ workspace_id, seq }, problem);
  };

  /** A pass over a workspace's files, in which a failure gives null. `looked_at`: all of them, or the newest. */
  function beginPass(workspace_id: string) {
    const pass = {
      workspace_id,
      looked_at: 'newest' as Reach,
      has_failed: false,
      fail(error: unknown, reach?: Reach) {
        if (unfiled.size === 0) log.error({ err: error, dir }, 'checkpoints cannot be kept as files');
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

  const good = (workspace_id: string, kept: readonly { note: string }[]): Checkpoint[] =>
    kept.flatMap(({ note }) => {
      const said = openCheckpoint(note, keys);
      return said?.workspace_id === workspace_id ? said : [];
    });
  const ofFiles = async ({ workspace_id, attempt, fail }: Pass, limit: number) => {
    // It will not be among the newest for long.
    const onUnreadable = (error: unknown) => fail(error, 'all');
    const load = () => loadCheckpointFiles(dir, workspace_id, limit, onUnreadable);
    return good(workspace_id, (await attempt(load)) ?? []);
  };
  const ofTable = async (workspace_id: string, limit: number) =>
    good(workspace_id, await loadCheckpoints(db, workspace_id, limit));

  /** Whether the chain goes through what was signed, or is to be. */
  async function goesThrough(kept: Checkpoint): Promise<boolean> {
    const [event] = await loadLedgerEvents(db, kept.workspace_id, { after: kept.seq - 1, limit: 1 });
    return event?.seq === kept.seq && event.hash.equals(kept.hash);
  }

  async function thin(files: Pass, now_ms: number): Promise<void> {
    const { workspace_id } = files;
    files.looked_at = 'all';
    const of_table = checkpointsToPrune(await ofTable(workspace_id, MAX_STORED), now_ms);
    if (of_table.length > 0) await deleteCheckpoints(db, workspace_id, of_table);
    const of_files = checkpointsToPrune(await ofFiles(files, MAX_STORED), now_ms);
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
  function sign(workspace_id: string): Promise<void> {
    const pass = (passes.get(workspace_id) ?? Promise.resolve())
      .then(() => signHead(workspace_id))
      .catch((error: unknown) => log.warn({ err: error, workspace_id }, 'a history could not be signed'))
      .finally(() => {
        if (passes.get(workspace_id) === pass) passes.delete(workspace_id);
      });
    passes.set(workspace_id, pass);
    return pass;
  }

  /** Signs again what is not filed: the table has it already, so that only its file is made. */
  async function fileAgain(): Promise<void> {
    const waiting = [...unfiled].slice(0, MAX_TRIED_AGAIN);
    for (let i = 0; i < waiting.length; i += SIGNED_AT_ONCE) {
      const some = waiting.slice(i, i + SIGNED_AT_ONCE);
      await Promise.all(some.map(([workspace_id]) => sign(workspace_id)));
      const failed = some.flatMap(([workspace_id]) => {
        const reach = unfiled.get(workspace_id);
        return reach === undefined ? [] : [{ workspace_id, reach }];
      });
      // The next round begins with others.
      for (const { workspace_id, reach } of failed) {
        unfiled.delete(workspace_id);
        unfiled.set(workspace_id, reach);
      }
      if (failed.length === some.length) return;
    }
  }

  /** Whether there is nothing to do: this process signed it, or it lies in the table and in a file from before. */
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
