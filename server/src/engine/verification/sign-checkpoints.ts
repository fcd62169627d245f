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
import { loadWorkspace, readClock } from '../storage/workspaces.ts';
import { FileFailures, type FilePass } from './checkpoint-file-passes.ts';
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
export interface CheckpointSignerOptions {
  db: Queryable;
  key: SigningKey;
  /** The keys that earlier checkpoints may be signed with, the current one included. */
  keys: readonly VerifyingKey[];
  dir: string;
  log: Logger;
}

/**
 * Makes the signer of one process. It never signs a chain that does not continue from the earlier checkpoints that it can
 * read, so that a history which was truncated or rewritten gets no new signature that would hide it.
 */
export function makeCheckpointSigner(options: CheckpointSignerOptions): CheckpointSigner {
  const signer = new Signer(options);
  return {
    round: () => signer.round(),
    sign: (workspace_id) => signer.sign(workspace_id),
    failing: () => signer.failing(),
  };
}

class Signer implements CheckpointSigner {
  readonly #options: CheckpointSignerOptions;
  /**
   * The last event of each chain that this process signed, the number of signatures since the chain was pruned, and whether the
   * workspace is a sample, which never changes.
   */
  readonly #signed = new Map<string, { seq: number; times: number; is_sample?: boolean }>();
  /** The complaints that were logged, so that each is logged once. */
  readonly #known = new Set<string>();
  /** The workspaces whose last pass ended without a signature. */
  readonly #unsigned = new Set<string>();
  readonly #files: FileFailures;
  /** The passes under way, only one for each workspace, since an old success would otherwise hide a new failure. */
  readonly #passes = new Map<string, Promise<void>>();
  #rounds = 0;
  #latest_ms = 0;

  constructor(options: CheckpointSignerOptions) {
    this.#options = options;
    this.#files = new FileFailures(options.log, options.dir);
  }

