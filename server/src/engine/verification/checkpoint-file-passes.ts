import type { Logger } from 'pino';

/** The files of a workspace that a pass reads. */
export type FilePassScope = 'newest' | 'all';

/**
 * The workspaces whose checkpoints could not be kept as files, and have not been since. Only the first failure is logged
 * until all of them work again. Only pruning reads all files, so only pruning can show that all of a workspace's work.
 */
export class FileFailures {
  readonly #failed = new Map<string, FilePassScope>();
  readonly #log: Logger;
  readonly #dir: string;

  constructor(log: Logger, dir: string) {
    this.#log = log;
    this.#dir = dir;
  }

  /** Workspaces, the one that was tried longest ago first. */
  workspaces(): string[] {
    return [...this.#failed.keys()];
  }

  /** Begins a pass over a workspace's files. */
  begin(workspace_id: string): FilePass {
    return new FilePass(workspace_id, this);
  }

  /** Puts the workspaces of these that still fail behind all others. Returns how many still fail. */
  moveBack(workspace_ids: readonly string[]): number {
    let count = 0;
    for (const workspace_id of workspace_ids) {
      const reach = this.#failed.get(workspace_id);
      if (reach === undefined) continue;
      this.#failed.delete(workspace_id);
      this.#failed.set(workspace_id, reach);
      count += 1;
    }
    return count;
  }

  note(workspace_id: string, error: unknown, reach: FilePassScope): void {
    if (this.#failed.size === 0)
      this.#log.error({ err: error, dir: this.#dir }, 'checkpoints cannot be stored as files');
    if (this.#failed.get(workspace_id) !== 'all') this.#failed.set(workspace_id, reach);
  }

  clear(workspace_id: string, looked_at: FilePassScope): void {
    if (looked_at === 'all' || this.#failed.get(workspace_id) === 'newest') this.#failed.delete(workspace_id);
  }
}

/** One pass over a workspace's files. */
export class FilePass {
  readonly workspace_id: string;
  /** The files that are read from now on. */
  looked_at: FilePassScope = 'newest';
  readonly #failures: FileFailures;
  #has_failed = false;

  constructor(workspace_id: string, failures: FileFailures) {
    this.workspace_id = workspace_id;
    this.#failures = failures;
  }

  fail(error: unknown, reach: FilePassScope = this.looked_at): void {
    this.#failures.note(this.workspace_id, error, reach);
    this.#has_failed = true;
  }

  /** Returns null after a failure, which is noted. */
  async attempt<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** Notes that the files which were looked at work, unless something failed. */
  end(): void {
    if (!this.#has_failed) this.#failures.clear(this.workspace_id, this.looked_at);
  }
}
