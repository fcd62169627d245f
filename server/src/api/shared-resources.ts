import type { Answer, Call, ResourceName, Route } from '../http/route.ts';
import { makeShares, type Release, type Shares, type SharesOptions } from '../http/shares.ts';
import type { Presence } from '../presence.ts';

/** Waiting requests are answered before their deadline of 5 s ends the wait with other words. */
const MAX_WAIT_MS = 3_000;
/** Each is a request that was taken in already; beyond them the database could not keep up anyway. */
const MAX_WAITING = 400;

/**
 * What the requests of all workspaces share besides the write slots. `total` says how many are served at a time, and
 * leaves each kind room on the connections that it uses (`runtime.ts`): one workspace gets at most half of it.
 */
const RESOURCES: Record<ResourceName, SharesOptions> = {
  /** Answers that are read from the database in a few look-ups by key. */
  reads: { resource: 'reads', total: 8, max_waiting: MAX_WAITING, max_wait_ms: MAX_WAIT_MS },
  /** Lists whose filters may have to look at very many rows, and whose pages may be a megabyte. */
  lists: { resource: 'lists', total: 4, max_waiting: MAX_WAITING, max_wait_ms: MAX_WAIT_MS },
  reports: { resource: 'reports', total: 2, max_waiting: 40, max_wait_ms: MAX_WAIT_MS },
  verifications: { resource: 'verifications', total: 2, max_waiting: 40, max_wait_ms: MAX_WAIT_MS },
  /** They hold no connection while their readers take their time, but two pages of memory each. */
  exports: {
    resource: 'exports',
    total: 16,
    workspace_share: 0.25,
    max_waiting: 40,
    max_wait_ms: MAX_WAIT_MS,
  },
  simulations: { resource: 'simulations', total: 2, max_waiting: 40, max_wait_ms: MAX_WAIT_MS },
};

/** Makes what a process has of each, and shows it in the metrics. */
export function makeResources(
  watchUse: (resource: string, total: number, inUse: () => number) => void,
): Record<ResourceName, Shares> {
  const made = Object.entries(RESOURCES).map(([name, options]) => {
    const shares = makeShares(options);
    watchUse(shares.resource, shares.total, shares.inUse);
    return [name, shares] as const;
  });
  return Object.fromEntries(made) as Record<ResourceName, Shares>;
}

/** The stream of an answer that gives back what it holds when it ends, however it ends, also before it began. */
function releasing(chunks: NonNullable<Answer['stream']>['chunks'], release: Release): typeof chunks {
  const step = async (next: () => ReturnType<typeof chunks.next>) => {
    try {
      const result = await next();
      if (result.done === true) release();
      return result;
    } catch (error) {
      release();
      throw error;
    }
  };
  const stream = {
    next: () => step(() => chunks.next()),
    return: () => step(() => chunks.return()),
    throw: (error: unknown) => step(() => chunks.throw(error)),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream as typeof chunks;
}

/**
 * The route, whose handler first notes that its workspace is there, and takes its turn at what it `shares`: other
 * workspaces' turns come in between, and too many are refused with `unavailable`. A stream holds its turn until it ends.
 */
export function takingTurns(
  route: Route,
  resources: Record<ResourceName, Shares>,
  presence: Pick<Presence, 'note'>,
): Route {
  const handle = route.handler as (call: Call) => Promise<Answer>;
  if (route.shares === undefined) {
    return {
      ...route,
      handler(call: Call) {
        presence.note(call.caller.workspace_id);
        return handle(call);
      },
    };
  }
  const resource = resources[route.shares];
  return {
    ...route,
    handler: async (call: Call) => {
      presence.note(call.caller.workspace_id);
      const release = await resource.take(call.caller);
      let is_streamed = false;
      try {
        const answer = await handle(call);
        if (answer.stream === undefined) return answer;
        is_streamed = true;
        return { ...answer, stream: { ...answer.stream, chunks: releasing(answer.stream.chunks, release) } };
      } finally {
        if (!is_streamed) release();
      }
    },
  };
}