  failing(): number {
    return new Set([...this.#unsigned, ...this.#files.workspaces()]).size;
  }

  async round(): Promise<void> {
    const looks_at_all = this.#rounds % ROUNDS_TO_LOOK_AT_ALL === 0;
    const moved_after_ms = looks_at_all ? -1 : this.#latest_ms - OVERLAP_MS;
    this.#rounds += 1;
    let after = '';
    for (;;) {
      const page = { moved_after_ms, after, limit: HEADS_AT_ONCE };
      const heads = await listMovedHeads(this.#options.db, page);
      await inGroups(heads, async (head) => {
        this.#latest_ms = Math.max(this.#latest_ms, head.time_ms);
        if (!(await this.#isSigned(head))) await this.sign(head.workspace_id);
      });
      if (heads.length < HEADS_AT_ONCE) break;
      after = heads.at(-1)?.workspace_id as string;
    }
    if (looks_at_all) await this.#fileAgain();
  }

  // The error is caught here, so that one unreadable history does not prevent the others from being signed.
  sign(workspace_id: string): Promise<void> {
    const pass = (this.#passes.get(workspace_id) ?? Promise.resolve())
      .then(() => this.#signHead(workspace_id))
      .catch((error: unknown) => {
        this.#unsigned.add(workspace_id);
        this.#options.log.warn({ err: error, workspace_id }, 'a history could not be signed');
      })
      .finally(() => {
        if (this.#passes.get(workspace_id) === pass) this.#passes.delete(workspace_id);
      });
    this.#passes.set(workspace_id, pass);
    return pass;
  }

  async #signHead(workspace_id: string): Promise<void> {
    const { db, key, dir } = this.#options;
    const files = this.#files.begin(workspace_id);
    // Checkpoints are read before the head, so that they are never ahead of it.
    const [in_files] = await this.#ofFiles(files, NEWEST);
    const [in_table] = await this.#ofTable(workspace_id, NEWEST);
    const head = await getHead(db, workspace_id);
    if (head === undefined) return;
    const is_same =
      in_files?.seq === in_table?.seq && in_files?.hash.equals(in_table?.hash ?? head.hash) === true;
    for (const stored of is_same ? [in_table] : [in_files, in_table]) {
      if (stored === undefined || (stored.seq <= head.seq && (await this.#goesThrough(stored)))) continue;
      const problem = 'the history does not continue from its last checkpoint and is not signed';
      this.#complain(workspace_id, stored.seq, problem);
      return;
    }
    const now_ms = await readClock(db);
    const checkpoint = signCheckpoint(workspace_id, head, new Date(now_ms).toISOString(), key);
    if (!(await this.#goesThrough(checkpoint))) {
      const problem = 'the head of the history is not its last event, so it is not signed';
      this.#complain(workspace_id, head.seq, problem);
      return;
    }
    if (in_table?.seq !== head.seq) await insertCheckpoint(db, checkpoint);
    // A sample that is removed must leave no file on any node, which would say that a history was deleted.
    const before = this.#signed.get(workspace_id);
    const is_sample = before?.is_sample ?? (await loadWorkspace(db, workspace_id))?.sample === true;
    if (in_files?.seq !== head.seq && !is_sample)
      await files.attempt(() => putCheckpointFile(dir, checkpoint));
    const times = (before?.times ?? 0) + 1;
    if (times >= SIGNED_BEFORE_PRUNING) await this.#prune(files, now_ms);
    this.#signed.set(workspace_id, { seq: head.seq, times: times % SIGNED_BEFORE_PRUNING, is_sample });
    this.#unsigned.delete(workspace_id);
    files.end();
  }

  #complain(workspace_id: string, seq: number, problem: string): void {
    this.#unsigned.add(workspace_id);
    const complaint = `${workspace_id} ${problem}`;
    if (this.#known.has(complaint)) return;
    this.#known.add(complaint);
    this.#options.log.error({ workspace_id, seq }, problem);
  }

  #validNotes(workspace_id: string, stored: readonly { note: string }[]): Checkpoint[] {
    return stored.flatMap(({ note }) => {
      const said = openCheckpoint(note, this.#options.keys);
      return said?.workspace_id === workspace_id ? said : [];
    });
  }

  async #ofFiles(files: FilePass, limit: number): Promise<Checkpoint[]> {
    const { workspace_id } = files;
    // An unreadable file will soon not be among the newest, so only a pass over all files can show that it works again.
    const onUnreadable = (error: unknown) => files.fail(error, 'all');
    const load = () => loadCheckpointFiles(this.#options.dir, workspace_id, limit, onUnreadable);
    return this.#validNotes(workspace_id, (await files.attempt(load)) ?? []);
  }

  async #ofTable(workspace_id: string, limit: number): Promise<Checkpoint[]> {
    return this.#validNotes(workspace_id, await loadCheckpoints(this.#options.db, workspace_id, limit));
  }

  /** Returns whether the chain contains the event of the checkpoint. */
  async #goesThrough({ workspace_id, seq, hash }: Checkpoint): Promise<boolean> {
    const [event] = await loadLedgerEvents(this.#options.db, workspace_id, { after: seq - 1, limit: 1 });
    return event?.seq === seq && event.hash.equals(hash);
  }

  async #prune(files: FilePass, now_ms: number): Promise<void> {
    const { db, dir } = this.#options;
    const { workspace_id } = files;
    files.looked_at = 'all';
    const of_table = checkpointsToPrune(await this.#ofTable(workspace_id, MAX_STORED), now_ms);
    if (of_table.length > 0) await deleteCheckpoints(db, workspace_id, of_table);
    const of_files = checkpointsToPrune(await this.#ofFiles(files, MAX_STORED), now_ms);
    await files.attempt(() => removeCheckpointFiles(dir, workspace_id, of_files));
  }

  /** Signs the chains without a file again. The table has their checkpoints already, so only the files are written. */
  async #fileAgain(): Promise<void> {
    const waiting = this.#files.workspaces().slice(0, MAX_TRIED_AGAIN);
    for (let i = 0; i < waiting.length; i += SIGNED_AT_ONCE) {
      const some = waiting.slice(i, i + SIGNED_AT_ONCE);
      await Promise.all(some.map((workspace_id) => this.sign(workspace_id)));
      // The next round begins with others.
      if (this.#files.moveBack(some) === some.length) return;
    }
  }

  /** Returns whether the head is signed: by this process, or earlier both in the table and in a file. */
  async #isSigned({ workspace_id, seq, signed_seq }: MovedHead): Promise<boolean> {
    if (this.#signed.get(workspace_id)?.seq === seq) return true;
    if (this.#signed.has(workspace_id) || signed_seq !== seq) return false;
    const look = () => hasCheckpointFile(this.#options.dir, workspace_id, seq);
    if ((await this.#files.begin(workspace_id).attempt(look)) !== true) return false;
    this.#signed.set(workspace_id, { seq, times: 0 });
    return true;
  }
}

/** Works on some at a time. */
async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < all.length; i += SIGNED_AT_ONCE)
    await Promise.all(all.slice(i, i + SIGNED_AT_ONCE).map(work));
}
