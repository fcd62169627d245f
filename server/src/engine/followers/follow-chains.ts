import type { Pause } from '@purser/rules/values/slices';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Client, isUnavailable, sqlState } from '../storage/database.ts';
import { inTransaction } from '../storage/transactions.ts';
import type { FollowerName } from './follower-names.ts';
import { findLaggingWorkspaces, lockWatermark, moveWatermark, noteSkippedEvent } from './follower-rows.ts';

/** Reads the chain of each workspace behind the lane and aggregates its events. */
export interface Follower {
  name: FollowerName;
  /** Events in a page. A page that fails is tried again with fewer. */
  max_events: number;
  /**
   * Aggregates the events after `after` and up to `upto`, within the transaction that advances the watermark. Returns the
   * last event that it processed, which is after `after`, and before `upto` where the page would cost too much. `pause` lets
   * other work come in.
   */
  fold(
    client: Client,
    workspace_id: string,
    range: { after: number; upto: number },
    pause: Pause,
  ): Promise<number>;
}

/** An event that was skipped, and why. */
export interface SkippedEvent {
  workspace_id: string;
  seq: number;
  error: unknown;
}

const MAX_REASON_LENGTH = 200;

/**
 * Errors that any event would cause: the transaction was rolled back (40), the statement itself is refused (42, 0A, 28, 3D,
 * 3F), or the database is damaged (XX).
 */
const NOT_THE_EVENTS = /^(40|42|0A|28|3D|3F|XX)/;

/** Returns true if one of the page's events caused the error, so that the page would succeed without it. */
function isFaultOfEvents(error: unknown): boolean {
  return !isUnavailable(error) && !NOT_THE_EVENTS.test(sqlState(error) ?? '');
}

async function followPage(
  pool: pg.Pool,
  follower: Follower,
  workspace_id: string,
  { max_events, pause = () => {} }: { max_events: number; pause?: Pause | undefined },
): Promise<boolean> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const locked = await lockWatermark(client, follower.name, workspace_id);
    if (locked === undefined || locked.head_seq <= locked.seq) return false;
    const { seq: after, head_seq } = locked;
    const range = { after, upto: Math.min(head_seq, after + max_events) };
    const upto = await follower.fold(client, workspace_id, range, pause);
    await moveWatermark(client, follower.name, workspace_id, after, upto);
    return upto < head_seq;
  });
}

/** Skips the event after the watermark and returns its `seq`; undefined while another node holds the lock. */
async function skipEvent(
  pool: pg.Pool,
  follower: Follower,
  workspace_id: string,
  error: unknown,
): Promise<number | undefined> {
  return inTransaction(pool, { reading: false }, async (client) => {
    const locked = await lockWatermark(client, follower.name, workspace_id);
    if (locked === undefined) return undefined;
    const { seq: after } = locked;
    const seq = after + 1;
    const message = error instanceof Error ? error.message : String(error);
    const reason = message.replace(/\p{C}+/gu, ' ').slice(0, MAX_REASON_LENGTH);
    await noteSkippedEvent(client, workspace_id, { follower: follower.name, seq, reason });
    await moveWatermark(client, follower.name, workspace_id, after, seq);
    return seq;
  });
}

/**
 * Aggregates the next page of a workspace's chain in one transaction with the watermark, so that every event counts exactly
 * once, however many nodes follow and wherever one dies. Returns whether there is more. A page that fails because of an
 * event is halved until that event is found; the event is skipped, recorded as such, and passed to `onSkip`. Throws where
 * the database is at fault.
 */
export async function followNext(
  pool: pg.Pool,
  follower: Follower,
  workspace_id: string,
  options: { max_events?: number; onSkip: (skipped: SkippedEvent) => void; pause?: Pause | undefined },
): Promise<boolean> {
  for (let max_events = options.max_events ?? follower.max_events; ; ) {
    try {
      return await followPage(pool, follower, workspace_id, { max_events, pause: options.pause });
    } catch (error) {
      if (!isFaultOfEvents(error)) throw error;
      if (max_events > 1) {
        max_events = Math.floor(max_events / 2);
        continue;
      }
      const seq = await skipEvent(pool, follower, workspace_id, error);
      if (seq !== undefined) options.onSkip({ workspace_id, seq, error });
      return true;
    }
  }
}

/**
 * Makes a round of work for all workspaces, to be called again and again. `next` does a page of a workspace and returns
 * whether there is more. The workspaces that `find` returns get a page each, in turn, until none has more or `max_pages`
 * are done, or `max_full_pages` after which there was more. The next round continues after the last one that had its first turn, so that none is passed over.
 * A workspace whose page failed is stuck. `onStuck` is called once, and the workspace is retried at the end of each round,
 * each time with half as many events. The first retry that fails ends the round, so that any number of stuck workspaces
 * costs the others the time of one page.
 */
export function makeRound(options: {
  find: (page: { after: string; without: readonly string[]; limit: number }) => Promise<readonly string[]>;
  next: (workspace_id: string, max_events: number) => Promise<boolean>;
  max_events: number;
  max_pages: number;
  max_full_pages?: number;
  onStuck: (error: unknown, workspace_id: string) => void;
}): () => Promise<void> {
  const { find, next, max_events, max_pages, max_full_pages = Number.POSITIVE_INFINITY, onStuck } = options;
  /** The number of events to retry each with; the one that has waited longest comes first. */
  const stuck = new Map<string, number>();
  const half = (events: number) => Math.max(1, Math.floor(events / 2));
  let after = '';

  async function retryStuck(): Promise<void> {
    for (const [workspace_id, events] of [...stuck].slice(0, max_pages)) {
      stuck.delete(workspace_id);
      try {
        await next(workspace_id, events);
      } catch {
        stuck.set(workspace_id, half(events));
        return;
      }
    }
  }

  return async () => {
    const found = await find({ after, without: [...stuck.keys()], limit: max_pages });
    const queue = [...found];
    for (let pages = 0, full = 0; pages < max_pages && full < max_full_pages; pages++) {
      const workspace_id = queue.shift();
      if (workspace_id === undefined) break;
      if (pages < found.length) after = workspace_id;
      try {
        if (!(await next(workspace_id, max_events))) continue;
        queue.push(workspace_id);
        full++;
      } catch (error) {
        stuck.set(workspace_id, half(max_events));
        onStuck(error, workspace_id);
      }
    }
    await retryStuck();
  };
}

/** Makes the round of one follower: see `makeRound`. */
export function makeFollowerRound(options: {
  pool: pg.Pool;
  follower: Follower;
  max_pages: number;
  max_full_pages?: number;
  log: Logger;
  /** Lets other work come in before each page, and within it. */
  pause?: Pause;
}): () => Promise<void> {
  const { pool, follower, max_pages, log, pause } = options;
  const { name, max_events } = follower;
  const onSkip = ({ workspace_id, seq, error }: SkippedEvent) => {
    log.error(
      { err: error, follower: name, workspace_id, seq },
      'an event could not be processed and was skipped',
    );
  };
  return makeRound({
    find: (page) => findLaggingWorkspaces(pool, name, page),
    async next(workspace_id, max) {
      await pause?.();
      return followNext(pool, follower, workspace_id, { max_events: max, onSkip, pause });
    },
    max_events,
    max_pages,
    ...(options.max_full_pages === undefined ? {} : { max_full_pages: options.max_full_pages }),
    onStuck: (error, workspace_id) =>
      log.warn(
        { err: error, follower: name, workspace_id },
        'events could not be processed; they are retried after those of all other workspaces',
      ),
  });
}
