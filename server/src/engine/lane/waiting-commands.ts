import { overloaded } from '@purser/rules/errors';
import type { BatchPart, Job } from './batch.ts';

/** The most commands in one transaction. */
const MAX_BATCH = 200;
/** With this many commands waiting or in flight, new ones are refused at once. */
const MAX_QUEUE_LENGTH = 2_000;
/** A command that has waited this long is refused. */
const MAX_WAIT_MS = 5_000;
/**
 * Half of `MAX_WAIT_MS`, while more commands wait than a batch takes. Commands that are carried out are then answered in
 * time. Otherwise every command of an overloaded workspace would reach its turn just when it is refused.
 */
const MAX_WAIT_IN_OVERLOAD_MS = 2_500;
/** How long a workspace is carried out alone after a shared batch that it may have blocked. */
const ISOLATION_MS = 30_000;

/** The refusal of a command while too many wait. */
export const LANE_FULL = overloaded('lane');

/** A command whose caller waits for the answer. */
export interface Waiting extends Job {
  since_ms: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The commands of one workspace that are carried out together. */
export type Part = BatchPart<Waiting>;

/** Returns whether a part creates its workspace. */
export const createsWorkspace = ({ jobs: [first] }: Pick<Part, 'jobs'>) =>
  first?.command.begins_workspace === true;

/**
 * The commands that wait, by workspace, and the workspaces with a batch in flight. A workspace has one batch in flight at a
 * time, so its commands are carried out in their order.
 */
export class WaitingCommands {
  /** The workspace that was served last comes last. */
  readonly #queues = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();
  /** Workspaces that are carried out alone, and until when (ms). */
  readonly #isolated = new Map<string, number>();
  readonly #now_ms: () => number;
  #waiting = 0;
  #in_flight = 0;

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms;
  }

  get count(): number {
    return this.#waiting;
  }

  isFull(): boolean {
    return this.#waiting + this.#in_flight >= MAX_QUEUE_LENGTH;
  }

  isEmpty(): boolean {
    return this.#busy.size === 0 && this.#queues.size === 0;
  }

  /** Adds a command. Returns whether its workspace has no batch in flight, so that it may be taken at once. */
  add(workspace_id: string, job: Waiting): boolean {
    this.#waiting += 1;
    const queue = this.#queues.get(workspace_id);
    if (queue === undefined) this.#queues.set(workspace_id, [job]);
    else queue.push(job);
    return !this.#busy.has(workspace_id);
  }

  /**
   * Takes the commands of the next batch from the workspaces in turn, and refuses those that waited too long. `alone` are
   * the parts of isolated workspaces, which share no batch. All workspaces that are returned are busy until `finish`.
   */
  take(): { shared: Part[]; alone: Part[] } {
    const taken: { shared: Part[]; alone: Part[] } = { shared: [], alone: [] };
    let room = MAX_BATCH;
    for (const workspace_id of this.#queues.keys()) {
      if (this.#busy.has(workspace_id)) continue;
      const jobs = this.#takeFrom(workspace_id, room);
      if (jobs.length === 0) continue;
      this.#busy.add(workspace_id);
      if (this.#isIsolated(workspace_id)) taken.alone.push({ workspace_id, jobs });
      else {
        taken.shared.push({ workspace_id, jobs });
        room -= jobs.length;
        if (room === 0) break;
      }
    }
    return taken;
  }

  /** Ends the turn of a part whose commands were answered. */
  finish({ workspace_id, jobs }: Part): void {
    this.#busy.delete(workspace_id);
    this.#in_flight -= jobs.length;
  }

  /** Lets the workspaces of these parts be carried out alone for a while, until one succeeds. */
  isolate(parts: readonly Part[]): void {
    const now = this.#now_ms();
    for (const [workspace_id, until_ms] of this.#isolated)
      if (until_ms <= now) this.#isolated.delete(workspace_id);
    for (const { workspace_id } of parts) this.#isolated.set(workspace_id, now + ISOLATION_MS);
  }

  /** Lets the workspaces of these parts share batches again. */
  rejoin(parts: readonly Part[]): void {
    for (const { workspace_id } of parts) this.#isolated.delete(workspace_id);
  }

  #isIsolated(workspace_id: string): boolean {
    return (this.#isolated.get(workspace_id) ?? 0) > this.#now_ms();
  }

  /** Takes at most `room` commands of a workspace, which goes to the end of the line. */
  #takeFrom(workspace_id: string, room: number): Waiting[] {
    const queue = this.#queues.get(workspace_id) as Waiting[];
    const max_wait_ms = queue.length > room ? MAX_WAIT_IN_OVERLOAD_MS : MAX_WAIT_MS;
    // A new workspace has no head to lock yet. A shared batch treats it as locked, so it is then carried out alone.
    const taken = queue.splice(0, createsWorkspace({ jobs: queue }) ? 1 : room);
    this.#queues.delete(workspace_id);
    if (queue.length > 0) this.#queues.set(workspace_id, queue);
    this.#waiting -= taken.length;
    const [late, jobs] = [[] as Waiting[], [] as Waiting[]];
    for (const job of taken) (this.#now_ms() - job.since_ms < max_wait_ms ? jobs : late).push(job);
    for (const job of late) job.reject(LANE_FULL);
    this.#in_flight += jobs.length;
    return jobs;
  }
}
